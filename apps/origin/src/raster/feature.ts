import { toLngLat, type CrsBounds, type Shape } from '@terrane/tiling/raster'
import type { RequestBox } from './crs-parameters.ts'
import { badFeature } from './errors.ts'

/** Maximum bytes of a body with an area. */
export const MAX_SHAPE_BYTES = 4 << 20
const MAX_VERTICES = 50_000

/** The box around an area, and the area in longitude and latitude. */
export interface FeatureArea extends RequestBox {
  readonly shape: Shape
}

/** The area of a GeoJSON Feature with a Polygon or MultiPolygon. @throws BAD_FEATURE */
export function readFeature(body: unknown, boundsCrs: number): FeatureArea {
  const { type, geometry } = (body ?? {}) as { type?: unknown; geometry?: { type?: unknown; coordinates?: unknown } }
  if (type !== 'Feature') throw badFeature({ why: 'it is no Feature' })
  const { type: kind, coordinates } = geometry ?? {}
  if (kind !== 'Polygon' && kind !== 'MultiPolygon')
    throw badFeature({ why: 'its geometry is no Polygon or MultiPolygon' })
  const polygons = kind === 'Polygon' ? [coordinates] : listOf(coordinates)
  const rings = polygons.flatMap((polygon) => listOf(polygon).map(ringOf))
  const all = rings.flat()
  if (all.length === 0 || all.length > MAX_VERTICES)
    throw badFeature({ why: `1 to ${MAX_VERTICES} vertices are allowed` })
  const convert = toLngLat(boundsCrs)
  const shape = rings.map((ring) => ring.map(([x, y]) => checked(convert(x, y))))
  if (shape.some(isTorn)) {
    throw badFeature({
      why: 'a side is longer than 180 degrees; cut an area over the antimeridian into a MultiPolygon, give the sides of a wide one more positions',
    })
  }
  const [bounds, box] = [boundsOf(all), boundsOf(shape.flat())]
  if (!(box[0] < box[2] && box[1] < box[3])) throw badFeature({ why: 'it has no area' })
  return { bounds, boundsCrs, box, shape }
}

function boundsOf(positions: readonly (readonly [number, number])[]): CrsBounds {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const [x, y] of positions) {
    west = Math.min(west, x)
    south = Math.min(south, y)
    east = Math.max(east, x)
    north = Math.max(north, y)
  }
  return [west, south, east, north]
}

/** Features of a body, each with its area. @throws BAD_FEATURE */
export function readFeatures(
  body: unknown,
  most: number,
  boundsCrs: number,
): { readonly feature: object; readonly area: FeatureArea }[] {
  const { type, features } = (body ?? {}) as { type?: unknown; features?: unknown }
  if (type !== 'FeatureCollection') return [{ feature: body as object, area: readFeature(body, boundsCrs) }]
  const list = listOf(features)
  if (list.length === 0 || list.length > most) throw badFeature({ why: `1 to ${most} features are allowed` })
  return list.map((feature) => ({ feature: feature as object, area: readFeature(feature, boundsCrs) }))
}

function ringOf(value: unknown): readonly (readonly [number, number])[] {
  const ring = listOf(value).map((position) => {
    const [x, y] = listOf(position)
    if (typeof x === 'number' && typeof y === 'number') return [x, y] as const
    throw badFeature({ why: 'a position is not a pair of numbers' })
  })
  const [first, last] = [ring[0], ring.at(-1)]
  if (ring.length < 4 || first?.[0] !== last?.[0] || first?.[1] !== last?.[1]) {
    throw badFeature({ why: 'a ring is not closed, or has fewer than four positions' })
  }
  return ring
}

/** Whether a ring jumps from one side of the antimeridian to the other; a side of 359 degrees or more is of the whole Earth. */
function isTorn(ring: readonly (readonly [number, number])[]): boolean {
  return ring.some(([lng], i) => {
    const side = Math.abs(lng - (ring[i - 1] ?? ring[0]!)[0])
    return side > 180 && side < 359
  })
}

function checked([lng, lat]: readonly [number, number]): readonly [number, number] {
  if (Math.abs(lng) <= 180 && Math.abs(lat) <= 90) return [lng, lat]
  throw badFeature({ why: 'a position is not on the earth, in degrees or in coord_crs' })
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value as unknown[]
  throw badFeature({ why: 'its coordinates are not nested as those of a Polygon or MultiPolygon' })
}
