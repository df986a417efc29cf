import { Worker } from 'node:worker_threads'
import { TerraneError, reviveError, type PlainError } from '@terrane/core'
import type { CrsEntry, InspectRequest, InspectedRaster, Scale, ScaleRequest } from '@terrane/tiling/raster'
import { checkClamped } from './clamped.ts'

/** What the thread is asked. */
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
  | { readonly type: 'scaled'; readonly scale: Scale; readonly clamped: readonly number[] }
  | { readonly type: 'refused'; readonly error: PlainError }

/**
 * Checks a raster by its headers, in a thread.
 *
 * @throws what `inspectGeoTiff` throws, the reason of the signal
 */
export function inspectHeaders(task: Omit<InspectTask, 'scale'>, signal: AbortSignal): Promise<InspectedRaster> {
  return inThread<InspectedRaster>({ ...task, scale: null }, signal, (reply, done) => {
    if (reply.type === 'inspected') done(reply.inspected)
  })
}

/** A raster, its stretch, and the share of samples of each channel that the stretch clamps. */
export interface ScaledRaster {
  readonly inspected: InspectedRaster
  readonly scale: Scale
  readonly clamped: readonly number[]
}

/**
 * Checks a raster and finds its scale in a thread.
 *
 * @param onInspected called between the two, for checks that need the plan; what it throws ends the work
 * @throws what `inspectGeoTiff` and `settleScale` throw, SAMPLES_CLAMPED, the reason of the signal
 */
export function inspectRaster(
  task: InspectTask & { readonly scale: ScaleRequest },
  signal: AbortSignal,
  onInspected: (inspected: InspectedRaster) => void,
): Promise<ScaledRaster> {
  let inspected: InspectedRaster | null = null
  return inThread<ScaledRaster>(task, signal, (reply, done) => {
    if (reply.type === 'inspected') onInspected((inspected = reply.inspected))
    else if (inspected) {
      checkClamped(reply.clamped)
      done({ inspected, scale: reply.scale, clamped: reply.clamped })
    }
  })
}

function inThread<T>(
  task: InspectTask,
  signal: AbortSignal,
  onReply: (reply: Exclude<InspectReply, { type: 'refused' }>, done: (result: T) => void) => void,
): Promise<T> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const thread = takeThread()
  let isIdle = false
  const onMessage = (reply: InspectReply) => {
    isIdle = reply.type !== 'inspected' || task.scale === null
    try {
      if (reply.type === 'refused') throw reviveError(reply.error, unexpected)
      onReply(reply, resolve)
    } catch (error) {
      reject(error instanceof Error ? error : new Error(String(error)))
    }
  }
  const onExit = () => reject(new Error('the thread that reads the raster ended'))
  const onAbort = () => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
  thread.on('message', onMessage).on('error', reject).on('exit', onExit)
  signal.addEventListener('abort', onAbort)
  thread.postMessage(task)
  return promise.finally(() => {
    signal.removeEventListener('abort', onAbort)
    thread.off('message', onMessage).off('error', reject).off('exit', onExit)
    if (isIdle) keepThread(thread)
    else void thread.terminate()
  })
}

/** Time that an idle thread is kept for the next raster: starting one takes longer than reading most headers. */
const IDLE_MS = 10_000
let kept: { readonly thread: Worker; readonly timer: NodeJS.Timeout } | null = null

function takeThread(): Worker {
  if (kept === null) {
    const thread = new Worker(new URL('./inspect.worker.ts', import.meta.url))
    thread.on('error', () => {
      if (kept?.thread === thread) dropThread()
    })
    return thread
  }
  const { thread, timer } = kept
  kept = null
  clearTimeout(timer)
  thread.ref()
  return thread
}

/** Keeps one idle thread at most; it does not keep the process alive. */
function keepThread(thread: Worker): void {
  dropThread()
  thread.unref()
  kept = { thread, timer: setTimeout(dropThread, IDLE_MS).unref() }
}

function dropThread(): void {
  if (kept === null) return
  clearTimeout(kept.timer)
  void kept.thread.terminate()
  kept = null
}

/** What is in no catalogue is a fault of this program. */
function unexpected(why: string): TerraneError {
  return new TerraneError('INTERNAL', 'internal', 'Reading the raster failed', { details: why })
}
