import { expect, test } from 'vitest'
import { filesOfDrop, groupsOf } from './drop-groups.ts'

const file = (name: string) => new File([name], name)
const namesOf = (groups: readonly (readonly File[])[]) => groups.map((group) => group.map(({ name }) => name))

test('files that were dropped together are data sets of their own', () => {
  const files = ['a.csv', 'Roads.SHP', 'scene.tif', 'roads.dbf', 'roads.shx'].map(file)
  expect(namesOf(groupsOf(files))).toEqual([['a.csv'], ['Roads.SHP', 'roads.dbf', 'roads.shx'], ['scene.tif']])
})

test('a geodatabase is one data set, and so are files of the same name in other folders', () => {
  const files = ['x/a.gdb/a1.gdbtable', 'x/a.gdb/gdb', 'x/p.shp', 'x/p.dbf', 'y/p.shp', 'y/p.dbf'].map(file)
  expect(namesOf(groupsOf(files))).toEqual([
    ['x/a.gdb/a1.gdbtable', 'x/a.gdb/gdb'],
    ['x/p.shp', 'x/p.dbf'],
    ['y/p.shp', 'y/p.dbf'],
  ])
})

test('more data sets than one can follow are refused', () => {
  expect(() => groupsOf(Array.from({ length: 21 }, (_, i) => file(`${i}.csv`)))).toThrow('21 data sets were dropped')
})

test('a folder gives its files with their paths, and no hidden ones', async () => {
  const leaf = (name: string) => ({ isFile: true, name, file: (take: (file: File) => void) => take(file(name)) })
  const folder = (name: string, inner: readonly object[]) => {
    const parts = [inner, []]
    const readEntries = (take: (part: readonly object[]) => void) => take(parts.shift()!)
    return { isFile: false, name, createReader: () => ({ readEntries }) }
  }
  const entry = folder('city', [leaf('.DS_Store'), leaf('parks.csv'), folder('deep', [leaf('roads.csv')])])
  const drop = { items: [{ webkitGetAsEntry: () => entry }], files: [] } as unknown as DataTransfer
  expect((await filesOfDrop(drop)).map(({ name }) => name)).toEqual(['city/parks.csv', 'city/deep/roads.csv'])
  const items = [{ webkitGetAsEntry: () => folder('empty', [leaf('.DS_Store')]) }]
  await expect(filesOfDrop({ items, files: [] } as unknown as DataTransfer)).rejects.toThrow('no file in the folder')
})
