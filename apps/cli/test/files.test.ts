import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { strFromU8, unzipSync } from 'fflate'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { datasetFile } from '../src/files.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-files-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Entries of the zip of a path; checks that the zip is deleted afterwards. */
async function entriesOf(path: string): Promise<Record<string, string>> {
  let file: string
  let entries: Record<string, Uint8Array>
  {
    await using dataset = await datasetFile(path)
    ;({ file } = dataset)
    entries = unzipSync(await readFile(file))
  }
  expect(existsSync(file)).toBe(false)
  return Object.fromEntries(Object.entries(entries).map(([name, bytes]) => [name, strFromU8(bytes)]))
}

test('a Shapefile is brought with the files beside it, and nothing else', async () => {
  const big = 'd'.repeat(200_000)
  for (const [name, text] of Object.entries({ 'r.shp': 's', 'r.SHX': 'x', 'r.dbf': big, 'r.txt': 't', 'q.dbf': 'q' })) {
    await writeFile(join(folder, name), text)
  }
  expect(await entriesOf(join(folder, 'r.shp'))).toEqual({ 'r.shp': 's', 'r.SHX': 'x', 'r.dbf': big })
})

test('a file geodatabase is brought as a folder', async () => {
  await mkdir(join(folder, 'parcels.gdb'))
  await writeFile(join(folder, 'parcels.gdb', 'a00000001.gdbtable'), 'table')
  expect(await entriesOf(join(folder, 'parcels.gdb'))).toEqual({ 'parcels.gdb/a00000001.gdbtable': 'table' })
})

test('a Shapefile that is not whole says what is missing; any other file is itself', async () => {
  const alone = join(folder, 'alone.shp')
  await writeFile(alone, '')
  await expect(datasetFile(alone)).rejects.toMatchObject({
    code: 'DATASET_NOT_WHOLE',
    message: expect.stringContaining('alone.shx and alone.dbf') as string,
  })
  const absent = join(tmpdir(), 'nowhere', 'roads.gpkg')
  await using plain = await datasetFile(absent)
  expect(plain.file).toBe(absent)
})
