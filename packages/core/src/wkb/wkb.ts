// Well-known binary: OGC 06-103r4 section 8. Heights and measures are marked by the thousands of ISO 13249-3 or by the
// flags of PostGIS. Coordinates are copied as bytes here, never decoded.
export const FLAG_Z = 0x80000000
export const FLAG_M = 0x40000000
export const FLAG_SRID = 0x20000000
export const ISO_Z = 1000
export const ISO_M = 2000
/** Bits of a geometry type without flags. */
export const TYPE_BITS = 0x1fffffff
/** Highest type code, that of a triangle. */
export const LAST_CODE = 17
const LINE = 2
const POLYGON = 3
const TO_MULTI = 3

/** Header of a geometry. */
export interface WkbHead {
  /** 1 point to 7 collection; above, up to 17, curves and surfaces. */
  readonly code: number
  readonly hasZ: boolean
  readonly hasM: boolean
}

/** Head of a geometry in WKB or EWKB; null when the bytes are no such geometry. */
export function wkbHead(wkb: Uint8Array): WkbHead | null {
  if (wkb.length < 5 || wkb[0]! > 1) return null
  const type = viewOf(wkb).getUint32(1, wkb[0] === 1)
  const iso = type & TYPE_BITS
  const code = iso % ISO_Z
  const thousands = (iso - code) / ISO_Z
  if (code < 1 || code > LAST_CODE || thousands > 3) return null
  return { code, hasZ: (type & FLAG_Z) !== 0 || (thousands & 1) === 1, hasM: (type & FLAG_M) !== 0 || thousands >= 2 }
}

/** Code of a geometry as in ISO WKB. */
export function isoType({ code, hasZ, hasM }: WkbHead): number {
  return code + (hasZ ? ISO_Z : 0) + (hasM ? ISO_M : 0)
}

/** Whether a geometry is a line or polygon, which can be converted to a collection of one. */
export function isPromotable(code: number): boolean {
  return code === LINE || code === POLYGON
}

/** Maximum bytes that {@link writeEwkb} adds to a geometry: an SRID and the header of a collection. */
export const EWKB_EXTRA = 13

/** The EWKB of a geometry in a reference system, coordinates unchanged; `multi` makes it a collection of one. */
export function toEwkb(wkb: Uint8Array, srid: number, multi: boolean): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(wkb.length + EWKB_EXTRA)
  return out.subarray(0, writeEwkb(out, 0, wkb, 0, wkb.length, srid, multi))
}

/** Writes {@link toEwkb} of `source[start, end)` into `target`, which many share to be cheaper; returns the end. */
export function writeEwkb(
  target: Uint8Array,
  at: number,
  source: Uint8Array,
  start: number,
  end: number,
  srid: number,
  multi: boolean,
): number {
  const order = source[start]!
  const little = order === 1
  const given = readUint32(source, start + 1, little)
  const body = start + (given & FLAG_SRID ? 9 : 5)
  const type = (given & ~FLAG_SRID) >>> 0
  const wrap = multi && isPromotable((type & 0xffff) % 1000)
  target[at] = order
  writeUint32(target, at + 1, ((wrap ? type + TO_MULTI : type) | FLAG_SRID) >>> 0, little)
  writeUint32(target, at + 5, srid, little)
  let to = at + 9
  if (wrap) {
    writeUint32(target, to, 1, little)
    target[to + 4] = order
    writeUint32(target, to + 5, type, little)
    to += 9
  }
  target.set(source.subarray(body, end), to)
  return to + end - body
}

function readUint32(bytes: Uint8Array, at: number, little: boolean): number {
  const [a, b, c, d] = [bytes[at]!, bytes[at + 1]!, bytes[at + 2]!, bytes[at + 3]!]
  return (little ? a | (b << 8) | (c << 16) | (d << 24) : d | (c << 8) | (b << 16) | (a << 24)) >>> 0
}

function writeUint32(bytes: Uint8Array, at: number, value: number, little: boolean): void {
  for (let i = 0; i < 4; i++) bytes[at + i] = value >>> (little ? 8 * i : 24 - 8 * i)
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
