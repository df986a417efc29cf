import { type Mode, MODES } from '../cost/options.ts'
import type { Profile } from '../cost/profile.ts'
import { PROFILES } from '../cost/profiles/index.ts'

/** Limits of a request. The defaults are Valhalla's. */
export interface Limits {
  /** Maximum number of locations, and straight-line metres along them, per mode. */
  readonly modes: Readonly<Record<Mode, { readonly locations: number; readonly meters: number }>>
  readonly excludeLocations: number
  /** Maximum perimeter of all excluded polygons, in metres. */
  readonly excludePolygonMeters: number
  readonly alternates: number
  readonly reachability: number
  readonly radius: number
  /** Maximum number of cells of a matrix, and straight-line metres between a source and a target per mode. */
  readonly matrix: { readonly pairs: number; readonly meters: Readonly<Record<Mode, number>> }
  readonly isochrone: { readonly contours: number; readonly minutes: number; readonly kilometers: number }
  /** Maximum number of points of a trace, metres along them, and search radius in metres. */
  readonly trace: { readonly points: number; readonly meters: number; readonly radius: number }
  /** Maximum number of locations of a `locate` request. */
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
