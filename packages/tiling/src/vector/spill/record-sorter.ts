import { RecordLog, readLength, writeLength } from './record-log.ts'
import type { OpenScratch, ScratchFile } from './scratch.ts'
import { sortOrder } from './sort-order.ts'

const READ_BUFFER = 1 << 18
const WRITE_BUFFER = 1 << 20
const HEAD = 12

/** Iterates over sorted records: when `next()` returns true, the record is `bytes[start, end)` until the next call. */
export interface RecordCursor {
  readonly key: number
  readonly bytes: Uint8Array
  readonly start: number
  readonly end: number
  next(): boolean
}

/**
 * Sorts records by a whole number below 2^53; records of equal keys keep their order. Records beyond the memory limit
 * are written as sorted runs to a temporary file and merged when read: the result never depends on the limit.
 *
 * Writing: `reserve(size)`, fill `log.bytes` from `log.at`, `commit(key, end)`.
 */
export class RecordSorter {
  readonly log: RecordLog
  readonly #openScratch: OpenScratch
  readonly #limit: number
  #keys = new Float64Array(1 << 12)
  #addresses = new Float64Array(1 << 12)
  #count = 0
  #file: ScratchFile | null = null
  #fileEnd = 0
  readonly #runs: { start: number; end: number }[] = []

  constructor(openScratch: OpenScratch, limitBytes: number) {
    this.#openScratch = openScratch
    this.#limit = limitBytes
    this.log = new RecordLog(openScratch, Number.POSITIVE_INFINITY)
  }

  reserve(size: number): void {
    this.log.reserve(size)
  }

