/** Points (one part), lines or rings on the grid of one zoom, in buffers that are reused; whole unless clipped. */
export class Path {
  xy = new Float64Array(1 << 8)
  /** Length of `xy` in use: two numbers per vertex. */
  length = 0
  /** Length of `xy` after each part. */
  ends = new Int32Array(1 << 5)
  holes = new Uint8Array(1 << 5)
  parts = 0
  minX = 0
  minY = 0
  maxX = 0
  maxY = 0

  clear(): void {
    this.length = 0
    this.parts = 0
  }

  /** Makes room for `more` vertices. */
  ensure(more: number): void {
    const wanted = this.length + more * 2
    if (wanted <= this.xy.length) return
    const xy = new Float64Array(Math.max(wanted, this.xy.length * 2))
    xy.set(this.xy.subarray(0, this.length))
    this.xy = xy
  }

  /** Appends a vertex; the caller has reserved room by {@link ensure}. */
  push(x: number, y: number): void {
    this.xy[this.length++] = x
    this.xy[this.length++] = y
  }

  /** Start of the open part in `xy`. */
  openStart(): number {
    return this.parts === 0 ? 0 : this.ends[this.parts - 1]!
  }

  startOf(part: number): number {
    return part === 0 ? 0 : this.ends[part - 1]!
  }

  /** Ends a part, or discards it when it has fewer than `least` vertices. */
  endPart(isHole: number, least: number): void {
    const start = this.openStart()
    if (this.length - start < 2 * least) {
      this.length = start
      return
    }
    if (this.parts === this.ends.length) {
      const ends = new Int32Array(this.parts * 2)
      ends.set(this.ends)
      this.ends = ends
      const holes = new Uint8Array(this.parts * 2)
      holes.set(this.holes)
      this.holes = holes
    }
    this.ends[this.parts] = this.length
    this.holes[this.parts++] = isHole
  }

  /** Computes the bounds of all vertices. */
  measure(): void {
    let minX = Number.POSITIVE_INFINITY
    let minY = minX
    let maxX = Number.NEGATIVE_INFINITY
    let maxY = maxX
    const xy = this.xy
    for (let i = 0; i < this.length; i += 2) {
      const x = xy[i]!
      const y = xy[i + 1]!
      if (x < minX) minX = x
      if (x > maxX) maxX = x
      if (y < minY) minY = y
      if (y > maxY) maxY = y
    }
    this.minX = minX
    this.minY = minY
    this.maxX = maxX
    this.maxY = maxY
  }
}
