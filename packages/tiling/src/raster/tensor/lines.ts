import type { RasterInfo } from '../raster-info.ts'
import type { Scale } from '../scale.ts'
import type { Stretch } from './stretch.ts'

/** Conversion of stored values into a model's input. */
export interface Normalisation {
  readonly raster: RasterInfo
  readonly bands: readonly number[]
  readonly scale: Scale
  readonly mean: readonly number[]
  readonly std: readonly number[]
}

/**
 * One linear function per channel that combines physical value, scaling to [0, 1], mean and standard deviation. Images
 * whose zero is white are inverted.
 */
export function channelLines({ raster, bands, scale, mean, std }: Normalisation): Stretch[] {
  return bands.map((band, channel) => {
    const min = scale.min[channel] as number
    const range = (scale.max[channel] as number) - min
    const info = raster.bands[band]
    const factor = (info?.scale ?? 1) / range
    const shift = ((info?.offset ?? 0) - min) / range
    const inverted = raster.color === 'gray-inverted'
    const m = mean[channel] as number
    const s = std[channel] as number
    return {
      factor: (inverted ? -factor : factor) / s,
      shift: ((inverted ? 1 - shift : shift) - m) / s,
      low: (0 - m) / s,
      high: (1 - m) / s,
      clamps: scale.unclamped !== true && !staysInRange(raster, factor, shift),
    }
  })
}

/** Linear functions to physical values without scaling, for nonlinear functions of them. */
export function physicalLines({ raster, bands }: Pick<Normalisation, 'raster' | 'bands'>): Stretch[] {
  return bands.map((band) => ({
    factor: raster.bands[band]?.scale ?? 1,
    shift: raster.bands[band]?.offset ?? 0,
    low: -Infinity,
    high: Infinity,
    clamps: false,
  }))
}

/** Whether no stored byte can leave [0, 1], so that clamping is not needed. */
function staysInRange(raster: RasterInfo, factor: number, shift: number): boolean {
  if (raster.sampleType !== 'uint8') return false
  const ends = [shift, shift + factor * (2 ** raster.bitsPerSample - 1)]
  return Math.min(...ends) >= -1e-9 && Math.max(...ends) <= 1 + 1e-9
}
