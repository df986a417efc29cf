import { distanceMeters } from '../geometry/geodesy.ts'
import { encodeLine, type Line } from '../geometry/polyline.ts'

/** Formats of lines in answers: polylines with six or five decimals, GeoJSON, or none. */
export type Geometry = 'polyline6' | 'polyline5' | 'geojson' | 'no_shape'

const NAMES: Readonly<Record<string, Geometry>> = {
  polyline: 'polyline5',
  polyline5: 'polyline5',
  polyline6: 'polyline6',
  geojson: 'geojson',
  no_shape: 'no_shape',
}

/** The format of lines with a name in a request, OSRM's `polyline` included; null for any other value. */
export function geometryOf(name: unknown): Geometry | null {
  return typeof name === 'string' && Object.hasOwn(NAMES, name) ? NAMES[name]! : null
}

/** A line of GeoJSON. */
export interface LineString {
  readonly type: 'LineString'
  readonly coordinates: readonly (readonly [lon: number, lat: number])[]
}

/** Writes a line for an answer. */
export function writeGeometry(line: Line, geometry: Geometry): string | LineString {
  if (geometry === 'no_shape') return ''
  if (geometry !== 'geojson') return encodeLine(line, geometry === 'polyline5' ? 5 : 6)
  return { type: 'LineString', coordinates: line.lon.map((lon, i) => [round6(lon), round6(line.lat[i]!)] as const) }
}

/** Maximum distance of a point from a simplified line, as a share of the diagonal of its box. */
const TOLERANCE = 1 / 1000

/** Simplifies a line (Douglas and Peucker, 1973). */
export function simplified(line: Line): Line {
  const { lon, lat } = line
  const last = lon.length - 1
  const [west, east, south, north] = [lon, lat].flatMap((values) => [
    values.reduce((a, b) => Math.min(a, b), Infinity),
    values.reduce((a, b) => Math.max(a, b), -Infinity),
  ]) as [number, number, number, number]
  const tolerance = distanceMeters(west, south, east, north) * TOLERANCE
  const kept = new Uint8Array(lon.length)
  kept[0] = kept[last] = 1
  const stretches: [number, number][] = [[0, last]]
  for (let next = stretches.pop(); next !== undefined; next = stretches.pop()) {
    const [first, end] = next
    let farthest = -1
    let most = tolerance
    for (let i = first + 1; i < end; i++) {
      const meters = metersFrom(line, i, first, end)
      if (meters <= most) continue
      most = meters
      farthest = i
    }
    if (farthest < 0) continue
    kept[farthest] = 1
    stretches.push([first, farthest], [farthest, end])
  }
  return { lon: lon.filter((_, i) => kept[i] === 1), lat: lat.filter((_, i) => kept[i] === 1) }
}

const METERS_PER_DEGREE = 111_195

/** Distance in metres of a point of a line from the segment between two others. */
function metersFrom({ lon, lat }: Line, point: number, from: number, to: number): number {
  const scale = Math.cos((lat[from]! * Math.PI) / 180)
  const [x, y] = [(lon[to]! - lon[from]!) * scale, lat[to]! - lat[from]!]
  const [px, py] = [(lon[point]! - lon[from]!) * scale, lat[point]! - lat[from]!]
  const square = x * x + y * y
  const share = square === 0 ? 0 : Math.max(0, Math.min(1, (px * x + py * y) / square))
  return Math.hypot(px - share * x, py - share * y) * METERS_PER_DEGREE
}

function round6(value: number): number {
  return Math.round(value * 1e6) / 1e6
}
