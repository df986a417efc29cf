import { promisify } from 'node:util'
import { inflate, inflateSync, zstdDecompress, zstdDecompressSync } from 'node:zlib'
import { osmMalformed, osmTooLarge, osmTruncated, osmUnsupported } from '../errors.ts'
import type { RandomAccess } from '../source.ts'
import { lz4Decompress } from './lz4.ts'
import { BYTES, VARINT, Wire } from './wire.ts'

/** Limits of the format, which also bound the allocations for a hostile file. */
const MAX_BLOB_HEADER_BYTES = 64 * 1024
const MAX_BLOB_BYTES = 32 * 1024 * 1024
const USUAL_HEADER_BYTES = 64

const inflateAsync = promisify(inflate)
const zstdDecompressAsync = promisify(zstdDecompress)

/** A file block: its type (`OSMHeader`, `OSMData` or unknown), the compressed blob and its offset. */
export interface Blob {
  readonly type: string
  readonly bytes: Uint8Array
  readonly at: number
}

/** Cuts a stream into blobs. @throws OSM_TRUNCATED, OSM_TOO_LARGE, OSM_MALFORMED, with the offset in the file */
export async function* readBlobs(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Blob> {
  await using stream = new ByteStream(chunks)
  for (;;) {
    const at = stream.offset
    const prefix = await stream.take(4, 'the length of a blob header')
    if (!prefix) return
    const headerLength = headerBytes(prefix, at)
    const header = blobHeader(
      new Wire((await stream.take(headerLength, 'a blob header')) ?? missing(at, 'a blob header')),
      at,
    )
    const bytes = (await stream.take(header.size, 'a blob')) ?? missing(at, 'a blob')
    yield { type: header.type, bytes, at }
  }
}

/** Position of a blob in a file, from its header. */
export interface BlobPlace {
  readonly at: number
  readonly size: number
}

/** Yields positions of data blobs by their headers. @throws OSM_TRUNCATED, OSM_TOO_LARGE, OSM_MALFORMED */
export async function* walkBlobs(file: RandomAccess): AsyncGenerator<BlobPlace> {
  for (let at = 0; ;) {
    let head = await file.read(at, USUAL_HEADER_BYTES)
    if (head.length === 0) return
    if (head.length < 4) missing(at, 'the length of a blob header')
    const end = 4 + headerBytes(head, at)
    if (end > head.length) head = await file.read(at, end)
    if (end > head.length) missing(at, 'a blob header')
    const { type, size } = blobHeader(new Wire(head.subarray(4, end)), at)
    if (type === 'OSMData') yield { at: at + end, size }
    at += end + size
  }
}

/**
 * The content of a blob. With `wait` the thread pool inflates zlib and zstd, and a promise is returned for them.
 * @throws OSM_MALFORMED when the blob is damaged or its declared size is wrong, OSM_TOO_LARGE beyond 32 MiB,
 * OSM_UNSUPPORTED for lzma and bzip2
 */
export function unpackBlob(blob: Blob, wait: true): Promise<Uint8Array> | Uint8Array
export function unpackBlob(blob: Blob, wait: false): Uint8Array
export function unpackBlob(blob: Blob, wait: boolean): Promise<Uint8Array> | Uint8Array {
  const { packing, rawSize, content } = blobFields(blob)
  const failed = (cause: unknown): never => {
    throw osmMalformed(
      { what: `a ${packing} blob does not unpack to its declared ${rawSize} bytes`, at: blob.at },
      { cause },
    )
  }
  const checked = (bytes: Uint8Array): Uint8Array => (bytes.length === rawSize ? bytes : failed(undefined))
  // Limited to the declared size, and one byte more lets zlib see the end without a second buffer.
  const options = { maxOutputLength: Math.max(rawSize, 1), chunkSize: Math.max(rawSize + 1, 64) }
  try {
    if (packing === 'zlib') {
      if (wait) return inflateAsync(content, options).then(checked, failed)
      return checked(inflateSync(content, options))
    }
    if (packing === 'zstd') {
      if (wait) return zstdDecompressAsync(content, options).then(checked, failed)
      return checked(zstdDecompressSync(content, options))
    }
    if (packing === 'lz4') return lz4Decompress(content, rawSize)
    return checked(content)
  } catch (error) {
    return failed(error)
  }
}

function headerBytes(prefix: Uint8Array, at: number): number {
  const length = (prefix[0]! << 24) | (prefix[1]! << 16) | (prefix[2]! << 8) | prefix[3]!
  if (length >= 0 && length <= MAX_BLOB_HEADER_BYTES) return length
  throw osmMalformed({ what: 'it is not a PBF file, or a blob header is longer than 64 KiB', at })
}

function blobHeader(wire: Wire, at: number): { type: string; size: number } {
  let type = ''
  let size = -1
  while (wire.next()) {
    if (wire.is(1, BYTES)) type = wire.text()
    else if (wire.is(3, VARINT)) size = wire.int64()
    else wire.skip()
  }
  if (type === '' || size < 0) throw osmMalformed({ what: 'a blob header lacks its type or size', at })
  if (size > MAX_BLOB_BYTES) throw osmTooLarge({ what: `The blob at byte ${at}`, size, limit: MAX_BLOB_BYTES })
  return { type, size }
}

type Packing = 'raw' | 'zlib' | 'lzma' | 'bzip2' | 'lz4' | 'zstd'
const PACKINGS: Readonly<Record<number, Packing>> = { 1: 'raw', 3: 'zlib', 4: 'lzma', 5: 'bzip2', 6: 'lz4', 7: 'zstd' }

function blobFields(blob: Blob): { packing: Packing; rawSize: number; content: Uint8Array } {
  const wire = new Wire(blob.bytes)
  let packing: Packing | null = null
  let content = blob.bytes
  let rawSize = -1
  while (wire.next()) {
    const found = PACKINGS[wire.field]
    if (wire.is(2, VARINT)) rawSize = wire.int64()
    else if (found && wire.type === BYTES) {
      packing = found
      const end = wire.lengthDelimitedEnd()
      content = blob.bytes.subarray(wire.pos, end)
      wire.pos = end
    } else wire.skip()
  }
  if (packing === null) throw osmMalformed({ what: 'a blob holds no data', at: blob.at })
  if (packing === 'lzma' || packing === 'bzip2') throw osmUnsupported({ what: `its blobs are packed with ${packing}` })
  if (packing === 'raw') rawSize = content.length
  if (rawSize < 0) throw osmMalformed({ what: `a ${packing} blob does not declare its size`, at: blob.at })
  if (rawSize > MAX_BLOB_BYTES) {
    throw osmTooLarge({ what: `The unpacked blob at byte ${blob.at}`, size: rawSize, limit: MAX_BLOB_BYTES })
  }
  return { packing, rawSize, content }
}

function missing(at: number, wanted: string): never {
  throw osmTruncated({ at, wanted })
}

/** Hands out exact numbers of bytes from chunks of any size. */
class ByteStream implements AsyncDisposable {
  readonly #chunks: AsyncIterator<Uint8Array>
  #chunk: Uint8Array = new Uint8Array(0)
  #pos = 0
  offset = 0

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** The next `length` bytes, a view where a chunk holds them all; null at the end of the stream. */
  async take(length: number, wanted: string): Promise<Uint8Array | null> {
    while (this.#pos === this.#chunk.length) if (!(await this.#advance())) return length === 0 ? this.#chunk : null
    const end = this.#pos + length
    this.offset += length
    if (end <= this.#chunk.length) {
      const view = this.#chunk.subarray(this.#pos, end)
      this.#pos = end
      return view
    }
    const joined = new Uint8Array(length)
    let filled = 0
    while (filled < length) {
      if (this.#pos === this.#chunk.length && !(await this.#advance())) {
        throw osmTruncated({ at: this.offset - length + filled, wanted })
      }
      const part = this.#chunk.subarray(this.#pos, this.#pos + length - filled)
      joined.set(part, filled)
      filled += part.length
      this.#pos += part.length
    }
    return joined
  }

  async #advance(): Promise<boolean> {
    const next = await this.#chunks.next()
    if (next.done === true) return false
    this.#chunk = next.value
    this.#pos = 0
    return true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#chunks.return?.()
  }
}
