import { expect, test } from 'vitest'
import { embeddingOf, taskFor } from './task-for-file.ts'

test('imagery is embedded, anything else imported, from where it lies in storage', () => {
  expect(taskFor('a.TIF', 'uploads/1/a.TIF')).toMatchObject({
    task: 'createGeoEmbeddings',
    presets: { storagePath: '{"bucket":"uploads","path":"1/a.TIF"}', tableName: 'a' },
  })
  expect(taskFor('a.geojson', 'uploads/1/a.geojson').task).toBe('ogr2ogrImport')
})

test('a raster is embedded whatever the ending of its name', () => {
  expect(embeddingOf('uploads/1/scene')).toEqual({
    task: 'createGeoEmbeddings',
    label: 'Embed the imagery',
    presets: {
      storagePath: '{"bucket":"uploads","path":"1/scene"}',
      tableName: 'scene',
      modelName: 'builtin-texture-spectral-v2',
    },
  })
})

test('map data are imported where they lie, over the area that their header states', () => {
  const { task, presets } = taskFor('porto.osm.pbf', 'uploads/1/porto.osm.pbf', [-8.7, 41.1, -8.5, 41.2])
  expect(task).toBe('osmImportArea')
  expect(presets).toEqual({
    areaName: 'porto',
    source: '{"kind":"storage","bucket":"uploads","path":"1/porto.osm.pbf"}',
    aoiGeoJson: '{"type":"Polygon","coordinates":[[[-8.7,41.1],[-8.5,41.1],[-8.5,41.2],[-8.7,41.2],[-8.7,41.1]]]}',
  })
  expect(taskFor('porto.osm.pbf', 'uploads/1/porto.osm.pbf').presets).not.toHaveProperty('aoiGeoJson')
})
