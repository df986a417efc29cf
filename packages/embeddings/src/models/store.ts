import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { TerraneError } from '@terrane/core'

import { manifestInvalid, modelMissing, modelUnknown, textUnsupported } from '../errors.ts'
import {
  type AcquireOptions,
  type Model,
  type ModelStoreOptions,
  type StoreSettings,
  acquireFiles,
  missingFiles,
  modelFilePath,
} from './acquire-files.ts'
import { BUILDERS, BUILT_IN_MANIFESTS } from './built-in-manifests.ts'
import { type ModelFile, type ModelManifest, isPinned, parseManifest } from './manifest.ts'
import type { TextManifest } from './text-manifest.ts'
import { checkDigest } from './verify.ts'

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
  /** Reason why a manifest cannot be used. */
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

/** Opens a model directory; touches no file yet. */
export function openModelStore(options: ModelStoreOptions): ModelStore {
  const settings: StoreSettings = {
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

async function listModels(settings: StoreSettings): Promise<ModelStatus[]> {
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

async function requireModel(settings: StoreSettings, id: string): Promise<ModelManifest> {
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

async function availabilityOf(settings: StoreSettings, manifest: ModelManifest): Promise<ModelStatus['availability']> {
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
