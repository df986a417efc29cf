import { boundsBetween, type CrsBounds, type RasterDescription } from '@terrane/tiling/raster'
import type { FastifyRequest } from 'fastify'
import { addressOf } from './documents.ts'
import { oneOf } from './parameters.ts'
import { exceptionFormat } from './wms-exceptions.ts'
import { escapeXml } from './wmts.ts'

export const VERSIONS = ['1.1.1', '1.3.0'] as const
export const FORMATS = { 'image/png': 'png', 'image/jpeg': 'jpeg', 'image/webp': 'webp', 'image/tiff': 'tif' } as const
export const INFO_FORMATS = ['text/plain', 'text/html', 'application/json'] as const

/** Whether the first axis of a projected CRS is known to be that of x, as WMS 1.3.0 wants it: Web Mercator and UTM. */
export function isXFirst(epsg: number): boolean {
  return /^(?:3857|32[67]\d\d)$/.test(String(epsg))
}

/** Parameters of a request for capabilities: those of WMS by their names in lower case, and those of pictures. */
interface CapabilitiesQuery {
  readonly wms: URLSearchParams
  readonly style: URLSearchParams
  /** Times of the sources of a mosaic, RFC 3339, ascending. */
  readonly dates: readonly string[]
}

/**
 * The capabilities of a WMS with one layer.
 *
 * Source: OGC 06-042 (1.3.0), 01-068r3 (1.1.1); clients need a `BoundingBox` for the extent of a layer.
 */
export function wmsCapabilities(
  request: FastifyRequest,
  about: RasterDescription,
  { wms, style, dates }: CapabilitiesQuery,
): string {
  const version = oneOf('VERSION', wms.get('version') ?? '1.3.0', VERSIONS)
  const isNew = version === '1.3.0'
  const layer = escapeXml(wms.get('layers')!)
  const own = new URLSearchParams(style)
  own.set('url', wms.get('layers')!)
  // Clients remove LAYERS from addresses, so they name the raster by `url`.
  const base = `${addressOf(request)}/wms?${own.toString()}&`
  const operation = (name: string, formats: readonly string[]) =>
    `<${name}>${formatsOf(formats)}<DCPType><HTTP><Get>${online(base)}</Get></HTTP></DCPType></${name}>`
  const root = isNew ? 'WMS_Capabilities' : 'WMT_MS_Capabilities'
  return `<?xml version="1.0" encoding="UTF-8"?>
<${root} version="${version}"${isNew ? ' xmlns="http://www.opengis.net/wms"' : ''}>
  <Service><Name>${isNew ? 'WMS' : 'OGC:WMS'}</Name><Title>Terrane</Title>${online(base)}</Service>
  <Capability>
    <Request>
      ${operation('GetCapabilities', ['text/xml'])}
      ${operation('GetMap', Object.keys(FORMATS))}
      ${operation('GetFeatureInfo', INFO_FORMATS)}
    </Request>
    <Exception>${formatsOf([exceptionFormat(version)])}</Exception>
    <Layer queryable="1"><Name>${layer}</Name><Title>${layer}</Title>${extents(about, isNew)}${dimension(dates, isNew)}
      <Style><Name>default</Name><Title>default</Title>${legend(request, style)}</Style></Layer>
  </Capability>
</${root}>
`
}

function online(address: string): string {
  return `<OnlineResource xmlns:xlink="http://www.w3.org/1999/xlink" xlink:type="simple" xlink:href="${escapeXml(address)}"/>`
}

function formatsOf(names: readonly string[]): string {
  return names.map((name) => `<Format>${name}</Format>`).join('')
}

/** CRS of a layer, and its bounds in each: Web Mercator, EPSG:4326, CRS:84 in 1.3.0, and its own where the axes are known. */
function extents({ bounds, ownBounds, epsg }: RasterDescription, isNew: boolean): string {
  const [west, south, east, north] = bounds[0] > bounds[2] ? ([-180, bounds[1], 180, bounds[3]] as const) : bounds
  const clipped = [west, Math.max(south, -MERCATOR_LAT), east, Math.min(north, MERCATOR_LAT)] as const
  const boxes: (readonly [string, CrsBounds])[] = [
    ['EPSG:4326', isNew ? [south, west, north, east] : [west, south, east, north]],
  ]
  if (isNew) boxes.push(['CRS:84', [west, south, east, north]])
  if (clipped[1] < clipped[3]) boxes.unshift(['EPSG:3857', boundsBetween(clipped, 4326, 3857)])
  const isKnown = epsg !== null && epsg !== 3857 && epsg !== 4326 && (!isNew || isXFirst(epsg))
  if (isKnown) boxes.unshift([`EPSG:${epsg}`, ownBounds])
  const tag = isNew ? 'CRS' : 'SRS'
  // A mosaic may reach beyond what the CRS of its first source covers.
  const covered = boxes.filter(([, box]) => box.every(Number.isFinite))
  return [
    ...covered.map(([name]) => `<${tag}>${name}</${tag}>`),
    isNew
      ? `<EX_GeographicBoundingBox><westBoundLongitude>${west}</westBoundLongitude><eastBoundLongitude>${east}</eastBoundLongitude><southBoundLatitude>${south}</southBoundLatitude><northBoundLatitude>${north}</northBoundLatitude></EX_GeographicBoundingBox>`
      : `<LatLonBoundingBox minx="${west}" miny="${south}" maxx="${east}" maxy="${north}"/>`,
    ...covered.map(
      ([name, [minx, miny, maxx, maxy]]) =>
        `<BoundingBox ${tag}="${name}" minx="${minx}" miny="${miny}" maxx="${maxx}" maxy="${maxy}"/>`,
    ),
  ].join('')
}

const MERCATOR_LAT = 85.051_128

/** The times that `TIME` may name; by default a picture shows all of them. */
function dimension(dates: readonly string[], isNew: boolean): string {
  if (dates.length === 0) return ''
  const all = dates.length === 1 ? dates[0] : `${dates[0]}/${dates.at(-1)}`
  const attributes = `name="time" default="${all}"`
  return isNew
    ? `<Dimension ${attributes} units="ISO8601">${dates.join()}</Dimension>`
    : `<Dimension name="time" units="ISO8601"/><Extent ${attributes}>${dates.join()}</Extent>`
}

function legend(request: FastifyRequest, style: URLSearchParams): string {
  const name = style.get('colormap_name')
  if (name === null) return ''
  const address = `${addressOf(request)}/colorMaps/${encodeURIComponent(name)}?f=png`
  return `<LegendURL width="256" height="20"><Format>image/png</Format>${online(address)}</LegendURL>`
}
