import { wkbOfGeoJson, type GeoJsonGeometry as Geometry } from '@terrane/core'
import type { AttributeValue, FeatureBatch } from '../../src/vector/index.ts'

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
    const parts = batch.map(({ geometry }) => (geometry ? wkbOfGeoJson(geometry, 'xy')! : new Uint8Array()))
    let end = 0
    const ends = parts.map((part) => (end += part.length))
    const geometry = new Uint8Array(end)
    for (const [i, part] of parts.entries()) geometry.set(part, ends[i]! - part.length)
    yield {
      geometry,
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
