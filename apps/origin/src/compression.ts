import { createHash } from 'node:crypto'
import { Readable, pipeline } from 'node:stream'
import { promisify } from 'node:util'
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib'
import { negotiate } from '@fastify/accept-negotiator'
import type { Http } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Encodings of compressed answers; the first wins where a client accepts both equally. */
export type Encoding = 'br' | 'gzip'

/** Shorter answers are not compressed, because they fit into one packet. */
export const LEAST_BYTES = 1024
/** Compression level of both encodings; higher levels take far longer for a few per cent. */
const LEVEL = 4
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: LEVEL } }
const GZIP = { level: LEVEL }
/** Media types that are compressed; most others contain compressed data already. */
const COMPRESSIBLE =
  /^(?:text\/|application\/(?:[\w.-]+\+)?json\b|application\/vnd\.mapbox-vector-tile|application\/x-protobuf|image\/svg\+xml|application\/vnd\.oai\.openapi\+json|application\/flatgeobuf|application\/geopackage\+sqlite3)/

const brotliAsync = promisify(brotliCompress)
const gzipAsync = promisify(gzip)

/** The preferred encoding of a client; null for none. */
export function encodingFor({ headers }: Pick<FastifyRequest, 'headers'>): Encoding | null {
  const asked = headers['accept-encoding']
  const best = typeof asked === 'string' ? negotiate(asked.toLowerCase(), ['br', 'gzip', 'identity']) : null
  return best === 'br' || best === 'gzip' ? best : null
}

/** Compresses bytes. */
export function compress(bytes: Uint8Array | string, encoding: Encoding): Promise<Buffer> {
  return encoding === 'br' ? brotliAsync(bytes, BROTLI) : gzipAsync(bytes, GZIP)
}

/** Adds a request header to `Vary`. */
export function addVary(reply: FastifyReply, name: string): void {
  const known = reply.getHeader('vary')
  const names = known === undefined ? [] : String(known).split(/, */)
  if (!names.some((one) => one.toLowerCase() === name.toLowerCase())) reply.header('vary', [...names, name].join(', '))
}

/** A strong ETag of bytes. */
export function tagOf(bytes: Uint8Array | string): string {
  return `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`
}

/** The ETag of bytes in an encoding. A strong ETag identifies the sent bytes, so each encoding has its own. */
export function encodedTag(tag: string, encoding: Encoding | null): string {
  return encoding === null ? tag : `${tag.slice(0, -1)}-${encoding}"`
}

/** Whether the client has the content of an ETag. */
export function hasTag({ headers }: Pick<FastifyRequest, 'headers'>, tag: string): boolean {
  const held = headers['if-none-match']
  return held?.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === tag) ?? false
}

/**
 * Compresses the answers of a scope for clients that accept it. An answer that is encoded already, short, partial (206)
 * or has an ETag is not changed.
 *
 * @param hasTags adds a strong ETag to answers that are not streamed, and answers 304 to a client that has it
 */
export function compressAnswers(scope: Http, { hasTags = false } = {}): void {
  scope.addHook('onSend', async (request, reply, payload: unknown) => {
    if (hasTags && isTaggable(request, reply) && (typeof payload === 'string' || Buffer.isBuffer(payload)))
      return taggedPayload(request, reply, payload)
    if (!COMPRESSIBLE.test(String(reply.getHeader('content-type') ?? ''))) return payload
    addVary(reply, 'Accept-Encoding')
    const encoding = encodingFor(request)
    if (encoding === null || request.method === 'HEAD' || !isWhole(reply)) return payload
    if (payload instanceof Readable) return encoded(reply, encoding, streamed(payload, encoding))
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload
    if (Buffer.byteLength(payload) < LEAST_BYTES) return payload
    return encoded(reply, encoding, await compress(payload, encoding))
  })
}

function isTaggable({ method }: FastifyRequest, reply: FastifyReply): boolean {
  return (method === 'GET' || method === 'HEAD') && reply.statusCode === 200 && isWhole(reply)
}

async function taggedPayload(request: FastifyRequest, reply: FastifyReply, payload: Buffer | string) {
  const isCompressible = COMPRESSIBLE.test(String(reply.getHeader('content-type') ?? ''))
  if (isCompressible) addVary(reply, 'Accept-Encoding')
  const isShort = Buffer.byteLength(payload) < LEAST_BYTES
  const encoding = isCompressible && !isShort && request.method !== 'HEAD' ? encodingFor(request) : null
  const tag = encodedTag(tagOf(payload), encoding)
  reply.header('etag', tag)
  if (hasTag(request, tag)) {
    reply.code(304).removeHeader('content-length').removeHeader('content-type')
    return null
  }
  return encoding === null ? payload : encoded(reply, encoding, await compress(payload, encoding))
}

function isWhole(reply: FastifyReply): boolean {
  return reply.statusCode !== 206 && !reply.hasHeader('content-encoding') && !reply.hasHeader('etag')
}

function encoded<T>(reply: FastifyReply, encoding: Encoding, payload: T): T {
  reply.header('content-encoding', encoding)
  reply.removeHeader('content-length')
  return payload
}

/** An error of either stream ends both, and with them the answer. */
function streamed(payload: Readable, encoding: Encoding): Readable {
  return pipeline(payload, encoding === 'br' ? createBrotliCompress(BROTLI) : createGzip(GZIP), () => {})
}
