import { hilbertIndex } from '@terrane/core'

/** PMTiles TileID of a tile: the number of tiles of lower zooms plus the Hilbert position. */
export function tileIdOf(zoom: number, x: number, y: number): number {
  return firstTileId(zoom) + hilbertIndex(zoom, x, y)
}

/** The TileID of the first tile of a zoom, (4^zoom − 1) / 3. */
export function firstTileId(zoom: number): number {
  return (4 ** zoom - 1) / 3
}

/** Zoom, x and y of a TileID. */
export function tileOf(id: number): { zoom: number; x: number; y: number } {
  let zoom = 0
  while (firstTileId(zoom + 1) <= id) zoom++
  return { zoom, ...hilbertCell(zoom, id - firstTileId(zoom)) }
}

/** The inverse of `hilbertIndex`. */
export function hilbertCell(order: number, index: number): { x: number; y: number } {
  let rest = index
  let x = 0
  let y = 0
  for (let bit = 0; bit < order; bit++) {
    const digit = rest % 4
    const rx = digit >> 1
    const ry = (digit ^ rx) & 1
    if (ry === 0) {
      const a = rx === 1 ? 2 ** bit - 1 - x : x
      x = rx === 1 ? 2 ** bit - 1 - y : y
      y = a
    }
    x += rx * 2 ** bit
    y += ry * 2 ** bit
    rest = Math.floor(rest / 4)
  }
  return { x, y }
}
