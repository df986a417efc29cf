import type { ByteSource } from '../../source.ts'
import type { ByteSpan } from '../blocks.ts'
import { readTooLarge } from '../errors.ts'
import type { ReadEvent } from './messages.ts'

/** Maximum bytes of one read, because a file may claim any length. */
const MAX_READ = 1 << 29
/** Maximum bytes of a combined read of several files; more are read file by file. */
const MAX_TOGETHER = 1 << 26

/** A file that another thread reads. This thread blocks meanwhile, so that decoders can read synchronously. */
export class SharedSource implements ByteSource {
  readonly size: number
  readonly #key: string
  readonly #emit: (event: ReadEvent) => void
  readonly #ahead = new Map<number, Uint8Array>()

  /** @param emit sends a request to the other thread */
  constructor({ key, bytes }: { readonly key: string; readonly bytes: number }, emit: (event: ReadEvent) => void) {
    this.size = bytes
    this.#key = key
    this.#emit = emit
  }

  /** Reads the byte ranges of several files in one request, unless they are too large. */
  static fetchTogether(needs: readonly { readonly source: SharedSource; readonly spans: readonly ByteSpan[] }[]): void {
    const wanted = new Map<SharedSource, Map<number, ByteSpan>>()
    for (const { source, spans } of needs) {
      const known = wanted.get(source) ?? new Map<number, ByteSpan>()
      for (const span of spans) if (span.length > (known.get(span.offset)?.length ?? 0)) known.set(span.offset, span)
      if (known.size > 0) wanted.set(source, known)
    }
    const all = [...wanted].map(([source, spans]) => ({ source, spans: [...spans.values()] }))
    const [first] = all
    if (first === undefined || all.length === 1 || all.reduce((sum, one) => sum + bytesOf(one.spans), 0) > MAX_TOGETHER)
      return
    const bytes = askFor(
      all.map(({ source, spans }) => ({ key: source.#key, spans })),
      first.source.#emit,
    )
    let at = 0
    for (const { source, spans } of all) {
      source.#ahead.clear()
      at = source.#keep(bytes, spans, at)
    }
  }

  /** Reads byte ranges in advance, all in one request. */
  fetch(spans: readonly ByteSpan[]): void {
    const missing = spans.filter(({ offset, length }) => (this.#ahead.get(offset)?.length ?? -1) < length)
    if (spans.length > 0 && missing.length === 0) return
    if (missing.length === spans.length) this.#ahead.clear()
    if (missing.length > 0) this.#keep(this.#ask(missing), missing, 0)
  }

  read(offset: number, length: number): Uint8Array {
    const wanted = Math.max(0, Math.min(length, this.size - offset))
    const fetched = this.#ahead.get(offset)
    if (fetched && fetched.length >= wanted) return new Uint8Array(fetched.subarray(0, wanted))
    return wanted === 0 ? new Uint8Array(0) : this.#ask([{ offset, length: wanted }])
  }

  #keep(bytes: Uint8Array, spans: readonly ByteSpan[], from: number): number {
    let at = from
    for (const { offset, length } of spans) {
      this.#ahead.set(offset, bytes.subarray(at, at + length))
      at += length
    }
    return at
  }

  #ask(spans: readonly ByteSpan[]): Uint8Array {
    return askFor([{ key: this.#key, spans }], this.#emit)
  }
}

function bytesOf(spans: readonly ByteSpan[]): number {
  return spans.reduce((sum, { length }) => sum + length, 0)
}

function askFor(reads: ReadEvent['reads'], emit: (event: ReadEvent) => void): Uint8Array {
  const total = reads.reduce((sum, { spans }) => sum + bytesOf(spans), 0)
  if (total > MAX_READ) throw readTooLarge({ bytes: total, limit: MAX_READ })
  const into = new SharedArrayBuffer(total)
  const state = new SharedArrayBuffer(4)
  emit({ reads, into, state })
  const flag = new Int32Array(state)
  Atomics.wait(flag, 0, 0)
  if (flag[0] !== 1) throw new Error('the file could not be read')
  // Codecs do not accept shared memory.
  return new Uint8Array(new Uint8Array(into))
}

/** A source that reads its first bytes once and serves small reads from them. */
export class HeadSource implements ByteSource {
  readonly size: number
  readonly #source: ByteSource
  readonly #head: Uint8Array

  constructor(source: ByteSource, bytes: number) {
    this.size = source.size
    this.#source = source
    this.#head = source.read(0, bytes)
  }

  read(offset: number, length: number): Uint8Array {
    if (offset + length <= this.#head.length) return this.#head.slice(offset, offset + length)
    return this.#source.read(offset, length)
  }
}
