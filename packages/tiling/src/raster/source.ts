import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/**
 * Random access to the bytes of one raster file. Reads are synchronous: the consumer is a worker thread that decodes,
 * and a local file in the page cache answers faster than a promise settles.
 */
export interface ByteSource {
  /** Length in bytes. */
  readonly size: number
  /** The bytes `[offset, offset + length)`, cut at the end of the source, in memory that the caller owns. */
  read(offset: number, length: number): Uint8Array
}

/** A source over a file; `close` (or `using`) releases the descriptor. */
export interface FileSource extends ByteSource, Disposable {
  readonly path: string
  close(): void
}

/** A source over bytes in memory. */
export function bufferSource(bytes: Uint8Array): ByteSource {
  return {
    size: bytes.byteLength,
    read: (offset, length) => new Uint8Array(bytes.subarray(offset, offset + length)),
  }
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
