import { defineError } from '../errors/index.ts'
import { Aoi, polygonKm2, shifted } from './aoi.ts'
import type { Ring } from './edge-bands.ts'
import { ringCrosses } from './ring-crosses.ts'

export interface AoiLimits {
  readonly maxVertices: number
  readonly maxAreaKm2: number
  readonly maxPolygons?: number
}

const MAX_POLYGONS = 1000
/** Minimum width of a clockwise ring over the antimeridian, in degrees; a narrower one goes around the Earth. */
const NARROWEST_CLOCKWISE = 1

const aoiInvalid = defineError(
  'AOI_INVALID',
  'invalid',
  (f: { path: string; message: string }) => `The area of interest is not valid at ${f.path}: ${f.message}`,
  (f) => ({ hint: 'Send a GeoJSON Polygon or MultiPolygon in degrees.', errors: [f] }),
)

const aoiTooLarge = defineError(
  'AOI_TOO_LARGE',
  'invalid',
  (f: { path: string; what: string; value: number; limit: number; isWide: boolean }) =>
    `The area of interest has ${f.value} ${f.what}, more than the limit of ${f.limit}`,
  (f) => ({
    hint: f.isWide
      ? 'It goes around more than half the Earth. If it should lie across the antimeridian, draw its outer rings counter-clockwise, or cut it there into a MultiPolygon.'
      : 'Send a smaller or simpler area, or several.',
    errors: [{ path: f.path, message: `at most ${f.limit} ${f.what}` }],
  }),
)

/**
 * Reads an area of interest: a GeoJSON Polygon or MultiPolygon, or a Feature or FeatureCollection of such. Open rings
 * are closed. A ring over the antimeridian may run past 180 degrees or jump to the other side. A ring with such a jump
 * may instead go around the Earth. That is assumed when it comes within half a degree of the antimeridian from both
 * sides and its unchanged positions run counter-clockwise, like an outer ring (RFC 7946, 3.1.6). The direction of a box
 * of a degree or more over the antimeridian does not matter.
 *
 * @param path JSON pointer of the value, for the errors
 * @throws AOI_INVALID, AOI_TOO_LARGE
 */
export function readAoi(value: unknown, limits: AoiLimits, path = '/aoiGeoJson'): Aoi {
  const polygons: Ring[][] = []
  let vertices = 0
  const maxPolygons = limits.maxPolygons ?? MAX_POLYGONS
  const count = (more: number, what: string, limit: number): void => {
    const isWide = polygons.some(([outer]) => isWiderThanHalf(outer!))
    if (more > limit) throw aoiTooLarge({ path, what, value: more, limit, isWide })
  }
  for (const found of polygonsOf(value, path, 0)) {
    count(polygons.length + 1, 'polygons', maxPolygons)
    const rings = arrayOf(found.coordinates, found.path)
    if (rings.length === 0) throw aoiInvalid({ path: found.path, message: 'a polygon needs an outer ring' })
    for (const [i, ring] of rings.entries())
      count((vertices += arrayOf(ring, `${found.path}/${i}`).length), 'vertices', limits.maxVertices)
    polygons.push(readPolygon(rings, found.path))
  }
  if (polygons.length === 0) throw aoiInvalid({ path, message: 'it holds no polygon' })
  const aoi = new Aoi(polygons)
  count(Math.ceil(aoi.areaKm2), 'square kilometres', limits.maxAreaKm2)
  return aoi
}

interface Found {
  readonly coordinates: unknown
  readonly path: string
}

function* polygonsOf(value: unknown, path: string, depth: number): Generator<Found> {
  if (!isObject(value)) throw aoiInvalid({ path, message: 'it must be a GeoJSON object' })
  switch (value['type']) {
    case 'Polygon':
      yield { coordinates: value['coordinates'], path: `${path}/coordinates` }
      return
    case 'MultiPolygon':
      for (const [i, coordinates] of arrayOf(value['coordinates'], `${path}/coordinates`).entries()) {
        yield { coordinates, path: `${path}/coordinates/${i}` }
      }
      return
    case 'Feature':
      if (depth < 2) yield* polygonsOf(value['geometry'], `${path}/geometry`, depth + 1)
      return
    case 'FeatureCollection':
      if (depth > 0) break
      for (const [i, feature] of arrayOf(value['features'], `${path}/features`).entries()) {
        yield* polygonsOf(feature, `${path}/features/${i}`, 1)
      }
      return
    default:
  }
  throw aoiInvalid({ path: `${path}/type`, message: 'it must be Polygon or MultiPolygon' })
}

