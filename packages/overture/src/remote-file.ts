import { setTimeout as sleep } from 'node:timers/promises'
import { TerraneError } from '@terrane/core'
import { rangesUnsupported } from './errors.ts'
import { bytesOf, type RangeSource } from './range-fetch.ts'

const ATTEMPTS = 4
const FIRST_WAIT_MS = 500

/**
 * A file that is read by HTTP ranges, all of one version: it fails when the file changes between two reads.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict'
 * import { RemoteFile, type RangeFetch } from '@terrane/overture'
 *
 * async function* body() {
 *   yield Buffer.from('PAR1')
 * }
 * const headers = { 'content-range': 'bytes 996-999/1000' }
 * const fetch: RangeFetch = async () => ({ status: 206, headers, body: body(), cancel() {} })
 * const source = { fetch, traffic: { requests: 0, bytes: 0 }, signal: AbortSignal.timeout(1000) }
 * const file = await RemoteFile.open(source, 'https://example.org/a.parquet', 4)
 * assert.deepEqual([file.size, source.traffic], [1000, { requests: 1, bytes: 4 }])
 * ```
 */
export class RemoteFile {
  readonly url: string
  readonly size: number
  /** Its strong ETag; null when the server sends none. */
  readonly version: string | null
  /** The last bytes. */
  readonly tail: Uint8Array<ArrayBuffer>
  readonly #source: RangeSource

  private constructor(source: RangeSource, url: string, first: RangeAnswer) {
    this.#source = source
    this.url = url
    this.size = first.size
    this.version = first.etag
    this.tail = first.bytes
  }

  /** Opens a file by reading its last `tailBytes` bytes; the answer also has its size. */
  static async open(source: RangeSource, url: string, tailBytes: number): Promise<RemoteFile> {
    const first = await readRange(source, { url, range: `bytes=-${tailBytes}`, etag: null, maxBytes: tailBytes })
    return new RemoteFile(source, url, first)
  }

  /** Bytes `start` up to and without `end`. */
  async read(start: number, end: number): Promise<Uint8Array<ArrayBuffer>> {
    const tailStart = this.size - this.tail.length
    if (start >= tailStart) return this.tail.slice(start - tailStart, end - tailStart)
    const range = `bytes=${start}-${end - 1}`
    const asked = { url: this.url, range, etag: this.version, maxBytes: end - start }
    const { bytes } = await readRange(this.#source, asked)
    if (bytes.length !== end - start) {
      throw rangesUnsupported({ host: hostOf(this.url), reason: `it sent ${bytes.length} bytes for ${range}` })
    }
    return bytes
  }
}

/** A range of one version of a file; of any version when its ETag is unknown. */
interface RangeRequest {
  readonly url: string
  readonly range: string
  readonly etag: string | null
  readonly maxBytes: number
}

interface RangeAnswer {
  /** Bytes of the whole file. */
  readonly size: number
  readonly etag: string | null
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Reads one range; transient failures are retried. */
async function readRange(source: RangeSource, request: RangeRequest): Promise<RangeAnswer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await readOnce(source, request)
    } catch (error) {
      const mayPass = error instanceof TerraneError && error.retryable && error.code !== 'RANGES_UNSUPPORTED'
      if (!mayPass || attempt === ATTEMPTS) throw error
      await sleep(FIRST_WAIT_MS * 2 ** (attempt - 1), undefined, { signal: source.signal })
    }
  }
}

async function readOnce({ fetch, traffic, signal }: RangeSource, request: RangeRequest): Promise<RangeAnswer> {
  const { url, range, etag, maxBytes } = request
  traffic.requests++
  const headers = { range, ...(etag === null ? {} : { 'if-match': etag }) }
  const response = await fetch(url, { headers, maxBytes, signal, accept: [412] })
  const host = hostOf(url)
  try {
    if (response.status === 412) throw rangesUnsupported({ host, reason: 'the file changed while it was read' })
    const total = /^bytes \d+-\d+\/(\d+)$/.exec(response.headers['content-range'] ?? '')?.[1]
    if (response.status !== 206 || total === undefined) {
      throw rangesUnsupported({ host, reason: `it answered a range request with status ${response.status}` })
    }
    const bytes = await bytesOf(response, (received) => {
      traffic.bytes += received
    })
    const found = response.headers['etag'] ?? null
    // A weak ETag does not promise equal bytes, and If-Match never matches it.
    const strong = found !== null && !found.startsWith('W/') ? found : null
    return { size: Number(total), etag: strong, bytes }
  } finally {
    response.cancel()
  }
}

function hostOf(url: string): string {
  return new URL(url).host
}
