import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'

import { notAGraph } from '../errors.ts'
import {
  HEADER_BYTES,
  headerChecksum,
  headerOf,
  openSections,
  type SectionArray,
  type SectionFile,
  SectionLayout,
  type SectionSink,
} from '../graph/sections.ts'
import { mapFile } from './mapped.ts'
import { type Network, openNetwork } from './network.ts'

/** Maximum bytes per write, which still fit into the processor's cache. */
const WRITE_BYTES = 2 ** 21
/** Bytes per read, which still fit into the processor's cache for the checksum. */
const READ_BYTES = 2 ** 21

/** Writes a file atomically, with a checksum: readers see the old file or the new one. */
export async function writeNetworkFile({ arrays, meta }: SectionFile, path: string): Promise<void> {
  using writer = new NetworkWriter(path)
  for (const [name, array] of arrays) writer.add(name, array)
  writer.finish(meta)
}

/**
 * Writes a file section by section as sections are built. The file has a temporary name until it is finished; an
 * unfinished file is removed. Writes block the thread, like building a graph.
 */
export class NetworkWriter implements SectionSink, Disposable {
  readonly #path: string
  readonly #draft: string
  readonly #layout = new SectionLayout()
  readonly #file: number
  #at = HEADER_BYTES
  #checksum = 0
  #finished = false

  constructor(path: string) {
    this.#path = path
    this.#draft = `${path}.${process.pid}.part`
    this.#file = openSync(this.#draft, 'w')
  }

  add(name: string, array: SectionArray): void {
    this.#append(new Uint8Array(this.#layout.place(name, array) - this.#at))
    this.#append(new Uint8Array(array.buffer, array.byteOffset, array.byteLength))
  }

  /** Writes the directory and the header, and renames the file to its final name. */
  finish(meta: Readonly<Record<string, unknown>>): void {
    const directory = this.#layout.directory(meta)
    this.#append(new Uint8Array(this.#layout.end - this.#at))
    this.#append(directory)
    writeFully(this.#file, new Uint8Array(headerOf(directory.length, this.#checksum).buffer), 0)
    fsyncSync(this.#file)
    renameSync(this.#draft, this.#path)
    this.#finished = true
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
    if (!this.#finished) rmSync(this.#draft, { force: true })
  }

  #append(bytes: Uint8Array): void {
    for (let begin = 0; begin < bytes.length; begin += WRITE_BYTES) {
      const part = bytes.subarray(begin, begin + WRITE_BYTES)
      this.#checksum = crc32(part, this.#checksum)
      writeFully(this.#file, part, this.#at)
      this.#at += part.length
    }
  }
}

function writeFully(file: number, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done, bytes.length - done, at + done)
}

/**
 * Reads a prepared graph file into shared memory.
 *
 * @throws NOT_A_GRAPH when the file is something else, of another version, cut short or damaged
 */
export async function readNetworkFile(path: string): Promise<Network> {
  await using handle = await open(path, 'r')
  const { size } = await handle.stat()
  const buffer = new SharedArrayBuffer(size)
  const checksum = await readThrough(handle, size, (at, length) => new Uint8Array(buffer, at, length))
  return networkOf(buffer, checksum)
}

/**
 * Maps a prepared graph file into memory instead of reading it: several processes share it, the system drops unused
 * pages, and during a change of graphs only the used pages of both take memory. The file must not change while the
 * network is in use; replace it by renaming another file over it, because truncating a mapped file ends the process.
 *
 * @throws NOT_A_GRAPH as `readNetworkFile`; MAPPING_FAILED where the package koffi is missing or the system refuses
 */
export async function mapNetworkFile(path: string): Promise<Network> {
  await using handle = await open(path, 'r')
  const { size } = await handle.stat()
  const buffer = await mapFile(handle.fd, size)
  // Reads with ordinary file calls outside of this thread; reading mapped memory would block the thread at each missing
  // page.
  const parts = [new Uint8Array(READ_BYTES), new Uint8Array(READ_BYTES)]
  const checksum = await readThrough(handle, size, (at, length) => parts[(at / READ_BYTES) % 2]!.subarray(0, length))
  return networkOf(buffer, checksum)
}

function networkOf(buffer: ArrayBufferLike, checksum: number): Network {
  const file = openSections(buffer)
  if (headerChecksum(buffer) !== checksum) throw notAGraph({ reason: 'its checksum does not match' })
  return openNetwork(file)
}

/**
 * Reads a file into the buffers that `place` returns, and returns the checksum of its content. The checksum of one part
 * is computed while the next is read, so consecutive buffers must not overlap.
 */
async function readThrough(
  handle: FileHandle,
  size: number,
  place: (at: number, length: number) => Uint8Array,
): Promise<number> {
  const read = async (at: number): Promise<Uint8Array> => {
    const part = place(at, Math.min(READ_BYTES, size - at))
    for (let done = 0; done < part.length;) {
      const { bytesRead } = await handle.read(part, done, part.length - done, at + done)
      if (bytesRead === 0) throw notAGraph({ reason: `it ended after ${at + done} of ${size} bytes` })
      done += bytesRead
    }
    return part
  }
  let checksum = 0
  let reading = size > 0 ? read(0) : null
  for (let at = 0; reading !== null;) {
    const part = await reading
    const end = at + part.length
    reading = end < size ? read(end) : null
    checksum = crc32(at < HEADER_BYTES ? part.subarray(HEADER_BYTES) : part, checksum)
    at = end
  }
  return checksum
}
