import type { TilePlan } from '../plan.ts'
import { coveredRect, tileWindow } from '../plan.ts'

/** Pooled parts of a raster, as runs of pixels, row by row. Zones may overlap. */
export interface Zones {
  readonly count: number
  /** Runs of row `y` are `rowStarts[y]` to `rowStarts[y + 1]`. */
  readonly rowStarts: Uint32Array
  /** First column of each run, the column after its last, and its zone. */
  readonly starts: Int32Array
  readonly ends: Int32Array
  readonly zones: Int32Array
  /** Number of pixels of each zone. */
  readonly sizes: Float64Array
}

/** A ring in pixels, `[column, row, …]`, closed or open. */
export type PixelRing = Float64Array

/** Tiles as zones, by their index. */
export function tileZones(plan: TilePlan): Zones {
  const runs = new Runs(plan.height, plan.count)
  for (let index = 0; index < plan.count; index++) {
    const { x, y, width, height } = coveredRect(plan, tileWindow(plan, index))
    for (let row = y; row < y + height; row++) runs.add(row, x, x + width, index)
  }
  return runs.finish()
}

/**
 * Zones of areas: the pixels with their centre inside, by the even-odd rule. Parts outside of the raster are left out.
 *
 * @param areas rings of each area, outer ones and holes alike
 */
export function areaZones(width: number, height: number, areas: readonly (readonly PixelRing[])[]): Zones {
  const runs = new Runs(height, areas.length)
  for (const [zone, rings] of areas.entries())
    fillArea(rings, width, height, (row, from, to) => runs.add(row, from, to, zone))
  return runs.finish()
}

/** Whether pixels of a rectangle belong to a zone. */
export function hasZones(
  { rowStarts, starts, ends }: Zones,
  rect: { x: number; y: number; width: number; height: number },
): boolean {
  for (let run = rowStarts[rect.y]!; run < rowStarts[rect.y + rect.height]!; run++) {
    if (starts[run]! < rect.x + rect.width && ends[run]! > rect.x) return true
  }
  return false
}

function fillArea(
  rings: readonly PixelRing[],
  width: number,
  height: number,
  add: (row: number, from: number, to: number) => void,
): void {
  let top = Infinity
  let bottom = -Infinity
  for (const ring of rings) {
    for (let i = 1; i < ring.length; i += 2) {
      top = Math.min(top, ring[i]!)
      bottom = Math.max(bottom, ring[i]!)
    }
  }
  const first = Math.max(0, Math.ceil(top - 0.5))
  const last = Math.min(height - 1, Math.floor(bottom - 0.5))
  if (!(last >= first)) return
  const crossings: number[][] = Array.from({ length: last - first + 1 }, () => [])
  for (const ring of rings) crossRows(ring, first, last, crossings)
  for (const [i, columns] of crossings.entries()) {
    columns.sort((a, b) => a - b)
    for (let k = 0; k + 1 < columns.length; k += 2) {
      const from = Math.max(0, Math.ceil(columns[k]! - 0.5))
      const to = Math.min(width, Math.ceil(columns[k + 1]! - 0.5))
      if (to > from) add(first + i, from, to)
    }
  }
}

/** Crossings of a ring's edges with the middles of rows. Both directions of an edge give the same number. */
function crossRows(ring: PixelRing, first: number, last: number, crossings: readonly number[][]): void {
  for (let i = 0; i < ring.length; i += 2) {
    const next = (i + 2) % ring.length
    const isDown = ring[i + 1]! <= ring[next + 1]!
    const [a, b] = isDown ? [i, next] : [next, i]
    const [ax, ay, bx, by] = [ring[a]!, ring[a + 1]!, ring[b]!, ring[b + 1]!]
    const from = Math.max(first, Math.ceil(ay - 0.5))
    const to = Math.min(last, Math.ceil(by - 0.5) - 1)
    for (let row = from; row <= to; row++) {
      crossings[row - first]!.push(ax + ((bx - ax) * (row + 0.5 - ay)) / (by - ay))
    }
  }
}

class Runs {
  readonly #height: number
  readonly #sizes: Float64Array
  readonly #rows: number[][]

  constructor(height: number, zones: number) {
    this.#height = height
    this.#sizes = new Float64Array(zones)
    this.#rows = Array.from({ length: height }, () => [])
  }

  add(row: number, from: number, to: number, zone: number): void {
    this.#rows[row]!.push(from, to, zone)
    this.#sizes[zone]! += to - from
  }

  finish(): Zones {
    const total = this.#rows.reduce((sum, row) => sum + row.length / 3, 0)
    const rowStarts = new Uint32Array(this.#height + 1)
    const [starts, ends, zones] = [new Int32Array(total), new Int32Array(total), new Int32Array(total)]
    let at = 0
    for (const [y, row] of this.#rows.entries()) {
      rowStarts[y] = at
      for (let i = 0; i < row.length; i += 3, at++) {
        starts[at] = row[i]!
        ends[at] = row[i + 1]!
        zones[at] = row[i + 2]!
      }
    }
    rowStarts[this.#height] = at
    return { count: this.#sizes.length, rowStarts, starts, ends, zones, sizes: this.#sizes }
  }
}
