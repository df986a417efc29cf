import { open } from 'node:fs/promises'

/** Bytes that can be read from the start as often as a pass needs them. */
export interface OsmSource {
  /** Name of the source in messages. */
  readonly name: string
  /** Length in bytes, null when it is not known. */
  readonly size: number | null
  chunks(signal?: AbortSignal): AsyncIterable<Uint8Array>
  /** Opens it for reads at any offset; absent when only {@link chunks} are available. */
  open?(): Promise<RandomAccess>
}

/** Bytes that can be read at any place, until they are disposed of. */
export interface RandomAccess extends AsyncDisposable {
  /** Up to `length` bytes from `position` on; fewer at the end. */
  read(position: number, length: number): Promise<Uint8Array>
}

const CHUNK_BYTES = 1 << 20

/** A local file, read in chunks of 1 MiB. */
export async function fileSource(path: string): Promise<OsmSource> {
  await using file = await open(path)
  const { size } = await file.stat()
  return { name: path, size, chunks: (signal) => fileChunks(path, signal), open: () => openFile(path) }
}

/** Bytes in memory. */
export function bytesSource(bytes: Uint8Array, name = 'memory'): OsmSource {
  return {
    name,
    size: bytes.length,
    async *chunks() {
      yield bytes
    },
    open: () =>
      Promise.resolve({
        read: (position, length) => Promise.resolve(bytes.subarray(position, position + length)),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      }),
  }
}

async function openFile(path: string): Promise<RandomAccess> {
  const file = await open(path)
  return {
    async read(position, length) {
      const into = Buffer.allocUnsafeSlow(length)
      let done = 0
      for (let count = -1; done < length && count !== 0; done += count) {
        count = (await file.read(into, done, length - done, position + done)).bytesRead
      }
      return into.subarray(0, done)
    },
    [Symbol.asyncDispose]: () => file.close(),
  }
}

async function* fileChunks(path: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  await using file = await open(path)
  for (;;) {
    signal?.throwIfAborted()
    // A new buffer each time, because parts of the last one may still be decompressing.
    const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES)
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES)
    if (bytesRead === 0) return
    yield chunk.subarray(0, bytesRead)
  }
}
