import { Readable } from 'node:stream'
import { readParameters, strangersPolicy } from '@terrane/service'
import { isHeaderValue, type ByteRange, type ObjectInfo } from '@terrane/storage'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { StorageDeps } from './access.ts'

/**
 * Sends an object, with conditional and range requests (RFC 9110): ETag, If-Match, If-Unmodified-Since, If-None-Match,
 * If-Modified-Since, If-Range, one byte range. A stored file must never run as a page of this origin.
 */
export async function sendObject(
  deps: StorageDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  info: ObjectInfo,
): Promise<FastifyReply> {
  const modified = new Date(Math.floor(info.updatedAt.getTime() / 1000) * 1000)
  reply.headers({
    etag: info.etag,
    'last-modified': modified.toUTCString(),
    'cache-control': isHeaderValue(info.cacheControl) ? info.cacheControl : 'no-cache',
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
    'content-security-policy': strangersPolicy(false),
  })
  const download = readParameters(request, (name) => name !== 'download').get('download')
  if (download !== null)
    reply.header(
      'content-disposition',
      attachment(download === '' ? (info.key.split('/').at(-1) ?? info.key) : download),
    )

  const { headers } = request
  if (headers['if-match'] !== undefined) {
    if (!matches(headers['if-match'], info.etag)) return reply.code(412).send()
  } else if (headers['if-unmodified-since'] !== undefined && new Date(headers['if-unmodified-since']) < modified) {
    return reply.code(412).send()
  }
  if (headers['if-none-match'] !== undefined) {
    if (matches(headers['if-none-match'], info.etag)) return reply.code(304).send()
  } else if (headers['if-modified-since'] !== undefined && new Date(headers['if-modified-since']) >= modified) {
    return reply.code(304).send()
  }

  const ifRange = headers['if-range'] as string | undefined
  const fresh =
    ifRange === undefined || ifRange === info.etag || (ifRange.endsWith('GMT') && new Date(ifRange) >= modified)
  const range = fresh ? parseByteRange(headers.range, info.size) : null
  if (range === 'unsatisfiable') return reply.code(416).header('content-range', `bytes */${info.size}`).send()
  // Others may have written an invalid content type into the bucket.
  reply.type(isHeaderValue(info.contentType) ? info.contentType : 'application/octet-stream')
  if (range) {
    reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${info.size}`)
    reply.header('content-length', range.end - range.start + 1)
  } else reply.header('content-length', info.size)
  if (request.method === 'HEAD' || info.size === 0) return reply.send()
  const { body } = await deps.store.get(info.bucket, info.key, { ...(range && { range }) })
  return reply.send(Readable.from(body))
}

/** The range of a Range header; null for no range or several, for which the whole object is sent. */
function parseByteRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | null {
  const found = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '')
  if (!found || (found[1] === '' && found[2] === '')) return null
  const last = size - 1
  if (found[1] === '') {
    const length = Number(found[2])
    return length === 0 || size === 0 ? 'unsatisfiable' : { start: Math.max(0, size - length), end: last }
  }
  const start = Number(found[1])
  const end = found[2] === '' ? last : Math.min(Number(found[2]), last)
  if (start > last) return 'unsatisfiable'
  return end < start ? null : { start, end }
}

function matches(header: string, etag: string): boolean {
  return header.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
}

function attachment(name: string): string {
  const ascii = name.replaceAll(/[^\x20-\x7e]|["\\]/g, '_')
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encodeURIComponent(name)}`
}
