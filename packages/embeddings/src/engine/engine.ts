import { availableParallelism } from 'node:os'
import { availableMemory } from 'node:process'

import { type EmbeddingLevel, checkTileSize, embeddingsPerTile } from '../models/manifest.ts'
import type { Model } from '../models/acquire-files.ts'
import { type EmbeddingRun, type EmbedProgress, startRun } from './embedding-run.ts'
import { NO_CONTEXT, type TileContext } from './tile-context.ts'
import type { Job, Ring } from './protocol.ts'
import type { Provider, ProviderChoice } from './providers.ts'
import { RunControl } from './run-control.ts'
import { type EngineMode, chooseDeviceBatch, chooseMode, chooseUnit, chooseWindow } from './schedule.ts'
import { keepTelemetryOff } from './telemetry.ts'
import { ThreadPool } from './thread-pool.ts'
import type { TileSource } from './tile-source.ts'
import { MIN_VALID_FRACTION } from './valid-tiles.ts'

/** Capacity in batches of the ring between the decoding and the inferring thread. */
const RING_GROUPS = 4

export interface EngineOptions {
  /** Cores to use; all when absent. */
  readonly threads?: number
  /** Memory for copies of the model, in bytes; default: half of the free memory. */
  readonly memoryBytes?: number
  /** How to use the threads; chosen by the memory when absent. */
  readonly mode?: EngineMode
  /**
   * Execution providers in order of preference; default, and fallback, is the CPU. A device holds one copy of the
   * model.
   */
  readonly providers?: readonly Provider[]
}

export interface EmbedRequest {
  readonly source: TileSource
  /** Side of the tiles in pixels. */
  readonly tileSize: number
  /**
   * The first tile to embed, a multiple of the model's batch such as {@link EmbeddingRun.done} of an earlier run; 0 when
   * absent.
   */
  readonly from?: number
  /** `tile` when absent. */
  readonly level?: EmbeddingLevel
  /** Scale embeddings to unit length; true when absent. */
  readonly normalize?: boolean
  /** Tiles with less valid area, 0 to 1, are skipped and counted; {@link MIN_VALID_FRACTION} when absent. */
  readonly minValidFraction?: number
  /** Metadata of the tiles, for models that use it. */
  readonly context?: Partial<TileContext>
  readonly signal?: AbortSignal
  /** Called with every batch, and at least once a second. */
  readonly onProgress?: (progress: EmbedProgress) => void
}

/** A model that is open in worker threads, for many runs. The calling thread never decodes or infers. */
export interface Engine extends AsyncDisposable {
  readonly model: Model
  readonly mode: EngineMode
  /** Cores in use. */
  readonly threads: number
  /** The chosen execution provider, and reasons against preferred ones. */
  readonly choice: ProviderChoice
  /**
   * Embeds the tiles of a source. Runs of one engine are sequential; each starts when it is iterated.
   *
   * @throws TILE_SIZE_UNSUPPORTED, LEVEL_UNSUPPORTED
   */
  embed(request: EmbedRequest): EmbeddingRun
  /** Ends the threads; unfinished runs fail. */
  close(): Promise<void>
}

/**
 * Opens a model in worker threads.
 *
 * @throws MODEL_MISMATCH when the graph does not fit the manifest; TELEMETRY_ON when called in a worker thread of a
 *   process whose environment lacks `ORT_DISABLE_TELEMETRY`
 */
export async function openEngine(model: Model, options: EngineOptions = {}): Promise<Engine> {
  keepTelemetryOff()
  const { threads = availableParallelism(), memoryBytes = availableMemory() / 2 } = options
  const onCpu = options.mode ?? chooseMode(model, threads, memoryBytes)
  const pool = new ThreadPool(model, { onCpu, cores: threads, providers: options.providers ?? ['cpu'] })
  await pool.open()
  const { mode, choice } = pool
  let last: Promise<unknown> = Promise.resolve()
  return {
    model,
    mode,
    threads,
    choice,
    embed: (request) => {
      const { job, dims } = planJob(model, request, { threads: mode === 'parallel' ? threads : 1, mode, hasFreeBatch: pool.hasFreeBatch }) // prettier-ignore
      return startRun({ ...request, job, dims }, async (work) => {
        const mine = last.then(async () => work(await pool.open()))
        last = mine.catch(() => undefined)
        await mine
      })
    },
    close: () => pool.close(),
    [Symbol.asyncDispose]: () => pool.close(),
  }
}

function planJob(
  model: Model,
  request: EmbedRequest,
  { threads, mode, hasFreeBatch }: Pick<Engine, 'threads' | 'mode'> & { readonly hasFreeBatch: boolean },
): { job: Job; dims: number } {
  const {
    source,
    tileSize,
    from = 0,
    level = 'tile',
    normalize = true,
    minValidFraction = MIN_VALID_FRACTION,
  } = request
  const { manifest } = model
  checkTileSize(manifest, tileSize)
  const perTile = embeddingsPerTile(manifest, level, tileSize)
  const { width, height } = manifest.input.size ?? { width: tileSize, height: tileSize }
  const tileLength = manifest.input.bands.length * width * height
  const bytesPerTile = perTile * manifest.dims * Float32Array.BYTES_PER_ELEMENT
  const bytes = Math.max(bytesPerTile, tileLength * Float32Array.BYTES_PER_ELEMENT)
  const batch = hasFreeBatch ? chooseDeviceBatch(manifest.input.batch, width * height, bytes) : manifest.input.batch
  const bandTiles = mode === 'parallel' ? (source.bandTiles ?? 1) : 1
  const unit = chooseUnit({ tiles: source.count - from, threads, batch, bandTiles, bytesPerTile })
  const job: Job = {
    source,
    from,
    unit,
    batch,
    width,
    height,
    level,
    perTile,
    normalize,
    minValidFraction,
    window: chooseWindow(unit, threads, bytesPerTile),
    control: RunControl.allocate(),
    context: { ...NO_CONTEXT, ...request.context },
    ring: mode === 'pipeline' ? allocateRing(batch, tileLength) : null,
  }
  return { job, dims: manifest.dims }
}

function allocateRing(batch: number, tileLength: number): Ring {
  const tiles = RING_GROUPS * batch
  return {
    groups: RING_GROUPS,
    pixels: new SharedArrayBuffer(tiles * tileLength * Float32Array.BYTES_PER_ELEMENT),
    fractions: new SharedArrayBuffer(tiles * Float32Array.BYTES_PER_ELEMENT),
  }
}
