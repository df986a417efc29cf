import { TerraneError } from '@terrane/core'
import { BlockColumns } from '../block.ts'
import type { BlockVisitor, Kinds, OsmHeader } from '../block.ts'
import { osmMalformed, osmUnsupported } from '../errors.ts'
import type { OsmReader, ReadOptions } from '../reader.ts'
import type { OsmSource } from '../source.ts'
import { readBlobs, unpackBlob } from './blob.ts'
import type { Blob } from './blob.ts'
import { HAS_NODES, HAS_RELATIONS, HAS_WAYS, decodeBlock } from './decode.ts'
import { estimateNodes } from './estimate-nodes.ts'
import { decodeHeader } from './header.ts'

const ALL: Kinds = { nodes: true, ways: true, relations: true }

/** Reads a PBF file: blobs are unpacked ahead in the thread pool, blocks decoded here, in the order of the file. */
export class PbfReader implements OsmReader {
  readonly source: OsmSource
  readonly #unpackAhead: number
  /** Kinds in each data blob, by its number: later passes skip blobs without a wanted kind. */
  readonly #kindsOfBlob: number[] = []
  #header: OsmHeader | null = null

  /** @param unpackAhead how many blobs to unpack ahead in the thread pool; 0 unpacks in this thread */
  constructor(source: OsmSource, unpackAhead = 4) {
    this.source = source
    this.#unpackAhead = unpackAhead
  }

  async header(signal?: AbortSignal): Promise<OsmHeader> {
    if (this.#header) return this.#header
    for await (const blob of readBlobs(this.source.chunks(signal))) {
      this.#header = headerOf(blob)
      return this.#header
    }
    throw osmMalformed({ what: 'it is empty' })
  }

  async estimateNodes(signal?: AbortSignal): Promise<number | null> {
    if (!this.source.open) return null
    await using file = await this.source.open()
    try {
      return await estimateNodes(file, signal)
    } catch (error) {
      // Errors in a file are reported when it is read.
      if (error instanceof TerraneError) return null
      throw error
    }
  }

  async read(visit: BlockVisitor, options: ReadOptions = {}): Promise<OsmHeader> {
    const kinds = options.kinds ?? ALL
    const mask = (kinds.nodes ? HAS_NODES : 0) | (kinds.ways ? HAS_WAYS : 0) | (kinds.relations ? HAS_RELATIONS : 0)
    const block = new BlockColumns()
    const { signal } = options
    for await (const { number, at, bytes } of this.#unpacked(mask, signal)) {
      signal?.throwIfAborted()
      const content = bytes instanceof Promise ? await bytes : bytes
      this.#kindsOfBlob[number] = decodeBlock(content, kinds, block)
      if (block.nodes.count + block.ways.count + block.relations.count > 0) {
        const pending = visit(block)
        if (pending) await pending
      }
      options.onBytes?.(at)
    }
    if (!this.#header) throw osmMalformed({ what: 'it is empty' })
    return this.#header
  }

  /** The data blobs that may hold wanted kinds, some of them still unpacking. */
  async *#unpacked(mask: number, signal?: AbortSignal): AsyncGenerator<Unpacking> {
    const ahead: Unpacking[] = []
    let number = -1
    for await (const blob of readBlobs(this.source.chunks(signal))) {
      if (!this.#header) this.#header = headerOf(blob)
      if (blob.type !== 'OSMData') continue
      number++
      const known = this.#kindsOfBlob[number]
      if (known !== undefined && (known & mask) === 0) continue
      const bytes = this.#unpackAhead > 0 ? unpackBlob(blob, true) : unpackBlob(blob, false)
      // A failure is reported when the blob is awaited; until then it must not count as unhandled.
      if (bytes instanceof Promise) bytes.catch(() => {})
      ahead.push({ number, at: blob.at, bytes })
      if (ahead.length > this.#unpackAhead) yield ahead.shift()!
    }
    yield* ahead
  }
}

interface Unpacking {
  readonly number: number
  readonly at: number
  readonly bytes: Uint8Array | Promise<Uint8Array>
}

/** The first file block must be the header: data cannot be understood before it. */
function headerOf(blob: Blob): OsmHeader {
  if (blob.type === 'OSMHeader') return decodeHeader(unpackBlob(blob, false))
  if (blob.type === 'OSMData') throw osmMalformed({ what: 'its first block is not a header', at: blob.at })
  throw osmUnsupported({ what: `its first block is of type "${blob.type}"` })
}
