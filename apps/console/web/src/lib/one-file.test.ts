import { unzipSync, strFromU8 } from 'fflate'
import { expect, test } from 'vitest'
import { oneFile } from './one-file.ts'

const file = (name: string, text = name) => new File([text], name)

test('one file is itself', async () => {
  const own = file('a.gpkg')
  expect(await oneFile([own])).toBe(own)
})

test('the files of a Shapefile become a zip of its name, each whole', async () => {
  const big = 'x'.repeat(300_000)
  const made = await oneFile([file('Roads.dbf', big), file('Roads.SHP'), file('Roads.shx'), file('Roads.prj')])
  expect(made.name).toBe('Roads.zip')
  const entries = unzipSync(new Uint8Array(await made.arrayBuffer()))
  expect(Object.keys(entries)).toEqual(['Roads.dbf', 'Roads.SHP', 'Roads.shx', 'Roads.prj'])
  expect(strFromU8(entries['Roads.dbf']!)).toBe(big)
})

test('what is missing is named, and files that do not belong together are refused', async () => {
  await expect(oneFile([file('roads.shp')])).rejects.toMatchObject({
    code: 'FILES_NOT_ONE',
    hint: expect.stringContaining('roads.shx and roads.dbf') as string,
  })
  await expect(oneFile([file('a.csv'), file('b.csv')])).rejects.toMatchObject({ message: '2 files were chosen' })
})

test('a folder of a geodatabase becomes a zip of its name, and a file of a folder keeps its own name', async () => {
  const made = await oneFile([file('in/City.gdb/a1.gdbtable'), file('in/City.gdb/gdb')])
  expect(made.name).toBe('City.gdb.zip')
  expect(Object.keys(unzipSync(new Uint8Array(await made.arrayBuffer())))).toEqual([
    'City.gdb/a1.gdbtable',
    'City.gdb/gdb',
  ])
  expect((await oneFile([file('in/parks.csv')])).name).toBe('parks.csv')
})
