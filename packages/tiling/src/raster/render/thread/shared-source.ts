import type { ByteSource } from '../../source.ts'
import type { ByteSpan } from '../blocks.ts'
import type { ReadEvent } from './messages.ts'

/** A file that another thread reads: this one sleeps meanwhile, so that decoders see plain memory. */
export class SharedSource implements ByteSource {
  readonly size: number
  readonly #key: string
  readonly #emit: (event: ReadEvent) => void
  readonly #ahead = new Map<number, Uint8Array>()

  /** @param emit asks the other thread */
  constructor({ key, bytes }: { readonly key: string; readonly bytes: number }, emit: (event: ReadEvent) => void) {
    this.size = bytes
    this.#key = key
    this.#emit = emit
  }

  /** Reads what is needed next in one go; the other thread reads it all at once. */
  fetch(spans: readonly ByteSpan[]): void {
    this.#ahead.clear()
    if (spans.length === 0) return
    const bytes = this.#ask(spans)
    let at = 0
    for (const { offset, length } of spans) {
      this.#ahead.set(offset, bytes.subarray(at, at + length))
      at += length
    }
  }

  read(offset: number, length: number): Uint8Array {
    const wanted = Math.max(0, Math.min(length, this.size - offset))
    const fetched = this.#ahead.get(offset)
    if (fetched && fetched.length >= wanted) return new Uint8Array(fetched.subarray(0, wanted))
    return wanted === 0 ? new Uint8Array(0) : this.#ask([{ offset, length: wanted }])
  }

  #ask(spans: readonly ByteSpan[]): Uint8Array {
    const total = spans.reduce((sum, { length }) => sum + length, 0)
    const into = new SharedArrayBuffer(total)
    const state = new SharedArrayBuffer(4)
    this.#emit({ key: this.#key, spans, into, state })
    const flag = new Int32Array(state)
    Atomics.wait(flag, 0, 0)
    if (flag[0] !== 1) throw new Error('the file could not be read')
    // Codecs do not take shared memory.
    return new Uint8Array(new Uint8Array(into))
  }
}

/** A source that reads its first bytes once, and little pieces of them from there. */
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
