import type { LngLatBox, Shape } from '@terrane/tiling/raster'
import { badFeature } from './errors.ts'
import type { ToLngLat } from './parameters.ts'

/** Longest body with an area. */
export const MAX_SHAPE_BYTES = 4 << 20
const MAX_VERTICES = 50_000

/** An area in longitude and latitude, and the box around it. */
export interface FeatureArea {
  readonly box: LngLatBox
  readonly shape: Shape
}

/** The area of a GeoJSON Feature with a Polygon or MultiPolygon. @throws BAD_FEATURE */
export function readFeature(body: unknown, toLngLat: ToLngLat): FeatureArea {
  const { type, geometry } = (body ?? {}) as { type?: unknown; geometry?: { type?: unknown; coordinates?: unknown } }
  if (type !== 'Feature') throw badFeature({ why: 'it is no Feature' })
  const { type: kind, coordinates } = geometry ?? {}
  if (kind !== 'Polygon' && kind !== 'MultiPolygon')
    throw badFeature({ why: 'its geometry is no Polygon or MultiPolygon' })
  const polygons = kind === 'Polygon' ? [coordinates] : listOf(coordinates)
  const shape = polygons.flatMap((polygon) => listOf(polygon).map((ring) => ringOf(ring, toLngLat)))
  const all = shape.flat()
  if (all.length === 0 || all.length > MAX_VERTICES)
    throw badFeature({ why: `1 to ${MAX_VERTICES} vertices are allowed` })
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const [lng, lat] of all) {
    west = Math.min(west, lng)
    south = Math.min(south, lat)
    east = Math.max(east, lng)
    north = Math.max(north, lat)
  }
  if (!(west < east && south < north)) throw badFeature({ why: 'it has no area' })
  return { box: [west, south, east, north], shape }
}

/** Features of a body, each with its area. @throws BAD_FEATURE */
export function readFeatures(
  body: unknown,
  most: number,
  toLngLat: ToLngLat,
): { readonly feature: object; readonly area: FeatureArea }[] {
  const { type, features } = (body ?? {}) as { type?: unknown; features?: unknown }
  if (type !== 'FeatureCollection') return [{ feature: body as object, area: readFeature(body, toLngLat) }]
  const list = listOf(features)
  if (list.length === 0 || list.length > most) throw badFeature({ why: `1 to ${most} features are allowed` })
  return list.map((feature) => ({ feature: feature as object, area: readFeature(feature, toLngLat) }))
}

function ringOf(value: unknown, toLngLat: ToLngLat): readonly (readonly [number, number])[] {
  const ring = listOf(value).map((position) => {
    const [x, y] = listOf(position)
    const [lng, lat] = typeof x === 'number' && typeof y === 'number' ? toLngLat(x, y) : [Number.NaN, Number.NaN]
    const isPlace = Math.abs(lng) <= 180 && Math.abs(lat) <= 85.05
    if (!isPlace) throw badFeature({ why: 'a position is not within Web Mercator, in degrees or in coord_crs' })
    return [lng, lat] as const
  })
  const [first, last] = [ring[0], ring.at(-1)]
  if (ring.length < 4 || first?.[0] !== last?.[0] || first?.[1] !== last?.[1]) {
    throw badFeature({ why: 'a ring is not closed, or has fewer than four positions' })
  }
  return ring
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value as unknown[]
  throw badFeature({ why: 'its coordinates are not nested as those of a Polygon or MultiPolygon' })
}
