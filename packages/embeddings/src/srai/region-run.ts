import { Worker } from 'node:worker_threads'

import { type OnProgress, type PlainError, type Progress, reviveError } from '@terrane/core'

import type { RegionFeature } from './embedders/count-features.ts'
import type { RegionEmbedder } from './embedders/embedder.ts'
import { regionFailed, regionThreadLost } from './errors.ts'
import type { PolygonRings } from './geometry.ts'
import type { OsmFilter } from './osm-filter.ts'
import type { CellGuard } from './regions.ts'

/**
 * Where the thread gets its features from: it imports `module` and calls its export `openFeatures(options)`. All but
 * that call is plain data.
 */
export interface FeatureSource {
  /** URL of the module. */
  readonly module: string
  /** What to pass to `openFeatures`; must survive `structuredClone`. */
  readonly options: unknown
}

/** What a feature module exports. */
export interface FeatureModule {
  openFeatures(options: unknown, hooks: FeatureHooks): Iterable<RegionFeature> | AsyncIterable<RegionFeature>
}

/** How a feature module speaks to the caller of the run. */
export interface FeatureHooks {
  /** How far the reading is; the counting then keeps quiet. */
  readonly onProgress: OnProgress
  /** What became of the things read, once all are. */
  readonly onCounts: (counts: Readonly<Record<string, number>>) => void
}

export interface RegionRunRequest {
  /** Polygons in longitude and latitude. */
  readonly area: readonly PolygonRings[]
  /** H3 resolution, 0 to 15. */
  readonly resolution: number
  readonly maxCells?: CellGuard
  readonly filter: OsmFilter
  readonly embedder: RegionEmbedder
  /** Where the features are. A function is called when the cells are known and not too many, not before. */
  readonly source: FeatureSource | (() => Promise<FeatureSource>)
}

/** What the thread is started with. */
export type RegionThreadData = Omit<RegionRunRequest, 'source'>

/** What is known when all is computed. */
export interface RegionSummary {
  readonly cells: number
  readonly dims: number
  /** What each number counts; null where it has no meaning of its own. */
  readonly names: readonly string[] | null
  /** Features that were counted in at least one cell. */
  readonly features: number
  /** Cells without any number: they have no direction, so no cosine. */
  readonly zeroVectors: number
  readonly losses: readonly number[]
  /** As of `RegionEmbeddings`. */
  readonly fingerprint: string
  /** What the feature module said of what it read; null when it said nothing. */
  readonly counts: Readonly<Record<string, number>> | null
}

/** Some rows, in the order of the cells. */
export interface RegionBatch {
  /** H3 indexes. */
  readonly cells: readonly string[]
  /** The outline of each: one polygon, or two at the antimeridian. */
  readonly polygons: readonly (readonly PolygonRings[])[]
  /** `cells.length · dims`. */
  readonly embeddings: Float32Array
}

/** The result of a run; `dispose` ends its thread. */
export interface RegionRun extends AsyncDisposable {
  readonly summary: RegionSummary
  /** All rows, to be iterated once. */
  batches(): AsyncIterable<RegionBatch>
}

export type RegionMessage =
  | { readonly type: 'progress'; readonly progress: Progress }
  | { readonly type: 'covered' }
  | { readonly type: 'summary'; readonly summary: RegionSummary }
  | { readonly type: 'batch'; readonly batch: RegionBatch }
  | { readonly type: 'failed'; readonly error: PlainError }

/** What the thread is told: where the features are, then to send rows. */
export type RegionCommand = { readonly type: 'source'; readonly source: FeatureSource } | { readonly type: 'next' }

export interface RegionRunOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: OnProgress
}

/**
 * Covers an area with H3 cells and embeds them, in a thread of its own that reads the features, too. Resolves when all
 * is computed; the rows are then taken one batch after the other.
 *
 * @throws size_guard_exceeded before the source is asked for, everything that `coverArea` and `embedRegions` throw, errors
 * of the feature source, REGION_EMBEDDING_FAILED, REGION_THREAD_LOST, and the signal's reason
 */
export async function openRegionRun(request: RegionRunRequest, options: RegionRunOptions = {}): Promise<RegionRun> {
  const { signal, onProgress } = options
  signal?.throwIfAborted()
  const { source, ...workerData } = request
  const worker = new Worker(new URL('./regions.worker.ts', import.meta.url), { workerData })
  const thread = new RegionThread(worker, onProgress)
  const onAbort = (): void => thread.fail(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  const close = async (): Promise<void> => {
    signal?.removeEventListener('abort', onAbort)
    thread.fail(regionThreadLost({ why: 'it was closed' }))
    await worker.terminate()
  }
  try {
    await thread.next('covered')
    thread.tell({ type: 'source', source: typeof source === 'function' ? await source() : source })
    const { summary } = await thread.next('summary')
    return {
      summary,
      batches: () => takeBatches(thread, summary.cells),
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function* takeBatches(thread: RegionThread, cells: number): AsyncGenerator<RegionBatch, void, undefined> {
  for (let done = 0; done < cells;) {
    thread.tell({ type: 'next' })
    const { batch } = await thread.next('batch')
    done += batch.cells.length
    yield batch
  }
}

/** The messages of the thread, one at a time; its failures as errors. */
class RegionThread {
  readonly #worker: Worker
  #reply = Promise.withResolvers<RegionMessage>()

  constructor(worker: Worker, onProgress: OnProgress | undefined) {
    this.#worker = worker
    this.#reply.promise.catch(() => undefined) // reported where the reply is awaited
    worker.on('message', (message: RegionMessage) => {
      if (message.type === 'progress') onProgress?.(message.progress)
      else if (message.type === 'failed') this.fail(reviveError(message.error, (why) => regionFailed({ why })))
      else this.#reply.resolve(message)
    })
    worker.on('error', (error) =>
      this.fail(regionThreadLost({ why: error instanceof Error ? error.message : String(error) })),
    )
    worker.on('exit', (code) => this.fail(regionThreadLost({ why: `it exited with code ${code}` })))
  }

  tell(command: RegionCommand): void {
    this.#worker.postMessage(command, [])
  }

  /** The next message, which must be of that type. */
  async next<Type extends RegionMessage['type']>(type: Type): Promise<Extract<RegionMessage, { type: Type }>> {
    const message = await this.#reply.promise
    this.#reply = Promise.withResolvers()
    this.#reply.promise.catch(() => undefined)
    if (isOfType(message, type)) return message
    throw regionThreadLost({ why: `it sent a ${message.type} instead of a ${type}` })
  }

  fail(error: unknown): void {
    this.#reply.reject(error)
  }
}

function isOfType<Type extends RegionMessage['type']>(
  message: RegionMessage,
  type: Type,
): message is Extract<RegionMessage, { type: Type }> {
  return message.type === type
}
