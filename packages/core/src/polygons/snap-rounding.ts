import type { Path } from './path.ts'
import { side } from './segments.ts'

const KEY_SPAN = 0x200000

/** The grid points that segments are snapped to: all vertices and the rounded crossings. */
export class Grid {
  readonly xs: number[] = []
  readonly ys: number[] = []
  /** Nodes by x, then y; filled by `sort`. */
  byPlace = new Int32Array(0)
  readonly #ids = new Map<number, number>()

  /** The number of the node at a grid point. */
  node(x: number, y: number): number {
    const key = x * KEY_SPAN + y
    let id = this.#ids.get(key)
    if (id === undefined) {
      id = this.xs.length
      this.#ids.set(key, id)
      this.xs.push(x)
      this.ys.push(y)
    }
    return id
  }

  /** Prepares `byPlace`; no node is added afterwards. */
  sort(): void {
    const keys = Float64Array.from(this.#ids.keys()).toSorted()
    this.byPlace = new Int32Array(keys.length)
    for (let i = 0; i < keys.length; i++) this.byPlace[i] = this.#ids.get(keys[i]!)!
  }

  /** Position in `byPlace` of the first node with an x of at least `low`. */
  firstFrom(low: number): number {
    let from = 0
    let to = this.byPlace.length
    while (from < to) {
      const middle = (from + to) >> 1
      if (this.xs[this.byPlace[middle]!]! < low) from = middle + 1
      else to = middle
    }
    return from
  }
}

/** Adds the grid point of a proper crossing of two segments; where they only touch, a vertex exists already. */
export function addCrossing(xy: Float64Array, p: number, q: number, r: number, s: number, grid: Grid): void {
  const pr = side(xy, p, q, r)
  const ps = side(xy, p, q, s)
  if (pr === 0 || ps === 0 || side(xy, r, s, p) === 0 || side(xy, r, s, q) === 0) return
  // The crossing is r + (s - r) * pr / (pr - ps).
  const whole = pr - ps
  grid.node(
    xy[r]! + roundRatio((xy[s]! - xy[r]!) * pr, whole),
    xy[r + 1]! + roundRatio((xy[s + 1]! - xy[r + 1]!) * pr, whole),
  )
}

/** floor(a / b + 1/2), exact for whole numbers below 2^51. */
function roundRatio(a: number, b: number): number {
  const numerator = b < 0 ? -2 * a - b : 2 * a + b
  const denominator = 2 * Math.abs(b)
  let quotient = Math.floor(numerator / denominator)
  while (quotient * denominator > numerator) quotient--
  while ((quotient + 1) * denominator <= numerator) quotient++
  return quotient
}

/**
 * The nodes of a ring after each segment is led through every node whose pixel it passes. With the vertices and the
 * crossings of all segments as nodes, segments meet only in nodes afterwards. Whole numbers below 2^53: exact.
 *
 * Source: J. Hobby, "Practical segment intersection with finite precision output", 1999.
 */
export function snappedRing(path: Path, start: number, end: number, grid: Grid): number[] {
  const ring: number[] = []
  const { xy } = path
  const { xs, ys, byPlace } = grid
  for (let i = start; i < end; i += 2) {
    const j = i + 2 === end ? start : i + 2
    const ax = xy[i]!
    const ay = xy[i + 1]!
    const dx = xy[j]! - ax
    const dy = xy[j + 1]! - ay
    const highX = Math.max(ax, ax + dx)
    const lowY = Math.min(ay, ay + dy)
    const highY = Math.max(ay, ay + dy)
    const passed: number[] = []
    for (let k = grid.firstFrom(Math.min(ax, ax + dx)); k < byPlace.length; k++) {
      const id = byPlace[k]!
      const x = xs[id]!
      if (x > highX) break
      const y = ys[id]!
      if (y >= lowY && y <= highY && passesPixel(ax, ay, dx, dy, x, y)) passed.push(id)
    }
    if (passed.length > 1) passed.sort((a, b) => (xs[a]! - xs[b]!) * dx + (ys[a]! - ys[b]!) * dy)
    // The end of this segment is the start of the next.
    for (const id of passed) if (id !== ring[ring.length - 1]) ring.push(id)
  }
  while (ring.length > 1 && ring[0] === ring[ring.length - 1]) ring.pop()
  return ring
}

/** Whether a segment meets the pixel of side 1 around (x, y), which is open at its high edges. */
function passesPixel(ax: number, ay: number, dx: number, dy: number, x: number, y: number): boolean {
  let lowA = 0
  let lowB = 1
  let lowOpen = false
  let highA = 1
  let highB = 1
  let highOpen = false
  for (let axis = 0; axis < 2; axis++) {
    // Doubled, so that the edges of the pixel are whole numbers.
    const delta = 2 * (axis === 0 ? dx : dy)
    const offset = 2 * (axis === 0 ? x - ax : y - ay)
    if (delta === 0) {
      if (offset > 1 || offset <= -1) return false
      continue
    }
    const b = Math.abs(delta)
    const enter = delta > 0 ? offset - 1 : -offset - 1
    const leave = enter + 2
    const enterOrder = enter * lowB - lowA * b
    if (enterOrder > 0 || (enterOrder === 0 && delta < 0)) {
      lowA = enter
      lowB = b
      lowOpen = delta < 0
    }
    const leaveOrder = leave * highB - highA * b
    if (leaveOrder < 0 || (leaveOrder === 0 && delta > 0)) {
      highA = leave
      highB = b
      highOpen = delta > 0
    }
  }
  const order = lowA * highB - highA * lowB
  return order < 0 || (order === 0 && !lowOpen && !highOpen)
}
