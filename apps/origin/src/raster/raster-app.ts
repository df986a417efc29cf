import { createHash } from 'node:crypto'
import { serialize } from 'node:v8'
import { readParameters, type Http } from '@terrane/service'
import type { LngLatBox, PictureFormat, RenderPool, RenderRequest } from '@terrane/tiling/raster'
import { Type } from 'typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { abortOnDisconnect } from '../abort-on-disconnect.ts'
import { areaOfTile, boxAndFormatOf, previewOf, readTileAddress, tileSetOf } from './addresses.ts'
import { infoBody, polygonOf, tileJson } from './documents.ts'
import { tileOutside } from './errors.ts'
import { MAX_SHAPE_BYTES, readFeature } from './feature.ts'
import { formatOf, integer, maskOf, readStyle, sideOf } from './parameters.ts'
import { findRaster } from './resolve.ts'
import { readSourceChoice } from './source-choice.ts'
import type { FoundRaster, RasterSources } from './sources.ts'
import { valueRoutes } from './value-routes.ts'
import { wmtsCapabilities } from './wmts.ts'

export interface RasterDeps extends RasterSources {
  readonly pool: RenderPool
}

type PictureRequest = Extract<RenderRequest, { kind: 'picture' }>

/** A picture; without bytes where it shows nothing. */
interface Drawn {
  readonly bytes: Uint8Array | null
}

const CONTENT_TYPES: Readonly<Record<PictureFormat, string>> = {
  png: 'image/png',
  webp: 'image/webp',
  jpeg: 'image/jpeg',
  npy: 'application/x-binary',
  tif: 'image/tiff; application=geotiff',
}
const Url = Type.Object({ url: Type.String({ minLength: 1, maxLength: 2000 }) })
const Tile = Type.Object({ z: Type.String(), x: Type.String(), file: Type.String({ maxLength: 40 }) })
const DEFAULT_SIDE = 1024
/** What is drawn twice is mostly drawn twice within minutes. */
const PICTURE_BYTES = 48 * 1024 * 1024
/** Larger files are not kept. */
const KEPT_BYTES = 4 * 1024 * 1024
/** Bytes that an entry of the cache takes beside its picture. */
const ENTRY_BYTES = 200
/** Cut with the style, so that a changed renderer does not answer with kept pictures. */
const RENDERER = 3

/** Options of all routes: which raster is meant. */
const options = { schema: { querystring: Url }, config: { quiet: true } }

/** `/raster/v1`: pictures and values of rasters made on request, with TiTiler's paths and parameters ([findRaster] says of what). */
export async function rasterRoutes(app: Http, deps: RasterDeps): Promise<void> {
  const find = (request: FastifyRequest, signal: AbortSignal, area: LngLatBox | null) => {
    const query = queryOf(request)
    return findRaster(deps, request, { url: query.get('url') ?? '', choice: readSourceChoice(query), area, signal })
  }
  pictureRoutes(app, new Pictures(deps.pool, find))
  documentRoutes(app, deps.pool, find)
  valueRoutes(app, { pool: deps.pool, find, queryOf, options })
}

type Find = (request: FastifyRequest, signal: AbortSignal, area: LngLatBox | null) => Promise<FoundRaster>

