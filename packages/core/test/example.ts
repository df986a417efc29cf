import { defineError, readAoi } from '@terrane/core'

const tooFar = defineError(
  'TOO_FAR',
  'invalid',
  (f: { place: string }) => `${f.place} lies outside of the area`,
  () => ({ hint: 'Choose a place within it.' }),
)

export function requireWithin(area: unknown, place: string, lng: number, lat: number): number {
  const aoi = readAoi(area, { maxVertices: 1000, maxAreaKm2: 10_000 })
  if (!aoi.containsPoint(lng, lat)) throw tooFar({ place })
  return aoi.areaKm2
}
