import { convertBounds, crsAt, type CrsBounds } from '../crs/bounds.ts'
import type { RasterCrs } from '../raster-info.ts'
import { areaOutsideCrs } from './errors.ts'
import { boundsOf } from './extent.ts'
import type { LngLatBox } from './extent.ts'
import type { Layer } from './layer.ts'
import { fullSize } from './view.ts'
import type { View, WantedSize } from './view.ts'

/** A box, and the grid of pixels for it. */
export interface BoundsRequest {
  readonly bounds: CrsBounds
  /** CRS of `bounds` and of the pixels. */
  readonly from: RasterCrs
  readonly to: RasterCrs
  /** Null for the resolution of the layer within `maxSize`. */
  readonly size: WantedSize | null
  readonly maxSize: number
}

/** The CRS of an EPSG code for a layer; null for the layer's own. @throws UNSUPPORTED_CRS, CRS_NEEDS_GRID */
export function crsForLayer({ crs, boxes }: Layer, epsg: number | null): RasterCrs {
  if (epsg === null || epsg === crs.epsg) return crs
  return crsAt(
    epsg,
    boxes.map(([west, south, east, north]) => [(west + east) / 2, (south + north) / 2]),
  )
}

/** View of a box in a CRS: of a requested size, else of square pixels that are no finer than those of the layer. */
export function boundsView(layer: Layer, { bounds, from, to, size, maxSize }: BoundsRequest): View {
  const target = convertBounds(bounds, from, to)
  if (!target.every(Number.isFinite)) throw areaOutsideCrs({ crs: to.name })
  const shape = { width: target[2] - target[0], height: target[3] - target[1] }
  if (size !== null) return viewIn(to, target, fullSize(shape, size))
  const [pixelWidth, pixelHeight] = ownPixel(layer, to, target)
  const [width, height] = [shape.width / pixelWidth, shape.height / pixelHeight].map((side) =>
    Math.max(1, Math.round(side)),
  ) as [number, number]
  if (Math.max(width, height) <= maxSize) return viewIn(to, target, [width, height])
  const pixels = { width: shape.width / pixelWidth, height: shape.height / pixelHeight }
  return viewIn(to, target, fullSize(pixels, width >= height ? [maxSize, null] : [null, maxSize]))
}

/** The box around a raster in its own CRS. */
export function ownBounds({ affine, width, height }: Layer['raster']): CrsBounds {
  const [x0, xc, xr, y0, yc, yr] = affine ?? [0, 1, 0, 0, 0, 1]
  const xs = [x0, x0 + width * xc, x0 + height * xr, x0 + width * xc + height * xr]
  const ys = [y0, y0 + width * yc, y0 + height * yr, y0 + width * yc + height * yr]
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)]
}

/** The box around a layer in its CRS; for a mosaic that of all its layers, in the CRS of the first one. */
export function layerBounds({ raster, crs, boxes, reference }: Layer): CrsBounds {
  return reference === null ? ownBounds(raster) : convertBounds(unwrapped(boundsOf(boxes)), crsAt(LNGLAT, []), crs)
}

/** A box whose east is above 180 degrees where it crosses the antimeridian. */
export function unwrapped([west, south, east, north]: LngLatBox): CrsBounds {
  return [west, south, east < west ? east + 360 : east, north]
}

/** View of a box of longitudes and latitudes in Web Mercator. */
export function mercatorView(layer: Layer, box: LngLatBox, size: WantedSize | null, maxSize: number): View {
  const [west, south, east, north] = unwrapped(box)
  const bounds = [west, Math.max(-MERCATOR_LAT, south), east, Math.min(MERCATOR_LAT, north)] as const
  const [from, to] = [crsForLayer(layer, LNGLAT), crsForLayer(layer, MERCATOR)]
  return boundsView(layer, { bounds, from, to, size, maxSize })
}

function viewIn(
  to: RasterCrs,
  [left, bottom, right, top]: CrsBounds,
  [width, height]: readonly [number, number],
): View {
  const [pixelWidth, pixelHeight] = [(right - left) / width, (top - bottom) / height]
  const place = { width, height, left, top, pixelWidth, pixelHeight }
  if (to.epsg === MERCATOR) return { ...place, plane: 'mercator' }
  return to.epsg === LNGLAT ? { ...place, plane: 'lnglat' } : { ...place, plane: 'crs', crs: to }
}

/** Size of the layer's pixels in a CRS: its own in the layer's CRS, else square ones of the same area. */
function ownPixel(layer: Layer, to: RasterCrs, target: CrsBounds): readonly [number, number] {
  const [, xc, xr, , yc, yr] = layer.raster.affine ?? [0, 1, 0, 0, 0, 1]
  if (to.definition === layer.crs.definition && xr === 0 && yc === 0) return [Math.abs(xc), Math.abs(yr)]
  const view = viewIn(to, target, [PROBE, PROBE])
  const pixel = Math.sqrt(view.pixelWidth * view.pixelHeight) / layer.stepOf(view)
  return [pixel, pixel]
}

/** Side in pixels of the view that the resolution is measured with. */
const PROBE = 64
const LNGLAT = 4326
const MERCATOR = 3857
/** Maximum latitude of the box of a mosaic in Web Mercator. */
const MERCATOR_LAT = 85.05
