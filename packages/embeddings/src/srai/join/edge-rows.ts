import type { BucketGrid } from './bucket-grid.ts'

/** The edges of one large polygon by rows of buckets, so that a point tests only the edges of its row. */
export class EdgeRows {
  #starts = new Uint32Array(0)
  /** The two vertices of each edge. */
  #edges = new Uint32Array(0)

  build(xy: Float64Array, ends: readonly number[], grid: BucketGrid): void {
    this.#starts = new Uint32Array(grid.rows + 1)
    eachEdge(ends, (a, b) => this.#eachRow(xy, grid, a, b, (row) => this.#starts[row + 1]!++))
    for (let row = 0; row < grid.rows; row++) this.#starts[row + 1]! += this.#starts[row]!
    this.#edges = new Uint32Array(2 * this.#starts[grid.rows]!)
    const next = this.#starts.slice()
    eachEdge(ends, (a, b) =>
      this.#eachRow(xy, grid, a, b, (row) => {
        const at = 2 * next[row]!++
        this.#edges[at] = a
        this.#edges[at + 1] = b
      }),
    )
  }

  /** Whether the polygon holds a point that does not lie on its border. */
  hold(xy: Float64Array, grid: BucketGrid, px: number, py: number): boolean {
    const row = grid.rowOf(py)
    let inside = false
    for (let at = this.#starts[row]!; at < this.#starts[row + 1]!; at++) {
      const a = this.#edges[2 * at]!
      const b = this.#edges[2 * at + 1]!
      const ay = xy[2 * a + 1]!
      const by = xy[2 * b + 1]!
      if (ay > py === by > py) continue
      const ax = xy[2 * a]!
      if (px < ((xy[2 * b]! - ax) * (py - ay)) / (by - ay) + ax) inside = !inside
    }
    return inside
  }

  #eachRow(xy: Float64Array, grid: BucketGrid, a: number, b: number, visit: (row: number) => void): void {
    const row0 = grid.rowOf(Math.min(xy[2 * a + 1]!, xy[2 * b + 1]!))
    const row1 = grid.rowOf(Math.max(xy[2 * a + 1]!, xy[2 * b + 1]!))
    for (let row = row0; row <= row1; row++) visit(row)
  }
}

function eachEdge(ends: readonly number[], visit: (a: number, b: number) => void): void {
  let start = 0
  for (const end of ends) {
    for (let i = start; i < end; i++) visit(i, i + 1 < end ? i + 1 : start)
    start = end
  }
}
