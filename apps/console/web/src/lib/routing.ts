import polyline from '@mapbox/polyline'
import { boxOf } from '../map/box.ts'
import type { Box } from '../map/graticule.ts'
import { projectPath, request } from './api.ts'

/** Travel modes, with their display names. */
export const COSTINGS = {
  auto: 'Car',
  bicycle: 'Bicycle',
  pedestrian: 'On foot',
  truck: 'Truck',
  bus: 'Bus',
  motor_scooter: 'Motor scooter',
  motorcycle: 'Motorcycle',
  taxi: 'Taxi',
} as const
export type Costing = keyof typeof COSTINGS

export interface RouteRequest {
  readonly locations: readonly { readonly lat: number; readonly lon: number }[]
  readonly costing: Costing
  readonly units: 'kilometers' | 'miles'
  readonly language: string
}

interface Summary {
  /** Seconds. */
  readonly time: number
  /** In the requested units. */
  readonly length: number
}

export interface Maneuver {
  /** Kind of turn, as a number of the routing engine's contract. */
  readonly type: number
  readonly instruction: string
  readonly time: number
  readonly length: number
  readonly begin_shape_index: number
  readonly end_shape_index: number
}

export interface Leg {
  readonly maneuvers?: readonly Maneuver[]
  /** Encoded polyline with six decimal digits. */
  readonly shape: string
  readonly summary: Summary
}

export interface Trip {
  readonly legs: readonly Leg[]
  readonly summary: Summary
}

/** Number of alternative routes to request. The engine returns them only for two places. */
const ALTERNATES = 2

/** The best route, then the alternatives. */
export async function findRoutes(ref: string, wanted: RouteRequest, signal?: AbortSignal): Promise<readonly Trip[]> {
  const body = { ...wanted, alternates: ALTERNATES }
  const { trip, alternates = [] } = await request<{
    trip: Trip
    alternates?: readonly { readonly trip: Trip }[]
  }>('POST', projectPath(ref, '/route'), body, signal)
  return [trip, ...alternates.map((other) => other.trip)]
}

/** Areas around a place, the largest first. */
export type Reach = GeoJSON.FeatureCollection<
  GeoJSON.Polygon | GeoJSON.MultiPolygon,
  { readonly contour: number; readonly metric: string }
>

/** Areas that can be reached from a place ([lng, lat]) in the given minutes, and in a third and two thirds of them. */
export function findReach(
  ref: string,
  wanted: { readonly place: readonly [number, number]; readonly costing: Costing; readonly minutes: number },
  signal?: AbortSignal,
): Promise<Reach> {
  const { place, costing, minutes } = wanted
  const [lon, lat] = place
  const contours = [minutes / 3, (2 * minutes) / 3, minutes].map((time) => ({ time }))
  const body = { locations: [{ lat, lon }], costing, contours, polygons: true }
  return request('POST', projectPath(ref, '/isochrone'), body, signal)
}

/** Bounding box of the routing engine's road graph; null when it is not reported. */
export async function readGraphBox(ref: string, signal?: AbortSignal): Promise<Box | null> {
  const { bbox } = await request<{ bbox?: GeoJSON.FeatureCollection<GeoJSON.Polygon> }>(
    'POST',
    projectPath(ref, '/status'),
    { verbose: true },
    signal,
  )
  return boxOf(bbox?.features.flatMap(({ geometry }) => geometry.coordinates.flat()) ?? [])
}

/**
 * Decodes a polyline with six digits to [lng, lat] in degrees. The format has signed differences in groups of five
 * bits, the lowest first, offset by 63.
 */
export function decodeShape(shape: string): [number, number][] {
  return polyline.decode(shape, 6).map(([lat, lng]) => [lng, lat])
}
