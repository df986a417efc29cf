import { existsSync } from 'node:fs'
import { open as openFile } from 'node:fs/promises'
import { join } from 'node:path'
import { open, root } from 'zarrita'
import type { Samples } from '../raster-info.ts'
import { boundCodecs, mostBytes } from './bounded-codecs.ts'
import { zarrUnusable } from './errors.ts'
import { objectKey, product, type ZarrArray } from './metadata.ts'

/** Maximum size of a metadata document in bytes. */
export const MAX_DOCUMENT_BYTES = 16 << 20

/** Samples of a chunk; `steps` count samples from one position to the next along each dimension. */
export interface ZarrChunk {
  readonly samples: Samples
  readonly steps: readonly number[]
}

/** Reads the chunk with a position in the grid of chunks; null where its object does not exist. */
export type ReadChunk = (position: readonly number[]) => Promise<ZarrChunk | null>

/** A part of a file, as zarrita asks for it. */
type Range = { readonly offset: number; readonly length: number } | { readonly suffixLength: number }

/**
 * Opens an array of a store that lies in a folder. Half floats are widened to single precision, whole numbers of 64 bits
 * to double precision.
 *
 * @throws ZARR_UNUSABLE; the function that it returns: for a chunk that is damaged, or larger than its shape
 */
export async function openChunks(folder: string, array: ZarrArray): Promise<ReadChunk> {
  boundCodecs()
  const limit = Math.max(MAX_DOCUMENT_BYTES, mostBytes(array.chunk, array.dataType))
  const store = {
    get: (key: string) => readPart(join(folder, key), null, limit),
    getRange: (key: string, range: Range) => readPart(join(folder, key), range, limit),
  }
  const place = root(store).resolve(array.path)
  const opened = array.version === 2 ? await open.v2(place, { kind: 'array' }) : await open.v3(place, { kind: 'array' })
  const { chunk, object } = array
  const length = product(chunk)
  return async (position) => {
    const key = objectKey(
      array,
      position.map((at, axis) => Math.floor((at * chunk[axis]!) / object[axis]!)),
    )
    if (!existsSync(join(folder, key))) return null
    const { data, stride } = await opened.getChunk([...position]).catch((error: unknown) => {
      throw damaged(key, error)
    })
    const samples = samplesOf(data)
    if (samples.length !== length) throw damaged(key, new Error(`it has ${samples.length} samples, not ${length}`))
    return { samples, steps: stride }
  }
}

function damaged(key: string, error: unknown) {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return zarrUnusable({ why: `${key}: ${cause instanceof Error ? cause.message : String(cause)}` }, { cause: error })
}

async function readPart(path: string, range: Range | null, limit: number): Promise<Uint8Array | undefined> {
  if (!existsSync(path)) return undefined
  await using file = await openFile(path)
  const { size } = await file.stat()
  const part =
    range === null
      ? { offset: 0, length: size }
      : 'suffixLength' in range
        ? { offset: Math.max(0, size - range.suffixLength), length: Math.min(size, range.suffixLength) }
        : range
  const { offset, length } = part
  // The offsets of a shard stand in the file: they may be anything.
  const isInside = Number.isSafeInteger(offset) && Number.isSafeInteger(length) && offset >= 0 && length >= 0
  if (!isInside || offset + length > size)
    throw new Error(`bytes ${offset} to ${offset + length} of ${size} are needed`)
  const most = range !== null && 'suffixLength' in range ? size : limit
  if (length > most) throw new Error(`it has ${length} bytes; a chunk of its shape has at most ${most}`)
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length;) {
    const { bytesRead } = await file.read(bytes, at, length - at, offset + at)
    if (bytesRead === 0) throw new Error('it was cut off')
    at += bytesRead
  }
  return bytes
}

function samplesOf(data: unknown): Samples {
  if (data instanceof BigInt64Array || data instanceof BigUint64Array) return Float64Array.from(data, Number)
  if (data instanceof Int8Array || data instanceof Uint8Array) return data
  if (data instanceof Int16Array || data instanceof Uint16Array) return data
  if (data instanceof Int32Array || data instanceof Uint32Array) return data
  if (data instanceof Float32Array || data instanceof Float64Array) return data
  if (data instanceof Float16Array) return Float32Array.from(data)
  throw zarrUnusable({ why: 'its samples are not numbers' })
}
