import type { Http } from '@terrane/service'
import type { LngLatBox, RenderPool } from '@terrane/tiling/raster'
import type { FastifyRequest } from 'fastify'
import { abortOnDisconnect } from '../abort-on-disconnect.ts'
import { assetRoutes } from './assets.ts'
import { tileSetOf } from './addresses.ts'
import { epsgOf } from './crs-parameters.ts'
import { infoBody, infoFeature, tileJson } from './documents.ts'
import { listRoutes } from './lists.ts'
import { readStyle } from './parameters.ts'
import { pictureRoutes } from './picture-routes.ts'
import { Pictures } from './pictures.ts'
import { options, queryOf, type FindRaster, type ListAssets } from './request.ts'
import { findAssets, findRaster } from './resolve.ts'
import { choiceOfAsset, readSourceChoice } from './source-choice.ts'
import type { RasterSources, SourceRequest } from './sources.ts'
import { valueRoutes } from './value-routes.ts'
import { sourceQuery, wmsRoute } from './wms.ts'
import { wmtsCapabilities } from './wmts.ts'

export interface RasterDeps extends RasterSources {
  readonly pool: RenderPool
}

/** `/raster/v1`: pictures and values of rasters made on request, with TiTiler's paths and parameters. */
export async function rasterRoutes(app: Http, deps: RasterDeps): Promise<void> {
  const find: FindRaster = (request, signal, area, asset = null) => {
    const asked = askedOf(request, signal, area)
    return findRaster(deps, request, asset === null ? asked : { ...asked, choice: choiceOfAsset(asked.choice, asset) })
  }
  const list: ListAssets = (request, signal, area, most) =>
    findAssets(deps, request, askedOf(request, signal, area), most)
  assetRoutes(app, list)
  const pictures = new Pictures(deps.pool, find)
  pictureRoutes(app, pictures)
  wmsRoute(app, { pictures, pool: deps.pool, find })
  documentRoutes(app, deps.pool, find)
  const values = { pool: deps.pool, find, list }
  valueRoutes(app, values)
  listRoutes(app, values)
}

/** Choice and area of a request for its source. */
function askedOf(request: FastifyRequest, signal: AbortSignal, area: LngLatBox | null): SourceRequest {
  const query = sourceQuery(request)
  return { url: query.get('url') ?? '', choice: readSourceChoice(query), area, signal }
}

function documentRoutes(app: Http, pool: RenderPool, find: FindRaster): void {
  const describe = async (request: FastifyRequest, signal: AbortSignal) =>
    pool.describe((await find(request, signal, null)).image, signal)
  app.get(
    '/raster/v1/info',
    options,
    abortOnDisconnect(async (request, _reply, signal) => infoBody(await describe(request, signal))),
  )
  app.get(
    '/raster/v1/info.geojson',
    options,
    abortOnDisconnect(async (request, reply, signal) => {
      const crs = epsgOf('crs', queryOf(request).get('crs'))
      void reply.type('application/geo+json')
      return infoFeature(await describe(request, signal), crs)
    }),
  )
  app.get(
    '/raster/v1/:tms/tilejson.json',
    options,
    abortOnDisconnect(async (request, _reply, signal) => {
      const set = tileSetOf(request)
      const query = queryOf(request)
      readStyle(query)
      return tileJson(request, await describe(request, signal), { query, set })
    }),
  )
  const wmts = abortOnDisconnect(async (request, reply, signal) => {
    const set = tileSetOf(request)
    const query = queryOf(request)
    readStyle(query)
    const text = wmtsCapabilities(request, await describe(request, signal), { query, set })
    return reply.type('application/xml').send(text)
  })
  app.get('/raster/v1/:tms/WMTSCapabilities.xml', options, wmts)
  app.get('/raster/v1/WMTSCapabilities.xml', options, wmts)
}
