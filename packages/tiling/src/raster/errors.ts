import { defineError } from '@terrane/core'

/** A limit and the name of its setting; 0 means no limit. */
export interface Guard {
  readonly limit: number
  readonly setting: string
}

interface GuardFields extends Guard {
  readonly figure: number
}

const raise = (f: GuardFields): { hint: string } => ({
  hint: `Send a smaller raster, or raise ${f.setting} (0 disables it).`,
})

export const rasterTooLarge = defineError(
  'size_guard_exceeded',
  'too_large',
  (f: GuardFields) => `The GeoTIFF has ${f.figure} bytes; ${f.setting} allows ${f.limit}.`,
  raise,
)

export const tooManyTiles = defineError(
  'size_guard_exceeded',
  'too_large',
  (f: GuardFields) => `The raster makes ${f.figure} tiles; ${f.setting} allows ${f.limit}.`,
  (f) => ({ hint: `Use a larger tileSize or stride, crop the raster, or raise ${f.setting} (0 disables it).` }),
)

export const notGeoTiff = defineError(
  'NOT_A_GEOTIFF',
  'unsupported_media',
  (f: { found: string }) => `The file is not a TIFF: it starts with ${f.found}.`,
  () => ({ hint: 'Send a GeoTIFF or a cloud-optimized GeoTIFF; gdal_translate -of COG converts other formats.' }),
)

export const malformedGeoTiff = defineError(
  'GEOTIFF_MALFORMED',
  'invalid',
  (f: { what: string }) => `The GeoTIFF's headers are not usable: ${f.what}.`,
  () => ({ hint: 'Rewrite the file, for example with gdal_translate, and check that the copy was complete.' }),
)

export const truncatedGeoTiff = defineError(
  'GEOTIFF_TRUNCATED',
  'invalid',
  (f: { size: number; needed: number }) =>
    `The GeoTIFF has ${f.size} bytes, but its headers point to byte ${f.needed}.`,
  () => ({ hint: 'The file was cut off: copy or upload it again.' }),
)

export const corruptBlock = defineError(
  'CORRUPT_TILE',
  'invalid',
  (f: { column: number; row: number; level: string; why: string }) =>
    `The ${f.level} block at column ${f.column}, row ${f.row} cannot be decoded: ${f.why}.`,
  () => ({ hint: 'The file is damaged there: copy it again from its source.' }),
)

export const unsupportedCompression = defineError(
  'UNSUPPORTED_COMPRESSION',
  'invalid',
  (f: { compression: string }) => `Compression ${f.compression} is not supported.`,
  () => ({ hint: 'Convert with gdal_translate -co COMPRESS=DEFLATE (or LZW, ZSTD, JPEG, WEBP, LERC).' }),
)

export const unsupportedSamples = defineError(
  'UNSUPPORTED_DTYPE',
  'invalid',
  (f: { samples: string }) => `Samples of ${f.samples} are not supported.`,
  () => ({ hint: 'Convert with gdal_translate -ot Byte, UInt16, Int16, UInt32, Int32, Float32 or Float64.' }),
)

export const unsupportedLayout = defineError(
  'UNSUPPORTED_LAYOUT',
  'invalid',
  (f: { layout: string }) => `${f.layout} is not supported.`,
  () => ({ hint: 'Convert with gdal_translate -co TILED=YES -co PHOTOMETRIC=RGB (or MINISBLACK).' }),
)

export const blockTooLarge = defineError(
  'BLOCK_TOO_LARGE',
  'too_large',
  (f: { bytes: number; limit: number }) => `One block decodes to ${f.bytes} bytes; the limit is ${f.limit}.`,
  () => ({ hint: 'Write smaller blocks: gdal_translate -of COG -co BLOCKSIZE=128.' }),
)

export const noGeoreference = defineError(
  'NO_GEOREFERENCE',
  'invalid',
  (f: { why: string }) => `The raster has no usable georeference: ${f.why}.`,
  () => ({
    hint: 'Georeference it first: gdalwarp for ground control points, gdal_translate -a_srs -a_ullr otherwise.',
  }),
)

export const unsupportedCrs = defineError(
  'UNSUPPORTED_CRS',
  'invalid',
  (f: { crs: string }) => `The coordinate reference system ${f.crs} is not supported.`,
  () => ({
    hint: 'Send its EPSG code as sourceSrs, reproject with gdalwarp -t_srs EPSG:4326 (or a UTM zone), or have the operator add its definition.',
  }),
)

export const invalidCrs = defineError(
  'INVALID_CRS_DEFINITION',
  'invalid',
  (f: { epsg: number; definition: string }) => `The definition of EPSG:${f.epsg} is not a PROJ string: ${f.definition}`,
  () => ({ hint: 'Give a string such as "+proj=utm +zone=33 +datum=WGS84".' }),
)

export const outsideCrs = defineError(
  'OUTSIDE_CRS',
  'invalid',
  (f: { x: number; y: number; crs: string }) => `The point ${f.x}, ${f.y} has no longitude and latitude in ${f.crs}.`,
  () => ({ hint: 'The CRS or the transform stored in the file is wrong: check it with gdalinfo.' }),
)

export const bandOutOfRange = defineError(
  'BAND_OUT_OF_RANGE',
  'invalid',
  (f: { band: number; position: number; bands: number }) =>
    `Band ${f.band} does not exist: the raster has ${f.bands}, counted from 0.`,
  (f) => ({
    hint: `Use indices from 0 to ${f.bands - 1}.`,
    errors: [{ path: `/bands/${f.position}`, message: `must be from 0 to ${f.bands - 1}` }],
  }),
)

