import type { Shape } from '../features/shape.ts'
import { POLYGON } from '../features/shape.ts'
import type { Bits } from './junctions.ts'

/**
 * Maximum vertices of a section; longer ones are cut, which bounds the work on hostile shapes to this many steps per
 * vertex.
 */
const MAX_STRETCH = 1 << 13

/**
 * Ranks the vertices of lines and rings: `ranks[i]` is the squared distance (world units) up to which Douglas-Peucker
 * keeps vertex `i`, so that one ranking serves all zooms: a zoom keeps the vertices whose rank exceeds its squared
 * tolerance.
 *
 * Ends and junctions have the highest rank. Sections between two junctions are ranked in a direction that depends on
 * the section only, so that shared borders lose the same vertices on both sides. Not re-entrant.
 *
 * Source: D. Douglas and T. Peucker, "Algorithms for the reduction of the number of points", 1973.
 */
export class VertexRanker {
  ranks = new Float64Array(1 << 10)
  #stack = new Float64Array(3 << 6)
  #order = new Int32Array(1 << 10)

  /**
   * @param isJunction bits; those of the shape begin at `offset`
   * @param floor squared distance below which ranks do not matter
   */
  rank(shape: Shape, isJunction: Bits, offset: number, floor: number): void {
    if (this.ranks.length < shape.size) {
      this.ranks = new Float64Array(shape.size * 2)
      this.#order = new Int32Array(shape.size * 2 + 1)
    }
    if (this.#order.length <= shape.size) this.#order = new Int32Array(this.ranks.length + 1)
    this.ranks.fill(0, 0, shape.size)
    for (let part = 0; part < shape.parts; part++) {
      const start = shape.startOf(part)
      const end = shape.ends[part]!
      if (shape.kind === POLYGON) this.#rankRing(shape.xy, start, end, isJunction, offset, floor)
      else this.#rankLine(shape.xy, start, end, isJunction, offset, floor)
    }
  }

  #rankLine(xy: Int32Array, start: number, end: number, isJunction: Bits, offset: number, floor: number): void {
    const { ranks } = this
    ranks[start] = ranks[end - 1] = Number.POSITIVE_INFINITY
    let from = start
    for (let i = start + 1; i < end; i++) {
      if (i !== end - 1 && !isJunction.has(offset + i)) continue
      ranks[i] = Number.POSITIVE_INFINITY
      this.#rankStretch(xy, start, end - start, from, i - from, floor)
      from = i
    }
  }

  #rankRing(xy: Int32Array, start: number, end: number, isJunction: Bits, offset: number, floor: number): void {
    const count = end - start
    let first = start
    while (first < end && !isJunction.has(offset + first)) first++
    if (first === end) {
      // A ring without junctions starts at its first vertex in a fixed order, so that an equal ring of another feature
      // starts there, too.
      first = start
      for (let i = start + 1; i < end; i++) if (precedes(xy, i, first)) first = i
    }
    this.ranks[first] = Number.POSITIVE_INFINITY
    let from = 0
    for (let step = 1; step <= count; step++) {
      const vertex = start + ((first - start + step) % count)
      if (step !== count && !isJunction.has(offset + vertex)) continue
      this.ranks[vertex] = Number.POSITIVE_INFINITY
      this.#rankStretch(xy, start, count, start + ((first - start + from) % count), step - from, floor)
      from = step
    }
  }

  /** Ranks the vertices between vertex `from` and the one `steps` after it; both ends are kept already. */
  #rankStretch(xy: Int32Array, start: number, count: number, from: number, steps: number, floor: number): void {
    if (steps < 2) return
    const order = this.#order
    for (let i = 0; i <= steps; i++) {
      const vertex = from + i
      order[i] = vertex - start >= count ? vertex - count : vertex
    }
    const closed = order[0] === order[steps]
    if (precedes(xy, order[closed ? steps - 1 : steps]!, order[closed ? 1 : 0]!)) order.subarray(0, steps + 1).reverse()
    let low = 0
    if (closed) {
      const middle = farthest(xy, order, steps)
      this.ranks[order[middle]!] = Number.POSITIVE_INFINITY
      this.#rankBetween(xy, low, middle, floor)
      low = middle
    }
    this.#rankBetween(xy, low, steps, floor)
  }

  #rankBetween(xy: Int32Array, low: number, high: number, floor: number): void {
    let from = low
    for (; high - from > MAX_STRETCH; from += MAX_STRETCH) {
      this.ranks[this.#order[from + MAX_STRETCH]!] = Number.POSITIVE_INFINITY
      this.#split(xy, from, from + MAX_STRETCH, floor)
    }
    this.#split(xy, from, high, floor)
  }

  /**
   * Douglas-Peucker with a stack. The rank of a vertex is at most that of the vertex at which its section was split.
   */
  #split(xy: Int32Array, low: number, high: number, floor: number): void {
    const { ranks } = this
    const order = this.#order
    let stack = this.#stack
    let top = 0
    stack[top++] = low
    stack[top++] = high
    stack[top++] = Number.POSITIVE_INFINITY
    while (top > 0) {
      const limit = stack[--top]!
      const to = stack[--top]!
      const from = stack[--top]!
      if (to - from < 2) continue
      const a = 2 * order[from]!
      const b = 2 * order[to]!
      const ax = xy[a]!
      const ay = xy[a + 1]!
      const dx = xy[b]! - ax
      const dy = xy[b + 1]! - ay
      const length = dx * dx + dy * dy
      let best = -1
      let split = from
      for (let i = from + 1; i < to; i++) {
        const vertex = 2 * order[i]!
        let px = xy[vertex]! - ax
        let py = xy[vertex + 1]! - ay
        const along = px * dx + py * dy
        if (along >= length) {
          px -= dx
          py -= dy
        } else if (along > 0) {
          const cross = px * dy - py * dx
          const distance = (cross * cross) / length
          if (distance > best) {
            best = distance
            split = i
          }
          continue
        }
        const distance = px * px + py * py
        if (distance > best) {
          best = distance
          split = i
        }
      }
      const rank = best < limit ? best : limit
      if (rank <= floor) continue
      ranks[order[split]!] = rank
      if (top + 6 > stack.length) {
        stack = new Float64Array(stack.length * 2)
        stack.set(this.#stack)
        this.#stack = stack
      }
      stack[top++] = from
      stack[top++] = split
      stack[top++] = rank
      stack[top++] = split
      stack[top++] = to
      stack[top++] = rank
    }
  }
}

/** Lexicographic order of two vertices by position. */
function precedes(xy: Int32Array, a: number, b: number): boolean {
  const ax = xy[2 * a]!
  const bx = xy[2 * b]!
  return ax < bx || (ax === bx && xy[2 * a + 1]! < xy[2 * b + 1]!)
}

/** Position in `order` of the vertex farthest from the first one. */
function farthest(xy: Int32Array, order: Int32Array, steps: number): number {
  const x = xy[2 * order[0]!]!
  const y = xy[2 * order[0]! + 1]!
  let best = -1
  let at = 1
  for (let i = 1; i < steps; i++) {
    const dx = xy[2 * order[i]!]! - x
    const dy = xy[2 * order[i]! + 1]! - y
    const distance = dx * dx + dy * dy
    if (distance > best) {
      best = distance
      at = i
    }
  }
  return at
}
