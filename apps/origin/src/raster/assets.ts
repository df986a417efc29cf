import type { Http } from '@terrane/service'
import type { LngLatBox } from '@terrane/tiling/raster'
import type { FastifyRequest } from 'fastify'
import { abortOnDisconnect } from '../abort-on-disconnect.ts'
import { areaOfTile, readTileAddress, tileSetOf } from './addresses.ts'
import { boxOf, coordinateCrsOf } from './crs-parameters.ts'
import { integer } from './parameters.ts'
import { options, queryOf, type ListAssets } from './request.ts'
import { placeOf } from './value-routes.ts'

const MAX_ASSETS = 1000

/** Names of the assets of a STAC item, and the sources of a mosaic at a place. */
export function assetRoutes(app: Http, list: ListAssets): void {
  const areas: Readonly<Record<string, (request: FastifyRequest) => LngLatBox | null>> = {
    assets: () => null,
    'point/:place/assets': (request) => {
      const [lng, lat] = placeOf((request.params as { place: string }).place, queryOf(request)).position
      return [lng, lat, lng, lat]
    },
    'bbox/:box/assets': (request) =>
      boxOf((request.params as { box: string }).box, coordinateCrsOf(queryOf(request))).box,
    'tiles/:tms/:z/:x/:file/assets': (request) => {
      const set = tileSetOf(request)
      return areaOfTile(readTileAddress(request.params as { z: string; x: string; file: string }, set), set, 0)
    },
  }
  for (const [path, areaOf] of Object.entries(areas)) {
    app.get(
      `/raster/v1/${path}`,
      options,
      abortOnDisconnect(async (request, _reply, signal) => {
        const most = integer('limit', queryOf(request).get('limit') ?? String(MAX_ASSETS), 1, MAX_ASSETS)
        return list(request, signal, areaOf(request), most)
      }),
    )
  }
}
