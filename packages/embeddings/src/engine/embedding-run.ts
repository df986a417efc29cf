import type { Progress } from '@terrane/core'

import { threadLost } from '../errors.ts'
import type { EngineThread } from './engine-thread.ts'
import type { BatchMessage, Job } from './protocol.ts'
import { RunControl } from './run-control.ts'

/** Maximum time between progress reports. */
const HEARTBEAT_MS = 1000

/** Embeddings of some neighbouring tiles. */
export interface EmbeddingBatch {
  /** Tile numbers, ascending. */
  readonly tiles: Uint32Array
  /** Share of each tile that holds data, 0 to 1. */
  readonly validFractions: Float32Array
  /** Embeddings per tile: 1, or the patches of a tile row by row. */
  readonly perTile: number
  readonly dims: number
  /** `tiles.length · perTile · dims`. */
  readonly embeddings: Float32Array
}

export interface EmbedProgress extends Progress {
  /** Tiles that were skipped for lack of data. */
  readonly skipped: number
  /** Estimated seconds until the end at the mean pace so far; null before the first tiles. */
  readonly etaSeconds: number | null
}

/**
 * The embeddings of a source in the order of its tiles, to be iterated once. Leaving the loop, an error or an abort
 * stops the threads after their current batch. Iterating throws the signal's reason, the errors of the tile source,
 * INFERENCE_FAILED, INFERENCE_THREAD_LOST, MODEL_MISMATCH and EMBEDDING_NOT_FINITE.
 */
export interface EmbeddingRun extends AsyncIterable<EmbeddingBatch> {
  /**
   * Number of tiles that were yielded or skipped, including those before the first. A run of the rest can start here.
   */
  readonly done: number
  /** Number of tiles that were skipped for lack of data. */
  readonly skipped: number
}

export interface RunRequest {
  readonly job: Job
  readonly dims: number
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: EmbedProgress) => void
}

/** Runs `work` with the threads once they are free. */
export type WithThreads = (work: (threads: readonly EngineThread[]) => Promise<void>) => Promise<void>

export function startRun(request: RunRequest, withThreads: WithThreads): EmbeddingRun {
  const run = new OrderedRun(request)
  return {
    get done() {
      return run.done
    },
    get skipped() {
      return run.skipped
    },
    [Symbol.asyncIterator]: () => run.iterate(withThreads),
  }
}

/** Puts the results of all threads into the order of the tiles. */
class OrderedRun {
  done = 0
  skipped = 0
  readonly #request: RunRequest
  readonly #control: RunControl
  readonly #arrived = new Map<number, BatchMessage>()
  #failure: { readonly error: unknown } | null = null
  #wake: () => void = () => undefined
  #started: number | null = null

  constructor(request: RunRequest) {
    this.#request = request
    this.#control = new RunControl(request.job.control)
    this.done = request.job.from
    this.#control.deliver(this.done)
  }

  async *iterate(withThreads: WithThreads): AsyncGenerator<EmbeddingBatch, void, undefined> {
    const { job, dims, signal } = this.#request
    signal?.throwIfAborted()
    const onAbort = (): void => this.#fail(signal?.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    const heartbeat = setInterval(() => this.#report(), HEARTBEAT_MS)
    const work = withThreads((threads) => this.#runThreads(threads)).catch((error: unknown) => this.#fail(error))
    try {
      while (this.done < job.source.count) {
        const { end, tiles, validFractions, embeddings } = await this.#take(this.done)
        if (tiles.length > 0) yield { tiles, validFractions, perTile: job.perTile, dims, embeddings }
        this.skipped += end - this.done - tiles.length
        this.done = end
        this.#control.deliver(end)
        this.#report()
      }
    } finally {
      clearInterval(heartbeat)
      signal?.removeEventListener('abort', onAbort)
      this.#control.cancel()
      if (this.#started !== null) await work // without a start it still waits for the threads, and ends as cancelled
    }
  }

  /** Settles when every thread is idle again. */
  async #runThreads(threads: readonly EngineThread[]): Promise<void> {
    if (this.#control.cancelled) return
    this.#started = performance.now()
    const onBatch = (batch: BatchMessage): void => {
      this.#arrived.set(batch.first, batch)
      this.#wake()
    }
    const { job } = this.#request
    const ends = threads.map((thread) => thread.run(job, onBatch).catch((error: unknown) => this.#fail(error)))
    await Promise.all(ends)
    this.#fail(threadLost({ why: 'the threads stopped before the last tile' })) // no effect when all tiles have arrived
  }

  async #take(first: number): Promise<BatchMessage> {
    for (;;) {
      const batch = this.#arrived.get(first)
      if (batch && !this.#request.signal?.aborted) {
        this.#arrived.delete(first)
        return batch
      }
      if (this.#failure) throw this.#failure.error
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= { error }
    this.#control.cancel()
    this.#wake()
  }

  #report(): void {
    const { job, onProgress } = this.#request
    if (!onProgress) return
    const total = job.source.count
    const elapsed = this.#started === null ? 0 : (performance.now() - this.#started) / 1000
    const here = this.done - job.from
    const etaSeconds = here === 0 ? null : Math.round((elapsed / here) * (total - this.done))
    const left = etaSeconds === null ? '' : `, about ${etaSeconds} s left`
    const message = `${this.done} of ${total} tiles${this.skipped > 0 ? `, ${this.skipped} without data` : ''}${left}`
    onProgress({ phase: 'embed', done: this.done, total, unit: 'tiles', message, skipped: this.skipped, etaSeconds })
  }
}
