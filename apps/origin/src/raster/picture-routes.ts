import { boundsBetween, type CrsBounds, type WantedSize } from '@terrane/tiling/raster'
import type { Http } from '@terrane/service'
import { Type } from 'typebox'
import type { FastifyRequest } from 'fastify'
import { abortOnDisconnect } from '../abort-on-disconnect.ts'
import { areaOfTile, boxAndFormatOf, previewOf, readTileAddress, tileSetOf } from './addresses.ts'
import { MAX_SHAPE_BYTES, readFeature } from './feature.ts'
import { boxOf, coordinateCrsOf, epsgOf, targetCrsOf, type RequestBox } from './crs-parameters.ts'
import { MAP_PARAMETERS, formatOf, integer, maskOf, readStyle, sideOf, sizeOf } from './parameters.ts'

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
  mapRoute(app, pictures)
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
    const area = wholeArea(request, size, epsgOf('dst_crs', queryOf(request).get('dst_crs')))
    return pictures.send(request, reply, signal, { picture: { ...styled(request, format), area }, box: null })
  })
  app.get('/raster/v1/preview', options, preview)
  app.get('/raster/v1/preview.:format', options, preview)
  app.get('/raster/v1/preview/:size', options, preview)
}

function boxRoutes(app: Http, pictures: Pictures): void {
  const box = abortOnDisconnect(async (request, reply, signal) => {
    const { box: text, size: sizeText } = request.params as { box: string; size?: string }
    const { area: found, size, format } = boxAndFormatOf(text, sizeText, coordinateCrsOf(queryOf(request)))
    const area = boxArea(request, { ...found, size, shape: null })
    return pictures.send(request, reply, signal, { picture: { ...styled(request, format), area }, box: found.box })
  })
  app.get('/raster/v1/bbox/:box', options, box)
  app.get('/raster/v1/bbox/:box/:size', options, box)

  const feature = abortOnDisconnect(async (request, reply, signal) => {
    const { size: text, format: ending } = request.params as { size?: string; format?: string }
    const { size, format } = previewOf(text, ending)
    const found = readFeature(request.body, coordinateCrsOf(queryOf(request)))
    const area = boxArea(request, { ...found, size })
    return pictures.send(request, reply, signal, { picture: { ...styled(request, format), area }, box: found.box })
  })
  for (const path of ['feature', 'feature.:format', 'feature/:size'])
    app.post(`/raster/v1/${path}`, { ...options, bodyLimit: MAX_SHAPE_BYTES }, feature)
}

type WholeArea = Extract<PictureRequest['area'], { type: 'preview' }>

function wholeArea(request: FastifyRequest, size: WantedSize | null, crs: number | null): WholeArea {
  const wanted = { maxSize: maxSideOf(request), size: size ?? sizeOf(queryOf(request)) }
  return { type: 'preview', ...wanted, ...(crs !== null && { crs }) }
}

/** A picture by the parameters of OGC API Maps: `bbox`, `bbox-crs`, `crs`, `width`, `height` and `f`. */
function mapRoute(app: Http, pictures: Pictures): void {
  const map = abortOnDisconnect(async (request, reply, signal) => {
    const query = queryOf(request)
    const [crs, text] = [epsgOf('crs', query.get('crs')), query.get('bbox')]
    const boundsCrs = epsgOf('bbox-crs', query.get('bbox-crs')) ?? 4326
    const found = text === null ? null : boxOf(withoutHeights(text), boundsCrs)
    const wanted = { size: sizeOf(query), maxSize: DEFAULT_SIDE, crs }
    const area: PictureRequest['area'] = found
      ? { type: 'box', bounds: found.bounds, boundsCrs, shape: null, ...wanted }
      : { ...wholeArea(request, null, null), crs }
    const style = readStyle(query, MAP_PARAMETERS)
    const format = formatOf(query.get('f') ?? undefined, request.headers.accept)
    const picture = { kind: 'picture', style, format, mask: maskOf(query), area } as const
    const about = await pictures.describe(request, signal, found && found.box)
    void reply.headers(placeHeaders(found ?? { bounds: about.ownBounds, boundsCrs: about.epsg }, crs ?? about.epsg))
    return pictures.send(request, reply, signal, { picture, box: found && found.box })
  })
  app.get('/raster/v1/map', options, map)
}

/** Headers with the bounds and the CRS of a picture (OGC API Maps); none when the CRS has no code. */
function placeHeaders(
  { bounds, boundsCrs }: { readonly bounds: CrsBounds; readonly boundsCrs: number | null },
  crs: number | null,
): Record<string, string> {
  if (crs === null || boundsCrs === null) return {}
  return {
    'content-bbox': boundsBetween(bounds, boundsCrs, crs).join(),
    'content-crs': `<http://www.opengis.net/def/crs/EPSG/0/${crs}>`,
  }
}

/** A box of six numbers without the two heights. */
function withoutHeights(text: string): string {
  const parts = text.split(',')
  return parts.length === 6 ? [parts[0], parts[1], parts[3], parts[4]].join() : text
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

function boxArea(
  request: FastifyRequest,
  { bounds, boundsCrs, size, shape }: RequestBox & Pick<BoxArea, 'size' | 'shape'>,
): BoxArea {
  const query = queryOf(request)
  const wanted = { size: size ?? sizeOf(query), maxSize: maxSideOf(request), crs: targetCrsOf(query) }
  return { type: 'box', bounds, boundsCrs, shape, ...wanted }
}
