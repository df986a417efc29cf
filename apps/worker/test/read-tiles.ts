import { VectorTile, type VectorTileFeature } from '@mapbox/vector-tile'
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

  /** Features of the first layer of a tile, by id. */
  async features(zoom: number, x: number, y: number): Promise<Map<number | undefined, Record<string, unknown>>> {
    const [layer] = Object.values(await this.#decode(zoom, x, y))
    return new Map(layer?.map(({ id, properties }) => [id, { ...properties }]))
  }

  /** Properties of the features of a tile, by layer. */
  async layers(zoom: number, x: number, y: number): Promise<Record<string, Record<string, unknown>[]>> {
    const layers = Object.entries(await this.#decode(zoom, x, y))
    return Object.fromEntries(
      layers.map(([name, features]) => [name, features.map(({ properties }) => ({ ...properties }))]),
    )
  }

  async #decode(zoom: number, x: number, y: number): Promise<Record<string, VectorTileFeature[]>> {
    const tile = await this.archive.getZxy(zoom, x, y)
    if (!tile) return {}
    const { layers } = new VectorTile(new PbfReader(new Uint8Array(tile.data)))
    return Object.fromEntries(
      Object.entries(layers).map(([name, layer]) => [
        name,
        Array.from({ length: layer.length }, (_, i) => layer.feature(i)),
      ]),
    )
  }
}
