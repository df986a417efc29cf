import type { EmbeddingRow } from '@terrane/database/geoembeddings'
import type { EmbeddingBatch, PatchGrid } from '@terrane/embeddings'
import {
  coveredRect,
  footprint,
  tileWindow,
  type InspectedRaster,
  type PixelRect,
  type TileWindow,
} from '@terrane/tiling/raster'
import { placedRow } from '../embeddings/rows.ts'

/**
 * Places a batch on the Earth: per tile (or per patch of it) the footprint in EPSG:4326, the id (row-major tile index; of
 * a patch: tile index times patches per tile plus its own), tile and pixel position and the valid fraction.
 *
 * @param grid the patches of a tile, null at level tile
 */
export function placeRows(batch: EmbeddingBatch, inspected: InspectedRaster, grid: PatchGrid | null): EmbeddingRow[] {
  const { plan, crs, raster } = inspected
  const { tiles, validFractions, perTile, dims, embeddings } = batch
  const rows: EmbeddingRow[] = []
  for (let i = 0; i < tiles.length; i++) {
    const tile = tileWindow(plan, tiles[i] as number)
    const covered = coveredRect(plan, tile)
    for (let patch = 0; patch < perTile; patch++) {
      const rect = grid === null ? covered : patchRect(tile, grid, patch, covered)
      if (!rect) continue
      const { polygons } = footprint(crs, raster.affine, rect)
      const at = (i * perTile + patch) * dims
      const attributes = [tile.tileX, tile.tileY, tile.x, tile.y, validFractions[i] as number]
      const row = placedRow({
        id: tile.index * perTile + patch,
        parts: polygons.map((ring) => [ring]),
        embedding: embeddings.subarray(at, at + dims),
        attributes: grid === null ? attributes : [...attributes, patch],
      })
      rows.push(row)
    }
  }
  return rows
}

/** The part of a patch inside the raster; null when it is outside. */
function patchRect(tile: TileWindow, grid: PatchGrid, patch: number, covered: PixelRect): PixelRect | null {
  const x = tile.x + (patch % grid.columns) * grid.width
  const y = tile.y + Math.floor(patch / grid.columns) * grid.height
  const left = Math.max(covered.x, x)
  const top = Math.max(covered.y, y)
  const right = Math.min(covered.x + covered.width, x + grid.width)
  const bottom = Math.min(covered.y + covered.height, y + grid.height)
  return right > left && bottom > top ? { x: left, y: top, width: right - left, height: bottom - top } : null
}
