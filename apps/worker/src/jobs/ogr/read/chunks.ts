import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'

const CHUNK_BYTES = 1 << 20
/** What a file of this size holds is kept in memory between the two times that it is gone through. */
const MOST_KEPT_BYTES = 64 << 20

/** The bytes of a file, piece by piece. The process reads one file and has nothing else to do, so it waits for them. */
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
 * Items of files that are gone through twice: to learn their types, and for themselves. Those of small files are kept
 * meanwhile; large ones are read again.
 *
 * @param paths the files that hold them
 * @param open reads them from their beginning
 * @param mostKept bytes of the largest files that are kept
 */
export function twice<T>(
  paths: readonly string[],
  open: (isFirst: boolean) => Iterable<T>,
  mostKept = MOST_KEPT_BYTES,
) {
  const keeps = paths.reduce((bytes, path) => bytes + statSync(path).size, 0) <= mostKept
  const kept: T[] = []
  return {
    first(learn?: (item: T) => void): void {
      for (const item of open(true)) {
        learn?.(item)
        if (keeps) kept.push(item)
      }
    },
    again: (): Iterable<T> => (keeps ? kept : open(false)),
  }
}

/** A file that is read from place to place, mostly forwards. */
export class FileWindow implements Disposable {
  readonly size: number
  readonly #file: number
  #bytes = Buffer.alloc(0)
  #start = 0

  constructor(path: string) {
    this.#file = openSync(path, 'r')
    this.size = fstatSync(this.#file).size
  }

  /** Bytes that hold until the next call; null where the file has not so many. */
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
