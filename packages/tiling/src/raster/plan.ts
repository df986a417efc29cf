import { invalidTiling, noTiles } from './errors.ts'
import type { Affine } from './raster-info.ts'

/**
 * Policy for the right and bottom edge: `pad` keeps partial tiles and mirrors them outwards, `drop` keeps whole tiles
 * only, `shift` moves the last tile inwards until it ends at the edge.
 */
export type EdgePolicy = 'pad' | 'drop' | 'shift'

/** Extent and tile size; lengths in pixels. */
export interface PlanRequest {
  readonly width: number
  readonly height: number
  readonly tileSize: number
  /** Distance between tile origins; `tileSize` when absent. */
  readonly stride?: number
  readonly edge?: EdgePolicy
  /**
   * Aligns tile origins to multiples of stride · resolution of the CRS, so that rasters of different dates and extents
   * but one resolution share a grid. Needs `affine` without rotation.
   */
  readonly alignGrid?: boolean
  readonly affine?: Affine | null
}

/** A regular grid of tiles over a raster. Tile `(0, 0)` starts at pixel `(originX, originY)`. Plain data. */
export interface TilePlan {
  readonly width: number
  readonly height: number
  readonly tileSize: number
  readonly stride: number
  readonly edge: EdgePolicy
  readonly originX: number
  readonly originY: number
  readonly columns: number
  readonly rows: number
  readonly count: number
}

/** One tile: `index = tileY · columns + tileX`; `x`, `y` is its upper left pixel, outside the raster in padded tiles. */
export interface TileWindow {
  readonly index: number
  readonly tileX: number
  readonly tileY: number
  readonly x: number
  readonly y: number
  readonly size: number
}

/**
 * Plans the grid without creating tiles, so a plan of a billion tiles costs nothing. Tiles that would add no new pixel
 * are left out: an axis of length L has `ceil((L - tileSize) / stride) + 1` tiles (`ceil(L / tileSize)` without
 * overlap).
 *
 * @throws INVALID_TILING, NO_TILES
 */
export function planTiles(request: PlanRequest): TilePlan {
  const { width, height, tileSize, stride = tileSize, edge = 'pad', alignGrid = false, affine = null } = request
  requirePositive('tileSize', tileSize)
  requirePositive('stride', stride)
  const [alignedX, alignedY] = alignGrid ? alignOrigin(affine, stride, edge) : [0, 0]
  const across = planAxis(width, alignedX, tileSize, stride, edge)
  const down = planAxis(height, alignedY, tileSize, stride, edge)
  const count = across.count * down.count
  if (count === 0) throw noTiles({ width, height, tileSize })
  return {
    width,
    height,
    tileSize,
    stride,
    edge,
    originX: across.origin,
    originY: down.origin,
    columns: across.count,
    rows: down.count,
    count,
  }
}

/** The window of one tile, `0 <= index < plan.count`. */
export function tileWindow(plan: TilePlan, index: number): TileWindow {
  const tileY = Math.floor(index / plan.columns)
  const tileX = index - tileY * plan.columns
  return {
    index,
    tileX,
    tileY,
    x: startOf(plan, plan.originX + tileX * plan.stride, plan.width),
    y: startOf(plan, plan.originY + tileY * plan.stride, plan.height),
    size: plan.tileSize,
  }
}

/** A part of a raster in pixels. */
export interface PixelRect {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** The part of a tile within the raster, which determines its footprint and valid fraction. */
export function coveredRect(plan: TilePlan, { x, y, size }: TileWindow): PixelRect {
  const left = Math.max(0, x)
  const top = Math.max(0, y)
  return {
    x: left,
    y: top,
    width: Math.min(plan.width, x + size) - left,
    height: Math.min(plan.height, y + size) - top,
  }
}

function startOf(plan: TilePlan, start: number, length: number): number {
  return plan.edge === 'shift' ? Math.max(0, Math.min(start, length - plan.tileSize)) : start
}

function planAxis(length: number, aligned: number, tileSize: number, stride: number, edge: EdgePolicy): Axis {
  // With gaps between tiles, a tile that ends before the raster would be empty, so the next grid line is used.
  let origin = aligned + tileSize <= 0 ? aligned + stride : aligned
  if (edge === 'drop') {
    if (origin < 0) origin += stride * Math.ceil(-origin / stride)
    return { origin, count: Math.max(0, Math.floor((length - origin - tileSize) / stride) + 1) }
  }
  const span = length - origin
  const overlapping = Math.max(0, Math.ceil((span - tileSize) / stride)) + 1
  return { origin, count: Math.max(0, Math.min(overlapping, Math.ceil(span / stride))) }
}

interface Axis {
  readonly origin: number
  readonly count: number
}

/** Pixel position of the last grid line at or before the raster's first pixel, on both axes; never positive. */
function alignOrigin(affine: Affine | null, stride: number, edge: EdgePolicy): [number, number] {
  if (edge === 'shift') throw invalidTiling({ field: 'alignGrid', problem: 'cannot be combined with edge "shift"' })
  if (affine === null) throw invalidTiling({ field: 'alignGrid', problem: 'needs a georeferenced raster' })
  const [x, stepX, rotationX, y, rotationY, stepY] = affine
  if (rotationX !== 0 || rotationY !== 0) {
    throw invalidTiling({ field: 'alignGrid', problem: 'needs a raster that is not rotated' })
  }
  return [pixelsFromGridLine(x, stepX, stride), pixelsFromGridLine(y, stepY, stride)]
}

/**
 * Distance of the raster's first pixel edge from a grid line, in pixels. `start / step` counts from the origin of the
 * CRS; grid lines are `stride` apart.
 */
function pixelsFromGridLine(start: number, step: number, stride: number): number {
  const pixels = Math.round(start / step)
  const past = pixels - Math.floor(pixels / stride) * stride
  return past === 0 ? 0 : -past
}

function requirePositive(field: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 1) {
    throw invalidTiling({ field, problem: `must be a whole number above 0, not ${value}` })
  }
}
