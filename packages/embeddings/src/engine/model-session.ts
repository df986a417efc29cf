import { TerraneError } from '@terrane/core'
import { InferenceSession, type Tensor, env } from 'onnxruntime-node'

import { embeddingNotFinite, inferenceFailed, modelMismatch, unopenedHint } from '../errors.ts'
import type { EmbeddingLevel, ModelManifest } from '../models/manifest.ts'
import type { ThreadSetup } from './protocol.ts'
import { extraTensors } from './extra-inputs.ts'
import type { TileContext } from './tile-context.ts'
import { axesOf, type Input, filledUp, inputShape, pixelTensor, singlePrecision } from './input-tensors.ts'
import { type OutputTensor, poolOutput } from './pooling.ts'
import { type OpenSession, openWithProvider } from './open-with-provider.ts'
import type { ProviderChoice } from './providers.ts'

/** Requested form of the embeddings. */
export interface Wanted {
  readonly level: EmbeddingLevel
  readonly perTile: number
  readonly normalize: boolean
  readonly context: TileContext
}

/**
 * An open model. `session.run` blocks its thread until the result is computed, so a session belongs to a worker thread.
 * It stays open until that thread ends, because the runtime does not free all memory of a closed session.
 */
export class ModelSession {
  readonly #session: InferenceSession
  readonly #manifest: ModelManifest
  readonly #output: ModelManifest['outputs'][number]
  /** Batch size if the graph fixes it, else 1. */
  readonly #fixedBatch: number
  /** Tiles of a run, where runs of more failed. */
  #most = Infinity
  /** Execution provider in use, and the preferred ones that failed. */
  readonly choice: ProviderChoice

  private constructor({ session, ...choice }: OpenSession, manifest: ModelManifest) {
    this.#session = session
    this.choice = choice
    this.#manifest = manifest
    this.#output = findOutput(session, manifest)
    this.#fixedBatch = checkInput(session, manifest)
  }

  /** Whether a run takes any number of tiles. Extra inputs may hold the numbers of one tile only. */
  get hasFreeBatch(): boolean {
    const { input, extra_inputs: extra = [] } = this.#manifest
    const metadata = this.#session.inputMetadata.find(({ name }) => name === input.name)
    return extra.length === 0 && metadata?.isTensor === true && typeof metadata.shape[0] !== 'number'
  }

  /** Channels of a tile. */
  get channels(): number {
    return this.#manifest.input.bands.length
  }

  /** @throws MODEL_MISMATCH when the graph is not readable or lacks names of the manifest */
  static async open({ manifest, graph, threads, providers }: ThreadSetup): Promise<ModelSession> {
    const options: InferenceSession.SessionOptions = {
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      graphOptimizationLevel: 'all',
      logSeverityLevel: 3,
    }
    const opened = await openWithProvider(providers, (by) =>
      typeof graph === 'string'
        ? InferenceSession.create(graph, { ...options, ...by })
        : InferenceSession.create(graph, { ...options, ...by }),
    ).catch((cause: unknown) => {
      throw modelMismatch(
        { id: manifest.id, problem: `the runtime cannot open it: ${messageOf(cause)}` },
        { cause, hint: unopenedHint(env.versions.node) },
      )
    })
    return new ModelSession(opened, manifest)
  }

