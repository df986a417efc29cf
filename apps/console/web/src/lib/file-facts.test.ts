import { expect, test } from 'vitest'
import { inspectionOf, lookOfFeatures } from './file-facts.ts'

const layer = (name: string, more: object = {}) => ({
  name,
  rows: 1234,
  geometry_types: ['LineString'],
  srid: 25832,
  bbox: [5, 50, 6, 51],
  fields: [{ name: 'a', type: 'text' }],
  ...more,
})

test('each layer is a line: rows, types, system and fields', () => {
  const bare = { rows: 1, geometry_types: [], srid: null, bbox: null, fields: [] }
  const layers = [layer('roads'), layer('odd', { srid: null }), layer('notes', bare)]
  const warnings = [{ code: 'FILES_SKIPPED', message: 'Some were left out.', count: 2, examples: ['a.txt'] }]
  expect(lookOfFeatures({ formats: ['GPKG'], layers, warnings })).toEqual({
    lines: [
      'roads: 1,234 rows, LineString, EPSG:25832, 1 field',
      'odd: 1,234 rows, LineString, reference system unknown, 1 field',
      'notes: 1 row, no geometry, 0 fields',
    ],
    warnings,
    extent: [5, 50, 6, 51],
  })
})

test('the extent is around all layers, and many layers are counted', () => {
  const layers = Array.from({ length: 10 }, (_, i) => layer(`l${i}`, { bbox: [i, -i, i + 1, 1 - i] }))
  const { lines, extent } = lookOfFeatures({ formats: [], layers, warnings: [] })
  expect(extent).toEqual([0, -9, 10, 1])
  expect(lines).toHaveLength(9)
  expect(lines.at(-1)).toBe('and 2 more layers')
})

test('what is looked at is the file of the form, read as the form says', () => {
  const storagePath = { bucket: 'uploads', path: 'a.csv' }
  expect(inspectionOf({ storagePath, tableName: 'a', mode: 'create', csv: { x: 'lon', y: 'lat' } })).toEqual({
    storagePath,
    csv: { x: 'lon', y: 'lat' },
  })
  expect(inspectionOf({ fileUrl: 'https://a.example/b.gpkg', sourceSrs: 'EPSG:25832' })).toEqual({
    fileUrl: 'https://a.example/b.gpkg',
    sourceSrs: 'EPSG:25832',
  })
  expect(inspectionOf({ tableName: 'a', storagePath: { bucket: 'uploads' } })).toBeNull()
})
