import { expect, test } from 'vitest'
import { BASEMAP_TABLES, basemapPrefix, basemapTiles } from '../src/basemap.ts'

const names = BASEMAP_TABLES.tables.map(({ name }) => name)
const porto = names.map((name) => `porto_${name}`)

test('the archive of a basemap has each of its tables once, named as styles name it', () => {
  const { layers, table, layerName, archiveName } = basemapTiles('porto', 'porto', porto)
  const all = [{ table, layerName }, ...layers]
  expect(archiveName).toBe('basemap_porto')
  expect(all.map((one) => one.table).toSorted()).toEqual(porto.toSorted())
  expect(all.every((one) => one.table === `porto_${one.layerName}`)).toBe(true)
})

test('layers are ranked by columns that their tables have', () => {
  const { layers } = basemapTiles('porto', 'porto', porto)
  const columnsOf = (layerName: string) =>
    BASEMAP_TABLES.tables
      .find(({ name }) => name === layerName)!
      .columns.map((column) => (typeof column === 'string' ? column : column.name))
  const ranked = layers.flatMap(({ layerName, rankBy }) => (rankBy ? [[layerName, rankBy.property] as const] : []))
  expect(ranked.map(([layerName]) => layerName)).toEqual(['roads', 'places'])
  for (const [layerName, property] of ranked) expect(columnsOf(layerName)).toContain(property)
})

test('an import that was made before basemaps had house numbers makes one without them', () => {
  const before = porto.filter((table) => table !== 'porto_addresses')
  expect(before).toHaveLength(porto.length - 1)
  expect(basemapPrefix(before)).toBe('porto')
  const { table, layers } = basemapTiles('porto', 'porto', before)
  expect([table, ...layers.map((one) => one.table)].toSorted()).toEqual(before.toSorted())
})

test('an import is a basemap when all its tables are there', () => {
  const tables = names.map((name) => `old_town_${name}`)
  expect(basemapPrefix(tables)).toBe('old_town')
  expect(basemapPrefix([...tables, 'other'])).toBe('old_town')
  expect(basemapPrefix(tables.slice(1))).toBeNull()
  expect(basemapPrefix(['old_town_streets'])).toBeNull()
  expect(basemapPrefix([])).toBeNull()
})
