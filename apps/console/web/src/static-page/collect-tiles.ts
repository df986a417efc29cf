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
  /**
   * Whether an empty tile has nothing beneath it, so that sparse layers need few requests. Tiles of lines and areas are
   * no such tiles: they leave out what is too small for their zoom.
   */
  readonly isSparse: boolean
  /** Maximum number of requests; the first zoom that would exceed it is left out, and so are those after it. */
  readonly most: number
  /** Maximum size of all tiles, with the same effect. */
  readonly mostBytes: number
}

export interface CollectedTiles {
  /** By TileID. */
  readonly tiles: ReadonlyMap<number, Uint8Array>
  /** Last zoom; null when not even the first one could be collected. */
  readonly maxZoom: number | null
  /** False when zooms were left out. */
  readonly isWhole: boolean
}

/**
 * All tiles of an extent, zoom by zoom.
 *
 * @param onTile called after each tile with the zoom
 */
export async function collectTiles(
  read: ReadTile,
  { bounds, zooms: [minZoom, lastZoom], isSparse, most, mostBytes }: TileExtent,
  onTile: (zoom: number) => void,
): Promise<CollectedTiles> {
  const tiles = new Map<number, Uint8Array>()
  let maxZoom: number | null = null
  let above: readonly Place[] | null = null
  let asked = 0
  let bytes = 0
  for (let zoom = minZoom; zoom <= lastZoom; zoom++) {
    const range = rangeOf(bounds, zoom)
    const inside = above && isSparse ? beneath(above, range) : null
    asked += inside?.length ?? range.count
    if (asked > most) return { tiles, maxZoom, isWhole: false }
    const found = await readAll(read, { zoom, places: inside ?? placesIn(range) }, (size) => {
      bytes += size
      onTile(zoom)
      return bytes <= mostBytes
    })
    if (bytes > mostBytes) return { tiles, maxZoom, isWhole: false }
    for (const { place, tile } of found) tiles.set(tileIdOf(zoom, ...place), tile)
    above = found.map(({ place }) => place)
    maxZoom = zoom
  }
  return { tiles, maxZoom, isWhole: true }
}

type Place = readonly [x: number, y: number]

/** The tiles that are not empty. @param goesOn called after each tile with its size; false ends the reading */
async function readAll(
  read: ReadTile,
  { zoom, places }: { readonly zoom: number; readonly places: readonly Place[] },
  goesOn: (size: number) => boolean,
): Promise<{ readonly place: Place; readonly tile: Uint8Array }[]> {
  const found: { place: Place; tile: Uint8Array }[] = []
  const waiting = places.values()
  let isEnded = false
  const take = async () => {
    for (const place of waiting) {
      if (isEnded) return
      const tile = await read(zoom, ...place)
      if (tile?.length) found.push({ place, tile })
      isEnded ||= !goesOn(tile?.length ?? 0)
    }
  }
  const end = (error: unknown) => {
    isEnded = true
    throw error
  }
  await Promise.all(Array.from({ length: AT_ONCE }, () => take().catch(end)))
  return found
}

function beneath(above: readonly Place[], { west, east, north, south }: Range): Place[] {
  const all = above.flatMap(([x, y]): Place[] => [
    [2 * x, 2 * y],
    [2 * x + 1, 2 * y],
    [2 * x, 2 * y + 1],
    [2 * x + 1, 2 * y + 1],
  ])
  return all.filter(([x, y]) => x >= west && x <= east && y >= north && y <= south)
}

function placesIn({ west, east, north, south }: Range): Place[] {
  const found: Place[] = []
  for (let x = west; x <= east; x++) for (let y = north; y <= south; y++) found.push([x, y])
  return found
}

type Range = ReturnType<typeof rangeOf>

/** Columns and rows of the tiles that a box touches; the whole world for one that crosses the date line. */
function rangeOf([west, south, east, north]: Box, zoom: number) {
  const side = 2 ** zoom
  const tile = (share: number) => Math.min(side - 1, Math.max(0, Math.floor(share * side)))
  const column = (lng: number) => tile((lng + 180) / 360)
  const row = (lat: number) => {
    const angle = (Math.max(-MAX_LATITUDE, Math.min(MAX_LATITUDE, lat)) * Math.PI) / 180
    return tile((1 - Math.asinh(Math.tan(angle)) / Math.PI) / 2)
  }
  const [first, last] = west > east ? [0, side - 1] : [column(west), column(east)]
  const [top, bottom] = [row(north), row(south)]
  return { west: first, east: last, north: top, south: bottom, count: (last - first + 1) * (bottom - top + 1) }
}
