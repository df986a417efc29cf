const POLYGON = 3
const MULTIPOLYGON = 6
const SRID_FLAG = 0x20000000
const SRID = 4326

/**
 * EWKB (little-endian, SRID 4326) of one ring per polygon, closed here when it is open: a Polygon for one, a MultiPolygon
 * for several. Rings are `[lng, lat, lng, lat, …]`.
 */
export function toEwkbPolygon(rings: readonly Float64Array[]): Uint8Array {
  const multi = rings.length !== 1
  let size = multi ? 13 : 0
  for (const ring of rings) size += (multi ? 13 : 17) + (ring.length / 2 + (isClosed(ring) ? 0 : 1)) * 16
  const bytes = Buffer.allocUnsafe(size)
  let at = 0
  if (multi) {
    at = bytes.writeUInt8(1, at)
    at = bytes.writeUInt32LE((MULTIPOLYGON | SRID_FLAG) >>> 0, at)
    at = bytes.writeUInt32LE(SRID, at)
    at = bytes.writeUInt32LE(rings.length, at)
  }
  for (const ring of rings) {
    at = bytes.writeUInt8(1, at)
    at = bytes.writeUInt32LE((multi ? POLYGON : POLYGON | SRID_FLAG) >>> 0, at)
    if (!multi) at = bytes.writeUInt32LE(SRID, at)
    at = bytes.writeUInt32LE(1, at)
    const closed = isClosed(ring)
    at = bytes.writeUInt32LE(ring.length / 2 + (closed ? 0 : 1), at)
    for (const value of ring) at = bytes.writeDoubleLE(value, at)
    if (!closed) {
      at = bytes.writeDoubleLE(ring[0] as number, at)
      at = bytes.writeDoubleLE(ring[1] as number, at)
    }
  }
  return bytes
}

function isClosed(ring: Float64Array): boolean {
  return ring[0] === ring.at(-2) && ring[1] === ring.at(-1)
}