  /**
   * Embeddings of all tiles, `count · perTile · dims`. Where a run fails, e.g. because a device has too little memory,
   * half of its tiles are tried, down to one.
   *
   * @param tileOf the number of the tile at a place, for errors
   * @throws INFERENCE_FAILED, MODEL_MISMATCH, EMBEDDING_NOT_FINITE
   */
  async embed(input: Input, wanted: Wanted, tileOf: (place: number) => number): Promise<Float32Array<ArrayBuffer>> {
    const { count, pixels, height, width } = input
    const [length, row] = [this.channels * height * width, wanted.perTile * this.#manifest.dims]
    const all = new Float32Array(count * row)
    for (let at = 0; at < count;) {
      const [first, tiles] = [at, Math.min(this.#most, count - at)]
      const part = { ...input, count: tiles, pixels: pixels.subarray(first * length) }
      try {
        all.set(await this.#embedAtOnce(part, wanted, (place) => tileOf(first + place)), first * row)
        at += tiles
      } catch (error) {
        if (tiles === 1 || !this.hasFreeBatch || !isFailedRun(error)) throw error
        this.#most = Math.floor(tiles / 2)
      }
    }
    return all
  }

  async #embedAtOnce(
    input: Input,
    wanted: Wanted,
    tileOf: (place: number) => number,
  ): Promise<Float32Array<ArrayBuffer>> {
    const { id, dims, patches } = this.#manifest
    const name = wanted.level === 'patch' && patches ? patches.output : this.#output.name
    const fed = filledUp(input, this.#fixedBatch, this.channels)
    const tiles = Array.from({ length: fed.count }, (_, place) => tileOf(Math.min(place, input.count - 1)))
    const extra = extraTensors(this.#manifest, this.#session.inputMetadata, wanted.context, tiles)
    const tensor = await this.#run(fed, extra, name)
    const all = new Float32Array(fed.count * wanted.perTile * dims)
    const pooled = { batch: fed.count, dims, perTile: wanted.perTile }
    const expected =
      wanted.level === 'patch' && patches
        ? poolOutput(tensor, PATCH_POOLING[patches.layout ?? 'tokens'], { ...pooled, skip: patches.skip }, all)
        : poolOutput(tensor, this.#output.pooling, { ...pooled, skip: this.#output.skip ?? 0 }, all)
    if (expected !== null) {
      throw modelMismatch({ id, problem: `output ${name} is [${tensor.dims.join(', ')}] and should be ${expected}` })
    }
    const embeddings = fed === input ? all : all.slice(0, input.count * wanted.perTile * dims)
    for (let row = 0; row < input.count * wanted.perTile; row++) {
      const finite = finishRow(embeddings, row * dims, dims, wanted.normalize)
      if (!finite) throw embeddingNotFinite({ id, tile: tileOf(Math.floor(row / wanted.perTile)) })
    }
    return embeddings
  }

  async #run(input: Input, extra: Record<string, Tensor>, output: string): Promise<OutputTensor> {
    const { id, input: described } = this.#manifest
    let value: Tensor | undefined
    try {
      const feeds = { ...extra, [described.name]: pixelTensor(described, input) }
      value = (await this.#session.run(feeds, [output]))[output]
    } catch (cause) {
      const shape = inputShape(described, input).join(', ')
      const hint =
        this.choice.provider === 'cpu' ? {} : { hint: 'The device may lack memory: try smaller tiles, or the CPU.' }
      throw inferenceFailed({ id, why: `${messageOf(cause)} (input [${shape}])` }, { cause, ...hint })
    }
    const data = value ? singlePrecision(value) : null
    if (!value || !data) throw modelMismatch({ id, problem: `output ${output} holds no floating point numbers` })
    return { dims: value.dims, data }
  }
}

const isFailedRun = (error: unknown): boolean => error instanceof TerraneError && error.code === 'INFERENCE_FAILED'

const PATCH_POOLING = { tokens: 'patches', map: 'patch-map', 'map-last': 'patch-map-last' } as const

function findOutput(session: InferenceSession, manifest: ModelManifest): ModelManifest['outputs'][number] {
  const found = manifest.outputs.find(({ name }) => session.outputNames.includes(name))
  const patches = manifest.patches === null || session.outputNames.includes(manifest.patches.output)
  if (found && patches) return found
  const wanted = found ? manifest.patches?.output : manifest.outputs.map(({ name }) => name).join(' nor ')
  const problem = `it has no output ${wanted}, but ${session.outputNames.join(', ')}`
  throw modelMismatch({ id: manifest.id, problem })
}

/** @returns the batch size if the graph fixes it, else 1 */
function checkInput(session: InferenceSession, { id, input, extra_inputs: extra = [] }: ModelManifest): number {
  const metadata = session.inputMetadata.find(({ name }) => name === input.name)
  if (!metadata) {
    throw modelMismatch({ id, problem: `it has no input ${input.name}, but ${session.inputNames.join(', ')}` })
  }
  const filled = new Set([input.name, ...extra.map(({ name }) => name)])
  const unfilled = session.inputNames.filter((name) => !filled.has(name))
  if (unfilled.length > 0) {
    throw modelMismatch({ id, problem: `it also needs ${unfilled.join(', ')}, which extra_inputs does not fill` })
  }
  const type = input.type ?? 'float32'
  const axes = axesOf(input)
  if (!metadata.isTensor || metadata.type !== type || metadata.shape.length !== axes.length) {
    const found = metadata.isTensor ? `${metadata.type} [${metadata.shape.join(', ')}]` : 'no tensor'
    throw modelMismatch({
      id,
      problem: `input ${input.name} is ${found}, and input.type ${type} with the axes ${axes.join(', ')} is wanted (input.layout)`,
    })
  }
  const { width = null, height = null } = input.size ?? {}
  const wanted = { n: input.batch, c: input.bands.length, t: 1, h: height, w: width }
  for (const [axis, size] of metadata.shape.entries()) {
    // A name, or a size below 1, is a dimension that the caller chooses.
    if (typeof size !== 'number' || size < 1 || size === wanted[axes[axis]!]) continue
    const shape = `input ${input.name} is [${metadata.shape.join(', ')}]`
    const turned = axes.join('') === 'nchw' && metadata.shape[3] === input.bands.length
    const why = turned ? 'which input.layout "nhwc" would fit' : `which ${FIELDS[axes[axis]!]} contradicts`
    throw modelMismatch({ id, problem: `${shape}, ${why}` })
  }
  const [batch] = metadata.shape
  return typeof batch === 'number' && batch > 1 ? batch : 1
}

/** Manifest fields that determine the length of an axis. */
const FIELDS = {
  n: 'input.batch',
  c: 'input.bands',
  t: 'input.layout, of one date,',
  h: 'input.size',
  w: 'input.size',
} as const

/** Scales the row to unit length if requested; a row of zeros stays unchanged. False when a number is not finite. */
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
