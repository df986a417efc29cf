import { strideOf } from './noise.ts'
import type { Trace, TracePoint } from './trace.ts'

type PlanePlace = Pick<TracePoint, 'x' | 'y'>

/** Consecutive points of a trace that are matched as one, because the traveller moved less than the noise. */
export interface Group {
  /** Index of the first and the last point. */
  readonly first: number
  readonly last: number
  readonly x: number
  readonly y: number
  readonly lon: number
  readonly lat: number
  readonly seconds: number | null
}

/** Maximum radius of points that are matched as one: noise times this factor, and metres. */
const GROUP_NOISES = 2
const GROUP_METERS = 60

/** Window length of a moving average as a multiple of the noise, and maximum number of points on each side. */
const SMOOTH_NOISES = 2.5
const MOST_WING = 7

/** The groups of a trace. The first and last points are groups of their own, so that the ends are kept. */
export function grouped({ points, interpolation }: Trace, noise: number): Group[] {
  const groups: Group[] = []
  const { track, width } = smoothed(points, noise)
  const reach = Math.max(interpolation, Math.min(GROUP_METERS, (GROUP_NOISES * noise) / Math.sqrt(width)))
  for (let first = 0; first < points.length;) {
    const last = first === 0 ? 0 : lastWithin(track, first, reach)
    groups.push(groupOf(track, first, last))
    first = last + 1
  }
  return groups
}

/** Index of the last point within a distance of the first one, excluding the last point of the trace. */
function lastWithin(track: readonly TracePoint[], first: number, reach: number): number {
  const { x, y } = track[first]!
  let last = first
  while (last + 2 < track.length && Math.hypot(track[last + 1]!.x - x, track[last + 1]!.y - y) < reach) last++
  return last
}

/** The points of a trace. Points denser than the noise become moving averages; the two ends are unchanged. */
function smoothed(points: readonly TracePoint[], noise: number): { track: readonly TracePoint[]; width: number } {
  const half = Math.min(MOST_WING, Math.floor((SMOOTH_NOISES * noise) / strideOf(points) / 2))
  if (half < 1) return { track: points, width: 1 }
  const longest = (SMOOTH_NOISES + 1.5) * noise
  const track = points.map((point, i) => {
    let wing = Math.min(half, i, points.length - 1 - i)
    // At higher speeds, the same number of points covers too much length.
    while (wing > 0 && metersBetween(points[i - wing]!, points[i + wing]!) > longest) wing--
    const { x, y, lon, lat } = groupOf(points, i - wing, i + wing)
    return { ...point, x, y, lon, lat }
  })
  return { track, width: 2 * half + 1 }
}

/** Distance of two places on the plane of a trace, in metres. */
export function metersBetween(a: PlanePlace, b: PlanePlace): number {
  return Math.hypot(a.x - b.x, a.y - b.y)
}

function groupOf(points: readonly TracePoint[], first: number, last: number): Group {
  const count = last - first + 1
  const mean = (of: (point: TracePoint) => number): number => {
    let sum = 0
    for (let i = first; i <= last; i++) sum += of(points[i]!)
    return sum / count
  }
  const isTimed = points[first]!.seconds !== null && points[last]!.seconds !== null
  return {
    first,
    last,
    x: mean(({ x }) => x),
    y: mean(({ y }) => y),
    lon: mean(({ lon }) => lon),
    lat: mean(({ lat }) => lat),
    seconds: isTimed ? (points[first]!.seconds! + points[last]!.seconds!) / 2 : null,
  }
}
