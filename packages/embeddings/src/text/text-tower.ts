import { Thread } from '@terrane/core/threads'
import { inferenceFailed, threadLost } from '../errors.ts'
import { keepTelemetryOff } from '../engine/telemetry.ts'
import type { TextManifest } from '../models/text-manifest.ts'
import type { TextModel } from '../models/store.ts'

/** Start parameters of the thread. */
export interface TextSetup {
  readonly id: string
  readonly dims: number
  readonly text: TextManifest
  /** Paths of the files. */
  readonly graph: string
  readonly tokenizer: string
  readonly threads: number
}

/** Methods of the thread. */
export interface TextMethods {
  embed(text: string): Float32Array
}

/** The text part of a model, open in a thread of its own. */
export interface TextTower extends AsyncDisposable {
  /**
   * The vector of a text, of unit length, in the space of the model's tiles.
   *
   * @throws TEXT_TOO_LONG, INFERENCE_FAILED, MODEL_MISMATCH, EMBEDDING_NOT_FINITE, INFERENCE_THREAD_LOST
   */
  embed(text: string): Promise<Float32Array>
}

/** @throws MODEL_MISMATCH when the graph or its tokenizer does not match the manifest */
export async function openTextTower(model: TextModel, threads = 1): Promise<TextTower> {
  keepTelemetryOff()
  const { manifest, graph, tokenizer } = model
  const { id, dims, text } = manifest
  const thread = new Thread<TextMethods>(new URL('./text.worker.ts', import.meta.url), {
    setup: { id, dims, text, graph, tokenizer, threads } satisfies TextSetup,
    toLostError: (why) => threadLost({ why }),
    toError: (why) => inferenceFailed({ id, why }),
  })
  await thread.ready
  return {
    embed: (words) => thread.call('embed', words),
    [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose](),
  }
}
