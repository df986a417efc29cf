import { boxRing } from '@terrane/core'
import { TILE_SETS, boundsBetween, type RasterDescription, type TileSet } from '@terrane/tiling/raster'
import type { FastifyRequest } from 'fastify'
import { MAX_ZOOM } from './addresses.ts'
import { badParameter } from './errors.ts'
import { formatOf, integer } from './parameters.ts'

/** Parameters and tile set of a request for tiles. */
export interface TileQuery {
  readonly query: URLSearchParams
  readonly set: TileSet
}

/** The public address of `/raster/v1`, as the request names it. */
export function addressOf({ url, protocol, host }: FastifyRequest): string {
  return `${protocol}://${host}${url.slice(0, url.indexOf('/raster/v1'))}/raster/v1`
}

/** Parameters of documents that tiles do not have. */
const OWN = ['tile_format', 'tile_scale', 'minzoom', 'maxzoom', 'zooms']

/** The template of a raster's tiles, with the parameters of the request. */
export function tilesAddress(request: FastifyRequest, { query, set }: TileQuery, format: string | null): string {
  const wanted = new URLSearchParams(query)
  for (const name of OWN) wanted.delete(name)
  const scale = query.has('tile_scale') ? integer('tile_scale', query.get('tile_scale') as string, 1, 4) : 1
  const ending = `${scale === 1 ? '' : `@${scale}x`}${format === null ? '' : `.${formatOf(format, undefined)}`}`
  return `${addressOf(request)}/tiles/${set}/{z}/{x}/{y}${ending}?${wanted.toString()}`
}

/**
 * The requested zooms of a set, or those of the raster: `minzoom` and `maxzoom`, or `zooms={set}::{min},{max}` with `*`
 * for any set.
 */
export function readZooms(query: URLSearchParams, about: RasterDescription, set: TileSet): ZoomSpan {
  const own = query.getAll('zooms').map((text) => /^(\*|\w+)::(\d+),(\d+)$/.exec(text) ?? [text])
  const strange = own.find(([, name = '']) => name !== '*' && !Object.hasOwn(TILE_SETS, name))
  if (strange) {
    const wanted = 'a tile matrix set or *, :: and two zooms, such as WebMercatorQuad::0,5, are wanted'
    throw badParameter({ name: 'zooms', value: String(strange[0]).slice(0, 60), wanted })
  }
  const [, , min, max] = own.find(([, name]) => name === set) ?? own.find(([, name]) => name === '*') ?? []
  const zoom = (name: 'minzoom' | 'maxzoom', text = query.get(name) ?? undefined): number =>
    text === undefined ? about[name] : integer(name, text, 0, MAX_ZOOM)
  const minzoom = zoom('minzoom', min)
  return { minzoom, maxzoom: Math.max(minzoom, zoom('maxzoom', max)) }
}

interface ZoomSpan {
  readonly minzoom: number
  readonly maxzoom: number
}

/** TileJSON 3.0.0, its tiles with the same parameters. */
export function tileJson(
  request: FastifyRequest,
  about: RasterDescription,
  { query, set }: TileQuery,
): Record<string, unknown> {
  const { bounds } = about
  const [west, south, east, north] = bounds
  const zooms = readZooms(query, about, set)
  const isWrapped = west > east
  return {
    tilejson: '3.0.0',
    name: query.get('url'),
    scheme: 'xyz',
    tiles: [tilesAddress(request, { query, set }, query.get('tile_format'))],
    ...zooms,
    bounds: isWrapped ? [-180, south, 180, north] : bounds,
    center: [
      isWrapped ? (((west + east + 360) / 2 + 180) % 360) - 180 : (west + east) / 2,
      (south + north) / 2,
      zooms.minzoom,
    ],
  }
}

/** The answer of TiTiler's `/info`, with further members. */
export function infoBody(about: RasterDescription): Record<string, unknown> {
  const { bands, limits, defaultBands } = about
  return {
    bounds: about.ownBounds,
    crs: about.epsg === null ? about.crsName : `http://www.opengis.net/def/crs/EPSG/0/${about.epsg}`,
    band_metadata: bands.map((_, i) => [`b${i + 1}`, {}]),
    band_descriptions: bands.map(({ name }, i) => [`b${i + 1}`, name ?? `b${i + 1}`]),
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
    ...(about.warnings.length > 0 && { warnings: about.warnings }),
  }
}

/** The answer of TiTiler's `/info.geojson`: the area in longitude and latitude, or in the coordinates of an EPSG code. */
export function infoFeature(about: RasterDescription, epsg: number | null): object {
  const { bounds } = about
  const properties = infoBody(about)
  if (epsg === null || epsg === 4326) return { type: 'Feature', bbox: bounds, geometry: areaOf(bounds), properties }
  const [west, south, east, north] = bounds
  const unwrapped = [west, south, east < west ? east + 360 : east, north] as const
  const bbox =
    about.epsg === null ? boundsBetween(unwrapped, 4326, epsg) : boundsBetween(about.ownBounds, about.epsg, epsg)
  const geometry = { type: 'Polygon', coordinates: [boxRing(bbox)] }
  return { type: 'Feature', bbox, geometry, properties }
}

type Box = RasterDescription['bounds']

/** A box as a polygon; over the antimeridian one on each side. */
function areaOf(box: Box): object {
  const [west, south, east, north] = box
  if (west <= east) return { type: 'Polygon', coordinates: [boxRing(box)] }
  const parts = [
    [west, south, 180, north],
    [-180, south, east, north],
  ] as const
  return { type: 'MultiPolygon', coordinates: parts.map((part) => [boxRing(part)]) }
}
