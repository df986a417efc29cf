/** Parts of a response, in order: one head, any number of chunks, one end. */
export interface ResponseEvents {
  /** @param headers names in lower case and values, alternating, as received */
  onHead(status: number, headers: string[]): void
  onData(chunk: Buffer): void
  onEnd(): void
}

/** A response that violates HTTP/1.1. */
export class InvalidResponse extends Error {
  override readonly name = 'InvalidResponse'
}

/** Largest response head in bytes, and largest chunk-size line. */
const MAX_HEAD = 32 * 1024
const MAX_CHUNK_LINE = 256

/** Kind of answer that the request expects: with a body, only its head (HEAD), or perhaps another protocol. */
export type Expected = 'body' | 'head' | 'switch'

type State = 'head' | 'length' | 'close' | 'chunk-line' | 'chunk' | 'chunk-end' | 'trailers' | 'done'

const EMPTY = Buffer.alloc(0)
const HEAD_END = Buffer.from('\r\n\r\n')
const LINE_END = Buffer.from('\r\n')
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/
// Visible ASCII, space, tab and obs-text; a bare CR, LF or NUL never passes (RFC 9110 section 5.5).
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/**
 * Reads the HTTP/1.1 responses of one connection, one after another (RFC 9112). It is strict where lenient parsing
 * would allow response smuggling: both Content-Length and Transfer-Encoding, differing lengths, folded headers, bare
 * line feeds and bytes after the end are errors. Interim responses (1xx) are skipped; 101 is an error unless the
 * request expects it; all bytes after it, until the connection closes, are then its body.
 *
 * Reading HTTP here instead of with a general client halves the host's CPU time of a warm call (`warm.bench.ts`).
 */
export class ResponseReader {
  /** True when the connection may carry another request after the message that just ended. */
  reusable = false
  #state: State = 'done'
  #events: ResponseEvents | null = null
  #expected: Expected = 'body'
  #remaining = 0
  #held: Buffer = EMPTY

  expect(events: ResponseEvents, expected: Expected): void {
    this.#events = events
    this.#expected = expected
    this.#state = 'head'
    this.reusable = false
  }

