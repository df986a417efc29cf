import type { Session } from '@terrane/database'
import { Parameters } from '@terrane/database/rest-query'
import type { FastifyRequest } from 'fastify'
import { tagOf } from '../compression.ts'
import { RestError } from '../rest/errors.ts'
import type { Collection } from './collection.ts'
import { CRS84 } from './crs.ts'
import { GEOJSON } from './documents.ts'
import { featureChanged, noFeature } from './errors.ts'
import { isNoValue, keyCondition, readItem, removeItem } from './items.ts'
import { baseOf, ownLinks } from './respond.ts'

/** End of an ETag of an encoded answer. */
const ENCODING = /-(?:br|gzip)"$/
/** SQLSTATE of a lock that a view cannot have. */
const NOT_SUPPORTED = '0A000'

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
  return itemTagOf(request, collection, await readItem(session, collection, id, CRS84))
}

function itemTagOf(request: FastifyRequest, collection: Collection, text: string): string {
  return tagOf(itemText(text, itemLinks(request, collection, false)))
}

/**
 * Evaluates `If-Match` (RFC 9110, 13.1.1) and locks the row until the end of the transaction, so that it is the one that is
 * changed. A caller without the right to update cannot lock it: {@link removeMatch} compares the removed row.
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
  if (!isNamed(wanted, tag)) throw featureChanged(id)
}

/** Removes a feature that `If-Match` names. @throws FEATURE_CHANGED, FEATURE_NOT_FOUND */
export async function removeMatch(
  request: FastifyRequest,
  session: Session,
  collection: Collection,
  id: string,
): Promise<void> {
  await requireMatch(request, session, collection, id)
  const removed = await removeItem(session, collection, id)
  if (!isNamed(request.headers['if-match'] ?? '*', itemTagOf(request, collection, removed))) throw featureChanged(id)
}

/** Whether a list of ETags or `*` names a strong ETag; weak ones never do. */
function isNamed(wanted: string, tag: string): boolean {
  const named = [...wanted.matchAll(/(?:W\/)?"[^"]*"/g)].map(([one]) => one)
  return wanted.trim() === '*' || named.some((one) => one === tag || one.replace(ENCODING, '"') === tag)
}

async function lockedTag(request: FastifyRequest, session: Session, collection: Collection, id: string) {
  if (collection.may.update) {
    const parameters = new Parameters()
    const where = keyCondition(collection, id, parameters)
    await session.query('savepoint locked')
    await session
      .query(`select from ${collection.source} as source where ${where} for update`, parameters.values)
      .catch(async (error: unknown) => {
        if (isNoValue(error)) throw noFeature(id)
        // Views that are changed by a trigger may have groups, whose rows cannot be locked.
        if ((error as { code?: unknown }).code !== NOT_SUPPORTED) throw error
        await session.query('rollback to locked')
      })
  }
  return itemTag(request, session, collection, id)
}
