import type { EmbeddingLevel, ModelManifest } from '../models/manifest.ts'
import type { Provider, ProviderChoice } from './providers.ts'
import type { TileContext } from './tile-context.ts'
import type { TileSource } from './tile-source.ts'

/** Start parameters of a thread. */
export interface ThreadSetup {
  readonly manifest: ModelManifest
  readonly graph: Uint8Array | string
  /** Cores for one run of the model. */
  readonly threads: number
  /** Execution providers, in order of preference. */
  readonly providers: readonly Provider[]
}

/** One run over a source, in the form that is sent to its threads. */
export interface Job {
  readonly source: TileSource
  /** The first tile; a multiple of `batch`. Earlier tiles are left out. */
  readonly from: number
  /** Tiles per portion of work, and per message of results; a multiple of `batch`. */
  readonly unit: number
  /** Tiles per run of the model: tile `i` is always in batch `floor(i / batch)`, on any thread. */
  readonly batch: number
  /** Pixels of the model's input. */
  readonly width: number
  readonly height: number
  readonly level: EmbeddingLevel
  /** Embeddings per tile. */
  readonly perTile: number
  readonly normalize: boolean
  readonly minValidFraction: number
  /** Maximum number of tiles by which threads may be ahead of the consumer. */
  readonly window: number
  readonly control: SharedArrayBuffer
  readonly ring: Ring | null
  /** Metadata of the tiles beside their pixels. */
  readonly context: TileContext
}

/** Ring buffer of tensors from the decoding to the inferring thread, with room for `groups` batches. */
export interface Ring {
  readonly groups: number
  /** `groups · batch` tensors. */
  readonly pixels: SharedArrayBuffer
  /** The valid fraction of each. */
  readonly fractions: SharedArrayBuffer
}

/** Embeddings of the tiles `[first, end)` that had enough data. */
export interface BatchMessage {
  readonly type: 'batch'
  readonly first: number
  readonly end: number
  readonly tiles: Uint32Array<ArrayBuffer>
  readonly validFractions: Float32Array<ArrayBuffer>
  /** `tiles.length · perTile · dims`. */
  readonly embeddings: Float32Array<ArrayBuffer>
}

/** A prepared thread. */
export interface ReadyThread {
  readonly choice: ProviderChoice
  /** Whether its model takes any number of tiles per run. */
  readonly hasFreeBatch: boolean
}

/** Embeddings of a job, or a description of a thread that is ready. */
export type ThreadEvent = BatchMessage | ({ readonly type: 'ready' } & ReadyThread)

/** Methods of a thread. */
export interface EngineMethods {
  run(job: Job): void
}
