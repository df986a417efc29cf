import { defineError } from '@terrane/core'

export const sourceNotFound = defineError(
  'SOURCE_NOT_FOUND',
  'invalid',
  (f: { path: string; at?: string }) => `There is no readable file ${f.path} under the data roots of the worker`,
  (f) => ({
    hint: 'Send an https URL, or a path under one of the folders of TERRANE_DATA_ROOTS.',
    errors: [{ path: f.at ?? '/geotiffPath', message: 'is not a file that the worker may read' }],
  }),
)

export const sourceTooLarge = defineError(
  'size_guard_exceeded',
  'too_large',
  (f: { limit: number; why: string }) =>
    `The GeoTIFF is too large: ${f.why}; GEOEMBEDDINGS_MAX_GEOTIFF_BYTES allows ${f.limit}.`,
  () => ({
    hint: 'Send a smaller raster or fewer bands, or raise GEOEMBEDDINGS_MAX_GEOTIFF_BYTES (0 disables it). The limit is for all files of a scene together, and for the uncompressed file that they become.',
  }),
)

export const noValidTiles = defineError(
  'NO_VALID_PIXELS',
  'invalid',
  (f: { tiles: number; minValidFraction: number }) =>
    `None of the ${f.tiles} tiles has the minimum share of valid pixels, ${f.minValidFraction}`,
  () => ({ hint: 'Check the nodata value and the mask of the raster, or lower minValidFraction.' }),
)

export const tooManyPatches = defineError(
  'size_guard_exceeded',
  'too_large',
  (f: { patches: number; limit: number }) =>
    `The raster makes ${f.patches} patches at level "patch"; worker.maxPatches allows ${f.limit}.`,
  () => ({
    hint: 'Use level "tile", a larger stride or a smaller raster, or raise worker.maxPatches (0 disables it).',
  }),
)

export const sourceMissing = defineError(
  'SOURCE_MISSING',
  'invalid',
  () => 'One of geotiffPath, storagePath and assets is needed',
  () => ({
    errors: [
      {
        path: '/geotiffPath',
        message: 'exactly one of geotiffPath, storagePath and assets is needed; mask needs assets',
      },
    ],
  }),
)

export const resamplingAlone = defineError(
  'SOURCE_MISSING',
  'invalid',
  () => 'resampling is only for assets',
  () => ({ errors: [{ path: '/resampling', message: 'is only for assets; in a VRT each source has its own' }] }),
)

export const maskUnknown = defineError(
  'SCENE_UNUSABLE',
  'invalid',
  (f: { name: string; at: string }) => `The values of the mask ${f.name} that mark invalid pixels are not known`,
  (f) => ({
    hint: 'Send maskValues or maskBits. Files named SCL, QA_PIXEL and Fmask are known.',
    errors: [{ path: `${f.at}/maskValues`, message: 'this or maskBits is needed' }],
  }),
)

export const sourcesConflict = defineError(
  'CONFLICTING_FIELDS',
  'invalid',
  (f: { fields: readonly string[] }) => `${f.fields.join(' and ')} cannot be combined`,
  (f) => ({ errors: f.fields.map((field) => ({ path: `/${field}`, message: 'cannot be combined with the others' })) }),
)

export const badSource = defineError(
  'SOURCE_MISSING',
  'invalid',
  (f: { at: string }) => `The source at ${f.at} needs one of geotiffPath, storagePath and assets`,
  (f) => ({
    errors: [{ path: f.at, message: 'needs exactly one of geotiffPath, storagePath and assets; mask needs assets' }],
  }),
)

export const noSources = defineError(
  'NO_SOURCES',
  'invalid',
  (f: { where: string; at: string }) => `There is no GeoTIFF ${f.where}`,
  (f) => ({
    hint: 'A folder is a prefix that ends in /; files end in .tif or .tiff.',
    errors: [{ path: f.at, message: 'does not name a raster' }],
  }),
)

export const tooManySources = defineError(
  'TOO_MANY_SOURCES',
  'too_large',
  (f: { sources: number; limit: number }) => `The request names ${f.sources} rasters; ${f.limit} are allowed`,
  () => ({ hint: 'Embed some of them first, then append the others.' }),
)

export const sameSource = defineError(
  'SAME_SOURCE',
  'invalid',
  (f: { name: string; at: string }) => `Two sources have the name ${f.name}`,
  (f) => ({ hint: 'Leave one out, or give each a name.', errors: [{ path: f.at, message: 'is given twice' }] }),
)

