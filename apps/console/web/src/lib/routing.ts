import polyline from '@mapbox/polyline'
import { projectPath, request } from './api.ts'

/** How one travels, with a name for people. */
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
  /** In the units that were asked for. */
  readonly length: number
}

export interface Maneuver {
  /** What kind of turn it is, as a number of the routing engine's contract. */
  readonly type: number
  readonly instruction: string
  readonly time: number
  readonly length: number
  readonly begin_shape_index: number
  readonly end_shape_index: number
}

export interface Leg {
  readonly maneuvers?: readonly Maneuver[]
  /** Polyline of six digits. */
  readonly shape: string
  readonly summary: Summary
}

export interface Trip {
  readonly legs: readonly Leg[]
  readonly summary: Summary
}

/** Other ways to show beside the best, where there are any: the engine gives them between two places. */
const ALTERNATES = 2

/** The best route, then others worth a look. */
export async function findRoutes(ref: string, wanted: RouteRequest, signal?: AbortSignal): Promise<readonly Trip[]> {
  const body = { ...wanted, alternates: ALTERNATES }
  const { trip, alternates = [] } = await request<{
    trip: Trip
    alternates?: readonly { readonly trip: Trip }[]
  }>('POST', projectPath(ref, '/route'), body, signal)
  return [trip, ...alternates.map((other) => other.trip)]
}

/**
 * Positions of an encoded polyline of six digits as [lng, lat] in degrees: signed differences in groups of five bits,
 * the lowest first, from 63 on.
 */
export function decodeShape(shape: string): [number, number][] {
  return polyline.decode(shape, 6).map(([lat, lng]) => [lng, lat])
}
