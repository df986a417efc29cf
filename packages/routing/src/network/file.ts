import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { crc32 } from 'node:zlib'

import { notAGraph } from '../errors.ts'
import { contentOf, headerChecksum, openSections, type SectionFile } from '../graph/sections.ts'
import { type Network, openNetwork } from './network.ts'

/** Most bytes to write at a time. */
const WRITE_BYTES = 2 ** 28
/** Bytes to read at a time: few enough that they are still in the processor's cache when their checksum is made. */
const READ_BYTES = 2 ** 21

/** Writes a file as a whole, with a checksum: a reader sees the old one or the new one. */
export async function writeNetworkFile({ buffer }: SectionFile, path: string): Promise<void> {
  headerChecksum(buffer, crc32(contentOf(buffer)))
  const draft = `${path}.${process.pid}.part`
  try {
    const handle = await open(draft, 'w')
    try {
      for (let at = 0; at < buffer.byteLength; at += WRITE_BYTES) {
        const length = Math.min(WRITE_BYTES, buffer.byteLength - at)
        await handle.write(new Uint8Array(buffer, at, length), 0, length, at)
      }
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
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