  commit(key: number, end: number): void {
    if (this.#count === this.#keys.length) this.#grow()
    this.#keys[this.#count] = key
    this.#addresses[this.#count++] = this.log.commit(end)
    if (this.log.size + this.#count * 32 > this.#limit) this.#writeRun()
  }

  /** Ends the writing and starts reading in order. */
  sorted(): RecordCursor {
    if (!this.#file) return new MemoryCursor(this.log, this.#keys, this.#addresses, this.#count)
    if (this.#count > 0) this.#writeRun()
    this.log.clear()
    this.#keys = new Float64Array(0)
    this.#addresses = new Float64Array(0)
    return new MergeCursor(this.#runs.map((run) => new RunReader(this.#file!, run.start, run.end)))
  }

  /** Releases memory and the temporary file. */
  [Symbol.dispose](): void {
    this.log.clear()
    this.#file?.close()
    this.#file = null
  }

  #grow(): void {
    const keys = new Float64Array(this.#keys.length * 2)
    keys.set(this.#keys)
    this.#keys = keys
    const addresses = new Float64Array(keys.length)
    addresses.set(this.#addresses)
    this.#addresses = addresses
  }

  #writeRun(): void {
    this.#file ??= this.#openScratch()
    const start = this.#fileEnd
    const out = new Uint8Array(WRITE_BUFFER)
    const view = new DataView(out.buffer)
    let filled = 0
    const flush = (bytes: Uint8Array) => {
      this.#file!.write(bytes, this.#fileEnd)
      this.#fileEnd += bytes.length
    }
    const cursor = new MemoryCursor(this.log, this.#keys, this.#addresses, this.#count)
    while (cursor.next()) {
      const size = cursor.end - cursor.start
      if (filled + HEAD + size > WRITE_BUFFER) {
        flush(out.subarray(0, filled))
        filled = 0
      }
      view.setFloat64(filled, cursor.key, true)
      writeLength(out, filled + 8, size)
      filled += HEAD
      const record = cursor.bytes.subarray(cursor.start, cursor.end)
      if (filled + size > WRITE_BUFFER) {
        flush(out.subarray(0, filled))
        filled = 0
        flush(record)
      } else {
        out.set(record, filled)
        filled += size
      }
    }
    flush(out.subarray(0, filled))
    this.#runs.push({ start, end: this.#fileEnd })
    this.log.clear()
    this.#count = 0
  }
}

class MemoryCursor implements RecordCursor {
  key = 0
  readonly #log: RecordLog
  readonly #keys: Float64Array
  readonly #addresses: Float64Array
  readonly #order: Uint32Array
  #index = 0

  constructor(log: RecordLog, keys: Float64Array, addresses: Float64Array, count: number) {
    this.#log = log
    this.#keys = keys
    this.#addresses = addresses
    this.#order = sortOrder(keys, count)
  }

  get bytes(): Uint8Array {
    return this.#log.page
  }

  get start(): number {
    return this.#log.start
  }

  get end(): number {
    return this.#log.end
  }

  next(): boolean {
    if (this.#index === this.#order.length) return false
    const record = this.#order[this.#index++]!
    this.key = this.#keys[record]!
    this.#log.open(this.#addresses[record]!)
    return true
  }
}

/** Reads one sorted run of the temporary file through a buffer that grows to its longest record. */
class RunReader implements RecordCursor {
  key = 0
  bytes = new Uint8Array(READ_BUFFER)
  start = 0
  end = 0
  readonly #file: ScratchFile
  readonly #fileEnd: number
  #position: number
  #filled = 0
  #view = new DataView(this.bytes.buffer)

  constructor(file: ScratchFile, start: number, end: number) {
    this.#file = file
    this.#position = start
    this.#fileEnd = end
  }

  next(): boolean {
    if (!this.#have(HEAD)) return false
    this.key = this.#view.getFloat64(this.end, true)
    const size = readLength(this.bytes, this.end + 8)
    this.#have(HEAD + size)
    this.start = this.end + HEAD
    this.end = this.start + size
    return true
  }

  /** Makes the `size` bytes after `end` present; false when the run has ended. */
  #have(size: number): boolean {
    if (this.#filled - this.end >= size) return true
    const rest = this.#filled - this.end
    if (rest === 0 && this.#position === this.#fileEnd) return false
    const old = this.bytes
    if (size > old.length) {
      this.bytes = new Uint8Array(Math.max(size, old.length * 2))
      this.#view = new DataView(this.bytes.buffer)
      this.bytes.set(old.subarray(this.end, this.#filled))
    } else old.copyWithin(0, this.end, this.#filled)
    this.end = 0
    const more = Math.min(this.bytes.length - rest, this.#fileEnd - this.#position)
    this.#file.read(this.bytes.subarray(rest, rest + more), this.#position)
    this.#position += more
    this.#filled = rest + more
    return true
  }
}

/** Merges runs: a binary heap of readers by key, then by age, which keeps the order of equal keys. */
class MergeCursor implements RecordCursor {
  readonly #heap: { reader: RunReader; age: number }[] = []
  #started = false

  constructor(readers: readonly RunReader[]) {
    for (const [age, reader] of readers.entries()) if (reader.next()) this.#heap.push({ reader, age })
    for (let i = (this.#heap.length >> 1) - 1; i >= 0; i--) this.#sink(i)
  }

  get key(): number {
    return this.#heap[0]!.reader.key
  }

  get bytes(): Uint8Array {
    return this.#heap[0]!.reader.bytes
  }

  get start(): number {
    return this.#heap[0]!.reader.start
  }

  get end(): number {
    return this.#heap[0]!.reader.end
  }

  next(): boolean {
    if (this.#heap.length === 0) return false
    if (this.#started && !this.#heap[0]!.reader.next()) {
      const last = this.#heap.pop()!
      if (this.#heap.length > 0) this.#heap[0] = last
    }
    this.#started = true
    this.#sink(0)
    return this.#heap.length > 0
  }

  #sink(from: number): void {
    const heap = this.#heap
    for (let i = from; ;) {
      let least = i
      for (const child of [2 * i + 1, 2 * i + 2])
        if (child < heap.length && before(heap[child]!, heap[least]!)) least = child
      if (least === i) return
      ;[heap[i], heap[least]] = [heap[least]!, heap[i]!]
      i = least
    }
  }
}

function before(a: { reader: RunReader; age: number }, b: { reader: RunReader; age: number }): boolean {
  return a.reader.key < b.reader.key || (a.reader.key === b.reader.key && a.age < b.age)
}
