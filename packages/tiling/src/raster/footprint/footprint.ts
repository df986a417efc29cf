import { converterOf, isMirrored } from '../crs/converter.ts'
import { crsLabel, isPlainLngLat } from '../crs/catalogue.ts'
import { outsideCrs } from '../errors.ts'
import type { PixelRect } from '../plan.ts'
import type { Affine, RasterCrs } from '../raster-info.ts'
import type { Position, Project } from './outline.ts'
import { METERS_PER_DEGREE, traceOutline } from './outline.ts'
import { splitAtAntimeridian } from './split.ts'

/** Closed counter-clockwise rings of `[longitude, latitude]`: one, or more where the antimeridian cuts the area. */
export interface Footprint {
  readonly polygons: readonly (readonly Position[])[]
}

/** Tolerance in degrees (about 0.1 mm): positions outside of the map by less count as on its edge. */
const SNAP = 1e-9

/**
 * The outline of a pixel rectangle in EPSG:4326. Its vertices equal PROJ's within 1 mm; straight lines between them
 * stay within half a pixel of the true edge. Points are added where the projection is curved (a tile of some kilometers
 * needs its four corners only). Around a pole and over the antimeridian the polygons stay valid within ±180, ±90.
 *
 * @throws OUTSIDE_CRS when a corner has no longitude and latitude
 */
export function footprint(crs: RasterCrs, affine: Affine, rect: PixelRect): Footprint {
  const [x0, xc, xr, y0, yc, yr] = affine
  const toWgs84 = projectionOf(crs, Math.hypot(yc, yr))
  const project: Project = (column, row) => toWgs84(x0 + column * xc + row * xr, y0 + column * yc + row * yr)
  const [left, top, right, bottom] = [rect.x, rect.y, rect.x + rect.width, rect.y + rect.height]
  const corners: Position[] = [
    [left, top],
    [left, bottom],
    [right, bottom],
    [right, top],
  ]
  // Rows run south and columns east, unless the transform mirrors the image.
  for (const [column, row] of corners) returns(crs, x0 + column * xc + row * xr, y0 + column * yc + row * yr)
  const ring = xc * yr - xr * yc < 0 !== isMirrored(crs.definition) ? corners : corners.toReversed()
  const tolerance = pixelMeters(project, (left + right) / 2, (top + bottom) / 2) / 2
  const outline = isGeographic(crs) ? closedRing(ring, project) : traceOutline(ring, project, tolerance)
  return { polygons: splitAtAntimeridian(outline) }
}

/** Maximum error of a position after projection there and back, in units of the CRS. */
const MAX_DRIFT = 1

/**
 * Checks that a position projects back to itself, because the inverse of a projection is meaningless far outside of its
 * area.
 *
 * @throws OUTSIDE_CRS
 */
function returns(crs: RasterCrs, x: number, y: number): void {
  if (isGeographic(crs)) return
  const { inverse, forward } = converterOf(crs.definition)
  const there = inverse([x, y])
  const [backX, backY] = there.every(Number.isFinite) ? forward(there) : [NaN, NaN]
  if (!(Math.hypot(backX - x, backY - y) <= MAX_DRIFT)) throw outsideCrs({ x, y, crs: crsLabel(crs) })
}

/** In longitude and latitude, straight edges stay straight, and longitudes are as continuous as the columns. */
function closedRing(corners: readonly Position[], project: Project): Position[] {
  const ring = corners.map(([x, y]) => project(x, y))
  return [...ring, ring[0] as Position]
}

function isGeographic(crs: RasterCrs): boolean {
  return crs.definition.includes('+proj=longlat')
}

/**
 * @param overhang maximum distance of the edge of a geographic raster beyond a pole; half a pixel for grids of pixel
 * centers
 */
function projectionOf(crs: RasterCrs, overhang: number): Project {
  const toLngLat = isPlainLngLat(crs) ? (x: number, y: number): Position => [x, y] : inverseOf(crs.definition)
  const reachable = 90 + (isGeographic(crs) ? Math.max(overhang, SNAP) : SNAP)
  return (x, y) => {
    const [lng, lat] = toLngLat(x, y)
    // Written so that NaN fails.
    const onEarth = Math.abs(lng) <= 720 && Math.abs(lat) <= reachable
    if (!onEarth || isExcepted(crs, lng, lat)) throw outsideCrs({ x, y, crs: crsLabel(crs) })
    const onEdge = Math.abs(Math.abs(lng) - 180) < SNAP
    return [onEdge ? Math.sign(lng) * 180 : lng, Math.abs(lat) > 90 - SNAP ? Math.sign(lat) * 90 : lat]
  }
}

function inverseOf(definition: string): Project {
  const { inverse } = converterOf(definition)
  return (x, y) => inverse([x, y])
}

function isExcepted({ exceptions }: RasterCrs, lng: number, lat: number): boolean {
  return exceptions.some(([west, south, east, north]) => lng >= west && lng <= east && lat >= south && lat <= north)
}

/** Ground size of the smaller side of a pixel. */
function pixelMeters(project: Project, column: number, row: number): number {
  const [lng, lat] = project(column, row)
  const east = METERS_PER_DEGREE * Math.cos((lat * Math.PI) / 180)
  const meters = ([nextLng, nextLat]: Position): number => {
    const turn = nextLng - lng
    return Math.hypot((turn - 360 * Math.round(turn / 360)) * east, (nextLat - lat) * METERS_PER_DEGREE)
  }
  return Math.min(meters(project(column + 1, row)), meters(project(column, row + 1)))
}
