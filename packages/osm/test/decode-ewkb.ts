/** A GeoJSON-like geometry from EWKB, little-endian, SRID 4326: a reader of its own, for the writer's sake. */
export function decodeEwkb(bytes: Uint8Array): { type: string; coordinates: unknown } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  const uint32 = (): number => view.getUint32((at += 4) - 4, true)
  const float64 = (): number => view.getFloat64((at += 8) - 8, true)
  const head = (srid: boolean): number => {
    if (view.getUint8(at++) !== 1) throw new Error('not little-endian')
    const type = uint32()
    if (type >>> 28 !== (srid ? 2 : 0)) throw new Error(`flags of type ${type.toString(16)}`)
    if (srid && uint32() !== 4326) throw new Error('not SRID 4326')
    return type & 0xff
  }
  const list = <T>(read: () => T): T[] => Array.from({ length: uint32() }, read)
  const point = (): number[] => [float64(), float64()]
  const part = <T>(type: number, read: () => T): T => {
    if (head(false) !== type) throw new Error('a part of another type')
    return read()
  }
  const readers: Record<number, [string, () => unknown]> = {
    1: ['Point', point],
    2: ['LineString', () => list(point)],
    5: ['MultiLineString', () => list(() => part(2, () => list(point)))],
    6: ['MultiPolygon', () => list(() => part(3, () => list(() => list(point))))],
  }
  const [type, read] = readers[head(true)] ?? ['unknown', () => null]
  const coordinates = read()
  if (at !== bytes.length) throw new Error(`${bytes.length - at} bytes are left`)
  return { type, coordinates }
}
