import { badZooms } from './errors.ts'

/** World coordinates are whole numbers on a Web Mercator square of this side: 3.7 cm at the equator. */
export const WORLD_BITS = 30
export const WORLD = 2 ** WORLD_BITS

/** Tile coordinates run from 0 to EXTENT on each axis, `y` down (Vector Tile specification 2.1, section 4.1). */
export const EXTENT_BITS = 12
export const EXTENT = 1 << EXTENT_BITS

/** Buffer around a tile, in tile units: 5 pixels of a 256-pixel tile. */
export const BUFFER = (5 * EXTENT) / 256

/** The highest zoom: one tile unit is one world unit there. */
export const MAX_ZOOM = WORLD_BITS - EXTENT_BITS

/** Lowest and highest zoom; "auto" is 0 to a zoom that depends on the data and the maximum tile size. */
export type Zooms = readonly [number, number] | 'auto'

/**
 * Checks zooms without building anything.
 *
 * @throws BAD_ZOOMS
 */
export function checkZooms(zooms: Zooms): void {
  if (zooms === 'auto') return
  const [min, max] = zooms
  const isValid = Number.isInteger(min) && Number.isInteger(max) && min >= 0 && min <= max && max <= MAX_ZOOM
  if (!isValid) throw badZooms({ min, max, limit: MAX_ZOOM })
}

/** Highest latitude of Web Mercator, in degrees. */
const MAX_LATITUDE = 85.0511287798066

/** World x of a longitude in degrees, not rounded; beyond ±180 it continues past the square. */
export function worldX(lng: number): number {
  return (lng / 360 + 0.5) * WORLD
}

/** World y of a latitude in degrees, not rounded, clamped to the square. */
export function worldY(lat: number): number {
  if (lat >= MAX_LATITUDE) return 0
  if (lat <= -MAX_LATITUDE) return WORLD
  const sine = Math.sin((lat * Math.PI) / 180)
  return (0.5 - (0.25 * Math.log((1 + sine) / (1 - sine))) / Math.PI) * WORLD
}

/** Longitude in degrees of a world x. */
export function longitudeOf(x: number): number {
  return (x / WORLD - 0.5) * 360
}

/** Latitude in degrees of a world y. */
export function latitudeOf(y: number): number {
  return (Math.atan(Math.sinh((1 - (2 * y) / WORLD) * Math.PI)) * 180) / Math.PI
}

/** Side of one tile unit at a zoom, in world units. */
export function unitAt(zoom: number): number {
  return 1 << (MAX_ZOOM - zoom)
}
