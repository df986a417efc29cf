import { fileURLToPath } from 'node:url'
import type { JobWarning } from '@terrane/contracts'
import { reviveError } from '@terrane/core/errors'
import { EngineProcess } from '../engine.ts'
import { conversionFailed } from '../errors.ts'
import type { FeatureBatch, LayerPlan, LayerRows, LayerSchema, LayerSource } from '../feature-stream.ts'
import { framesOf, type Frame, type LayerRequest, type ReadRequest, type ReceivedFrame } from './protocol.ts'

const SCRIPT = fileURLToPath(new URL('./read.worker.ts', import.meta.url))
/** Most memory of the script: one feature of some hundred megabytes has to fit. */
const HEAP_MB = 2048

/** A process that is being started, for the data set that is opened first: its start takes as long as bringing a small file. */
export class SpareReader implements AsyncDisposable {
  #process: EngineProcess | null

  constructor(workdir: string, signal: AbortSignal) {
    this.#process = startProcess(workdir, signal)
  }

  /** The process, which is the caller's then; null when it has been taken. */
  take(): EngineProcess | null {
    const process_ = this.#process
    this.#process = null
    return process_
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.take()?.abandon()
  }
}

/** What a reading takes place in. */
export interface ReadingPlace {
  readonly workdir: string
  readonly signal: AbortSignal
  readonly spare?: SpareReader
}

/** A data set that is open in a process of its own, which ends with it. */
export class Reading implements LayerSource {
  readonly layers: readonly LayerSchema[]
  /** What could not be kept, as known at the end of the layer that was read last. */
  warnings: readonly JobWarning[]
  readonly #process: EngineProcess
  readonly #frames: AsyncGenerator<ReceivedFrame>

  private constructor(
    process: EngineProcess,
    frames: AsyncGenerator<ReceivedFrame>,
    first: Extract<Frame, { readonly kind: 'layers' }>,
  ) {
    this.#process = process
    this.#frames = frames
    this.layers = first.layers
    this.warnings = first.warnings
  }

  /** @throws CONVERSION_FAILED, and what the readers throw */
  static async open(request: ReadRequest, { workdir, signal, spare }: ReadingPlace): Promise<Reading> {
    const process_ = spare?.take() ?? startProcess(workdir, signal)
    process_.child.stdin!.write(`${JSON.stringify(request)}\n`)
    const frames = framesOf(process_.child.stdout as AsyncIterable<Buffer>)
    try {
      const { frame: first } = await nextOf(frames, process_)
      if (first.kind !== 'layers') throw new Error(`the reading process began with ${first.kind}`)
      return new Reading(process_, frames, first)
    } catch (error) {
      await process_.abandon()
      throw error
    }
  }

  /** The rows of layers, one layer after the other, by their numbers. */
  async *read(layers: readonly number[]): AsyncGenerator<{ readonly layer: number; readonly batch: FeatureBatch }> {
    for await (const { frame } of this.#ask(layers.map((layer) => ({ layer })))) if (frame.kind === 'batch') yield frame
  }

  async *pack(plans: readonly LayerPlan[]): AsyncGenerator<LayerRows> {
    for await (const { frame, chunks } of this.#ask(plans)) {
      if (frame.kind === 'rows') yield { ...frame, chunks, warnings: [] }
      else if (frame.kind === 'end') {
        yield { layer: frame.layer, rows: 0, rejected: 0, weight: 0, chunks, warnings: frame.unkept }
      }
    }
  }

  /** What the process says of layers, to the end of the last one. */
  async *#ask(requests: readonly LayerRequest[]): AsyncGenerator<ReceivedFrame> {
    this.#process.child.stdin!.write(`${JSON.stringify(requests)}\n`)
    for (let open = requests.length; open > 0;) {
      const received = await nextOf(this.#frames, this.#process)
      const { frame } = received
      if (frame.kind === 'end') {
        const { name } = this.layers[frame.layer]!
        this.warnings = [...this.warnings, ...frame.warnings.map((warning) => ({ ...warning, layer: name }))]
        open--
      }
      yield received
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.abandon()
  }
}

function startProcess(workdir: string, signal: AbortSignal): EngineProcess {
  const rights = ['--permission', '--allow-fs-read=*', '--disable-warning=ExperimentalWarning']
  const args = [...rights, `--max-old-space-size=${HEAP_MB}`, SCRIPT]
  const process_ = new EngineProcess(process.execPath, args, { cwd: workdir, env: {}, events: true }, signal)
  // A process that ended early says why itself.
  process_.child.stdin!.on('error', () => {})
  return process_
}

async function nextOf(frames: AsyncGenerator<ReceivedFrame>, process_: EngineProcess): Promise<ReceivedFrame> {
  const { value, done } = await frames.next()
  if (done === true) {
    await process_.ended
    throw conversionFailed({ reason: process_.complaint })
  }
  const { frame } = value
  if (frame.kind === 'error') throw reviveError(frame.error, (reason) => conversionFailed({ reason }))
  return value
}
