import { createHash } from 'node:crypto'
import { mkdir, open, rename } from 'node:fs/promises'
import { join } from 'node:path'

import { modelNotPinnable } from '../errors.ts'
import type { Fetcher, FetchedResponse } from './download.ts'
import type { ModelFile, ModelManifest } from './manifest.ts'
import { modelFilePath } from './acquire-files.ts'
import { findManifest } from './store.ts'
import { digestFile } from './verify.ts'

export interface PinRequest {
  readonly directory: string
  readonly id: string
  /** Null: pin the files that an operator has put in place. */
  readonly fetcher: Fetcher | null
  readonly signal?: AbortSignal
}

/**
 * Fills the revision, sizes and checksums of a model's manifest and writes it to `<directory>/<id>.json`.
 *
 * From Hugging Face, the first answer to a `resolve` URL (before its redirect) has all three: `X-Repo-Commit`,
 * `X-Linked-Size`, and `X-Linked-Etag`, which is the SHA-256 of a large file. Files that the answer does not describe
 * are read whole. Without a fetcher the files in place are read.
 *
 * @throws MODEL_NOT_PINNABLE, MODEL_UNKNOWN
 */
export async function pinModel(request: PinRequest): Promise<ModelManifest> {
  const manifest = await findManifest(request.directory, request.id)
  const pinned = request.fetcher
    ? await pinRemote(manifest, request.fetcher, request.signal)
    : await pinLocal(request, manifest)
  await writeManifest(request.directory, pinned)
  return pinned
}

async function pinLocal({ directory, signal }: PinRequest, manifest: ModelManifest): Promise<ModelManifest> {
  return pinEach(manifest, async (file) => {
    const place = modelFilePath(directory, manifest, file)
    const digest = await digestFile(place, signal)
    if (!digest) throw modelNotPinnable({ id: manifest.id, file: file.path, why: `is not at ${place}` })
    return { ...file, ...digest }
  })
}

/** The files of a model, one after the other, then those of its text part. */
async function pinEach(manifest: ModelManifest, pin: (file: ModelFile) => Promise<ModelFile>): Promise<ModelManifest> {
  const files: ModelFile[] = []
  for (const file of manifest.files) files.push(await pin(file))
  if (!manifest.text) return { ...manifest, files }
  const texts: ModelFile[] = []
  for (const file of manifest.text.files) texts.push(await pin(file))
  return { ...manifest, files, text: { ...manifest.text, files: texts } }
}

async function pinRemote(manifest: ModelManifest, fetcher: Fetcher, signal?: AbortSignal): Promise<ModelManifest> {
  let commit: string | null = null
  const pinned = await pinEach(manifest, async (file) => {
    const answer = await describe({ manifest, file, fetcher, signal: signal ?? new AbortController().signal })
    if (commit !== null && answer.commit !== null && answer.commit !== commit) {
      throw modelNotPinnable({ id: manifest.id, file: file.path, why: `is of another commit (${answer.commit})` })
    }
    commit ??= answer.commit
    return answer.file
  })
  return { ...pinned, revision: commit ?? manifest.revision }
}

interface Description {
  readonly file: ModelFile
  readonly commit: string | null
}

interface Question {
  readonly manifest: ModelManifest
  readonly file: ModelFile
  readonly fetcher: Fetcher
  readonly signal: AbortSignal
}

async function describe({ manifest, file, fetcher, signal }: Question): Promise<Description> {
  const fail = (why: string, cause?: unknown): Error =>
    modelNotPinnable({ id: manifest.id, file: file.path, why }, { cause })
  if (file.url === null) throw fail('has no URL')
  let head: FetchedResponse
  try {
    head = await fetcher(file.url, { method: 'HEAD', headers: {}, redirect: 'manual', signal })
  } catch (cause) {
    throw fail(`cannot be reached at ${file.url}`, cause)
  }
  if (head.status >= 400) throw fail(`answers ${head.status} at ${file.url}`)
  const commit = headerOf(head, 'x-repo-commit', /^[0-9a-f]{40}$/)
  const sha256 = headerOf(head, 'x-linked-etag', /^[0-9a-f]{64}$/)
  const size = headerOf(head, 'x-linked-size', /^[1-9]\d*$/)
  const url = pinUrl(file.url, commit)
  if (sha256 !== null && size !== null) return { file: { ...file, url, size: Number(size), sha256 }, commit }
  const whole = await fetcher(url, { method: 'GET', headers: {}, redirect: 'follow', signal })
  if (whole.status !== 200 || !whole.body) throw fail(`answers ${whole.status} at ${url}`)
  return { file: { ...file, url, ...(await digestStream(whole.body)) }, commit }
}

async function digestStream(body: ReadableStream<Uint8Array>): Promise<{ size: number; sha256: string }> {
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of body) {
    hash.update(chunk)
    size += chunk.length
  }
  return { size, sha256: hash.digest('hex') }
}

/** The header's value without quotes, or null when it is absent or something else. */
function headerOf(response: FetchedResponse, name: string, form: RegExp): string | null {
  const value = (response.headers.get(name) ?? '').replaceAll('"', '')
  return form.test(value) ? value : null
}

/** Replaces the branch in a `…/resolve/<branch>/…` URL by the commit. */
function pinUrl(url: string, commit: string | null): string {
  return commit === null ? url : url.replace(/\/resolve\/[^/]+\//, `/resolve/${commit}/`)
}

/** Replaces the manifest atomically. */
export async function writeManifest(directory: string, manifest: ModelManifest): Promise<void> {
  await mkdir(directory, { recursive: true })
  const temporary = join(directory, `.${manifest.id}.json.tmp`)
  {
    await using file = await open(temporary, 'w')
    await file.writeFile(`${JSON.stringify(manifest, null, 2)}\n`)
    await file.sync()
  }
  await rename(temporary, join(directory, `${manifest.id}.json`))
}