function documentRoutes(app: Http, pool: RenderPool, find: Find): void {
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
    abortOnDisconnect(async (request, _reply, signal) => {
      const about = await describe(request, signal)
      return { type: 'Feature', geometry: polygonOf(about.bounds), properties: infoBody(about) }
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
  app.get(
    '/raster/v1/:tms/WMTSCapabilities.xml',
    options,
    abortOnDisconnect(async (request, reply, signal) => {
      const set = tileSetOf(request)
      const query = queryOf(request)
      readStyle(query)
      const text = wmtsCapabilities(request, await describe(request, signal), { query, set })
      return reply.type('application/xml').send(text)
    }),
  )
}

function pictureRoutes(app: Http, pictures: Pictures): void {
  const styled = (request: FastifyRequest, format: string | undefined) => {
    const query = queryOf(request)
    return {
      kind: 'picture',
      style: readStyle(query),
      format: formatOf(format, request.headers.accept),
      mask: maskOf(query),
    } as const
  }
  const maxSideOf = (request: FastifyRequest): number =>
    sideOf('max_size', queryOf(request).get('max_size'), DEFAULT_SIDE)
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
  const preview = abortOnDisconnect(async (request, reply, signal) => {
    const { size: text, format: ending } = request.params as { size?: string; format?: string }
    const { size, format } = previewOf(text, ending)
    const area = { type: 'preview', maxSize: maxSideOf(request), size } as const
    return pictures.send(request, reply, signal, { picture: { ...styled(request, format), area }, box: null })
  })
  app.get('/raster/v1/preview', options, preview)
  app.get('/raster/v1/preview.:format', options, preview)
  app.get('/raster/v1/preview/:size', options, preview)

  const box = abortOnDisconnect(async (request, reply, signal) => {
    const { box: text, size: sizeText } = request.params as { box: string; size?: string }
    const { box: found, size, format } = boxAndFormatOf(text, sizeText)
    const area = { type: 'box', box: found, size, maxSize: maxSideOf(request), shape: null } as const
    return pictures.send(request, reply, signal, { picture: { ...styled(request, format), area }, box: found })
  })
  app.get('/raster/v1/bbox/:box', options, box)
  app.get('/raster/v1/bbox/:box/:size', options, box)

  const feature = abortOnDisconnect(async (request, reply, signal) => {
    const { size: text, format: ending } = request.params as { size?: string; format?: string }
    const { size, format } = previewOf(text, ending)
    const { box: found, shape } = readFeature(request.body)
    const area = { type: 'box', box: found, size, maxSize: maxSideOf(request), shape } as const
    return pictures.send(request, reply, signal, { picture: { ...styled(request, format), area }, box: found })
  })
  for (const path of ['feature', 'feature.:format', 'feature/:size'])
    app.post(`/raster/v1/${path}`, { ...options, bodyLimit: MAX_SHAPE_BYTES }, feature)
}

/** Draws pictures, and keeps those of the last minutes. */
class Pictures {
  readonly #pool: RenderPool
  readonly #find: Find
  readonly #kept = new LRUCache<string, Drawn>({
    maxSize: PICTURE_BYTES,
    sizeCalculation: ({ bytes }) => ENTRY_BYTES + (bytes?.byteLength ?? 0),
  })

  constructor(pool: RenderPool, find: Find) {
    this.#pool = pool
    this.#find = find
  }

  /** A picture with a strong ETag of its inputs: a client that has it gets 304 before anything is drawn. */
  async send(
    request: FastifyRequest,
    reply: FastifyReply,
    signal: AbortSignal,
    { picture, box }: { readonly picture: PictureRequest; readonly box: LngLatBox | null },
  ): Promise<FastifyReply> {
    const raster = await this.#find(request, signal, box)
    // Of what is drawn, not of how it was asked for.
    const name = serialize([RENDERER, raster.image.key, picture])
    const etag = `"${createHash('sha256').update(name).digest('base64url').slice(0, 27)}"`
    reply.headers({ etag, 'cache-control': cacheControl(raster), vary: 'Accept, apikey, Authorization' })
    if (request.headers['if-none-match']?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)) {
      return reply.code(304).send()
    }
    const known = this.#kept.get(etag)
    const { bytes } = known ?? { bytes: await this.#pool.render(raster.image, picture, signal) }
    if (known === undefined && (bytes?.byteLength ?? 0) <= KEPT_BYTES) this.#kept.set(etag, { bytes })
    if (bytes === null) throw tileOutside()
    return reply.type(CONTENT_TYPES[picture.format]).send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  }
}

function cacheControl({ open }: FoundRaster): string {
  return open ? 'public, no-cache' : 'private, no-cache'
}

/** Parameters that are lists: bands, their ranges, names and percentiles. */
const LISTS: ReadonlySet<string> = new Set(['bidx', 'rescale', 'assets', 'p', 'c'])

function queryOf(request: FastifyRequest): URLSearchParams {
  return readParameters(request, (name) => LISTS.has(name))
}
