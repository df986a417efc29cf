import { expect, test } from 'vitest'
import { lookOfFeatures } from './file-facts.ts'

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
  const warnings = [{ code: 'FILES_SKIPPED', message: 'Some were left out.' }]
  expect(lookOfFeatures({ formats: ['GPKG'], layers, warnings })).toEqual({
    lines: [
      'roads: 1,234 rows, LineString, EPSG:25832, 1 field',
      'odd: 1,234 rows, LineString, reference system unknown, 1 field',
      'notes: 1 row, no geometry, 0 fields',
    ],
    warnings: ['Some were left out.'],
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
