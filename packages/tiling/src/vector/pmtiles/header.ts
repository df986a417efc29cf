/** Length of the header, and so the offset of the root directory. */
export const HEADER_LENGTH = 127

const GZIP_COMPRESSION = 2
const NO_COMPRESSION = 1
const TILE_TYPES = { mvt: 1, png: 2, jpeg: 3, webp: 4 } as const

export interface HeaderFields {
  /** Format of the tiles; vector tiles are gzipped, pictures are not. */
  readonly tiles: keyof typeof TILE_TYPES
  readonly rootLength: number
  readonly metadataLength: number
  readonly leavesLength: number
  readonly dataLength: number
  readonly addressedTiles: number
  readonly tileEntries: number
  readonly tileContents: number
  readonly minZoom: number
  readonly maxZoom: number
  /** West, south, east, north in degrees. */
  readonly bounds: readonly [number, number, number, number]
  readonly centerZoom: number
  /** Longitude and latitude in degrees. */
  readonly center: readonly [number, number]
}

/** The header of a clustered archive (PMTiles v3, section 3): sections follow one another. */
export function writeHeader(fields: HeaderFields): Uint8Array {
  const bytes = new Uint8Array(HEADER_LENGTH)
  const view = new DataView(bytes.buffer)
  bytes.set(new TextEncoder().encode('PMTiles'))
  bytes[7] = 3
  let offset = HEADER_LENGTH
  let at = 8
  for (const length of [fields.rootLength, fields.metadataLength, fields.leavesLength, fields.dataLength]) {
    view.setBigUint64(at, BigInt(offset), true)
    view.setBigUint64(at + 8, BigInt(length), true)
    offset += length
    at += 16
  }
  for (const count of [fields.addressedTiles, fields.tileEntries, fields.tileContents]) {
    view.setBigUint64(at, BigInt(count), true)
    at += 8
  }
  const compression = fields.tiles === 'mvt' ? GZIP_COMPRESSION : NO_COMPRESSION
  bytes.set([1, GZIP_COMPRESSION, compression, TILE_TYPES[fields.tiles], fields.minZoom, fields.maxZoom], at)
  at += 6
  for (const degrees of fields.bounds) {
    view.setInt32(at, Math.round(degrees * 1e7), true)
    at += 4
  }
  bytes[at++] = fields.centerZoom
  for (const degrees of fields.center) {
    view.setInt32(at, Math.round(degrees * 1e7), true)
    at += 4
  }
  return bytes
}
