import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

import { modelUnavailable } from '../errors.ts'
import type { ModelFile } from './manifest.ts'

/** The part of a response that the store reads. */
export interface FetchedResponse {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly body: ReadableStream<Uint8Array> | null
}

/**
 * Fetches a URL. The caller passes its guarded client, which also adds credentials. The standard `fetch` works, too.
 */
export type Fetcher = (
  url: string,
  init: {
    readonly method: 'GET' | 'HEAD'
    readonly headers: Record<string, string>
    readonly redirect: 'follow' | 'manual'
    readonly signal: AbortSignal
  },
) => Promise<FetchedResponse>

export interface DownloadRequest {
  readonly id: string
  readonly file: ModelFile & { readonly url: string }
  /** Path of the finished file; `<destination>.part` holds partial downloads. */
  readonly destination: string
  readonly fetcher: Fetcher
  /** The answer must begin within this time. */
  readonly probeTimeoutMs: number
  /** Time without bytes after which a transfer is aborted and resumed. */
  readonly idleTimeoutMs: number
  readonly signal?: AbortSignal | undefined
  readonly onBytes: (received: number, total: number | null) => void
}

/** Number of consecutive broken transfers without a new byte after which a download fails. */
const MAX_FRUITLESS = 3

/**
 * Downloads one file: resumes earlier attempts and broken transfers, accepts at most the known size, and renames the
 * file only when it is complete and synced to disk.
 *
 * @throws MODEL_UNAVAILABLE
 */
export async function download(request: DownloadRequest): Promise<void> {
  const { file, destination } = request
  await mkdir(dirname(destination), { recursive: true })
  const part = `${destination}.part`
  let total = file.size
  let fruitless = 0
  for (;;) {
    const before = await sizeOf(part)
    if (before > 0 && before === total) break
    const transfer = await fetchRest(request, part, before)
    total = transfer.total ?? total
    if (transfer.whole) break
    const after = await sizeOf(part)
    fruitless = after > before ? 0 : fruitless + 1
    if (fruitless >= MAX_FRUITLESS)
      throw unavailable(request, `the transfer broke off ${fruitless} times: ${transfer.why}`)
  }
  await rename(part, destination)
  await syncDirectory(dirname(destination))
}

interface Transfer {
  readonly whole: boolean
  readonly total: number | null
  readonly why: string
}

async function fetchRest(request: DownloadRequest, part: string, have: number): Promise<Transfer> {
  const watch = new Watch(request.signal)
  try {
    watch.expectWithin(request.probeTimeoutMs)
    const response = await answerOf(request, have, watch)
    const resumes = response.status === 206 && startOfRange(response) === have
    if (response.status === 416 || (response.status === 206 && !resumes)) {
      await response.body?.cancel()
      await rm(part, { force: true })
      return { whole: false, total: null, why: 'the server did not resume' }
    }
    if (response.status !== 200 && !resumes) {
      await response.body?.cancel()
      throw unavailable(request, `the server answered ${response.status}`)
    }
    const start = resumes ? have : 0
    const length = lengthOf(response)
    const total = request.file.size ?? (length === null ? null : start + length)
    if (length !== null && total !== start + length) {
      await response.body?.cancel()
      throw unavailable(request, `the server has ${start + length} bytes instead of ${total}`)
    }
    return await receive(request, { part, response, start, total }, watch)
  } finally {
    watch.stop()
  }
}

async function answerOf(request: DownloadRequest, have: number, watch: Watch): Promise<FetchedResponse> {
  const headers: Record<string, string> = { 'accept-encoding': 'identity' }
  if (have > 0) headers['range'] = `bytes=${have}-`
  try {
    return await request.fetcher(request.file.url, { method: 'GET', headers, redirect: 'follow', signal: watch.signal })
  } catch (error) {
    request.signal?.throwIfAborted()
    const why = watch.expired
      ? `did not answer within ${request.probeTimeoutMs} ms`
      : `cannot be reached (${reasonOf(error)})`
    throw unavailable(request, `${new URL(request.file.url).host} ${why}`, error)
  }
}

interface Incoming {
  readonly part: string
  readonly response: FetchedResponse
  readonly start: number
  readonly total: number | null
}

async function receive(request: DownloadRequest, incoming: Incoming, watch: Watch): Promise<Transfer> {
  const { part, response, start, total } = incoming
  await using file = await open(part, start > 0 ? 'a' : 'w')
  let received = start
  let why = 'the connection was closed'
  try {
    watch.expectWithin(request.idleTimeoutMs)
    for await (const chunk of response.body ?? []) {
      received += chunk.length
      if (total !== null && received > total) throw unavailable(request, `the server sent more than ${total} bytes`)
      await file.write(chunk)
      request.onBytes(received, total)
      watch.expectWithin(request.idleTimeoutMs)
    }
  } catch (error) {
    request.signal?.throwIfAborted()
    if (error instanceof Error && 'code' in error && error.code === 'MODEL_UNAVAILABLE') throw error
    why = watch.expired ? `nothing came for ${request.idleTimeoutMs} ms` : reasonOf(error)
    await file.sync()
    return { whole: false, total, why }
  }
  await file.sync()
  return { whole: total === null || received === total, total, why }
}

/** Aborts when the caller aborts, or when an expected event does not happen in time. */
class Watch {
  expired = false
  readonly #controller = new AbortController()
  readonly #outer: AbortSignal | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(outer: AbortSignal | undefined) {
    this.#outer = outer
    if (outer?.aborted) this.#forward()
    outer?.addEventListener('abort', this.#forward, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  expectWithin(milliseconds: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.expired = true
      this.#controller.abort(new Error(`nothing came within ${milliseconds} ms`))
    }, milliseconds)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#outer?.removeEventListener('abort', this.#forward)
  }

  readonly #forward = (): void => this.#controller.abort(this.#outer?.reason)
}

function unavailable({ id, file }: DownloadRequest, why: string, cause?: unknown): Error {
  return modelUnavailable(
    { id, file: file.path, place: `${id}/${file.path}`, why },
    { details: `From ${file.url}`, cause },
  )
}

function startOfRange(response: FetchedResponse): number | null {
  const match = /^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '')
  return match ? Number(match[1]) : null
}

function lengthOf(response: FetchedResponse): number | null {
  const length = response.headers.get('content-length')
  return length !== null && /^\d+$/.test(length) ? Number(length) : null
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch {
    return 0
  }
}

/** Makes the rename itself durable, where the file system supports it. */
async function syncDirectory(path: string): Promise<void> {
  try {
    await using directory = await open(path, 'r')
    await directory.sync()
  } catch {
    // Windows does not open directories.
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error ? cause.message : String(cause)
}
