import { Worker } from 'node:worker_threads'
import { TerraneError } from '@terrane/core'
import type { TilerOptions } from '../build-pmtiles.ts'
import type { FeatureBatch } from '../features/feature-batch.ts'
import type { ArchiveSummary, FromThread, SentError, ToThread } from './messages.ts'

/** An archive whose bytes another thread holds; they can be read once. Dispose it to end that thread. */
export interface ThreadedArchive extends ArchiveSummary, AsyncDisposable {
  read(): AsyncGenerator<Uint8Array<ArrayBuffer>>
}

/**
 * Does what `buildPmtiles` does on a thread of its own, which leaves the calling one free to read features and to answer
 * requests. The memory of a batch's geometry is given away. An abort ends the thread at once; temporary files go with it.
 *
 * @throws what `buildPmtiles` throws
 */
export async function buildPmtilesInThread(
  batches: AsyncIterable<FeatureBatch>,
  options: Omit<TilerOptions, 'openScratch'>,
): Promise<ThreadedArchive> {
  const { signal, onProgress, ...sent } = options
  signal?.throwIfAborted()
  const thread = new TilerThread(
    new Worker(new URL('./tiler.worker.ts', import.meta.url), { workerData: sent }),
    signal,
  )
  try {
    const summary = await thread.build(batches, onProgress)
    return {
      ...summary,
      read: () => thread.read(),
      [Symbol.asyncDispose]: () => thread.end(),
    }
  } catch (error) {
    await thread.end()
    throw error
  }
}

/** The near end of a tiler thread: one message is awaited at a time. */
class TilerThread {
  readonly #worker: Worker
  readonly #signal: AbortSignal | undefined
  readonly #received: FromThread[] = []
  #sourceEnded = false
  #wake: (() => void) | null = null
  #failure: { readonly error: unknown } | null = null
  readonly #onAbort = () => this.#fail(this.#signal!.reason)

  constructor(worker: Worker, signal: AbortSignal | undefined) {
    this.#worker = worker
    this.#signal = signal
    worker.on('message', (message: FromThread) => {
      this.#received.push(message)
      this.#wake?.()
    })
    worker.on('error', (error) => this.#fail(error))
    worker.on('exit', () => this.#fail(new Error('the tiler thread ended')))
    signal?.addEventListener('abort', this.#onAbort)
  }

  async build(batches: AsyncIterable<FeatureBatch>, onProgress: TilerOptions['onProgress']): Promise<ArchiveSummary> {
    const source = batches[Symbol.asyncIterator]()
    try {
      for (;;) {
        const message = await this.#receive()
        if (message.type === 'progress') onProgress?.(message.progress)
        else if (message.type === 'built') return message.summary
        else if (message.type === 'failed') throw receivedError(message.error)
        else if (message.type === 'more') await this.#sendNext(source)
      }
    } finally {
      await source.return?.()
    }
  }

  async *read(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    for (;;) {
      this.#send({ type: 'read' })
      const message = await this.#receive()
      if (message.type === 'failed') throw receivedError(message.error)
      if (message.type !== 'bytes' || message.bytes === null) return
      yield message.bytes
    }
  }

  async end(): Promise<void> {
    this.#signal?.removeEventListener('abort', this.#onAbort)
    await this.#worker.terminate()
  }

  async #sendNext(source: AsyncIterator<FeatureBatch>): Promise<void> {
    // More is asked for ahead of need, also past the end.
    if (this.#sourceEnded) return
    const next = await source.next()
    if (next.done) {
      this.#sourceEnded = true
      return this.#send({ type: 'end' })
    }
    const { geometry, geometryEnds } = next.value
    const owned = [geometry, geometryEnds].map(({ buffer }) => buffer).filter((buffer) => buffer instanceof ArrayBuffer)
    this.#send({ type: 'batch', batch: next.value }, [...new Set(owned)])
  }

  #send(message: ToThread, transfer: ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transfer)
  }

  async #receive(): Promise<FromThread> {
    while (this.#received.length === 0) {
      if (this.#failure) throw this.#failure.error
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
    }
    if (this.#signal?.aborted) throw this.#signal.reason
    return this.#received.shift()!
  }

  #fail(error: unknown): void {
    this.#failure ??= { error }
    this.#wake?.()
  }
}

function receivedError(error: SentError | Error): Error {
  return 'code' in error && 'kind' in error
    ? new TerraneError(error.code, error.kind, error.message, error.extras)
    : error
}
