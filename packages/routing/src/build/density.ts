import { Use } from '../graph/attributes.ts'
import { firstAtLeast } from '../graph/first-at-least.ts'

/** Side of the grid's cells in units of 1e-7 degrees, as a power of two. */
const CELL_BITS = 14
const RADIUS_METERS = 2000
const METERS_PER_DEGREE = 110567
/** Rows of cells share a cosine per quarter degree, so that the density of a cell does not depend on the extract. */
const ROWS_PER_DEGREE = 4
const MOST = 15
/** Maximum number of cells with a cached density. */
const MOST_KNOWN = 2 ** 16

/** Uses of edges that count as road. */
export const DENSITY_USES: ReadonlySet<number> = new Set([
  Use.road,
  Use.serviceRoad,
  Use.ramp,
  Use.turnChannel,
  Use.alley,
  Use.emergencyAccess,
])

/**
 * Relative density of roads around each node, 0 … 15: kilometres of road per square kilometre within two kilometres,
 * times 0.7. Lengths are summed in cells of about 180 m (Valhalla 3.6 `mjolnir/graphenhancer.cc`).
 *
 * @param meters metres of road that leave each node
 */
export function roadDensity(lon: Int32Array, lat: Int32Array, meters: Float64Array): Uint8Array {
  const grid = new Grid(lon, lat, meters)
  const known = new Map<number, number>()
  return Uint8Array.from(lon, (_, node) => {
    const [column, row] = cellOf(lon[node]!, lat[node]!)
    const band = Math.floor((lat[node]! / 1e7) * ROWS_PER_DEGREE)
    const key = (row * 2 ** 20 + column) * 2 + (band & 1)
    let density = known.get(key)
    if (density === undefined) {
      density = grid.density(column, row, (band + 0.5) / ROWS_PER_DEGREE)
      // Consecutive nodes are neighbours, so old entries are rarely needed again.
      if (known.size >= MOST_KNOWN) known.clear()
      known.set(key, density)
    }
    return density
  })
}

function cellOf(lon: number, lat: number): [number, number] {
  return [Math.floor((lon + 1.8e9) / 2 ** CELL_BITS), Math.floor((lat + 9e8) / 2 ** CELL_BITS)]
}

/**
 * Sums of lengths by cell, row by row, with running totals, so that the sum over a part of a row is one subtraction.
 */
class Grid {
  readonly #rows = new Map<number, { columns: number[]; totals: number[] }>()

  constructor(lon: Int32Array, lat: Int32Array, meters: Float64Array) {
    const cells = new Map<number, Map<number, number>>()
    for (let node = 0; node < lon.length; node++) {
      const [column, row] = cellOf(lon[node]!, lat[node]!)
      let cellsOfRow = cells.get(row)
      if (cellsOfRow === undefined) cells.set(row, (cellsOfRow = new Map()))
      cellsOfRow.set(column, (cellsOfRow.get(column) ?? 0) + meters[node]!)
    }
    for (const [row, cellsOfRow] of cells) {
      const columns = [...cellsOfRow.keys()].toSorted((a, b) => a - b)
      const totals = [0]
      for (const column of columns) totals.push(totals.at(-1)! + cellsOfRow.get(column)!)
      this.#rows.set(row, { columns, totals })
    }
  }

  density(column: number, row: number, latitude: number): number {
    const cellDegrees = 2 ** CELL_BITS / 1e7
    const cosine = Math.cos((latitude * Math.PI) / 180)
    const radius = RADIUS_METERS / METERS_PER_DEGREE
    const tall = Math.ceil(radius / cellDegrees)
    const wide = Math.ceil(radius / cosine / cellDegrees)
    let sum = 0
    let cells = 0
    for (let dy = -tall; dy <= tall; dy++) {
      const room = wide * tall - dy * dy
      if (room < 0) continue
      const half = Math.min(wide, Math.floor(Math.sqrt(room)))
      cells += 2 * half + 1
      sum += this.#between(row + dy, column - half, column + half)
    }
    const cellKilometers = (cellDegrees * METERS_PER_DEGREE) / 1000
    // Every road is counted from both of its ends.
    const density = (sum * 0.0005) / (cellKilometers * cellKilometers * cosine * cells)
    return Math.min(MOST, Math.round(density * 0.7))
  }

  #between(row: number, first: number, last: number): number {
    const found = this.#rows.get(row)
    if (found === undefined) return 0
    return found.totals[firstAtLeast(found.columns, last + 1)]! - found.totals[firstAtLeast(found.columns, first)]!
  }
}
