/** Metres of the side of a cell at least, and how many cells there are at most, about. */
const CELL_METERS = 60
const MOST_CELLS = 400_000
/** Metres around all places: more than an area reaches beyond its streets. */
const MARGIN_METERS = 400
/** Metres of a millionth of a degree of latitude. */
const METERS_PER_UNIT = 0.111195
/** What is known of a cell besides the contours that it is within: nothing, or that it holds places within different ones. */
const EMPTY = -1
const MIXED = -2
const NONE = -1
/** Cells of the side of a block, and what marks one of whose places one is enough. */
const BLOCK = 8
const WITNESS = 2

/** A box in millionths of degrees. */
export interface Box {
  west: number
  south: number
  east: number
  north: number
}

/**
 * Where contours may run: a grid whose cells know within which contours their places are. An empty cell belongs to a cell
 * with places that is nearest; contours run where cells of different contours meet. A place elsewhere shapes no line: all
 * its nearest places, with and without it, lie within the same contours. Everything outside counts as unreachable.
 */
export class Cells {
  /** Metres of the side of a cell. */
  readonly meters: number
  /** Around all cells. */
  readonly box: Box
  readonly #west: number
  readonly #south: number
  readonly #perLon: number
  readonly #perLat: number
  readonly #columns: number
  readonly #rows: number
  readonly #cells: Int32Array
  /** The cell with places that a cell belongs to. */
  readonly #source: Int32Array
  readonly #needed: Uint8Array

  /** @param box around all places */
  constructor({ west, south, east, north }: Box) {
    const metersPerLon = METERS_PER_UNIT * Math.max(0.01, Math.cos(((south + north) / 2e6) * (Math.PI / 180)))
    const width = (east - west) * metersPerLon + 2 * MARGIN_METERS
    const height = (north - south) * METERS_PER_UNIT + 2 * MARGIN_METERS
    this.meters = Math.max(CELL_METERS, Math.sqrt((width * height) / MOST_CELLS))
    this.#perLon = metersPerLon / this.meters
    this.#perLat = METERS_PER_UNIT / this.meters
    this.#west = west - MARGIN_METERS / metersPerLon
    this.#south = south - MARGIN_METERS / METERS_PER_UNIT
    this.box = {
      west: this.#west,
      south: this.#south,
      east: east + MARGIN_METERS / metersPerLon,
      north: north + MARGIN_METERS / METERS_PER_UNIT,
    }
    this.#columns = Math.ceil(width / this.meters) + 1
    this.#rows = Math.ceil(height / this.meters) + 1
    this.#cells = new Int32Array(this.#columns * this.#rows).fill(EMPTY)
    this.#source = new Int32Array(this.#cells.length)
    this.#needed = new Uint8Array(this.#cells.length)
  }

  /** The cell of a place; −1 out of the grid. */
  at(lon: number, lat: number): number {
    const column = Math.floor((lon - this.#west) * this.#perLon)
    const row = Math.floor((lat - this.#south) * this.#perLat)
    return column >= 0 && column < this.#columns && row >= 0 && row < this.#rows ? row * this.#columns + column : -1
  }

  /** How many steps over a distance come into all cells between. */
  stepsOver(dx: number, dy: number): number {
    const cells = Math.max(Math.abs(dx) * this.#perLon, Math.abs(dy) * this.#perLat)
    return cells <= 1 ? 1 : Math.ceil(cells)
  }

  /** Notes that a place in a cell is within some contours, which are the bits of a number. */
  mark(cell: number, within: number): void {
    if (cell < 0) return
    const known = this.#cells[cell]!
    if (known === EMPTY) this.#cells[cell] = within
    else if (known !== within) this.#cells[cell] = MIXED
  }

  /** Finds where contours may run, when all is noted. */
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
    for (let at = 0; at < cells.length; at++) if (cells[at] === MIXED) needed[at] = 1
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

  /** A cell of a block with places within some contour; −1 where there is none, or one that is needed. */
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

  /** Whether places in a cell may shape a contour. */
  isNeeded(cell: number): boolean {
    return cell >= 0 && this.#needed[this.#source[cell]!] !== 0
  }

  /** Whether a place in a cell is to be sampled. */
  takes(cell: number): boolean {
    if (cell < 0) return false
    const own = this.#source[cell]!
    const needed = this.#needed[own]
    if (needed === WITNESS) this.#needed[own] = 0
    return needed !== 0
  }

  /** Whether a contour passes between the places of a cell. */
  isMixed(cell: number): boolean {
    return cell >= 0 && this.#cells[cell] === MIXED
  }

  /** Finds a nearest cell with places for each, going out from all of them step by step. */
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
    // The rim has places, so that no step leads out of the grid or around it.
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