  /** @throws InvalidResponse */
  push(received: Buffer): void {
    let chunk = received
    if (this.#held.length > 0) {
      chunk = Buffer.concat([this.#held, received])
      this.#held = EMPTY
    }
    let at = 0
    while (at < chunk.length) {
      const next = this.#step(chunk, at)
      if (next < 0) {
        // An incomplete head or line is kept; both are bounded, so this never grows beyond MAX_HEAD.
        this.#held = chunk.subarray(at)
        return
      }
      at = next
    }
    // The end is handled after the whole chunk, because further bytes must not count as the answer to the next request.
    if (this.#state === 'done') this.#finish()
  }

  /** The peer closed. @throws InvalidResponse when that cuts a message short */
  close(): void {
    if (this.#state === 'done') return
    if (this.#state !== 'close') throw new InvalidResponse('the response was cut short')
    this.reusable = false
    this.#state = 'done'
    this.#finish()
  }

  /** Consumes what the state can use from `at` and returns the new position, or -1 when more bytes are needed. */
  #step(chunk: Buffer, at: number): number {
    switch (this.#state) {
      case 'head':
        return this.#readHead(chunk, at)
      case 'length':
      case 'chunk': {
        const end = Math.min(chunk.length, at + this.#remaining)
        this.#remaining -= end - at
        this.#events!.onData(at === 0 && end === chunk.length ? chunk : chunk.subarray(at, end))
        if (this.#remaining === 0) {
          if (this.#state === 'chunk') this.#state = 'chunk-end'
          else this.#state = 'done'
        }
        return end
      }
      case 'close':
        this.#events!.onData(at === 0 ? chunk : chunk.subarray(at))
        return chunk.length
      case 'chunk-line':
        return this.#readChunkLine(chunk, at)
      case 'chunk-end': {
        if (chunk.length - at < 2) return -1
        if (chunk[at] !== 13 || chunk[at + 1] !== 10) throw new InvalidResponse('a chunk has the wrong length')
        this.#state = 'chunk-line'
        return at + 2
      }
      case 'trailers': {
        const end = chunk.indexOf(LINE_END, at)
        if (end < 0) return bounded(chunk.length - at, MAX_HEAD)
        if (end === at) this.#state = 'done'
        return end + 2
      }
      case 'done':
        throw new InvalidResponse('bytes after the end of the response')
    }
  }

  #readHead(chunk: Buffer, at: number): number {
    const end = chunk.indexOf(HEAD_END, at)
    if (end < 0) return bounded(chunk.length - at, MAX_HEAD)
    bounded(end - at, MAX_HEAD)
    const lines = chunk.toString('latin1', at, end).split('\r\n')
    const status = readStatus(lines[0]!)
    const headers: string[] = []
    let length = -1
    let chunked = false
    let coded = false
    let close = false
    for (let i = 1; i < lines.length; i++) {
      const line = lines[i]!
      const colon = line.indexOf(':')
      const name = line.slice(0, Math.max(colon, 0)).toLowerCase()
      const value = line.slice(colon + 1).trim()
      if (!TOKEN.test(name) || !VALUE.test(value)) throw new InvalidResponse('a header is malformed')
      if (name === 'content-length') {
        const given = /^\d{1,15}$/.test(value) ? Number(value) : -1
        if (given < 0 || (length >= 0 && length !== given))
          throw new InvalidResponse('Content-Length is not one number')
        length = given
      } else if (name === 'transfer-encoding') {
        coded = true
        chunked = value.toLowerCase() === 'chunked'
      } else if (name === 'connection' && value.toLowerCase() === 'close') close = true
      headers.push(name, value)
    }
    if (coded && (!chunked || length >= 0)) throw new InvalidResponse('the body has no clear end')
    const switches = status === 101
    if (switches && (this.#expected !== 'switch' || coded || length > 0))
      throw new InvalidResponse('a protocol switch that was not asked for')
    if (status < 200 && !switches) return end + 4
    this.reusable = !close
    this.#events!.onHead(status, headers)
    this.#beginBody(status, length, chunked)
    return end + 4
  }

  #beginBody(status: number, length: number, chunked: boolean): void {
    if (this.#expected === 'head' || status === 204 || status === 304 || length === 0) this.#state = 'done'
    else if (chunked) this.#state = 'chunk-line'
    else if (length > 0) {
      this.#state = 'length'
      this.#remaining = length
    } else {
      this.#state = 'close'
      this.reusable = false
    }
  }

  #readChunkLine(chunk: Buffer, at: number): number {
    const end = chunk.indexOf(LINE_END, at)
    if (end < 0) return bounded(chunk.length - at, MAX_CHUNK_LINE)
    const size = /^([0-9a-f]{1,12})[\t ]*(?:;[\t\x20-\x7e]*)?$/i.exec(chunk.toString('latin1', at, end))?.[1]
    if (size === undefined) throw new InvalidResponse('a chunk size is malformed')
    this.#remaining = Number.parseInt(size, 16)
    this.#state = this.#remaining === 0 ? 'trailers' : 'chunk'
    return end + 2
  }

  #finish(): void {
    const events = this.#events
    this.#events = null
    events?.onEnd()
  }
}

function readStatus(line: string): number {
  const status = /^HTTP\/1\.1 ([1-9]\d\d)(?: |$)/.exec(line)?.[1]
  if (status === undefined) throw new InvalidResponse('the status line is malformed')
  return Number(status)
}

/** Returns -1 to request more bytes while the length is within the limit. */
function bounded(length: number, limit: number): -1 {
  if (length > limit) throw new InvalidResponse(`a head or line longer than ${limit} bytes`)
  return -1
}
