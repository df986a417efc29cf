import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'

import { notAGraph } from '../errors.ts'
import {
  contentOf,
  HEADER_BYTES,
  headerChecksum,
  headerOf,
  openSections,
  type SectionArray,
  type SectionFile,
  SectionLayout,
  type SectionSink,
} from '../graph/sections.ts'
import { type Network, openNetwork } from './network.ts'

/** Most bytes to write at a time: few enough that they are still in the processor's cache when they are written. */
const WRITE_BYTES = 2 ** 21
/** Bytes to read at a time: few enough that they are still in the processor's cache when their checksum is made. */
const READ_BYTES = 2 ** 21

/** Writes a file as a whole, with a checksum: a reader sees the old one or the new one. */
export async function writeNetworkFile({ arrays, meta }: SectionFile, path: string): Promise<void> {
  using writer = new NetworkWriter(path)
  for (const [name, array] of arrays) writer.add(name, array)
  writer.finish(meta)
}

/**
 * Writes a file section by section, as they are made. It lies beside its place until it is finished; one that is not
 * finished is removed. It blocks, for who builds a graph does so too.
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

  /** Writes the directory and the header, and puts the file in its place. */
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
  const handle = await open(path, 'r')
  try {
    const { size } = await handle.stat()
    const buffer = new SharedArrayBuffer(size)
    const checksum = await fill(buffer, handle)
    const file = openSections(buffer)
    if (headerChecksum(buffer) !== checksum) throw notAGraph({ reason: 'its checksum does not match' })
    return openNetwork(file)
  } finally {
    await handle.close()
  }
}

/** Fills a buffer from a file and gives the checksum of its content, made of one part while the next is read. */
async function fill(buffer: SharedArrayBuffer, handle: FileHandle): Promise<number> {
  const size = buffer.byteLength
  const read = (at: number) =>
    handle.read(new Uint8Array(buffer, at, Math.min(READ_BYTES, size - at)), { position: at })
  let checksum = 0
  let reading = size > 0 ? read(0) : null
  for (let at = 0; reading !== null;) {
    const { bytesRead } = await reading
    if (bytesRead === 0) throw notAGraph({ reason: `it ended after ${at} of ${size} bytes` })
    const end = at + bytesRead
    reading = end < size ? read(end) : null
    checksum = crc32(contentOf(buffer, at, end), checksum)
    at = end
  }
  return checksum
}
