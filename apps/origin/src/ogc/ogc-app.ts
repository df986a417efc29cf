import type { Principal } from '@terrane/auth'
import { boundBody, tellRetry, type Http } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { abortOnDisconnect } from '../abort-on-disconnect.ts'
import { compressAnswers } from '../compression.ts'
import type { RestDeps } from '../rest/call.ts'
import { lateAsHouse, toRestError } from '../rest/errors.ts'
import { runAs } from '../rest/execute.ts'
import { boundsOf } from '../vector/layer-bounds.ts'
import { findLayer, listLayers } from '../vector/layer.ts'
import { placeOf } from '../vector/tile-request.ts'
import { readingAs, type Tiles } from '../vector/tiles.ts'
import { takeBasicKey } from './basic-key.ts'
import { listProperties } from './collection.ts'
import * as documents from './documents.ts'
import { offeredSystems, type Crs } from './crs.ts'
import { badParameter, noSetOfTiles } from './errors.ts'
import { featureRoutes, mostOf, withCollection, type FeatureDeps } from './feature-routes.ts'
import { openApiDocument } from './openapi.ts'
import { baseOf, readKnown, respond, selfOf } from './respond.ts'

/** Maximum collections that the description of the API names individually. */
const MOST_NAMED = 200
/** Maximum collections in a list with extents, because the extents of many tables take long. */
const MOST_EXTENTS = 20

export type OgcDeps = FeatureDeps & Pick<RestDeps, 'authenticate'> & { readonly tiles: Tiles }

/** `/ogc/v1`: OGC API Features (parts 1 to 4) and Tiles, as JSON and as pages. The key may be a Basic password. */
export async function ogcRoutes(app: Http, deps: OgcDeps): Promise<void> {
  await app.register(
    async (scope) => {
      scope.setErrorHandler(sendError)
      compressAnswers(scope, { hasTags: true })
      scope.addHook('onRequest', async (request) => {
        // A preflight of a browser has no key.
        if (request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined) return
        if (!URL.canParse(baseOf(request))) throw badParameter('the header Host', 'the name of a host is wanted')
        takeBasicKey(request)
        request.restCaller = await deps.authenticate(request)
        if (request.raw.url?.includes('%00'))
          throw badParameter('the path', 'a zero byte is part of no name and no value')
      })
      scope.addHook('preParsing', async (request, _reply, payload) =>
        request.restCaller?.role === 'service_role'
          ? payload
          : boundBody(request, payload, deps.limits.publicBodyBytes),
      )
      // Bodies are passed to the database as text, so that numbers keep all digits.
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
      documentRoutes(scope, deps)
      collectionRoutes(scope, deps)
      featureRoutes(scope, deps)
      tileRoutes(scope, deps)
    },
    { prefix: '/ogc/v1' },
  )
}

function sendError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const error = toRestError(lateAsHouse(thrown), request.restCaller?.role === 'anon')
  if (error.status >= 500) request.log.error({ err: thrown }, 'request failed')
  if (error.status === 401) reply.header('www-authenticate', ['Bearer', 'Basic realm="terrane", charset="UTF-8"'])
  tellRetry(reply, error.status, error)
  const body = { ...error.toBody(), description: error.message }
  void reply.code(error.status).type('application/json; charset=utf-8').send(JSON.stringify(body))
}

function documentRoutes(scope: Http, deps: OgcDeps): void {
  const config = { quiet: true }
  const serve = (path: string, title: string, make: (base: string) => Record<string, unknown>) =>
    scope.get(path, { config }, async (request, reply) => {
      readKnown(request)
      return respond(request, reply, title, make(baseOf(request)))
    })
  serve('/', 'Features and tiles', documents.landingPage)
  serve('/conformance', 'Conformance', () => ({ conformsTo: documents.CONFORMANCE }))
  serve('/tileMatrixSets', 'Tile matrix sets', documents.tileMatrixSets)
  scope.get('/tileMatrixSets/:set', { config }, async (request, reply) => {
    readKnown(request)
    requireMercator(request)
    return respond(request, reply, 'WebMercatorQuad', documents.webMercatorQuad())
  })
  scope.get('/api', { config }, async (request, reply) => {
    readKnown(request)
    const all = await runAs(deps.database, listingAs(deps, request), (session) => listProperties(session, deps.schemas))
    const document = openApiDocument(baseOf(request), mostOf(deps), all.slice(0, MOST_NAMED))
    return respond(request, reply, 'The API', document, documents.OPENAPI)
  })
}

