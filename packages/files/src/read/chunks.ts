import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { getHeapStatistics } from 'node:v8'

const CHUNK_BYTES = 1 << 20
/**
 * Limits for keeping items between the two passes over files: the size of the files, and that of the heap, because a
 * value of three bytes may take sixty in memory.
 */
const MOST_KEPT = { fileBytes: 64 << 20, heapBytes: 256 << 20 }
/** Number of items between two checks of the heap. */
const LOOK_AFTER = 4096

/** The bytes of a file, piece by piece. Reads are synchronous, because the process has no other work. */
export function* chunksOf(path: string): Generator<Buffer> {
  const file = openSync(path, 'r')
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES)
      const read = readSync(file, chunk, 0, CHUNK_BYTES, null)
      if (read === 0) return
      yield chunk.subarray(0, read)
    }
  } finally {
    closeSync(file)
  }
}

/**
 * Items of files that are read twice, first to detect types. They stay in memory if they are small; otherwise the files
 * are read again.
 *
 * @param paths paths of the files
 * @param open reads them from their beginning
 */
export function twice<T>(paths: readonly string[], open: (isFirst: boolean) => Iterable<T>, most = MOST_KEPT) {
  const fileBytes = paths.reduce((bytes, path) => bytes + statSync(path).size, 0)
  let kept: T[] | null = fileBytes <= most.fileBytes ? [] : null
  return {
    first(learn?: (item: T) => void): void {
      for (const item of open(true)) {
        learn?.(item)
        if (kept === null) continue
        if (kept.length % LOOK_AFTER === 0 && getHeapStatistics().used_heap_size > most.heapBytes) kept = null
        else kept.push(item)
      }
    },
    again: (): Iterable<T> => kept ?? open(false),
  }
}

/** Random access to a file that is mostly read forwards. */
export class FileWindow implements Disposable {
  readonly size: number
  readonly #file: number
  #bytes = Buffer.alloc(0)
  #start = 0

  constructor(path: string) {
    this.#file = openSync(path, 'r')
    this.size = fstatSync(this.#file).size
  }

  /** Bytes that stay valid until the next call; null at the end of the file. */
  at(position: number, length: number): Buffer | null {
    if (position < 0 || position + length > this.size) return null
    if (position < this.#start || position + length > this.#start + this.#bytes.length) {
      const bytes = Buffer.allocUnsafe(Math.max(length, Math.min(CHUNK_BYTES, this.size - position)))
      const read = readSync(this.#file, bytes, 0, bytes.length, position)
      if (read < length) return null
      this.#bytes = bytes.subarray(0, read)
      this.#start = position
    }
    return this.#bytes.subarray(position - this.#start, position - this.#start + length)
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
  }
}
