import { wkbHead, wkbOfGeoJson, type GeoJsonGeometry } from '@terrane/core/wkb'
import type { Warnings } from '@terrane/core/errors'
import { degreesOfText, pairOfText, type Axis } from './sexagesimal.ts'
import { wkbOfWkt } from './wkt.ts'

export const UNREADABLE = 'Coordinates or WKT that cannot be read were left out of their rows.'

const LONGEST_PAIR = 60
const PLAIN_PAIR = /^(-?\d{1,3}\.\d{2,20})(?: ?[,;] ?| )(-?\d{1,3}\.\d{2,20})$/
const HEX = /^[0-9a-f]{10,}$/i
const SRID_OF_WKT = /^SRID=(\d{1,9});/i
const FLAG_SRID = 0x20000000
/** Beginnings of geometries in text; a text with one is parsed to decide. */
const GEOMETRY_START =
  /^(?:(?:SRID=\d{1,9};)?(?:MULTI)?(?:POINT|LINESTRING|POLYGON|CURVE|SURFACE|GEOMETRYCOLLECTION|CIRCULARSTRING|COMPOUNDCURVE|CURVEPOLYGON)\b|\{|0[01][0-9a-f]{8})/i

/**
 * Parses a coordinate: a number with a decimal point or comma, or degrees, minutes and seconds, also together with the
 * coordinate of the other axis. Null for other values, and for a letter of the other axis.
 */
export function coordinateOf(value: unknown, axis: Axis): number | null {
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value)
  const plain = typeof value === 'string' ? value.trim().replace(/^([+-]?\d+),(\d+)$/, '$1.$2') : ''
  if (plain === '') return null
  const number = Number(plain)
  if (!Number.isNaN(number)) return number
  const found = degreesOfText(plain)
  if (found === null) return pairOfText(plain)?.[axis] ?? null
  return found.axis !== null && found.axis !== axis ? null : found.degrees
}

/** The WKB of a geometry in WKT, EWKT, GeoJSON, or WKB in hexadecimal as databases print it; null for other text. */
export function geometryOfText(text: string): Uint8Array | null {
  if (text === '') return null
  if (HEX.test(text)) {
    const bytes = Buffer.from(text, 'hex')
    return wkbHead(bytes) ? bytes : null
  }
  return text.startsWith('{') ? geometryOfJson(text) : wkbOfWkt(text)
}

/** The EPSG code in EWKT or EWKB; null without one. */
export function sridOfText(text: string): number | null {
  const said = SRID_OF_WKT.exec(text)?.[1]
  if (said !== undefined) return Number(said)
  if (text.length < 18 || !HEX.test(text.slice(0, 18))) return null
  const head = Buffer.from(text.slice(0, 18), 'hex')
  const isLittle = head[0] === 1
  const type = isLittle ? head.readUInt32LE(1) : head.readUInt32BE(1)
  if ((type & FLAG_SRID) === 0) return null
  return isLittle ? head.readUInt32LE(5) : head.readUInt32BE(5)
}

/** Whether a text is a geometry. Fast for texts that do not begin like one. */
export function isGeometryText(text: string): boolean {
  const plain = text.trim()
  return GEOMETRY_START.test(plain) && geometryOfText(plain) !== null
}

/** Whether a text is two numbers that are most likely degrees in an unknown order: `48.137, 11.575`. */
export function isPlainPair(text: string): boolean {
  if (text.length > LONGEST_PAIR) return false
  const numbers = PLAIN_PAIR.exec(text.trim())?.slice(1).map(Number) ?? []
  const [least = 999, most = 999] = numbers.map(Math.abs).toSorted((a, b) => a - b)
  return least <= 90 && most <= 180
}

/** Warns of columns with two coordinates each. */
export function pairedColumns(names: readonly string[], warnings: Warnings): void {
  const message =
    'Columns hold two numbers each that may be latitude and longitude or the reverse, so the table has no geometry: write them in two columns.'
  warnings.add('COORDINATES_DOUBTFUL', message, names.length, names)
}

/** Warns of columns that look like coordinates when it is not clear which of them to use. */
export function doubtfulColumns(names: readonly string[], warnings: Warnings): void {
  if (names.length === 0) return
  const message =
    'Columns are called as coordinates are, but which two belong together is not plain, so the table has no geometry: name them in csv.x and csv.y.'
  warnings.add('COORDINATES_DOUBTFUL', message, names.length, names)
}

/** Warns of columns with usual names of coordinates whose values cannot be read. */
export function unreadableColumns(names: readonly string[], warnings: Warnings): void {
  const message =
    'Columns are called as coordinates are, but none of their values can be read as one, so the table has no geometry. Write them in decimal degrees.'
  warnings.add('COORDINATES_UNREADABLE', message, names.length, names)
}

function geometryOfJson(text: string): Uint8Array | null {
  try {
    return wkbOfGeoJson(JSON.parse(text) as GeoJsonGeometry)
  } catch {
    return null
  }
}
