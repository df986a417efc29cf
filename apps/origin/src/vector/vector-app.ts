import { createHash } from 'node:crypto'
import { forbidden, publicLimitsOf, type Principal } from '@terrane/auth'
import type { Session } from '@terrane/database'
import { Parameters, parseQuery } from '@terrane/database/rest-query'
import { readParameters, type Http } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { LEAST_BYTES, addVary, compress, compressAnswers, encodingFor, type Encoding } from '../compression.ts'
import { abortOnDisconnect } from '../abort-on-disconnect.ts'
import { toRestError } from '../rest/errors.ts'
import { beginAs, runAs, type RunAs } from '../rest/execute.ts'
import type { RestDeps } from '../rest/call.ts'
import { answerBytesOf } from '../rest/limits.ts'
import { sourceOf } from '../rest/source-of.ts'
import { mayAskFor } from '../publishable-keys.ts'
import { badTile, noSuchLayer } from './errors.ts'
import { boundsOf } from './layer-bounds.ts'
import { findLayer, listLayers, type Layer } from './layer.ts'
import { encodeRows } from './encode-rows.ts'
import { columnStats } from './stats-route.ts'
import { wholeOf } from './whole-of.ts'
import { tileSql, type TileQuery } from './tile-sql.ts'

type VectorDeps = Pick<RestDeps, 'database' | 'schemas' | 'limits' | 'authenticate'> & {
  /** How long a tile is given again to the same caller; 0 for never. */
  readonly tileMs: number
}

interface Kinds {
  readonly layers: LRUCache<string, Layer>
  readonly tiles: LRUCache<string, Given>
}

interface Drawn {
  readonly tile: Buffer
}

/** A tile with its tag, and what it was compressed to for who asked; without bytes where it shows nothing. */
interface Given {
  readonly bytes: Buffer | null
  readonly etag: string
  readonly packed: Map<Encoding, Promise<Buffer>>
}

/** A tile is 2.4 m wide at the equator; positions of our own encoder are to 4 cm. */
const MAX_ZOOM = 24
/** Parameters that are no filters. */
const OWN: ReadonlySet<string> = new Set(['properties', 'limit', 'buffer', 'apikey'])
const MAX_FEATURES = 50_000
/** As Martin has it. */
const BUFFER = 64
/** Query timeout in milliseconds; same default as pg_tileserv. */
const TIMEOUT_MS = 10_000
/** A table that was changed is looked up anew as soon as a statement fails for it. */
const LAYER_MS = 5000
const MOST_LAYERS = 500
const TILE_BYTES = 32 * 1024 * 1024
/** Bytes that an entry of the cache takes beside its tile. */
const ENTRY_BYTES = 200
/** No such column or table, or not the caller's any more. */
const CHANGED: ReadonlySet<unknown> = new Set(['42703', '42P01', '42501'])

/**
 * `/vector/v1`: tiles of any table or view with a geometry, made on request under the caller's role: `catalog`,
 * `{schema.table}` (TileJSON), `{schema.table}/stats` and `{schema.table}/{z}/{x}/{y}`, with the filters of `/rest/v1` and
 * `properties`, `limit`, `buffer`.
 */
export async function vectorRoutes(app: Http, deps: VectorDeps): Promise<void> {
  const kept: Kinds = {
    layers: new LRUCache({ max: MOST_LAYERS, ttl: LAYER_MS }),
    // What a tile is compressed to takes about as much again.
    tiles: new LRUCache({
      maxSize: TILE_BYTES,
      sizeCalculation: ({ bytes }) => 2 * (ENTRY_BYTES + (bytes?.byteLength ?? 0)),
      ttl: deps.tileMs,
    }),
  }
  await app.register(
    async (scope) => {
      scope.setErrorHandler((thrown, request, reply) => {
        const error = toRestError(thrown, request.restCaller?.role === 'anon')
        if (error.status >= 500) request.log.error({ err: thrown }, 'request failed')
        if (error.status === 401) reply.header('www-authenticate', 'Bearer')
        void reply.code(error.status).type('application/json; charset=utf-8').send(JSON.stringify(error.toBody()))
      })
      compressAnswers(scope)
      scope.addHook('onRequest', async (request) => {
        const principal = await deps.authenticate(request)
        request.restCaller = principal
        if (request.raw.url?.includes('%00')) throw badTile('a zero byte is part of no name and no value')
        requireShown(deps, request, principal)
      })
      const config = { quiet: true, isPublic: true }
      scope.get('/catalog', { config }, (request) =>
        asCaller(deps, request, deps.schemas[0] as string, async (session) => {
          const all = await listLayers(session, deps.schemas)
          const layers = all.filter(({ schema, name }) => mayAskFor(request.restCaller as Principal, schema, name))
          return { tiles: Object.fromEntries(layers.map(({ schema, name, ...about }) => [`${schema}.${name}`, about])) }
        }),
      )
      scope.get('/:source', { config }, (request) => tileJson(deps, request))
      scope.get(
        '/:source/stats',
        { config: { quiet: true } },
        abortOnDisconnect((request, _, signal) =>
          columnStats({ ...deps, database: deps.database.withSignal(signal) }, request),
        ),
      )
      scope.get(
        '/:source/:z/:x/:file',
        { config },
        abortOnDisconnect((request, reply, signal) => sendTile(deps, kept, request, reply, signal)),
      )
    },
    { prefix: '/vector/v1' },
  )
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Publishable keys may ask for it. */
    readonly isPublic?: boolean
  }
}

