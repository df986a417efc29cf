import type { RasterCrs } from '../raster-info.ts'
import { createCrsCatalogue, type CrsCatalogue } from './catalogue.ts'
import { converterOf } from './converter.ts'
import { withShiftAt } from './datum-shifts.ts'
import { byCode } from './resolve.ts'

type Position = readonly [number, number]

/** Minimum x, minimum y, maximum x and maximum y in the unit of a CRS; x is the longitude or the easting. */
export type CrsBounds = readonly [number, number, number, number]

/**
 * Converter from the coordinates of an EPSG code, x first, to longitude and latitude in degrees.
 *
 * @throws UNSUPPORTED_CRS, CRS_NEEDS_GRID
 * @example
 * ```ts
 * toLngLat(3857)(1_113_194.9, 0) // [10, 0]
 * ```
 */
export function toLngLat(
  epsg: number,
  catalogue: CrsCatalogue = createCrsCatalogue(),
): (x: number, y: number) => Position {
  if (epsg === 4326) return (x, y) => [x, y]
  const crs = byCode(epsg, null, catalogue)
  return (x, y) => {
    const { inverse } = converterOf(crs.definition)
    // A datum with several shifts uses the shift at this position.
    return converterOf(withShiftAt(crs, [inverse([x, y])]).definition).inverse([x, y])
  }
}

/**
 * The CRS of an EPSG code, with the datum shift at positions in longitude and latitude.
 *
 * @throws UNSUPPORTED_CRS, CRS_NEEDS_GRID
 */
export function crsAt(epsg: number, places: readonly Position[]): RasterCrs {
  return withShiftAt(byCode(epsg, null, createCrsCatalogue()), places)
}

/** The bounding box of a box in another CRS; infinite when the CRS does not cover it. */
export function convertBounds(bounds: CrsBounds, from: RasterCrs, to: RasterCrs): CrsBounds {
  if (from.definition === to.definition) return bounds
  const { inverse } = converterOf(from.definition)
  const { forward } = converterOf(to.definition)
  return boundsThrough(bounds, (x, y) => forward(inverse([x, y])))
}

/** West, south, east and north in degrees of a box in the coordinates of an EPSG code. @throws UNSUPPORTED_CRS, CRS_NEEDS_GRID */
export function lngLatBoxOf(bounds: CrsBounds, epsg: number): CrsBounds {
  return boundsBetween(bounds, epsg, 4326)
}

/** The box around a box of one EPSG code in the coordinates of another one. @throws UNSUPPORTED_CRS, CRS_NEEDS_GRID */
export function boundsBetween(bounds: CrsBounds, from: number, to: number): CrsBounds {
  if (from === to) return bounds
  const convert = toLngLat(from)
  const [left, bottom, right, top] = bounds
  const middle = convert((left + right) / 2, (bottom + top) / 2)
  const { forward } = converterOf(crsAt(to, [middle]).definition)
  return boundsThrough(bounds, (x, y) => forward(convert(x, y)))
}

/** Converted points per edge: the same number as in GDAL and rasterio. */
const POINTS = 21

function boundsThrough([west, south, east, north]: CrsBounds, convert: (x: number, y: number) => Position): CrsBounds {
  let [left, bottom, right, top] = [Infinity, Infinity, -Infinity, -Infinity]
  for (let i = 0; i <= POINTS; i++) {
    const [u, v] = [west + ((east - west) * i) / POINTS, south + ((north - south) * i) / POINTS]
    for (const [a, b] of [
      [u, south],
      [u, north],
      [west, v],
      [east, v],
    ] as const) {
      const [x, y] = convert(a, b)
      left = Math.min(left, x)
      right = Math.max(right, x)
      bottom = Math.min(bottom, y)
      top = Math.max(top, y)
    }
  }
  return [left, bottom, right, top]
}
