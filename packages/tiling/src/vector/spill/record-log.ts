import type { OpenScratch, ScratchFile } from './scratch.ts'

const CHUNK = 1 << 18
const LEAST_RESIDENT = 4
const NOT_WRITTEN = -1

/**
 * Records in the order they were added, to be scanned in that order or fetched by address. Chunks of 256 KiB stay in
 * memory up to a limit; beyond it the ones loaded longest ago are written to a temporary file and read again on demand.
 *
 * Writing: `reserve(size)`, fill `bytes` from `at`, `commit(end)`. Reading: `open(address)` or `next()`, then the
 * record is `page[start, end)` until the next call.
 */
export class RecordLog {
  bytes: Uint8Array = new Uint8Array(0)
  at = 0
  page: Uint8Array = new Uint8Array(0)
  start = 0
  end = 0
  /** Bytes of all records, in memory or not. */
  size = 0

  readonly #openScratch: OpenScratch
  readonly #limit: number
  #chunks: (Uint8Array | null)[] = []
  #used: number[] = []
  #filePosition: number[] = []
  #resident: number[] = []
  #residentBytes = 0
  #file: ScratchFile | null = null
  #fileEnd = 0
  #scanChunk = 0
  #scanAt = 0

  constructor(openScratch: OpenScratch, limitBytes: number) {
    this.#openScratch = openScratch
    this.#limit = limitBytes
  }

  /** Makes room for one record of up to `size` bytes and points `bytes` and `at` at it. */
  reserve(size: number): void {
    const last = this.#chunks.length - 1
    const used = last < 0 ? 0 : this.#used[last]!
    if (last < 0 || used >= CHUNK || used + 4 + size > this.bytes.length) this.#startChunk(size + 4)
    else this.at = used + 4
  }

  /** Ends the record begun by `reserve` at position `end`; returns its address. */
  commit(end: number): number {
    const last = this.#chunks.length - 1
    const start = this.#used[last]! + 4
    writeLength(this.bytes, start - 4, end - start)
    this.#used[last] = end
    this.size += end - start + 4
    return last * CHUNK + start
  }

  /** Points `page`, `start` and `end` at the record of an address. */
  open(address: number): void {
    const index = Math.floor(address / CHUNK)
    this.#show(index, address - index * CHUNK)
  }

  /** Makes `next` begin with the first record. */
  rewind(): void {
    this.#scanChunk = 0
    this.#scanAt = 0
  }

  /** Moves to the next record; returns its address, or -1 after the last one. */
  next(): number {
    while (this.#scanChunk < this.#chunks.length && this.#scanAt >= this.#used[this.#scanChunk]!) {
      this.#scanChunk++
      this.#scanAt = 0
    }
    if (this.#scanChunk >= this.#chunks.length) return -1
    const start = this.#scanAt + 4
    this.#show(this.#scanChunk, start)
    this.#scanAt = this.end
    return this.#scanChunk * CHUNK + start
  }

  /** Removes all records; memory and the temporary file are released. */
  clear(): void {
    this.#file?.close()
    this.#file = null
    this.#fileEnd = 0
    this.#chunks = []
    this.#used = []
    this.#filePosition = []
    this.#resident = []
    this.#residentBytes = 0
    this.size = 0
    this.bytes = new Uint8Array(0)
    this.page = this.bytes
    this.rewind()
  }

  [Symbol.dispose](): void {
    this.clear()
  }

  #show(index: number, start: number): void {
    this.page = this.#chunks[index] ?? this.#load(index)
    this.start = start
    this.end = start + readLength(this.page, start - 4)
  }

  #startChunk(size: number): void {
    this.bytes = new Uint8Array(Math.max(CHUNK, size))
    this.at = 4
    this.#chunks.push(this.bytes)
    this.#used.push(0)
    this.#filePosition.push(NOT_WRITTEN)
    this.#keep(this.#chunks.length - 1)
  }

  #load(index: number): Uint8Array {
    const chunk = new Uint8Array(this.#used[index]!)
    this.#file!.read(chunk, this.#filePosition[index]!)
    this.#chunks[index] = chunk
    this.#keep(index)
    return chunk
  }

  /** Counts a chunk as resident and evicts the oldest ones over the limit; the one being written always stays. */
  #keep(index: number): void {
    this.#resident.push(index)
    this.#residentBytes += this.#chunks[index]!.length
    while (this.#residentBytes > this.#limit && this.#resident.length > LEAST_RESIDENT) {
      const oldest = this.#resident.shift()!
      if (oldest === this.#chunks.length - 1 || oldest === index) this.#resident.push(oldest)
      else this.#evict(oldest)
    }
  }

  #evict(index: number): void {
    const chunk = this.#chunks[index]!
    if (this.#filePosition[index] === NOT_WRITTEN) {
      this.#file ??= this.#openScratch()
      this.#file.write(chunk.subarray(0, this.#used[index]), this.#fileEnd)
      this.#filePosition[index] = this.#fileEnd
      this.#fileEnd += this.#used[index]!
    }
    this.#residentBytes -= chunk.length
    this.#chunks[index] = null
  }
}

export function writeLength(bytes: Uint8Array, at: number, length: number): void {
  bytes[at] = length
  bytes[at + 1] = length >>> 8
  bytes[at + 2] = length >>> 16
  bytes[at + 3] = length >>> 24
}

export function readLength(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0
}
