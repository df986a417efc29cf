import { tileIdOf } from '@terrane/tiling/pmtiles'
import type { Box } from '../map/graticule.ts'

/** Number of tiles that are requested at once. */
const AT_ONCE = 6
/** Latitude at which the square of Web Mercator ends. */
const MAX_LATITUDE = 85.0511

/** Reads a tile; null when it is empty. */
export type ReadTile = (zoom: number, x: number, y: number) => Promise<Uint8Array | null>

/** Which tiles are collected. */
export interface TileExtent {
  readonly bounds: Box
  readonly zooms: readonly [number, number]
  /** Maximum number of tiles; the first zoom that would exceed it is left out, and so are those after it. */
  readonly most: number
}

export interface CollectedTiles {
  /** By TileID. */
  readonly tiles: ReadonlyMap<number, Uint8Array>
  readonly maxZoom: number
}

/**
 * All tiles of an extent, zoom by zoom. Empty tiles have no tiles beneath them, so sparse layers need few requests.
 *
 * @param onTile called after each tile with the zoom
 */
export async function collectTiles(
  read: ReadTile,
  { bounds, zooms: [minZoom, lastZoom], most }: TileExtent,
  onTile: (zoom: number) => void,
): Promise<CollectedTiles> {
  const tiles = new Map<number, Uint8Array>()
  let wanted = tilesIn(bounds, minZoom)
  let maxZoom = minZoom
  for (let zoom = minZoom; zoom <= lastZoom && wanted.length > 0 && tiles.size + wanted.length <= most; zoom++) {
    const next: [number, number][] = []
    const waiting = wanted.values()
    const take = async () => {
      for (const [x, y] of waiting) {
        const bytes = await read(zoom, x, y)
        onTile(zoom)
        if (!bytes?.length) continue
        tiles.set(tileIdOf(zoom, x, y), bytes)
        next.push([2 * x, 2 * y], [2 * x + 1, 2 * y], [2 * x, 2 * y + 1], [2 * x + 1, 2 * y + 1])
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, take))
    maxZoom = zoom
    const { west, north, east, south } = rangeOf(bounds, zoom + 1)
    wanted = next.filter(([x, y]) => x >= west && x <= east && y >= north && y <= south)
  }
  return { tiles, maxZoom }
}

function tilesIn(bounds: Box, zoom: number): [number, number][] {
  const { west, north, east, south } = rangeOf(bounds, zoom)
  const found: [number, number][] = []
  for (let x = west; x <= east; x++) for (let y = north; y <= south; y++) found.push([x, y])
  return found
}

/** Columns and rows of the tiles that a box touches; the whole world for one that crosses the date line. */
function rangeOf([west, south, east, north]: Box, zoom: number) {
  const side = 2 ** zoom
  const tile = (share: number) => Math.min(side - 1, Math.max(0, Math.floor(share * side)))
  const column = (lng: number) => tile((lng + 180) / 360)
  const row = (lat: number) => {
    const angle = (Math.max(-MAX_LATITUDE, Math.min(MAX_LATITUDE, lat)) * Math.PI) / 180
    return tile((1 - Math.asinh(Math.tan(angle)) / Math.PI) / 2)
  }
  const isWhole = west > east
  return {
    west: isWhole ? 0 : column(west),
    east: isWhole ? side - 1 : column(east),
    north: row(north),
    south: row(south),
  }
}
