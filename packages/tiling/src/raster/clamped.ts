import type { InspectedRaster } from './inspect.ts'
import type { Scale } from './scale.ts'
import { sampleBands } from './scale.ts'
import type { ByteSource } from './source.ts'
import { toDecibels } from './tensor/decibels.ts'
import { channelLines } from './tensor/lines.ts'

/**
 * The share of samples of each channel that a stretch clamps, 0 to 1, in the sample that {@link estimateScale} uses. A
 * stretch in wrong units clamps nearly all samples.
 *
 * @throws CORRUPT_TILE
 */
export async function clampedShares(
  source: ByteSource,
  { raster, bands }: Pick<InspectedRaster, 'raster' | 'bands'>,
  scale: Scale,
): Promise<number[]> {
  const none = bands.map(() => 0)
  // Percentiles clamp only the tails.
  if (scale.unclamped === true || scale.origin === 'percentile' || raster.palette !== null) return none
  const decibels = scale.decibels === true
  const [mean, std] = [none, bands.map(() => 1)]
  if (!decibels && channelLines({ raster, bands, scale, mean, std }).every(({ clamps }) => !clamps)) return none
  const sample = await sampleBands(source, raster, [...new Set(bands)])
  return bands.map((band, channel) => {
    const values = sample.get(band) ?? new Float64Array()
    const [min, max] = [scale.min[channel] as number, scale.max[channel] as number]
    let clamped = 0
    for (const stored of values) {
      const value = decibels ? toDecibels(stored) : stored
      if (value < min || value > max) clamped++
    }
    return values.length === 0 ? 0 : clamped / values.length
  })
}