export const stacUnusable = defineError(
  'STAC_UNUSABLE',
  'invalid',
  (f: { why: string; at: string }) => `The STAC items cannot be used: ${f.why}`,
  (f) => ({ errors: [{ path: f.at, message: f.why }] }),
)

export const fileRefused = defineError(
  'SOURCE_NOT_FOUND',
  'invalid',
  (f: { name: string; where: string; at: string }) =>
    `${f.where} names the file ${f.name}, which cannot be read from there`,
  (f) => ({
    hint: 'Name files relative to the VRT or item, or by https URLs.',
    errors: [{ path: f.at, message: 'names a file that cannot be read' }],
  }),
)

export const appendTargetMissing = defineError(
  'TABLE_NOT_FOUND',
  'invalid',
  (f: { table: string }) => `There is no table geoembeddings.${f.table} to append to`,
  () => ({ hint: 'Leave mode out to create it.', errors: [{ path: '/tableName', message: 'does not exist' }] }),
)

export const appendDiffers = defineError(
  'APPEND_DIFFERS',
  'invalid',
  (f: { table: string; fields: readonly { field: string; table: unknown; request: unknown }[] }) =>
    `The table "${f.table}" was made with other options: ${f.fields
      .map(
        ({ field, table, request }) =>
          `${field} is ${JSON.stringify(table)} in the table and ${JSON.stringify(request)} in the request`,
      )
      .join('; ')}`,
  (f) => ({
    hint: 'Leave these fields out: an append takes them from the table.',
    errors: f.fields.map(({ field }) => ({ path: `/${field}`, message: 'differs from the table' })),
  }),
)

export const notComparable = defineError(
  'NOT_COMPARABLE',
  'invalid',
  (f: { name: string; why: string }) => `${f.name} cannot be compared with the other sources of the table: ${f.why}`,
  () => ({ hint: 'Send the profile of the source, or embed it into a separate table.' }),
)

export const noSourceDone = defineError(
  'NO_SOURCE_DONE',
  'invalid',
  (f: { failures: readonly { name: string; message: string }[]; total: number }) =>
    `None of ${f.total} sources could be embedded. ${f.failures
      .slice(0, 3)
      .map(({ name, message }) => `${name}: ${message}`)
      .join(' ')}`,
  (f) => ({ hint: 'Nothing was changed.', details: JSON.stringify(f.failures) }),
)

export const conflictingScales = defineError(
  'CONFLICTING_FIELDS',
  'invalid',
  () => 'scale and scaleFrom cannot be combined',
  () => ({ errors: [{ path: '/scaleFrom', message: 'cannot be combined with scale' }] }),
)

export const samplesClamped = defineError(
  'SAMPLES_CLAMPED',
  'invalid',
  (f: { percent: number }) =>
    `${f.percent} % of the samples are outside the rescale range, so the raster has other units`,
  () => ({
    hint: 'Send the profile of the product, a scale in the units of the raster, or leave scaleFrom out.',
    errors: [{ path: '/scale', message: 'does not fit the values of the raster' }],
  }),
)

export const vectorsEmpty = defineError(
  'VECTORS_EMPTY',
  'invalid',
  (f: { count: number; rows: number }) =>
    `${f.count} of ${f.rows} vectors are zero or constant, or not finite, so they carry no information`,
  () => ({
    hint: 'Check the nodata value or mask of the raster, the rescale range, and that the model takes these bands.',
  }),
)

export const scaleFromUnusable = defineError(
  'SCALE_FROM_UNUSABLE',
  'invalid',
  (f: { table: string; why: string }) => `The rescale range of the table "${f.table}" cannot be used: ${f.why}`,
  () => ({
    hint: 'Name a table that createGeoEmbeddings made of rasters in the same units with a model of the same channels, or send the profile of the raster.',
    errors: [{ path: '/scaleFrom/table', message: 'is not a table whose rescale range can be used' }],
  }),
)

export const invalidDatetime = defineError(
  'INVALID_DATETIME',
  'invalid',
  (f: { text: string }) => `datetime ${f.text} is not a valid time`,
  () => ({ errors: [{ path: '/datetime', message: 'must be a time such as 2024-06-01T10:00:00Z' }] }),
)
