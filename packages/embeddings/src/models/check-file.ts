import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { TerraneError } from '@terrane/core'
import { InferenceSession, env } from 'onnxruntime-node'
import { extraTensors, type TensorMetadata } from '../engine/extra-inputs.ts'
import type { TileContext } from '../engine/tile-context.ts'
import { openTextTower } from '../text/text-tower.ts'
import type { TextModel } from './store.ts'
import { filledUp, pixelTensor } from '../engine/input-tensors.ts'
import { ModelSession } from '../engine/model-session.ts'
import { keepTelemetryOff } from '../engine/telemetry.ts'
import { modelFileUnfit, modelUnavailable, unopenedHint } from '../errors.ts'
import { parseManifest, type ModelFile, type ModelManifest, type Pooling } from './manifest.ts'
import { extraInputs, imageInput } from './draft-inputs.ts'
import { checkDigest, digestFile, type FileDigest } from './verify.ts'

/** A manifest, given or drafted from the graph, and the result for one tile. */
export interface CheckedModel {
  readonly manifest: ModelManifest
  /** Settings that the graph does not state and a person has to check. */
  readonly notes: readonly string[]
  /** The embedding of one tile of gray. */
  readonly embedding: Float32Array
  readonly milliseconds: number
}

/** Side in pixels of the test tile when the graph leaves it free. */
const SIDE = 256
/** Graphs up to this size are searched for the names of files beside them. */
const MAX_GRAPH = 1 << 30
/** An output with fewer numbers is probably class scores instead of an embedding. */
const FEW = 16
const SAMPLE: TileContext = {
  datetime: '2024-06-01T10:00:00Z',
  gsd: 10,
  wavelengths: null,
  places: Float64Array.of(0, 0),
}

/**
 * Tests an ONNX file with one tile, and drafts a manifest for it if none is given.
 *
 * @param given a draft that a person has corrected; its checksums must be those of the files, and are filled in where
 * they are null
 * @throws MODEL_UNAVAILABLE when there is no such file; MODEL_TAMPERED when it does not match the checksum of the given
 * manifest; MODEL_MISMATCH when no input can be an image, no output can be an embedding, or they differ from the
 * manifest or its text part; INFERENCE_FAILED
 */
export async function checkModelFile(path: string, given?: ModelManifest | null): Promise<CheckedModel> {
  keepTelemetryOff()
  if (given) {
    const pinned = await pinBeside(path, given)
    const checked = await tryTile(path, pinned, [])
    if (pinned.text) await tryText(path, { ...pinned, text: pinned.text })
    return checked
  }
  const { manifest, notes } = await draftManifest(path)
  return tryTile(path, manifest, notes)
}

/** The manifest, with sizes and checksums added for external files of the graph. */
async function pinBeside(path: string, manifest: ModelManifest): Promise<ModelManifest> {
  const pin = async (files: readonly ModelFile[]): Promise<ModelFile[]> => {
    const pinned: ModelFile[] = []
    for (const file of files) {
      const place = join(dirname(path), nameBeside(path, file))
      const digest = await digestOf(manifest.id, place)
      checkDigest(manifest.id, place, file, digest)
      pinned.push({ ...file, ...digest })
    }
    return pinned
  }
  const { files, text } = manifest
  return { ...manifest, files: await pin(files), ...(text && { text: { ...text, files: await pin(text.files) } }) }
}

/** Tests the text part of a model, whose files are beside its graph, with one word. */
async function tryText(path: string, manifest: TextModel['manifest']): Promise<void> {
  const { files, tokenizer } = manifest.text
  const placeOf = (file: ModelFile) => join(dirname(path), nameBeside(path, file))
  await using tower = await openTextTower({
    manifest,
    graph: placeOf(files[0]!),
    tokenizer: placeOf(files.find((file) => file.path === tokenizer)!),
  })
  await tower.embed('water')
}

/** Name in the manifest of a file beside the graph at `path`, whose own name may not suit the model directory. */
export function nameBeside(path: string, file: ModelFile): string {
  return file.path === graphName(path) ? basename(path) : file.path
}

async function tryTile(path: string, manifest: ModelManifest, notes: readonly string[]): Promise<CheckedModel> {
  const wanted = { level: 'tile', perTile: 1, normalize: false, context: sample(manifest) } as const
  const tile = gray(manifest)
  const run = await ModelSession.open({ manifest, graph: path, threads: 1, providers: ['cpu'] })
  const from = performance.now()
  const embedding = await run.embed(tile, wanted, () => 0)
  const milliseconds = performance.now() - from
  if (manifest.patches)
    await run.embed(tile, { ...wanted, level: 'patch', perTile: manifest.patches_per_tile }, () => 0)
  return { manifest, notes, embedding, milliseconds }
}

