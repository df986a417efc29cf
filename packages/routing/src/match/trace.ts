/** A point of a trace. */
export interface TracePoint {
  readonly lon: number
  readonly lat: number
  /** Metres on a common plane of all points of a trace. */
  readonly x: number
  readonly y: number
  /** Seconds since an arbitrary time; null when the trace has no times. */
  readonly seconds: number | null
  /** Standard deviation of its position in metres; null when the trace states none. */
  readonly accuracy: number | null
  /** Search radius for streets in metres; null when the trace states none. */
  readonly radius: number | null
}

/** A trace, and the options for matching it. */
export interface Trace {
  readonly points: readonly TracePoint[]
  /** Minimum distance in metres from the previous point for a point to be matched itself. */
  readonly interpolation: number
  /** Maximum distance in metres between points that are joined. */
  readonly breakage: number
  /** Cost of a U-turn in metres; other turns cost less. */
  readonly turnPenalty: number
  /**
   * Metres of travel that equal the cost of a deviation as large as the noise, times two; null for the noise itself.
   */
  readonly beta: number | null
  /** Maximum search radius for streets, in metres. */
  readonly mostRadius: number
  /** Maximum time between points of a matching in seconds; infinite for no limit. */
  readonly gapSeconds: number
}

/** Metres per degree of latitude, on the sphere of the engine. */
export const METERS_PER_DEGREE = 111_319.5

/** Projects points to the tangent plane at the first of them. */
export function onPlane(points: readonly Omit<TracePoint, 'x' | 'y'>[]): TracePoint[] {
  const [first] = points
  const cos = Math.cos(((first?.lat ?? 0) * Math.PI) / 180)
  return points.map((point) => ({
    ...point,
    x: (point.lon - first!.lon) * METERS_PER_DEGREE * cos,
    y: point.lat * METERS_PER_DEGREE,
  }))
}
