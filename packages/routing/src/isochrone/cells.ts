/** Metres of the side of a cell: more than an area reaches beyond its streets. */
const CELL_METERS = 150
const METERS_PER_DEGREE = 111_195
/** What is known of a cell besides the contours that it is within: nothing, or that it holds places within different ones. */
const EMPTY = -1
const MIXED = -2

/** A box in degrees. */
export interface Box {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
}

/**
 * Where contours may run: cells of a grid that hold places within different contours, or have neighbours that do. Elsewhere
 * places shape no line. Contours are the bits of a number; around everything nobody comes.
 */
export class Cells {
  readonly #west: number
  readonly #south: number
  readonly #perLon: number
  readonly #perLat = METERS_PER_DEGREE / CELL_METERS
  readonly #columns: number
  readonly #cells: Int32Array
  readonly #needed: Uint8Array

  /** @param box around all places */
  constructor({ west, south, east, north }: Box) {
    this.#perLon = Math.max(1, this.#perLat * Math.cos((((south + north) / 2) * Math.PI) / 180))
    // A cell more on all sides, so that each has neighbours.
    this.#west = west - 1.5 / this.#perLon
    this.#south = south - 1.5 / this.#perLat
    this.#columns = Math.ceil((east - west) * this.#perLon) + 4
    const rows = Math.ceil((north - south) * this.#perLat) + 4
    this.#cells = new Int32Array(this.#columns * rows).fill(EMPTY)
    this.#needed = new Uint8Array(this.#cells.length)
  }

  /** Notes that a place is within some contours. */
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
    this.#flood()
    const cells = this.#cells
    const columns = this.#columns
    const around = [-columns - 1, -columns, -columns + 1, -1, 1, columns - 1, columns, columns + 1]
    for (let at = columns + 1; at < cells.length - columns - 1; at++) {
      const own = cells[at]!
      if (own === EMPTY) continue
      if (own === MIXED || around.some((step) => cells[at + step] !== own && cells[at + step] !== EMPTY)) {
        this.#needed[at] = 1
      }
    }
  }

  /** Whether a place may shape a contour. */
  isNeeded(lon: number, lat: number): boolean {
    return this.#needed[this.#at(lon, lat)] === 1
  }

  /** Nobody comes to empty cells that lead out of the grid; others are surrounded, and hold no line. */
  #flood(): void {
    const cells = this.#cells
    const columns = this.#columns
    const open = [0]
    cells[0] = 0
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const column = at % columns
      for (const next of [at - columns, at + columns, column > 0 ? at - 1 : -1, column + 1 < columns ? at + 1 : -1]) {
        if (next < 0 || cells[next] !== EMPTY) continue
        cells[next] = 0
        open.push(next)
      }
    }
  }

  #at(lon: number, lat: number): number {
    return (
      Math.floor((lat - this.#south) * this.#perLat) * this.#columns + Math.floor((lon - this.#west) * this.#perLon)
    )
  }
}
