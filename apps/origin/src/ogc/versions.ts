import type { Session } from '@terrane/database'
import { Parameters } from '@terrane/database/rest-query'
import type { FastifyRequest } from 'fastify'
import { tagOf } from '../compression.ts'
import { RestError } from '../rest/errors.ts'
import type { Collection } from './collection.ts'
import { CRS84 } from './crs.ts'
import { GEOJSON } from './documents.ts'
import { featureChanged } from './errors.ts'
import { keyCondition, readItem } from './items.ts'
import { baseOf, ownLinks } from './respond.ts'

/** End of an ETag of an encoded answer. */
const ENCODING = /-(?:br|gzip)"$/

/** Links of a feature to itself and to its collection. */
export function itemLinks(request: FastifyRequest, { id }: Collection, isPage: boolean): readonly object[] {
  const href = `${baseOf(request)}/collections/${encodeURIComponent(id)}`
  return [...ownLinks(request, GEOJSON, isPage), { rel: 'collection', href, type: 'application/json' }]
}

/** A feature with its links, as GET of its address answers it. */
export function itemText(text: string, links: readonly object[]): string {
  return `${text.slice(0, -1)},"links":${JSON.stringify(links)}}`
}

/** The ETag that GET of the feature's address answers, without an encoding. @throws FEATURE_NOT_FOUND */
export async function itemTag(
  request: FastifyRequest,
  session: Session,
  collection: Collection,
  id: string,
): Promise<string> {
  const text = await readItem(session, collection, id, CRS84)
  return tagOf(itemText(text, itemLinks(request, collection, false)))
}

/**
 * Evaluates `If-Match` (RFC 9110, 13.1.1) and locks the row until the end of the transaction.
 *
 * @throws FEATURE_CHANGED if the header names no ETag of the present feature
 */
export async function requireMatch(
  request: FastifyRequest,
  session: Session,
  collection: Collection,
  id: string,
): Promise<void> {
  const wanted = request.headers['if-match']
  if (wanted === undefined) return
  const tag = await lockedTag(request, session, collection, id).catch((error: unknown) => {
    throw error instanceof RestError && error.status === 404 ? featureChanged(id) : error
  })
  const named = wanted.split(',').map((one) => one.trim())
  const tags = new Set([...named, ...named.map((one) => one.replace(ENCODING, '"'))])
  if (!tags.has('*') && !tags.has(tag)) throw featureChanged(id)
}

async function lockedTag(request: FastifyRequest, session: Session, collection: Collection, id: string) {
  // Only tables have a primary key, and a lock needs the right to update.
  if (collection.isUnique && collection.may.update) {
    const parameters = new Parameters()
    const where = keyCondition(collection, id, parameters)
    await session.query(`select from ${collection.source} as source where ${where} for update`, parameters.values)
  }
  return itemTag(request, session, collection, id)
}
