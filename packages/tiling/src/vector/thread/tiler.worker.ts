import { parentPort, workerData } from 'node:worker_threads'
import { TerraneError } from '@terrane/core'
import { buildPmtiles, type TilerResult } from '../build-pmtiles.ts'
import type { FeatureBatch } from '../features/feature-batch.ts'
import type { ArchiveSummary, FromThread, SentError, ThreadOptions, ToThread } from './messages.ts'

/** Batches that may be on their way, so that neither thread waits for the other. */
const AHEAD = 4

const port = parentPort!
const waiting: ToThread[] = []
let wake: (() => void) | null = null
port.on('message', (message: ToThread) => {
  waiting.push(message)
  wake?.()
})

try {
  const options = workerData as ThreadOptions
  using archive = await buildPmtiles(receiveBatches(), {
    ...options,
    onProgress: (progress) => send({ type: 'progress', progress }),
  })
  send({ type: 'built', summary: summaryOf(archive) })
  for (const bytes of archive.read()) {
    await receive()
    // Pieces are joined from smaller ones, so that each has memory of its own to give away.
    const own = Uint8Array.from(bytes)
    send({ type: 'bytes', bytes: own }, [own.buffer])
  }
  await receive()
  send({ type: 'bytes', bytes: null })
} catch (error) {
  send({ type: 'failed', error: sentError(error) })
} finally {
  port.close()
}

/** What can be sent: plain values, no functions. */
function summaryOf(archive: TilerResult): ArchiveSummary {
  return JSON.parse(JSON.stringify(archive)) as ArchiveSummary
}

async function* receiveBatches(): AsyncGenerator<FeatureBatch> {
  for (let i = 0; i < AHEAD; i++) send({ type: 'more' })
  for (;;) {
    const message = await receive()
    if (message.type !== 'batch') return
    send({ type: 'more' })
    yield message.batch
  }
}

async function receive(): Promise<ToThread> {
  while (waiting.length === 0) {
    const { promise, resolve } = Promise.withResolvers<void>()
    wake = resolve
    await promise
  }
  return waiting.shift()!
}

function send(message: FromThread, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer)
}

function sentError(error: unknown): SentError | Error {
  if (!(error instanceof TerraneError)) return error instanceof Error ? error : new Error(String(error))
  const { code, kind, message, hint, details, errors } = error
  return {
    code,
    kind,
    message,
    extras: { ...(hint === null ? {} : { hint }), ...(details === null ? {} : { details }), errors },
  }
}
