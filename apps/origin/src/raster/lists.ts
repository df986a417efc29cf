import type { Http } from '@terrane/service'
import { COLORMAPS, TILE_SETS, algorithmFacts, colorsOf, type TileSet } from '@terrane/tiling/raster'
import type { FastifyRequest } from 'fastify'
import sharp from 'sharp'
import { abortOnDisconnect } from '../abort-on-disconnect.ts'
import { MAX_ZOOM } from './addresses.ts'
import { addressOf, readZooms, tilesAddress } from './documents.ts'
import { isItem } from './found-image.ts'
import { integer, oneOf, readStyle } from './parameters.ts'
import { options, queryOf } from './request.ts'
import { readSourceChoice } from './source-choice.ts'
import type { ValueDeps } from './value-routes.ts'
import { SETS } from './wmts.ts'

const SET_NAMES = Object.keys(TILE_SETS) as TileSet[]
const open = { config: { quiet: true } }

/** Lists of tile matrix sets, algorithms and colormaps, and the tile sets of a raster. */
export function listRoutes(app: Http, { pool, find, list }: ValueDeps): void {
  definitionRoutes(app)
  colormapRoutes(app)
  const describe = async (request: FastifyRequest, signal: AbortSignal) => {
    const query = queryOf(request)
    // The tiles of an item are those of its first asset, unless others are named.
    const isWhole = isItem(query.get('url')!, readSourceChoice(query)) && !query.has('assets')
    const [asset = null] = isWhole ? await list(request, signal, null, 1) : []
    return pool.describe((await find(request, signal, null, asset)).image, signal)
  }
  app.get(
    '/raster/v1/tiles',
    options,
    abortOnDisconnect(async (request, _reply, signal) => {
      const about = await describe(request, signal)
      return { tilesets: SET_NAMES.map((set) => tileSet(request, about, set)) }
    }),
  )
  app.get(
    '/raster/v1/tiles/:tms',
    options,
    abortOnDisconnect(async (request, _reply, signal) => {
      const set = setOf(request)
      const about = await describe(request, signal)
      const zooms = readZooms(queryOf(request), about, set)
      return { ...tileSet(request, about, set), tileMatrixSetLimits: limitsOf(set, about.bounds, zooms) }
    }),
  )
}

function definitionRoutes(app: Http): void {
  app.get('/raster/v1/tileMatrixSets', open, (request) => {
    onlyJson(request)
    const about = (id: TileSet) => ({ id, title: id, crs: crsOf(id), links: [linkTo(request, `tileMatrixSets/${id}`)] })
    return { tileMatrixSets: SET_NAMES.map(about) }
  })
  app.get('/raster/v1/tileMatrixSets/:tms', open, (request) => {
    onlyJson(request)
    return tileMatrixSet(setOf(request))
  })
  app.get('/raster/v1/algorithms', open, (request) => {
    onlyJson(request)
    return algorithmFacts()
  })
  app.get('/raster/v1/algorithms/:name', open, (request) => {
    onlyJson(request)
    const { name } = request.params as { name: string }
    const facts = algorithmFacts()
    return facts[oneOf('algorithm', name, Object.keys(facts))]
  })
}

function colormapRoutes(app: Http): void {
  app.get('/raster/v1/colorMaps', open, (request) => {
    onlyJson(request)
    return {
      colormaps: COLORMAPS.map((id) => ({ id, title: id, links: [linkTo(request, `colorMaps/${id}`)] })),
    }
  })
  app.get('/raster/v1/colorMaps/:name', open, async (request, reply) => {
    const colors = colorsOf((request.params as { name: string }).name.toLowerCase())
    const query = queryOf(request)
    const format = oneOf('f', query.get('f') ?? 'json', ['json', 'png'])
    if (format === 'json') {
      return Object.fromEntries(Array.from({ length: 256 }, (_, i) => [i, [...colors.subarray(4 * i, 4 * i + 4)]]))
    }
    const isUpright =
      oneOf('orientation', query.get('orientation') ?? 'horizontal', ['horizontal', 'vertical']) === 'vertical'
    const size = (name: string, otherwise: number) => integer(name, query.get(name) ?? String(otherwise), 1, 2048)
    const [width, height] = [size('width', isUpright ? 20 : 256), size('height', isUpright ? 256 : 20)]
    const ramp = { raw: { width: isUpright ? 1 : 256, height: isUpright ? 256 : 1, channels: 4 } } as const
    const png = sharp(colors, ramp).resize(width, height, { fit: 'fill', kernel: 'nearest' }).png()
    return reply.type('image/png').send(await png.toBuffer())
  })
}

