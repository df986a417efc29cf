import { WkbWriter, isoCode, type Dimensions } from './wkb-writer.ts'

const CODES: Readonly<Record<string, number>> = {
  Point: 1,
  LineString: 2,
  Polygon: 3,
  MultiPoint: 4,
  MultiLineString: 5,
  MultiPolygon: 6,
  GeometryCollection: 7,
}
const POINT = 1
const COLLECTION = 7
const TO_SINGLE = 3
/** Nesting depth of positions in the coordinates, by type code. */
const DEPTHS = [0, 0, 1, 2, 1, 2, 3]
const EMPTY_POINT = [Number.NaN, Number.NaN, Number.NaN, Number.NaN]

/** A GeoJSON geometry (RFC 7946, section 3.1); positions are `[x, y]` or `[x, y, z]`. */
export interface GeoJsonGeometry {
  readonly type: string
  readonly coordinates?: unknown
  readonly geometries?: readonly GeoJsonGeometry[]
}

/**
 * The ISO WKB (little-endian) of a GeoJSON geometry; null for other values. If any position has a height, all get one:
 * 0 by default. `dimensions` replaces the dimensions of the positions.
 */
export function wkbOfGeoJson(geometry: GeoJsonGeometry, dimensions?: Dimensions): Uint8Array<ArrayBuffer> | null {
  const writer = new WkbWriter(dimensions ?? (hasHeight(geometry) ? 'xyz' : 'xy'))
  return writeGeometry(writer, geometry) ? writer.take() : null
}

/** The ISO type of the result of {@link wkbOfGeoJson}; null for other values. */
export function geoJsonType(geometry: GeoJsonGeometry): number | null {
  const code = CODES[geometry.type]
  return code === undefined ? null : isoCode(code, hasHeight(geometry) ? 'xyz' : 'xy')
}

function writeGeometry(writer: WkbWriter, geometry: GeoJsonGeometry): boolean {
  if (geometry === null || typeof geometry !== 'object') return false
  const { type, coordinates, geometries } = geometry
  const code = CODES[type]
  if (code === undefined) return false
  writer.head(code)
  if (code === COLLECTION) {
    if (!Array.isArray(geometries)) return false
    writer.count(geometries.length)
    return geometries.every((part) => writeGeometry(writer, part))
  }
  if (!Array.isArray(coordinates)) return false
  if (code <= TO_SINGLE) return writeSingle(writer, code, coordinates)
  writer.count(coordinates.length)
  return coordinates.every((part: unknown) => {
    writer.head(code - TO_SINGLE)
    return writeSingle(writer, code - TO_SINGLE, part)
  })
}

/** A point, line or polygon; a point without coordinates is an empty point. */
function writeSingle(writer: WkbWriter, code: number, coordinates: unknown): boolean {
  if (code !== POINT || !Array.isArray(coordinates) || coordinates.length > 0)
    return writeNested(writer, coordinates, DEPTHS[code]!)
  writer.position(EMPTY_POINT)
  return true
}

/** Writes positions that are nested `depth` lists deep, with a count before each list. */
function writeNested(writer: WkbWriter, part: unknown, depth: number): boolean {
  if (!Array.isArray(part)) return false
  if (depth === 0) {
    if (typeof part[0] !== 'number' || typeof part[1] !== 'number') return false
    if (part.length === 2 && writer.isFlat) writer.xy(part[0], part[1])
    else writer.position(part.every((number) => typeof number === 'number') ? part : numbersOf(part))
    return true
  }
  writer.count(part.length)
  for (const inner of part) if (!writeNested(writer, inner, depth - 1)) return false
  return true
}

function numbersOf(position: readonly unknown[]): number[] {
  return position.map((number) => (typeof number === 'number' ? number : 0))
}

function hasHeight(geometry: GeoJsonGeometry): boolean {
  if (geometry === null || typeof geometry !== 'object') return false
  const { coordinates, geometries } = geometry
  return geometries ? Array.isArray(geometries) && geometries.some(hasHeight) : positionHasHeight(coordinates)
}

function positionHasHeight(coordinates: unknown): boolean {
  if (!Array.isArray(coordinates)) return false
  if (typeof coordinates[0] === 'number') return coordinates.length > 2 && typeof coordinates[2] === 'number'
  for (const part of coordinates) if (positionHasHeight(part)) return true
  return false
}
