import { stat } from 'node:fs/promises'
import { reviveError, type Warning } from '@terrane/core/errors'
import { conversionFailed } from '../errors.ts'
import type { EncodedRows, FeatureBatch, LayerPlan, LayerSchema, LayerSource } from '../feature-stream.ts'
import { framesOf, type Frame, type LayerRequest, type ReadRequest, type ReceivedFrame } from './protocol.ts'

/** A reader of one data set, as its client sees it; `serveReading` is the other side. */
export interface Reader {
  /** Frames as bytes. */
  readonly output: AsyncIterable<Buffer>
  /** Sends a line of JSON. */
  write(line: string): void
  /** Announces the bytes of the data set: a larger one may use more CPU time and memory. */
  expect(bytes: number): void
  /** Resolves at the end of the reader; rejects with the reason if it ended early. */
  readonly ended: Promise<void>
  /** The last error message of a reader that ended without an answer. */
  complaint(): string
  /** Ends it, whether it is done or not. */
  abandon(): Promise<void>
}

/** Starts a reader, before its request is known; the signal ends it. */
export type StartReader = (workdir: string, signal: AbortSignal) => Reader

/** A reader started in advance for the first data set, because its start takes as long as fetching a small file. */
export class SpareReader implements AsyncDisposable {
  #reader: Reader | null

  constructor(reader: Reader) {
    this.#reader = reader
  }

  /** The reader, which the caller then owns; null when it has been taken. */
  take(): Reader | null {
    const reader = this.#reader
    this.#reader = null
    return reader
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.take()?.abandon()
  }
}

/** Work folder, abort signal and processes of a read. */
export interface ReadingPlace {
  readonly workdir: string
  readonly signal: AbortSignal
  readonly startReader: StartReader
  readonly spare?: SpareReader
}

/** A data set that is open in a reader of its own, which ends with it. */
export class Reading implements LayerSource {
  readonly layers: readonly LayerSchema[]
  /** Warnings at the end of the layer that was read last. */
  warnings: readonly Warning[]
  readonly #reader: Reader
  readonly #frames: AsyncGenerator<ReceivedFrame>

  private constructor(
    reader: Reader,
    frames: AsyncGenerator<ReceivedFrame>,
    first: Extract<Frame, { readonly kind: 'layers' }>,
  ) {
    this.#reader = reader
    this.#frames = frames
    this.layers = first.layers
    this.warnings = first.warnings
  }

  /** @throws CONVERSION_FAILED, and what the readers throw */
  static async open(request: ReadRequest, { workdir, signal, startReader, spare }: ReadingPlace): Promise<Reading> {
    const reader = spare?.take() ?? startReader(workdir, signal)
    const file = await stat(request.path).catch(() => null)
    reader.expect(file?.size ?? 0)
    reader.write(JSON.stringify(request))
    const frames = framesOf(reader.output)
    try {
      const { frame: first } = await nextOf(frames, reader)
      if (first.kind !== 'layers') throw new Error(`the reader began with ${first.kind}`)
      return new Reading(reader, frames, first)
    } catch (error) {
      await reader.abandon()
      throw error
    }
  }

  /** The rows of layers, one layer after the other, by their numbers. */
  async *read(layers: readonly number[]): AsyncGenerator<{ readonly layer: number; readonly batch: FeatureBatch }> {
    for await (const { frame } of this.#ask(layers.map((layer) => ({ layer })))) if (frame.kind === 'batch') yield frame
  }

  async *encode(plans: readonly LayerPlan[]): AsyncGenerator<EncodedRows> {
    for await (const { frame, chunks } of this.#ask(plans)) {
      if (frame.kind === 'rows') yield { layer: frame.layer, note: frame.note, chunks, warnings: [] }
      else if (frame.kind === 'end') yield { layer: frame.layer, note: null, chunks, warnings: frame.unkept }
    }
  }

  /** Messages of the reader about layers, to the end of the last one. */
  async *#ask(requests: readonly LayerRequest[]): AsyncGenerator<ReceivedFrame> {
    this.#reader.write(JSON.stringify(requests))
    for (let open = requests.length; open > 0;) {
      const received = await nextOf(this.#frames, this.#reader)
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
    await this.#reader.abandon()
  }
}

async function nextOf(frames: AsyncGenerator<ReceivedFrame>, reader: Reader): Promise<ReceivedFrame> {
  const { value, done } = await frames.next()
  if (done === true) {
    await reader.ended
    throw conversionFailed({ reason: reader.complaint() })
  }
  const { frame } = value
  if (frame.kind === 'error') throw reviveError(frame.error, (reason) => conversionFailed({ reason }))
  return value
}
