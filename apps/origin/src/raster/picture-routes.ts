import type { Http } from '@terrane/service'
import { Type } from 'typebox'
import type { FastifyRequest } from 'fastify'
import { abortOnDisconnect } from '../abort-on-disconnect.ts'
import { areaOfTile, boxAndFormatOf, previewOf, readTileAddress, tileSetOf } from './addresses.ts'
import { MAX_SHAPE_BYTES, readFeature } from './feature.ts'
import { coordinatesOf, formatOf, integer, maskOf, planeOf, readStyle, sideOf, sizeOf } from './parameters.ts'
import type { PictureRequest, Pictures } from './pictures.ts'
import { options, queryOf } from './request.ts'

type BoxArea = Extract<PictureRequest['area'], { type: 'box' }>

const Tile = Type.Object({ z: Type.String(), x: Type.String(), file: Type.String({ maxLength: 40 }) })
const DEFAULT_SIDE = 1024

/** Tiles, previews, boxes and features as files. */
export function pictureRoutes(app: Http, pictures: Pictures): void {
  tileRoutes(app, pictures)
  previewRoutes(app, pictures)
  boxRoutes(app, pictures)
}

function tileRoutes(app: Http, pictures: Pictures): void {
  app.get(
    '/raster/v1/tiles/:tms/:z/:x/:file',
    { ...options, schema: { ...options.schema, params: Tile } },
    abortOnDisconnect(async (request, reply, signal) => {
      const set = tileSetOf(request)
      const params = request.params as { z: string; x: string; file: string }
      const { scale, extension, ...place } = readTileAddress(params, set)
      const query = queryOf(request)
      const size = sideOf('tilesize', query.get('tilesize'), 256 * scale)
      const buffer = query.has('buffer') ? integer('buffer', query.get('buffer') as string, 0, 256) : 0
      const area = { type: 'tile', set, ...place, size, buffer } as const
      const box = areaOfTile(place, set, buffer / size)
      return pictures.send(request, reply, signal, { picture: { ...styled(request, extension), area }, box })
    }),
  )
}

function previewRoutes(app: Http, pictures: Pictures): void {
  const preview = abortOnDisconnect(async (request, reply, signal) => {
    const { size: text, format: ending } = request.params as { size?: string; format?: string }
    const { size, format } = previewOf(text, ending)
    const area = { type: 'preview', maxSize: maxSideOf(request), size: size ?? sizeOf(queryOf(request)) } as const
    return pictures.send(request, reply, signal, { picture: { ...styled(request, format), area }, box: null })
  })
  app.get('/raster/v1/preview', options, preview)
  app.get('/raster/v1/preview.:format', options, preview)
  app.get('/raster/v1/preview/:size', options, preview)
}

function boxRoutes(app: Http, pictures: Pictures): void {
  const box = abortOnDisconnect(async (request, reply, signal) => {
    const { box: text, size: sizeText } = request.params as { box: string; size?: string }
    const { box: found, size, format } = boxAndFormatOf(text, sizeText, coordinatesOf(queryOf(request)))
    const area = boxArea(request, { box: found, size, shape: null })
    return pictures.send(request, reply, signal, { picture: { ...styled(request, format), area }, box: found })
  })
  app.get('/raster/v1/bbox/:box', options, box)
  app.get('/raster/v1/bbox/:box/:size', options, box)

  const feature = abortOnDisconnect(async (request, reply, signal) => {
    const { size: text, format: ending } = request.params as { size?: string; format?: string }
    const { size, format } = previewOf(text, ending)
    const { box: found, shape } = readFeature(request.body, coordinatesOf(queryOf(request)))
    const area = boxArea(request, { box: found, size, shape })
    return pictures.send(request, reply, signal, { picture: { ...styled(request, format), area }, box: found })
  })
  for (const path of ['feature', 'feature.:format', 'feature/:size'])
    app.post(`/raster/v1/${path}`, { ...options, bodyLimit: MAX_SHAPE_BYTES }, feature)
}

function styled(request: FastifyRequest, format: string | undefined): Omit<PictureRequest, 'area'> {
  const query = queryOf(request)
  return {
    kind: 'picture',
    style: readStyle(query),
    format: formatOf(format ?? query.get('format') ?? undefined, request.headers.accept),
    mask: maskOf(query),
  }
}

function maxSideOf(request: FastifyRequest): number {
  return sideOf('max_size', queryOf(request).get('max_size'), DEFAULT_SIDE)
}

function boxArea(request: FastifyRequest, of: Pick<BoxArea, 'box' | 'size' | 'shape'>): BoxArea {
  const query = queryOf(request)
  return { type: 'box', ...of, size: of.size ?? sizeOf(query), maxSize: maxSideOf(request), plane: planeOf(query) }
}
