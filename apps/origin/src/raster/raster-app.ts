import { createHash } from 'node:crypto'
import { serialize } from 'node:v8'
import { readParameters, type Http } from '@terrane/service'
import type { PictureFormat, RasterDescription, RenderPool, RenderRequest } from '@terrane/tiling/raster'
import { Type } from 'typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { badParameter, tileOutside } from './errors.ts'
import { formatOf, integer, maskOf, readStyle, sideOf } from './parameters.ts'
import { abortOnDisconnect } from '../abort-on-disconnect.ts'
import { findRaster, type FoundRaster, type RasterSources } from './resolve.ts'

export interface RasterDeps extends RasterSources {
  readonly pool: RenderPool
}

/** A picture; without bytes where it shows nothing. */
interface Drawn {
  readonly bytes: Uint8Array | null
}

const CONTENT_TYPES: Readonly<Record<PictureFormat, string>> = {
  png: 'image/png',
  webp: 'image/webp',
  jpeg: 'image/jpeg',
}
const Url = Type.Object({ url: Type.String({ minLength: 1, maxLength: 2000 }) })
const Tile = Type.Object({ z: Type.String(), x: Type.String(), file: Type.String({ maxLength: 40 }) })
const MAX_ZOOM = 26
const DEFAULT_PREVIEW = 1024
/** What is drawn twice is mostly drawn twice within minutes. */
const PICTURE_BYTES = 48 * 1024 * 1024
/** Bytes that an entry of the cache takes beside its picture. */
const ENTRY_BYTES = 200
/** Cut with the style, so that a changed renderer does not answer with kept pictures. */
const RENDERER = 2

/**
 * `/raster/v1`: pictures of GeoTIFFs made on request, with TiTiler's paths and parameters. `url` is
 * `storage://{bucket}/{path}` or `embeddings://{table}`.
 */
