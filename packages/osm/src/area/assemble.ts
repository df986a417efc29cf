import { growFloat64, growInt32, growUint8 } from '../grow.ts'
import { isSimpleRing } from './simple-ring.ts'
import { orient } from './orient.ts'

/** Reason why lines make no area: no lines left, an open ring, or lines that cross or touch off nodes. */
export type AreaFault = 'empty' | 'open' | 'crossing' | 'too_large'

/** Rings up to this many points are checked pair by pair, which beats any sorting. */
const SMALL_RING = 40
/** Keeps vertex keys exact in doubles; the largest relation of OpenStreetMap has half a million. */
const MAX_SEGMENTS = 1 << 20
/** Limits a hostile relation, such as a comb of a million teeth, to seconds. */
const MAX_MOVES = 2 ** 34

/**
 * Builds polygons from lines by the even-odd rule, for lines in any order and direction. Roles are ignored: the
 * boundary of an area is the set of its segments, each counted modulo two.
 *
 * One sweep over the sorted vertices keeps the segments under the sweep line in vertical order (Shamos and Hoey 1976).
 * It finds crossings, tells on which side of a segment the interior lies (by the parity of its place in that order) and
 * links each segment to the next one along the same interior. Walking the links gives the boundaries of the faces;
 * cutting them where they meet a vertex twice gives rings that are simple, so every result is valid for OGC. All
 * arithmetic is exact, on integers. O(n log n) for n segments.
 *
 * Not re-entrant: one instance serves one thread, and its result lasts until the next {@link start}.
 */
export class AreaAssembler {
  /** Result: ring `r` is the points `ringStart[r] .. ringStart[r + 1]`, closed; outer counter-clockwise, inner clockwise. */
  lon = new Int32Array(256)
  lat = new Int32Array(256)
  ringStart = new Int32Array(16)
  /** Result: polygon `p` is the rings `polygonStart[p] .. polygonStart[p + 1]`, the outer one first. */
  polygonStart = new Int32Array(16)
  polygonCount = 0

  // Input: segments by their ends, then by vertices.
  #x = new Int32Array(256)
  #y = new Int32Array(256)
  #segments = 0
  #lines = 0
  #closed = false

  // Vertices, sorted by x, then y.
  #vertices = 0
  #vertexX = new Int32Array(128)
  #vertexY = new Int32Array(128)
  #vertexOfEnd = new Int32Array(256)
  #keys = new Float64Array(128)
  #startOf = new Int32Array(128)
  #endCount = new Int32Array(128)
  #below = new Int32Array(128)
  #stackPos = new Int32Array(128)
  #stack = new Int32Array(128)

  // Segments after cancelling, sorted by left vertex.
  #left = new Int32Array(128)
  #right = new Int32Array(128)
  #interiorAbove = new Uint8Array(128)
  #next = new Int32Array(128)
  #face = new Int32Array(128)
  #status = new Int32Array(128)

  // Rings in the order they are found.
  #loop = new Int32Array(128)
  #loopEnd = 0
  #rings = 0
  #ringFrom = new Int32Array(16)
  #ringFace = new Int32Array(16)
  #ringOuter = new Uint8Array(16)

  /** Removes all lines. */
  start(): void {
    this.#segments = 0
    this.#lines = 0
    this.polygonCount = 0
  }

  /** Adds the line through points `from .. to` of the arrays, in 1e-7 degrees. Segments of length 0 are skipped. */
  addLine(lon: Int32Array, lat: Int32Array, from: number, to: number): void {
    const most = this.#segments + to - from
    this.#x = growInt32(this.#x, most * 2)
    this.#y = growInt32(this.#y, most * 2)
    const xs = this.#x
    const ys = this.#y
    let at = this.#segments * 2
    for (let i = from + 1; i < to; i++) {
      const x0 = lon[i - 1]!
      const y0 = lat[i - 1]!
      const x1 = lon[i]!
      const y1 = lat[i]!
      if (x0 === x1 && y0 === y1) continue
      xs[at] = x0
      ys[at++] = y0
      xs[at] = x1
      ys[at++] = y1
    }
    this.#segments = at / 2
    this.#lines++
    this.#closed = to - from > 3 && lon[from] === lon[to - 1] && lat[from] === lat[to - 1]
  }

