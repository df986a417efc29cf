import type { PixelRect } from '../plan.ts'
import { hasZones, type Zones } from '../pool/zones.ts'
import { zarrUnusable } from './errors.ts'
import type { ZarrGrid, ZarrRaster } from './find.ts'
import { objectKey } from './metadata.ts'

/** Maximum number of objects of an import. */
const MAX_OBJECTS = 100_000

/** Maximum number of cells of a grid of objects, as of blocks of a GeoTIFF. */
const MAX_CELLS = 1 << 22

/** A cell of a grid of chunks or objects: its column and row, and its pixels. */
export interface GridCell extends PixelRect {
  readonly column: number
  readonly row: number
}

/**
 * Keys of the objects with pixels in zones.
 *
 * @throws ZARR_UNUSABLE when they are more than 100,000, or the grid has more than 4,194,304
 */
export function objectsOf({ vectors, scales }: ZarrRaster, zones: Zones): string[] {
  const keys: string[] = []
  for (const grid of scales === null ? [vectors] : [vectors, scales]) {
    const { array, axes } = grid
    const cells = [axes.x, axes.y].reduce((all, axis) => all * Math.ceil(array.shape[axis]! / array.object[axis]!), 1)
    if (cells > MAX_CELLS) throw zarrUnusable({ why: `it has ${cells} objects; the limit is ${MAX_CELLS}` })
    const depth = axes.band === null ? 1 : Math.ceil(array.shape[axes.band]! / array.object[axes.band]!)
    for (const { column, row } of cellsOf(grid, array.object, zones)) {
      for (let band = 0; band < depth; band++)
        keys.push(objectKey(array, positionOf(grid, array.object, { column, row, band })))
      if (keys.length > MAX_OBJECTS) {
        throw zarrUnusable({
          why: `more than ${MAX_OBJECTS} of its objects are needed; pool by a table of areas in a part of it`,
        })
      }
    }
  }
  return keys
}

/** The cells of a grid with pixels in zones, row by row. */
export function* cellsOf(
  { array, axes }: ZarrGrid,
  size: readonly number[],
  zones: Zones,
  within?: PixelRect,
): Generator<GridCell> {
  const [across, down] = [size[axes.x]!, size[axes.y]!]
  const [width, height] = [array.shape[axes.x]!, array.shape[axes.y]!]
  const area = within ?? { x: 0, y: 0, width, height }
  for (let y = area.y; y < area.y + area.height; y += down) {
    for (let x = area.x; x < area.x + area.width; x += across) {
      const rect = { x, y, width: Math.min(across, width - x), height: Math.min(down, height - y) }
      if (hasZones(zones, rect)) yield { ...rect, column: x / across, row: y / down }
    }
  }
}

/** The position of a cell in a grid of chunks or objects of a size; 0 along dimensions of length 1. */
export function positionOf(
  { array, axes, moment }: ZarrGrid,
  size: readonly number[],
  { column, row, band }: { readonly column: number; readonly row: number; readonly band: number },
): number[] {
  return array.shape.map((_, axis) => {
    if (axis === axes.x) return column
    if (axis === axes.y) return row
    if (axis === axes.band) return band
    return axis === moment?.axis ? Math.floor(moment.index / size[axis]!) : 0
  })
}

/** Keys of the objects with the coordinates of columns, rows and dates. */
export function coordinateObjects({ x, y, time }: ZarrRaster): string[] {
  return [x, y, time].flatMap((array) => {
    if (array === null) return []
    const count = Math.ceil(array.shape[0]! / array.object[0]!)
    if (count > MAX_OBJECTS) throw zarrUnusable({ why: `coordinates are in ${count} objects` })
    return Array.from({ length: count }, (_, i) => objectKey(array, [i]))
  })
}
