/** A point that may be shown at lower zooms. */
export interface RankedPoint {
  readonly address: number
  /** A larger rank is more important. */
  readonly rank: number
  /** Position on the Hilbert curve of `PLACE_ORDER`. */
  readonly place: number
  /** World coordinates, in pairs. */
  readonly xy: Int32Array
}

export interface RankedOptions {
  readonly minZoom: number
  readonly maxZoom: number
  readonly dropRate: number
  /** The cell of a place at a zoom; one point per cell is shown. */
  readonly cellOf: (place: number, zoom: number) => number
  readonly show: (point: RankedPoint, zoom: number) => void
}

interface ZoomState {
  came: number
  /** The most important point since the last one was passed on. */
  ofWindow: RankedPoint | null
  cell: number
  ofCell: RankedPoint | null
}

/**
 * Thins points by rank. They are sorted along a Hilbert curve; the most important of each group of consecutive points
 * passes on to the next lower zoom, and the most important one in a cell is shown. Points of a zoom also appear at the
 * next zoom, the distribution is preserved, and the most important point is at every zoom.
 */
export class RankedPoints {
  readonly #options: RankedOptions
  readonly #zooms: ZoomState[]

  constructor(options: RankedOptions) {
    this.#options = options
    this.#zooms = Array.from({ length: options.maxZoom }, () => ({ came: 0, ofWindow: null, cell: -1, ofCell: null }))
  }

  /** Shows a point at the highest zoom and offers it to the lower ones. */
  add(point: RankedPoint): void {
    this.#options.show(point, this.#options.maxZoom)
    this.#drop(point, this.#options.maxZoom - 1)
  }

  /** Shows the remaining points. */
  finish(): void {
    for (let zoom = this.#options.maxZoom - 1; zoom >= this.#options.minZoom; zoom--) {
      const state = this.#zooms[zoom]!
      if (state.ofWindow) this.#thin(state.ofWindow, zoom)
      if (state.ofCell) this.#pass(state.ofCell, zoom)
    }
  }

  #drop(point: RankedPoint, zoom: number): void {
    if (zoom < this.#options.minZoom) return
    const { dropRate } = this.#options
    const state = this.#zooms[zoom]!
    const before = state.came++
    const best = state.ofWindow === null || point.rank > state.ofWindow.rank ? point : state.ofWindow
    const isPassed = Math.floor((before + 1) / dropRate) > Math.floor(before / dropRate)
    state.ofWindow = isPassed ? null : best
    if (isPassed) this.#thin(best, zoom)
  }

  #thin(point: RankedPoint, zoom: number): void {
    // A multipoint is not limited to one per pixel cell.
    if (point.xy.length > 2) return this.#pass(point, zoom)
    const state = this.#zooms[zoom]!
    const cell = this.#options.cellOf(point.place, zoom)
    if (cell === state.cell && state.ofCell) {
      if (point.rank > state.ofCell.rank) state.ofCell = point
      return
    }
    if (state.ofCell) this.#pass(state.ofCell, zoom)
    state.cell = cell
    state.ofCell = point
  }

  #pass(point: RankedPoint, zoom: number): void {
    this.#options.show(point, zoom)
    this.#drop(point, zoom - 1)
  }
}
