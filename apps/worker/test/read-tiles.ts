import { VectorTile } from '@mapbox/vector-tile'
import type { ObjectStore } from '@terrane/storage'
import { PbfReader } from 'pbf'
import { PMTiles, type Header, type Source } from 'pmtiles'

/** An archive in storage, read by ranges as a browser would. */
export class StoredTiles {
  readonly archive: PMTiles

  constructor(store: ObjectStore, key: string) {
    const source: Source = {
      getKey: () => key,
      getBytes: async (offset, length) => {
        const info = await store.head('pmtiles', key)
        if (!info) throw new Error(`there is no ${key}`)
        const end = Math.min(offset + length, info.size) - 1
        const { body } = await store.get('pmtiles', key, { range: { start: offset, end } })
        const chunks: Uint8Array[] = []
        for await (const chunk of body) chunks.push(chunk)
        return { data: Uint8Array.from(Buffer.concat(chunks)).buffer, etag: info.etag }
      },
    }
    this.archive = new PMTiles(source)
  }

  header(): Promise<Header> {
    return this.archive.getHeader()
  }

  /** Features of the one layer of a tile, by id. */
  async features(zoom: number, x: number, y: number): Promise<Map<number | undefined, Record<string, unknown>>> {
    const tile = await this.archive.getZxy(zoom, x, y)
    if (!tile) return new Map()
    const [layer] = Object.values(new VectorTile(new PbfReader(new Uint8Array(tile.data))).layers)
    return new Map(
      Array.from({ length: layer!.length }, (_, i) => {
        const { id, properties } = layer!.feature(i)
        return [id, { ...properties }]
      }),
    )
  }
}
