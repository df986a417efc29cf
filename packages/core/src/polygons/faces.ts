import type { Grid } from './snap-rounding.ts'

/** All segments between two nodes as one edge; `net` is the number of segments from `from` to `to` minus those back. */
export interface Edge {
  readonly from: number
  readonly to: number
  net: number
}

/** Planar graph of edges that meet only in nodes: half-edges 2e along e and 2e + 1 back, each face on their left. */
export class Faces {
  readonly #grid: Grid
  readonly #edges: readonly Edge[]
  readonly #origins: Int32Array
  /** Half-edges by the node they leave and, around it, by rising angle; node n has those from `#first[n]`. */
  readonly #around: Int32Array
  readonly #first: Int32Array
  readonly #placeInAround: Int32Array
  /** The closed walk that each half-edge belongs to, and the winding number on the left of each walk. */
  readonly #walkOf: Int32Array
  readonly #winding: Int32Array

  constructor(grid: Grid, edges: readonly Edge[]) {
    const halves = edges.length * 2
    this.#grid = grid
    this.#edges = edges
    this.#origins = new Int32Array(halves)
    this.#around = new Int32Array(halves)
    this.#first = new Int32Array(grid.xs.length + 1)
    this.#placeInAround = new Int32Array(halves)
    this.#walkOf = new Int32Array(halves).fill(-1)
    this.#sortAroundNodes()
    this.#winding = new Int32Array(this.#traceWalks())
    this.#computeWindings()
  }

  /** The boundaries of the area with a positive winding number, as closed walks of nodes with that area on the left. */
  boundaries(): number[][] {
    const done = new Uint8Array(this.#walkOf.length)
    const walks: number[][] = []
    for (let first = 0; first < done.length; first++) {
      if (done[first] || !this.#isBoundary(first)) continue
      const walk: number[] = []
      for (let half = first; !done[half];) {
        done[half] = 1
        walk.push(this.#origins[half]!)
        half = this.#clockwiseOf(half ^ 1)
        while (!this.#isBoundary(half)) half = this.#clockwiseOf(half)
      }
      walks.push(walk)
    }
    return walks
  }

  #isBoundary(half: number): boolean {
    return this.#windingOf(half) > 0 && this.#windingOf(half ^ 1) <= 0
  }

  #windingOf(half: number): number {
    return this.#winding[this.#walkOf[half]!]!
  }

  /** The half-edge that leaves the same node next in clockwise direction. */
  #clockwiseOf(half: number): number {
    const node = this.#origins[half]!
    const place = this.#placeInAround[half]!
    return this.#around[place === this.#first[node] ? this.#first[node + 1]! - 1 : place - 1]!
  }

  #sortAroundNodes(): void {
    const origins = this.#origins
    const first = this.#first
    for (let half = 0; half < origins.length; half++) {
      const { from, to } = this.#edges[half >> 1]!
      origins[half] = half & 1 ? to : from
      first[origins[half]! + 1]!++
    }
    for (let node = 1; node < first.length; node++) first[node]! += first[node - 1]!
    const next = first.slice()
    for (let half = 0; half < origins.length; half++) this.#around[next[origins[half]!]!++] = half
    for (let node = 0; node + 1 < first.length; node++) {
      const around = this.#around.subarray(first[node], first[node + 1])
      if (around.length > 1) around.sort((a, b) => this.#compareAngles(a, b))
    }
    for (let place = 0; place < this.#around.length; place++) this.#placeInAround[this.#around[place]!] = place
  }

  /** Orders half-edges of one node by angle in (-180, 180] degrees. */
  #compareAngles(a: number, b: number): number {
    const { xs, ys } = this.#grid
    const node = this.#origins[a]!
    const ax = xs[this.#origins[a ^ 1]!]! - xs[node]!
    const ay = ys[this.#origins[a ^ 1]!]! - ys[node]!
    const bx = xs[this.#origins[b ^ 1]!]! - xs[node]!
    const by = ys[this.#origins[b ^ 1]!]! - ys[node]!
    const aUp = ay > 0 || (ay === 0 && ax < 0)
    const bUp = by > 0 || (by === 0 && bx < 0)
    // Angles in (-180, 0] come before those in (0, 180]; 180 itself counts as up, 0 as down.
    if (aUp !== bUp) return aUp ? 1 : -1
    return bx * ay - by * ax
  }

  /** Numbers the closed walks along face boundaries; returns their number. */
  #traceWalks(): number {
    let walks = 0
    for (let first = 0; first < this.#walkOf.length; first++) {
      if (this.#walkOf[first] !== -1) continue
      for (let half = first; this.#walkOf[half] === -1; half = this.#clockwiseOf(half ^ 1)) this.#walkOf[half] = walks
      walks++
    }
    return walks
  }

  /** Spreads winding numbers from walk to walk over the edges between them, component by component. */
  #computeWindings(): void {
    const known = new Uint8Array(this.#winding.length)
    for (const node of this.#grid.byPlace) {
      if (this.#first[node] === this.#first[node + 1]) continue
      // The first node of a component is its leftmost: the steepest of its edges has the outside on its left.
      const outer = this.#around[this.#first[node + 1]! - 1]!
      if (known[this.#walkOf[outer]!]) continue
      known[this.#walkOf[outer]!] = 1
      this.#winding[this.#walkOf[outer]!] = this.#windingBeside(node)
      const queue = [outer]
      for (let start = queue.pop(); start !== undefined; start = queue.pop()) this.#spread(start, known, queue)
    }
  }

  /** Goes along a walk of known winding and adds the unknown ones across its edges to the queue. */
  #spread(start: number, known: Uint8Array, queue: number[]): void {
    const winding = this.#windingOf(start)
    let half = start
    do {
      const across = this.#walkOf[half ^ 1]!
      if (!known[across]) {
        known[across] = 1
        const { net } = this.#edges[half >> 1]!
        this.#winding[across] = winding - (half & 1 ? -net : net)
        queue.push(half ^ 1)
      }
      half = this.#clockwiseOf(half ^ 1)
    } while (half !== start)
  }

  /** Winding number just left of a node that is the leftmost of its component. */
  #windingBeside(node: number): number {
    const { xs, ys } = this.#grid
    const x = xs[node]!
    const y = ys[node]!
    let winding = 0
    for (const { from, to, net } of this.#edges) {
      const low = ys[from]! <= y
      if (low === ys[to]! <= y) continue
      const crossing = xs[from]! + ((y - ys[from]!) * (xs[to]! - xs[from]!)) / (ys[to]! - ys[from]!)
      if (crossing < x) winding += low ? -net : net
    }
    return winding
  }
}
