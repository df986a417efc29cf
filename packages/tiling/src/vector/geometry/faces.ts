import type { Grid } from './snap-rounding.ts'

/** Segments between two nodes, all in one: how many more run from `from` to `to` than back. */
export interface Edge {
  readonly from: number
  readonly to: number
  net: number
}

/**
 * The planar graph of edges that meet only in nodes. Half-edge 2e runs along edge e, 2e + 1 back; the face of a
 * half-edge is on its left (x to the right, y up).
 */
export class Faces {
  readonly #grid: Grid
  readonly #edges: readonly Edge[]
  /** Half-edges that leave a node, by rising angle. */
  readonly #leaving = new Map<number, number[]>()
  readonly #placeAtNode: Int32Array
  /** The closed walk that each half-edge belongs to, and the winding number on the left of each walk. */
  readonly #walkOf: Int32Array
  readonly #winding: Int32Array

  constructor(grid: Grid, edges: readonly Edge[]) {
    this.#grid = grid
    this.#edges = edges
    this.#placeAtNode = new Int32Array(edges.length * 2)
    this.#walkOf = new Int32Array(edges.length * 2).fill(-1)
    this.#sortAroundNodes()
    this.#winding = new Int32Array(this.#traceWalks())
    this.#computeWindings()
  }

  /** The closed walks around the area of positive winding, that area on their left, as nodes. */
  boundaries(): number[][] {
    const done = new Uint8Array(this.#walkOf.length)
    const walks: number[][] = []
    for (let first = 0; first < done.length; first++) {
      if (done[first] || !this.#isBoundary(first)) continue
      const walk: number[] = []
      for (let half = first; !done[half];) {
        done[half] = 1
        walk.push(this.#origin(half))
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

  #origin(half: number): number {
    const edge = this.#edges[half >> 1]!
    return half & 1 ? edge.to : edge.from
  }

  /** The half-edge that leaves the same node next in clockwise direction. */
  #clockwiseOf(half: number): number {
    const around = this.#leaving.get(this.#origin(half))!
    const place = this.#placeAtNode[half]!
    return around[place === 0 ? around.length - 1 : place - 1]!
  }

  #sortAroundNodes(): void {
    for (let half = 0; half < this.#walkOf.length; half++) {
      const node = this.#origin(half)
      const around = this.#leaving.get(node)
      if (around) around.push(half)
      else this.#leaving.set(node, [half])
    }
    for (const around of this.#leaving.values()) {
      around.sort((a, b) => this.#compareAngles(a, b))
      for (let place = 0; place < around.length; place++) this.#placeAtNode[around[place]!] = place
    }
  }

  /** Orders half-edges of one node by angle in (-180, 180] degrees. */
  #compareAngles(a: number, b: number): number {
    const { xs, ys } = this.#grid
    const node = this.#origin(a)
    const ax = xs[this.#origin(a ^ 1)]! - xs[node]!
    const ay = ys[this.#origin(a ^ 1)]! - ys[node]!
    const bx = xs[this.#origin(b ^ 1)]! - xs[node]!
    const by = ys[this.#origin(b ^ 1)]! - ys[node]!
    const aUp = ay > 0 || (ay === 0 && ax < 0)
    const bUp = by > 0 || (by === 0 && bx < 0)
    // Angles in (-180, 0] come before those in (0, 180]; 180 itself counts as up, 0 as down.
    if (aUp !== bUp) return aUp ? 1 : -1
    return bx * ay - by * ax
  }

  /** Numbers the closed walks along face boundaries; returns how many there are. */
  #traceWalks(): number {
    let walks = 0
    for (let first = 0; first < this.#walkOf.length; first++) {
      if (this.#walkOf[first] !== -1) continue
      for (let half = first; this.#walkOf[half] === -1; half = this.#clockwiseOf(half ^ 1)) this.#walkOf[half] = walks
      walks++
    }
    return walks
  }

  /** Spreads winding numbers from one walk to the next over the edges between them, component by component. */
  #computeWindings(): void {
    const known = new Uint8Array(this.#winding.length)
    const members: number[][] = Array.from({ length: known.length }, () => [])
    for (let half = 0; half < this.#walkOf.length; half++) members[this.#walkOf[half]!]!.push(half)
    for (const half of this.#leftmostHalves()) {
      const seed = this.#walkOf[half]!
      if (known[seed]) continue
      this.#winding[seed] = this.#windingBeside(this.#origin(half))
      known[seed] = 1
      const queue = [seed]
      for (let walk = queue.pop(); walk !== undefined; walk = queue.pop()) {
        for (const member of members[walk]!) {
          const across = this.#walkOf[member ^ 1]!
          if (known[across]) continue
          known[across] = 1
          const net = this.#edges[member >> 1]!.net
          this.#winding[across] = this.#winding[walk]! - (member & 1 ? -net : net)
          queue.push(across)
        }
      }
    }
  }

  /**
   * Half-edges by their origin from left to right, the steepest of each node: the first one of a component has the
   * outside of that component on its left.
   */
  #leftmostHalves(): number[] {
    const { xs, ys } = this.#grid
    const nodes = [...this.#leaving.keys()].sort((a, b) => xs[a]! - xs[b]! || ys[a]! - ys[b]!)
    return nodes.map((node) => {
      const around = this.#leaving.get(node)!
      return around[around.length - 1]!
    })
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