/** Holds publishable keys to their tables, and to the routes that maps draw from. */
function requireShown(deps: VectorDeps, request: FastifyRequest, principal: Principal): void {
  if (publicLimitsOf(principal) === null) return
  if (request.routeOptions.config.isPublic !== true) throw forbidden({ need: 'a key in the header apikey' })
  if ((request.params as { source?: string }).source === undefined) return
  const { schema, table } = sourceOf(deps.schemas, request)
  if (!mayAskFor(principal, schema, table)) throw noSuchLayer(schema, table)
}

async function sendTile(
  deps: VectorDeps,
  kept: Kinds,
  request: FastifyRequest,
  reply: FastifyReply,
  signal: AbortSignal,
): Promise<FastifyReply> {
  const { schema, table } = sourceOf(deps.schemas, request)
  const { properties, query } = queryOf(request)
  const { role, claims } = request.restCaller as Principal
  // Row-level security decides by role and claims: what one caller was given no other is.
  const name = JSON.stringify([role, claims, schema, table, properties, query])
  let given = kept.tiles.get(name)
  if (given === undefined) {
    const layerName = JSON.stringify([role, schema, table, properties])
    const there = { ...deps, database: deps.database.withSignal(signal) }
    const find = async () => {
      const found = await asCaller(there, request, schema, (session) => findLayer(session, schema, table, properties))
      kept.layers.set(layerName, found)
      return found
    }
    const known = kept.layers.get(layerName)
    const tile = await drawTile(there, request, known ?? (await find()), query).catch(async (error: unknown) => {
      if (!known || !CHANGED.has((error as { code?: unknown }).code)) throw error
      kept.layers.delete(layerName)
      return drawTile(there, request, await find(), query)
    })
    given = tagged(tile)
    if (deps.tileMs > 0) kept.tiles.set(name, given)
  }
  return await sendGiven(request, reply, given)
}

