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
