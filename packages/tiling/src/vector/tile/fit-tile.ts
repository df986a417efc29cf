import { Path } from '@terrane/core'
import { tileTooLarge } from '../errors.ts'
import { POINT } from '../features/shape.ts'
import { tileOf } from '../pmtiles/tile-id.ts'
import { EXTENT_BITS } from '../world.ts'
import { gzipTile } from './gzip.ts'
import type { TileEncoder } from './tile-encoder.ts'
import type { TileGroup } from './tile-group.ts'
import { readCommands } from './read-commands.ts'

/** The least detail that a tile of the highest zoom is reduced to: an extent of 256. */
const MOST_COARSE = 4

/** Points are thinned where they are densest, measured in cells of this many tile units a side. */
const DENSITY_CELL_BITS = EXTENT_BITS - 6

export interface TileLimits {
  /** Most bytes of a tile, compressed. */
  readonly maxTileBytes: number
  /** Most features of a tile below the highest zoom. */
  readonly maxTileFeatures: number
}

/** A tile under its limits. */
export interface FittedTile {
  readonly gzipped: Uint8Array
  /** Fragments that were dropped. */
  readonly dropped: number
}

/**
 * The largest part of a tile that stays under the limits: lines and points with equal attributes are coalesced, then
 * the least important fragments are dropped: the shortest lines, the smallest polygons, points where they are densest.
 */
export function dropToFit(encoder: TileEncoder, group: TileGroup, limits: TileLimits): FittedTile {
  let ranked = rankFragments(group)
  let share = Math.min(1, limits.maxTileFeatures / group.count)
  for (;;) {
    const chosen = ranked.flatMap((list) => list.slice(0, Math.ceil(list.length * share))).toSorted((a, b) => a - b)
    const gzipped = gzipTile(encoder.encodeCoalesced(group, chosen))
    if (gzipped.length <= limits.maxTileBytes) return { gzipped, dropped: group.count - chosen.length }
    if (chosen.length > ranked.length) share *= Math.min(0.95, (0.97 * limits.maxTileBytes) / gzipped.length)
    else {
      // What is too large alone gives way to the rest.
      ranked = ranked.map((list) => list.slice(1)).filter((list) => list.length > 0)
      share = Math.min(1, limits.maxTileFeatures / group.count)
    }
  }
}

/**
 * All features of a tile with coordinates no coarser than it takes to stay under the limit.
 *
 * @param bytes size of the compressed tile in full detail
 * @throws TILE_TOO_LARGE when coarser coordinates do not help
 */
export function coarsenToFit(
  encoder: TileEncoder,
  group: TileGroup,
  tileId: number,
  bytes: number,
  limits: TileLimits,
): Uint8Array {
  for (let bits = 1; bits <= MOST_COARSE; bits++) {
    const gzipped = gzipTile(encoder.encodeCoarse(group, bits))
    if (gzipped.length <= limits.maxTileBytes) return gzipped
  }
  const { zoom, x, y } = tileOf(tileId)
  throw tileTooLarge({ tile: `${zoom}/${x}/${y}`, features: group.count, bytes, limit: limits.maxTileBytes })
}

/** The fragments of each kind from the most important to the least. */
function rankFragments(group: TileGroup): number[][] {
  const byKind = new Map<number, { index: number; importance: number }[]>()
  const density = new Map<number, number>()
  const path = new Path()
  for (let index = 0; index < group.count; index++) {
    const { kind, weight, geometry } = group.open(index)
    let importance = weight
    if (kind === POINT) {
      path.clear()
      readCommands(group.bytes, geometry, group.endOf(index), kind, path)
      const cell = (path.xy[0]! >> DENSITY_CELL_BITS) * 0x10000 + (path.xy[1]! >> DENSITY_CELL_BITS)
      const rank = density.get(cell) ?? 0
      density.set(cell, rank + 1)
      importance = -rank
    }
    const list = byKind.get(kind)
    if (list) list.push({ index, importance })
    else byKind.set(kind, [{ index, importance }])
  }
  return [...byKind.values()].map((list) =>
    list.toSorted((a, b) => b.importance - a.importance || a.index - b.index).map(({ index }) => index),
  )
}
