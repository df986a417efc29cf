import type { RasterInfo, SampleType } from './raster-info.ts'

const RANGES: Readonly<Partial<Record<SampleType, readonly [number, number]>>> = {
  uint8: [0, 2 ** 8 - 1],
  int8: [-(2 ** 7), 2 ** 7 - 1],
  uint16: [0, 2 ** 16 - 1],
  int16: [-(2 ** 15), 2 ** 15 - 1],
  uint32: [0, 2 ** 32 - 1],
  int32: [-(2 ** 31), 2 ** 31 - 1],
}

/**
 * Whether a value is never data: NaN, infinite, or the largest single float, with which writers fill and which they state
 * rounded (-3.4e38) or not at all. GDAL takes these for equal. Larger doubles are data.
 */
export function isNeverData(value: number): boolean {
  const size = Math.abs(value)
  return !(size < 3.39e38) && !(size > 3.41e38 && size < Infinity)
}

/**
 * Nodata as a sample of the raster, NaN for none. As in GDAL, integers drop the fraction, and a value outside of their
 * range (255.5 for bytes) masks nothing.
 */
export function storedNodata(nodata: number | null, { sampleType }: Pick<RasterInfo, 'sampleType'>): number {
  if (nodata === null) return Number.NaN
  if (sampleType === 'float64') return nodata
  if (sampleType === 'float32') return Math.fround(nodata)
  const [least, most] = RANGES[sampleType] ?? [-Infinity, Infinity]
  return nodata < least || nodata > most ? Number.NaN : Math.trunc(nodata)
}
