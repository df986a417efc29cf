import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import type { ByteSource } from './source.ts'

/** A source over a file; `close` (or `using`) releases the descriptor. */
export interface FileSource extends ByteSource, Disposable {
  readonly path: string
  close(): void
}

/**
 * Opens a file for positioned reads.
 *
 * @throws the system error of `open` when the file cannot be opened
 */
export function openFileSource(path: string): FileSource {
  const descriptor = openSync(path, 'r')
  const { size } = fstatSync(descriptor)
  let open = true
  const close = (): void => {
    if (open) closeSync(descriptor)
    open = false
  }
  return {
    path,
    size,
    close,
    [Symbol.dispose]: close,
    read(offset, length) {
      const wanted = Math.max(0, Math.min(length, size - offset))
      const bytes = Buffer.allocUnsafeSlow(wanted)
      let filled = 0
      while (filled < wanted) {
        const count = readSync(descriptor, bytes, filled, wanted - filled, offset + filled)
        if (count === 0) break
        filled += count
      }
      return bytes.subarray(0, filled)
    },
  }
}

/** A new file to be written at positions; `close` (or `using`) releases the descriptor. */
export interface FileSink extends Disposable {
  write(bytes: Uint8Array, position: number): void
}

/** Creates a file. @throws the system error of `open` when it exists already or cannot be created */
export function openFileSink(path: string): FileSink {
  const descriptor = openSync(path, 'wx')
  return {
    write(bytes, position) {
      for (let done = 0; done < bytes.length;) {
        done += writeSync(descriptor, bytes, done, bytes.length - done, position + done)
      }
    },
    [Symbol.dispose]: () => closeSync(descriptor),
  }
}
