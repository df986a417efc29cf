import { KEY } from '../crs/geo-keys.ts'
import { sceneUnusable } from '../errors.ts'
import type { Affine, RasterInfo } from '../raster-info.ts'
import type { PixelRect } from '../plan.ts'

/** Placement of a grid's pixels in a file. */
export interface Placement {
  /** `x = a + column·b + row·c`, `y = d + column·e + row·f` of pixel centers, in pixels of the file from its corner. */
  readonly map: Affine
  /** True when each pixel of the grid equals a pixel of the file. */
  readonly isExact: boolean
  /** Pixels of the grid that may come from the file. */
  readonly to: PixelRect
  /** Pixels of the file that may be used. */
  readonly from: PixelRect
}

/** Deviation that still counts as the same grid, in pixels. */
const SAME = 0.01
/** Maximum number of pixels of a file per pixel of the grid along an axis; more would exceed memory. */
const MAX_REDUCTION = 16

interface Grid {
  readonly width: number
  readonly height: number
  readonly affine: Affine
}

/** @throws SCENE_UNUSABLE when the reference systems differ */
export function checkSameCrs(file: RasterInfo, reference: RasterInfo): void {
  if (crsText(file) === crsText(reference)) return
  throw sceneUnusable({
    why: `its files are in different reference systems (${nameOf(file)} and ${nameOf(reference)})`,
  })
}

/** Share of the grid that the file covers; by bounding boxes when the file is rotated. */
export function coverOf({ width, height }: Pick<Grid, 'width' | 'height'>, { map, from }: Placement): number {
  const [x0, xc, xr, y0, yc, yr] = map
  const corners = [-0.5, width - 0.5].flatMap((column) => [-0.5, height - 0.5].map((row) => [column, row] as const))
  const xs = corners.map(([column, row]) => x0 + column * xc + row * xr)
  const ys = corners.map(([column, row]) => y0 + column * yc + row * yr)
  return covered(xs, from.x, from.width) * covered(ys, from.y, from.height)
}

/** The edges of products of one scene may differ by a fraction of a pixel. */
function covered(places: readonly number[], from: number, size: number): number {
  const [least, most] = [Math.min(...places), Math.max(...places)]
  const common = Math.min(most, from + size) - Math.max(least, from)
  if (common < SAME) return 0
  return most - least - common < 1 ? 1 : common / (most - least)
}

/** Placement by the georeferences of grid and file. @throws SCENE_UNUSABLE when the file has none */
export function georeferencedPlacement(grid: Grid, file: RasterInfo): Placement {
  if (file.affine === null) throw sceneUnusable({ why: 'a file has no georeference' })
  const [x0, xc, xr, y0, yc, yr] = file.affine
  const [gx0, gxc, gxr, gy0, gyc, gyr] = grid.affine
  const determinant = xc * yr - xr * yc
  const columnOf = (x: number, y: number): number => (x * yr - y * xr) / determinant
  const rowOf = (x: number, y: number): number => (y * xc - x * yc) / determinant
  // The center of the first pixel from the corner of the file; subtracting first preserves precision.
  const [dx, dy] = [gx0 - x0 + (gxc + gxr) / 2, gy0 - y0 + (gyc + gyr) / 2]
  const map: Affine = [
    columnOf(dx, dy),
    columnOf(gxc, gyc),
    columnOf(gxr, gyr),
    rowOf(dx, dy),
    rowOf(gxc, gyc),
    rowOf(gxr, gyr),
  ]
  const whole = { x: 0, y: 0, width: grid.width, height: grid.height }
  return placed(map, whole, { x: 0, y: 0, width: file.width, height: file.height })
}

/** Placement by rectangles of pixels. @throws SCENE_UNUSABLE for a rectangle without an area */
export function placementOf(
  { from, to }: { readonly from: PixelRect; readonly to: PixelRect },
  grid: Pick<Grid, 'width' | 'height'>,
  file: Pick<RasterInfo, 'width' | 'height'>,
): Placement {
  if (![from.width, from.height, to.width, to.height].every((side) => side > 0)) {
    throw sceneUnusable({ why: 'a source has a rectangle without an area' })
  }
  const [stepX, stepY] = [from.width / to.width, from.height / to.height]
  const map: Affine = [from.x + (0.5 - to.x) * stepX, stepX, 0, from.y + (0.5 - to.y) * stepY, 0, stepY]
  const outer = { x: 0, y: 0, width: grid.width, height: grid.height }
  return placed(map, clip(roundedRect(to), outer), clip(outward(from), { x: 0, y: 0, ...sizeOf(file) }))
}

function placed(map: Affine, to: PixelRect, from: PixelRect): Placement {
  const [x, xc, xr, y, yc, yr] = map
  if (Math.hypot(xc, yc) > MAX_REDUCTION || Math.hypot(xr, yr) > MAX_REDUCTION) {
    throw sceneUnusable({
      why: `the pixels of a file are more than ${MAX_REDUCTION} times smaller than those of the grid`,
    })
  }
  const { width, height } = to
  const stray = Math.max(
    Math.abs(xc - 1) * width,
    Math.abs(yr - 1) * height,
    Math.abs(xr) * height,
    Math.abs(yc) * width,
    Math.abs(x - 0.5 - Math.round(x - 0.5)),
    Math.abs(y - 0.5 - Math.round(y - 0.5)),
  )
  const isExact = stray < SAME
  return { map: isExact ? [Math.round(x - 0.5) + 0.5, 1, 0, Math.round(y - 0.5) + 0.5, 0, 1] : map, isExact, to, from }
}

/** Intersection of both rectangles; sides of 0 when they are disjoint. */
export function clip(a: PixelRect, b: PixelRect): PixelRect {
  const [x, y] = [Math.max(a.x, b.x), Math.max(a.y, b.y)]
  const width = Math.max(0, Math.min(a.x + a.width, b.x + b.width) - x)
  return { x, y, width, height: Math.max(0, Math.min(a.y + a.height, b.y + b.height) - y) }
}

/** The pixels whose centers lie in a rectangle. */
function roundedRect({ x, y, width, height }: PixelRect): PixelRect {
  const [left, top] = [Math.round(x), Math.round(y)]
  return { x: left, y: top, width: Math.round(x + width) - left, height: Math.round(y + height) - top }
}

function outward({ x, y, width, height }: PixelRect): PixelRect {
  const [left, top] = [Math.floor(x + 1e-9), Math.floor(y + 1e-9)]
  return { x: left, y: top, width: Math.ceil(x + width - 1e-9) - left, height: Math.ceil(y + height - 1e-9) - top }
}

function sizeOf({ width, height }: Pick<RasterInfo, 'width' | 'height'>): { width: number; height: number } {
  return { width, height }
}

/** Equal for two files in the same CRS; whether pixels are areas or points is ignored. */
function crsText({ epsg, geoKeys, citations }: RasterInfo): string {
  const { [KEY.rasterType]: _, ...keys } = geoKeys
  return epsg === null ? JSON.stringify([keys, citations]) : `EPSG:${epsg}`
}

function nameOf({ epsg, crsName }: RasterInfo): string {
  return epsg === null ? (crsName ?? 'none') : `EPSG:${epsg}`
}
