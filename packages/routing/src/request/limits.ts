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
}

export const DEFAULT_LIMITS: Limits = {
  modes: Object.fromEntries(MODES.map((mode) => [mode, PROFILES[mode].most])) as Limits['modes'],
  excludeLocations: 50,
  excludePolygonMeters: 10_000,
  alternates: 2,
  reachability: 100,
  radius: 200,
}