export async function rasterRoutes(app: Http, deps: RasterDeps): Promise<void> {
  const sizeCalculation = ({ bytes }: Drawn) => ENTRY_BYTES + (bytes?.byteLength ?? 0)
  const cache = new LRUCache<string, Drawn>({ maxSize: PICTURE_BYTES, sizeCalculation })
  const schema = { querystring: Url }
  const config = { quiet: true }
  const found = (request: FastifyRequest, signal: AbortSignal) =>
    findRaster(deps, request, queryOf(request).get('url') ?? '', signal)

  app.get(
    '/raster/v1/info',
    { schema, config },
    abortOnDisconnect(async (request, _reply, signal) => {
      const { file } = await found(request, signal)
      return infoBody(await deps.pool.describe(file, signal))
    }),
  )
  app.get(
    '/raster/v1/info.geojson',
    { schema, config },
    abortOnDisconnect(async (request, _reply, signal) => {
      const { file } = await found(request, signal)
      const about = await deps.pool.describe(file, signal)
      return { type: 'Feature', geometry: polygonOf(about.bounds), properties: infoBody(about) }
    }),
  )
  app.get(
    '/raster/v1/:tms/tilejson.json',
    { schema, config },
    abortOnDisconnect(async (request, _reply, signal) => {
      requireMercator(request)
      const query = queryOf(request)
      readStyle(query)
      const { file } = await found(request, signal)
      return tileJson(request, await deps.pool.describe(file, signal), query)
    }),
  )
  app.get(
    '/raster/v1/tiles/:tms/:z/:x/:file',
    { schema: { ...schema, params: Tile }, config },
    abortOnDisconnect(async (request, reply, signal) => {
      requireMercator(request)
      const { z, x, y, scale, extension } = addressOf(request.params as { z: string; x: string; file: string })
      const query = queryOf(request)
      const picture: RenderRequest = {
        type: 'tile',
        z,
        x,
        y,
        size: sideOf('tilesize', query.get('tilesize'), 256 * scale),
        buffer: query.has('buffer') ? integer('buffer', query.get('buffer') as string, 0, 256) : 0,
        style: readStyle(query),
        format: formatOf(extension, request.headers.accept),
        mask: maskOf(query),
      }
      return send(request, reply, signal, picture, tileOutside)
    }),
  )
  const preview = abortOnDisconnect(async (request, reply, signal) => {
    const query = queryOf(request)
    const { size: text, format: ending } = request.params as { size?: string; format?: string }
    const { size, format } = previewOf(text, ending)
    const picture: RenderRequest = {
      type: 'preview',
      maxSize: sideOf('max_size', query.get('max_size'), DEFAULT_PREVIEW),
      size,
      style: readStyle(query),
      format: formatOf(format, request.headers.accept),
      mask: maskOf(query),
    }
    return send(request, reply, signal, picture, tileOutside)
  })
  app.get('/raster/v1/preview', { schema, config }, preview)
  app.get('/raster/v1/preview.:format', { schema, config }, preview)
  app.get('/raster/v1/preview/:size', { schema, config }, preview)

  app.get(
    '/raster/v1/bbox/:box/:size',
    { schema, config },
    abortOnDisconnect(async (request, reply, signal) => {
      const query = queryOf(request)
      const { box, size: text } = request.params as { box: string; size: string }
      const { size, format } = previewOf(text, undefined)
      const picture: RenderRequest = {
        type: 'box',
        box: boxOf(box),
        size: size ?? [256, 256],
        style: readStyle(query),
        format: formatOf(format, request.headers.accept),
        mask: maskOf(query),
      }
      return send(request, reply, signal, picture, tileOutside)
    }),
  )

  /** A picture with a strong ETag of its inputs: a client that has it gets 304 before anything is drawn. */
  async function send(
    request: FastifyRequest,
    reply: FastifyReply,
    signal: AbortSignal,
    picture: Exclude<RenderRequest, { type: 'describe' }>,
    nothing: () => Error,
  ): Promise<FastifyReply> {
    const raster = await found(request, signal)
    // Of what is drawn, not of how it was asked for.
    const name = serialize([RENDERER, raster.file.key, picture])
    const etag = `"${createHash('sha256').update(name).digest('base64url').slice(0, 27)}"`
    reply.headers({ etag, 'cache-control': cacheControl(raster), vary: 'Accept, apikey, Authorization' })
    if (request.headers['if-none-match']?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)) {
      return reply.code(304).send()
    }
    const known = cache.get(etag)
    const { bytes } = known ?? { bytes: await deps.pool.render(raster.file, picture, signal) }
    if (known === undefined) cache.set(etag, { bytes })
    if (bytes === null) throw nothing()
    return reply.type(CONTENT_TYPES[picture.format]).send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  }
}

function cacheControl({ open }: FoundRaster): string {
  return open ? 'public, no-cache' : 'private, no-cache'
}

/** Bands and their ranges are lists. */
function queryOf(request: FastifyRequest): URLSearchParams {
  return readParameters(request, (name) => name === 'bidx' || name === 'rescale')
}

function requireMercator(request: FastifyRequest): void {
  const { tms } = request.params as { tms: string }
  if (tms !== 'WebMercatorQuad')
    throw badParameter({ name: 'tms', value: tms, wanted: 'WebMercatorQuad is the one that is served' })
}

function addressOf(params: { z: string; x: string; file: string }): {
  z: number
  x: number
  y: number
  /** How many pixels stand for one: `@2x`. */
  scale: number
  extension?: string
} {
  const [, scale = '1'] = /@([1-4])x(?=\.|$)/.exec(params.file) ?? []
  const [y = '', extension] = params.file.replace(`@${scale}x`, '').split('.')
  const z = integer('z', params.z, 0, MAX_ZOOM)
  const last = 2 ** z - 1
  return {
    z,
    x: integer('x', params.x, 0, last),
    y: integer('y', y, 0, last),
    scale: Number(scale),
    ...(extension !== undefined && { extension }),
  }
}

/** `west,south,east,north` in degrees. */
function boxOf(text: string): readonly [number, number, number, number] {
  const [west = Number.NaN, south = Number.NaN, east = Number.NaN, north = Number.NaN, ...more] = text
    .split(',')
    .map(Number)
  if (more.length === 0 && west < east && south < north && south >= -85.06 && north <= 85.06)
    return [west, south, east, north]
  throw badParameter({
    name: 'bbox',
    value: text,
    wanted: 'west,south,east,north in degrees, within Web Mercator, is wanted',
  })
}

