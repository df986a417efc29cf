import type { Progress } from '@terrane/core'
import { Thread } from '@terrane/core/threads'
import type { TilerOptions } from '../tiler-run.ts'
import type { FeatureBatch } from '../features/feature-batch.ts'
import type { ArchiveSummary, TilerMethods } from './messages.ts'

/** Maximum number of batches in transfer, so that neither thread waits for the other. */
const AHEAD = 4

type TilerThread = Thread<TilerMethods, Progress>

/** An archive in another thread; its bytes can be read once. Disposal ends the thread. */
export interface ThreadedArchive extends ArchiveSummary, AsyncDisposable {
  read(): AsyncGenerator<Uint8Array<ArrayBuffer>>
}

/**
 * Runs `buildPmtiles` in a thread of its own, so that the calling thread can read features and answer requests. The
 * memory of a batch's geometry is transferred and unusable afterwards. An abort ends the thread at once and removes its
 * temporary files.
 *
 * @throws what `buildPmtiles` throws
 */
export async function buildPmtilesInThread(
  batches: AsyncIterable<FeatureBatch>,
  options: Omit<TilerOptions, 'openScratch'>,
): Promise<ThreadedArchive> {
  const { signal, onProgress, ...setup } = options
  const thread = new Thread<TilerMethods, Progress>(new URL('./tiler.worker.ts', import.meta.url), {
    setup,
    signal,
    ...(onProgress && { onEvent: onProgress }),
    toLostError: (why) => new Error(`the tiler thread ended: ${why}`),
    toError: (why) => new Error(why),
  })
  const source = batches[Symbol.asyncIterator]()
  try {
    const built = thread.call('build', null)
    await Promise.race([built, addAll(thread, source)])
    const summary = await built
    return { ...summary, read: () => readAll(thread), [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose]() }
  } catch (error) {
    await thread[Symbol.asyncDispose]()
    throw error
  } finally {
    await source.return?.()
  }
}

async function addAll(thread: TilerThread, source: AsyncIterator<FeatureBatch>): Promise<void> {
  const waiting: Promise<void>[] = []
  for (;;) {
    const next = await source.next()
    if (next.done) return thread.call('add', null)
    const { geometry, geometryEnds } = next.value
    const owned = [geometry, geometryEnds].map(({ buffer }) => buffer).filter((buffer) => buffer instanceof ArrayBuffer)
    const added = thread.call('add', next.value, [...new Set(owned)])
    added.catch(() => undefined) // it is awaited later
    waiting.push(added)
    if (waiting.length >= AHEAD) await waiting.shift()
  }
}

async function* readAll(thread: TilerThread): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (;;) {
    const bytes = await thread.call('read', null)
    if (bytes === null) return
    yield bytes
  }
}
