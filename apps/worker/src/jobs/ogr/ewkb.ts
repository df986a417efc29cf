/** Flags of an EWKB type, in the hexadecimal digit that holds them, and codes. */
const FLAG_Z = 8
const FLAG_M = 4
const FLAG_SRID = 2
const LINE = 2
const POLYGON = 3
const TO_MULTI = 3
const LAST_CODE = 17

const NAMES = [
  '',
  'Point',
  'LineString',
  'Polygon',
  'MultiPoint',
  'MultiLineString',
  'MultiPolygon',
  'GeometryCollection',
]

const DIGITS = Buffer.from('0123456789ABCDEF')
const VALUES = Uint8Array.from({ length: 256 }, (_, byte) => Number.parseInt(String.fromCharCode(byte), 16) || 0)
/** By code and flags, the same object for the same type. */
const TYPES = Array.from({ length: 32 << 4 }, (_, bits): EwkbType => {
  return { code: bits >> 4, hasZ: (bits & FLAG_Z) !== 0, hasM: (bits & FLAG_M) !== 0 }
})

/** What an EWKB geometry is. */
export interface EwkbType {
  /** 1 point to 7 collection; above, up to 17, curves and surfaces. */
  readonly code: number
  readonly hasZ: boolean
  readonly hasM: boolean
}

/** The hexadecimal text of a little-endian EWKB geometry: bytes 01, type, SRID if flagged, and the rest. */
const ORDER_DIGITS = 2
const TYPE_DIGITS = 8
const CODE_AT = 3
const FLAGS_AT = 8
const HEAD_DIGITS = ORDER_DIGITS + TYPE_DIGITS
const SRID_DIGITS = 8
/** Digits that {@link writePromoted} adds at most. */
export const PROMOTED_DIGITS = 8 + HEAD_DIGITS
const ONE = Buffer.from('01000000')

/**
 * What the geometry in hexadecimal text at an offset is; null when that is no such text. Heights and measures are told by
 * flags, or by thousands added to the code as in ISO 13249-3: GDAL writes measures that way.
 */
export function ewkbTypeAt(hex: Buffer, at: number): EwkbType | null {
  const iso = digit(hex[at + 2]) * 16 + digit(hex[at + 3]) + digit(hex[at + 4]) * 4096 + digit(hex[at + 5]) * 256
  const code = iso % 1000
  if (digit(hex[at + 1]) !== 1 || code < 1 || code > LAST_CODE || iso >= 4000) return null
  const thousands = iso < 1000 ? 0 : Math.trunc(iso / 1000)
  const flags = (thousands & 1 ? FLAG_Z : 0) | (thousands & 2 ? FLAG_M : 0) | digit(hex[at + FLAGS_AT])
  return TYPES[(code << 4) | (flags & (FLAG_Z | FLAG_M))]!
}

/** The type without measures of a code, with or without heights. */
export function ewkbTypeOf(code: number, hasZ: boolean): EwkbType {
  return TYPES[(code << 4) | (hasZ ? FLAG_Z : 0)]!
}

/** Whether a geometry is a line or polygon, which can be a collection of one. */
export function isPromotable({ code }: EwkbType): boolean {
  return code === LINE || code === POLYGON
}

/** The type of a collection of such geometries. */
export function promotedType({ code, hasZ, hasM }: EwkbType): EwkbType {
  return TYPES[((code + TO_MULTI) << 4) | (hasZ ? FLAG_Z : 0) | (hasM ? FLAG_M : 0)]!
}

/** Writes the hexadecimal text of a line or polygon as that of a collection of one; returns where it ends. */
export function writePromoted(hex: Buffer, start: number, end: number, out: Buffer, at: number): number {
  const hasSrid = (digit(hex[start + FLAGS_AT]) & FLAG_SRID) !== 0
  const bodyAt = start + HEAD_DIGITS + (hasSrid ? SRID_DIGITS : 0)
  let to = at + hex.copy(out, at, start, bodyAt)
  out[at + CODE_AT] = DIGITS[digit(hex[start + CODE_AT]) + TO_MULTI]!
  to += ONE.copy(out, to)
  const part = to
  to += hex.copy(out, to, start, start + HEAD_DIGITS)
  out[part + FLAGS_AT] = DIGITS[digit(hex[start + FLAGS_AT]) & ~FLAG_SRID]!
  return to + hex.copy(out, to, bodyAt, end)
}

/** Value of a hexadecimal digit, 0 for any other byte. */
function digit(byte = 0): number {
  return VALUES[byte]!
}

/** The one type of a column that holds geometries of these types, and how to bring them to it; PostGIS's names. */
export function columnTypeOf(types: readonly EwkbType[]): { readonly name: string; readonly convert: string } {
  const codes = [...new Set(types.map(({ code }) => code))].toSorted((a, b) => a - b)
  const hasZ = types.some((type) => type.hasZ)
  const isMixedZ = hasZ && types.some((type) => !type.hasZ)
  // Measures are no part of a map: they go.
  const force = types.some((type) => type.hasM) || isMixedZ ? (hasZ ? 'st_force3dz' : 'st_force2d') : null
  const isSingleAndMulti = codes.length === 2 && codes[0]! + TO_MULTI === codes[1]
  const code = codes.length === 1 ? codes[0]! : isSingleAndMulti ? codes[1]! : 0
  const forced = force ? `${force}(geom)` : 'geom'
  return {
    name: `${NAMES[code] || 'Geometry'}${hasZ ? 'Z' : ''}`,
    convert: isSingleAndMulti ? `st_multi(${forced})` : forced,
  }
}

/** Code of a type by its name in any case, 0 for none. */
export function ewkbCodeOf(name: string): number {
  return Math.max(
    0,
    NAMES.findIndex((known) => known.toUpperCase() === name.toUpperCase()),
  )
}
