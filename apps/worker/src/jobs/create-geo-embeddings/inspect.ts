import { Worker } from 'node:worker_threads'
import { TerraneError, reviveError, type PlainError } from '@terrane/core'
import type { CrsEntry, InspectRequest, InspectedRaster, Scale } from '@terrane/tiling/raster'

/** What the thread is started with. */
export interface InspectTask {
  readonly path: string
  readonly request: Omit<InspectRequest, 'crs'>
  /** CRSs that the operator added. */
  readonly crs: readonly CrsEntry[]
  readonly scale: readonly [number, number] | null
}

/** What it says: first what the headers tell, then the scale, which needs pixels. */
export type InspectReply =
  | { readonly type: 'inspected'; readonly inspected: InspectedRaster }
  | { readonly type: 'scaled'; readonly scale: Scale }
  | { readonly type: 'refused'; readonly error: PlainError }

/**
 * Checks a raster and finds its scale in a thread of its own.
 *
 * @param onInspected called between the two, for checks that need the plan; what it throws ends the work
 * @throws what `inspectGeoTiff` and `estimateScale` throw, the reason of the signal
 */
export function inspectRaster(
  task: InspectTask,
  signal: AbortSignal,
  onInspected: (inspected: InspectedRaster) => void,
): Promise<{ inspected: InspectedRaster; scale: Scale }> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<{ inspected: InspectedRaster; scale: Scale }>()
  const worker = new Worker(new URL('./inspect.worker.ts', import.meta.url), { workerData: task })
  let inspected: InspectedRaster | null = null
  worker.on('message', (reply: InspectReply) => {
    try {
      if (reply.type === 'refused') throw reviveError(reply.error, unexpected)
      if (reply.type === 'inspected') onInspected((inspected = reply.inspected))
      else if (inspected) resolve({ inspected, scale: reply.scale })
    } catch (error) {
      reject(error instanceof Error ? error : new Error(String(error)))
    }
  })
  worker.on('error', reject)
  worker.on('exit', () => reject(new Error('the thread that reads the raster ended')))
  const onAbort = () => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
  signal.addEventListener('abort', onAbort)
  return promise.finally(() => {
    signal.removeEventListener('abort', onAbort)
    void worker.terminate()
  })
}

/** What is in no catalogue is a fault of this program. */
function unexpected(why: string): TerraneError {
  return new TerraneError('INTERNAL', 'internal', 'Reading the raster failed', { details: why })
}
