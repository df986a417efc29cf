import type { Principal } from '@terrane/auth'
import type { Session } from '@terrane/database'
import { Parameters } from '@terrane/database/rest-query'
import type { Http } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { abortOnDisconnect } from '../abort-on-disconnect.ts'
import type { RestDeps } from '../rest/call.ts'
import { depthOf, runAs } from '../rest/execute.ts'
import { timeoutOf } from '../rest/limits.ts'
import { RestError } from '../rest/errors.ts'
import { findCollection, type Collection } from './collection.ts'
import { systemOf } from './crs.ts'
import { GEOJSON } from './documents.ts'
import { changeFeature, createFeature, readFeature } from './edit.ts'
import { noCollection, noType, notEditable } from './errors.ts'
import { readItemsQuery } from './items-query.ts'
import { AS_GEOJSON, AS_ROWS, readItem, readPage, type FeatureRow, type Page } from './items.ts'
import { asksForPage, baseOf, ownLinks, readKnown, selfOf, sendPage, sendText } from './respond.ts'
import { itemLinks, itemTag, itemText, removeMatch, requireMatch } from './versions.ts'

export type FeatureDeps = Pick<RestDeps, 'database' | 'schemas' | 'limits'>

const MERGE_PATCH = 'application/merge-patch+json'
/** Maximum features of a page when the settings have no limit. */
const MOST = 10_000
const ITEMS = '/collections/:collection/items'

/** `…/items` and `…/items/{id}`: reads by parts 1 to 3, changes by part 4. */
export function featureRoutes(scope: Http, deps: FeatureDeps): void {
  const options = { config: { cors: { strictPreflight: false, preflightContinue: true } } }
  scope.get(ITEMS, whileThere(deps, sendItems))
  scope.get(`${ITEMS}/:id`, whileThere(deps, sendItem))
  scope.post(ITEMS, whileThere(deps, create))
  scope.put(`${ITEMS}/:id`, whileThere(deps, change))
  scope.patch(`${ITEMS}/:id`, whileThere(deps, change))
  scope.delete(`${ITEMS}/:id`, whileThere(deps, remove))
  scope.options(ITEMS, options, (request, reply) => allow(deps, request, reply))
  scope.options(`${ITEMS}/:id`, options, (request, reply) => allow(deps, request, reply))
}

/** Runs work on the collection of a request as its caller. @throws COLLECTION_NOT_FOUND */
export async function withCollection<T>(
  deps: FeatureDeps,
  request: FastifyRequest,
  readOnly: boolean,
  work: (session: Session, collection: Collection) => Promise<T>,
): Promise<T> {
  const id = (request.params as { collection: string }).collection
  const dot = id.indexOf('.')
  const schema = id.slice(0, Math.max(dot, 0))
  if (!deps.schemas.includes(schema)) throw noCollection(id)
  const principal = request.restCaller as Principal
  const timeoutMs = timeoutOf(deps.limits, principal)
  const as = { principal, schema, readOnly, rollback: false, timeoutMs, ...depthOf(request) }
  return runAs(deps.database, as, async (session) =>
    work(session, await findCollection(session, schema, id.slice(dot + 1))),
  )
}

/** Maximum features of a page. */
export function mostOf({ limits }: FeatureDeps): number {
  return limits.maxRows || MOST
}

