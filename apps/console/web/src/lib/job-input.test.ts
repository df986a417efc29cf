import { expect, test } from 'vitest'
import { jobInputFacts } from './job-input.ts'

test('the input of a job is shown in words: lists with commas, and no internal members', () => {
  const facts = jobInputFacts({
    tableName: 'tiles',
    bands: [0, 1, 2],
    storagePath: { bucket: 'uploads', path: '2026/dem.tif' },
    storagePrefix: { bucket: 'uploads', prefix: '2026/' },
    examples: { table: 'fields', column: 'crop' },
    sources: [{ geotiffPath: 'a.tif' }, { geotiffPath: 'b.tif' }],
    layers: [],
    isPublic: false,
    projectTarget: { projectRef: 'local' },
  })
  expect(facts).toEqual([
    ['Table name', 'tiles'],
    ['Bands', '0, 1, 2'],
    ['Storage path', 'uploads/2026/dem.tif'],
    ['Storage prefix', 'uploads/2026/'],
    ['Examples', 'Table: fields, Column: crop'],
    ['Sources', 'GeoTIFF path: a.tif; GeoTIFF path: b.tif'],
    ['Layers', 'none'],
    ['Is public', 'false'],
  ])
})

test('areas and features in the input of a job are shown by their kind and size', () => {
  const ring = [[6, 49], [7, 49], [7, 50], [6, 49]] // prettier-ignore
  const area = { type: 'Polygon', coordinates: [ring] }
  const features = { type: 'FeatureCollection', features: [{ type: 'Feature', properties: {}, geometry: area }] }
  expect(jobInputFacts({ aoiGeoJson: area, features })).toEqual([
    ['Area', 'Polygon, 4 positions'],
    ['Features', 'FeatureCollection, 1 part'],
  ])
  expect(jobInputFacts({ sql: 'x'.repeat(400) })[0]![1]).toBe(`${'x'.repeat(300)} …`)
})

test('a part of a job shows the input of the whole job and the name of the part', () => {
  const input = {
    request: { tableName: 'tiles', projectTarget: { projectRef: 'local' } },
    shard: { number: 3, name: 'a.tif' },
  }
  expect(jobInputFacts(input)).toEqual([
    ['Table name', 'tiles'],
    ['Part', 'a.tif'],
  ])
})
