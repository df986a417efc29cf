import type { Guard } from './errors.ts'
import type { EdgePolicy, TilePlan } from './plan.ts'
import type { RasterCrs, RasterInfo } from './raster-info.ts'
import type { CrsCatalogue } from './footprint/crs.ts'
import type { ByteSource } from './source.ts'

/** What a job wants of a raster, before anything is decoded. */
export interface InspectRequest {
  readonly tileSize: number
  readonly stride?: number
  readonly edge?: EdgePolicy
  readonly alignGrid?: boolean
  /** 0-based band indices; the raster's colour bands when absent. */
  readonly bands?: readonly number[]
  /** How many channels the model takes. */
  readonly channels: number
  readonly maxBytes?: Guard
  readonly maxTiles?: Guard
  /** The CRSs that footprints can be made of; the built-in families when absent. */
  readonly crs?: CrsCatalogue
}

/** A raster that passed every check, with its plan. Plain data: it can be posted to worker threads. */
export interface InspectedRaster {
  readonly raster: RasterInfo
  readonly plan: TilePlan
  /** One band index per channel. */
  readonly bands: readonly number[]
  readonly crs: RasterCrs
}

/**
 * Checks in the order of their cost: bytes, headers, tile count, georeference and CRS, bands. Decodes no pixel.
 */
export function inspectGeoTiff(_source: ByteSource, _request: InspectRequest): InspectedRaster {
  throw new Error('pending')
}
