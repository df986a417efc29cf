import { wkbOfGeoJson, type Dimensions } from '@terrane/core/wkb'
import { wkbOfWkt } from './wkt.ts'

const WGS84 = 4326
/** Encodings of GeoArrow 0.2 and of GeoParquet 1.1, and GeoJSON's names for them. */
const NESTED: Readonly<Record<string, string>> = {
  point: 'Point',
  linestring: 'LineString',
  polygon: 'Polygon',
  multipoint: 'MultiPoint',
  multilinestring: 'MultiLineString',
  multipolygon: 'MultiPolygon',
}

/** Converts a value to WKB; null for an invalid geometry. */
export type GeometryDecoder = (value: unknown) => Uint8Array | null

/**
 * The decoder of an encoding: `WKB`, `WKT` or the name of a type, with or without `geoarrow.` before it; null for one that
 * is not known. Values of a type are lists of positions, each `{x, y, …}` or a list of numbers in the order of
 * `dimensions`.
 */
export function geometryDecoder(encoding: string, dimensions: Dimensions): GeometryDecoder | null {
  const name = encoding.toLowerCase().replace(/^(geoarrow|ogc)\./, '')
  if (name === 'wkb') return (value) => (value instanceof Uint8Array && value.length > 0 ? value : null)
  if (name === 'wkt') return (value) => (typeof value === 'string' ? wkbOfWkt(value) : null)
  const type = NESTED[name]
  if (type === undefined) return null
  return (value) => {
    if (value === null || value === undefined) return null
    return wkbOfGeoJson({ type, coordinates: positionsOf(value, dimensions) }, dimensions)
  }
}

/** The dimensions by the names of fields, or by the name of a list's numbers, such as `xyz`. */
export function dimensionsOf(names: readonly string[]): Dimensions {
  const letters = names.join('').toLowerCase()
  return `xy${letters.includes('z') ? 'z' : ''}${letters.includes('m') ? 'm' : ''}` as Dimensions
}

/** EPSG code of a file's reference system: PROJJSON, a name, or WKT. Null without one. */
export function sridOfCrs(crs: unknown): number | null {
  if (typeof crs === 'string') return sridOfText(crs)
  const { authority, code } = (crs as { id?: { authority?: unknown; code?: unknown } } | null)?.id ?? {}
  // It differs from EPSG:4326 in the order of its axes only.
  if (authority === 'OGC' && code === 'CRS84') return WGS84
  return authority === 'EPSG' ? Number(code) : null
}

function sridOfText(text: string): number | null {
  const plain = text.trim()
  if (plain.startsWith('{')) return sridOfCrs(JSON.parse(plain))
  if (/^OGC:CRS84$|\bID\["OGC",\s*"CRS84"\]\]$/i.test(plain)) return WGS84
  const [, code] =
    /^EPSG:(\d+)$/i.exec(plain) ?? /(?:AUTHORITY\["EPSG",\s*"|ID\["EPSG",\s*)(\d+)"?\]\]$/i.exec(plain) ?? []
  return code === undefined ? null : Number(code)
}

function positionsOf(value: unknown, dimensions: Dimensions): unknown {
  if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    const list = Array.from(value as ArrayLike<unknown>)
    // A position without numbers is that of an empty point.
    if (list[0] === null) return Array.from(dimensions, () => Number.NaN)
    return typeof list[0] === 'number' ? list : list.map((part) => positionsOf(part, dimensions))
  }
  const position = value as Readonly<Record<string, number>>
  return Array.from(dimensions, (letter) => position[letter] ?? Number.NaN)
}