async function draftManifest(path: string): Promise<{ manifest: ModelManifest; notes: string[] }> {
  const id = idOf(path)
  const file = basename(path)
  const files = await filesOf(id, path)
  let session: InferenceSession
  try {
    session = await InferenceSession.create(path, { logSeverityLevel: 3 })
  } catch (cause) {
    const problem = `the runtime cannot open it: ${reasonOf(cause)}`
    throw modelFileUnfit({ file, problem }, { cause, hint: unopenedHint(env.versions.node) })
  }
  const notes = ['licence and title are not in the file', 'mean and std are 0 and 1 unless the export says otherwise']
  const inputs = session.inputMetadata.filter((one): one is TensorMetadata => one.isTensor)
  if (graphName(path) !== basename(path)) notes.push(`call the file ${graphName(path)} in the model directory`)
  const { image, input } = imageInput(file, inputs, notes)
  const draft: ModelManifest = {
    id,
    title: id,
    description: 'Drafted from its ONNX file.',
    kind: 'neural',
    pretrained: true,
    licence: { name: 'unknown', url: null, notice: null },
    revision: '1',
    files,
    input,
    ...extraInputs(
      inputs.filter((one) => one !== image),
      input.bands.length,
      notes,
    ),
    outputs: [{ name: 'unknown', pooling: 'none' }],
    dims: 1,
    tile: tileOf(input),
    patches: null,
    patches_per_tile: 1,
  }
  const outputs = await outputsOf(file, session, draft)
  const manifest = { ...draft, ...embeddingOf(file, { outputs, batch: draft.input.batch }, notes) }
  checkBounds(file, manifest)
  return { manifest, notes }
}

/** Refuses graphs beyond the limits of a manifest before a person edits the draft. */
function checkBounds(file: string, manifest: ModelManifest): void {
  try {
    parseManifest(manifest, file)
  } catch (cause) {
    const problem = (cause as TerraneError).errors.map(({ path, message }) => `${path} ${message}`).join('; ')
    throw modelFileUnfit(
      { file, problem: `of its manifest, ${problem}` },
      { cause, hint: 'Export the model with fewer of them: these are the limits of a manifest.' },
    )
  }
}

function idOf(path: string): string {
  const words = basename(path, '.onnx')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
  return words.replace(/^[^a-z0-9]+/, '').slice(0, 100) || 'model'
}

/** The graph, and the files beside it that hold its external data. */
async function filesOf(id: string, path: string): Promise<ModelFile[]> {
  const graph = await digestOf(id, path)
  const files: ModelFile[] = [{ path: graphName(path), url: null, ...graph }]
  const locations = graph.size <= MAX_GRAPH ? externalData(await readFile(path)) : []
  for (const name of locations)
    files.push({ path: name, url: null, ...(await digestOf(id, join(dirname(path), name))) })
  return files
}

async function digestOf(id: string, place: string): Promise<FileDigest> {
  const digest = await digestFile(place)
  if (digest) return digest
  throw modelUnavailable({ id, file: basename(place), place, why: 'there is no such file' })
}

/** A field `key` of StringStringEntryProto that is "location", and the tag of its `value` (onnx.proto, external_data). */
const LOCATION = Buffer.from('\x0a\x08location\x12', 'latin1')

/** The files that tensors of a graph are stored in, as the graph names them. */
function externalData(graph: Buffer): string[] {
  const names = new Set<string>()
  for (let at = graph.indexOf(LOCATION); at >= 0; at = graph.indexOf(LOCATION, at + 1)) {
    const length = graph[at + LOCATION.length] ?? 0
    const from = at + LOCATION.length + 1
    // A name of 128 bytes or more would need a second byte for its length; no name in a model directory is that long.
    if (length > 0 && length < 128) names.add(graph.toString('utf8', from, from + length))
  }
  return [...names]
}

/** Name of the graph in the model directory. */
function graphName(path: string): string {
  return /^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(basename(path)) ? basename(path) : 'model.onnx'
}

