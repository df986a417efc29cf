import { Worker } from 'node:worker_threads'

import { artifactFailed } from '../errors.ts'
import type { GeoRows, ParquetMessage, ParquetRequest, ParquetSetup } from './geoparquet-file.ts'
import type { BoundingBox } from './wkb.ts'

/** Receives bytes in order: a file, or an upload in parts. */
export interface ByteSink {
  write(bytes: Uint8Array): Promise<void>
}

/** What was written. */
export interface GeoParquetSummary {
  readonly rows: number
  readonly bytes: number
  /** Around all geometries; null when there are no rows. */
  readonly bbox: BoundingBox | null
}

/** Writes rows as they come; encodes in a thread of its own. */
export interface GeoParquetWriter extends AsyncDisposable {
  /** Adds rows; resolves when more are welcome. One call at a time. */
  append(rows: GeoRows): Promise<void>
  /** Writes what remains and the footer. The sink is the caller's to close. */
  finish(): Promise<GeoParquetSummary>
}

/** Makes the encoder's thread collect its garbage early: it lives on little, but makes much. */
const THREAD_LIMITS = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 256 }

/**
 * Starts a GeoParquet 1.1 file: columns as given, then `geometry` (WKB, EPSG:4326 in longitude, latitude order),
 * `bbox` (its covering, for readers that skip row groups) and `embedding` (list of float32, byte stream split, zstd).
 */
export function openGeoParquet(setup: ParquetSetup, sink: ByteSink): GeoParquetWriter {
  const worker = new Worker(new URL('./geoparquet.worker.ts', import.meta.url), {
    workerData: setup,
    resourceLimits: THREAD_LIMITS,
  })
  let reply: PromiseWithResolvers<GeoParquetSummary | null> | null = null
  let lost: Error | null = null
  let written = Promise.resolve()
  const lose = (why: string): void => {
    lost ??= artifactFailed({ why })
    reply?.reject(lost)
  }
  worker.on('error', (error) => lose(error instanceof Error ? error.message : String(error)))
  worker.on('exit', (code) => lose(`its thread exited with code ${code}`))
  worker.on('message', (message: ParquetMessage) => {
    if (message.type === 'bytes') {
      written = written.then(() => sink.write(message.bytes))
      written.catch(() => undefined) // reported where the reply is awaited
    } else if (message.type === 'failed') lose(message.why)
    else reply?.resolve(message.summary)
  })
  const ask = async (request: ParquetRequest): Promise<GeoParquetSummary | null> => {
    if (lost) throw lost
    reply = Promise.withResolvers()
    worker.postMessage(request, [])
    const summary = await reply.promise
    await written
    return summary
  }
  return {
    append: async (rows) => {
      await ask({ type: 'append', rows })
    },
    finish: async () => {
      const summary = await ask({ type: 'finish' })
      await worker.terminate()
      if (!summary) throw artifactFailed({ why: 'its thread gave no summary' })
      return summary
    },
    [Symbol.asyncDispose]: async () => {
      await worker.terminate()
    },
  }
}
