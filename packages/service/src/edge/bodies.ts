import { Transform, pipeline, type Readable } from 'node:stream'
import { TerraneError } from '@terrane/core'
import type { FastifyRequest } from 'fastify'

/** Deepest nesting of a JSON body; MultiPolygons in a FeatureCollection have 9 levels. */
const MAX_JSON_DEPTH = 100

const tooLarge = () =>
  new TerraneError('BODY_TOO_LARGE', 'too_large', 'The body is larger than this endpoint accepts from this caller')

/**
 * Refuses JSON that is nested more than 100 levels deep, in one pass and before anything recursive sees it.
 *
 * @throws BODY_TOO_DEEP
 */
export function refuseDeepJson(text: string): void {
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === 0x22) {
      for (i++; i < text.length && text.charCodeAt(i) !== 0x22; i++) if (text.charCodeAt(i) === 0x5c) i++
    } else if (c === 0x5b || c === 0x7b) {
      if (++depth > MAX_JSON_DEPTH)
        throw new TerraneError(
          'BODY_TOO_DEEP',
          'malformed',
          `The body is nested more than ${MAX_JSON_DEPTH} levels deep`,
        )
    } else if (c === 0x5d || c === 0x7d) depth--
  }
}

/**
 * A request's body within a bound of its own, for a `preParsing` hook: callers of one route may have different ones.
 *
 * @throws BODY_TOO_LARGE at once where the length was announced, else at the first byte over the bound
 */
export function boundBody(request: FastifyRequest, payload: Readable, maxBytes: number): Readable {
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > maxBytes) throw tooLarge()
  let received = 0
  const bounded = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length
      if (received > maxBytes) done(tooLarge())
      else done(null, chunk)
    },
  })
  pipeline(payload, bounded, () => {})
  return bounded
}
