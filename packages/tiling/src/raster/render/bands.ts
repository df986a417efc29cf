import type { RasterInfo } from '../raster-info.ts'
import { unknownBand, unshownBands } from './errors.ts'

/** Converts 1-based band numbers to indices. @throws BAND_OUT_OF_RANGE */
export function bandsOf(raster: RasterInfo, bidx: readonly number[]): number[] {
  const bands = raster.palette === null ? raster.bands.length : 1
  return bidx.map((band) => {
    if (!Number.isInteger(band) || band < 1 || band > bands) throw unknownBand({ band, bands })
    return band - 1
  })
}

/** @param isColored whether a colormap or a palette gives the colours @throws BANDS_NOT_SHOWN */
export function checkShown(count: number, isColored: boolean): void {
  const fits = isColored ? count === 1 : count === 1 || count === 3
  if (!fits) throw unshownBands({ count, colormap: isColored })
}

/** Red, green and blue if declared, else the first three bands or the only one; never alpha. */
export function defaultBands({ bands, palette }: RasterInfo): number[] {
  if (palette !== null) return [0]
  const rgb = (['red', 'green', 'blue'] as const).map((color) => bands.findIndex((band) => band.color === color))
  if (rgb.every((index) => index !== -1)) return rgb
  const opaque = bands.filter(({ color }) => color !== 'alpha').map(({ index }) => index)
  return opaque.length >= 3 ? opaque.slice(0, 3) : opaque.slice(0, 1)
}

/** One range per band; a single range applies to all bands. */
export function spreadRanges(
  ranges: readonly (readonly [number, number])[],
  count: number,
): readonly (readonly [number, number])[] {
  return Array.from({ length: count }, (_, i) => ranges[i] ?? (ranges[0] as readonly [number, number]))
}
