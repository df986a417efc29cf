import { InferenceSession, Tensor } from 'onnxruntime-node'

import { embeddingNotFinite, inferenceFailed, modelMismatch } from '../errors.ts'
import type { EmbeddingLevel, ModelManifest } from '../models/manifest.ts'
import type { ThreadSetup } from './protocol.ts'
import { type OutputTensor, poolOutput } from './pooling.ts'

/** Tensors to embed: `count` tiles `[channels, height, width]`, one after the other in `pixels`. */
export interface Input {
  readonly pixels: Float32Array
  readonly count: number
  readonly height: number
  readonly width: number
}

/** What to make of a tile. */
export interface Wanted {
  readonly level: EmbeddingLevel
  readonly perTile: number
  readonly normalize: boolean
}

/**
 * An open model. `session.run` blocks its thread until the result is there, so a session lives in a worker thread; and
 * it lives as long as that thread, because the runtime does not give all memory of a closed session back.
 */
export class ModelSession {
  readonly #session: InferenceSession
  readonly #manifest: ModelManifest
  readonly #output: ModelManifest['outputs'][number]

  private constructor(session: InferenceSession, manifest: ModelManifest) {
    this.#session = session
    this.#manifest = manifest
    this.#output = findOutput(session, manifest)
    checkInput(session, manifest)
  }

  /** Channels of a tile. */
  get channels(): number {
    return this.#manifest.input.bands.length
  }

  /** @throws MODEL_MISMATCH when the graph is not readable or lacks what the manifest names */
  static async open({ manifest, graph, threads }: ThreadSetup): Promise<ModelSession> {
    const options: InferenceSession.SessionOptions = {
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      graphOptimizationLevel: 'all',
      logSeverityLevel: 3,
    }
    let session: InferenceSession
    try {
      session = await (typeof graph === 'string'
        ? InferenceSession.create(graph, options)
        : InferenceSession.create(graph, options))
    } catch (cause) {
      throw modelMismatch({ id: manifest.id, problem: `the runtime cannot open it: ${messageOf(cause)}` }, { cause })
    }
    return new ModelSession(session, manifest)
  }

  /**
   * Embeddings of all tiles, `count · perTile · dims`.
   *
   * @param tileOf the number of the tile at a place, for errors
   * @throws INFERENCE_FAILED, MODEL_MISMATCH, EMBEDDING_NOT_FINITE
   */
  async embed(input: Input, wanted: Wanted, tileOf: (place: number) => number): Promise<Float32Array<ArrayBuffer>> {
    const { id, dims, patches } = this.#manifest
    const name = wanted.level === 'patch' && patches ? patches.output : this.#output.name
    const tensor = await this.#run(input, name)
    const embeddings = new Float32Array(input.count * wanted.perTile * dims)
    const pooled = { batch: input.count, dims, perTile: wanted.perTile }
    const expected =
      wanted.level === 'patch' && patches
        ? poolOutput(tensor, 'patches', { ...pooled, skip: patches.skip }, embeddings)
        : poolOutput(tensor, this.#output.pooling, { ...pooled, skip: 0 }, embeddings)
    if (expected !== null) {
      throw modelMismatch({ id, problem: `output ${name} is [${tensor.dims.join(', ')}] and should be ${expected}` })
    }
    for (let row = 0; row < input.count * wanted.perTile; row++) {
      const finite = finishRow(embeddings, row * dims, dims, wanted.normalize)
      if (!finite) throw embeddingNotFinite({ id, tile: tileOf(Math.floor(row / wanted.perTile)) })
    }
    return embeddings
  }

  async #run({ pixels, count, height, width }: Input, output: string): Promise<OutputTensor> {
    const { id, input } = this.#manifest
    const channels = input.bands.length
    const shape = [count, channels, height, width]
    let value: Tensor | undefined
    try {
      const tensor = new Tensor('float32', pixels.subarray(0, count * channels * height * width), shape)
      value = (await this.#session.run({ [input.name]: tensor }, [output]))[output]
    } catch (cause) {
      throw inferenceFailed({ id, why: `${messageOf(cause)} (input [${shape.join(', ')}])` }, { cause })
    }
    if (!(value?.data instanceof Float32Array)) throw modelMismatch({ id, problem: `output ${output} is not float32` })
    return { dims: value.dims, data: value.data }
  }
}

function findOutput(session: InferenceSession, manifest: ModelManifest): ModelManifest['outputs'][number] {
  const found = manifest.outputs.find(({ name }) => session.outputNames.includes(name))
  const patches = manifest.patches === null || session.outputNames.includes(manifest.patches.output)
  if (found && patches) return found
  const wanted = found ? manifest.patches?.output : manifest.outputs.map(({ name }) => name).join(' nor ')
  const problem = `it has no output ${wanted}, but ${session.outputNames.join(', ')}`
  throw modelMismatch({ id: manifest.id, problem })
}

function checkInput(session: InferenceSession, { id, input }: ModelManifest): void {
  const metadata = session.inputMetadata.find(({ name }) => name === input.name)
  if (!metadata) {
    throw modelMismatch({ id, problem: `it has no input ${input.name}, but ${session.inputNames.join(', ')}` })
  }
  if (session.inputNames.length > 1) {
    throw modelMismatch({ id, problem: `it needs more than one input: ${session.inputNames.join(', ')}` })
  }
  if (!metadata.isTensor || metadata.type !== 'float32' || metadata.shape.length !== 4) {
    throw modelMismatch({ id, problem: `input ${input.name} is not a float32 tensor of four dimensions` })
  }
  const wanted = [input.batch, input.bands.length, input.size?.height, input.size?.width]
  for (const [axis, size] of metadata.shape.entries()) {
    // A name, or a size below 1, is a dimension that the caller chooses.
    if (typeof size !== 'number' || size < 1 || size === wanted[axis]) continue
    const field = ['input.batch', 'input.bands', 'input.size', 'input.size'][axis]
    throw modelMismatch({
      id,
      problem: `input ${input.name} is [${metadata.shape.join(', ')}], which ${field} contradicts`,
    })
  }
}

/** Scales the row to unit length when asked to, leaving a row of zeros alone; false when a number is not finite. */
function finishRow(rows: Float32Array, start: number, length: number, normalize: boolean): boolean {
  let energy = 0
  for (let i = start; i < start + length; i++) energy += rows[i]! * rows[i]!
  if (!Number.isFinite(energy)) return false
  if (normalize && energy > 0) {
    const scale = 1 / Math.sqrt(energy)
    for (let i = start; i < start + length; i++) rows[i]! *= scale
  }
  return true
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
