import type { JobWarning } from '@terrane/contracts'
import type { InspectedRaster } from '@terrane/tiling/raster'
import { samplesClamped } from './errors.ts'

/** Share of clamped samples of one channel from which on there is a warning. */
const WARNED_SHARE = 0.2
/** Share of clamped samples of all channels from which on a raster is refused. */
const REFUSED_SHARE = 0.9

/** @throws SAMPLES_CLAMPED when the stretch clamps at least 90 % of the samples */
export function checkClamped(shares: readonly number[]): void {
  const share = shares.reduce((sum, one) => sum + one, 0) / Math.max(1, shares.length)
  if (share >= REFUSED_SHARE) throw samplesClamped({ percent: percentOf(share) })
}

/** Warning about samples outside of the stretch, for the result. */
export function clampedWarnings({ channels, bands }: InspectedRaster, shares: readonly number[]): JobWarning[] {
  const worst = Math.max(0, ...shares)
  if (worst < WARNED_SHARE) return []
  const at = shares.indexOf(worst)
  const channel = channels?.[at] ?? `band ${bands[at]}`
  const message = `${percentOf(worst)} % of the samples of ${channel} are outside the rescale range and were clamped: check profile, scale or scaleFrom.`
  return [{ code: 'SAMPLES_CLAMPED', message }]
}

function percentOf(share: number): number {
  return Math.round(100 * share)
}
