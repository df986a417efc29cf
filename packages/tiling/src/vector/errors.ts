import { defineError } from '@terrane/core'

/** A geometry that is not WKB of a supported type. */
export const badGeometry = defineError(
  'BAD_GEOMETRY',
  'invalid',
  (f: { row: number; problem: string }) => `the geometry of row ${f.row} (counted from 0) cannot be read: ${f.problem}`,
  () => ({ hint: 'Send WKB or EWKB in EPSG:4326; turn curves into lines and surfaces into polygons first.' }),
)

/** Zooms outside what the tiler can encode, or in the wrong order. */
export const badZooms = defineError(
  'BAD_ZOOMS',
  'invalid',
  (f: { min: number; max: number; limit: number }) =>
    `zooms must be whole numbers with 0 <= min <= max <= ${f.limit}, not [${f.min}, ${f.max}]`,
  (f) => ({ errors: [{ path: '/zooms', message: `must be whole numbers with 0 <= min <= max <= ${f.limit}` }] }),
)

/** Layers that conflict, or name missing attributes. */
export const badLayers = defineError(
  'BAD_LAYERS',
  'invalid',
  (f: { problem: string }) => `The layers cannot be tiled: ${f.problem}`,
  (f) => ({ errors: [{ path: '/layers', message: f.problem }] }),
)

/** More points than can be clustered in memory. */
export const tooManyPoints = defineError(
  'TOO_MANY_POINTS',
  'too_large',
  (f: { layer: string; limit: number }) => `Layer ${f.layer} has more than ${f.limit} points to cluster`,
  () => ({ hint: 'Filter the points, or thin them by dropRate instead of clusters.' }),
)

/** A tile of the highest zoom, where features may not be dropped, is larger than the cap. */
export const tileTooLarge = defineError(
  'TILE_TOO_LARGE',
  'too_large',
  (f: { tile: string; features: number; bytes: number; limit: number }) =>
    `tile ${f.tile} of the highest zoom holds ${f.features} features in ${f.bytes} bytes, over the limit of ${f.limit}`,
  () => ({
    hint: 'Raise the highest zoom or maxTileBytes, or name fewer properties, because no feature is dropped at the highest zoom.',
  }),
)

/** No feature could be drawn. */
export const noFeatures = defineError(
  'NO_FEATURES',
  'invalid',
  (f: { skipped: number }) => `there is nothing to tile: no feature has a geometry (${f.skipped} without one)`,
)

/** The work directory ran out of space. */
export const scratchFull = defineError(
  'SCRATCH_FULL',
  'unavailable',
  () => 'the work directory has no space left for temporary data',
  () => ({ hint: 'Free disk space in the work directory, or point it to a larger disk.' }),
)
