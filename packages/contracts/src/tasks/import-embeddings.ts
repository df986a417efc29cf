import { Type, type Static } from 'typebox'
import { existingName, identifier } from '../identifiers.ts'
import { readers } from '../readers.ts'
import { taskFields } from './task-fields.ts'

const word = (description: string) =>
  Type.String({ minLength: 1, maxLength: 100, pattern: '^[A-Za-z0-9][A-Za-z0-9._+-]*$', description })
const closed = { additionalProperties: false } as const

/** Body of `POST /jobs/importEmbeddings`. */
export const ImportEmbeddings = Type.Object(
  {
    storagePath: Type.Optional(
      Type.Object(
        { bucket: Type.String({ minLength: 1, maxLength: 100 }), path: Type.String({ minLength: 1, maxLength: 1024 }) },
        {
          ...closed,
          description:
            'A GeoParquet file or GeoTIFF in the storage of the project, or the folder of a Zarr store, whose name ends in .zarr. This or url.',
        },
      ),
    ),
    url: Type.Optional(
      Type.String({ minLength: 1, maxLength: 4000, description: 'HTTPS URL of such a file or folder.' }),
    ),
    tableName: identifier('Output table in schema geoembeddings; must not exist.'),
    product: Type.Optional(
      word(
        'Product of the vectors: alphaearth, tessera, clay, earth-index, major-tom, or a name of your own. Default: what the file tells.',
      ),
    ),
    version: Type.Optional(
      word('Version or model of the product, e.g. 1.5. Vectors of different versions are never compared.'),
    ),
    columns: Type.Optional(
      Type.Object(
        {
          vector: Type.Optional(
            existingName('Column of the vectors, or array of a Zarr store. Default: found by name and type.'),
          ),
          geometry: Type.Optional(existingName('Column of the places. Default: as the file says.')),
          x: Type.Optional(existingName('Column of longitudes, in place of geometries.')),
          y: Type.Optional(existingName('Column of latitudes, in place of geometries.')),
          id: Type.Optional(existingName('Column that names a row; it becomes place_id.')),
          datetime: Type.Optional(existingName('Column of the time of each row.')),
        },
        { ...closed, description: 'Columns of the file. Usual names are found.' },
      ),
    ),
    quantization: Type.Optional(
      Type.Object(
        {
          method: Type.Enum(['linear', 'signed-square'], {
            description: 'linear: value · scale + offset. signed-square: sign(value) · (value · scale)².',
          }),
          scale: Type.Number({ description: 'Factor of stored values.' }),
          offset: Type.Optional(Type.Number({ default: 0, description: 'Of linear: what is added.' })),
        },
        { ...closed, description: 'How whole numbers become values. Default: by the product; integers need it.' },
      ),
    ),
    pool: Type.Optional(
      Type.Object(
        {
          tileSize: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 8192, description: 'Edge of square tiles in pixels; 1 keeps pixels.' }),
          ),
          h3Resolution: Type.Optional(Type.Integer({ minimum: 0, maximum: 15, description: 'H3 cells.' })),
          table: Type.Optional(existingName('Areas of a table of the project.')),
          schema: Type.Optional(existingName('Its schema.', { default: 'public' })),
          idColumn: Type.Optional(existingName('Column of that table that names an area. Default: id.')),
        },
        {
          ...closed,
          description:
            'Of rasters: what becomes a row. One of tileSize, h3Resolution and table. Default: tiles of 32 pixels.',
        },
      ),
    ),
    statistics: Type.Optional(
      Type.Array(Type.Enum(['mean', 'max', 'std']), {
        minItems: 1,
        maxItems: 3,
        uniqueItems: true,
        description: 'Of rasters: what is made of the pixels of a row, one after the other. Default: ["mean"].',
      }),
    ),
    bands: Type.Optional(
      Type.Array(Type.Integer({ minimum: 0, maximum: 65534 }), {
        minItems: 1,
        maxItems: 16_000,
        description: 'Of rasters: 0-based indices of the bands that are the vector. Default: all.',
      }),
    ),
    nodata: Type.Optional(
      Type.Number({ description: 'Of rasters: stored number of pixels without a vector. Default: as the file says.' }),
    ),
    minValidFraction: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        default: 0.5,
        description: 'Of rasters: rows with fewer valid pixels are skipped.',
      }),
    ),
    sourceSrs: Type.Optional(
      Type.String({
        pattern: '^EPSG:[0-9]{3,6}$',
        description:
          'Reference system of the places or the raster, in place of what the file says. Places without one are taken to be in EPSG:4326.',
      }),
    ),
    groundSizeMeters: Type.Optional(
      Type.Number({
        minimum: 0.01,
        maximum: 1_000_000,
        description: 'Edge of the square around a place that is a point. Default: by the product.',
      }),
    ),
    normalizeEmbeddings: Type.Optional(
      Type.Boolean({ description: 'Scale each vector to length 1. Default: as the product has it.' }),
    ),
    datetime: Type.Optional(
      Type.String({
        maxLength: 40,
        pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$',
        description: 'Time of all rows that the file gives no time, RFC 3339.',
      }),
    ),
    licence: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'Licence of the vectors. Default: of the product.' }),
    ),
    attribution: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1000, description: 'Credit of the vectors. Default: of the product.' }),
    ),
    uploadArtifactsToStorage: Type.Optional(
      Type.Boolean({ default: false, description: 'Also write GeoParquet and a STAC item to bucket geoembeddings.' }),
    ),
    ...readers(),
    ...taskFields(),
  },
  { ...closed, title: 'ImportEmbeddings' },
)
export type ImportEmbeddings = Static<typeof ImportEmbeddings>
