import { Type, type Static } from 'typebox'
import { identifier } from '../identifiers.ts'
import { named } from '../named.ts'
import { readers } from '../readers.ts'
import { JobWarning } from '../warnings.ts'
import {
  GeoSource,
  MAX_GEO_SOURCES,
  StacSources,
  assets,
  datetime,
  mask,
  profile,
  resampling,
  sourceSrs,
  storedFile,
} from './geo-sources.ts'
import { taskFields } from './task-fields.ts'

export const DEFAULT_GEO_MODEL = 'dinov3-vitl16-pretrain-sat493m'

const range = { minItems: 2, maxItems: 2 }

/** Body of `POST /jobs/createGeoEmbeddings`. */
export const CreateGeoEmbeddings = Type.Object(
  {
    geotiffPath: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4000,
        description:
          'HTTPS URL of a GeoTIFF or a VRT of plain bands, or a path under the data roots of the worker. One of this, storagePath, assets, ' +
          'sources, storagePrefix and stac.',
      }),
    ),
    storagePath: Type.Optional(storedFile('A GeoTIFF in the storage of the project.')),
    assets: assets(),
    mask: mask(),
    resampling: resampling(),
    sources: Type.Optional(
      Type.Array(GeoSource, {
        minItems: 1,
        maxItems: MAX_GEO_SOURCES,
        description: 'Many rasters into one table. They are spread over all workers, and seen by one stretch.',
      }),
    ),
    storagePrefix: Type.Optional(
      Type.Object(
        {
          bucket: Type.String({ minLength: 1, maxLength: 100 }),
          prefix: Type.String({ maxLength: 1024, description: 'What the paths begin with; a folder ends in /.' }),
        },
        { additionalProperties: false, description: 'Every .tif and .tiff in the storage whose path begins so.' },
      ),
    ),
    stac: Type.Optional(StacSources),
    mode: Type.Optional(
      Type.Enum(['create', 'append'], {
        default: 'create',
        description:
          'append adds rasters to an existing table: changed rasters are replaced, unchanged ones are skipped. Model, ' +
          'tiles and stretch are those of the table.',
      }),
    ),
    tableName: identifier('Output table in schema geoembeddings; must not exist, unless mode is append.'),
    normalizeEmbeddings: Type.Optional(Type.Boolean({ default: true, description: 'Scale each vector to length 1.' })),
    tileSize: Type.Optional(
      Type.Integer({ minimum: 16, maximum: 2048, default: 256, description: 'Edge of a tile in pixels.' }),
    ),
    modelName: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, default: DEFAULT_GEO_MODEL, description: 'Id of a model manifest.' }),
    ),
    bands: Type.Optional(
      Type.Array(Type.Integer({ minimum: 0, maximum: 65534 }), {
        minItems: 1,
        maxItems: 64,
        description: '0-based band indices in the order the model expects. Default: chosen by name.',
      }),
    ),
    profile: profile(
      'Sensor profile: what bands and values are, e.g. sentinel-2-l2a-offset, landsat-8-9-c2-l2, naip; "none" for no profile. ' +
        'Default: found by the name of the product.',
    ),
    sourceSrs: sourceSrs('Reference system of the raster, in the place of what the file says.'),
    datetime: datetime(
      'When the imagery was taken, RFC 3339. Default: read from the name of the product. Models that take a time need it.',
    ),
    scaleFrom: Type.Optional(
      Type.Object(
        { table: identifier('An embedding table of this project.') },
        {
          additionalProperties: false,
          description: 'Take bands, profile and stretch of that table, so that both compare.',
        },
      ),
    ),
    uploadArtifactsToStorage: Type.Optional(
      Type.Boolean({ default: false, description: 'Also write GeoParquet and a STAC item to bucket geoembeddings.' }),
    ),
    stride: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 4096, description: 'Pixels from tile to tile. Default: tileSize.' }),
    ),
    edge: Type.Optional(
      Type.Enum(['pad', 'drop', 'shift'], {
        default: 'pad',
        description: 'Tiles over the edge: mirrored pixels, left out, or moved inward.',
      }),
    ),
    alignGrid: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Snap tile origins to multiples of the tile in the CRS, so that dates line up.',
      }),
    ),
    minValidFraction: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, default: 0.5, description: 'Tiles with less valid pixels are skipped.' }),
    ),
    scale: Type.Optional(
      Type.Union(
        [Type.Array(Type.Number(), range), Type.Array(Type.Array(Type.Number(), range), { minItems: 1, maxItems: 64 })],
        {
          description:
            '[min, max] of the physical values, or one such pair per channel. When absent: by the sensor profile, 0 to 255 ' +
            'for bytes, else the 2nd to 98th percentile of the raster with some headroom.',
        },
      ),
    ),
    level: Type.Optional(
      Type.Enum(['tile', 'patch'], {
        default: 'tile',
        description: 'One vector per tile, or one per patch of the model (many more rows, half precision).',
      }),
    ),
    ...readers(),
    ...taskFields(),
  },
  { additionalProperties: false, title: 'CreateGeoEmbeddings' },
)
export type CreateGeoEmbeddings = Static<typeof CreateGeoEmbeddings>

/** `result` of a finished createGeoEmbeddings or createSraiEmbeddings job. */
export const EmbeddingsResult = named(
  'EmbeddingsResult',
  Type.Object({
    table: Type.String({ description: 'Qualified name of the table.' }),
    rows: Type.Integer(),
    dims: Type.Integer(),
    model: Type.Object({
      id: Type.String(),
      sha256: Type.String(),
      licence: Type.String(),
      provider: Type.Optional(Type.String({ description: 'Execution provider; absent where the CPU computed it.' })),
    }),
    skipped_nodata: Type.Integer(),
    scale: Type.Unknown(),
    crs: Type.String(),
    bbox: Type.Array(Type.Number(), { minItems: 4, maxItems: 4, description: 'west, south, east, north' }),
    artifacts: Type.Optional(
      Type.Array(Type.Object({ bucket: Type.String(), path: Type.String(), bytes: Type.Integer() })),
    ),
    sources: Type.Optional(
      Type.Object(
        {
          total: Type.Integer(),
          done: Type.Integer(),
          unchanged: Type.Integer({ description: 'Skipped: the table has them already.' }),
          failed: Type.Integer(),
          rows: Type.Integer({ description: 'Rows that this job has made.' }),
          failures: Type.Array(Type.Object({ name: Type.String(), code: Type.String(), message: Type.String() }), {
            description: 'At most 100; embedding_sources has all of them.',
          }),
        },
        { description: 'createGeoEmbeddings of many rasters: what became of them.' },
      ),
    ),
    features: Type.Optional(
      Type.Integer({ description: 'createSraiEmbeddings: features counted in at least one cell.' }),
    ),
    zero_vectors: Type.Optional(
      Type.Integer({ description: 'createSraiEmbeddings: cells without any feature; no search finds them.' }),
    ),
    source: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'Where the features came from.' })),
    attribution: Type.Optional(Type.String()),
    warnings: Type.Optional(Type.Array(JobWarning, { description: 'What a person should know of the result.' })),
    timings: Type.Record(Type.String(), Type.Number(), { description: 'Seconds per phase.' }),
  }),
)
export type EmbeddingsResult = Static<typeof EmbeddingsResult>
