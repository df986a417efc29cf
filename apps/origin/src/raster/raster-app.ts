import type { Http } from '@terrane/service'
import type { RenderPool } from '@terrane/tiling/raster'
import type { FastifyRequest } from 'fastify'
import { abortOnDisconnect } from '../abort-on-disconnect.ts'
import { tileSetOf } from './addresses.ts'
import { epsgOf } from './crs-parameters.ts'
import { notOffered } from './errors.ts'
import { infoBody, infoFeature, tileJson } from './documents.ts'
import { readStyle } from './parameters.ts'
import { pictureRoutes } from './picture-routes.ts'
import { Pictures } from './pictures.ts'
import { options, queryOf, type FindRaster } from './request.ts'
import { findRaster } from './resolve.ts'
import { readSourceChoice } from './source-choice.ts'
import type { RasterSources } from './sources.ts'
import { valueRoutes } from './value-routes.ts'
import { layerUrl, wmsRoute } from './wms.ts'
import { wmtsCapabilities } from './wmts.ts'

export interface RasterDeps extends RasterSources {
  readonly pool: RenderPool
}

/** `/raster/v1`: pictures and values of rasters made on request, with TiTiler's paths and parameters. */
export async function rasterRoutes(app: Http, deps: RasterDeps): Promise<void> {
  const find: FindRaster = (request, signal, area) => {
    const query = queryOf(request)
    return findRaster(deps, request, {
      url: query.get('url') ?? layerUrl(query),
      choice: readSourceChoice(query),
      area,
      signal,
    })
  }
  const pictures = new Pictures(deps.pool, find)
  pictureRoutes(app, pictures)
  wmsRoute(app, { pictures, pool: deps.pool, find })
  documentRoutes(app, deps.pool, find)
  valueRoutes(app, deps.pool, find)
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
    if (query.has('zooms')) throw notOffered({ name: 'zooms' })
    readStyle(query)
    const text = wmtsCapabilities(request, await describe(request, signal), { query, set })
    return reply.type('application/xml').send(text)
  })
  app.get('/raster/v1/:tms/WMTSCapabilities.xml', options, wmts)
  app.get('/raster/v1/WMTSCapabilities.xml', options, wmts)
}
