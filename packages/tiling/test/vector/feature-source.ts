import type { AttributeValue, FeatureBatch } from '../../src/vector/index.ts'
import { WkbWriter } from './wkb-writer.ts'
import type { Geometry } from './wkb-writer.ts'

export interface TestFeature {
  readonly id?: number | bigint | null
  readonly geometry: Geometry | null
  readonly properties?: Readonly<Record<string, AttributeValue>>
}

/** Features as batches, in the order given. */
export async function* batchesOf(
  features: readonly TestFeature[],
  attributes: readonly string[],
  batchSize = 1000,
): AsyncGenerator<FeatureBatch> {
  for (let from = 0; from < features.length; from += batchSize) {
    const batch = features.slice(from, from + batchSize)
    const wkb = new WkbWriter()
    const ends = batch.map(({ geometry }) => {
      wkb.write(geometry)
      return wkb.at
    })
    yield {
      geometry: wkb.bytes.subarray(0, wkb.at),
      geometryEnds: Uint32Array.from(ends),
      ids: batch.map(({ id }) => id ?? null),
      columns: attributes.map((name) => batch.map(({ properties }) => properties?.[name] ?? null)),
    }
  }
}

export const point = (lng: number, lat: number): Geometry => ({ type: 'Point', coordinates: [lng, lat] })
export const line = (...coordinates: [number, number][]): Geometry => ({ type: 'LineString', coordinates })
export const polygon = (...rings: [number, number][][]): Geometry => ({
  type: 'Polygon',
  coordinates: rings.map((ring) => [...ring, ring[0]!]),
})
