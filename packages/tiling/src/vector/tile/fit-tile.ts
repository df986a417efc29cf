import { Path } from '@terrane/core'
import { tileTooLarge } from '../errors.ts'
import type { FeatureReader } from '../features/feature-record.ts'
import { POINT } from '../features/shape.ts'
import { tileOf } from '../pmtiles/tile-id.ts'
import { EXTENT_BITS } from '../world.ts'
import { gzipTile } from './gzip.ts'
import type { TileEncoder } from './tile-encoder.ts'
import type { TileGroup } from './tile-group.ts'
import { readCommands } from './read-commands.ts'

/** Maximum reduction in bits of the coordinates of a tile of the highest zoom: an extent of 256. */
const MOST_COARSE = 4

/** Points are thinned where they are densest; density is measured in square cells of this many tile units. */
const DENSITY_CELL_BITS = EXTENT_BITS - 6

export interface TileLimits {
  /** Maximum bytes of a compressed tile. */
  readonly maxTileBytes: number
  /** Maximum features of a tile below the highest zoom. */
  readonly maxTileFeatures: number
}

/** A tile within its limits. */
export interface FittedTile {
  readonly gzipped: Uint8Array
  /** Fragments that were dropped. */
  readonly dropped: number
}

/** Rules of layers: the fragments that a tile must keep, and the importance of the others. */
export interface LayerWeights {
  /** Whether a layer must keep all features in this tile, because it is at its highest zoom. */
  readonly isWhole: (layer: number) => boolean
  /** Importance of features of a layer; null when position and size decide. */
  readonly ranking: (layer: number) => ((feature: FeatureReader) => number) | null
}

/**
 * The largest part of a tile within the limits: lines and points with equal attributes are coalesced, then the least
 * important fragments are dropped: the lowest ranks, or else the shortest lines, the smallest polygons, points where
 * they are densest. Each kind of each layer loses the same share; complete layers get coarser coordinates if needed.
 *
 * @throws TILE_TOO_LARGE when complete layers do not fit
 */
export function dropToFit(
  encoder: TileEncoder,
  group: TileGroup,
  tileId: number,
  limits: TileLimits,
  weights: LayerWeights,
): FittedTile {
  const ranked = rankFragments(encoder, group, weights)
  const { kept } = ranked
  let { lists } = ranked
  const allowed = Math.max(0, limits.maxTileFeatures - kept.length) / Math.max(1, group.count - kept.length)
  let share = Math.min(1, allowed)
  if (share === 0) lists = []
  for (;;) {
    const parts = lists.map((list) => list.slice(0, Math.ceil(list.length * share)))
    const chosen = [kept, ...parts].flat().toSorted((a, b) => a - b)
    const dropped = group.count - chosen.length
    const gzipped = gzipTile(encoder.encodeCoalesced(group, chosen, weights.isWhole))
    if (gzipped.length <= limits.maxTileBytes) return { gzipped, dropped }
    if (lists.length === 0) {
      return { gzipped: coarsenToFit(encoder, group, chosen, tileId, gzipped.length, limits), dropped }
    }
    if (chosen.length - kept.length > lists.length) {
      share *= Math.min(0.95, (0.97 * limits.maxTileBytes) / gzipped.length)
    } else {
      // Drops the first fragment of each list, which alone is too large, so that the others can stay.
      lists = lists.map((list) => list.slice(1)).filter((list) => list.length > 0)
      share = Math.min(1, allowed)
    }
  }
}

/**
 * Chosen fragments of a tile with the finest coordinates within the limit.
 *
 * @param chosen null for all
 * @param bytes size of the compressed tile in full detail
 * @throws TILE_TOO_LARGE when coarser coordinates do not help
 */
export function coarsenToFit(
  encoder: TileEncoder,
  group: TileGroup,
  chosen: readonly number[] | null,
  tileId: number,
  bytes: number,
  limits: TileLimits,
): Uint8Array {
  const shown = chosen ?? Array.from({ length: group.count }, (_, index) => index)
  for (let bits = 1; bits <= MOST_COARSE; bits++) {
    const gzipped = gzipTile(encoder.encodeCoarse(group, shown, bits))
    if (gzipped.length <= limits.maxTileBytes) return gzipped
  }
  const { zoom, x, y } = tileOf(tileId)
  throw tileTooLarge({ tile: `${zoom}/${x}/${y}`, features: shown.length, bytes, limit: limits.maxTileBytes })
}

/** Fragments that must stay, and the others of each layer and kind from the most important to the least. */
function rankFragments(
  encoder: TileEncoder,
  group: TileGroup,
  { isWhole, ranking }: LayerWeights,
): { kept: number[]; lists: number[][] } {
  const kept: number[] = []
  const byKind = new Map<number, { index: number; importance: number }[]>()
  const density = new Map<number, number>()
  const path = new Path()
  for (let index = 0; index < group.count; index++) {
    const { kind, layer, weight, geometry, feature } = group.open(index)
    if (isWhole(layer)) {
      kept.push(index)
      continue
    }
    const rank = ranking(layer)
    let importance = weight
    if (rank) importance = rank(encoder.featureOf(feature))
    else if (kind === POINT) {
      path.clear()
      readCommands(group.bytes, geometry, group.endOf(index), kind, path)
      const cell = (layer * 0x10000 + (path.xy[0]! >> DENSITY_CELL_BITS)) * 0x10000 + (path.xy[1]! >> DENSITY_CELL_BITS)
      const before = density.get(cell) ?? 0
      density.set(cell, before + 1)
      importance = -before
    }
    const key = layer * 4 + kind
    const list = byKind.get(key)
    if (list) list.push({ index, importance })
    else byKind.set(key, [{ index, importance }])
  }
  const lists = [...byKind.values()].map((list) =>
    list.toSorted((a, b) => compare(b.importance, a.importance) || a.index - b.index).map(({ index }) => index),
  )
  return { kept, lists }
}

/** Compares numbers, including infinite ones. */
function compare(a: number, b: number): number {
  return a === b ? 0 : a - b
}
