import type { Database } from '@terrane/database'
import type { GuardedFetch } from '@terrane/service'
import type { LngLatBox, RasterImage } from '@terrane/tiling/raster'
import type { StorageDeps } from '../storage/access.ts'
import type { SourceChoice } from './source-choice.ts'

export interface RasterSources {
  readonly storage: StorageDeps
  readonly database: Database
  readonly fetch: GuardedFetch
  /** Folders with sources of embeddings tables. */
  readonly dataRoots: readonly string[]
}

/** A raster; `isOpen` when anyone may cache its pictures. */
export interface FoundRaster {
  readonly image: RasterImage
  readonly open: boolean
  /** Times of the chosen sources of a table, RFC 3339, ascending; the newest 1,000. */
  readonly times?: () => Promise<readonly string[]>
}

/** Choice and area of a request for a source. */
export interface SourceRequest {
  readonly url: string
  readonly choice: SourceChoice
  /** Degrees; null for the whole of it. */
  readonly area: LngLatBox | null
  readonly signal: AbortSignal
}
