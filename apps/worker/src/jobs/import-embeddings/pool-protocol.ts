import type { CrsEntry, InspectedRaster, Statistic, ValueRule } from '@terrane/tiling/raster'
import type { ZarrRaster } from '@terrane/tiling/zarr'

/** Rings of an area in longitude and latitude, `[lng, lat, …]`, outer ones and holes alike. */
export type AreaRings = readonly Float64Array[]

export interface PoolTask {
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
    /** A GeoTIFF, or a folder with the metadata and coordinates of a Zarr store. */
    readonly path: string
    readonly zarr: ZarrRaster | null
    /** Time of the request, whose year is read of a Zarr store of several. */
    readonly datetime: string | null
    readonly tileSize: number
    readonly sourceSrs: number | null
    readonly crs: readonly CrsEntry[]
  }): Promise<InspectedRaster>
  /** Places areas, or the tiles of the plan, on the pixels. Returns keys of the objects of a Zarr store with these pixels. */
  place(input: { readonly areas: readonly AreaRings[] | null }): readonly string[]
  pool(task: PoolTask): Promise<void>
  /** Null at the end. */
  next(input: { readonly minValidFraction: number }): PooledRows | null
}
