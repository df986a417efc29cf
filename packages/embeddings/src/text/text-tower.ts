import { Worker } from 'node:worker_threads'
import { reviveError, type PlainError } from '@terrane/core'
import { inferenceFailed, threadLost } from '../errors.ts'
import { keepTelemetryOff } from '../engine/telemetry.ts'
import type { TextManifest } from '../models/text-manifest.ts'
import type { TextModel } from '../models/store.ts'

/** What the thread is started with. */
export interface TextSetup {
  readonly id: string
  readonly dims: number
  readonly text: TextManifest
  /** Paths of the files. */
  readonly graph: string
  readonly tokenizer: string
  readonly threads: number
}

export interface TextRequest {
  readonly request: number
  readonly text: string
}

/** The answer to a request. Number 0 is no request: it says that the thread is ready. */
export type TextReply =
  | { readonly request: number; readonly vector: Float32Array }
  | { readonly request: number; readonly error: PlainError }

/** The text part of a model, open in a thread of its own. */
export interface TextTower extends AsyncDisposable {
  /**
   * The vector of a text, of unit length, in the space of the model's tiles.
   *
   * @throws TEXT_TOO_LONG, INFERENCE_FAILED, MODEL_MISMATCH, EMBEDDING_NOT_FINITE, INFERENCE_THREAD_LOST
   */
  embed(text: string): Promise<Float32Array>
}

/** @throws MODEL_MISMATCH when the graph or its tokenizer is not what the manifest says */
export async function openTextTower(model: TextModel, threads = 1): Promise<TextTower> {
  keepTelemetryOff()
  const { manifest, graph, tokenizer } = model
  const setup: TextSetup = { id: manifest.id, dims: manifest.dims, text: manifest.text, graph, tokenizer, threads }
  const tower = new ThreadTower(setup)
  try {
    await tower.ready
  } catch (error) {
    await tower[Symbol.asyncDispose]()
    throw error
  }
  return tower
}

class ThreadTower implements TextTower {
  readonly ready: Promise<unknown>
  readonly #worker: Worker
  readonly #waiting = new Map<number, PromiseWithResolvers<Float32Array>>()
  #requests = 0
  #lost: Error | null = null

  constructor(setup: TextSetup) {
    this.#worker = new Worker(new URL('./text.worker.ts', import.meta.url), { workerData: setup })
    this.ready = this.#wait(0)
    this.#worker.on('message', (reply: TextReply) => {
      const waiting = this.#waiting.get(reply.request)
      this.#waiting.delete(reply.request)
      if ('vector' in reply) waiting?.resolve(reply.vector)
      else waiting?.reject(reviveError(reply.error, (why) => inferenceFailed({ id: setup.id, why })))
    })
    this.#worker.on('error', (error) => this.#lose(error instanceof Error ? error.message : String(error)))
    this.#worker.on('exit', (code) => this.#lose(`it exited with code ${code}`))
  }

  embed(text: string): Promise<Float32Array> {
    if (this.#lost) return Promise.reject(this.#lost)
    const request = ++this.#requests
    const vector = this.#wait(request)
    this.#worker.postMessage({ request, text } satisfies TextRequest, [])
    return vector
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#lose('it was closed')
    await this.#worker.terminate()
  }

  #wait(request: number): Promise<Float32Array> {
    const waiting = Promise.withResolvers<Float32Array>()
    this.#waiting.set(request, waiting)
    return waiting.promise
  }

  #lose(why: string): void {
    this.#lost ??= threadLost({ why })
    for (const waiting of this.#waiting.values()) waiting.reject(this.#lost)
    this.#waiting.clear()
  }
}