/** Each encoding has a tag of its own: a tag names bytes. */
async function sendGiven(
  request: FastifyRequest,
  reply: FastifyReply,
  { bytes, etag, packed }: Given,
): Promise<FastifyReply> {
  reply.headers({ 'cache-control': 'private, no-cache', vary: 'apikey, Authorization' })
  if (bytes === null) return reply.code(204).send()
  addVary(reply, 'Accept-Encoding')
  const encoding = bytes.length < LEAST_BYTES ? null : encodingFor(request)
  const tag = encoding === null ? etag : `${etag.slice(0, -1)}-${encoding}"`
  reply.header('etag', tag)
  if (request.headers['if-none-match']?.split(',').some((one) => one.trim().replace(/^W\//, '') === tag)) {
    return reply.code(304).send()
  }
  reply.type('application/vnd.mapbox-vector-tile')
  if (encoding === null) return reply.send(bytes)
  const known = packed.get(encoding) ?? compress(bytes, encoding)
  packed.set(encoding, known)
  return reply.header('content-encoding', encoding).send(await known)
}

function tagged(tile: Uint8Array | null): Given {
  const packed = new Map<Encoding, Promise<Buffer>>()
  if (tile === null || tile.length === 0) return { bytes: null, etag: '', packed }
  const etag = `"${createHash('sha256').update(tile).digest('base64url').slice(0, 27)}"`
  return { bytes: Buffer.from(tile.buffer, tile.byteOffset, tile.byteLength), etag, packed }
}

async function drawTile(
  deps: VectorDeps,
  request: FastifyRequest,
  layer: Layer,
  query: TileQuery,
): Promise<Uint8Array | null> {
  const { database } = deps
  if (database.capabilities.engine === 'pglite')
    return asCaller(deps, request, layer.schema, (session) => encodeRows(session, layer, query))
  const parameters = new Parameters()
  const text = tileSql(layer, query, parameters)
  const as = caller(request, layer.schema)
  const { rows } =
    parameters.values.length === 0
      ? await database.withAnswerBytes(answerBytesOf(as.principal)).statement<Drawn>(text, beginAs(as))
      : await asCaller(deps, request, layer.schema, (session) => session.query<Drawn>(text, parameters.values))
  return rows[0]?.tile ?? null
}

async function tileJson(deps: VectorDeps, request: FastifyRequest): Promise<Record<string, unknown>> {
  const { schema, table } = sourceOf(deps.schemas, request)
  const { properties } = queryOf(request)
  // Read by the server's own role, since callers may not read the catalogue; sent only for a layer that the caller may read.
  const { rows } = await deps.database.query<{ attribution: string }>(
    'select attribution from terrane.imports where table_schema = $1 and table_name = $2',
    [schema, table],
  )
  const attribution = rows[0]?.attribution
  return asCaller(deps, request, schema, async (session) => {
    const layer = await findLayer(session, schema, table, properties)
    const bounds = await boundsOf(session, layer)
    const path = request.url.split('?', 1)[0] ?? ''
    const query = parametersOf(request).toString()
    return {
      tilejson: '3.0.0',
      name: `${schema}.${table}`,
      ...(layer.comment !== null && { description: layer.comment }),
      ...(attribution && { attribution }),
      scheme: 'xyz',
      tiles: [`${request.protocol}://${request.host}${path}/{z}/{x}/{y}${query === '' ? '' : `?${query}`}`],
      minzoom: 0,
      maxzoom: MAX_ZOOM,
      bounds,
      vector_layers: [
        {
          id: table,
          description: layer.comment ?? '',
          minzoom: 0,
          maxzoom: MAX_ZOOM,
          geometry_type: layer.geometryType,
          fields: Object.fromEntries(
            layer.properties.map(({ name, type }) => [
              name,
              { text: 'String', bool: 'Boolean' }[type as string] ?? 'Number',
            ]),
          ),
        },
      ],
    }
  })
}

/** Work in a transaction of its own that reads, under the caller's role. */
async function asCaller<T>(
  deps: VectorDeps,
  request: FastifyRequest,
  schema: string,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  return runAs(deps.database, caller(request, schema), work)
}

function caller(request: FastifyRequest, schema: string): RunAs {
  const principal = request.restCaller as Principal
  return { principal, schema, readOnly: true, rollback: false, timeoutMs: TIMEOUT_MS }
}

function queryOf(request: FastifyRequest): { properties: readonly string[] | null; query: TileQuery } {
  const parameters = parametersOf(request)
  const listed = parameters.get('properties')
  const properties = listed === null ? null : listed.split(',').filter((name) => name !== '')
  const limit = wholeOf(parameters.get('limit'), 'limit', 1, MAX_FEATURES) ?? MAX_FEATURES
  const buffer = wholeOf(parameters.get('buffer'), 'buffer', 0, 1024) ?? BUFFER
  for (const name of OWN) parameters.delete(name)
  const { conditions } = parseQuery(parameters)
  const { z: zText, x: xText, file } = request.params as { z?: string; x?: string; file?: string }
  const z = wholeOf(zText ?? '0', 'z', 0, MAX_ZOOM) ?? 0
  const last = 2 ** z - 1
  const x = wholeOf(xText ?? '0', 'x', 0, last) ?? 0
  const y = wholeOf((file ?? '0').replace(/\.(pbf|mvt)$/, ''), 'y', 0, last) ?? 0
  return { properties, query: { z, x, y, buffer, limit, conditions } }
}

/** Filters may stand several times. */
function parametersOf(request: FastifyRequest): URLSearchParams {
  return readParameters(request, (name) => !OWN.has(name))
}
