import { TerraneError } from '@terrane/core'
import { Thread } from '@terrane/core/threads'
import type { PartialBand, Scene } from '@terrane/tiling/scene'
import type { CrsEntry, Guard, InspectRequest, InspectedRaster, Scale, ScaleRequest } from '@terrane/tiling/raster'
import { checkClamped } from './clamped.ts'

/** Request to the thread. */
export interface InspectTask {
  readonly path: string
  readonly request: Omit<InspectRequest, 'crs'>
  /** CRSs that the operator added. */
  readonly crs: readonly CrsEntry[]
}

/** Request to combine the files of a scene into one GeoTIFF. */
export interface StackTask {
  readonly scene: Scene
  /** Paths of the scene's files, by their number. */
  readonly paths: readonly string[]
  /** Path of the new file, which must not exist yet. */
  readonly path: string
  readonly maxBytes: Guard
}

/** Methods of the thread. */
export interface InspectMethods {
  /** Writes a scene as one GeoTIFF; returns the bands that end within its grid. */
  stack(task: StackTask): PartialBand[]
  /** Contents of the headers. */
  inspect(task: InspectTask): InspectedRaster
  /** Finds the scale of the last inspected raster from its pixels. */
  scale(request: ScaleRequest): Omit<ScaledRaster, 'inspected'>
}

/** Checks a raster by its headers, in a thread. @throws what `inspectGeoTiff` throws, the reason of the signal */
export function inspectHeaders(task: InspectTask, signal: AbortSignal): Promise<InspectedRaster> {
  return inThread(signal, (thread) => thread.call('inspect', task))
}

/**
 * Makes one GeoTIFF of the files of a scene, in a thread.
 *
 * @returns the bands that end within its grid
 * @throws what `stackScene` throws, the reason of the signal
 */
export function stackFiles(task: StackTask, signal: AbortSignal): Promise<PartialBand[]> {
  return inThread(signal, (thread) => thread.call('stack', task))
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
 * @param onInspected called between the two, for checks that need the plan; if it throws, the work ends
 * @throws what `inspectGeoTiff` and `settleScale` throw, SAMPLES_CLAMPED, the reason of the signal
 */
export function inspectRaster(
  { scale, ...task }: InspectTask & { readonly scale: ScaleRequest },
  signal: AbortSignal,
  onInspected: (inspected: InspectedRaster) => void,
): Promise<ScaledRaster> {
  return inThread(signal, async (thread) => {
    const inspected = await thread.call('inspect', task)
    onInspected(inspected)
    const scaled = await thread.call('scale', scale)
    checkClamped(scaled.clamped)
    return { inspected, ...scaled }
  })
}

async function inThread<T>(signal: AbortSignal, work: (thread: Thread<InspectMethods>) => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  const thread = takeThread()
  const onAbort = () => void thread.end(signal.reason)
  signal.addEventListener('abort', onAbort)
  try {
    return await work(thread)
  } finally {
    signal.removeEventListener('abort', onAbort)
    if (!thread.hasEnded) keepThread(thread)
  }
}

/** Time that an idle thread is kept for the next raster: starting one takes longer than reading most headers. */
const IDLE_MS = 10_000
let kept: { readonly thread: Thread<InspectMethods>; readonly timer: NodeJS.Timeout } | null = null

function takeThread(): Thread<InspectMethods> {
  if (kept === null || kept.thread.hasEnded) {
    return new Thread(new URL('./inspect.worker.ts', import.meta.url), {
      toLostError: (why) => new Error(`the thread that reads the raster ended: ${why}`),
      toError: unexpected,
    })
  }
  const { thread, timer } = kept
  kept = null
  clearTimeout(timer)
  thread.ref()
  return thread
}

/** Keeps one idle thread at most; it does not keep the process alive. */
function keepThread(thread: Thread<InspectMethods>): void {
  dropThread()
  thread.unref()
  kept = { thread, timer: setTimeout(dropThread, IDLE_MS).unref() }
}

function dropThread(): void {
  if (kept === null) return
  clearTimeout(kept.timer)
  void kept.thread[Symbol.asyncDispose]()
  kept = null
}

/** Errors without a code are bugs of this program. */
function unexpected(why: string): TerraneError {
  return new TerraneError('INTERNAL', 'internal', 'Reading the raster failed', { details: why })
}
