import type { Path } from './path.ts'

const FEW = 24

/**
 * Finds the pairs of segments of a path's rings that touch or cross, other than neighbours in a ring, which share a
 * vertex by construction. Coordinates are whole numbers within ±2^14, so that every decision is exact. Not re-entrant.
 */
export class SegmentPairs {
  /** Start and end vertex of each segment, as positions in `xy`. */
  from = new Int32Array(1 << 6)
  to = new Int32Array(1 << 6)
  count = 0
  #ringFirst = new Int32Array(1 << 6)
  #ringLast = new Int32Array(1 << 6)
  #minX = new Int32Array(1 << 6)
  #maxX = new Int32Array(1 << 6)
  #minY = new Int32Array(1 << 6)
  #maxY = new Int32Array(1 << 6)
  #keys = new Float64Array(1 << 6)
  #active = new Int32Array(1 << 6)

  /** Takes the segments of all rings. */
  load(path: Path): void {
    const { xy } = path
    this.count = path.length / 2
    this.#reserve(this.count)
    let segment = 0
    for (let part = 0; part < path.parts; part++) {
      const start = path.startOf(part)
      const end = path.ends[part]!
      const first = segment
      const last = first + (end - start) / 2 - 1
      for (let i = start; i < end; i += 2, segment++) {
        const j = i + 2 === end ? start : i + 2
        this.from[segment] = i
        this.to[segment] = j
        this.#ringFirst[segment] = first
        this.#ringLast[segment] = last
        this.#minX[segment] = Math.min(xy[i]!, xy[j]!)
        this.#maxX[segment] = Math.max(xy[i]!, xy[j]!)
        this.#minY[segment] = Math.min(xy[i + 1]!, xy[j + 1]!)
        this.#maxY[segment] = Math.max(xy[i + 1]!, xy[j + 1]!)
      }
    }
  }

  /** Calls back for each touching pair until the callback returns true. Returns whether it did. */
  find(path: Path, callback: (a: number, b: number) => boolean): boolean {
    return this.count <= FEW ? this.#findAmongFew(path.xy, callback) : this.#sweep(path.xy, callback)
  }

  #findAmongFew(xy: Float64Array, callback: (a: number, b: number) => boolean): boolean {
    for (let a = 0; a < this.count; a++) {
      for (let b = a + 1; b < this.count; b++) if (this.#touch(xy, a, b) && callback(a, b)) return true
    }
    return false
  }

  /** Sweeps from left to right and compares each segment with the segments that reach its left end. */
  #sweep(xy: Float64Array, callback: (a: number, b: number) => boolean): boolean {
    const keys = this.#keys.subarray(0, this.count)
    for (let i = 0; i < this.count; i++) keys[i] = this.#minX[i]! * 0x4000000 + i
    keys.sort()
    const active = this.#active
    let size = 0
    for (let k = 0; k < this.count; k++) {
      const key = keys[k]!
      const minX = Math.floor(key / 0x4000000)
      const segment = key - minX * 0x4000000
      let kept = 0
      for (let i = 0; i < size; i++) {
        const other = active[i]!
        if (this.#maxX[other]! < minX) continue
        active[kept++] = other
        if (this.#touch(xy, other, segment) && callback(other, segment)) return true
      }
      size = kept
      active[size++] = segment
    }
    return false
  }

  #touch(xy: Float64Array, a: number, b: number): boolean {
    if (this.#maxY[a]! < this.#minY[b]! || this.#maxY[b]! < this.#minY[a]!) return false
    if (this.#maxX[a]! < this.#minX[b]! || this.#maxX[b]! < this.#minX[a]!) return false
    if (this.#areNeighbours(a, b)) return false
    const p = this.from[a]!
    const q = this.to[a]!
    const r = this.from[b]!
    const s = this.to[b]!
    const r1 = side(xy, p, q, r)
    const s1 = side(xy, p, q, s)
    if ((r1 > 0 && s1 > 0) || (r1 < 0 && s1 < 0)) return false
    const p1 = side(xy, r, s, p)
    const q1 = side(xy, r, s, q)
    return !((p1 > 0 && q1 > 0) || (p1 < 0 && q1 < 0))
  }

  #areNeighbours(a: number, b: number): boolean {
    const low = a < b ? a : b
    const high = a < b ? b : a
    if (high - low === 1) return this.#ringFirst[low] === this.#ringFirst[high]
    return low === this.#ringFirst[high] && high === this.#ringLast[high]
  }

  #reserve(count: number): void {
    if (count <= this.from.length) return
    const size = count * 2
    this.from = new Int32Array(size)
    this.to = new Int32Array(size)
    this.#ringFirst = new Int32Array(size)
    this.#ringLast = new Int32Array(size)
    this.#minX = new Int32Array(size)
    this.#maxX = new Int32Array(size)
    this.#minY = new Int32Array(size)
    this.#maxY = new Int32Array(size)
    this.#keys = new Float64Array(size)
    this.#active = new Int32Array(size)
  }
}

/** Positive when vertex `r` lies to the left of the line through `p` and `q` (x to the right, y up), 0 on it. */
export function side(xy: Float64Array, p: number, q: number, r: number): number {
  const x = xy[p]!
  const y = xy[p + 1]!
  return (xy[q]! - x) * (xy[r + 1]! - y) - (xy[q + 1]! - y) * (xy[r]! - x)
}
