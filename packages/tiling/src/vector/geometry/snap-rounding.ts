import type { Path } from './path.ts'
import { side } from './segments.ts'

/** The grid points that segments are snapped to: all vertices and the rounded crossings. */
export class Grid {
  readonly xs: number[] = []
  readonly ys: number[] = []
  readonly #ids = new Map<number, number>()
  #byX: number[] = []

  node(x: number, y: number): number {
    const key = x * 0x200000 + y
    let id = this.#ids.get(key)
    if (id === undefined) {
      id = this.xs.length
      this.#ids.set(key, id)
      this.xs.push(x)
      this.ys.push(y)
    }
    return id
  }

  /** Prepares `between`; no node is added afterwards. */
  sort(): void {
    this.#byX = this.xs.map((_, id) => id).sort((a, b) => this.xs[a]! - this.xs[b]!)
  }

  /** Nodes with low ≤ x ≤ high. */
  *between(low: number, high: number): Generator<number> {
    let from = 0
    let to = this.#byX.length
    while (from < to) {
      const middle = (from + to) >> 1
      if (this.xs[this.#byX[middle]!]! < low) from = middle + 1
      else to = middle
    }
    for (let i = from; i < this.#byX.length; i++) {
      const id = this.#byX[i]!
      if (this.xs[id]! > high) return
      yield id
    }
  }
}

/** Adds the grid point of a proper crossing of two segments; where they only touch, a vertex is there already. */
export function addCrossing(xy: Float64Array, p: number, q: number, r: number, s: number, grid: Grid): void {
  const pr = side(xy, p, q, r)
  const ps = side(xy, p, q, s)
  if (pr === 0 || ps === 0 || side(xy, r, s, p) === 0 || side(xy, r, s, q) === 0) return
  // r + (s - r) * pr / (pr - ps), rounded half up with whole numbers: products stay below 2^53.
  const whole = pr - ps
  grid.node(
    xy[r]! + roundRatio((xy[s]! - xy[r]!) * pr, whole),
    xy[r + 1]! + roundRatio((xy[s + 1]! - xy[r + 1]!) * pr, whole),
  )
}

/** floor(a / b + 1/2), exact. */
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
  for (let i = start; i < end; i += 2) {
    const j = i + 2 === end ? start : i + 2
    const ax = xy[i]!
    const ay = xy[i + 1]!
    const dx = xy[j]! - ax
    const dy = xy[j + 1]! - ay
    const lowY = Math.min(ay, ay + dy)
    const highY = Math.max(ay, ay + dy)
    const passed: { id: number; along: number }[] = []
    for (const id of grid.between(Math.min(ax, ax + dx), Math.max(ax, ax + dx))) {
      const x = grid.xs[id]!
      const y = grid.ys[id]!
      if (y < lowY || y > highY || !passesPixel(ax, ay, dx, dy, x, y)) continue
      passed.push({ id, along: (x - ax) * dx + (y - ay) * dy })
    }
    passed.sort((a, b) => a.along - b.along)
    // The end of this segment is the start of the next.
    for (const { id } of passed) if (id !== ring[ring.length - 1]) ring.push(id)
  }
  while (ring.length > 1 && ring[0] === ring[ring.length - 1]) ring.pop()
  return ring
}

/** Whether the segment from (ax, ay) by (dx, dy) meets the pixel of side 1 around (x, y), open at its high edges. */
function passesPixel(ax: number, ay: number, dx: number, dy: number, x: number, y: number): boolean {
  const range = new OpenRange()
  return (
    range.restrict(2 * ax, 2 * dx, 2 * x - 1, 2 * x + 1) &&
    range.restrict(2 * ay, 2 * dy, 2 * y - 1, 2 * y + 1) &&
    !range.isEmpty()
  )
}

/** The part of a segment, as fractions a / b of its length, that lies within half-open intervals. */
class OpenRange {
  #lowA = 0
  #lowB = 1
  #lowOpen = false
  #highA = 1
  #highB = 1
  #highOpen = false

  /** Keeps the fractions t with low ≤ at + t·delta < high; false when a segment along the interval misses it. */
  restrict(at: number, delta: number, low: number, high: number): boolean {
    if (delta === 0) return at >= low && at < high
    if (delta > 0) {
      this.#raise(low - at, delta, false)
      this.#lower(high - at, delta, true)
    } else {
      this.#raise(at - high, -delta, true)
      this.#lower(at - low, -delta, false)
    }
    return true
  }

  isEmpty(): boolean {
    const order = this.#lowA * this.#highB - this.#highA * this.#lowB
    return order > 0 || (order === 0 && (this.#lowOpen || this.#highOpen))
  }

  #raise(a: number, b: number, open: boolean): void {
    const order = a * this.#lowB - this.#lowA * b
    if (order < 0 || (order === 0 && !open)) return
    this.#lowA = a
    this.#lowB = b
    this.#lowOpen = open
  }

  #lower(a: number, b: number, open: boolean): void {
    const order = a * this.#highB - this.#highA * b
    if (order > 0 || (order === 0 && !open)) return
    this.#highA = a
    this.#highB = b
    this.#highOpen = open
  }
}
