import { type Mode, MODES } from '../cost/options.ts'
import type { Profile } from '../cost/profile.ts'
import { PROFILES } from '../cost/profiles/index.ts'

/** Limits of a request. The defaults are Valhalla's. */
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
  /** Most points of a trace and metres along them, and most metres around a point in which streets are looked for. */
  readonly trace: { readonly points: number; readonly meters: number; readonly radius: number }
  /** Most locations that are looked up at once. */
  readonly locate: number
  /** Whether the network has streets under construction, which `ignore_construction` opens. */
  readonly construction?: boolean
}

export const DEFAULT_LIMITS: Limits = {
  modes: perMode(({ locations, meters }) => ({ locations, meters })),
  excludeLocations: 50,
  excludePolygonMeters: 10_000,
  alternates: 2,
  reachability: 100,
  radius: 200,
  matrix: {
    pairs: 2500,
    meters: perMode(({ matrixMeters }) => matrixMeters),
  },
  isochrone: { contours: 4, minutes: 120, kilometers: 200 },
  trace: { points: 16_000, meters: 200_000, radius: 100 },
  locate: 100,
}

function perMode<T>(of: (most: Profile['most']) => T): Readonly<Record<Mode, T>> {
  return Object.fromEntries(MODES.map((mode) => [mode, of(PROFILES[mode].most)])) as Record<Mode, T>
}
