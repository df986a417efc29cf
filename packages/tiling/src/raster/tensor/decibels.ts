import type { Normalisation } from './lines.ts'

/** Power below this, -100 dB, counts as no echo; the bound also keeps the logarithm of 0 finite. */
const NO_ECHO = 1e-10

/**
 * Converts planes of linear power to a model's input, in place: decibels, scaled and clamped by `scale`, minus the
 * mean, divided by the standard deviation.
 */
export function createDecibels({ scale, mean, std, bands }: Normalisation): (planes: Float32Array) => void {
  return (planes) => {
    const size = planes.length / bands.length
    for (let channel = 0; channel < bands.length; channel++) {
      const min = scale.min[channel] as number
      const range = (scale.max[channel] as number) - min
      const [m, s] = [mean[channel] as number, std[channel] as number]
      for (let i = channel * size; i < (channel + 1) * size; i++) {
        const share = (toDecibels(planes[i] as number) - min) / range
        planes[i] = ((scale.unclamped === true ? share : Math.min(1, Math.max(0, share))) - m) / s
      }
    }
  }
}

/** Linear power in decibels. */
export function toDecibels(power: number): number {
  return 10 * Math.log10(Math.max(power, NO_ECHO))
}
