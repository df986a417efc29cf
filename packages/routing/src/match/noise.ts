import type { TracePoint } from './trace.ts'

/** Bounds of the estimated noise of a trace, in metres per axis; used when the trace states no accuracy. */
const LEAST = 4
const MOST = 50
/** Minimum noise of a sparse trace, in metres. */
const LEAST_SPARSE = 6
/** Median of the absolute value of a normal distribution with standard deviation 1. */
const MEDIAN = 0.6745
/** Factor on the estimated noise of a sparse trace, because too high an estimate does less harm than too low a one. */
const CAUTION = 1.5
/** Usual noise in metres, and the number of points of a sparse trace whose estimate weighs as much as that. */
const USUAL = 10
const DOUBT = 10
/** Number of points over which a movement is measured, to reduce the effect of noise. */
const STRIDE = 10
/** Minimum number of points for an estimate of the noise. */
const FEWEST = 16
/** Number of points of a sparse trace for which the nearest street is searched. */
const SAMPLE = 32
/** Offsets in metres east and north at which a street is near only by chance. */
const ASIDE = [
  [110, 70],
  [-70, 110],
  [-110, -70],
  [70, -110],
] as const

/**
 * Distance in metres of a point, moved by an offset to the east and north, from the nearest street; null when none is
 * near.
 */
export type NearestMeters = (point: TracePoint, aside: readonly [east: number, north: number]) => number | null

/** Metres between consecutive points, from the median of movements over several points; at least 1. */
export function strideOf(points: readonly TracePoint[]): number {
  // A short trace may be a loop, so its movements are measured over a quarter of it.
  const step = Math.max(1, Math.min(STRIDE, points.length >> 2))
  const moved: number[] = []
  for (let i = step; i < points.length; i++) {
    moved.push(Math.hypot(points[i]!.x - points[i - step]!.x, points[i]!.y - points[i - step]!.y) / step)
  }
  return moved.length > 0 ? Math.max(1, median(moved)) : 1
}

/**
 * The noise of a trace, as the standard deviation of each axis in metres. For dense points it is estimated from the
 * second differences of their coordinates, because travellers hardly accelerate; otherwise from their distances to the
 * nearest street, compared with those of points at an offset, which are near a street by chance only. The share of
 * points without a street within a distance is the product of two shares: without their own street, and without one by
 * chance.
 */
export function noiseOf(points: readonly TracePoint[], nearest: NearestMeters): number {
  const second: number[] = []
  for (let i = 1; i + 1 < points.length; i++) {
    const [a, b, c] = [points[i - 1]!, points[i]!, points[i + 1]!]
    second.push(Math.abs(a.y - 2 * b.y + c.y), Math.abs(a.x - 2 * b.x + c.x))
  }
  const isMoving = second.length >= FEWEST
  const ofMotion = isMoving ? median(second) / (MEDIAN * Math.sqrt(6)) : MOST
  if (isMoving && strideOf(points) < Math.max(20, 1.5 * ofMotion)) return Math.min(MOST, Math.max(LEAST, ofMotion))
  const estimate = Math.max(LEAST, Math.min(ofMotion, Math.max(LEAST_SPARSE, CAUTION * ofStreets(points, nearest))))
  const trust = points.length / (points.length + DOUBT)
  return estimate ** trust * USUAL ** (1 - trust)
}

function ofStreets(points: readonly TracePoint[], nearest: NearestMeters): number {
  const own: number[] = []
  const chance: number[] = []
  const step = Math.max(1, Math.floor(points.length / SAMPLE))
  for (let i = 0; i < points.length; i += step) {
    own.push(nearest(points[i]!, [0, 0]) ?? Infinity)
    chance.push(nearest(points[i]!, ASIDE[own.length % ASIDE.length]!) ?? Infinity)
  }
  own.sort((a, b) => a - b)
  chance.sort((a, b) => a - b)
  let before = 0
  for (const [i, meters] of own.entries()) {
    while (before < chance.length && chance[before]! <= meters) before++
    const left = 1 - (i + 1) / own.length
    if (left <= 0.5 * (1 - before / chance.length)) return meters / MEDIAN
  }
  return LEAST
}

/** Median of some numbers. */
export function median(values: readonly number[]): number {
  return Float64Array.from(values).toSorted()[values.length >> 1]!
}
