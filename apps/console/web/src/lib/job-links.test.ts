import { Value } from 'typebox/value'
import { TASK_NAMES, TASK_RESULTS, type TaskName, type TaskResults } from '@terrane/contracts'
import { expect, test } from 'vitest'
import { jobLinks } from './job-links.ts'

const stored = { bucket: 'exports', path: 'a/roads.gpkg', bytes: 9, etag: null, warnings: [] }
const area = { schema: 'public', name: 'porto_streets', rows: 3, geometry_type: 'LineString', srid: 4326, bbox: null }
const about = { source: {}, attribution: '', seconds: 1, warnings: [] }
const layer = { table: 'public.roads', rows: 7, rejected: 0, srid: 4326, bbox: null, columns: [], layer: 'roads' }
const embeddings: TaskResults['createGeoEmbeddings'] = {
  table: 'geoembeddings.scene',
  rows: 2,
  dims: 64,
  model: { id: 'm', sha256: '', licence: '' },
  skipped_nodata: 0,
  scale: null,
  crs: 'EPSG:4326',
  bbox: [0, 0, 1, 1],
  timings: {},
  artifacts: [{ bucket: 'geoembeddings', path: 'scene.parquet', bytes: 5 }],
}
const fitted = { classifier: 'cover', version: 1, timings: {}, warnings: [] }
const classes = {
  table: 'public.cover',
  rows: 3,
  classified: 3,
  removed: 0,
  bbox: null,
  attribution: '',
  classes: [{ name: 'a', rows: 3, mean_probability: null }],
}
/** A result of each task, in the form of its schema. */
const RESULTS: { readonly [Name in TaskName]: TaskResults[Name] } = {
  osmImportArea: { tables: [{ ...area, topic: 'streets' }], ...about, licence: '', counts: {} },
  overtureImportArea: { tables: [{ ...area, type: 'segment' }], ...about },
  osmUpdateArea: {
    tables: [{ ...area, inserted: 1, updated: 0, deleted: 0, boxes: [[11, 48, 11.1, 48.1]] }],
    ...about,
    files: 1,
    sequence: null,
    timestamp: null,
  },
  ogr2ogrImport: {
    tables: [
      { ...layer, geometry_type: 'LineString' },
      { ...layer, table: 'survey.notes', geometry_type: null },
    ],
    rows: 14,
    warnings: [],
  },
  createGeoEmbeddings: embeddings,
  createSraiEmbeddings: { ...embeddings, table: 'geoembeddings.cells', artifacts: [] },
  importEmbeddings: embeddings,
  archiveToPmtiles: {
    ...stored,
    bucket: 'pmtiles',
    path: 'roads.pmtiles',
    tiles: 1,
    minzoom: 0,
    maxzoom: 1,
    bounds: [0, 0, 1, 1],
    center: [0, 0, 0],
    layers: [],
    features: 1,
    skipped_features: 0,
    dropped_features: 0,
  },
  exportTable: { ...stored, format: 'GeoPackage', rows: 7 },
  trainClassifier: {
    ...fitted,
    head: 'logistic',
    table: 'geoembeddings.scene',
    examples: 2,
    classes: [{ name: 'a', examples: 2, precision: null, recall: null, f1: null }],
    validation: null,
  },
  classifyEmbeddings: { ...classes, ...fitted },
  clusterEmbeddings: { ...classes, ...fitted, inertia: 0.5 },
}

/** A trained classifier is neither a table nor a file. */
const LINKED = TASK_NAMES.filter((name) => name !== 'trainClassifier')

test.each(LINKED)('the result of %s links to something, and each link is whole', (taskName) => {
  expect(Value.Check(TASK_RESULTS[taskName], RESULTS[taskName])).toBe(true)
  const { tables, embeddings: table, archive, files } = jobLinks({ taskName, result: RESULTS[taskName] })
  expect(tables.length + files.length + Number(table !== null) + Number(archive !== null)).toBeGreaterThan(0)
  for (const link of [...tables, ...files]) expect(Object.values(link)).not.toContain(undefined)
})

test('a file import links to the tables of its result, with their schema', () => {
  expect(jobLinks({ taskName: 'ogr2ogrImport', result: RESULTS.ogr2ogrImport }).tables).toEqual([
    { schema: 'public', name: 'roads', rows: 7, geometryType: 'LineString' },
    { schema: 'survey', name: 'notes', rows: 7, geometryType: null },
  ])
  expect(jobLinks({ taskName: 'createSraiEmbeddings', result: RESULTS.createSraiEmbeddings }).embeddings).toBe('cells')
})

test('a job without a result, or of a task that is not known here, links to nothing', () => {
  const nothing = { tables: [], embeddings: null, archive: null, files: [] }
  expect(jobLinks({ taskName: 'ogr2ogrImport', result: null })).toEqual(nothing)
  expect(jobLinks({ taskName: 'toString', result: {} })).toEqual(nothing)
})