/** @throws BAD_PARAMETER for pages of HTML */
function onlyJson(request: FastifyRequest): void {
  oneOf('f', queryOf(request).get('f') ?? 'json', ['json'])
}

function setOf(request: FastifyRequest): TileSet {
  return oneOf('tms', (request.params as { tms: string }).tms, SET_NAMES)
}

function linkTo(request: FastifyRequest, path: string): object {
  return { href: `${addressOf(request)}/${path}`, rel: 'self', type: 'application/json' }
}

function crsOf(set: TileSet): string {
  return SETS[set].crs === 'urn:ogc:def:crs:OGC:1.3:CRS84'
    ? 'http://www.opengis.net/def/crs/OGC/1.3/CRS84'
    : SETS[set].crs.replace(/^urn:ogc:def:crs:EPSG::/, 'http://www.opengis.net/def/crs/EPSG/0/')
}

/** A set of OGC Two Dimensional Tile Matrix Set 2.0 (17-083r4), with all zooms that are served. */
function tileMatrixSet(id: TileSet): object {
  const { side, columns, rows } = TILE_SETS[id]
  const tileMatrices = Array.from({ length: MAX_ZOOM + 1 }, (_, zoom) => ({
    id: String(zoom),
    scaleDenominator: SETS[id].scale / 2 ** zoom,
    cellSize: side / 256 / 2 ** zoom,
    cornerOfOrigin: 'topLeft',
    pointOfOrigin: SETS[id].corner.split(' ').map(Number),
    tileWidth: 256,
    tileHeight: 256,
    matrixWidth: columns * 2 ** zoom,
    matrixHeight: rows * 2 ** zoom,
  }))
  return { id, title: id, crs: crsOf(id), tileMatrices }
}

/** Metadata of a tile set (OGC API Tiles, 20-057). */
function tileSet(request: FastifyRequest, { bounds }: { readonly bounds: Bounds }, set: TileSet): object {
  const query = queryOf(request)
  readStyle(query)
  const [west, south, east, north] = bounds
  const template = tilesAddress(request, { query, set }, null)
  return {
    title: set,
    dataType: 'map',
    crs: crsOf(set),
    boundingBox: {
      lowerLeft: [west, south],
      upperRight: [east, north],
      crs: 'http://www.opengis.net/def/crs/OGC/1.3/CRS84',
    },
    links: [
      {
        rel: 'item',
        href: template.replace('{z}', '{tileMatrix}').replace('{y}', '{tileRow}').replace('{x}', '{tileCol}'),
        templated: true,
        type: 'image/png',
      },
      { ...linkTo(request, `tileMatrixSets/${set}`), rel: 'http://www.opengis.net/def/rel/ogc/1.0/tiling-scheme' },
    ],
  }
}

type Bounds = readonly [number, number, number, number]

/** Rows and columns of the tiles that show a raster, by zoom. */
function limitsOf(
  set: TileSet,
  [west, south, east, north]: Bounds,
  zooms: { minzoom: number; maxzoom: number },
): object[] {
  const { plane, left, top, side, columns, rows } = TILE_SETS[set]
  const edge = side / 2
  const yOf = (lat: number) =>
    plane === 'lnglat' ? lat : (Math.asinh(Math.tan((lat * Math.PI) / 180)) * edge) / Math.PI
  const xOf = (lng: number) => (plane === 'lnglat' ? lng : (lng / 180) * edge)
  // Over the antimeridian the columns on both sides are those of the whole world.
  const [first, last] = west > east ? [-180, 180] : [west, east]
  return Array.from({ length: Math.min(zooms.maxzoom, MAX_ZOOM) - zooms.minzoom + 1 }, (_, i) => {
    const zoom = zooms.minzoom + i
    const span = side / 2 ** zoom
    const at = (distance: number, count: number) =>
      Math.max(0, Math.min(count * 2 ** zoom - 1, Math.floor(distance / span)))
    return {
      tileMatrix: String(zoom),
      minTileRow: at(top - yOf(north), rows),
      maxTileRow: at(top - yOf(south), rows),
      minTileCol: at(xOf(first) - left, columns),
      maxTileCol: at(xOf(last) - left, columns),
    }
  })
}
