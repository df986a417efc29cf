/** A point of a trace. */
export interface TracePoint {
  readonly lon: number
  readonly lat: number
  /** Metres on a plane that all points of a trace share. */
  readonly x: number
  readonly y: number
  /** Seconds since some moment; null where the trace has no times. */
  readonly seconds: number | null
  /** Standard deviation of its position in metres; null when the trace states none. */
  readonly accuracy: number | null
  /** Search radius for streets in metres; null when the trace states none. */
  readonly radius: number | null
}

/** A trace, and the options for matching it. */
export interface Trace {
  readonly points: readonly TracePoint[]
  /** Points nearer than this to the one before are not matched by themselves, in metres. */
  readonly interpolation: number
  /** Points farther apart than this are not joined, in metres. */
  readonly breakage: number
  /** Metres that turning straight back costs; other turns cost less. */
  readonly turnPenalty: number
  /** Metres of travel that a deviation as large as the noise outweighs, twice; null for the noise itself. */
  readonly beta: number | null
  /** Largest radius in which streets are looked for, in metres. */
  readonly mostRadius: number
  /** Maximum time between points of a matching in seconds; infinite for no limit. */
  readonly gapSeconds: number
}

/** Metres of a degree of latitude, on the sphere of the engine. */
export const METERS_PER_DEGREE = 111_319.5

/** Points on a plane that touches the Earth at the first of them. */
export function onPlane(points: readonly Omit<TracePoint, 'x' | 'y'>[]): TracePoint[] {
  const [first] = points
  const cos = Math.cos(((first?.lat ?? 0) * Math.PI) / 180)
  return points.map((point) => ({
    ...point,
    x: (point.lon - first!.lon) * METERS_PER_DEGREE * cos,
    y: point.lat * METERS_PER_DEGREE,
  }))
}
