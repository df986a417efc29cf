import type { Mode } from '../cost/options.ts'

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
}

export const DEFAULT_LIMITS: Limits = {
  modes: {
    auto: { locations: 20, meters: 5_000_000 },
    truck: { locations: 20, meters: 5_000_000 },
    taxi: { locations: 20, meters: 5_000_000 },
    bus: { locations: 50, meters: 5_000_000 },
    bicycle: { locations: 50, meters: 500_000 },
    motor_scooter: { locations: 50, meters: 500_000 },
    motorcycle: { locations: 50, meters: 500_000 },
    pedestrian: { locations: 50, meters: 250_000 },
  },
  excludeLocations: 50,
  excludePolygonMeters: 10_000,
  alternates: 2,
  reachability: 100,
  radius: 200,
}
