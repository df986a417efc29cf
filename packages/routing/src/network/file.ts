import { open, rename, rm } from 'node:fs/promises'
import { crc32 } from 'node:zlib'

import { notAGraph } from '../errors.ts'
import { contentOf, headerChecksum, openSections, type SectionFile } from '../graph/sections.ts'
import { type Network, openNetwork } from './network.ts'

/** Most bytes to read or write at a time. */
const CHUNK_BYTES = 2 ** 28

/** Writes a file as a whole, with a checksum: a reader sees the old one or the new one. */
export async function writeNetworkFile({ buffer }: SectionFile, path: string): Promise<void> {
  headerChecksum(buffer, crc32(contentOf(buffer)))
  const draft = `${path}.${process.pid}.part`
  try {
    const handle = await open(draft, 'w')
    try {
      for (let at = 0; at < buffer.byteLength; at += CHUNK_BYTES) {
        const length = Math.min(CHUNK_BYTES, buffer.byteLength - at)
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
    for (let at = 0; at < size;) {
      const { bytesRead } = await handle.read(new Uint8Array(buffer, at, Math.min(CHUNK_BYTES, size - at)), {
        position: at,
      })
      if (bytesRead === 0) throw notAGraph({ reason: `it ended after ${at} of ${size} bytes` })
      at += bytesRead
    }
    const file = openSections(buffer)
    if (headerChecksum(buffer) !== crc32(contentOf(buffer))) throw notAGraph({ reason: 'its checksum does not match' })
    return openNetwork(file)
  } finally {
    await handle.close()
  }
}
