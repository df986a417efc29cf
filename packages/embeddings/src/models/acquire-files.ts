import { createHash } from 'node:crypto'
import { access, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { OnProgress } from '@terrane/core'

import { modelUnavailable, modelUnpinned, unpinnedAndMissing } from '../errors.ts'
import { type Fetcher, download } from './download.ts'
import { withLock } from './file-lock.ts'
import type { ModelFile, ModelManifest } from './manifest.ts'
import { type FileDigest, checkDigest, digestFile } from './verify.ts'

export interface ModelStoreOptions {
  /** The model directory: manifests `<id>.json`, files `<id>/<revision>/<path>`. Created on the first download. */
  readonly directory: string
  /** Null: never download. */
  readonly fetcher?: Fetcher | null
  /** Use models whose manifests have no checksums. */
  readonly allowUnpinned?: boolean
  /** Maximum time until a server begins to answer; default 900 ms, so that a missing network is detected fast. */
  readonly probeTimeoutMs?: number
  /** Time without bytes after which a transfer is resumed; 30 s when absent. */
  readonly idleTimeoutMs?: number
}

/** Options of a model directory with all defaults. */
export type StoreSettings = Required<ModelStoreOptions>

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

export interface AcquireOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: OnProgress
}

/** Path of a model's file. */
export function modelFilePath(directory: string, manifest: ModelManifest, file: ModelFile): string {
  return join(directory, manifest.id, manifest.revision, file.path)
}

/** A model's file as errors name it: relative to the model directory, whose path only the operator needs. */
function placeOf({ id, revision }: ModelManifest, file: ModelFile): string {
  return `${id}/${revision}/${file.path}`
}

/** Makes the files of a model present and verified. @throws MODEL_UNPINNED, MODEL_UNAVAILABLE, MODEL_TAMPERED */
export async function acquireFiles(
  settings: StoreSettings,
  manifest: ModelManifest,
  options: AcquireOptions,
): Promise<Model> {
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

async function downloadMissing(
  settings: StoreSettings,
  manifest: ModelManifest,
  options: AcquireOptions,
): Promise<void> {
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
async function downloadFile(settings: StoreSettings, { manifest, file, report, signal }: FileRequest): Promise<void> {
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
  { directory }: StoreSettings,
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

/** Files of a model that are not in the directory. */
export async function missingFiles(directory: string, manifest: ModelManifest): Promise<ModelFile[]> {
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
