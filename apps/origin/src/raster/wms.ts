import type { Http } from '@terrane/service'
import { toLngLat, type RenderPool } from '@terrane/tiling/raster'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { abortOnDisconnect } from '../abort-on-disconnect.ts'
import { boxOf, epsgOf, type RequestBox } from './crs-parameters.ts'
import { badParameter, notOffered } from './errors.ts'
import { formatOf, integer, number, oneOf, readStyle, sideOf, truth } from './parameters.ts'
import type { Pictures } from './pictures.ts'
import { queryOf, type FindRaster } from './request.ts'
import { FORMATS, INFO_FORMATS, VERSIONS, isXFirst, wmsCapabilities } from './wms-capabilities.ts'
import { wmsExceptions } from './wms-exceptions.ts'
import { escapeXml } from './wmts.ts'

const PATH = '/raster/v1/wms'

/** `/raster/v1/wms`: a raster as a layer of a Web Map Service; `LAYERS` or `url` names it, further parameters are those of pictures. */
export function wmsRoute(
  app: Http,
  { pictures, pool, find }: { pictures: Pictures; pool: RenderPool; find: FindRaster },
): void {
  const ask = abortOnDisconnect(async (request, reply, signal) => {
    const wms = parametersOf(request)
    const wanted = oneOf('REQUEST', (wms.get('request') ?? '').toLowerCase(), [
      'getcapabilities',
      'getmap',
      'getfeatureinfo',
    ])
    layerOf(wms, 'layers')
    if (wanted === 'getcapabilities') {
      oneOf('SERVICE', (wms.get('service') ?? '').toUpperCase(), ['WMS'])
      const { image, times } = await find(request, signal, null)
      const [about, dates] = [await pool.describe(image, signal), (await times?.()) ?? []]
      const style = new URLSearchParams([...queryOf(request)].filter(([name]) => !NAMES.has(name.toLowerCase())))
      return reply.type('text/xml').send(wmsCapabilities(request, about, { wms, style, dates }))
    }
    const map = mapOf(wms)
    if (wanted === 'getmap') return getMap(request, reply, { wms, map, pictures, signal })
    const position = positionOf(wms, map)
    const { image } = await find(request, signal, [...position, ...position])
    const area = { type: 'point', position } as const
    const found = await pool.point(image, { kind: 'point', area, style: styleOf(request) }, signal)
    // A place outside of the raster has no features, which is an empty answer in WMS.
    const { values, names } = found ?? { values: [], names: [] }
    const media = oneOf('INFO_FORMAT', wms.get('info_format') || 'text/plain', INFO_FORMATS)
    if (media === 'application/json') {
      const properties = Object.fromEntries(names.map((name, i) => [name, values[i]]))
      const features = found
        ? [{ type: 'Feature', geometry: { type: 'Point', coordinates: position }, properties }]
        : []
      // QGIS takes coordinates without `crs` for those of the map.
      return { type: 'FeatureCollection', crs: CRS84, features, values, band_names: names }
    }
    if (media === 'text/plain') return reply.type(media).send(values.join())
    const rows = values.map((value, i) => `<tr><th>${escapeXml(names[i]!)}</th><td>${value ?? ''}</td></tr>`)
    return reply.type(media).send(`<table>${rows.join('')}</table>`)
  })
  const query = Type.Object({}, { additionalProperties: Type.Unsafe({}) })
  app.get(PATH, { schema: { querystring: query }, config: { quiet: true }, errorHandler: wmsExceptions }, ask)
}

/** Longitude and latitude, as the first edition of GeoJSON named it. */
const CRS84 = { type: 'name', properties: { name: 'urn:ogc:def:crs:OGC:1.3:CRS84' } }

/** Parameters of WMS, whose names are written in any case; the others are those of pictures. */
const NAMES = new Set(
  'service request version layers styles crs srs bbox width height format transparent bgcolor exceptions time elevation sld sld_body query_layers info_format feature_count i j x y dpi map_resolution format_options'.split(
    ' ',
  ),
)

/** A time, or two and a resolution. */
const TIME = /^(?:current|\d{4}-\d\d-\d\d[^,/]*(?:\/\d{4}-\d\d-\d\d[^,/]*(?:\/P\w+)?)?)?$/i

function parametersOf(request: FastifyRequest): URLSearchParams {
  const found = new URLSearchParams()
  for (const [name, value] of queryOf(request)) {
    const plain = name.toLowerCase()
    if (!NAMES.has(plain)) continue
    if (found.has(plain)) throw badParameter({ name, value: value.slice(0, 60), wanted: 'one value is wanted' })
    found.set(plain, value)
  }
  // Clients remove LAYERS from the address of the capabilities, but not `url`.
  const url = queryOf(request).get('url')
  if (url !== null && (found.get('layers') ?? url) !== url)
    throw badParameter({ name: 'url', value: url.slice(0, 100), wanted: 'the layer of LAYERS is wanted' })
  if (url !== null) found.set('layers', url)
  const isMosaic = found.get('layers')?.startsWith('embeddings:') ?? false
  for (const name of [...(isMosaic ? [] : ['time']), 'elevation', 'sld', 'sld_body'])
    if (found.get(name)) throw notOffered({ name: name.toUpperCase() })
  const time = found.get('time') ?? ''
  // The third part is a resolution.
  const dates = /^current$/i.test(time) || time === '' ? [] : time.split('/', 2)
  if (TIME.test(time) && dates.every((date) => Number.isFinite(Date.parse(date)))) return found
  throw badParameter({
    name: 'TIME',
    value: time.slice(0, 60),
    wanted: 'a date or a time such as 2025-06-01T10:00:00Z, or two with / between them, is wanted',
  })
}

