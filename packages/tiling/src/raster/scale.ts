import type { RasterInfo } from './raster-info.ts'
import type { ByteSource } from './source.ts'

/**
 * The linear stretch of each channel: `min` becomes 0, `max` becomes 1, values outside are clamped. In physical
 * values (stored · scale + offset of the band). Recorded with the results: `origin` says where it came from.
 */
export interface Scale {
  readonly origin: 'fixed' | 'explicit' | 'percentile'
  readonly min: readonly number[]
  readonly max: readonly number[]
}

/**
 * The stretch of a whole raster: `[min, max]` as requested, the full range for bytes, otherwise the 2nd and 98th
 * percentile of each band, sampled from the overview nearest 1024 pixels. Deterministic.
 *
 * @param bands one band index per channel
 */
export function estimateScale(
  _source: ByteSource,
  _raster: RasterInfo,
  _bands: readonly number[],
  _requested?: readonly [number, number] | null,
): Promise<Scale> {
  throw new Error('pending')
}
