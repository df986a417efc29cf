import { epsgOf } from '../crs/epsg-of-text.ts'
import type { Affine } from '../raster-info.ts'
import { zarrUnusable } from './errors.ts'
import type { ZarrRaster } from './find.ts'
import { fieldsOf, type Fields } from './metadata.ts'

/** Maximum deviation of coordinates from an even spacing, in pixels. */
const MAX_UNEVEN = 0.1
/** Maximum distance of the transform from the coordinates, in pixels. */
const MAX_APART = 0.5

/** Coordinates of the centres of columns or rows; null without. */
export type Centers = Float64Array | null

/**
 * The transform of a raster: `spatial:transform` of the conventions of geospatial Zarr, `GeoTransform` of GDAL, or the
 * coordinates of its columns and rows. What is stated twice must agree.
 *
 * Source: https://github.com/zarr-conventions/spatial, https://gdal.org/en/stable/drivers/raster/zarr.html
 *
 * @returns null without any
 * @throws ZARR_UNUSABLE
 */
export function affineOfZarr({ attributes, mapping, vectors }: ZarrRaster, x: Centers, y: Centers): Affine | null {
  const { array, axes } = vectors
  const stated = conventionTransform(attributes, [array.shape[axes.y]!, array.shape[axes.x]!]) ?? gdalTransform(mapping)
  const placed = x !== null && y !== null && x.length > 1 && y.length > 1 ? affineOfCenters(x, y) : null
  if (stated === null || placed === null) return stated ?? placed
  const [, width, , , , height] = placed
  for (const [column, row] of [
    [0.5, 0.5],
    [x!.length - 0.5, y!.length - 0.5],
  ] as const) {
    const [a, b] = [at(stated, column, row), at(placed, column, row)]
    if (Math.abs(a[0] - b[0]) > MAX_APART * Math.abs(width) || Math.abs(a[1] - b[1]) > MAX_APART * Math.abs(height)) {
      throw zarrUnusable({ why: `its transform puts a pixel at ${a.join(', ')}, its coordinates at ${b.join(', ')}` })
    }
  }
  return stated
}

/** The EPSG code of a raster; null when none is stated. */
export function epsgOfZarr({ attributes, mapping, vectors }: ZarrRaster): number | null {
  const all: Fields = { ...attributes, ...mapping }
  const own = fieldsOf(all['_CRS'])
  const texts = [
    ...['proj:code', 'proj:epsg', 'crs_epsg', 'epsg_code', 'epsg', 'crs_wkt', 'spatial_ref', 'proj:wkt2', 'crs'].map(
      (name) => all[name],
    ),
    own['url'],
    own['wkt'],
    ...[all['proj:projjson'], own['projjson']].map((json) => {
      const { authority, code } = fieldsOf(fieldsOf(json)['id'])
      return authority === 'EPSG' ? code : undefined
    }),
  ].filter((text) => typeof text === 'string' || typeof text === 'number')
  for (const text of texts) {
    const code = typeof text === 'number' ? text : epsgOf(text.trim())
    if (code !== null && Number.isInteger(code)) return code
  }
  const { array, axes } = vectors
  const isLngLat = /^lon/i.test(array.names[axes.x]!) && /^lat/i.test(array.names[axes.y]!)
  return texts.length === 0 && isLngLat ? 4326 : null
}

function conventionTransform(attributes: Fields, shape: readonly number[]): Affine | null {
  const numbers = numbersOf(attributes['spatial:transform'] ?? attributes['proj:transform'])
  if (numbers === null) return null
  // The transform is that of another array of the group.
  const stated = attributes['spatial:shape']
  if (Array.isArray(stated) && stated.join() !== shape.join()) return null
  const [a, b, c, d, e, f] = numbers
  const affine: Affine = [c, a, b, f, d, e]
  return attributes['spatial:registration'] === 'node' ? cornerOf(affine) : affine
}

function gdalTransform(mapping: Fields): Affine | null {
  const text = mapping['GeoTransform']
  return numbersOf(typeof text === 'string' ? text.trim().split(/[\s,]+/) : text)
}

function affineOfCenters(x: Float64Array, y: Float64Array): Affine {
  return cornerOf([x[0]!, spacingOf(x), 0, y[0]!, 0, spacingOf(y)])
}

/** A transform of pixel corners from one of pixel centres. */
function cornerOf(affine: Affine): Affine {
  const [x, y] = at(affine, -0.5, -0.5)
  return [x, affine[1], affine[2], y, affine[4], affine[5]]
}

function spacingOf(centers: Float64Array): number {
  const step = (centers.at(-1)! - centers[0]!) / (centers.length - 1)
  const isEven = centers.every((center, i) => Math.abs(center - centers[0]! - i * step) <= MAX_UNEVEN * Math.abs(step))
  if (!isEven || step === 0) throw zarrUnusable({ why: 'its coordinates are not evenly spaced' })
  return step
}

function at([x, xc, xr, y, yc, yr]: Affine, column: number, row: number): [number, number] {
  return [x + column * xc + row * xr, y + column * yc + row * yr]
}

/** The first six of a list of six or nine numbers; null of anything else. */
function numbersOf(value: unknown): Affine | null {
  if (!Array.isArray(value) || (value.length !== 6 && value.length !== 9)) return null
  const parts: unknown[] = value
  const numbers = parts.slice(0, 6).map((part) => (part === '' ? Number.NaN : Number(part)))
  const [a, b, c, d, e, f] = numbers as unknown as Affine
  return numbers.every(Number.isFinite) ? [a, b, c, d, e, f] : null
}
