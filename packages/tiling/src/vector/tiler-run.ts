import type { OnProgress } from '@terrane/core'
import type { TilerLayer } from './layers.ts'
import type { PmtilesArchive } from './pmtiles/archive.ts'
import type { OpenScratch } from './spill/scratch.ts'
import type { Zooms } from './world.ts'
import type { Yielder } from './yielder.ts'

/** Layers, zooms and bounds of a run of the tiler. */
export interface TilerOptions {
  /** One to 32 layers; batches name theirs by its number. */
  readonly layers: readonly TilerLayer[]
  /** Zooms of layers that say none; "auto" unless given. */
  readonly zooms?: Zooms
  /** Most bytes of a compressed tile; 500,000 unless given. */
  readonly maxTileBytes?: number
  /** Most features of a tile below the highest zoom; 200,000 unless given. */
  readonly maxTileFeatures?: number
  /** How far simplification may move a line, in tile units (1/4096 of a tile); 1 unless given. */
  readonly tolerance?: number
  /** Memory for features and tiles, 256 MiB unless given; the rest goes to the work directory. Clusters come on top. */
  readonly memoryBytes?: number
  /** The system's directory for temporary files unless given. */
  readonly workDirectory?: string
  /** Makes temporary files, instead of in `workDirectory`. */
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
  /** Features left out: they have no geometry, or one beyond the coordinates of the Earth. */
  readonly skipped: number
  /** How often a feature was dropped from a tile below the highest zoom to keep the tile under its limits. */
  readonly dropped: number
}

/** One run of the tiler. */
export interface TilerRun {
  readonly options: TilerOptions
  readonly openScratch: OpenScratch
  readonly memory: number
  readonly yielder: Yielder
}
