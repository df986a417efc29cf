import { createHash } from 'node:crypto'
import { access, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { type OnProgress, TerraneError } from '@terrane/core'

import {
  manifestInvalid,
  modelMissing,
  modelUnavailable,
  modelUnknown,
  modelUnpinned,
  textUnsupported,
  unpinnedAndMissing,
} from '../errors.ts'
import { BUILDERS, BUILT_IN_MANIFESTS } from './built-in-manifests.ts'
import { type Fetcher, download } from './download.ts'
import { withLock } from './file-lock.ts'
import { type ModelFile, type ModelManifest, isPinned, parseManifest } from './manifest.ts'
import type { TextManifest } from './text-manifest.ts'
import { type FileDigest, checkDigest, digestFile } from './verify.ts'

export interface ModelStoreOptions {
  /** The model directory: manifests `<id>.json`, files `<id>/<revision>/<path>`. Made when something is downloaded. */
  readonly directory: string
  /** Null: never download. */
  readonly fetcher?: Fetcher | null
  /** Use models whose manifests have no checksums. */
  readonly allowUnpinned?: boolean
  /** Maximum time until a server begins to answer; default 900 ms, so that a missing network is detected fast. */
  readonly probeTimeoutMs?: number
  /** A transfer that stands still so long is resumed; 30 s when absent. */
  readonly idleTimeoutMs?: number
}

/** A model whose files are here and verified. */
export interface Model {
  readonly manifest: ModelManifest
  /** The graph's bytes, or the path of its file with the external data beside it. */
  readonly graph: Uint8Array | string
  /** Checksum of the graph file; of all files together when there are more. Lower-case hex. */
  readonly sha256: string
  /** Bytes of all files. */
  readonly bytes: number
}

/** The text part of a model, whose files are here and verified. */
export interface TextModel {
  readonly manifest: ModelManifest & { readonly text: TextManifest }
  /** Paths of the graph and of `tokenizer.json`. */
  readonly graph: string
  readonly tokenizer: string
}

/** One line of a list of models. */
export interface ModelStatus {
  readonly id: string
  readonly manifest: ModelManifest | null
  /** `ready`: all files exist; `downloadable`: they are fetched on first use. */
  readonly availability: 'ready' | 'downloadable' | 'unpinned' | 'missing' | 'invalid'
  /** Problem of a manifest that is not usable. */
  readonly problem: string | null
}

export interface ModelStore {
  /** All models, those of the directory and the built-in ones, by id. */
  list(): Promise<ModelStatus[]>
  /**
   * The manifest of a model: from `<id>.json` in the directory, else a built-in one.
   *
   * @throws MODEL_UNKNOWN, MODEL_MANIFEST_INVALID
   */
  find(id: string): Promise<ModelManifest>
  /**
   * The manifest of a model that a job may begin with: its files are here, or can be downloaded.
   *
   * @throws MODEL_UNKNOWN, MODEL_MANIFEST_INVALID, MODEL_UNAVAILABLE with the models that are available
   */
  require(id: string): Promise<ModelManifest>
  /**
   * Makes the model's files present and verified: downloads what is missing, once for all processes that share the
   * directory. Never answers with another model.
   *
   * @throws MODEL_UNKNOWN, MODEL_MANIFEST_INVALID, MODEL_UNPINNED, MODEL_UNAVAILABLE, MODEL_TAMPERED
   */
  acquire(id: string, options?: AcquireOptions): Promise<Model>
  /**
   * The same for the files of the model's text part.
   *
   * @throws TEXT_UNSUPPORTED when it has none, and what `acquire` throws
   */
  acquireText(id: string, options?: AcquireOptions): Promise<TextModel>
}

export interface AcquireOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: OnProgress
}

type Settings = Required<ModelStoreOptions>

/** Opens a model directory; touches no file yet. */
export function openModelStore(options: ModelStoreOptions): ModelStore {
  const settings: Settings = {
    fetcher: null,
    allowUnpinned: false,
    probeTimeoutMs: 900,
    idleTimeoutMs: 30_000,
    ...options,
    directory: resolve(options.directory),
  }
  return {
    list: () => listModels(settings),
    find: (id) => findManifest(settings.directory, id),
    require: (id) => requireModel(settings, id),
    acquire: async (id, acquireOptions = {}) => {
      const manifest = await findManifest(settings.directory, id)
      const build = builderOf(manifest)
      return build ? buildModel(manifest, build) : acquireFiles(settings, manifest, acquireOptions)
    },
    acquireText: async (id, acquireOptions = {}) => {
      const manifest = await findManifest(settings.directory, id)
      const { text } = manifest
      if (!text) throw textUnsupported({ id })
      await acquireFiles(settings, { ...manifest, files: text.files }, acquireOptions)
      const pathOf = (file: ModelFile) => modelFilePath(settings.directory, manifest, file)
      const tokenizer = text.files.find(({ path }) => path === text.tokenizer)!
      return { manifest: { ...manifest, text }, graph: pathOf(text.files[0]!), tokenizer: pathOf(tokenizer) }
    },
  }
}

