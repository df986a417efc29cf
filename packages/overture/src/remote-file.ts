import { setTimeout as sleep } from 'node:timers/promises'
import { TerraneError } from '@terrane/core'
import { readBytes, type GuardedFetch } from '@terrane/service'
import { rangesUnsupported } from './errors.ts'

const ATTEMPTS = 4
const FIRST_WAIT_MS = 500

/** What a remote file was asked for, over all of an import. */
export interface Traffic {
  requests: number
  bytes: number
}

/** A file that is read by HTTP ranges, all of one version: it fails when the file changes between two reads. */
export class RemoteFile {
  readonly url: string
  readonly size: number
  /** Its strong ETag; null when the server gives none. */
  readonly version: string | null
  /** The last bytes. */
  readonly tail: Uint8Array<ArrayBuffer>
  readonly #fetch: GuardedFetch
  readonly #traffic: Traffic

  private constructor(
    fetch: GuardedFetch,
    url: string,
    traffic: Traffic,
    first: { size: number; etag: string | null; bytes: Uint8Array<ArrayBuffer> },
  ) {
    this.#fetch = fetch
    this.url = url
    this.#traffic = traffic
    this.size = first.size
    this.version = first.etag
    this.tail = first.bytes
  }

  /** Opens a file by reading its last `tailBytes` bytes, which also tells its size. */
  static async open(
    fetch: GuardedFetch,
    url: string,
    tailBytes: number,
    traffic: Traffic,
    signal: AbortSignal,
  ): Promise<RemoteFile> {
    const first = await readRange(fetch, url, `bytes=-${tailBytes}`, null, tailBytes, traffic, signal)
    return new RemoteFile(fetch, url, traffic, first)
  }

  /** Bytes `start` up to and without `end`. */
  async read(start: number, end: number, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    const tailStart = this.size - this.tail.length
    if (start >= tailStart) return this.tail.slice(start - tailStart, end - tailStart)
    const range = `bytes=${start}-${end - 1}`
    const { bytes } = await readRange(this.#fetch, this.url, range, this.version, end - start, this.#traffic, signal)
    if (bytes.length !== end - start) {
      throw rangesUnsupported({ host: hostOf(this.url), reason: `it sent ${bytes.length} bytes for ${range}` })
    }
    return bytes
  }
}

/** One range; what may pass is tried again. */
async function readRange(
  fetch: GuardedFetch,
  url: string,
  range: string,
  etag: string | null,
  maxBytes: number,
  traffic: Traffic,
  signal: AbortSignal,
): Promise<{ size: number; etag: string | null; bytes: Uint8Array<ArrayBuffer> }> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await readOnce(fetch, url, range, etag, maxBytes, traffic, signal)
    } catch (error) {
      const mayPass = error instanceof TerraneError && error.retryable && error.code !== 'RANGES_UNSUPPORTED'
      if (!mayPass || attempt === ATTEMPTS) throw error
      await sleep(FIRST_WAIT_MS * 2 ** (attempt - 1), undefined, { signal })
    }
  }
}

async function readOnce(
  fetch: GuardedFetch,
  url: string,
  range: string,
  etag: string | null,
  maxBytes: number,
  traffic: Traffic,
  signal: AbortSignal,
): Promise<{ size: number; etag: string | null; bytes: Uint8Array<ArrayBuffer> }> {
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
    const bytes = await readBytes(response.body, maxBytes, (received) => {
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
