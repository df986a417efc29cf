import { gzipBest } from '../tile/gzip.ts'
import { WORLD, latitudeOf, longitudeOf } from '../world.ts'
import { buildDirectories } from './directory.ts'
import { HEADER_LENGTH, writeHeader } from './header.ts'
import { tileOf } from './tile-id.ts'
import type { TileWriter } from './tile-writer.ts'

/** Minimum size of the pieces of an archive, except the last one. */
const PIECE_BYTES = 1 << 18

export interface ArchiveFacts {
  readonly minZoom: number
  readonly maxZoom: number
  readonly bounds: readonly [number, number, number, number]
  /** JSON of the archive; for vector tiles it must name the layers (PMTiles v3, section 5). */
  readonly metadata: Record<string, unknown>
}

/** A finished archive, ready to be read once from start to end. Dispose it to release its temporary files. */
export interface PmtilesArchive extends Disposable {
  readonly bytes: number
  /** Number of addressable tiles; several may share their content. */
  readonly tiles: number
  readonly minZoom: number
  readonly maxZoom: number
  /** West, south, east, north in degrees. */
  readonly bounds: readonly [number, number, number, number]
  /** Longitude, latitude and zoom of the largest tile of the highest zoom, within the bounds. */
  readonly center: readonly [number, number, number]
  readonly metadata: Record<string, unknown>
  /** The bytes in order. */
  read(): Generator<Uint8Array>
}

/** Puts header, directories and metadata before the tiles; the archive owns the writer from then on. */
export function assembleArchive(writer: TileWriter, facts: ArchiveFacts): PmtilesArchive {
  const { root, leaves } = buildDirectories(writer.entries, gzipBest)
  const metadata = gzipBest(new TextEncoder().encode(JSON.stringify(facts.metadata)))
  const center = centerOf(writer.largest.tileId, facts.bounds)
  const header = writeHeader({
    tiles: 'mvt',
    rootLength: root.length,
    metadataLength: metadata.length,
    leavesLength: leaves.length,
    dataLength: writer.data.length,
    addressedTiles: writer.entries.addressed,
    tileEntries: writer.entries.count,
    tileContents: writer.contents,
    minZoom: facts.minZoom,
    maxZoom: facts.maxZoom,
    bounds: facts.bounds,
    centerZoom: facts.maxZoom,
    center: [center[0], center[1]],
  })
  return {
    ...facts,
    bytes: HEADER_LENGTH + root.length + metadata.length + leaves.length + writer.data.length,
    tiles: writer.entries.addressed,
    center,
    read: () => inPieces([header, root, metadata, leaves], writer.data.read()),
    [Symbol.dispose]: () => writer[Symbol.dispose](),
  }
}

/** The middle of a tile, or the nearest point within the bounds. */
function centerOf(tileId: number, [west, south, east, north]: ArchiveFacts['bounds']): [number, number, number] {
  const { zoom, x, y } = tileOf(tileId)
  const side = WORLD / 2 ** zoom
  const lng = longitudeOf((x + 0.5) * side)
  const lat = latitudeOf((y + 0.5) * side)
  return [Math.max(west, Math.min(lng, east)), Math.max(south, Math.min(lat, north)), zoom]
}

/** Joins small buffers, so that writing needs few calls. */
function* inPieces(first: Iterable<Uint8Array>, rest: Iterable<Uint8Array>): Generator<Uint8Array> {
  let waiting: Uint8Array[] = []
  let size = 0
  for (const source of [first, rest]) {
    for (const bytes of source) {
      waiting.push(bytes)
      size += bytes.length
      if (size < PIECE_BYTES) continue
      yield Buffer.concat(waiting, size)
      waiting = []
      size = 0
    }
  }
  if (size > 0) yield Buffer.concat(waiting, size)
}
