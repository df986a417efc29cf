import { writeFile } from 'node:fs/promises'
import { buildPmtiles, type FeatureBatch } from '@terrane/tiling/vector'

/** Archives named geometries, each WKB in EPSG:4326, and returns the result. */
export async function archivePlaces(wkb: Uint8Array[], names: string[], path: string): Promise<string> {
  async function* batches(): AsyncGenerator<FeatureBatch> {
    let end = 0
    const geometryEnds = Uint32Array.from(wkb, ({ length }) => (end += length))
    yield { geometry: Buffer.concat(wkb), geometryEnds, ids: null, columns: [names] }
  }
  using archive = await buildPmtiles(batches(), { layers: [{ name: 'places', attributes: ['name'] }], zooms: [0, 10] })
  await writeFile(path, archive.read())
  return `${archive.features} features in ${archive.tiles} tiles of zooms ${archive.minZoom} to ${archive.maxZoom}`
}
