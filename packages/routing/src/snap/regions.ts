import type { Graph } from '../graph/graph.ts'

/** Side of a tile in 1e-7 degrees, and number of tiles around the Earth. */
const TILE = 2_500_000
const COLUMNS = 1440

/**
 * Parts of the Earth that a graph covers: groups of quarter-degree tiles with nodes that are neighbours or joined by an
 * edge, such as a ferry. No path leads from one region to another, and comparing regions is faster than searching.
 */
export class Regions {
  readonly #region = new Map<number, number>()

  constructor(graph: Graph) {
    const tiles = new Set<number>()
    const tileOf = (node: number): number => tileAt(graph.nodeLon[node]!, graph.nodeLat[node]!)
    for (let node = 0; node < graph.nodeCount; node++) tiles.add(tileOf(node))
    const joined = new Map<number, Set<number>>()
    for (let node = 0; node < graph.nodeCount; node++) {
      const tile = tileOf(node)
      for (let edge = graph.firstEdge[node]!; edge < graph.firstEdge[node + 1]!; edge++) {
        const other = tileOf(graph.edgeHead[edge]!)
        if (other !== tile) joined.set(tile, (joined.get(tile) ?? new Set()).add(other))
      }
    }
    let regions = 0
    for (const tile of tiles) if (!this.#region.has(tile)) this.#spread(tile, { tiles, joined }, regions++)
  }

  /** Number of the region at a place in degrees, or −1 outside of all. */
  at(lon: number, lat: number): number {
    return this.#region.get(tileAt(lon * 1e7, lat * 1e7)) ?? -1
  }

  #spread(
    start: number,
    { tiles, joined }: { tiles: ReadonlySet<number>; joined: ReadonlyMap<number, ReadonlySet<number>> },
    region: number,
  ): void {
    const open = [start]
    this.#region.set(start, region)
    for (let tile = open.pop(); tile !== undefined; tile = open.pop()) {
      for (const next of [...neighbours(tile), ...(joined.get(tile) ?? [])]) {
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
