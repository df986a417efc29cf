import { Thread } from '@terrane/core/threads'
import type { ByteSpan } from '../blocks.ts'
import type { RasterDescription } from '../describe.ts'
import { renderFailed } from '../errors.ts'
import type {
  FileSpans,
  ImagePlan,
  PointValues,
  RasterStatistics,
  ReadEvent,
  RenderMethods,
  RenderRequest,
} from './messages.ts'

/** A raster file at any location. */
export interface RasterFile {
  /** Changes with the content. */
  readonly key: string
  readonly bytes: number
  /** The bytes of each span; several are read at once. */
  read(spans: readonly ByteSpan[], signal: AbortSignal): Promise<Uint8Array[]>
}

/** One file, or several files for one picture. */
export interface RasterImage {
  /** Changes with the content of each file and with their combination. */
  readonly key: string
  readonly files: readonly RasterFile[]
  readonly plan: ImagePlan
}

/** An image of a single, unchanged file. */
export function imageOfFile(file: RasterFile): RasterImage {
  return {
    key: file.key,
    files: [file],
    plan: { parts: [{ scene: null, files: [0], boxes: null }], selection: 'first' },
  }
}

interface Job {
  readonly image: RasterImage
  readonly request: RenderRequest
  readonly isLarge: boolean
  readonly abort: AbortController
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Minimum number of values of a large request; its thread needs about fifty bytes per value. */
const LARGE = 1 << 21

/** Whether a request asks for more values than an ordinary picture has. */
function isLarge(request: RenderRequest): boolean {
  if (request.kind === 'describe' || request.area.type === 'tile' || request.area.type === 'point') return false
  const { area, style } = request
  const [wanted, other] = area.size ?? [area.maxSize, area.maxSize]
  const [width, height] = [wanted ?? (other as number), other ?? (wanted as number)]
  const planes = style.bidx?.length ?? style.expression?.split(';').length ?? 1
  return width * height * planes > LARGE
}

/**
 * Renders pictures on threads of its own. Disposal ends them. Aborted requests are not started. Requests for more than
 * two million values run one at a time.
 */
export class RenderPool implements AsyncDisposable {
  readonly #threads: (RenderThread | null)[]
  readonly #waiting: Job[] = []

  constructor(threads: number) {
    this.#threads = Array.from({ length: threads }, () => null)
  }

  /** Facts of a raster. @throws what `openRenderer` throws */
  describe(image: RasterImage, signal: AbortSignal): Promise<RasterDescription> {
    return this.#run(image, { kind: 'describe' }, signal) as Promise<RasterDescription>
  }

  /** Values at a position; null outside the raster. @throws as {@link render} */
  point(
    image: RasterImage,
    request: Extract<RenderRequest, { kind: 'point' }>,
    signal: AbortSignal,
  ): Promise<PointValues | null> {
    return this.#run(image, request, signal) as Promise<PointValues | null>
  }

  /** Statistics of bands; null outside the raster. @throws as {@link render} */
  statistics(
    image: RasterImage,
    request: Extract<RenderRequest, { kind: 'statistics' }>,
    signal: AbortSignal,
  ): Promise<RasterStatistics | null> {
    return this.#run(image, request, signal) as Promise<RasterStatistics | null>
  }

  /** A picture or values as a file; null outside the raster. @throws what `openRenderer`, `render` and `readValues` throw */
  render(
    image: RasterImage,
    request: Extract<RenderRequest, { kind: 'picture' }>,
    signal: AbortSignal,
  ): Promise<Uint8Array | null> {
    return this.#run(image, request, signal) as Promise<Uint8Array | null>
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#threads.flatMap((thread) => (thread ? [thread.end()] : [])))
  }

  #run(image: RasterImage, request: RenderRequest, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted()
    return new Promise((resolve, reject) => {
      const job: Job = { image, request, isLarge: isLarge(request), abort: new AbortController(), resolve, reject }
      signal.addEventListener(
        'abort',
        () => {
          const at = this.#waiting.indexOf(job)
          if (at >= 0) this.#waiting.splice(at, 1)
          job.abort.abort()
          reject(signal.reason as Error)
        },
        { once: true },
      )
      this.#waiting.push(job)
      this.#start()
    })
  }

