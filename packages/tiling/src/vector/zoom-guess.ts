import type { LogHistogram } from './features/log-histogram.ts'
import { MAX_ZOOM } from './world.ts'

/** Lowest and highest guessed zoom: 10 m per tile unit, and street maps. */
const LOWEST_GUESS = 10
const HIGHEST_GUESS = 16

/** Nine of ten neighbouring features lie at least this many tile units apart at the guessed zoom ... */
const SPACING_UNITS = 8
/** ... and nine of ten segments are at least this long. */
const SEGMENT_UNITS = 1

/** A highest zoom that suits the data, from distances in world units. */
export function guessMaxZoom(spacing: LogHistogram, segments: LogHistogram): number {
  const zooms = [
    zoomAt(spacing.quantile(0.1), SPACING_UNITS),
    zoomAt(segments.quantile(0.1), SEGMENT_UNITS),
    LOWEST_GUESS,
  ]
  return Math.min(HIGHEST_GUESS, Math.max(...zooms))
}

/** The zoom at which a distance equals the given number of tile units. */
function zoomAt(distance: number | null, units: number): number {
  return distance === null ? 0 : MAX_ZOOM - Math.floor(Math.log2(Math.max(1, distance / units)))
}
