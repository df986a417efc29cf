import type { Bbox } from '@terrane/core'

const MAX_ZOOM = 14
const MAX_LATITUDE = 85.05112878
/** Tolerance of the borders of boxes, in degrees. */
const BORDER = 1e-9

/** Tiles that cover the boxes, sorted, none inside another: zoom 14, or lower for larger boxes and beyond `most`. */
export function changedTiles(boxes: readonly Bbox[], most: number): Bbox[] {
  let tiles = new Set(boxes.flatMap(tilesOf))
  for (let zoom = MAX_ZOOM; zoom > 0 && tiles.size > most; zoom--) {
    tiles = new Set([...tiles].map((tile) => (zoomOf(tile) === zoom ? parentOf(tile) : tile)))
  }
  const outermost = [...tiles].filter((tile) => !ancestorsOf(tile).some((one) => tiles.has(one)))
  return outermost.map(boxOf).toSorted((a, b) => a[0] - b[0] || a[1] - b[1])
}

/** At most four tiles that a box touches, as `z/x/y`. A box that equals a tile gives that tile only. */
function tilesOf([west, south, east, north]: Bbox): string[] {
  const [inX, inY] = [Math.min(BORDER, (east - west) / 2), Math.min(BORDER, (north - south) / 2)]
  for (let zoom = MAX_ZOOM; ; zoom--) {
    const [left, right] = [column(west + inX, zoom), column(east - inX, zoom)]
    const [top, bottom] = [row(north - inY, zoom), row(south + inY, zoom)]
    if (zoom > 0 && (right - left > 1 || bottom - top > 1)) continue
    // Four tiles with a common parent are replaced by it.
    if (right > left && bottom > top && left % 2 === 0 && top % 2 === 0) return [parentOf(`${zoom}/${left}/${top}`)]
    const found: string[] = []
    for (let x = left; x <= right; x++) for (let y = top; y <= bottom; y++) found.push(`${zoom}/${x}/${y}`)
    return found
  }
}

function column(lon: number, zoom: number): number {
  return clamp(Math.floor(((lon + 180) / 360) * 2 ** zoom), zoom)
}

function row(lat: number, zoom: number): number {
  const sine = Math.sin((Math.max(-MAX_LATITUDE, Math.min(MAX_LATITUDE, lat)) * Math.PI) / 180)
  return clamp(Math.floor((0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)) * 2 ** zoom), zoom)
}

function clamp(index: number, zoom: number): number {
  return Math.max(0, Math.min(2 ** zoom - 1, index))
}

function partsOf(tile: string): [zoom: number, x: number, y: number] {
  return tile.split('/').map(Number) as [number, number, number]
}

function zoomOf(tile: string): number {
  return partsOf(tile)[0]
}

function parentOf(tile: string): string {
  const [zoom, x, y] = partsOf(tile)
  return `${zoom - 1}/${x >> 1}/${y >> 1}`
}

function ancestorsOf(tile: string): string[] {
  const found: string[] = []
  for (let one = tile; zoomOf(one) > 0;) found.push((one = parentOf(one)))
  return found
}

function boxOf(tile: string): Bbox {
  const [zoom, x, y] = partsOf(tile)
  const lon = (at: number): number => (at / 2 ** zoom) * 360 - 180
  const lat = (at: number): number => (Math.atan(Math.sinh(Math.PI * (1 - (2 * at) / 2 ** zoom))) * 180) / Math.PI
  return [lon(x), lat(y + 1), lon(x + 1), lat(y)]
}