  /** The oldest waiting job that may start; pictures of boxes, such as thumbnails of lists, come last. */
  #take(): Job | undefined {
    const hasLarge = this.#threads.some((thread) => thread?.isLarge)
    const ready = this.#waiting.filter(({ isLarge: large }) => !(large && hasLarge))
    const job = ready.find(({ request }) => request.kind !== 'picture' || request.area.type !== 'box') ?? ready[0]
    if (job) this.#waiting.splice(this.#waiting.indexOf(job), 1)
    return job
  }

  /** Assigns jobs to idle threads; a thread that has drawn the same image before is preferred. */
  #start(): void {
    for (;;) {
      const idle = this.#threads.map((thread, i) => (thread?.busy ? -1 : i)).filter((i) => i >= 0)
      const next = this.#waiting[0]?.image.key ?? ''
      const slot = idle.find((i) => this.#threads[i]?.keys.has(next)) ?? idle.find((i) => this.#threads[i]) ?? idle[0]
      const job = slot === undefined ? undefined : this.#take()
      if (slot === undefined || !job) return
      if (this.#threads[slot]?.hasEnded) this.#threads[slot] = null
      const thread = (this.#threads[slot] ??= new RenderThread())
      void thread.take(job).then(() => this.#start())
    }
  }
}

/** One thread, which has one job at a time. */
class RenderThread {
  readonly keys = new Set<string>()
  readonly #thread: Thread<RenderMethods, ReadEvent>
  #job: Job | null = null

  constructor() {
    this.#thread = new Thread(new URL('./render.worker.ts', import.meta.url), {
      setup: null,
      onEvent: (event) => void this.#read(event),
      toLostError: (why) => renderFailed(undefined, { cause: new Error(why) }),
      toError: (why) => renderFailed(undefined, { cause: new Error(why) }),
    })
    this.#thread.unref()
  }

  get busy(): boolean {
    return this.#job !== null
  }

  /** Whether its job is a large one. */
  get isLarge(): boolean {
    return this.#job?.isLarge === true
  }

  get hasEnded(): boolean {
    return this.#thread.hasEnded
  }

  async take(job: Job): Promise<void> {
    this.#job = job
    const { image, request } = job
    this.keys.add(image.key)
    const files = image.files.map(({ key, bytes }) => ({ key, bytes }))
    await this.#thread.call('render', { files, plan: image.plan, request }).then(job.resolve, job.reject)
    this.#job = null
  }

  async end(): Promise<void> {
    await this.#thread[Symbol.asyncDispose]()
  }

  async #read({ reads, into, state }: ReadEvent): Promise<void> {
    const flag = new Int32Array(state)
    try {
      const job = this.#job as Job
      await readAll(job, reads, new Uint8Array(into))
      flag[0] = 1
    } catch {
      flag[0] = 2
    }
    Atomics.notify(flag, 0)
  }
}

/** Maximum number of files that are read concurrently. */
const AT_ONCE = 6

/** Reads spans of several files into one array, one after the other. */
async function readAll({ image, abort }: Job, reads: readonly FileSpans[], target: Uint8Array): Promise<void> {
  let at = 0
  const places = reads.map(({ spans }) => {
    const start = at
    at += spans.reduce((sum, { length }) => sum + length, 0)
    return start
  })
  let next = 0
  const lane = async (): Promise<void> => {
    for (let i = next++; i < reads.length; i = next++) {
      const { key, spans } = reads[i] as FileSpans
      const file = image.files.find((one) => one.key === key) as RasterFile
      let to = places[i] as number
      for (const [n, part] of (await file.read(spans, abort.signal)).entries()) {
        target.set(part, to)
        to += (spans[n] as ByteSpan).length
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, reads.length) }, lane))
}
