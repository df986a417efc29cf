import { type Mode, MODES } from '../cost/options.ts'
import { PROFILES } from '../cost/profiles/index.ts'

/** How much one request may ask for. The defaults are Valhalla's. */
export interface Limits {
  /** Most locations and most metres along them as the crow flies, per mode. */
  readonly modes: Readonly<Record<Mode, { readonly locations: number; readonly meters: number }>>
  readonly excludeLocations: number
  /** Metres around all excluded polygons. */
  readonly excludePolygonMeters: number
  readonly alternates: number
  readonly reachability: number
  readonly radius: number
  /** Most cells of a matrix, and most metres between a source and a target as the crow flies, per mode. */
  readonly matrix: { readonly pairs: number; readonly meters: Readonly<Record<Mode, number>> }
  readonly isochrone: { readonly contours: number; readonly minutes: number; readonly kilometers: number }
  /** Most locations that are looked up at once. */
  readonly locate: number
}

export const DEFAULT_LIMITS: Limits = {
  modes: Object.fromEntries(MODES.map((mode) => [mode, PROFILES[mode].most])) as Limits['modes'],
  excludeLocations: 50,
  excludePolygonMeters: 10_000,
  alternates: 2,
  reachability: 100,
  radius: 200,
  matrix: {
    pairs: 2500,
    meters: {
      auto: 400_000,
      truck: 400_000,
      taxi: 400_000,
      bus: 400_000,
      bicycle: 200_000,
      motor_scooter: 200_000,
      motorcycle: 200_000,
      pedestrian: 200_000,
    },
  },
  isochrone: { contours: 4, minutes: 120, kilometers: 200 },
  locate: 100,
}