type Handler = (deps: FeatureDeps, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

function whileThere(deps: FeatureDeps, handler: Handler) {
  return abortOnDisconnect((request, reply, signal) =>
    handler({ ...deps, database: deps.database.withSignal(signal) }, request, reply),
  )
}

async function sendItems(deps: FeatureDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const isPage = asksForPage(request, GEOJSON)
  const { page, crs, id } = await withCollection(deps, request, true, async (session, collection) => {
    const parameters = new Parameters()
    const query = { ...readItemsQuery(request, collection, mostOf(deps), parameters), parameters }
    const form = isPage ? AS_ROWS : AS_GEOJSON
    return {
      page: await readPage<FeatureRow | string>(session, collection, query, form),
      crs: query.crs,
      id: collection.id,
    }
  })
  reply.header('content-crs', `<${crs.uri}>`)
  const about = aboutPage(request, id, page, isPage)
  if (isPage) return sendPage(reply, id, { ...about, features: withSelf(request, page.features as FeatureRow[]) })
  const texts = page.features as readonly string[]
  return sendText(reply, `${JSON.stringify(about).slice(0, -1)},"features":[${texts.join(',')}]}`, GEOJSON)
}

/** Adds to each feature of a page a link to itself. */
function withSelf(request: FastifyRequest, features: readonly FeatureRow[]): readonly FeatureRow[] {
  const path = selfOf(request).split('?', 1)[0]
  return features.map((feature) => {
    const href = `${path}/${encodeURIComponent(String(feature.id))}`
    return feature.id === undefined ? feature : { ...feature, links: [{ rel: 'self', href, type: GEOJSON }] }
  })
}

/** Metadata of an answer's features. */
function aboutPage(request: FastifyRequest, id: string, page: Page<unknown>, isPage: boolean) {
  const self = new URL(selfOf(request))
  const collection = `${baseOf(request)}/collections/${encodeURIComponent(id)}`
  const links: object[] = [
    ...ownLinks(request, GEOJSON, isPage),
    { rel: 'collection', href: collection, type: 'application/json' },
  ]
  if (page.next !== null) {
    for (const name of ['offset', 'startindex']) self.searchParams.delete(name)
    self.searchParams.set(...page.next)
    links.push({ rel: 'next', href: self.href, type: isPage ? 'text/html' : GEOJSON, title: 'Following features' })
  }
  return {
    type: 'FeatureCollection',
    links,
    numberReturned: page.features.length,
    ...(page.matched !== null && { numberMatched: page.matched }),
  }
}

async function sendItem(deps: FeatureDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const isPage = asksForPage(request, GEOJSON)
  const given = readKnown(request, ['crs'])
  const { text, crs, collection } = await withCollection(deps, request, true, async (session, found) => {
    const system = systemOf('crs', given.get('crs'), found.systems)
    return { text: await readItem(session, found, idOf(request), system), crs: system, collection: found }
  })
  const links = itemLinks(request, collection, isPage)
  reply.header('content-crs', `<${crs.uri}>`)
  if (isPage) return sendPage(reply, `${collection.id} ${idOf(request)}`, { links }, text)
  return sendText(reply, itemText(text, links), GEOJSON)
}

async function create(deps: FeatureDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  readKnown(request)
  requireType(request, [GEOJSON, 'application/json'])
  const sent = readFeature(request.body, false)
  const id = await withCollection(deps, request, false, async (session, collection) => {
    if (!collection.may.insert) throw notEditable(collection.id, 'POST')
    return createFeature(session, collection, sent, bodyCrs(request, collection))
  })
  const path = selfOf(request).split('?', 1)[0]
  // Set without Fastify, because QGIS 3.40 reads the header only with a capital letter.
  reply.raw.setHeader('Location', `${path}/${encodeURIComponent(id)}`)
  return reply.code(201).send()
}

async function change(deps: FeatureDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  readKnown(request)
  const isPart = request.method === 'PATCH'
  requireType(request, isPart ? [MERGE_PATCH, GEOJSON, 'application/json'] : [GEOJSON, 'application/json'])
  const sent = readFeature(request.body, isPart)
  const id = idOf(request)
  const tag = await withCollection(deps, request, false, async (session, collection) => {
    if (!collection.may.update) throw notEditable(collection.id, request.method)
    await requireMatch(request, session, collection, id)
    await changeFeature(session, collection, id, { sent, crs: bodyCrs(request, collection), isPart })
    return tagAfter(request, session, collection, id)
  })
  if (tag !== null) reply.header('etag', tag)
  return reply.code(204).send()
}

/** The ETag of a changed feature; null if a policy hides it from the caller now. */
async function tagAfter(request: FastifyRequest, session: Session, collection: Collection, id: string) {
  return itemTag(request, session, collection, id).catch((error: unknown) => {
    if (error instanceof RestError && error.status === 404) return null
    throw error
  })
}

async function remove(deps: FeatureDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  readKnown(request)
  await withCollection(deps, request, false, async (session, collection) => {
    if (!collection.may.delete) throw notEditable(collection.id, 'DELETE')
    await removeMatch(request, session, collection, idOf(request))
  })
  return reply.code(204).send()
}

/** Answers with the methods that the caller may use. */
async function allow(deps: FeatureDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  if (!request.restCaller) return reply.code(204).send()
  const { may } = await withCollection(deps, request, true, async (_, collection) => collection)
  const changes =
    idOf(request) === undefined ? [may.insert && 'POST'] : [may.update && 'PUT, PATCH', may.delete && 'DELETE']
  const methods = ['GET', 'HEAD', 'OPTIONS', ...changes.filter((name) => name !== false)]
  if (may.update) reply.header('accept-patch', MERGE_PATCH)
  return reply
    .code(200)
    .headers({ allow: methods.join(', '), 'content-length': '0' })
    .send()
}

function bodyCrs({ headers }: FastifyRequest, { systems }: Collection) {
  const given = headers['content-crs']
  return systemOf('Content-Crs', typeof given === 'string' ? given : null, systems)
}

/** Requires a content type that another site cannot send without a preflight. */
function requireType({ headers }: FastifyRequest, wanted: readonly string[]): void {
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (!wanted.includes(type)) throw noType(type || 'unknown', wanted)
}

function idOf(request: FastifyRequest): string {
  return (request.params as { id: string }).id
}