const FLOATS: ReadonlySet<string> = new Set(['float32', 'float16', 'float64'])
const SCORES = /logit|prob|score|softmax/i
/** Names of outputs that are unlikely to be the embedding of an image. */
const UNLIKELY = /logit|prob|score|softmax|text/i

function tileOf({ size }: ModelManifest['input']): ModelManifest['tile'] {
  return size ? { min: 16, multiple: 16, default: Math.max(16, size.width - (size.width % 16)) } : FREE_TILE
}

const FREE_TILE = { min: 64, multiple: 16, default: SIDE } as const

function sample({ input }: ModelManifest): TileContext {
  return { ...SAMPLE, wavelengths: input.bands.map((_, i) => 665 - 50 * i) }
}

function gray({ input, tile }: ModelManifest): { pixels: Float32Array; count: number; width: number; height: number } {
  const { width, height } = input.size ?? { width: tile.default, height: tile.default }
  return { pixels: new Float32Array(input.bands.length * width * height).fill(0.5), count: 1, width, height }
}

/** Name and shape of each possible embedding output, for one tile, or for a full batch if the graph fixes it. */
async function outputsOf(
  file: string,
  session: InferenceSession,
  manifest: ModelManifest,
): Promise<[string, readonly number[]][]> {
  const names = session.outputMetadata.filter((one) => one.isTensor && FLOATS.has(one.type)).map(({ name }) => name)
  if (names.length === 0) {
    const all = session.outputMetadata.map((one) => `${one.name} ${one.isTensor ? one.type : '(a map or a sequence)'}`)
    throw modelFileUnfit({
      file,
      problem: `none of its outputs is a tensor of floating point numbers: ${all.join('; ')}`,
    })
  }
  const { input } = manifest
  const tiles = Array.from({ length: input.batch }, () => 0)
  const pixels = filledUp(gray(manifest), input.batch, input.bands.length)
  try {
    const extra = extraTensors(manifest, session.inputMetadata, sample(manifest), tiles)
    const outputs = await session.run({ ...extra, [input.name]: pixelTensor(input, pixels) }, names)
    return names.map((name) => [name, outputs[name]?.dims ?? []])
  } catch (cause) {
    if (cause instanceof TerraneError) throw cause
    throw modelFileUnfit({ file, problem: `a tile of gray does not run: ${reasonOf(cause)}` }, { cause })
  }
}

/** Chooses one vector per tile, else tokens, else a map; outputs named like scores or texts come last. */
function embeddingOf(
  file: string,
  { outputs, batch }: { readonly outputs: readonly [string, readonly number[]][]; readonly batch: number },
  notes: string[],
): Pick<ModelManifest, 'outputs' | 'dims'> {
  const ranked = outputs.toSorted(([a], [b]) => Number(UNLIKELY.test(a)) - Number(UNLIKELY.test(b)))
  const of = (axes: number) => ranked.find(([, dims]) => dims.length === axes && dims[0] === batch)
  const [name, dims, pooling] =
    [...found(of(2), 'none'), ...found(of(3), 'first-token'), ...found(of(4), 'mean-positions')][0] ?? []
  if (name === undefined || dims === undefined || pooling === undefined) {
    const all = outputs.map(([output, shape]) => `${output} [${shape.join(', ')}]`).join('; ')
    throw modelFileUnfit({ file, problem: `none of its outputs has an embedding for each tile: ${all}` })
  }
  if (pooling === 'first-token' && dims[1] !== 1)
    notes.push(`${name} has ${dims[1]} tokens: mean-tokens and first-and-mean are the other ways`)
  // A square tile has equal rows and columns, so the different axis is that of the dimensions.
  const last = pooling === 'mean-positions' && dims[1] === dims[2] && dims[2] !== dims[3]
  if (outputs.length > 1)
    notes.push(
      `other outputs: ${outputs
        .filter(([other]) => other !== name)
        .map(([other, shape]) => `${other} [${shape.join(', ')}]`)
        .join('; ')}`,
    )
  const width = last || dims.length === 3 ? dims.at(-1)! : dims[1]!
  if (width < FEW || SCORES.test(name))
    notes.push(
      `the ${width} numbers of ${name} are scores of classes rather than an embedding: export the layer before them`,
    )
  return { outputs: [{ name, pooling: last ? 'mean-positions-last' : pooling }], dims: width }
}

function found(
  output: [string, readonly number[]] | undefined,
  pooling: Pooling,
): [string, readonly number[], Pooling][] {
  return output ? [[...output, pooling]] : []
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
