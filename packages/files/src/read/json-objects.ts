import { conversionFailed } from '../errors.ts'

const QUOTE = 34
const BACKSLASH = 92
const OPEN = 123
const CLOSE = 125
const OPEN_LIST = 91
const CLOSE_LIST = 93
/** Bytes with a meaning outside of strings; within an object other bytes are skipped. */
const SIGNS = new Uint8Array(256)
for (const sign of [QUOTE, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST]) SIGNS[sign] = 1
/** Characters between objects: blanks, commas, the separator of sequences, a byte order mark. */
const BETWEEN = new Set([9, 10, 13, 32, 44, 0x1e, 0xef, 0xbb, 0xbf])
/** Most bytes of one object. */
const LONGEST = 1 << 29
/** Most levels of an object: each takes a hundred times the memory of its bracket. */
const DEEPEST = 1000

/** An object of the file: a member of the list, or one at the top without the members of its list. */
export interface JsonObject {
  readonly bytes: Buffer
  readonly isMember: boolean
}

/**
 * Cuts JSON into its objects without reading it whole: those at the top, and those in a list of theirs under a key. An
 * object at the top comes after its members, with an empty list in their place.
 *
 * @throws CONVERSION_FAILED when the text ends within an object, or one is longer than 512 MiB or deeper than 1000 levels
 */
export function* jsonObjects(chunks: Iterable<Buffer>, key: string): Generator<JsonObject> {
  const cutter = new Cutter(key)
  for (const chunk of chunks) {
    cutter.push(chunk)
    for (const object of cutter.take()) yield object
  }
  cutter.end()
}

class Cutter {
  readonly #key: string
  #depth = 0
  #inString = false
  #escaped = false
  /** The last string of a top-level object, as far as it may be a key. */
  #text = ''
  #inList = false
  #parts: Buffer[] = []
  #top: Buffer[] = []
  #size = 0
  #found: JsonObject[] = []

  constructor(key: string) {
    this.#key = key
  }

  /** The objects that ended since the last call. */
  take(): readonly JsonObject[] {
    const found = this.#found
    this.#found = []
    return found
  }

  /** @throws CONVERSION_FAILED */
  push(chunk: Buffer): void {
    let from = this.#isKept ? 0 : -1
    const keep = (end: number) => {
      const parts = this.#inList ? this.#parts : this.#top
      parts.push(chunk.subarray(from, end))
      this.#size += end - from
    }
    const { length } = chunk
    for (let at = 0; at < length; at++) {
      if (this.#inString) {
        at = this.#skipString(chunk, at)
        continue
      }
      if (this.#depth > 0) {
        while (at < length && SIGNS[chunk[at]!] === 0) at++
        if (at === length) break
      }
      const byte = chunk[at]!
      if (byte === QUOTE) {
        this.#inString = true
        this.#text = ''
      } else if (byte === OPEN) {
        if (this.#depth === 0 || (this.#inList && this.#depth === 2)) from = at
        this.#depth++
      } else if (byte === CLOSE) {
        this.#depth--
        if (this.#depth === 0) {
          keep(at + 1)
          this.#found.push({ bytes: whole(this.#top), isMember: false })
          this.#top = []
          this.#size = 0
        } else if (this.#inList && this.#depth === 2) {
          keep(at + 1)
          this.#found.push({ bytes: whole(this.#parts), isMember: true })
          this.#parts = []
          this.#size = 0
        }
      } else if (byte === OPEN_LIST) {
        if (this.#depth === 1 && this.#text === this.#key) {
          keep(at + 1)
          this.#inList = true
        }
        this.#depth++
      } else if (byte === CLOSE_LIST) {
        this.#depth--
        if (this.#inList && this.#depth === 1) {
          this.#inList = false
          from = at
        }
      } else if (this.#depth === 0 && !BETWEEN.has(byte))
        throw conversionFailed({ reason: 'text stands between objects' })
      if (this.#depth > DEEPEST)
        throw conversionFailed({ reason: `an object is nested more than ${DEEPEST} levels deep` })
      if (this.#depth < 0) throw conversionFailed({ reason: 'a bracket closes that was not open' })
    }
    if (this.#isKept) keep(chunk.length)
    if (this.#size > LONGEST) throw conversionFailed({ reason: `an object has more than ${LONGEST} bytes` })
  }

  end(): void {
    if (this.#depth !== 0 || this.#inString) throw conversionFailed({ reason: 'the JSON is cut off' })
  }

  /** Whether the next bytes belong to an object: not between the objects of a list, and not at the top level. */
  get #isKept(): boolean {
    return this.#depth > 0 && !(this.#inList && this.#depth === 2)
  }

  /** Skips to the end of a string or of the chunk; returns the last position read. */
  #skipString(chunk: Buffer, start: number): number {
    if (this.#escaped) {
      this.#escaped = false
      return start
    }
    const quote = chunk.indexOf(QUOTE, start)
    const end = quote < 0 ? chunk.length : quote
    const slash = chunk.subarray(start, end).indexOf(BACKSLASH)
    const stop = slash < 0 ? end : start + slash
    if (this.#depth === 1 && this.#text.length <= this.#key.length) {
      this.#text += chunk.toString('latin1', start, Math.min(stop, start + this.#key.length + 1))
    }
    if (slash >= 0) this.#escaped = true
    else if (quote >= 0) this.#inString = false
    return stop
  }
}

function whole(parts: readonly Buffer[]): Buffer {
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
}