/** Path of a model's file. */
export function modelFilePath(directory: string, manifest: ModelManifest, file: ModelFile): string {
  return join(directory, manifest.id, manifest.revision, file.path)
}

/** A model's file as errors name it: relative to the model directory, whose path only the operator needs. */
function placeOf({ id, revision }: ModelManifest, file: ModelFile): string {
  return `${id}/${revision}/${file.path}`
}

/** @throws MODEL_UNKNOWN, MODEL_MANIFEST_INVALID */
export async function findManifest(directory: string, id: string): Promise<ModelManifest> {
  const builtIn = BUILT_IN_MANIFESTS.find((manifest) => manifest.id === id)
  const written = /^[a-z0-9][a-z0-9._-]*$/.test(id) ? await readManifestFile(directory, id) : null
  const manifest = written ?? builtIn
  if (!manifest) throw modelUnknown({ id, known: await modelIds(directory) })
  return manifest
}

async function readManifestFile(directory: string, id: string): Promise<ModelManifest | null> {
  const path = join(directory, `${id}.json`)
  let content: string
  try {
    content = await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
  const manifest = parseManifest(parseJson(content, path), path)
  if (manifest.id !== id)
    throw manifestInvalid({ source: path, problem: `its id is "${manifest.id}", its name "${id}"` })
  return manifest
}

/** @throws MODEL_MANIFEST_INVALID */
export function parseJson(content: string, source: string): unknown {
  try {
    return JSON.parse(content)
  } catch (cause) {
    throw manifestInvalid({ source, problem: `it is not JSON (${String(cause)})` }, { cause })
  }
}

async function modelIds(directory: string): Promise<string[]> {
  const files = await readdir(directory).catch(() => [])
  const written = files.filter((file) => file.endsWith('.json')).map((file) => file.slice(0, -'.json'.length))
  return [...new Set([...BUILT_IN_MANIFESTS.map(({ id }) => id), ...written])].toSorted()
}

async function listModels(settings: Settings): Promise<ModelStatus[]> {
  const ids = await modelIds(settings.directory)
  return Promise.all(
    ids.map(async (id) => {
      try {
        const manifest = await findManifest(settings.directory, id)
        return { id, manifest, availability: await availabilityOf(settings, manifest), problem: null }
      } catch (error) {
        if (!(error instanceof TerraneError)) throw error
        return { id, manifest: null, availability: 'invalid' as const, problem: error.message }
      }
    }),
  )
}

async function requireModel(settings: Settings, id: string): Promise<ModelManifest> {
  const manifest = await findManifest(settings.directory, id)
  const availability = await availabilityOf(settings, manifest)
  if (availability === 'ready' || availability === 'downloadable') return manifest
  const usable = (await listModels(settings)).filter(
    (m) => m.availability === 'ready' || m.availability === 'downloadable',
  )
  const why =
    availability === 'unpinned' ? 'its files have no checksums yet' : 'its files are missing and cannot be downloaded'
  throw modelMissing({ id, why, available: usable.map((model) => model.id) })
}

async function availabilityOf(settings: Settings, manifest: ModelManifest): Promise<ModelStatus['availability']> {
  if (builderOf(manifest)) return 'ready'
  if (!isPinned(manifest) && !settings.allowUnpinned) return 'unpinned'
  const missing = await missingFiles(settings.directory, manifest)
  if (missing.length === 0) return 'ready'
  return settings.fetcher && missing.every((file) => file.url !== null) ? 'downloadable' : 'missing'
}

/** Builder of the graph; null when a manifest in the directory has the model's name. */
function builderOf(manifest: ModelManifest): (() => Uint8Array) | null {
  return BUILT_IN_MANIFESTS.includes(manifest) ? (BUILDERS.get(manifest.id) ?? null) : null
}

function buildModel(manifest: ModelManifest, build: () => Uint8Array): Model {
  const graph = build()
  const digest = { size: graph.length, sha256: createHash('sha256').update(graph).digest('hex') }
  checkDigest(manifest.id, 'the graph made on this machine', manifest.files[0]!, digest)
  return { manifest, graph, sha256: digest.sha256, bytes: digest.size }
}

async function acquireFiles(settings: Settings, manifest: ModelManifest, options: AcquireOptions): Promise<Model> {
  const { directory } = settings
  const unpinned = manifest.files.find((file) => file.size === null || file.sha256 === null)
  if (unpinned && !settings.allowUnpinned) {
    const [missing] = await missingFiles(directory, manifest)
    const fields = {
      id: manifest.id,
      file: (missing ?? unpinned).path,
      place: placeOf(manifest, missing ?? unpinned),
    }
    throw missing ? unpinnedAndMissing(fields) : modelUnpinned(fields)
  }
  if ((await missingFiles(directory, manifest)).length > 0) await downloadMissing(settings, manifest, options)
  const digests: FileDigest[] = []
  for (const file of manifest.files) digests.push(await verify(settings, manifest, file, options.signal))
  return {
    manifest,
    graph: modelFilePath(directory, manifest, manifest.files[0]!),
    sha256: combine(digests),
    bytes: digests.reduce((sum, digest) => sum + digest.size, 0),
  }
}

async function downloadMissing(settings: Settings, manifest: ModelManifest, options: AcquireOptions): Promise<void> {
  const { directory, fetcher } = settings
  const first = (await missingFiles(directory, manifest)).find((file) => file.url === null || fetcher === null)
  if (first) {
    const why = first.url === null ? 'its manifest has no URL' : 'downloads are switched off'
    const place = placeOf(manifest, first)
    throw modelUnavailable({ id: manifest.id, file: first.path, place, why })
  }
  const report = (done: number, total: number | null, message: string): void =>
    options.onProgress?.({ phase: 'download-model', done, total, unit: 'bytes', message })
  const onWait = (): void => report(0, null, `Waiting for another process that downloads ${manifest.id}`)
  await withLock(join(directory, '.locks'), manifest.id, { signal: options.signal, onWait }, async () => {
    for (const file of await missingFiles(directory, manifest)) {
      await downloadFile(settings, { manifest, file, report, signal: options.signal })
    }
  })
}

interface FileRequest {
  readonly manifest: ModelManifest
  readonly file: ModelFile
  readonly report: (done: number, total: number | null, message: string) => void
  readonly signal: AbortSignal | undefined
}

/** Downloads and verifies one file; corrupt files are deleted. The licence is reported, and written beside the file. */
async function downloadFile(settings: Settings, { manifest, file, report, signal }: FileRequest): Promise<void> {
  const { licence } = manifest
  const terms = `licence: ${licence.name}${licence.url === null ? '' : `, ${licence.url}`}`
  const message = `Downloading ${file.path} of ${manifest.id} (${terms})`
  const destination = modelFilePath(settings.directory, manifest, file)
  report(0, file.size, message)
  await download({
    id: manifest.id,
    file: { ...file, url: file.url! },
    destination,
    fetcher: settings.fetcher!,
    probeTimeoutMs: settings.probeTimeoutMs,
    idleTimeoutMs: settings.idleTimeoutMs,
    signal,
    onBytes: (received, total) => report(received, total, message),
  })
  try {
    await verify(settings, manifest, file, signal)
  } catch (error) {
    await rm(destination, { force: true })
    throw error
  }
  const note = [manifest.title, licence.name, licence.url, licence.notice].filter((line) => line !== null)
  const folder = join(settings.directory, manifest.id, manifest.revision)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'LICENCE.txt'), `${note.join('\n')}\n`)
}

/** @throws MODEL_TAMPERED, MODEL_UNAVAILABLE */
async function verify(
  { directory }: Settings,
  manifest: ModelManifest,
  file: ModelFile,
  signal: AbortSignal | undefined,
): Promise<FileDigest> {
  const place = modelFilePath(directory, manifest, file)
  const digest = await digestFile(place, signal)
  if (!digest)
    throw modelUnavailable({ id: manifest.id, file: file.path, place: placeOf(manifest, file), why: 'it vanished' })
  checkDigest(manifest.id, placeOf(manifest, file), file, digest)
  return digest
}

async function missingFiles(directory: string, manifest: ModelManifest): Promise<ModelFile[]> {
  const present = await Promise.all(
    manifest.files.map((file) =>
      access(modelFilePath(directory, manifest, file)).then(
        () => true,
        () => false,
      ),
    ),
  )
  return manifest.files.filter((_, i) => !present[i])
}

/** The checksum of a single file; for several files, the checksum of their checksums in order. */
function combine(digests: readonly FileDigest[]): string {
  if (digests.length === 1) return digests[0]!.sha256
  const hash = createHash('sha256')
  for (const { sha256 } of digests) hash.update(`${sha256}\n`)
  return hash.digest('hex')
}
