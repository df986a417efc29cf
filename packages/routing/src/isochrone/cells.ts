import type { Grid } from './grid.ts'

/** Approximate maximum number of cells; above it, blocks of 2 × 2, 4 × 4 and so on cells of the grid are combined. */
const MOST_CELLS = 500_000
/** Margin in metres around all places: more than the reach of an area beyond its streets. */
const MARGIN_METERS = 400
/** States of a cell without one set of contours: no places, or places within different contours. */
const EMPTY = -1
const MIXED = -2
const NONE = -1
/** Cells along the side of a block, and the mark of a cell that needs only one sample. */
const BLOCK = 6
const WITNESS = 2
/** Mark of a cell with a contour between its places. */
export const PASSED = 3

/** Columns and rows of cells, the last ones included. */
export interface Box {
  west: number
  south: number
  east: number
  north: number
}

/**
 * Finds where contours may run, with a grid that stores for each cell the contours around its places. An empty cell
 * belongs to the nearest cell with places; contours run between cells with different contours. Other places need no
 * sample: with or without them, the nearest places lie within the same contours. Everything outside counts as
 * unreachable.
 */
export class Cells {
  /** Bounds of all cells, in cells of the grid. */
  readonly box: Box
  readonly #west: number
  readonly #south: number
  readonly #grid: Grid
  /** Binary logarithm of the number of grid cells along the side of a combined cell. */
  readonly #scale: number
  readonly #columns: number
  readonly #rows: number
  readonly #cells: Int32Array
  /** The nearest cell with places, for each cell. */
  readonly #source: Int32Array
  readonly #needed: Uint8Array

  /** @param box bounds of all places */
  constructor(grid: Grid, box: Box) {
    const margin = Math.ceil(MARGIN_METERS / grid.meters)
    const area = (box.east - box.west + 2 * margin + 1) * (box.north - box.south + 2 * margin + 1)
    const scale = Math.max(0, Math.ceil(Math.log2(area / MOST_CELLS) / 2))
    const [west, south] = [(box.west - margin) >> scale, (box.south - margin) >> scale]
    this.#columns = ((box.east + margin) >> scale) - west + 1
    this.#rows = ((box.north + margin) >> scale) - south + 1
    this.box = {
      west: west << scale,
      south: south << scale,
      east: ((west + this.#columns) << scale) - 1,
      north: ((south + this.#rows) << scale) - 1,
    }
    this.#west = this.box.west
    this.#south = this.box.south
    this.#grid = grid
    this.#scale = scale
    this.#cells = new Int32Array(this.#columns * this.#rows).fill(EMPTY)
    this.#source = new Int32Array(this.#cells.length)
    this.#needed = new Uint8Array(this.#cells.length)
  }

  /** The cell at a position in millionths of a degree; −1 outside of the grid. */
  at(lon: number, lat: number): number {
    const { west, south, perLon, perLat } = this.#grid
    return this.#within(Math.floor((lon - west) * perLon), Math.floor((lat - south) * perLat))
  }

  /** The combined cell of a grid cell; −1 outside of the box. */
  of(cell: number): number {
    return this.#within(cell & 0xffff, cell >>> 16)
  }

  #within(gridColumn: number, gridRow: number): number {
    const column = (gridColumn - this.#west) >> this.#scale
    const row = (gridRow - this.#south) >> this.#scale
    return column >= 0 && column < this.#columns && row >= 0 && row < this.#rows ? row * this.#columns + column : -1
  }

  /** Records the contours around a place in a cell, as bits. */
  mark(cell: number, within: number): void {
    if (cell < 0) return
    const known = this.#cells[cell]!
    if (known === EMPTY) this.#cells[cell] = within
    else if (known !== within) this.#cells[cell] = MIXED
  }

  /** Finds where contours may run, after all places are recorded. */
  close(): void {
    const columns = this.#columns
    const rows = this.#rows
    for (let column = 0; column < columns; column++) {
      this.#cells[column] = 0
      this.#cells[(rows - 1) * columns + column] = 0
    }
    for (let row = 0; row < rows; row++) {
      this.#cells[row * columns] = 0
      this.#cells[row * columns + columns - 1] = 0
    }
    this.#spread()
    const cells = this.#cells
    const source = this.#source
    const needed = this.#needed
    const compare = (a: number, b: number): void => {
      if (cells[a] === cells[b] && cells[a] !== MIXED) return
      needed[a] = 1
      needed[b] = 1
    }
    for (let row = 0; row + 1 < rows; row++) {
      for (let at = row * columns; at + 1 < (row + 1) * columns; at++) {
        const own = source[at]!
        if (source[at + 1] !== own) compare(own, source[at + 1]!)
        if (source[at + columns] !== own) compare(own, source[at + columns]!)
      }
    }
    for (let at = 0; at < cells.length; at++) if (cells[at] === MIXED) needed[at] = PASSED
    this.#keepWitnesses()
  }

  /**
   * Keeps one reachable sample for each block of cells inside a contour that has none, so that unreachable streets do not
   * leak into it through gaps narrower than a cell.
   */
  #keepWitnesses(): void {
    const columns = this.#columns
    for (let top = 0; top < this.#rows; top += BLOCK) {
      for (let left = 0; left < columns; left += BLOCK) {
        const witness = this.#witnessOf(top, left)
        if (witness >= 0) this.#needed[witness] = WITNESS
      }
    }
  }

  /** A cell of a block with places within some contour; −1 without such a cell, or when one is already needed. */
  #witnessOf(top: number, left: number): number {
    const right = Math.min(left + BLOCK, this.#columns)
    const bottom = Math.min(top + BLOCK, this.#rows)
    let witness = -1
    for (let row = top; row < bottom; row++) {
      for (let at = row * this.#columns + left; at < row * this.#columns + right; at++) {
        if (this.#needed[at] !== 0) return -1
        if (this.#cells[at]! > 0) witness = at
      }
    }
    return witness
  }

  /**
   * Influence of a cell's places on contours: none (0), next to a contour (1), one sample is enough (2), a contour
   * between them (`PASSED`).
   */
  need(cell: number): number {
    return cell < 0 ? 0 : this.#needed[cell]!
  }

  /** Whether the places of a cell are sampled. */
  takes(cell: number): boolean {
    if (cell < 0) return false
    const own = this.#source[cell]!
    const needed = this.#needed[own]
    if (needed === WITNESS) this.#needed[own] = 0
    return needed !== 0
  }

  /** Finds a nearest cell with places for each cell, by breadth-first search from all of them. */
  #spread(): void {
    const cells = this.#cells
    const source = this.#source.fill(NONE)
    const columns = this.#columns
    const open = new Int32Array(cells.length)
    let size = 0
    for (let at = 0; at < cells.length; at++) {
      if (cells[at] === EMPTY) continue
      source[at] = at
      open[size++] = at
    }
    // The border cells count as having places, so no step leads out of the grid or around it to the next row.
    for (let i = 0; i < size; i++) {
      const at = open[i]!
      const own = source[at]!
      if (at + columns < cells.length && source[at + columns] === NONE) {
        source[at + columns] = own
        open[size++] = at + columns
      }
      if (at >= columns && source[at - columns] === NONE) {
        source[at - columns] = own
        open[size++] = at - columns
      }
      if (source[at + 1] === NONE) {
        source[at + 1] = own
        open[size++] = at + 1
      }
      if (source[at - 1] === NONE) {
        source[at - 1] = own
        open[size++] = at - 1
      }
    }
  }
}
