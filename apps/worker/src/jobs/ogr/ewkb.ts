/** Flags and code of an EWKB type. */
const FLAG_Z = 0x80000000
const FLAG_M = 0x40000000
const FLAG_SRID = 0x20000000
const LINE = 2
const POLYGON = 3
const TO_MULTI = 3

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

/** What an EWKB geometry is. */
export interface EwkbType {
  /** 1 point to 7 collection. */
  readonly code: number
  readonly hasZ: boolean
  readonly hasM: boolean
}

export function ewkbTypeOf(ewkb: Buffer): EwkbType {
  const type = ewkb[0] === 1 ? ewkb.readUInt32LE(1) : ewkb.readUInt32BE(1)
  return { code: type & 0xff, hasZ: (type & FLAG_Z) !== 0, hasM: (type & FLAG_M) !== 0 }
}

/** A line or polygon as a collection of one, any other geometry as it is. */
export function promoted(ewkb: Buffer): Buffer {
  const little = ewkb[0] === 1
  const type = little ? ewkb.readUInt32LE(1) : ewkb.readUInt32BE(1)
  const code = type & 0xff
  if (code !== LINE && code !== POLYGON) return ewkb
  const headSize = type & FLAG_SRID ? 9 : 5
  const out = Buffer.alloc(headSize + 4 + 5 + ewkb.length - headSize)
  ewkb.copy(out, 0, 0, headSize)
  const write = (value: number, at: number) => (little ? out.writeUInt32LE(value, at) : out.writeUInt32BE(value, at))
  write(type + TO_MULTI, 1)
  write(1, headSize)
  out[headSize + 4] = ewkb[0]!
  write((type & ~FLAG_SRID) >>> 0, headSize + 5)
  ewkb.copy(out, headSize + 9, headSize)
  return out
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
