import { defineError } from '@terrane/core'

export const tileTooCoarse = defineError(
  'TILE_TOO_COARSE',
  'too_large',
  (f: { pixels: number; limit: number }) =>
    `This view needs ${f.pixels} pixels of the raster decoded; the limit is ${f.limit}.`,
  () => ({ hint: 'Zoom in, or add overviews to the file: gdal_translate -of COG, or gdaladdo.' }),
)

export const unknownColormap = defineError(
  'UNKNOWN_COLORMAP',
  'invalid',
  (f: { name: string; names: readonly string[] }) => `There is no colormap ${f.name}.`,
  (f) => ({ hint: `Use one of ${f.names.join(', ')}, or one of them with _r for its reverse.` }),
)

export const unshownBands = defineError(
  'BANDS_NOT_SHOWN',
  'invalid',
  (f: { count: number; colormap: boolean }) =>
    f.colormap
      ? `A colormap colours one band, not ${f.count}.`
      : `A picture is made of one band or of three, not of ${f.count}.`,
  () => ({ hint: 'Name bands with bidx, counted from 1: bidx=4&bidx=3&bidx=2.' }),
)

export const unknownBand = defineError(
  'BAND_OUT_OF_RANGE',
  'invalid',
  (f: { band: number; bands: number }) => `Band ${f.band} does not exist: the raster has ${f.bands}, counted from 1.`,
  (f) => ({ hint: `Use bidx from 1 to ${f.bands}.` }),
)

export const renderFailed = defineError(
  'RENDER_FAILED',
  'internal',
  () => 'The picture could not be made.',
  () => ({ hint: 'Try again; if it fails again, the log of the server says why.' }),
)

export const readTooLarge = defineError(
  'READ_TOO_LARGE',
  'too_large',
  (f: { bytes: number; limit: number }) =>
    `This view needs ${f.bytes} bytes of a file at once; the limit is ${f.limit}.`,
  () => ({ hint: 'Zoom in, or write the file in smaller blocks and with overviews: gdal_translate -of COG.' }),
)

export const mosaicTooDense = defineError(
  'MOSAIC_TOO_DENSE',
  'too_large',
  (f: { layers: number; limit: number }) =>
    `${f.layers} rasters of the collection are in this view; the limit is ${f.limit}.`,
  () => ({ hint: 'Zoom in, or name fewer of them with since, until and sources.' }),
)

export const mosaicMixed = defineError(
  'MOSAIC_MIXED',
  'invalid',
  () => 'Rasters of the collection differ in their bands, data types, scales or palettes.',
  () => ({ hint: 'Select similar rasters with sources, or draw one: url=embeddings://{table}/{number}.' }),
)

export const expressionUnreadable = defineError(
  'EXPRESSION_UNREADABLE',
  'invalid',
  (f: { why: string }) => `The expression cannot be read: ${f.why}.`,
  () => ({ hint: 'Bands are b1, b2, … or their names: (b4-b1)/(b4+b1). A + in an address is written %2B.' }),
)

export const algorithmUnreadable = defineError(
  'ALGORITHM_UNREADABLE',
  'invalid',
  (f: { why: string }) => `The algorithm cannot be used: ${f.why}.`,
  () => ({ hint: 'algorithm_params is JSON with numbers: {"azimuth": 315}.' }),
)

export const formulaUnreadable = defineError(
  'FORMULA_UNREADABLE',
  'invalid',
  (f: { why: string }) => `The colour formula cannot be read: ${f.why}.`,
  () => ({ hint: 'Write gamma RGB 1.8 sigmoidal RGB 10 0.35 saturation 1.2.' }),
)

export const valuesTooMany = defineError(
  'PICTURE_TOO_LARGE',
  'too_large',
  (f: { values: number; limit: number }) => `The request is for ${f.values} values; the limit is ${f.limit}.`,
  () => ({ hint: 'Ask for a smaller size, or for fewer bands.' }),
)

export const crsWithoutCode = defineError(
  'CRS_WITHOUT_CODE',
  'invalid',
  (f: { name: string }) => `A GeoTIFF in ${f.name} cannot be written: it has no EPSG code.`,
  () => ({ hint: 'Ask for a tile or a bbox, which are in EPSG:3857, or for format npy.' }),
)

export const areaOutsideCrs = defineError(
  'AREA_OUTSIDE_CRS',
  'invalid',
  (f: { crs: string }) => `The area has no coordinates in ${f.crs}.`,
  () => ({ hint: 'Ask for a smaller area, or for another dst_crs.' }),
)
