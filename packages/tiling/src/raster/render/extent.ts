import { TerraneError } from '@terrane/core'
import { converterOf } from '../crs/converter.ts'
import { footprint } from '../footprint/footprint.ts'
import type { PixelRect } from '../plan.ts'
import type { RasterCrs } from '../raster-info.ts'
import type { Georeference } from './placement.ts'
import { MERCATOR_EDGE } from './view.ts'
import type { View } from './view.ts'

/** West, south, east, north in degrees; west is larger than east for a box across the antimeridian. */
export type LngLatBox = readonly [number, number, number, number]

/** Maximum latitude of Web Mercator. */
const MAX_LAT = 85.051_128_779_806_59

/** The boxes that a raster covers: one, or one on each side of the antimeridian; the whole world if unknown. */
export function boxesOf({ crs, affine, width, height }: Georeference): LngLatBox[] {
  try {
    return footprint(crs, affine, { x: 0, y: 0, width, height }).polygons.map((ring): LngLatBox => {
      const lngs = ring.map(([lng]) => lng)
      const lats = ring.map(([, lat]) => lat)
      return [Math.min(...lngs), Math.min(...lats), Math.max(...lngs), Math.max(...lats)]
    })
  } catch (error) {
    if (error instanceof TerraneError && error.code === 'OUTSIDE_CRS') return [[-180, -90, 180, 90]]
    throw error
  }
}

/** One box around all; when it crosses the antimeridian without going around the world, west is larger than east. */
export function boundsOf(boxes: readonly LngLatBox[]): LngLatBox {
  const [south, north] = [Math.min(...boxes.map((b) => b[1])), Math.max(...boxes.map((b) => b[3]))]
  const east = boxes.find((box) => box[0] <= -180 && box[2] < 180)
  const west = boxes.find((box) => box[2] >= 180 && box[0] > -180)
  if (boxes.length > 1 && east && west && west[0] > east[2]) return [west[0], south, east[2], north]
  return [Math.min(...boxes.map((b) => b[0])), south, Math.max(...boxes.map((b) => b[2])), north]
}

/**
 * The pixels of a view that a raster may cover, with a margin of one; null when there are none. Other pixels are never
 * projected: some projections fold the far side of the earth back onto their own area.
 */
export function visibleRect(view: View, boxes: readonly LngLatBox[]): PixelRect | null {
  const all = { x: 0, y: 0, width: view.width, height: view.height }
  if (view.plane === 'raster') return all
  if (view.plane === 'crs' && view.crs) return rectInCrs(view, view.crs, boxes)
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const [west, south, east, north] of boxes) {
    for (const turn of [-360, 0, 360]) {
      const x0 = columnOf(view, west + turn) - 1
      const x1 = columnOf(view, east + turn) + 1
      const edge = view.plane === 'lnglat' ? 90 : MAX_LAT
      const y0 = rowOf(view, Math.min(north, edge)) - 1
      const y1 = rowOf(view, Math.max(south, -edge)) + 1
      if (x1 <= 0 || x0 >= view.width || y1 <= 0 || y0 >= view.height) continue
      left = Math.min(left, x0)
      right = Math.max(right, x1)
      top = Math.min(top, y0)
      bottom = Math.max(bottom, y1)
    }
  }
  const x = Math.max(0, Math.floor(left))
  const y = Math.max(0, Math.floor(top))
  const width = Math.min(view.width, Math.ceil(right)) - x
  const height = Math.min(view.height, Math.ceil(bottom)) - y
  return width > 0 && height > 0 ? { x, y, width, height } : null
}

/** Number of projected points per edge of a box. */
const EDGE_POINTS = 64

/** Like {@link visibleRect}, in another CRS: the whole view when an edge of a box cannot be projected. */
function rectInCrs(view: View, crs: RasterCrs, boxes: readonly LngLatBox[]): PixelRect | null {
  const { forward } = converterOf(crs.definition)
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const [west, south, east, north] of boxes) {
    for (let i = 0; i <= EDGE_POINTS; i++) {
      const [lng, lat] = [west + ((east - west) * i) / EDGE_POINTS, south + ((north - south) * i) / EDGE_POINTS]
      for (const at of [
        [lng, south],
        [lng, north],
        [west, lat],
        [east, lat],
      ] as const) {
        const [x, y] = forward(at)
        const [column, row] = [(x - view.left) / view.pixelWidth, (view.top - y) / view.pixelHeight]
        if (!Number.isFinite(column + row)) return { x: 0, y: 0, width: view.width, height: view.height }
        left = Math.min(left, column)
        right = Math.max(right, column)
        top = Math.min(top, row)
        bottom = Math.max(bottom, row)
      }
    }
  }
  // Between two points, an edge may be curved outwards.
  const slack = 2 + Math.max(right - left, bottom - top) / 100
  const [x, y] = [Math.max(0, Math.floor(left - slack)), Math.max(0, Math.floor(top - slack))]
  const width = Math.min(view.width, Math.ceil(right + slack)) - x
  const height = Math.min(view.height, Math.ceil(bottom + slack)) - y
  return width > 0 && height > 0 ? { x, y, width, height } : null
}

function columnOf({ plane, left, pixelWidth }: View, lng: number): number {
  return ((plane === 'lnglat' ? lng : (lng / 180) * MERCATOR_EDGE) - left) / pixelWidth
}

function rowOf({ plane, top, pixelHeight }: View, lat: number): number {
  if (plane === 'lnglat') return (top - lat) / pixelHeight
  const y = Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) * (MERCATOR_EDGE / Math.PI)
  return (top - y) / pixelHeight
}
