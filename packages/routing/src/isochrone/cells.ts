/** Metres of the side of a cell at least, and how many cells there are at most, about. */
const CELL_METERS = 60
const MOST_CELLS = 400_000
/** Metres around all places: more than an area reaches beyond its streets. */
const MARGIN_METERS = 400
const METERS_PER_DEGREE = 111_195
/** What is known of a cell besides the contours that it is within: nothing, or that it holds places within different ones. */
const EMPTY = -1
const MIXED = -2
const NONE = -1

/** A box in degrees. */
export interface Box {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
}

/**
 * Where contours may run: a grid whose cells know within which contours their places are. An empty cell belongs to a cell
 * with places that is nearest; contours run where cells of different contours meet. A place elsewhere shapes no line: all
 * those that are nearest to it, with and without it, lie within the same contours. Around everything nobody comes.
 */
export class Cells {
  /** Metres of the side of a cell. */
  readonly meters: number
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
    const metersPerLon = METERS_PER_DEGREE * Math.max(0.01, Math.cos((((south + north) / 2) * Math.PI) / 180))
    const width = (east - west) * metersPerLon + 2 * MARGIN_METERS
    const height = (north - south) * METERS_PER_DEGREE + 2 * MARGIN_METERS
    this.meters = Math.max(CELL_METERS, Math.sqrt((width * height) / MOST_CELLS))
    this.#perLon = metersPerLon / this.meters
    this.#perLat = METERS_PER_DEGREE / this.meters
    this.#west = west - MARGIN_METERS / metersPerLon
    this.#south = south - MARGIN_METERS / METERS_PER_DEGREE
    this.#columns = Math.ceil(width / this.meters) + 1
    this.#rows = Math.ceil(height / this.meters) + 1
    this.#cells = new Int32Array(this.#columns * this.#rows).fill(EMPTY)
    this.#source = new Int32Array(this.#cells.length)
    this.#needed = new Uint8Array(this.#cells.length)
  }

  /** Notes that a place is within some contours, which are the bits of a number. */
  mark(lon: number, lat: number, within: number): void {
    const at = this.#at(lon, lat)
    const known = this.#cells[at]!
    if (known === EMPTY) this.#cells[at] = within
    else if (known !== within) this.#cells[at] = MIXED
  }

  /** Notes that a contour passes a place. */
  markMixed(lon: number, lat: number): void {
    this.#cells[this.#at(lon, lat)] = MIXED
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
  }

  /** Whether a place may shape a contour. */
  isNeeded(lon: number, lat: number): boolean {
    return this.#needed[this.#source[this.#at(lon, lat)]!] === 1
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

  #at(lon: number, lat: number): number {
    return (
      Math.floor((lat - this.#south) * this.#perLat) * this.#columns + Math.floor((lon - this.#west) * this.#perLon)
    )
  }
}