function readPolygon(rings: readonly unknown[], path: string): Ring[] {
  const [first, ...rest] = rings.map((ring, i) => ({ positions: arrayOf(ring, `${path}/${i}`), path: `${path}/${i}` }))
  const outer = readRing(first!.positions, first!.path)
  const holes = rest.map((hole) => nextTo(outer, readRing(hole.positions, hole.path, outer)))
  return [outer, ...holes]
}

function readRing(positions: readonly unknown[], path: string, outer: Ring | null = null): Ring {
  const values: number[] = []
  for (const [i, position] of positions.entries()) {
    const [lng, lat] = Array.isArray(position) ? (position as unknown[]) : []
    if (typeof lng !== 'number' || typeof lat !== 'number' || !Number.isFinite(lng) || !Number.isFinite(lat)) {
      throw aoiInvalid({ path: `${path}/${i}`, message: 'a position is [longitude, latitude]' })
    }
    if (Math.abs(lat) > 90) throw aoiInvalid({ path: `${path}/${i}/1`, message: 'a latitude is within -90 and 90' })
    if (Math.abs(lng) > 360) throw aoiInvalid({ path: `${path}/${i}/0`, message: 'a longitude is within -180 and 180' })
    values.push(lng, lat)
  }
  if (values[0] !== values.at(-2) || values[1] !== values.at(-1)) values.push(values[0] ?? 0, values[1] ?? 0)
  if (values.length < 8) throw aoiInvalid({ path, message: 'a ring needs at least three different positions' })
  const ring = unwrapped(Float64Array.from(values), outer)
  if (polygonKm2([ring]) === 0) throw aoiInvalid({ path, message: 'a ring encloses no area' })
  if (ringCrosses(ring)) throw aoiInvalid({ path, message: 'a ring crosses itself' })
  return ring
}

/** A ring without jumps over the antimeridian: it runs past ±180 degrees, or around the Earth in shorter steps. */
function unwrapped(ring: Ring, outer: Ring | null): Ring {
  const drawn = ring.slice()
  let jumps = false
  for (let i = 2; i < ring.length; i += 2) {
    const step = ring[i]! - ring[i - 2]!
    const isJump = Math.abs(step) > 180
    jumps ||= isJump
    drawn[i] = drawn[i - 2]! + (isJump ? step - Math.sign(step) * 360 : step)
  }
  if (!jumps) return ring
  const [west, east] = lngRange(drawn)
  const mayCross = drawn[0] === drawn.at(-2) && west < east && east - west <= 180
  const crosses = outer ? !isWiderThanHalf(outer) : isCounterClockwise(drawn) || east - west >= NARROWEST_CLOCKWISE
  return mayCross && crosses ? drawn : inShortSteps(ring)
}

/** The same ring with a vertex added in the middle of each edge that spans more than 180 degrees. */
function inShortSteps(ring: Ring): Ring {
  const values = [ring[0]!, ring[1]!]
  for (let i = 2; i < ring.length; i += 2) {
    const [x, y, nextX, nextY] = [ring[i - 2]!, ring[i - 1]!, ring[i]!, ring[i + 1]!]
    if (Math.abs(nextX - x) > 180) values.push((x + nextX) / 2, (y + nextY) / 2)
    values.push(nextX, nextY)
  }
  return Float64Array.from(values)
}

function isCounterClockwise(ring: Ring): boolean {
  let twice = 0
  for (let i = 2; i < ring.length; i += 2) twice += ring[i - 2]! * ring[i + 1]! - ring[i]! * ring[i - 1]!
  return twice > 0
}

function isWiderThanHalf(ring: Ring): boolean {
  const [west, east] = lngRange(ring)
  return east - west > 180
}

/** A hole moved to the side of the antimeridian where its outer ring is drawn. */
function nextTo(outer: Ring, hole: Ring): Ring {
  const [west, east] = lngRange(outer)
  if (hole[0]! < west && hole[0]! + 360 <= east) return shifted(hole, 360)
  if (hole[0]! > east && hole[0]! - 360 >= west) return shifted(hole, -360)
  return hole
}

function lngRange(ring: Ring): [west: number, east: number] {
  let west = Infinity
  let east = -Infinity
  for (let i = 0; i < ring.length; i += 2) {
    west = Math.min(west, ring[i]!)
    east = Math.max(east, ring[i]!)
  }
  return [west, east]
}

function arrayOf(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value)) throw aoiInvalid({ path, message: 'it must be an array' })
  return value as unknown[]
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
