import { Thread } from '@terrane/core/threads'

import { artifactFailed } from '../errors.ts'
import type { GeoParquetSummary, GeoRows, ParquetMethods, ParquetSetup } from './geoparquet-file.ts'

export type { GeoParquetSummary } from './geoparquet-file.ts'

/** Receives bytes in order: a file, or an upload in parts. */
export interface ByteSink {
  write(bytes: Uint8Array): Promise<void>
}

/** Writes rows in batches as they arrive; encodes in a thread of its own. */
export interface GeoParquetWriter extends AsyncDisposable {
  /** Adds rows; resolves when the writer accepts more. One call at a time. */
  append(rows: GeoRows): Promise<void>
  /** Writes the remaining rows and the footer. The caller must close the sink. */
  finish(): Promise<GeoParquetSummary>
}

/** Makes the encoder's thread collect garbage early, because it allocates much and keeps little. */
const THREAD_LIMITS = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 256 }

/**
 * Starts a GeoParquet 1.1 file: columns as given, then `geometry` (WKB, EPSG:4326 in longitude, latitude order),
 * `bbox` (its covering, for readers that skip row groups) and `embedding` (list of float32, byte stream split, zstd).
 */
export function openGeoParquet(setup: ParquetSetup, sink: ByteSink): GeoParquetWriter {
  let written = Promise.resolve()
  const thread = new Thread<ParquetMethods, Uint8Array>(new URL('./geoparquet.worker.ts', import.meta.url), {
    setup,
    resourceLimits: THREAD_LIMITS,
    onEvent: (bytes) => {
      written = written.then(() => sink.write(bytes))
      written.catch(() => undefined) // the awaited call throws it
    },
    toLostError: (why) => artifactFailed({ why: `its thread ended: ${why}` }),
    toError: (why) => artifactFailed({ why }),
  })
  // After a failure the file is incomplete, so later calls fail too.
  const orEnd = async (error: unknown): Promise<never> => {
    await thread[Symbol.asyncDispose]()
    throw error
  }
  return {
    append: async (rows) => {
      await thread.call('append', rows).catch(orEnd)
      await written
    },
    finish: async () => {
      const summary = await thread.call('finish', null).catch(orEnd)
      await written
      await thread[Symbol.asyncDispose]()
      return summary
    },
    [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose](),
  }
}
