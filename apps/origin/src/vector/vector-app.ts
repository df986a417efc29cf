import { forbidden, publicLimitsOf, type Principal } from '@terrane/auth'
import { readComment } from '@terrane/database'
import type { Http } from '@terrane/service'
import type { FastifyRequest } from 'fastify'
import { abortOnDisconnect } from '../abort-on-disconnect.ts'
import { compressAnswers } from '../compression.ts'
import { mayAskFor } from '../publishable-keys.ts'
import type { RestDeps } from '../rest/call.ts'
import { lateAsHouse, sendRestError } from '../rest/errors.ts'
import { runAs } from '../rest/execute.ts'
import { defaultStyle } from './default-style.ts'
import { badTile, noSuchLayer } from './errors.ts'
import { listLayers } from './layer.ts'
import { columnStats } from './stats-route.ts'
import { tileJson } from './tile-json.ts'
import { parametersOf, placeOf, sourcesOf } from './tile-request.ts'
import { FOR_CALLER, readingAs, type TileDeps, type Tiles } from './tiles.ts'

type VectorDeps = TileDeps & Pick<RestDeps, 'authenticate'> & { readonly tiles: Tiles }

/**
 * `/vector/v1`: tiles of any table or view with a geometry and of tile functions, made on request under the caller's
 * role: `catalog`, `{schema.table}` (TileJSON), `{schema.table}/style.json`, `{schema.table}/stats` and
 * `{schema.table}/{z}/{x}/{y}`, with the filters of `/rest/v1` and `properties`, `limit`, `buffer`. Several names,
 * separated by commas, become the layers of one tile.
 */
export async function vectorRoutes(app: Http, deps: VectorDeps): Promise<void> {
  await app.register(
    async (scope) => {
      scope.setErrorHandler((thrown, request, reply) => sendRestError(lateAsHouse(thrown), request, reply))
      compressAnswers(scope, { hasTags: true })
      scope.addHook('onRequest', async (request, reply) => {
        reply.headers(FOR_CALLER)
        const principal = await deps.authenticate(request)
        request.restCaller = principal
        if (request.raw.url?.includes('%00')) throw badTile('a zero byte is part of no name and no value')
        requireShown(deps, request, principal)
      })
      const config = { quiet: true, isPublic: true }
      scope.get('/catalog', { config }, async (request) => {
        const principal = request.restCaller as Principal
        const as = readingAs(principal, deps.schemas[0] as string)
        const all = await runAs(deps.database, as, (session) => listLayers(session, deps.schemas))
        const layers = all.filter(({ schema, name }) => mayAskFor(principal, schema, name))
        const tiles = layers.map(({ schema, name, comment, ...about }) => {
          const { description, attribution } = readComment(comment)
          return [`${schema}.${name}`, { ...about, description, ...(attribution !== null && { attribution }) }]
        })
        return { tiles: Object.fromEntries(tiles) }
      })
      scope.get('/:source', { config }, (request) => tileJson(deps, request, sourcesIn(deps, request)))
      scope.get('/:source/style.json', { config }, async (request) =>
        defaultStyle(await tileJson(deps, request, sourcesIn(deps, request))),
      )
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
        abortOnDisconnect((request, reply, signal) => {
          const { z, x, file } = request.params as { z: string; x: string; file: string }
          const place = placeOf({ z, x, y: file.replace(/\.(pbf|mvt)$/, '') })
          const asked = { ...place, sources: sourcesIn(deps, request), parameters: parametersOf(request) }
          return deps.tiles.send(request, reply, asked, signal)
        }),
      )
    },
    { prefix: '/vector/v1' },
  )
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True when publishable keys may request it. */
    readonly isPublic?: boolean
  }
}

/** Limits publishable keys to their tables, and to the routes that maps need. */
function requireShown(deps: VectorDeps, request: FastifyRequest, principal: Principal): void {
  if (publicLimitsOf(principal) === null) return
  if (request.routeOptions.config.isPublic !== true) throw forbidden({ need: 'a key in the header apikey' })
  if ((request.params as { source?: string }).source === undefined) return
  for (const { schema, table } of sourcesIn(deps, request))
    if (!mayAskFor(principal, schema, table)) throw noSuchLayer(schema, table)
}

function sourcesIn(deps: VectorDeps, request: FastifyRequest) {
  return sourcesOf(deps.schemas, (request.params as { source: string }).source)
}
