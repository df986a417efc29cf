import { expect, test } from 'vitest'
import { formatAgo, formatBytes, formatDuration, formatFact, formatRows, formatJson, humanise } from './format.ts'

test('positions and boxes stay on one line of JSON, everything else has its own', () => {
  const area = {
    type: 'Polygon',
    coordinates: [
      [
        [11, 48],
        [-1.5, 4e-7],
        [11, 48],
      ],
    ],
    bbox: [1, 2, 3, 4],
    tags: ['a', 'b'],
  }
  const text = formatJson(area)
  expect(text).toContain('      [11, 48],\n      [-1.5, 4e-7],')
  expect(text).toContain('"bbox": [1, 2, 3, 4]')
  expect(text).toContain('"tags": [\n    "a",')
  expect(JSON.parse(text)).toEqual(area)
})

test('names of the interface are words', () => {
  const names = [
    'geotiffPath',
    'aoiGeoJson',
    'h3Resolution',
    'dropped_features',
    'fileUrl',
    'sourceSrs',
    'uploadArtifactsToStorage',
  ]
  expect(names.map(humanise)).toEqual([
    'GeoTIFF path',
    'Area',
    'H3 resolution',
    'Dropped features',
    'File URL',
    'Source SRS',
    'Upload artifacts to storage',
  ])
})

test('durations, sizes and ages are short', () => {
  expect([0.04, 9.96, 59.6, 61, 3599, 3725].map(formatDuration)).toEqual([
    '0.0 s',
    '10 s',
    '1 min 00 s',
    '1 min 01 s',
    '59 min 59 s',
    '1 h 02 min',
  ])
  expect([0, 1023, 1536, 10_485_760].map(formatBytes)).toEqual(['0 B', '1023 B', '1.5 KiB', '10 MiB'])
  expect([0, 1, 1432].map(formatRows)).toEqual(['0 rows', '1 row', '1,432 rows'])
  const now = Date.parse('2026-01-01T12:00:00Z')
  expect(formatAgo('2026-01-01T11:59:50Z', now)).toBe('just now')
  expect(formatAgo('2026-01-01T11:50:00Z', now)).toBe('10 minutes ago')
  expect(formatAgo('2025-12-31T12:00:00Z', now)).toBe('yesterday')
})

test('a code keeps its digits together, a count groups them', () => {
  expect([formatFact('srid', 25832), formatFact('rows', 25832), formatFact('strict', false)]).toEqual([
    '25832',
    '25,832',
    'false',
  ])
})