/** `{w}x{h}` and the format of `/preview/512x256.png`, `/preview.png` and `/preview`. */
function previewOf(
  text: string | undefined,
  ending: string | undefined,
): { size: readonly [number, number] | null; format: string | undefined } {
  if (text === undefined) return { size: null, format: ending }
  const parts = /^(\d+)x(\d+)(?:\.(\w+))?$/.exec(text)
  if (!parts) throw badParameter({ name: 'size', value: text, wanted: '{width}x{height} is wanted' })
  return { size: [sideOf('width', parts[1] as string, 1), sideOf('height', parts[2] as string, 1)], format: parts[3] }
}

/** TileJSON 3.0.0, its tiles with the same parameters. */
function tileJson(request: FastifyRequest, about: RasterDescription, query: URLSearchParams): Record<string, unknown> {
  const { bounds, minzoom, maxzoom } = about
  const format = query.get('tile_format')
  query.delete('tile_format')
  const wanted = {
    minzoom: query.has('minzoom') ? integer('minzoom', query.get('minzoom') as string, 0, MAX_ZOOM) : minzoom,
    maxzoom: query.has('maxzoom') ? integer('maxzoom', query.get('maxzoom') as string, 0, MAX_ZOOM) : maxzoom,
  }
  query.delete('minzoom')
  query.delete('maxzoom')
  const scale = query.has('tile_scale') ? integer('tile_scale', query.get('tile_scale') as string, 1, 4) : 1
  query.delete('tile_scale')
  const [west, south, east, north] = bounds
  const base = `${request.protocol}://${request.host}${request.url.split('?')[0]?.replace(/\/[^/]+\/tilejson\.json$/, '') ?? ''}`
  return {
    tilejson: '3.0.0',
    name: query.get('url'),
    scheme: 'xyz',
    tiles: [
      `${base}/tiles/WebMercatorQuad/{z}/{x}/{y}${scale === 1 ? '' : `@${scale}x`}${format === null ? '' : `.${formatOf(format, undefined)}`}?${query.toString()}`,
    ],
    ...wanted,
    bounds: west <= east ? bounds : [-180, south, 180, north],
    center: [
      west <= east ? (west + east) / 2 : (((west + east + 360) / 2 + 180) % 360) - 180,
      (south + north) / 2,
      wanted.minzoom,
    ],
  }
}

/** As TiTiler's `/info` has it, and what else is known. */
function infoBody(about: RasterDescription): Record<string, unknown> {
  const { bands, limits, defaultBands } = about
  return {
    bounds: about.ownBounds,
    crs: about.epsg === null ? about.crsName : `http://www.opengis.net/def/crs/EPSG/0/${about.epsg}`,
    band_metadata: bands.map((_, i) => [`b${i + 1}`, {}]),
    band_descriptions: bands.map(({ name }, i) => [`b${i + 1}`, name ?? '']),
    dtype: about.dtype,
    nodata_type: about.nodataType,
    nodata_value: about.nodata !== null && Number.isNaN(about.nodata) ? 'nan' : about.nodata,
    colorinterp: bands.map(({ color }) => color),
    scales: bands.map(({ scale }) => scale),
    offsets: bands.map(({ offset }) => offset),
    driver: 'GTiff',
    count: bands.length,
    width: about.width,
    height: about.height,
    overviews: about.overviews,
    crs_name: about.crsName,
    compression: about.compression,
    bytes: about.bytes,
    palette: about.palette,
    geographic_bounds: about.bounds,
    minzoom: about.minzoom,
    maxzoom: about.maxzoom,
    shown: { bidx: defaultBands, rescale: limits },
  }
}

function polygonOf([west, south, east, north]: readonly [number, number, number, number]): {
  type: 'Polygon'
  coordinates: number[][][]
} {
  const end = east < west ? east + 360 : east
  return {
    type: 'Polygon',
    coordinates: [
      [
        [west, south],
        [end, south],
        [end, north],
        [west, north],
        [west, south],
      ],
    ],
  }
}
