import type { Graph } from '../graph/graph.ts'

/** Side of a tile in 1e-7 degrees, and tiles around the Earth. */
const TILE = 2_500_000
const COLUMNS = 1440

/**
 * Parts of the Earth that a graph covers: groups of neighbouring tiles of a quarter degree that hold nodes. There is no
 * way from one to another, which is quicker to tell than to search for.
 */
export class Regions {
  readonly #region = new Map<number, number>()

  constructor(graph: Graph) {
    const tiles = new Set<number>()
    for (let node = 0; node < graph.nodeCount; node++) tiles.add(tileAt(graph.nodeLon[node]!, graph.nodeLat[node]!))
    let regions = 0
    for (const tile of tiles) if (!this.#region.has(tile)) this.#spread(tile, tiles, regions++)
  }

  /** Number of the region at a place in degrees, or −1 outside of all. */
  at(lon: number, lat: number): number {
    return this.#region.get(tileAt(lon * 1e7, lat * 1e7)) ?? -1
  }

  #spread(start: number, tiles: ReadonlySet<number>, region: number): void {
    const open = [start]
    this.#region.set(start, region)
    for (let tile = open.pop(); tile !== undefined; tile = open.pop()) {
      for (const next of neighbours(tile)) {
        if (!tiles.has(next) || this.#region.has(next)) continue
        this.#region.set(next, region)
        open.push(next)
      }
    }
  }
}

function tileAt(lon: number, lat: number): number {
  const column = Math.min(COLUMNS - 1, Math.floor((lon + 1.8e9) / TILE))
  return Math.floor((lat + 9e8) / TILE) * COLUMNS + column
}

function neighbours(tile: number): number[] {
  const column = tile % COLUMNS
  const row = tile - column
  return [row + ((column + 1) % COLUMNS), row + ((column + COLUMNS - 1) % COLUMNS), tile + COLUMNS, tile - COLUMNS]
}
