import { defineError } from '@terrane/core'

export const fileRequired = defineError(
  'FILE_REQUIRED',
  'invalid',
  () => 'One of storagePath and url is needed',
  () => ({ errors: [{ path: '/storagePath', message: 'exactly one of storagePath and url is needed' }] }),
)

export const productNeeded = defineError(
  'PRODUCT_NEEDED',
  'invalid',
  (f: { field: 'product' | 'version'; known: readonly string[] }) =>
    f.field === 'product'
      ? 'The file does not say which model made its vectors'
      : 'The product has several models, and the file does not say which made its vectors',
  (f) => ({
    hint:
      f.field === 'product'
        ? `Send product: ${f.known.join(', ')}, or a name of your own; and version where there are several.`
        : `Send version${f.known.length > 0 ? `: ${f.known.join(' or ')}` : ', e.g. the name of the model'}.`,
    errors: [{ path: `/${f.field}`, message: 'is needed' }],
  }),
)

export const productMismatch = defineError(
  'PRODUCT_MISMATCH',
  'invalid',
  (f: { asked: string; found: string; field?: string }) => `The request names ${f.asked}, but the file has ${f.found}`,
  (f) => ({
    hint: 'Vectors of different products and versions are never mixed: leave product and version out, or send those of the file.',
    errors: [{ path: `/${f.field ?? 'version'}`, message: 'does not fit the file' }],
  }),
)

export const quantizationNeeded = defineError(
  'QUANTIZATION_NEEDED',
  'invalid',
  (f: { type: string }) => `The vectors are stored as ${f.type} without a known scale`,
  () => ({
    hint: 'Send quantization, e.g. {"method": "linear", "scale": 0.0078125}; scale 1 keeps the numbers as they are.',
    errors: [{ path: '/quantization', message: 'is needed' }],
  }),
)

export const groundSizeNeeded = defineError(
  'GROUND_SIZE_NEEDED',
  'invalid',
  () => 'The file has points, but rows of an embeddings table have areas',
  () => ({
    hint: 'Send groundSizeMeters: the edge of the square that a vector describes.',
    errors: [{ path: '/groundSizeMeters', message: 'is needed for points' }],
  }),
)

export const nothingImported = defineError(
  'NOTHING_IMPORTED',
  'invalid',
  (f: { rows: number; why: string }) => `None of the ${f.rows} rows can be imported: ${f.why}`,
  () => ({ hint: 'Check columns.vector, columns.geometry, sourceSrs and the nodata values of the file.' }),
)

export const tooManyRows = defineError(
  'size_guard_exceeded',
  'too_large',
  (f: { rows: number; limit: number }) => `The file makes ${f.rows} rows; worker.maxPatches allows ${f.limit}.`,
  () => ({ hint: 'Import a part of it, or raise worker.maxPatches (0 disables it).' }),
)

const tooManyDims = defineError(
  'TOO_MANY_DIMENSIONS',
  'invalid',
  (f: { dims: number; limit: number }) => `The vectors have ${f.dims} dimensions; the limit is ${f.limit}`,
  () => ({ hint: 'Reduce their dimensions before the import.' }),
)

/** Maximum dimensions of a vector that pgvector stores. */
const MAX_DIMS = 16_000

/** @throws TOO_MANY_DIMENSIONS */
export function checkDims(dims: number): void {
  if (dims > MAX_DIMS) throw tooManyDims({ dims, limit: MAX_DIMS })
}

export const bandScalesDiffer = defineError(
  'BAND_SCALES_DIFFER',
  'invalid',
  (f: { bands: readonly [number, number] }) => `Bands ${f.bands.join(' and ')} have different scales or offsets`,
  () => ({
    hint: 'Send quantization, which applies to all bands, or choose bands with the same scale and offset.',
    errors: [{ path: '/quantization', message: 'is required when the bands differ in scale or offset' }],
  }),
)

/** Errors without a code are bugs of this program, or are caused by a damaged file. */
export const fileUnreadable = defineError(
  'FILE_UNREADABLE',
  'invalid',
  (f: { why: string }) => `The file cannot be read: ${f.why}`,
  () => ({ hint: 'Check that it is a complete Parquet file.' }),
)

export const areasMissing = defineError(
  'AREAS_MISSING',
  'invalid',
  (f: { table: string; idColumn: string }) =>
    `The table "${f.table}" has no areas that overlap the raster, or no column ${f.idColumn}`,
  () => ({
    hint: 'Name a table of polygons that overlap the raster, and pool.idColumn.',
    errors: [{ path: '/pool/table', message: 'must have areas that overlap the raster' }],
  }),
)

export const poolConflict = defineError(
  'CONFLICTING_FIELDS',
  'invalid',
  () => 'pool needs exactly one of tileSize, h3Resolution and table',
  () => ({ errors: [{ path: '/pool', message: 'needs exactly one of tileSize, h3Resolution and table' }] }),
)

export const poolTooLarge = defineError(
  'POOL_TOO_LARGE',
  'too_large',
  (f: { numbers: number; limit: number }) =>
    `The pooled raster would have ${f.numbers} numbers (rows × dimensions); the limit is ${f.limit}`,
  () => ({ hint: 'Use larger tiles or cells, or fewer bands or statistics.' }),
)
