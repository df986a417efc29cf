import type { Database } from '@terrane/database'
import type { GuardedFetch } from '@terrane/service'
import type { LngLatBox, RasterImage } from '@terrane/tiling/raster'
import type { StorageDeps } from '../storage/access.ts'
import type { SourceChoice } from './source-choice.ts'

export interface RasterSources {
  readonly storage: StorageDeps
  readonly database: Database
  readonly fetch: GuardedFetch
  /** Folders where the sources of embeddings tables may lie. */
  readonly dataRoots: readonly string[]
}

/** A raster, and whether everybody may keep its pictures. */
export interface FoundRaster {
  readonly image: RasterImage
  readonly open: boolean
}

/** What is asked of a source. */
export interface SourceRequest {
  readonly url: string
  readonly choice: SourceChoice
  /** Degrees; null for the whole of it. */
  readonly area: LngLatBox | null
  readonly signal: AbortSignal
}
