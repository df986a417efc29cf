import { createHash } from 'node:crypto'
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { downloadToFile, type GuardedFetch, type Logger } from '@terrane/service'
import { extractMissing } from '../errors.ts'
import { openDraft } from './drafts.ts'
import type { BuildChoices } from './build.ts'

/** The current state of an extract on disk. */
export interface Extract {
  /** The configured path, or a URL without its query. */
  readonly name: string
  readonly path: string
  readonly size: number
  /** Milliseconds since 1970. */
  readonly modified: number
}

export interface ExtractOptions {
  /** Files and URLs. */
  readonly entries: readonly string[]
  readonly folder: string
  readonly fetch: GuardedFetch
  readonly logger: Logger
  readonly maxBytes: number
  readonly timeoutMs: number
}

/** Validators of a download (ETag, Last-Modified) for a later conditional request. */
interface Validators {
  readonly etag?: string
  readonly lastModified?: string
}

const URL_ENTRY = /^https?:\/\//i

/** The configured extracts; URLs are downloaded and stored. */
export class Extracts {
  readonly #options: ExtractOptions

  constructor(options: ExtractOptions) {
    this.#options = options
  }

  /**
   * The current state of the extracts on disk.
   *
   * @param renew asks servers whether their extracts changed; otherwise only missing extracts are downloaded. If a
   * server does not answer, an earlier copy is used.
   * @throws EXTRACT_MISSING for a file, and the errors of the guarded fetch
   */
  async locate(renew: boolean, signal: AbortSignal): Promise<Extract[]> {
    const extracts: Extract[] = []
    for (const entry of this.#options.entries) {
      const isUrl = URL_ENTRY.test(entry)
      const path = isUrl ? await this.#download(entry, renew, signal) : resolve(entry)
      extracts.push(await lookAt(path, isUrl ? withoutQuery(entry) : entry))
    }
    return extracts
  }

  /** Paths of the extracts on disk, including downloads that do not exist yet. */
  paths(): string[] {
    const { entries, folder } = this.#options
    return entries.map((entry) => (URL_ENTRY.test(entry) ? downloadPath(folder, entry) : resolve(entry)))
  }

  /** Checks that the configured files exist. */
  async checkFiles(): Promise<void> {
    for (const entry of this.#options.entries) if (!URL_ENTRY.test(entry)) await lookAt(resolve(entry), entry)
  }

  async #download(url: string, renew: boolean, signal: AbortSignal): Promise<string> {
    const { folder, fetch, logger, maxBytes, timeoutMs } = this.#options
    const path = downloadPath(folder, url)
    const there = await stat(path).catch(() => null)
    if (there !== null && !renew) return path
    const name = withoutQuery(url)
    try {
      await using draft = await openDraft(folder)
      const part = join(draft.path, 'part')
      const headers = there === null ? {} : conditions(await readValidators(`${path}.json`))
      let validators: Validators | null = null
      const noted = noting(fetch, (found) => (validators = found))
      await downloadToFile(noted, url, part, { headers, maxBytes, timeoutMs, signal, accept: [304] })
      if (validators === null) return path
      // Validators come last: without them the extract is downloaded again, wrong ones would prevent that for ever.
      await rm(`${path}.json`, { force: true })
      await rename(part, path)
      await writeFile(`${path}.json`, JSON.stringify(validators))
      logger.info({ extract: name }, 'extract downloaded')
    } catch (error) {
      if (there === null || signal.aborted) throw error
      logger.warn({ err: error, extract: name }, 'extract not renewed, the earlier copy stays')
    }
    return path
  }
}

function downloadPath(folder: string, url: string): string {
  return join(folder, createHash('sha256').update(url).digest('hex').slice(0, 32))
}

/** Fingerprint of the extracts and of the build options. */
export function digestOf(extracts: readonly Extract[], { drivingSide, construction }: BuildChoices): string {
  const facts = extracts.map(({ name, size, modified }) => [name, size, modified])
  return createHash('sha256')
    .update(JSON.stringify([drivingSide, facts, ...(construction ? ['construction'] : [])]))
    .digest('hex')
}

/** Reads the state of an extract on disk again. */
export function lookAgain(extract: Extract): Promise<Extract> {
  return lookAt(extract.path, extract.name)
}

async function lookAt(path: string, name: string): Promise<Extract> {
  try {
    const found = await stat(path)
    if (!found.isFile()) throw new Error('it is not a file')
    return { name, path, size: found.size, modified: found.mtimeMs }
  } catch (cause) {
    throw extractMissing({ name, reason: reasonOf(cause) }, { cause })
  }
}

/** A fetch that reports the validators of a new body; a body that has not changed reports none. */
function noting(fetch: GuardedFetch, found: (validators: Validators) => void): GuardedFetch {
  return async (url, options) => {
    const response = await fetch(url, options)
    const { etag, 'last-modified': lastModified } = response.headers
    if (response.status !== 304) found({ ...(etag && { etag }), ...(lastModified && { lastModified }) })
    return response
  }
}

function conditions({ etag, lastModified }: Validators): Record<string, string> {
  return { ...(etag && { 'if-none-match': etag }), ...(lastModified && { 'if-modified-since': lastModified }) }
}

async function readValidators(path: string): Promise<Validators> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Validators
  } catch {
    return {}
  }
}

/** Queries of URLs may contain signatures, so they are left out of logs and messages. */
function withoutQuery(url: string): string {
  return url.split(/[?#]/, 1)[0]!
}

/** The reason why a file or folder cannot be used, in a few words. */
export function reasonOf(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException
  return code === 'ENOENT' ? 'there is no such file' : (code ?? message)
}
