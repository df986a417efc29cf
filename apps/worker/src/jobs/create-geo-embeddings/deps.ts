import type { EnginePool, ModelStore } from '@terrane/embeddings'
import type { CrsEntry } from '@terrane/tiling/raster'

/** Dependencies and limits of createGeoEmbeddings. */
export interface GeoEmbeddingsDeps {
  readonly models: ModelStore
  readonly engines: EnginePool
  readonly dataRoots: readonly string[]
  /** Maximum tiles of a raster; 0 for no limit. */
  readonly maxTiles: number
  /** Maximum patches of a raster at level patch; 0 for no limit. */
  readonly maxPatches: number
  /** Maximum size of a file; 0 for no limit. */
  readonly maxBytes: number
  /** CRSs that the operator added. */
  readonly crs: readonly CrsEntry[]
}
