import type { CrsEntry, InspectedRaster, Statistic, ValueRule } from '@terrane/tiling/raster'

/** Rings of an area in longitude and latitude, `[lng, lat, …]`, outer ones and holes alike. */
export type AreaRings = readonly Float64Array[]

export interface PoolTask {
  /** Null for the tiles of the plan. */
  readonly areas: readonly AreaRings[] | null
  readonly bands: readonly number[]
  readonly rule: ValueRule
  readonly statistics: readonly Statistic[]
  readonly isUnit: boolean
}

/** Rows with enough valid pixels, by the number of their tile or area. */
export interface PooledRows {
  readonly zones: readonly number[]
  readonly fractions: readonly number[]
  readonly vectors: Float32Array
}

/** Blocks that were read. */
export interface PoolProgress {
  readonly done: number
  readonly total: number
}

/** Methods of the thread. */
export interface PoolMethods {
  open(input: {
    readonly path: string
    readonly tileSize: number
    readonly sourceSrs: number | null
    readonly crs: readonly CrsEntry[]
  }): InspectedRaster
  pool(task: PoolTask): Promise<void>
  /** Null at the end. */
  next(input: { readonly minValidFraction: number }): PooledRows | null
}
