import { Worker } from 'node:worker_threads'
import { TerraneError, reviveError, type PlainError } from '@terrane/core'
import type { CrsEntry, InspectRequest, InspectedRaster, Scale, ScaleRequest } from '@terrane/tiling/raster'

/** What the thread is started with. */
export interface InspectTask {
  readonly path: string
  readonly request: Omit<InspectRequest, 'crs'>
  /** CRSs that the operator added. */
  readonly crs: readonly CrsEntry[]
  /** Null to look at the headers alone. */
  readonly scale: ScaleRequest | null
}

/** What it says: first what the headers tell, then the scale, which needs pixels. */
export type InspectReply =
  | { readonly type: 'inspected'; readonly inspected: InspectedRaster }
  | { readonly type: 'scaled'; readonly scale: Scale }
  | { readonly type: 'refused'; readonly error: PlainError }

/**
 * Checks a raster by its headers, in a thread of its own.
 *
 * @throws what `inspectGeoTiff` throws, the reason of the signal
 */
export function inspectHeaders(task: Omit<InspectTask, 'scale'>, signal: AbortSignal): Promise<InspectedRaster> {
  return inThread<InspectedRaster>({ ...task, scale: null }, signal, (reply, done) => {
    if (reply.type === 'inspected') done(reply.inspected)
  })
}

/**
 * Checks a raster and finds its scale in a thread of its own.
 *
 * @param onInspected called between the two, for checks that need the plan; what it throws ends the work
 * @throws what `inspectGeoTiff` and `settleScale` throw, the reason of the signal
 */
export function inspectRaster(
  task: InspectTask & { readonly scale: ScaleRequest },
  signal: AbortSignal,
  onInspected: (inspected: InspectedRaster) => void,
): Promise<{ inspected: InspectedRaster; scale: Scale }> {
  let inspected: InspectedRaster | null = null
  return inThread<{ inspected: InspectedRaster; scale: Scale }>(task, signal, (reply, done) => {
    if (reply.type === 'inspected') onInspected((inspected = reply.inspected))
    else if (inspected) done({ inspected, scale: reply.scale })
  })
}

function inThread<T>(
  task: InspectTask,
  signal: AbortSignal,
  onReply: (reply: Exclude<InspectReply, { type: 'refused' }>, done: (result: T) => void) => void,
): Promise<T> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const worker = new Worker(new URL('./inspect.worker.ts', import.meta.url), { workerData: task })
  worker.on('message', (reply: InspectReply) => {
    try {
      if (reply.type === 'refused') throw reviveError(reply.error, unexpected)
      onReply(reply, resolve)
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
