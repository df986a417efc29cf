import type { OnProgress } from '@terrane/core'
import type { TilerLayer } from './layers.ts'
import type { PmtilesArchive } from './pmtiles/archive.ts'
import type { OpenScratch } from './spill/scratch.ts'
import type { Zooms } from './world.ts'
import type { Yielder } from './yielder.ts'

/** Layers, zooms and bounds of a run of the tiler. */
export interface TilerOptions {
  /** 1 to 32 layers; batches refer to them by index. */
  readonly layers: readonly TilerLayer[]
  /** Zooms of layers without their own; default "auto". */
  readonly zooms?: Zooms
  /** Maximum bytes of a compressed tile; default 500,000. */
  readonly maxTileBytes?: number
  /** Maximum features of a tile below the highest zoom; default 200,000. */
  readonly maxTileFeatures?: number
  /** Tolerance of simplification in tile units (1/4096 of a tile); default 1. */
  readonly tolerance?: number
  /**
   * Memory for features and tiles; default 256 MiB. The rest goes to the work directory. Clusters need extra memory.
   */
  readonly memoryBytes?: number
  /** The system's directory for temporary files unless given. */
  readonly workDirectory?: string
  /** Creates temporary files; replaces `workDirectory`. */
  readonly openScratch?: OpenScratch
  /** Texts for the archive's metadata. */
  readonly name?: string
  readonly description?: string
  readonly attribution?: string
  readonly signal?: AbortSignal
  readonly onProgress?: OnProgress
}

/** Counts of the features of a layer. */
export interface LayerResult {
  readonly name: string
  readonly minZoom: number
  readonly maxZoom: number
  readonly features: number
  readonly skipped: number
}

/** An archive and the counts of its features. */
export interface TilerResult extends PmtilesArchive {
  readonly layers: readonly LayerResult[]
  readonly features: number
  /** Number of features left out: without a geometry, or with one beyond the coordinates of the Earth. */
  readonly skipped: number
  /** Number of features dropped from tiles below the highest zoom because of the tile limits, counted per tile. */
  readonly dropped: number
}

/** One run of the tiler. */
export interface TilerRun {
  readonly options: TilerOptions
  readonly openScratch: OpenScratch
  readonly memory: number
  readonly yielder: Yielder
}
