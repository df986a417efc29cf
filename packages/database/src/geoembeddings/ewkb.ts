import { WkbWriter } from '@terrane/core'

const POLYGON = 3
const MULTIPOLYGON = 6
const writer = new WkbWriter('xy', 4326)

/** Little-endian EWKB (4326) of rings `[lng, lat, …]`, closed if open: a Polygon of one, a MultiPolygon of several. */
export function toEwkbPolygon(rings: readonly Float64Array[]): Uint8Array {
  if (rings.length !== 1) {
    writer.head(MULTIPOLYGON)
    writer.count(rings.length)
  }
  for (const ring of rings) {
    const isClosed = ring[0] === ring.at(-2) && ring[1] === ring.at(-1)
    writer.head(POLYGON)
    writer.count(1)
    writer.count(ring.length / 2 + (isClosed ? 0 : 1))
    for (let i = 0; i < ring.length; i += 2) writer.xy(ring[i]!, ring[i + 1]!)
    if (!isClosed) writer.xy(ring[0]!, ring[1]!)
  }
  return writer.take()
}
