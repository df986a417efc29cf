import { Type, type Static } from 'typebox'
import { named, nullable } from './named.ts'
import { Ogr2ogrImport } from './tasks/ogr2ogr-import.ts'
import { JobWarning } from './warnings.ts'

const { fileUrl, storagePath, sourceSrs, encoding, csv, types } = Ogr2ogrImport.properties

/** Body of `POST /inspect`: a file and its read options, as in ogr2ogrImport. */
export const InspectFile = Type.Object(
  {
    fileUrl,
    storagePath,
    sourceSrs,
    encoding,
    csv,
    types,
    projectRef: Type.Optional(Type.String({ maxLength: 63, description: 'Required on the shared pool.' })),
  },
  { additionalProperties: false },
)
export type InspectFile = Static<typeof InspectFile>

const LayerFacts = Type.Object({
  name: Type.String(),
  rows: Type.Integer(),
  geometry_types: Type.Array(Type.String(), { description: 'PostGIS names of the types that are there.' }),
  srid: nullable(Type.Integer({ description: 'EPSG code; null where the file does not say.' })),
  bbox: nullable(
    Type.Array(Type.Number(), {
      minItems: 4,
      maxItems: 4,
      description: 'West, south, east, north in degrees; null where there is none or it is not known.',
    }),
  ),
  fields: Type.Array(Type.Object({ name: Type.String(), type: Type.String() }), {
    description: 'With the types of the columns that they would become.',
  }),
})

/** Preview of an import. */
export const FileFacts = named(
  'FileFacts',
  Type.Object({
    formats: Type.Array(Type.String(), { description: 'Of its data sets, by the names of GDAL.' }),
    layers: Type.Array(LayerFacts),
    warnings: Type.Array(JobWarning, { description: 'What an import would say before it reads the rows.' }),
  }),
)
export type FileFacts = Static<typeof FileFacts>
