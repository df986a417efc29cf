import type { Http } from '@terrane/service'
import type { LngLatBox, RenderPool, RenderRequest, StatisticsOptions } from '@terrane/tiling/raster'
import type { FastifyRequest } from 'fastify'
import { abortOnDisconnect } from '../abort-on-disconnect.ts'
import { badParameter, tileOutside, tooManyFiles } from './errors.ts'
import { MAX_SHAPE_BYTES, readFeatures } from './feature.ts'
import { coordinateCrsOf, coordinatesOf, targetCrsOf } from './crs-parameters.ts'
import { integer, number, readStyle, sideOf, sizeOf, truth } from './parameters.ts'
import { options, queryOf, type FindRaster, type ListAssets } from './request.ts'
import { ALL_ASSETS } from './scene.ts'
import { MAX_NAMES, readSourceChoice } from './source-choice.ts'

type Area = Extract<RenderRequest, { kind: 'statistics' }>['area']

/** Maximum features of one request for statistics. */
const MAX_FEATURES = 100
const DEFAULT_SIDE = 1024

/** Dependencies of routes for values and lists. */
export interface ValueDeps {
  readonly pool: RenderPool
  readonly find: FindRaster
  readonly list: ListAssets
}

/** Values of rasters: statistics of the whole or of areas, and values at a position. */
export function valueRoutes(app: Http, { pool, find, list }: ValueDeps): void {
  pointRoute(app, pool, find)
  const statistics = async (
    request: FastifyRequest,
    signal: AbortSignal,
    area: Area,
    { box = null, asset = null }: { readonly box?: LngLatBox | null; readonly asset?: string | null } = {},
  ) => {
    const query = queryOf(request)
    const wanted = { kind: 'statistics', area, style: readStyle(query), options: readStatistics(query) } as const
    const { image } = await find(request, signal, box, asset)
    return pool.statistics(image, wanted, signal)
  }
  app.get(
    '/raster/v1/statistics',
    options,
    abortOnDisconnect(async (request, _reply, signal) => {
      const found = await statistics(request, signal, { type: 'preview', ...sizesOf(request) })
      if (found === null) throw tileOutside()
      return found
    }),
  )
  app.get(
    '/raster/v1/asset_statistics',
    options,
    abortOnDisconnect(async (request, _reply, signal) => {
      const found: (readonly [string, unknown])[] = []
      for (const asset of await assetsWanted(request, signal, list)) {
        const area = { type: 'preview', ...sizesOf(request) } as const
        found.push([asset, await statistics(request, signal, area, { asset })])
      }
      return Object.fromEntries(found)
    }),
  )
  app.post(
    '/raster/v1/statistics',
    { ...options, bodyLimit: MAX_SHAPE_BYTES },
    abortOnDisconnect(async (request, reply, signal) => {
      const features: object[] = []
      const query = queryOf(request)
      const wanted = { ...sizesOf(request), crs: targetCrsOf(query) }
      for (const { feature, area } of readFeatures(request.body, MAX_FEATURES, coordinateCrsOf(query))) {
        const { box, ...of } = area
        const found = await statistics(request, signal, { type: 'box', ...of, ...wanted }, { box })
        const { properties } = feature as { properties?: object | null }
        features.push({ ...feature, properties: { ...properties, statistics: found } })
      }
      const isOne = (request.body as { type: unknown }).type === 'Feature'
      void reply.type('application/geo+json')
      return isOne ? features[0] : { type: 'FeatureCollection', features }
    }),
  )
}

function pointRoute(app: Http, pool: RenderPool, find: FindRaster): void {
  app.get(
    '/raster/v1/point/:place',
    options,
    abortOnDisconnect(async (request, _reply, signal) => {
      const { given, position } = placeOf((request.params as { place: string }).place, queryOf(request))
      const area = { type: 'point', position } as const
      const style = readStyle(queryOf(request))
      const [lng, lat] = position
      const { image } = await find(request, signal, [lng, lat, lng, lat])
      const found = await pool.point(image, { kind: 'point', area, style }, signal)
      if (found === null) throw tileOutside()
      const { values, names, descriptions } = found
      return { coordinates: given, values, band_names: names, band_descriptions: descriptions }
    }),
  )
}

