import { WkbCursor, WkbError } from '@terrane/core/wkb'
import { splitAtAntimeridian, type Position } from '@terrane/tiling/raster'

/** Metres in a degree of a meridian, on a sphere of the Earth's mean radius. */
const METERS_PER_DEGREE = (Math.PI / 180) * 6_371_008.8
const POINT = 1
const POLYGON = 3
const MULTIPOLYGON = 6

/** The outer rings of a place, `[lng, lat, …]`. */
export interface PlaceRings {
  readonly rings: readonly Float64Array[]
  /** The place had holes, which the table does not store. */
  readonly hasHoles: boolean
  /** The place has a part on each side of the antimeridian, though it was written as one ring. */
  readonly isSplit: boolean
}

/** Converts a position to longitude and latitude. */
export type Convert = (x: number, y: number) => readonly [number, number]

const asIs: Convert = (x, y) => [x, y]
const cursor = new WkbCursor()

/**
 * The outer rings of a polygon or multipolygon in WKB, or the square around a point; null for other geometries, for
 * damaged ones and for positions outside of longitude and latitude.
 *
 * @param groundSizeMeters edge of the square around a point; null when points are not accepted
 * @param convert converts positions to longitude and latitude
 */
export function ringsOfPlace(
  wkb: Uint8Array,
  groundSizeMeters: number | null,
  convert: Convert = asIs,
): PlaceRings | null {
  try {
    cursor.open(wkb, 0, wkb.length)
    const code = cursor.head()
    if (code === POINT) {
      if (groundSizeMeters === null) return null
      const [lng, lat] = position(convert)
      const rings = onEarth(lng, lat) ? squareAround(lng, lat, groundSizeMeters) : []
      return rings.length === 0 ? null : { rings, hasHoles: false, isSplit: false }
    }
    if (code !== POLYGON && code !== MULTIPOLYGON) return null
    const rings: Float64Array[] = []
    let [hasHoles, isSplit] = [false, false]
    const parts = code === MULTIPOLYGON ? cursor.count(9) : 1
    for (let part = 0; part < parts; part++) {
      if (code === MULTIPOLYGON && cursor.head() !== POLYGON) return null
      const count = cursor.count(4)
      for (let ring = 0; ring < count; ring++) {
        const positions = readRing(convert)
        if (positions === null) return null
        if (ring > 0) {
          hasHoles = true
          continue
        }
        const split = acrossAntimeridian(positions)
        isSplit ||= split !== null && split.length > 1
        rings.push(...(split ?? [positions]))
      }
    }
    return rings.length === 0 ? null : { rings, hasHoles, isSplit }
  } catch (error) {
    if (error instanceof WkbError || error instanceof RangeError) return null
    throw error
  }
}

/** Whether a place is a point or an area; null for other and damaged geometries. */
export function kindOfPlace(wkb: Uint8Array): 'point' | 'area' | null {
  try {
    cursor.open(wkb, 0, wkb.length)
    const code = cursor.head()
    return code === POINT ? 'point' : code === POLYGON || code === MULTIPOLYGON ? 'area' : null
  } catch (error) {
    if (error instanceof WkbError) return null
    throw error
  }
}

function readRing(convert: Convert): Float64Array | null {
  const count = cursor.count(cursor.stride)
  const ring = new Float64Array(2 * count)
  for (let i = 0; i < count; i++) {
    const [lng, lat] = position(convert)
    if (!onEarth(lng, lat)) return null
    ring[2 * i] = lng
    ring[2 * i + 1] = lat
  }
  return count < 4 ? null : ring
}

function position(convert: Convert): readonly [number, number] {
  const { view, little } = cursor
  if (cursor.at + cursor.stride > view.byteLength) throw new RangeError('it ends too early')
  const [x, y] = [view.getFloat64(cursor.at, little), view.getFloat64(cursor.at + 8, little)]
  cursor.at += cursor.stride
  return convert(x, y)
}

/** Longitudes may be one turn too far, as those of rasters from 0 to 360 degrees. */
function onEarth(lng: number, lat: number): boolean {
  return Math.abs(lng) <= 540 && Math.abs(lat) <= 90
}

/**
 * The parts of a ring that meets the antimeridian: with longitudes beyond ±180, or with a side of more than 180 degrees,
 * which is the short way around. A side of 360 degrees is one of the whole world. Null for other rings.
 */
function acrossAntimeridian(ring: Float64Array): Float64Array[] | null {
  const positions: Position[] = []
  let isPlain = true
  for (let i = 0, turn = 0; i < ring.length; i += 2) {
    const step = i === 0 ? 0 : ring[i]! - ring[i - 2]!
    if (Math.abs(step) > 180 && Math.abs(step) < 360) turn -= Math.sign(step) * 360
    const lng = ring[i]! + turn
    isPlain &&= turn === 0 && Math.abs(lng) <= 180
    positions.push([lng, ring[i + 1]!])
  }
  return isPlain ? null : splitAtAntimeridian(positions).map((part) => Float64Array.from(part.flat()))
}

/** Closed rings of a square in degrees: one, or two across the antimeridian. */
function squareAround(far: number, lat: number, meters: number): Float64Array[] {
  const lng = Math.abs(far) > 180 ? far - 360 * Math.sign(far) : far
  const up = meters / 2 / METERS_PER_DEGREE
  const across = Math.min(180, up / Math.max(1e-6, Math.cos((lat * Math.PI) / 180)))
  const south = Math.max(-90, lat - up)
  const north = Math.min(90, lat + up)
  const box = (west: number, east: number) =>
    Float64Array.of(west, south, east, south, east, north, west, north, west, south)
  const west = lng - across
  const east = lng + across
  if (west < -180) return [box(west + 360, 180), box(-180, east)]
  if (east > 180) return [box(west, 180), box(-180, east - 360)]
  return [box(west, east)]
}
