import type { EmbeddingRow } from '@terrane/database'
import type { EmbeddingBatch, GeoRows, PatchGrid, Polygon } from '@terrane/embeddings'
import {
  coveredRect,
  footprint,
  tileWindow,
  type InspectedRaster,
  type PixelRect,
  type TileWindow,
} from '@terrane/tiling/raster'

/** Where one embedding is, and what stands beside it in the table. */
export interface PlacedRow extends EmbeddingRow {
  readonly parts: readonly Polygon[]
}

/** West, south, east, north, grown by each row. */
export interface Extent {
  west: number
  south: number
  east: number
  north: number
}

/**
 * Places a batch on the Earth: per tile (or per patch of it) the footprint in EPSG:4326, the id (row-major tile index; of
 * a patch: tile index times patches per tile plus its own), tile and pixel position and the valid fraction.
 *
 * @param grid the patches of a tile, null at level tile
 */
export function placeRows(batch: EmbeddingBatch, inspected: InspectedRaster, grid: PatchGrid | null): PlacedRow[] {
  const { plan, crs, raster } = inspected
  const { tiles, validFractions, perTile, dims, embeddings } = batch
  const rows: PlacedRow[] = []
  for (let i = 0; i < tiles.length; i++) {
    const tile = tileWindow(plan, tiles[i] as number)
    const covered = coveredRect(plan, tile)
    for (let patch = 0; patch < perTile; patch++) {
      const rect = grid === null ? covered : patchRect(tile, grid, patch, covered)
      if (!rect) continue
      const { polygons } = footprint(crs, raster.affine, rect)
      const at = (i * perTile + patch) * dims
      const attributes = [tile.tileX, tile.tileY, tile.x, tile.y, validFractions[i] as number]
      rows.push({
        id: tile.index * perTile + patch,
        polygons: polygons.map(flat),
        parts: polygons.map((ring) => [ring]),
        embedding: embeddings.subarray(at, at + dims),
        attributes: grid === null ? attributes : [...attributes, patch],
      })
    }
  }
  return rows
}

/** The part of a patch that lies in the raster; null when none does. */
function patchRect(tile: TileWindow, grid: PatchGrid, patch: number, covered: PixelRect): PixelRect | null {
  const x = tile.x + (patch % grid.columns) * grid.width
  const y = tile.y + Math.floor(patch / grid.columns) * grid.height
  const left = Math.max(covered.x, x)
  const top = Math.max(covered.y, y)
  const right = Math.min(covered.x + covered.width, x + grid.width)
  const bottom = Math.min(covered.y + covered.height, y + grid.height)
  return right > left && bottom > top ? { x: left, y: top, width: right - left, height: bottom - top } : null
}

/** The rows as the GeoParquet writer takes them. */
export function toGeoRows(rows: readonly PlacedRow[], dims: number): GeoRows {
  const embeddings = new Float32Array(rows.length * dims)
  rows.forEach((row, i) => embeddings.set(row.embedding, i * dims))
  const column = (index: number) => rows.map((row) => row.attributes[index] as number)
  return {
    columns: {
      id: rows.map((row) => row.id),
      tile_x: column(0),
      tile_y: column(1),
      px: column(2),
      py: column(3),
      valid_fraction: column(4),
    },
    geometries: rows.map((row) => row.parts),
    embeddings,
  }
}

/** Columns of the GeoParquet file beside geometry and embedding. */
export const GEOPARQUET_COLUMNS = [
  { name: 'id', type: 'int64' },
  { name: 'tile_x', type: 'int32' },
  { name: 'tile_y', type: 'int32' },
  { name: 'px', type: 'int32' },
  { name: 'py', type: 'int32' },
  { name: 'valid_fraction', type: 'float' },
] as const

export function emptyExtent(): Extent {
  return { west: Infinity, south: Infinity, east: -Infinity, north: -Infinity }
}

export function growExtent(extent: Extent, rows: readonly PlacedRow[]): void {
  for (const { polygons } of rows) {
    for (const ring of polygons) {
      for (let i = 0; i < ring.length; i += 2) {
        const lng = ring[i] as number
        const lat = ring[i + 1] as number
        if (lng < extent.west) extent.west = lng
        if (lng > extent.east) extent.east = lng
        if (lat < extent.south) extent.south = lat
        if (lat > extent.north) extent.north = lat
      }
    }
  }
}

function flat(ring: readonly (readonly [number, number])[]): Float64Array {
  const coordinates = new Float64Array(ring.length * 2)
  ring.forEach(([lng, lat], i) => {
    coordinates[i * 2] = lng
    coordinates[i * 2 + 1] = lat
  })
  return coordinates
}