/** The style by the parameters that are not of WMS. */
function styleOf(request: FastifyRequest) {
  return readStyle(new URLSearchParams([...queryOf(request)].filter(([name]) => !NAMES.has(name.toLowerCase()))))
}

/** The parameters that name a source: for WMS, `LAYERS` is the `url`, and `TIME` gives `since` and `until`. */
export function sourceQuery(request: FastifyRequest): URLSearchParams {
  const query = queryOf(request)
  if (request.routeOptions.url !== PATH) return query
  const valueOf = (wanted: string) => [...query].find(([name]) => name.toLowerCase() === wanted)?.[1] ?? ''
  const [since = '', until = since] = valueOf('time')
    .replace(/^current$/i, '')
    .split('/')
  const found = new URLSearchParams(query)
  found.set('url', query.get('url') ?? valueOf('layers'))
  if (since !== '') found.set('since', since)
  if (until !== '') found.set('until', until)
  return found
}

/** @throws BAD_PARAMETER without a layer, and with several */
function layerOf(wms: URLSearchParams, name: 'layers' | 'query_layers'): string {
  const layer = wms.get(name) ?? ''
  if (layer !== '' && !/,(?:storage|https?|embeddings):/.test(layer)) return layer
  throw badParameter({
    name: name.toUpperCase(),
    value: layer.slice(0, 100),
    wanted: 'the url of one raster is wanted',
  })
}

interface WmsMap extends RequestBox {
  readonly width: number
  readonly height: number
}

/** Box and size of a map. EPSG:4326 has latitude first in version 1.3.0. @throws BAD_PARAMETER */
function mapOf(wms: URLSearchParams): WmsMap {
  const version = oneOf('VERSION', wms.get('version') ?? '', VERSIONS)
  const text = wms.get('crs') ?? wms.get('srs') ?? ''
  const epsg = epsgOf('CRS', text === 'CRS:84' ? 'CRS84' : text)!
  const isLatFirst = version === '1.3.0' && epsg === 4326 && !/CRS:?84$/i.test(text)
  if (version === '1.3.0' && epsg !== 4326 && !isXFirst(epsg)) {
    throw badParameter({
      name: 'CRS',
      value: text,
      wanted: 'for this CRS VERSION=1.1.1 is wanted, where x comes first',
    })
  }
  const [a, b, c, d] = (wms.get('bbox') ?? '').split(',')
  const box = boxOf(isLatFirst ? [b, a, d, c].join() : (wms.get('bbox') ?? ''), epsg)
  return {
    ...box,
    width: sideOf('WIDTH', wms.get('width') ?? '', 0),
    height: sideOf('HEIGHT', wms.get('height') ?? '', 0),
  }
}

interface MapRequest {
  readonly wms: URLSearchParams
  readonly map: WmsMap
  readonly pictures: Pictures
  readonly signal: AbortSignal
}

function getMap(request: FastifyRequest, reply: FastifyReply, { wms, map, pictures, signal }: MapRequest) {
  const { width, height, box, bounds, boundsCrs } = map
  oneOf('STYLES', wms.get('styles') ?? '', ['', 'default'])
  const media = (wms.get('format') ?? '').split(';')[0]!.trim().replace('image/jpg', 'image/jpeg')
  const format = formatOf(FORMATS[oneOf('FORMAT', media, Object.keys(FORMATS) as (keyof typeof FORMATS)[])], undefined)
  const mask = truth('TRANSPARENT', wms.get('transparent') ?? 'false')
  const area = {
    type: 'box',
    bounds,
    boundsCrs,
    crs: boundsCrs,
    shape: null,
    size: [width, height],
    maxSize: width,
  } as const
  return pictures.send(request, reply, signal, {
    picture: { kind: 'picture', style: styleOf(request), format, mask, area, background: backgroundOf(wms) },
    box,
  })
}

/** The color of `BGCOLOR`, which is white unless given. @throws BAD_PARAMETER */
function backgroundOf(wms: URLSearchParams): string {
  const text = wms.get('bgcolor') ?? '0xFFFFFF'
  const [, digits] = /^(?:0x|#)([0-9a-f]{6})$/i.exec(text) ?? []
  if (digits !== undefined) return `#${digits.toLowerCase()}`
  throw badParameter({
    name: 'BGCOLOR',
    value: text.slice(0, 60),
    wanted: '0x and six digits of hexadecimal are wanted',
  })
}

/** Longitude and latitude of the centre of the requested pixel. @throws BAD_PARAMETER */
function positionOf(wms: URLSearchParams, { bounds, boundsCrs, width, height }: WmsMap): readonly [number, number] {
  if (layerOf(wms, 'query_layers') !== layerOf(wms, 'layers'))
    throw badParameter({
      name: 'QUERY_LAYERS',
      value: wms.get('query_layers')!.slice(0, 100),
      wanted: 'the layer of LAYERS is wanted',
    })
  const [column, row] = [
    integer('I', wms.get('i') ?? wms.get('x') ?? '', 0, width - 1),
    integer('J', wms.get('j') ?? wms.get('y') ?? '', 0, height - 1),
  ]
  const [left, bottom, right, top] = bounds
  const x = left + ((column + 0.5) * (right - left)) / width
  const y = top - ((row + 0.5) * (top - bottom)) / height
  const [lng, lat] = toLngLat(boundsCrs)(x, y)
  return [number('I', String(((lng + 540) % 360) - 180)), number('J', String(lat))]
}
