import { defineError } from '@terrane/core/errors'

export const formatUnknown = defineError(
  'FORMAT_UNKNOWN',
  'unsupported_media',
  (f: { reason: string }) => `The file cannot be imported: ${f.reason}`,
  () => ({
    hint: 'Send GeoJSON, GeoJSONSeq, TopoJSON, GeoPackage, FlatGeobuf, GeoParquet, Arrow, CSV, XLSX, ODS, KML, KMZ, GML, GPX, GeoRSS, OpenStreetMap XML, Esri JSON, SpatiaLite, DXF, DGN or dBASE, some of these in gzip, zip or tar, or a zip of Shapefiles, of MapInfo files or of a file geodatabase.',
  }),
)

export const fileTooLarge = defineError(
  'FILE_TOO_LARGE',
  'too_large',
  (f: { bytes: number; limit: number }) => `The file has ${f.bytes} bytes; maxBytes allows ${f.limit}`,
)

export const zipRefused = defineError(
  'ZIP_REFUSED',
  'invalid',
  (f: { reason: string }) => `The archive is refused: ${f.reason}`,
  () => ({ hint: 'Pack only the data files, without folders, links or passwords.' }),
)

export const growthRefused = defineError(
  'ZIP_REFUSED',
  'invalid',
  (f: { ratio: number }) => `The file is refused: unpacked it would grow to more than ${f.ratio} times its size`,
  () => ({ hint: 'Send its content without compression, or in several files.' }),
)

const COSTLY_HINT = 'Rewrite the layer as a plain table of smaller features, without views, and import that.'

export const readerStuck = defineError(
  'FILE_TOO_COSTLY',
  'invalid',
  (f: { seconds: number }) => `The file is refused: reading it took ${f.seconds} s of CPU time without progress`,
  () => ({ hint: COSTLY_HINT }),
)

export const readerTooLarge = defineError(
  'FILE_TOO_COSTLY',
  'invalid',
  () => 'The file is refused: reading it takes more memory than one file may have',
  () => ({ hint: COSTLY_HINT }),
)

export const outputTooLarge = defineError(
  'FILE_TOO_COSTLY',
  'invalid',
  (f: { most: number }) => `The file is refused: its rows take more than ${f.most} bytes`,
  () => ({ hint: COSTLY_HINT }),
)

/**
 * A layer that the file does not have.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict'
 * import { layerUnknown } from '@terrane/files'
 *
 * assert.equal(layerUnknown({ layer: 'roads', layers: ['rivers'] }).message, 'The file has no layer roads')
 * ```
 */
export const layerUnknown = defineError(
  'LAYER_UNKNOWN',
  'invalid',
  (f: { layer: string; layers: readonly string[] }) => `The file has no layer ${f.layer}`,
  (f) => ({
    hint: `Layers: ${f.layers.slice(0, 30).join(', ') || 'none'}.`,
    errors: [{ path: '/layer', message: 'must be a layer of the file' }],
  }),
)

/**
 * A file of coordinates in an unknown reference system.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict'
 * import { sourceSrsNeeded } from '@terrane/files'
 *
 * assert.equal(sourceSrsNeeded().message, 'The file does not say which coordinate reference system it uses')
 * ```
 */
export const sourceSrsNeeded = defineError(
  'SOURCE_SRS_NEEDED',
  'invalid',
  () => 'The file does not say which coordinate reference system it uses',
  () => ({ hint: 'Send sourceSrs, e.g. EPSG:25832.', errors: [{ path: '/sourceSrs', message: 'is needed' }] }),
)

export const encodingUnknown = defineError(
  'ENCODING_UNKNOWN',
  'invalid',
  (f: { encoding: string }) => `There is no character encoding ${f.encoding}`,
  () => ({
    hint: 'Use a name of the WHATWG list, e.g. windows-1252.',
    errors: [{ path: '/encoding', message: 'is unknown' }],
  }),
)

export const csvColumnsUnknown = defineError(
  'CSV_COLUMNS_UNKNOWN',
  'invalid',
  (f: { columns: readonly string[] }) => `The file has no columns ${f.columns.join(', ')} to read coordinates from`,
  () => ({
    hint: 'Name the columns as the first line of the file does. x or y may be left out if its column has a usual name, such as lon or lat.',
    errors: [{ path: '/csv', message: 'must be columns of the file' }],
  }),
)

/**
 * A file that cannot be read, or not within the limits.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict'
 * import { conversionFailed } from '@terrane/files'
 *
 * assert.equal(conversionFailed({ reason: 'it has no layers' }).message, 'The file could not be read: it has no layers')
 * ```
 */
export const conversionFailed = defineError(
  'CONVERSION_FAILED',
  'invalid',
  (f: { reason: string }) => `The file could not be read: ${f.reason}`,
)

export const engineUnavailable = defineError(
  'ENGINE_UNAVAILABLE',
  'internal',
  (f: { reason: string }) => `The conversion engine cannot be run: ${f.reason}`,
)

export const vectorsNotFound = defineError(
  'VECTORS_NOT_FOUND',
  'invalid',
  (f: { names: readonly string[]; why: string }) => `The file has no column of vectors: ${f.why}`,
  (f) => ({
    hint: `Send columns.vector. Columns: ${f.names.slice(0, 50).join(', ')}.`,
    errors: [{ path: '/columns/vector', message: 'must be a column of lists of numbers' }],
  }),
)

export const vectorLengths = defineError(
  'VECTOR_LENGTHS',
  'invalid',
  (f: { row: number; dims: number; length: number }) =>
    `Row ${f.row} has a vector of ${f.length} dimensions; the first vector of the file has ${f.dims}`,
  () => ({ hint: 'All vectors of a table have the same dimensions: write a file for each length.' }),
)

export const placesNotFound = defineError(
  'PLACES_NOT_FOUND',
  'invalid',
  () => 'The file has no coordinates: neither geometries nor longitude and latitude',
  (f: { names: readonly string[] }) => ({
    hint: `Send columns.geometry, or columns.x and columns.y. Columns: ${f.names.slice(0, 50).join(', ')}.`,
    errors: [{ path: '/columns/geometry', message: 'must be a column of geometries' }],
  }),
)

export const columnMissing = defineError(
  'COLUMN_MISSING',
  'invalid',
  (f: { field: string; name: string; names: readonly string[] }) => `The file has no column ${f.name}`,
  (f) => ({
    hint: `Columns: ${f.names.slice(0, 50).join(', ')}.`,
    errors: [{ path: `/${f.field}`, message: 'must be a column of the file' }],
  }),
)

export const groupsTooLarge = defineError(
  'VECTOR_GROUPS_TOO_LARGE',
  'too_large',
  (f: { numbers: number; limit: number }) =>
    `A row group of the file has ${f.numbers} numbers; the limit is ${f.limit}`,
  () => ({ hint: 'Write the file with smaller row groups.' }),
)
