import { closeSync, openSync, readSync, statSync } from 'node:fs'

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
 * Items of a file that are gone through twice: to learn their types, and for themselves. Those of a small file are kept
 * meanwhile; a large one is read again.
 *
 * @param open reads the file from its beginning
 * @param mostKept bytes of the largest file that is kept
 */
export function twice<T>(path: string, open: (isFirst: boolean) => Iterable<T>, mostKept = MOST_KEPT_BYTES) {
  const keeps = statSync(path).size <= mostKept
  const kept: T[] = []
  return {
    first(): void {
      for (const item of open(true)) if (keeps) kept.push(item)
    },
    again: (): Iterable<T> => (keeps ? kept : open(false)),
  }
}
