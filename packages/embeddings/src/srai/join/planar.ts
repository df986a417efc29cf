import { segmentsMeet } from '@terrane/core'

/**
 * Predicates on closed sets in the plane of longitude and latitude: touching counts as intersecting. Polygons are flat
 * arrays of x and y; the last vertex joins the first.
 */

/** Positive when a, b, c turn left, 0 when they lie on a line. */
function turn(ax: number, ay: number, bx: number, by: number, cx: number, cy: number): number {
  return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
}

/** Whether the point p, known to lie on the line of a and b, lies between them. */
function isBetween(px: number, py: number, ax: number, ay: number, bx: number, by: number): boolean {
  return px >= Math.min(ax, bx) && px <= Math.max(ax, bx) && py >= Math.min(ay, by) && py <= Math.max(ay, by)
}

/** Whether a ring of vertices `[start, end)` holds the point, its border included. */
export function ringHolds(xy: Float64Array, start: number, end: number, px: number, py: number): boolean {
  let inside = false
  let ax = xy[2 * end - 2]!
  let ay = xy[2 * end - 1]!
  for (let i = start; i < end; i++) {
    const bx = xy[2 * i]!
    const by = xy[2 * i + 1]!
    if (turn(ax, ay, bx, by, px, py) === 0 && isBetween(px, py, ax, ay, bx, by)) return true
    if (ay > py !== by > py && px < ((bx - ax) * (py - ay)) / (by - ay) + ax) inside = !inside
    ax = bx
    ay = by
  }
  return inside
}

/** Whether the segment pq has a point in common with the ring's area or border. */
export function segmentMeetsRing(
  xy: Float64Array,
  start: number,
  end: number,
  px: number,
  py: number,
  qx: number,
  qy: number,
): boolean {
  if (ringHolds(xy, start, end, px, py)) return true
  let ax = xy[2 * end - 2]!
  let ay = xy[2 * end - 1]!
  for (let i = start; i < end; i++) {
    const bx = xy[2 * i]!
    const by = xy[2 * i + 1]!
    if (segmentsMeet(px, py, qx, qy, ax, ay, bx, by)) return true
    ax = bx
    ay = by
  }
  return false
}
