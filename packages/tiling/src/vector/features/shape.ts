/** Geometry kinds with their Vector Tile numbers. */
export const POINT = 1
export const LINE = 2
export const POLYGON = 3
export type Kind = typeof POINT | typeof LINE | typeof POLYGON

/**
 * One feature's geometry in world coordinates, in buffers that are used again for the next feature: points (one part),
 * lines, or rings without their closing vertex (a ring that is not a hole begins a polygon). Neighbouring vertices differ.
 */
export class Shape {
  kind: Kind = POINT
  xy = new Int32Array(1 << 10)
  /** Number of vertices. */
  size = 0
  /** Vertex index after each part. */
  ends = new Int32Array(1 << 6)
  holes = new Uint8Array(1 << 6)
  parts = 0

  reset(kind: Kind): void {
    this.kind = kind
    this.size = 0
    this.parts = 0
  }

  /** Makes room for `more` vertices. */
  ensure(more: number): void {
    const wanted = (this.size + more) * 2
    if (wanted > this.xy.length) this.xy = grown(this.xy, new Int32Array(Math.max(wanted, this.xy.length * 2)))
  }

  /** Ends the part that holds the vertices since the last end. */
  endPart(isHole: boolean): void {
    if (this.parts === this.ends.length) {
      this.ends = grown(this.ends, new Int32Array(this.parts * 2))
      this.holes = grown(this.holes, new Uint8Array(this.parts * 2))
    }
    this.ends[this.parts] = this.size
    this.holes[this.parts++] = isHole ? 1 : 0
  }

  /** Index of the first vertex of a part. */
  startOf(part: number): number {
    return part === 0 ? 0 : this.ends[part - 1]!
  }
}

function grown<T extends Int32Array | Uint8Array>(from: T, to: T): T {
  to.set(from)
  return to
}
