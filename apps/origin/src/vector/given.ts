import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  LEAST_BYTES,
  addVary,
  compress,
  encodedTag,
  encodingFor,
  hasTag,
  tagOf,
  type Encoding,
} from '../compression.ts'

/** A tile with its ETag and its compressed forms; `bytes` is null for an empty tile. */
export interface Given {
  readonly bytes: Buffer | null
  readonly etag: string
  readonly packed: Map<Encoding, Promise<Buffer>>
}

export const VECTOR_TILE = 'application/vnd.mapbox-vector-tile'
/** Bytes of a cache entry besides its tile. */
const ENTRY_BYTES = 200

/** Bytes of a tile in the cache with its key; its compressed form takes about as much again. */
export function cachedBytes({ bytes }: Given, key: string): number {
  return 2 * (ENTRY_BYTES + (bytes?.byteLength ?? 0) + key.length)
}

/** Adds an ETag to the bytes of a tile; null and no bytes mean an empty tile. */
export function tagged(tile: Uint8Array | null): Given {
  const packed = new Map<Encoding, Promise<Buffer>>()
  if (tile === null || tile.length === 0) return { bytes: null, etag: '', packed }
  return { bytes: Buffer.from(tile.buffer, tile.byteOffset, tile.byteLength), etag: tagOf(tile), packed }
}

/** Sends a tile, or 204 for an empty one. Each encoding has its own ETag. */
export async function sendGiven(
  request: FastifyRequest,
  reply: FastifyReply,
  { bytes, etag, packed }: Given,
  type = VECTOR_TILE,
): Promise<FastifyReply> {
  if (bytes === null) return reply.code(204).send()
  addVary(reply, 'Accept-Encoding')
  // Raster tiles are compressed already.
  const encoding = bytes.length < LEAST_BYTES || type !== VECTOR_TILE ? null : encodingFor(request)
  const tag = encodedTag(etag, encoding)
  reply.header('etag', tag)
  if (hasTag(request, tag)) return reply.code(304).send()
  reply.type(type)
  if (encoding === null) return reply.send(bytes)
  const known = packed.get(encoding) ?? compress(bytes, encoding)
  packed.set(encoding, known)
  return reply.header('content-encoding', encoding).send(await known)
}
