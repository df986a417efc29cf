import { gzipSync } from 'fflate'
import { TileEntries, buildDirectories, writeHeader, type HeaderFields } from '@terrane/tiling/pmtiles'
import type { Box } from '../map/graticule.ts'

/** Description of the tiles of an archive. */
export interface ArchiveFacts {
  readonly tiles: HeaderFields['tiles']
  readonly zooms: readonly [number, number]
  readonly bounds: Box
  /** Names of the layers in vector tiles. */
  readonly layers: readonly string[]
}

/** The parts of a PMTiles archive of tiles by their TileID. Vector tiles are compressed here. */
export function packArchive(tiles: ReadonlyMap<number, Uint8Array>, facts: ArchiveFacts): Uint8Array<ArrayBuffer>[] {
  const entries = new TileEntries()
  const data: Uint8Array[] = []
  let offset = 0
  for (const [id, bytes] of [...tiles].toSorted(([a], [b]) => a - b)) {
    const packed = facts.tiles === 'mvt' ? gzipSync(bytes, { mtime: 0 }) : bytes
    entries.add(id, offset, packed.length)
    data.push(packed)
    offset += packed.length
  }
  const { root, leaves } = buildDirectories(entries, (bytes) => gzipSync(bytes, { mtime: 0 }))
  const about = facts.tiles === 'mvt' ? { vector_layers: facts.layers.map((id) => ({ id, fields: {} })) } : {}
  const metadata = gzipSync(new TextEncoder().encode(JSON.stringify(about)), { mtime: 0 })
  const [west, south, east, north] = facts.bounds
  const header = writeHeader({
    tiles: facts.tiles,
    rootLength: root.length,
    metadataLength: metadata.length,
    leavesLength: leaves.length,
    dataLength: offset,
    addressedTiles: entries.addressed,
    tileEntries: entries.count,
    tileContents: entries.count,
    minZoom: facts.zooms[0],
    maxZoom: facts.zooms[1],
    bounds: facts.bounds,
    centerZoom: facts.zooms[0],
    center: [(west + east) / 2, (south + north) / 2],
  })
  return [header, root, metadata, leaves, ...data] as Uint8Array<ArrayBuffer>[]
}