function listingAs({ schemas }: OgcDeps, request: FastifyRequest) {
  return readingAs(request.restCaller as Principal, schemas[0] as string)
}

function collectionRoutes(scope: Http, deps: OgcDeps): void {
  const config = { quiet: true }
  scope.get('/collections', { config }, async (request, reply) => {
    readKnown(request)
    const listed = await runAs(deps.database, listingAs(deps, request), async (session) => {
      const layers = await listLayers(session, deps.schemas)
      const systems = new Map<number, readonly Crs[]>()
      for (const srid of new Set(layers.map((layer) => layer.srid || 4326)))
        systems.set(srid, await offeredSystems(session, srid))
      return layers.map((layer) => ({ ...layer, systems: systems.get(layer.srid || 4326)! }))
    })
    const collections = []
    for (const { schema, name, comment, systems } of listed) {
      const bounds = listed.length <= MOST_EXTENTS ? await boundsInList(deps, request, schema, name) : null
      const described = { id: `${schema}.${name}`, comment, systems, bounds }
      collections.push(documents.collectionDocument(baseOf(request), described))
    }
    return respond(request, reply, 'Collections', { collections })
  })
  scope.get('/collections/:collection', { config }, async (request, reply) => {
    readKnown(request)
    const document = await withCollection(deps, request, true, async (session, collection) =>
      documents.collectionDocument(baseOf(request), {
        id: collection.id,
        comment: collection.layer.comment,
        systems: collection.systems,
        bounds: await boundsOf(session, collection.layer),
      }),
    )
    return respond(request, reply, document.id, document)
  })
  scope.get('/collections/:collection/queryables', { config }, async (request, reply) => {
    readKnown(request)
    const url = selfOf(request).split('?', 1)[0]!
    const document = await withCollection(deps, request, true, async (_, collection) =>
      documents.queryablesDocument(url, collection),
    )
    return respond(request, reply, `Properties of ${document.title}`, document, documents.SCHEMA_JSON)
  })
}

/** Bounds of a table in the list; null when they cannot be read, so that other tables are still listed. */
async function boundsInList(deps: OgcDeps, request: FastifyRequest, schema: string, name: string) {
  const read = runAs(deps.database, listingAs(deps, request), async (session) =>
    boundsOf(session, await findLayer(session, schema, name, null)),
  )
  return read.catch(() => null)
}

function tileRoutes(scope: Http, deps: OgcDeps): void {
  const config = { quiet: true }
  const TILES = '/collections/:collection/tiles'
  const tilesetOf = (request: FastifyRequest) =>
    withCollection(deps, request, true, async (_, collection) => documents.tileset(baseOf(request), collection))
  scope.get(TILES, { config }, async (request, reply) => {
    readKnown(request)
    const set = await tilesetOf(request)
    return respond(request, reply, `Tiles of ${set.title}`, { tilesets: [set] })
  })
  scope.get(`${TILES}/:set`, { config }, async (request, reply) => {
    readKnown(request)
    requireMercator(request)
    const set = await tilesetOf(request)
    return respond(request, reply, `Tiles of ${set.title}`, set)
  })
  scope.get(
    `${TILES}/:set/:z/:y/:x`,
    { config },
    abortOnDisconnect(async (request, reply, signal) => {
      readKnown(request)
      requireMercator(request)
      const { collection: id, z, x, y } = request.params as { collection: string; z: string; x: string; y: string }
      const place = placeOf({ z, x, y }, (detail) => badParameter('tileMatrix, tileRow or tileCol', detail))
      const dot = id.indexOf('.')
      const source = { schema: id.slice(0, Math.max(dot, 0)), table: id.slice(dot + 1) }
      await withCollection(deps, request, true, async () => null)
      return deps.tiles.send(request, reply, { ...place, sources: [source], parameters: new URLSearchParams() }, signal)
    }),
  )
}

function requireMercator(request: FastifyRequest): void {
  const { set } = request.params as { set: string }
  if (set !== 'WebMercatorQuad') throw noSetOfTiles(set.slice(0, 100))
}
