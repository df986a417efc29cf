import type { Point } from './builder.ts'

/** Points along a line, moved sideways: to the left of its direction when `distance` is positive. */
export function offset(line: readonly Point[], distance: number): Point[] {
  return line.map(([x, y], i) => {
    const [ax, ay] = line[Math.max(0, i - 1)]!
    const [bx, by] = line[Math.min(line.length - 1, i + 1)]!
    const length = Math.hypot(bx - ax, by - ay) || 1
    return [x - ((by - ay) / length) * distance, y + ((bx - ax) / length) * distance]
  })
}

/** A band of some width around a line, as a ring. */
export function band(line: readonly Point[], width: number): Point[] {
  return [...offset(line, -width / 2), ...offset(line, width / 2).toReversed()]
}

/** A point between `a` and `b`. */
export function between(a: Point, b: Point, share: number): Point {
  return [a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share]
}

/** A rough circle, counter-clockwise: radii within `roughness` of the given ones. */
export function blob(
  middle: Point,
  radiusX: number,
  radiusY: number,
  corners: number,
  roughness: () => number,
): Point[] {
  return Array.from({ length: corners }, (_, i) => {
    const angle = (i / corners) * 2 * Math.PI
    const stretch = 1 + roughness()
    return [middle[0] + Math.cos(angle) * radiusX * stretch, middle[1] + Math.sin(angle) * radiusY * stretch]
  })
}

/** A rectangle of some size whose south-west corner is `corner`, turned so that its first side runs along `direction`. */
export function box(corner: Point, direction: Point, width: number, depth: number): Point[] {
  const [dx, dy] = direction
  const at = (along: number, across: number): Point => [
    corner[0] + dx * along - dy * across,
    corner[1] + dy * along + dx * across,
  ]
  return [at(0, 0), at(width, 0), at(width, depth), at(0, depth)]
}

export function rectangle(west: number, south: number, east: number, north: number): Point[] {
  return [[west, south], [east, south], [east, north], [west, north]] // prettier-ignore
}

/** The unit vector from `a` to `b`, and their distance. */
export function towards(a: Point, b: Point): { direction: Point; distance: number } {
  const distance = Math.hypot(b[0] - a[0], b[1] - a[1])
  return { direction: [(b[0] - a[0]) / distance, (b[1] - a[1]) / distance], distance }
}
