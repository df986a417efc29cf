import { defineError } from '@terrane/core'

export const sourceNotFound = defineError(
  'SOURCE_NOT_FOUND',
  'invalid',
  (f: { path: string }) => `There is no readable file ${f.path} under the data roots of the worker`,
  () => ({
    hint: 'Send an https URL, or a path under one of the folders of TERRANE_DATA_ROOTS.',
    errors: [{ path: '/geotiffPath', message: 'is not a file that the worker may read' }],
  }),
)

export const sourceTooLarge = defineError(
  'size_guard_exceeded',
  'too_large',
  (f: { limit: number; why: string }) =>
    `The GeoTIFF is too large: ${f.why}; GEOEMBEDDINGS_MAX_GEOTIFF_BYTES allows ${f.limit}.`,
  () => ({ hint: 'Send a smaller raster, or raise GEOEMBEDDINGS_MAX_GEOTIFF_BYTES (0 disables it).' }),
)

export const noValidTiles = defineError(
  'NO_VALID_PIXELS',
  'invalid',
  (f: { tiles: number; minValidFraction: number }) =>
    `None of the ${f.tiles} tiles has the least share of valid pixels, ${f.minValidFraction}`,
  () => ({ hint: 'Check the nodata value and the mask of the raster, or lower minValidFraction.' }),
)

export const tooManyPatches = defineError(
  'size_guard_exceeded',
  'too_large',
  (f: { patches: number; limit: number }) =>
    `The raster makes ${f.patches} patches at level "patch"; GEOEMBEDDINGS_MAX_TILES allows ${f.limit}.`,
  () => ({
    hint: 'Use level "tile", a larger stride or a smaller raster, or raise GEOEMBEDDINGS_MAX_TILES (0 disables it).',
  }),
)

export const sourceMissing = defineError(
  'SOURCE_MISSING',
  'invalid',
  () => 'One of geotiffPath and storagePath is needed',
  () => ({ errors: [{ path: '/geotiffPath', message: 'geotiffPath or storagePath is needed, not both' }] }),
)

export const conflictingScales = defineError(
  'CONFLICTING_FIELDS',
  'invalid',
  () => 'scale and scaleFrom exclude each other',
  () => ({ errors: [{ path: '/scaleFrom', message: 'cannot be combined with scale' }] }),
)

export const scaleNotTaken = defineError(
  'SCALE_FROM_UNUSABLE',
  'invalid',
  (f: { table: string; why: string }) => `The stretch of the table "${f.table}" cannot be taken: ${f.why}`,
  () => ({
    hint: 'Name a table that createGeoEmbeddings made with a model of the same channels.',
    errors: [{ path: '/scaleFrom/table', message: 'is not a table whose stretch can be taken' }],
  }),
)

export const invalidDatetime = defineError(
  'INVALID_DATETIME',
  'invalid',
  (f: { text: string }) => `datetime ${f.text} is no time that there is`,
  () => ({ errors: [{ path: '/datetime', message: 'must be a time such as 2024-06-01T10:00:00Z' }] }),
)