/** The assets of an item that a request names, or all of them. @throws BAD_PARAMETER, TOO_MANY_FILES */
async function assetsWanted(
  request: FastifyRequest,
  signal: AbortSignal,
  list: ListAssets,
): Promise<readonly string[]> {
  const query = queryOf(request)
  const url = query.get('url')!
  if (url.startsWith('embeddings:'))
    throw badParameter({ name: 'url', value: url.slice(0, 100), wanted: 'the url of a STAC item is wanted' })
  const { assets } = readSourceChoice(query)
  if (assets !== null && !assets.includes(ALL_ASSETS)) return assets
  const all = await list(request, signal, null, MAX_NAMES + 1)
  if (all.length > MAX_NAMES) throw tooManyFiles({ files: all.length, limit: MAX_NAMES })
  return all
}

function sizesOf(request: FastifyRequest): Pick<Area, 'size' | 'maxSize'> {
  const query = queryOf(request)
  return { size: sizeOf(query), maxSize: sideOf('max_size', query.get('max_size'), DEFAULT_SIDE) }
}

/** Longitude and latitude of `x,y` in `coord_crs`, and the numbers as given. @throws BAD_PARAMETER */
export function placeOf(text: string, query: URLSearchParams): Record<'given' | 'position', readonly [number, number]> {
  const [x = Number.NaN, y = Number.NaN, ...more] = text.split(',').map((part) => number('point', part))
  const [lng, lat] = coordinatesOf(query)(x, y)
  if (more.length === 0 && Math.abs(lng) <= 180 && Math.abs(lat) <= 90) return { given: [x, y], position: [lng, lat] }
  const wanted = 'longitude,latitude in degrees, or x,y in coord_crs, is wanted'
  throw badParameter({ name: 'point', value: text.slice(0, 60), wanted })
}

const MAX_BINS = 1000

/** @throws BAD_PARAMETER */
function readStatistics(query: URLSearchParams): StatisticsOptions {
  const percentiles = query.getAll('p').map((text) => {
    const value = number('p', text)
    if (value >= 0 && value <= 100) return value
    throw badParameter({ name: 'p', value: text, wanted: 'a percentile from 0 to 100 is wanted' })
  })
  const range = query
    .get('histogram_range')
    ?.split(',')
    .map((text) => number('histogram_range', text))
  if (range && !(range.length === 2 && range[0]! < range[1]!)) {
    throw badParameter({
      name: 'histogram_range',
      value: String(range),
      wanted: 'min,max with min below max is wanted',
    })
  }
  if (percentiles.length > MAX_BINS || query.getAll('c').length > MAX_BINS) {
    throw badParameter({ name: 'p', value: '…', wanted: `at most ${MAX_BINS} of p and of c are allowed` })
  }
  const categorical = query.get('categorical')
  return {
    percentiles: percentiles.length === 0 ? [2, 98] : percentiles,
    bins: binsOf(query.get('histogram_bins')),
    range: range ? [range[0]!, range[1]!] : null,
    isCategorical: categorical !== null && truth('categorical', categorical),
    categories: query.getAll('c').map((text) => number('c', text)),
  }
}

/** A number of bins, or their edges. */
function binsOf(text: string | null): StatisticsOptions['bins'] {
  if (text === null) return 10
  if (!text.includes(',')) return integer('histogram_bins', text, 1, MAX_BINS)
  const edges = text.split(',').map((part) => number('histogram_bins', part))
  if (edges.length <= MAX_BINS && edges.every((edge, i) => i === 0 || edge > edges[i - 1]!)) return edges
  throw badParameter({ name: 'histogram_bins', value: text.slice(0, 60), wanted: 'edges that increase are wanted' })
}
