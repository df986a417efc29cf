import { boxRing } from '@terrane/core'
import { boundsBetween, type RasterDescription, type TileSet } from '@terrane/tiling/raster'
import type { FastifyRequest } from 'fastify'
import { MAX_ZOOM } from './addresses.ts'
import { formatOf, integer } from './parameters.ts'

/** Parameters and tile set of a request for tiles. */
export interface TileQuery {
  readonly query: URLSearchParams
  readonly set: TileSet
}

/** Parameters of documents that tiles do not have. */
const OWN = ['tile_format', 'tile_scale', 'minzoom', 'maxzoom']

/** The template of a raster's tiles, with the parameters of the request. */
export function tilesAddress(request: FastifyRequest, { query, set }: TileQuery, format: string | null): string {
  const wanted = new URLSearchParams(query)
  for (const name of OWN) wanted.delete(name)
  const scale = query.has('tile_scale') ? integer('tile_scale', query.get('tile_scale') as string, 1, 4) : 1
  const [path = ''] = request.url.split('?')
  const base = `${request.protocol}://${request.host}${path.slice(0, path.indexOf('/raster/v1'))}/raster/v1`
  const ending = `${scale === 1 ? '' : `@${scale}x`}${format === null ? '' : `.${formatOf(format, undefined)}`}`
  return `${base}/tiles/${set}/{z}/{x}/{y}${ending}?${wanted.toString()}`
}

/** The requested zooms, or those of the raster. */
export function readZooms(query: URLSearchParams, about: RasterDescription): { minzoom: number; maxzoom: number } {
  const zoom = (name: 'minzoom' | 'maxzoom'): number =>
    query.has(name) ? integer(name, query.get(name) as string, 0, MAX_ZOOM) : about[name]
  return { minzoom: zoom('minzoom'), maxzoom: Math.max(zoom('minzoom'), zoom('maxzoom')) }
}

/** TileJSON 3.0.0, its tiles with the same parameters. */
export function tileJson(
  request: FastifyRequest,
  about: RasterDescription,
  { query, set }: TileQuery,
): Record<string, unknown> {
  const { bounds } = about
  const [west, south, east, north] = bounds
  const zooms = readZooms(query, about)
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
