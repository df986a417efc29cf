/** `[longitude, latitude]` in degrees. */
export type Position = readonly [number, number]

/** Converts a point of the source plane to longitude and latitude. */
export type Project = (x: number, y: number) => Position

/** Length of a degree along a meridian or the equator. */
export const METERS_PER_DEGREE = 111_319.49
const MAX_DEPTH = 12
/** Longest step in longitude; longer ones could be mistaken for their complement. */
const MAX_STEP = 90

/**
 * The closed outline of a polygon, with points added on each edge until the straight line between two neighbours stays
 * within `tolerance` meters of the true edge. Longitudes continue beyond ±180 instead of jumping.
 */
export function traceOutline(corners: readonly Position[], project: Project, tolerance: number): Position[] {
  const ring: Position[] = []
  corners.forEach((from, i) => {
    const to = corners[(i + 1) % corners.length] as Position
    const start = project(...from)
    ring.push(start)
    subdivide({ from, start, to, end: project(...to) }, { project, tolerance, ring }, 0)
  })
  return unwrap([...ring, ring[0] as Position])
}

interface Edge {
  readonly from: Position
  readonly start: Position
  readonly to: Position
  readonly end: Position
}

interface Trace {
  readonly project: Project
  readonly tolerance: number
  readonly ring: Position[]
}

function subdivide(edge: Edge, trace: Trace, depth: number): void {
  const { from, start, to, end } = edge
  const at = (t: number): Position => [from[0] + (to[0] - from[0]) * t, from[1] + (to[1] - from[1]) * t]
  const points = [0.25, 0.5, 0.75].map((t) => trace.project(...at(t)))
  const strays = points.some((point) => distanceToChord(point, start, end) > trace.tolerance)
  const steps = [start, ...points, end]
  const jumps = steps.some((p, i) => i > 0 && Math.abs(shortest(p[0] - (steps[i - 1] as Position)[0])) >= MAX_STEP / 2)
  if (depth === MAX_DEPTH || (!strays && !jumps)) return
  const [middle, halfway] = [at(0.5), points[1] as Position]
  subdivide({ from, start, to: middle, end: halfway }, trace, depth + 1)
  trace.ring.push(halfway)
  subdivide({ from: middle, start: halfway, to, end }, trace, depth + 1)
}

/** Meters from a point to the line through two others, on the tangent plane at the point. */
function distanceToChord(point: Position, start: Position, end: Position): number {
  const east = METERS_PER_DEGREE * Math.cos((point[1] * Math.PI) / 180)
  const ax = shortest(start[0] - point[0]) * east
  const ay = (start[1] - point[1]) * METERS_PER_DEGREE
  const dx = shortest(end[0] - start[0]) * east
  const dy = (end[1] - start[1]) * METERS_PER_DEGREE
  const length = Math.hypot(dx, dy)
  return length === 0 ? Math.hypot(ax, ay) : Math.abs(ax * dy - ay * dx) / length
}

function shortest(degrees: number): number {
  return degrees - 360 * Math.round(degrees / 360)
}

/**
 * Unwraps longitudes. A point at a pole becomes two points: one with the longitude of the previous point, one with that
 * of the next point.
 */
function unwrap(ring: readonly Position[]): Position[] {
  const isPole = ([, lat]: Position): boolean => Math.abs(lat) === 90
  const first = Math.max(
    0,
    ring.findIndex((position) => !isPole(position)),
  )
  const rotated = first === 0 ? ring : [...ring.slice(first, -1), ...ring.slice(0, first + 1)]
  const result: Position[] = []
  let lng = (rotated[0] as Position)[0]
  let pole: number | null = null
  for (const [nextLng, lat] of rotated) {
    if (Math.abs(lat) === 90) {
      if (pole === null) result.push([lng, lat])
      pole = lat
      continue
    }
    lng += stepOf(nextLng - lng, pole)
    if (pole !== null) result.push([lng, pole])
    pole = null
    result.push([lng, lat])
  }
  return result
}

/** A half turn over a pole is west at the north pole and east at the south pole, because the inside is on the left. */
function stepOf(degrees: number, pole: number | null): number {
  const step = shortest(degrees)
  return pole !== null && Math.abs(step) > 179.999_999 ? -Math.sign(pole) * 180 : step
}
