/** Share of a tile by which its edges may miss the grid: they were kept as longitudes and latitudes. */
const TOLERANCE = 0.001
/** Digits of a position behind a tile's edge length. */
const DIGITS = 6
/** Digits of an edge length that are kept. */
const PRECISION = 10

/** Tiles along an axis of the CRS, in its unit. */
export interface TileAxis {
  /** Lower edge of the first cell. */
  readonly start: number
  /** Edge length of a cell. */
  readonly step: number
  readonly cells: number
  /** Number of the cell of each tile. */
  readonly cellOf: Int32Array
}

/**
 * The cells of one size in which tiles lie along an axis. A tile may be narrower than its cell and touch one of its edges
 * alone, as it does where a raster ends. Null where tiles overlap or do not lie on one grid.
 *
 * @param low lower edges of the tiles
 * @param high upper edges
 */
export function tileAxis(low: Float64Array, high: Float64Array): TileAxis | null {
  const widest = low.reduce((width, edge, i) => Math.max(width, high[i]! - edge), 0)
  let [first, last] = [Infinity, -Infinity]
  for (let i = 0; i < low.length; i++) {
    if (high[i]! - low[i]! < widest * (1 - TOLERANCE)) continue
    first = Math.min(first, low[i]!)
    last = Math.max(last, low[i]!)
  }
  const between = Math.round((last - first) / widest)
  const step = Number((between > 0 ? (last - first) / between : widest).toPrecision(PRECISION))
  if (!(step > 0) || Math.abs(step - widest) > TOLERANCE * widest) return null
  const cellOf = new Int32Array(low.length)
  let [least, most] = [Infinity, -Infinity]
  for (let i = 0; i < low.length; i++) {
    const [from, to] = [(low[i]! - first) / step, (high[i]! - first) / step]
    const cell = Math.floor(from + TOLERANCE)
    const isAtEdge = from < cell + TOLERANCE || to > cell + 1 - TOLERANCE
    if (to > cell + 1 + TOLERANCE || !isAtEdge) return null
    cellOf[i] = cell
    least = Math.min(least, cell)
    most = Math.max(most, cell)
  }
  for (let i = 0; i < cellOf.length; i++) cellOf[i]! -= least
  return { start: rounded(first + least * step, step), step, cells: most - least + 1, cellOf }
}

/** A position without the digits that its way through longitudes and latitudes has left. */
function rounded(position: number, step: number): number {
  return Number(position.toFixed(Math.min(20, Math.max(0, Math.ceil(DIGITS - Math.log10(step))))))
}