  /** Builds the polygons; returns null on success, else the reason. */
  assemble(): AreaFault | null {
    this.polygonCount = 0
    if (this.#segments === 0) return 'empty'
    if (this.#segments > MAX_SEGMENTS) return 'too_large'
    if (this.#lines === 1 && this.#closed && this.#segments < SMALL_RING && this.#assembleSmallRing()) return null
    this.#sortVertices()
    this.#sortSegments()
    if (this.#segments === 0) return 'empty'
    const fault = this.#sweep()
    if (fault !== null) return fault
    this.#walk()
    this.#emit()
    return null
  }

  /** The common case, a ring that touches itself nowhere, needs no sweep. */
  #assembleSmallRing(): boolean {
    const n = this.#segments
    const xs = this.#x
    const ys = this.#y
    if (!isSimpleRing(xs, ys, n)) return false
    this.#reserveResult(n + 1, 1, 1)
    let area = 0
    for (let i = 0; i < n; i++) {
      area += (xs[2 * i]! - xs[0]!) * (ys[2 * i + 1]! - ys[0]!) - (xs[2 * i + 1]! - xs[0]!) * (ys[2 * i]! - ys[0]!)
    }
    for (let i = 0; i <= n; i++) {
      const from = 2 * (area > 0 ? i % n : (n - i) % n)
      this.lon[i] = xs[from]!
      this.lat[i] = ys[from]!
    }
    this.ringStart[0] = this.polygonStart[0] = 0
    this.ringStart[1] = n + 1
    this.polygonStart[1] = 1
    this.polygonCount = 1
    return true
  }

  /** Numbers the distinct ends of segments in the order of the sweep. */
  #sortVertices(): void {
    const ends = this.#segments * 2
    const xs = this.#x
    const ys = this.#y
    // Ranks of x keep the keys within 2^53 for areas of any extent.
    const sortedX = xs.subarray(0, ends).toSorted()
    const ranks = sortedX.subarray(0, distinct(sortedX))
    this.#keys = growFloat64(this.#keys, ends)
    const keys = this.#keys.subarray(0, ends)
    for (let i = 0; i < ends; i++) keys[i] = find(ranks, xs[i]!) * TWO_32 + (ys[i]! + TWO_31)
    const sortedKeys = keys.toSorted()
    const sorted = sortedKeys.subarray(0, distinct(sortedKeys))
    this.#reserveVertices(sorted.length)
    for (let v = 0; v < sorted.length; v++) {
      const key = sorted[v]!
      const rank = Math.floor(key / TWO_32)
      this.#vertexX[v] = ranks[rank]!
      this.#vertexY[v] = key - rank * TWO_32 - TWO_31
    }
    this.#vertexOfEnd = growInt32(this.#vertexOfEnd, ends)
    for (let i = 0; i < ends; i++) this.#vertexOfEnd[i] = find(sorted, keys[i]!)
    this.#vertices = sorted.length
  }

  /** Cancels pairs of equal segments, and sorts the rest by their left vertex. */
  #sortSegments(): void {
    const n = this.#segments
    const vertices = this.#vertices
    const keys = this.#keys.subarray(0, n)
    for (let s = 0; s < n; s++) {
      const a = this.#vertexOfEnd[2 * s]!
      const b = this.#vertexOfEnd[2 * s + 1]!
      keys[s] = Math.min(a, b) * vertices + Math.max(a, b)
    }
    keys.sort()
    let kept = 0
    for (let s = 0; s < n; s++) {
      if (s + 1 < n && keys[s] === keys[s + 1]) s++
      else keys[kept++] = keys[s]!
    }
    this.#reserveSegments(kept)
    this.#startOf.fill(0, 0, vertices + 1)
    this.#endCount.fill(0, 0, vertices)
    for (let s = 0; s < kept; s++) {
      const left = Math.floor(keys[s]! / vertices)
      const right = keys[s]! - left * vertices
      this.#left[s] = left
      this.#right[s] = right
      this.#startOf[left + 1]!++
      this.#endCount[right]!++
    }
    for (let v = 0; v < vertices; v++) this.#startOf[v + 1]! += this.#startOf[v]!
    this.#segments = kept
  }

  #sweep(): AreaFault | null {
    const status = this.#status
    const rights = this.#right
    const above = this.#interiorAbove
    let length = 0
    let moved = 0
    for (let v = 0; v < this.#vertices; v++) {
      const first = this.#startOf[v]!
      const starts = this.#startOf[v + 1]! - first
      const ends = this.#endCount[v]!
      if ((starts + ends) % 2 !== 0) return 'open'
      if (starts + ends === 0) continue
      const at = this.#lowestNotBelow(v, length)
      for (let i = 0; i < ends; i++) if (at + i >= length || rights[status[at + i]!] !== v) return 'crossing'
      // The next one up must pass strictly above.
      if (at + ends < length && this.#side(status[at + ends]!, v) === 0) return 'crossing'
      if (!this.#sortStarts(first, starts, v)) return 'crossing'
      for (let i = 0; i < starts; i++) above[first + i] = (at + i) % 2 === 0 ? 1 : 0
      this.#link(first, starts, at, ends)
      this.#below[v] = at > 0 ? status[at - 1]! : -1
      if (starts !== ends) {
        moved += length - at
        if (moved > MAX_MOVES) return 'too_large'
        status.copyWithin(at + starts, at + ends, length)
      }
      length += starts - ends
      for (let i = 0; i < starts; i++) status[at + i] = first + i
      if (at > 0 && at < length && this.#cross(status[at - 1]!, status[at]!)) return 'crossing'
      const top = at + starts
      if (starts > 0 && top < length && this.#cross(status[top - 1]!, status[top]!)) return 'crossing'
    }
    return null
  }

  /** Binary search in the status: the first segment that does not pass strictly below vertex `v`. */
  #lowestNotBelow(v: number, length: number): number {
    let low = 0
    let high = length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#side(this.#status[middle]!, v) > 0) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Positive when vertex `v` lies above segment `s`. */
  #side(s: number, v: number): number {
    const xs = this.#vertexX
    const ys = this.#vertexY
    const a = this.#left[s]!
    const b = this.#right[s]!
    return orient(xs[a]!, ys[a]!, xs[b]!, ys[b]!, xs[v]!, ys[v]!)
  }

  /** Sorts the segments that start at `v` from the lowest direction to the highest; false when two share a direction. */
  #sortStarts(first: number, count: number, v: number): boolean {
    const xs = this.#vertexX
    const ys = this.#vertexY
    const rights = this.#right
    for (let i = first + 1; i < first + count; i++) {
      const right = rights[i]!
      let j = i
      for (; j > first; j--) {
        const other = rights[j - 1]!
        const turn = orient(xs[v]!, ys[v]!, xs[other]!, ys[other]!, xs[right]!, ys[right]!)
        if (turn === 0) return false
        if (turn > 0) break
        rights[j] = other
      }
      rights[j] = right
    }
    return true
  }

  /**
   * Links each segment that runs into `v`, with the interior on its left, to the one that bounds the same interior: the
   * next clockwise around `v`. Counter-clockwise order is the starting segments upwards, then the ending ones downwards.
   */
  #link(first: number, starts: number, at: number, ends: number): void {
    const degree = starts + ends
    for (let p = 0; p < degree; p++) {
      const segment = p < starts ? first + p : this.#status[at + degree - 1 - p]!
      const runsRight = this.#interiorAbove[segment] === 1
      const runsIn = p < starts ? !runsRight : runsRight
      if (!runsIn) continue
      const q = (p + degree - 1) % degree
      this.#next[segment] = q < starts ? first + q : this.#status[at + degree - 1 - q]!
    }
  }

  /** True when two segments that are neighbours in the status meet elsewhere than in a common end. */
  #cross(a: number, b: number): boolean {
    // Common left ends were compared; an overlap before a common right end was found at the later left end.
    if (this.#left[a] === this.#left[b] || this.#right[a] === this.#right[b]) return false
    const b0 = this.#side(a, this.#left[b]!)
    const b1 = this.#side(a, this.#right[b]!)
    if ((b0 > 0 && b1 > 0) || (b0 < 0 && b1 < 0)) return false
    const a0 = this.#side(b, this.#left[a]!)
    const a1 = this.#side(b, this.#right[a]!)
    return !((a0 > 0 && a1 > 0) || (a0 < 0 && a1 < 0))
  }

  /** Follows the links: each closed walk is one boundary of a face, cut into rings at vertices that it meets twice. */
  #walk(): void {
    this.#face.fill(-1, 0, this.#segments)
    this.#stackPos.fill(-1, 0, this.#vertices)
    this.#rings = this.#loopEnd = 0
    let faces = 0
    for (let first = 0; first < this.#segments; first++) {
      if (this.#face[first] !== -1) continue
      const ring = this.#rings
      this.#cutWalk(first)
      // Segments are in the order of their left vertices, so this walk's first vertex is its leftmost one. A walk of
      // holes only lies above the segment below that vertex, whose walk came before.
      let face = faces
      let hasOuter = false
      for (let r = ring; r < this.#rings; r++) hasOuter ||= this.#ringOuter[r] === 1
      if (hasOuter) faces++
      else face = this.#face[this.#below[this.#left[first]!]!]!
      for (let r = ring; r < this.#rings; r++) this.#ringFace[r] = face
      for (let s = first, more = true; more; s = this.#next[s]!, more = s !== first) this.#face[s] = face
    }
    this.polygonCount = faces
  }

  /** Follows the links from segment `first` around, and cuts off a ring whenever a vertex repeats. */
  #cutWalk(first: number): void {
    const stack = this.#stack
    const position = this.#stackPos
    let depth = 0
    let segment = first
    do {
      const from = this.#interiorAbove[segment] === 1 ? this.#left[segment]! : this.#right[segment]!
      const seen = position[from]!
      if (seen >= 0) {
        this.#addRing(seen, depth)
        for (let i = seen; i < depth; i++) position[stack[i]!] = -1
        depth = seen
      }
      position[from] = depth
      stack[depth++] = from
      segment = this.#next[segment]!
    } while (segment !== first)
    this.#addRing(0, depth)
    for (let i = 0; i < depth; i++) position[stack[i]!] = -1
  }

  /** Keeps vertices `from .. to` of the stack as a ring. */
  #addRing(from: number, to: number): void {
    const ring = this.#rings++
    this.#ringFrom = growInt32(this.#ringFrom, ring + 2)
    this.#ringFace = growInt32(this.#ringFace, ring + 1)
    this.#ringOuter = growUint8(this.#ringOuter, ring + 1)
    const xs = this.#vertexX
    const ys = this.#vertexY
    const origin = this.#stack[from]!
    let area = 0
    let last = this.#stack[to - 1]!
    for (let i = from; i < to; i++) {
      const vertex = this.#stack[i]!
      area +=
        (xs[last]! - xs[origin]!) * (ys[vertex]! - ys[origin]!) -
        (xs[vertex]! - xs[origin]!) * (ys[last]! - ys[origin]!)
      this.#loop[this.#loopEnd + i - from] = last = vertex
    }
    this.#ringFrom[ring] = this.#loopEnd
    this.#loopEnd += to - from
    this.#ringFrom[ring + 1] = this.#loopEnd
    this.#ringOuter[ring] = area > 0 ? 1 : 0
  }

  /** Puts the rings into the result, by polygon, outer ones first. */
  #emit(): void {
    const rings = this.#rings
    const polygons = this.polygonCount
    this.#reserveResult(this.#loopEnd + rings, rings, polygons)
    const starts = this.polygonStart.fill(0, 0, polygons + 1)
    for (let r = 0; r < rings; r++) starts[this.#ringFace[r]! + 1]!++
    for (let p = 0; p < polygons; p++) starts[p + 1]! += starts[p]!
    // The place of each ring: the outer one at the start of its polygon, holes behind it.
    const holes = starts.slice(0, polygons)
    const order = new Int32Array(rings)
    for (let r = 0; r < rings; r++) {
      const face = this.#ringFace[r]!
      order[this.#ringOuter[r] === 1 ? starts[face]! : ++holes[face]!] = r
    }
    let at = 0
    for (let i = 0; i < rings; i++) {
      const ring = order[i]!
      const from = this.#ringFrom[ring]!
      this.ringStart[i] = at
      for (let j = from; j <= this.#ringFrom[ring + 1]!; j++) {
        const vertex = this.#loop[j < this.#ringFrom[ring + 1]! ? j : from]!
        this.lon[at] = this.#vertexX[vertex]!
        this.lat[at++] = this.#vertexY[vertex]!
      }
    }
    this.ringStart[rings] = at
  }

  #reserveResult(points: number, rings: number, polygons: number): void {
    this.lon = growInt32(this.lon, points)
    this.lat = growInt32(this.lat, points)
    this.ringStart = growInt32(this.ringStart, rings + 1)
    this.polygonStart = growInt32(this.polygonStart, polygons + 1)
  }

  #reserveVertices(count: number): void {
    this.#vertexX = growInt32(this.#vertexX, count)
    this.#vertexY = growInt32(this.#vertexY, count)
    this.#startOf = growInt32(this.#startOf, count + 1)
    this.#endCount = growInt32(this.#endCount, count)
    this.#below = growInt32(this.#below, count)
    this.#stackPos = growInt32(this.#stackPos, count)
  }

  #reserveSegments(count: number): void {
    this.#left = growInt32(this.#left, count)
    this.#right = growInt32(this.#right, count)
    this.#interiorAbove = growUint8(this.#interiorAbove, count)
    this.#next = growInt32(this.#next, count)
    this.#face = growInt32(this.#face, count)
    this.#status = growInt32(this.#status, count)
    this.#stack = growInt32(this.#stack, count)
    this.#loop = growInt32(this.#loop, count)
  }
}

const TWO_31 = 2 ** 31
const TWO_32 = 2 ** 32

/** Drops equal neighbours of a sorted array, in place; returns how many values are left. */
function distinct(sorted: Int32Array | Float64Array): number {
  let kept = 0
  for (let i = 0; i < sorted.length; i++) if (i === 0 || sorted[i] !== sorted[kept - 1]) sorted[kept++] = sorted[i]!
  return kept
}

/** The index of a value that the sorted array holds. */
function find(sorted: Int32Array | Float64Array, value: number): number {
  let low = 0
  let high = sorted.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}
