import type { Samples } from '../raster-info.ts'

/** Where the samples of a run of pixels lie. */
export interface SampleRun {
  /** First sample. */
  readonly at: number
  readonly pixels: number
  readonly pixelStep: number
  readonly bandStep: number
  readonly channels: number
}

/**
 * Sums a run of stored numbers into `totals`, one for each channel.
 *
 * @returns false where a number is nodata or not finite; then the totals mean nothing
 */
export function sumNumbers(samples: Samples, nodata: number | null, run: SampleRun, totals: Float64Array): boolean {
  const { at, pixels, pixelStep, bandStep, channels } = run
  const none = nodata ?? Number.NaN
  const length = pixels * pixelStep
  let c = 0
  // Four channels at once read their samples from one line of the cache.
  for (; c + 4 <= channels; c += 4) {
    let p = 0
    let q = 0
    let r = 0
    let s = 0
    const start = at + c * bandStep
    for (let i = start; i < start + length; i += pixelStep) {
      const a = samples[i] as number
      const b = samples[i + bandStep] as number
      const d = samples[i + 2 * bandStep] as number
      const e = samples[i + 3 * bandStep] as number
      if (a === none || b === none || d === none || e === none) return false
      p += a
      q += b
      r += d
      s += e
    }
    if (!Number.isFinite(p + q + r + s)) return false
    totals[c] = p
    totals[c + 1] = q
    totals[c + 2] = r
    totals[c + 3] = s
  }
  for (; c < channels; c++) {
    let sum = 0
    const start = at + c * bandStep
    for (let i = start; i < start + length; i += pixelStep) {
      if (samples[i] === none) return false
      sum += samples[i] as number
    }
    if (!Number.isFinite(sum)) return false
    totals[c] = sum
  }
  return true
}
