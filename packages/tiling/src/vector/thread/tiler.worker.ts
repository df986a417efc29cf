import type { Progress } from '@terrane/core'
import { serveThread } from '@terrane/core/threads'
import { buildPmtiles } from '../build-pmtiles.ts'
import type { TilerResult } from '../tiler-run.ts'
import type { FeatureBatch } from '../features/feature-batch.ts'
import type { ArchiveSummary, ThreadOptions, TilerMethods } from './messages.ts'

serveThread<ThreadOptions, TilerMethods, Progress>((options, emit) => {
  const source = new BatchQueue()
  let bytes: Iterator<Uint8Array> | null = null
  return {
    build: async () => {
      const archive = await buildPmtiles(source.take(), { ...options, onProgress: (progress) => emit(progress) })
      bytes = readAll(archive)
      return summaryOf(archive)
    },
    add: (batch) => source.add(batch),
    read: (_, transfer) => {
      const next = bytes?.next()
      if (!next || next.done) return null
      // Pieces may share memory, so each is copied into its own for the transfer.
      const own = Uint8Array.from(next.value)
      transfer.push(own.buffer)
      return own
    },
  }
})

function* readAll(archive: TilerResult): Generator<Uint8Array> {
  using open = archive
  yield* open.read()
}

/** The summary of an archive that can be sent: plain values, no functions. */
function summaryOf(archive: TilerResult): ArchiveSummary {
  return JSON.parse(JSON.stringify(archive)) as ArchiveSummary
}

/** Added batches that are not read yet; adding one settles when it is read. */
class BatchQueue {
  readonly #waiting: { readonly batch: FeatureBatch | null; readonly onTaken: () => void }[] = []
  #added = Promise.withResolvers<void>()

  add(batch: FeatureBatch | null): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ batch, onTaken: resolve })
      this.#added.resolve()
    })
  }

  async *take(): AsyncGenerator<FeatureBatch> {
    for (;;) {
      const next = this.#waiting.shift()
      if (!next) {
        this.#added = Promise.withResolvers()
        await this.#added.promise
        continue
      }
      next.onTaken()
      if (next.batch === null) return
      yield next.batch
    }
  }
}
