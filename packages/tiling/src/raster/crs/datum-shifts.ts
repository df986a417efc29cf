import { readFileSync } from 'node:fs'
import { converterOf } from './converter.ts'
import { needsGrid } from '../errors.ts'
import type { RasterCrs, RasterInfo } from '../raster-info.ts'
import { affineOf } from './affine-of.ts'

/** A datum with several shifts to WGS 84, by area: `+towgs84=@` and the code of its geographic CRS. */
const OPEN = / ?\+towgs84=@(\d+)/

/**
 * The CRS with the datum shift at the raster's position, if the table has several shifts. Of the shifts whose area
 * contains a position, PROJ uses the most accurate one, then the one with the smallest area; the table is in that
 * order.
 *
 * @throws CRS_NEEDS_GRID when corners and middle of the raster are not all shifted in the same way
 */
export function withShift(crs: RasterCrs, raster: RasterInfo): RasterCrs {
  if (!OPEN.test(crs.definition)) return crs
  const { inverse } = converterOf(crs.definition.replace(OPEN, ''))
  return withShiftAt(
    crs,
    placesOf(raster).map((place) => inverse(place)),
  )
}

/**
 * Like {@link withShift}, for positions in longitude and latitude.
 *
 * @throws CRS_NEEDS_GRID when they are not all shifted in the same way
 */
export function withShiftAt(crs: RasterCrs, places: readonly (readonly [number, number])[]): RasterCrs {
  const open = OPEN.exec(crs.definition)
  if (open === null) return crs
  const plain = crs.definition.replace(OPEN, '')
  const areas = areasOf(Number(open[1]))
  const shifts = new Set(places.map(([lng, lat]) => areas.find((area) => holds(area, lng, lat))?.shift ?? ''))
  const [shift = ''] = shifts
  const name = crs.epsg === null ? crs.name : `EPSG:${crs.epsg} (${crs.name})`
  if (shifts.size > 1 || shift === '') throw needsGrid({ crs: name, meters: null })
  return { ...crs, definition: `${plain} +towgs84=${shift}` }
}

interface Area {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
  /** Three or seven parameters; empty when only a grid describes the shift. */
  readonly shift: string
}

function placesOf(raster: RasterInfo): (readonly [number, number])[] {
  const [x, xc, xr, y, yc, yr] = affineOf(raster)
  const { width, height } = raster
  const pixels = [
    [0, 0],
    [width, 0],
    [width, height],
    [0, height],
    [width / 2, height / 2],
  ] as const
  return pixels.map(([column, row]) => [x + column * xc + row * xr, y + column * yc + row * yr])
}

function holds({ west, south, east, north }: Area, lng: number, lat: number): boolean {
  const inside = west <= east ? west <= lng && lng <= east : west <= lng || lng <= east
  return inside && south <= lat && lat <= north
}

let text: string | null = null

/** Areas and shifts of a geographic CRS in datum-shifts.tsv (made by tools/crs-table.ts). */
function areasOf(code: number): Area[] {
  text ??= readFileSync(new URL('./datum-shifts.tsv', import.meta.url), 'utf8')
  return text.split('\n').flatMap((line) => {
    if (!line.startsWith(`${code}\t`)) return []
    const [, west, south, east, north, shift = ''] = line.split('\t')
    return [{ west: Number(west), south: Number(south), east: Number(east), north: Number(north), shift }]
  })
}
