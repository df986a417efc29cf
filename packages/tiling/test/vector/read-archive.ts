import { gunzipSync } from 'node:zlib'
import { VectorTile } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import { Compression, PMTiles, tileIdToZxy } from 'pmtiles'
import type { Entry, Header, Source } from 'pmtiles'
import type { TilerResult } from '../../src/vector/index.ts'
import { area } from './validity.ts'
import type { Ring } from './validity.ts'

/** A feature as an independent reader sees it. */
export interface ReadFeature {
  readonly id: number | undefined
  readonly layer: string
  readonly type: 'point' | 'line' | 'polygon'
  readonly properties: Readonly<Record<string, string | number | boolean>>
  readonly parts: readonly Ring[]
}

export interface ReadTile {
  readonly zoom: number
  readonly x: number
  readonly y: number
  readonly bytes: number
  /** The tile itself, unpacked. */
  readonly data: Uint8Array
  readonly extent: number
  readonly layers: readonly string[]
  readonly features: readonly ReadFeature[]
}

export interface ReadArchive {
  readonly header: Header
  readonly metadata: Record<string, unknown>
  readonly entries: readonly Entry[]
  readonly tiles: readonly ReadTile[]
}

/** All bytes of an archive. */
export function bytesOf(archive: TilerResult): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.concat([...archive.read()]))
}

/** Reads every tile with the reference reader of PMTiles and the reference decoder of vector tiles. */
export async function readArchive(bytes: Uint8Array<ArrayBuffer>): Promise<ReadArchive> {
  const source: Source = {
    getKey: () => 'memory',
    getBytes: async (offset, length) => ({ data: bytes.slice(offset, offset + length).buffer }),
  }
  // The reader's own unpacking opens a stream for each tile.
  const archive = new PMTiles(source, undefined, async (packed, compression) =>
    compression === Compression.Gzip ? Uint8Array.from(gunzipSync(packed)).buffer : packed,
  )
  const header = await archive.getHeader()
  const entries: Entry[] = []
  const walk = async (offset: number, length: number): Promise<void> => {
    for (const entry of await archive.cache.getDirectory(source, offset, length, header)) {
      if (entry.runLength > 0) entries.push(entry)
      else await walk(header.leafDirectoryOffset + entry.offset, entry.length)
    }
  }
  await walk(header.rootDirectoryOffset, header.rootDirectoryLength)
  const tiles: ReadTile[] = []
  for (const entry of entries) {
    for (let run = 0; run < entry.runLength; run++) {
      const [zoom, x, y] = tileIdToZxy(entry.tileId + run)
      const tile = await archive.getZxy(zoom, x, y)
      const data = new Uint8Array(tile!.data)
      tiles.push({ zoom, x, y, bytes: entry.length, data, ...decode(data) })
    }
  }
  return { header, metadata: (await archive.getMetadata()) as Record<string, unknown>, entries, tiles }
}

function decode(data: Uint8Array): Pick<ReadTile, 'extent' | 'layers' | 'features'> {
  const { layers } = new VectorTile(new PbfReader(data))
  const features = Object.values(layers).flatMap((layer) =>
    Array.from({ length: layer.length }, (_, i): ReadFeature => {
      const feature = layer.feature(i)
      const type = (['unknown', 'point', 'line', 'polygon'] as const)[feature.type]
      if (type === 'unknown') throw new Error('a feature has no type')
      const parts = feature.loadGeometry().map((part) => {
        const ring = part.map(({ x, y }): [number, number] => [x, y])
        return type === 'polygon' ? ring.slice(0, -1) : ring
      })
      return { id: feature.id, layer: layer.name, type, properties: { ...feature.properties }, parts }
    }),
  )
  return { extent: Object.values(layers)[0]!.extent, layers: Object.keys(layers), features }
}

/** Groups rings into polygons by their winding: an outer ring begins one. */
export function polygonsOf(rings: readonly Ring[]): Ring[][] {
  const polygons: Ring[][] = []
  for (const ring of rings) {
    if (area(ring) > 0) polygons.push([ring])
    else polygons.at(-1)?.push(ring)
  }
  return polygons
}
