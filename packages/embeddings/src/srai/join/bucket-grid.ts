/** A uniform grid over all boxes; positions outside belong to the border buckets. */
export class BucketGrid {
  readonly west: number
  readonly south: number
  readonly width: number
  readonly height: number
  readonly columns: number
  readonly rows: number
  readonly #east: number
  readonly #north: number

  constructor(boxes: Float64Array) {
    const count = boxes.length / 4
    let [west, south, east, north, widths, heights] = [Infinity, Infinity, -Infinity, -Infinity, 0, 0]
    for (let at = 0; at < boxes.length; at += 4) {
      west = Math.min(west, boxes[at]!)
      south = Math.min(south, boxes[at + 1]!)
      east = Math.max(east, boxes[at + 2]!)
      north = Math.max(north, boxes[at + 3]!)
      widths += boxes[at + 2]! - boxes[at]!
      heights += boxes[at + 3]! - boxes[at + 1]!
    }
    // Larger buckets for cells that are far apart, because most of the smaller ones would be empty.
    const wanted = ((east - west) / (widths / count)) * ((north - south) / (heights / count))
    const coarser = Math.max(1, Math.sqrt(wanted / (4 * count + 1024)))
    this.west = west
    this.south = south
    this.#east = east
    this.#north = north
    this.columns = Math.max(1, Math.ceil((east - west) / ((widths / count) * coarser)))
    this.rows = Math.max(1, Math.ceil((north - south) / ((heights / count) * coarser)))
    this.width = (east - west) / this.columns
    this.height = (north - south) / this.rows
  }

  columnOf(x: number): number {
    return Math.max(0, Math.min(this.columns - 1, Math.floor((x - this.west) / this.width)))
  }

  rowOf(y: number): number {
    return Math.max(0, Math.min(this.rows - 1, Math.floor((y - this.south) / this.height)))
  }

  /** The bucket of a position, -1 outside of the grid. */
  bucketAt(x: number, y: number): number {
    return this.meets(x, y, x, y) ? this.rowOf(y) * this.columns + this.columnOf(x) : -1
  }

  meets(west: number, south: number, east: number, north: number): boolean {
    return west <= this.#east && east >= this.west && south <= this.#north && north >= this.south
  }

  /** Lists for each bucket the boxes over it: `items[starts[b] … starts[b + 1]]`. */
  distribute(boxes: Float64Array): { readonly starts: Uint32Array; readonly items: Uint32Array } {
    const starts = new Uint32Array(this.columns * this.rows + 1)
    this.#each(boxes, (bucket) => starts[bucket + 1]!++)
    for (let b = 0; b + 1 < starts.length; b++) starts[b + 1]! += starts[b]!
    const items = new Uint32Array(starts.at(-1)!)
    const next = starts.slice()
    this.#each(boxes, (bucket, box) => {
      items[next[bucket]!++] = box
    })
    return { starts, items }
  }

  #each(boxes: Float64Array, visit: (bucket: number, box: number) => void): void {
    for (let box = 0; box < boxes.length / 4; box++) {
      const [column0, column1] = [this.columnOf(boxes[4 * box]!), this.columnOf(boxes[4 * box + 2]!)]
      const [row0, row1] = [this.rowOf(boxes[4 * box + 1]!), this.rowOf(boxes[4 * box + 3]!)]
      for (let row = row0; row <= row1; row++) {
        for (let column = column0; column <= column1; column++) visit(row * this.columns + column, box)
      }
    }
  }
}
