import { Transform, pipeline, type Readable } from 'node:stream'
import { TerraneError } from '@terrane/core'
import type { FastifyRequest } from 'fastify'

/** Deepest nesting of a JSON body; MultiPolygons in a FeatureCollection have 9 levels. */
const MAX_JSON_DEPTH = 100

const tooLarge = () =>
  new TerraneError('BODY_TOO_LARGE', 'too_large', 'The body is larger than this endpoint accepts from this caller')

/** Most values of a JSON body: half a million objects block the process for a tenth of a second. */
const MAX_JSON_VALUES = 500_000
/** Most fields of one object: parsing an object with many fields is several times slower than parsing a list. */
const MAX_JSON_FIELDS = 20_000

const tooMany = (what: string) =>
  new TerraneError('BODY_TOO_WIDE', 'too_large', `The body has more than ${what}`, {
    hint: 'Send it in several requests, or as a file.',
  })

/**
 * Refuses JSON that takes long to read, in one pass and before anything reads it: more than 100 levels, 500,000 values, or
 * 20,000 fields in one object.
 *
 * @throws BODY_TOO_DEEP, BODY_TOO_WIDE
 */
export function refuseCostlyJson(text: string, maxValues = MAX_JSON_VALUES): void {
  let depth = 0
  let values = 0
  const fields = new Uint32Array(MAX_JSON_DEPTH + 1)
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === 0x22) {
      for (i++; i < text.length && text.charCodeAt(i) !== 0x22; i++) if (text.charCodeAt(i) === 0x5c) i++
    } else if (c === 0x2c) {
      if (++values > maxValues) throw tooMany(`${maxValues} values`)
    } else if (c === 0x3a) {
      if (++fields[depth]! > MAX_JSON_FIELDS) throw tooMany(`${MAX_JSON_FIELDS} fields in one object`)
    } else if (c === 0x5b || c === 0x7b) {
      if (++depth > MAX_JSON_DEPTH)
        throw new TerraneError(
          'BODY_TOO_DEEP',
          'malformed',
          `The body is nested more than ${MAX_JSON_DEPTH} levels deep`,
        )
      fields[depth] = 0
      if (++values > maxValues) throw tooMany(`${maxValues} values`)
    } else if ((c === 0x5d || c === 0x7d) && depth > 0) depth--
  }
}

/** A body within its own bound, for `preParsing`. @throws BODY_TOO_LARGE by its length, or at the first byte over */
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