export const valuesNotFinite = defineError(
  'VALUES_NOT_FINITE',
  'invalid',
  (f: { scale: number; offset: number }) =>
    `Numbers of the file are too large for a vector after scaling by ${f.scale} and adding ${f.offset}`,
  () => ({
    hint: 'Send quantization as the publisher of the file states it, and nodata where the file does not declare it.',
    errors: [{ path: '/quantization', message: 'must give values that 32-bit numbers can hold' }],
  }),
)

export const bandCount = defineError(
  'BAND_COUNT',
  'invalid',
  (f: { bands: number; channels: number }) => `The model takes ${f.channels} bands, but ${f.bands} are selected.`,
  (f) => ({
    hint: `Name ${f.channels} bands, or one to be repeated.`,
    errors: [{ path: '/bands', message: `must have ${f.channels} entries, or one` }],
  }),
)

export const invalidTiling = defineError(
  'INVALID_TILING',
  'invalid',
  (f: { field: string; problem: string }) => `${f.field} ${f.problem}.`,
  (f) => ({ errors: [{ path: `/${f.field}`, message: f.problem }] }),
)

export const noTiles = defineError(
  'NO_TILES',
  'invalid',
  (f: { width: number; height: number; tileSize: number }) =>
    `No whole tile of ${f.tileSize} pixels fits into ${f.width} × ${f.height}.`,
  () => ({ hint: 'Use edge "pad", or a smaller tileSize.' }),
)

export const noValidPixels = defineError(
  'NO_VALID_PIXELS',
  'invalid',
  (f: { band: number }) => `Band ${f.band} has no valid pixel: all are nodata, masked or not finite.`,
  () => ({ hint: 'Check the nodata value and the mask, or give scale as [min, max].' }),
)

export const invalidScale = defineError(
  'INVALID_SCALE',
  'invalid',
  (f: { min: number; max: number }) => `The scale [${f.min}, ${f.max}] is not a range.`,
  () => ({
    hint: 'Give [min, max] with two finite numbers, min below max.',
    errors: [{ path: '/scale', message: 'must be [min, max] with min < max' }],
  }),
)

export const unknownProfile = defineError(
  'UNKNOWN_PROFILE',
  'invalid',
  (f: { profile: string; known: readonly string[] }) =>
    `There is no sensor profile "${f.profile}"; known are ${f.known.join(', ')}.`,
  (f) => ({ errors: [{ path: '/profile', message: `must be one of ${f.known.join(', ')}` }] }),
)

export const notImagery = defineError(
  'NOT_IMAGERY',
  'invalid',
  (f: { band: string }) => `The band ${f.band} of the product has flags, angles or auxiliary data instead of imagery`,
  () => ({ hint: 'Send bands that the sensor measured, or profile "none" to take the numbers as they are stored.' }),
)

export const profileMismatch = defineError(
  'PROFILE_MISMATCH',
  'invalid',
  (f: { profile: string; why: string }) => `The raster does not fit the sensor profile ${f.profile}: ${f.why}.`,
  () => ({
    hint: 'Name the profile that fits, "none" for the percentiles of the raster, or give scale.',
    errors: [{ path: '/profile', message: 'does not fit the raster' }],
  }),
)

export const unitUnknown = defineError(
  'UNIT_UNKNOWN',
  'invalid',
  (f: { unit: string }) => `The model needs ${f.unit}, but the unit of the raster is not known.`,
  () => ({
    hint: 'Name the profile of the sensor, "reflectance" for floating point values that are reflectance already.',
    errors: [{ path: '/profile', message: 'is needed for this model and raster' }],
  }),
)

export const scaleCount = defineError(
  'SCALE_COUNT',
  'invalid',
  (f: { scales: number; channels: number }) =>
    `The model takes ${f.channels} channels, but scale has ${f.scales} ranges.`,
  (f) => ({ errors: [{ path: '/scale', message: `must be [min, max], or ${f.channels} of them` }] }),
)

export const needsGrid = defineError(
  'CRS_NEEDS_GRID',
  'invalid',
  (f: { crs: string; meters: number | null }) =>
    `The coordinate reference system ${f.crs} needs a datum grid: ${
      f.meters === null
        ? 'no single shift is accurate in the whole raster'
        : `without one it would be up to ${f.meters} m off`
    }.`,
  () => ({
    hint: 'Reproject with gdalwarp -t_srs EPSG:4326 (or a UTM zone), or have the operator add a more accurate definition.',
  }),
)

export const pngUnreadable = defineError(
  'PNG_UNREADABLE',
  'invalid',
  (f: { why: string }) => `The picture cannot be read as a PNG: ${f.why}`,
  () => ({ hint: 'Send a PNG of 8 or 16 bits, or a GeoTIFF.' }),
)

export const sceneUnusable = defineError(
  'SCENE_UNUSABLE',
  'invalid',
  (f: { why: string }) => `The files cannot be read as one raster: ${f.why}.`,
  () => ({ hint: 'Name assets of one product and one reference system; gdalwarp brings others together.' }),
)

export const vrtUnusable = defineError(
  'VRT_UNUSABLE',
  'invalid',
  (f: { why: string }) => `The VRT cannot be read: ${f.why}.`,
  () => ({
    hint: 'Bands of SimpleSource and ComplexSource are read, as gdalbuildvrt writes them; gdal_translate makes a GeoTIFF of any other.',
  }),
)
