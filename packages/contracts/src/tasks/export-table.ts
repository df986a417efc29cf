import { Type, type Static } from 'typebox'
import { existingName } from '../identifiers.ts'
import { taskFields } from './task-fields.ts'

/** Formats of rows, in jobs and over HTTP. */
export const EXPORT_FORMATS = [
  'GeoParquet',
  'GeoPackage',
  'FlatGeobuf',
  'GeoJSON',
  'GeoJSONSeq',
  'CSV',
  'Shapefile',
] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]
/** Formats of jobs: of rows, and of a table of classes as a raster. */
export const JOB_FORMATS = [...EXPORT_FORMATS, 'COG'] as const

/** Body of `POST /jobs/exportTable`. */
export const ExportTable = Type.Object(
  {
    table: Type.Optional(existingName('Table or view to export; or a query.')),
    query: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 20_000,
        description:
          'Instead of a table, one SELECT. It runs in a read-only transaction as service_role, for as long as queryTimeoutSeconds says.',
      }),
    ),
    queryTimeoutSeconds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 14_400, default: 600, description: 'Longest time of the query.' }),
    ),
    schema: Type.Optional(existingName('Its schema.', { default: 'public' })),
    format: Type.Enum([...JOB_FORMATS], {
      description:
        'Format of the file. GeoJSON, GeoJSONSeq, CSV and GeoParquet are in longitude and latitude, others in the system of the table. A COG is a raster of a table of classes.',
    }),
    storagePath: Type.Object(
      { bucket: Type.String({ minLength: 1, maxLength: 100 }), path: Type.String({ minLength: 1, maxLength: 1024 }) },
      {
        additionalProperties: false,
        description: 'Where the file goes in the storage of the project; one there is replaced.',
      },
    ),
    columns: Type.Optional(
      Type.Array(existingName('A column.'), {
        minItems: 1,
        maxItems: 1500,
        uniqueItems: true,
        description: 'Columns to export besides the geometry. Default: all.',
      }),
    ),
    ...taskFields(),
  },
  { additionalProperties: false, title: 'ExportTable' },
)
export type ExportTable = Static<typeof ExportTable>
