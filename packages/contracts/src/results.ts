import { Type, type Static, type TSchema } from 'typebox'
import type { TaskName } from './job.ts'
import { nullable } from './named.ts'
import { EmbeddingsResult } from './tasks/create-geo-embeddings.ts'
import { JOB_FORMATS } from './tasks/export-table.ts'
import { ClassificationResult, ClusteringResult, TrainingResult } from './tasks/labels.ts'
import { JobWarning } from './warnings.ts'

const bbox = () =>
  nullable(Type.Array(Type.Number(), { minItems: 4, maxItems: 4, description: 'West, south, east, north in degrees.' }))
const warnings = () => Type.Array(JobWarning, { description: 'What a person should know of the result.' })
const table = {
  schema: Type.String(),
  name: Type.String(),
  rows: Type.Integer(),
  geometry_type: Type.String(),
  srid: Type.Integer(),
  bbox: bbox(),
}
const about = {
  source: Type.Record(Type.String(), Type.Unknown(), { description: 'Where the data came from.' }),
  attribution: Type.String({ description: 'What to write beside a map of these data.' }),
  seconds: Type.Number(),
  warnings: warnings(),
}
const stored = {
  bucket: Type.String(),
  path: Type.String(),
  bytes: Type.Integer(),
  etag: nullable(Type.String()),
  warnings: warnings(),
}

const OsmImportResult = Type.Object({
  tables: Type.Array(Type.Object({ ...table, topic: Type.String() })),
  ...about,
  licence: Type.String(),
  counts: Type.Record(Type.String(), Type.Unknown(), { description: 'What became of the elements that were read.' }),
})

const OsmUpdateResult = Type.Object({
  tables: Type.Array(
    Type.Object({
      schema: Type.String(),
      name: Type.String(),
      rows: Type.Integer({ description: 'Rows of the table by now.' }),
      geometry_type: Type.String(),
      inserted: Type.Integer(),
      updated: Type.Integer(),
      deleted: Type.Integer(),
      boxes: Type.Array(Type.Array(Type.Number()), {
        description: 'Boxes of tiles in which rows have changed: west, south, east, north in degrees.',
      }),
    }),
    { description: 'Tables with rows that have changed.' },
  ),
  files: Type.Integer({ description: 'Change files that were applied.' }),
  sequence: nullable(Type.Integer({ description: 'Where the tables stand in the replication by now.' })),
  timestamp: nullable(Type.String({ description: 'Time of the data, where it is known.' })),
  ...about,
})

const OvertureImportResult = Type.Object({
  tables: Type.Array(Type.Object({ ...table, type: Type.String() })),
  ...about,
})

const ImportedLayer = Type.Object({
  table: Type.String({ description: 'Qualified name.' }),
  rows: Type.Integer(),
  rejected: Type.Integer({ description: 'Features that were left out.' }),
  geometry_type: nullable(Type.String()),
  srid: nullable(Type.Integer()),
  bbox: bbox(),
  columns: Type.Array(Type.Object({ name: Type.String(), type: Type.String() })),
  layer: Type.String(),
})

const Ogr2ogrImportResult = Type.Object({
  ...Type.Partial(ImportedLayer).properties,
  tables: Type.Array(ImportedLayer, { description: 'One per layer; a single one stands in the fields above, too.' }),
  rows: Type.Integer(),
  warnings: warnings(),
})

const PmtilesResult = Type.Object({
  ...stored,
  tiles: Type.Integer(),
  minzoom: Type.Integer(),
  maxzoom: Type.Integer(),
  bounds: Type.Array(Type.Number(), { minItems: 4, maxItems: 4, description: 'West, south, east, north in degrees.' }),
  center: Type.Array(Type.Number(), { minItems: 3, maxItems: 3, description: 'Longitude, latitude, zoom.' }),
  layers: Type.Unknown({ description: 'vector_layers of TileJSON.' }),
  features: Type.Integer(),
  skipped_features: Type.Integer(),
  dropped_features: Type.Integer(),
})

const ExportResult = Type.Object({ ...stored, format: Type.Enum([...JOB_FORMATS]), rows: Type.Integer() })

/** `result` of a successful job, by task. */
export const TASK_RESULTS = {
  osmImportArea: OsmImportResult,
  overtureImportArea: OvertureImportResult,
  ogr2ogrImport: Ogr2ogrImportResult,
  createGeoEmbeddings: EmbeddingsResult,
  createSraiEmbeddings: EmbeddingsResult,
  importEmbeddings: EmbeddingsResult,
  archiveToPmtiles: PmtilesResult,
  exportTable: ExportResult,
  osmUpdateArea: OsmUpdateResult,
  trainClassifier: TrainingResult,
  classifyEmbeddings: ClassificationResult,
  clusterEmbeddings: ClusteringResult,
} as const satisfies Record<TaskName, TSchema>
/** The result of each task, by its name. */
export type TaskResults = { readonly [Name in TaskName]: Static<(typeof TASK_RESULTS)[Name]> }

const aoi = {
  type: 'Polygon',
  coordinates: [[[11.59, 48.09], [11.61, 48.09], [11.61, 48.11], [11.59, 48.11], [11.59, 48.09]]], // prettier-ignore
}

/** An example request of each task that its schema accepts. */
export const TASK_EXAMPLES: Readonly<Record<TaskName, Readonly<Record<string, unknown>>>> = {
  osmImportArea: { areaName: 'Old town', aoiGeoJson: aoi, topics: ['streets', 'buildings'] },
  overtureImportArea: { areaName: 'Old town', aoiGeoJson: aoi, topics: ['places'] },
  ogr2ogrImport: { storagePath: { bucket: 'uploads', path: 'roads.gpkg' }, tableName: 'roads' },
  createGeoEmbeddings: {
    storagePath: { bucket: 'uploads', path: 'scene.tif' },
    tableName: 'scene',
    modelName: 'builtin-texture-spectral-v2',
  },
  createSraiEmbeddings: { tableName: 'regions', aoiGeoJson: aoi, h3Resolution: 9, osmPreset: 'hex2vec' },
  importEmbeddings: {
    storagePath: { bucket: 'uploads', path: 'clay.parquet' },
    tableName: 'clay',
    product: 'clay',
    version: 'v1.5',
  },
  archiveToPmtiles: { table: 'roads', zooms: [0, 14] },
  exportTable: { table: 'roads', format: 'GeoPackage', storagePath: { bucket: 'exports', path: 'roads.gpkg' } },
  osmUpdateArea: { tablePrefix: 'old_town' },
  trainClassifier: { table: 'scene', classifier: 'land_cover', examples: { table: 'fields', column: 'crop' } },
  classifyEmbeddings: { table: 'scene', classifier: 'land_cover', tableName: 'scene_classes' },
  clusterEmbeddings: { table: 'scene', clusters: 8, tableName: 'scene_clusters' },
}
