import { readComment } from '@terrane/database'
import type { Collection, Column } from './collection.ts'
import { CRS84, type Crs } from './crs.ts'
import { queryables } from './cql2-sql.ts'

export const JSON_TYPE = 'application/json'
export const GEOJSON = 'application/geo+json'
export const SCHEMA_JSON = 'application/schema+json'
export const OPENAPI = 'application/vnd.oai.openapi+json;version=3.0'
const MVT = 'application/vnd.mapbox-vector-tile'

const FEATURES = 'http://www.opengis.net/spec/ogcapi-features'
const CQL2 = 'http://www.opengis.net/spec/cql2/1.0/conf'
const TILES = 'http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf'

/** URIs of the conformance classes that the API meets. */
export const CONFORMANCE: readonly string[] = [
  'http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core',
  'http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/collections',
  ...['core', 'oas30', 'html', 'geojson'].map((name) => `${FEATURES}-1/1.0/conf/${name}`),
  `${FEATURES}-2/1.0/conf/crs`,
  ...['filter', 'features-filter', 'queryables', 'queryables-query-parameters'].map(
    (name) => `${FEATURES}-3/1.0/conf/${name}`,
  ),
  ...['create-replace-delete', 'update', 'features', 'optimistic-locking-etags'].map(
    (name) => `${FEATURES}-4/1.0/conf/${name}`,
  ),
  ...[
    'cql2-text',
    'cql2-json',
    'basic-cql2',
    'advanced-comparison-operators',
    'case-insensitive-comparison',
    'accent-insensitive-comparison',
    'basic-spatial-functions',
    'basic-spatial-functions-plus',
    'spatial-functions',
    'temporal-functions',
    'arithmetic',
    'property-property',
  ].map((name) => `${CQL2}/${name}`),
  ...['core', 'tileset', 'tilesets-list', 'geodata-tilesets', 'mvt', 'oas30'].map((name) => `${TILES}/${name}`),
]

const link = (href: string, rel: string, title: string, type = JSON_TYPE) => ({ href, rel, type, title })

/** The landing page. */
export function landingPage(base: string) {
  return {
    title: 'Features and tiles of the project',
    description: 'Tables and views with a geometry, as far as the key of the request may read them.',
    links: [
      link(base, 'self', 'This document'),
      link(`${base}?f=html`, 'alternate', 'This document as a page', 'text/html'),
      link(`${base}/api`, 'service-desc', 'The API as OpenAPI', OPENAPI),
      link(`${base}/api?f=html`, 'service-doc', 'The API as a page', 'text/html'),
      link(`${base}/conformance`, 'conformance', 'Classes of requirements'),
      link(`${base}/conformance`, 'http://www.opengis.net/def/rel/ogc/1.0/conformance', 'Classes of requirements'),
      link(`${base}/collections`, 'data', 'Collections'),
      link(`${base}/tileMatrixSets`, 'http://www.opengis.net/def/rel/ogc/1.0/tiling-schemes', 'Tile matrix sets'),
    ],
  }
}

/** Facts for the description of a collection; without bounds it has no extent. */
export interface DescribedCollection {
  readonly id: string
  readonly comment: string | null
  readonly systems: readonly Crs[]
  /** West, south, east, north. */
  readonly bounds: readonly number[] | null
}

/** A collection, with the same content in the list and as a single document. */
export function collectionDocument(base: string, { id, comment, systems, bounds }: DescribedCollection) {
  const { description, attribution } = readComment(comment)
  const title = id
  const self = `${base}/collections/${encodeURIComponent(id)}`
  return {
    id,
    title,
    ...(description !== null && { description }),
    ...(attribution !== null && { attribution }),
    ...(bounds !== null && { extent: { spatial: { bbox: [bounds], crs: CRS84.uri } } }),
    itemType: 'feature',
    crs: systems.map(({ uri }) => uri),
    // The last system is that of the storage; EPSG:4326 is stated as CRS84, with the longitude first.
    storageCrs: systems.at(-1)!.srid === CRS84.srid ? CRS84.uri : systems.at(-1)!.uri,
    links: [
      link(self, 'self', title),
      link(`${self}/items`, 'items', 'Features', GEOJSON),
      link(`${self}/items?f=html`, 'items', 'Features as a page', 'text/html'),
      link(
        `${self}/queryables`,
        'http://www.opengis.net/def/rel/ogc/1.0/queryables',
        'Properties for filters',
        SCHEMA_JSON,
      ),
      link(`${self}/tiles`, 'http://www.opengis.net/def/rel/ogc/1.0/tilesets-vector', 'Vector tiles'),
    ],
  }
}

const TYPES: Readonly<Record<Column['kind'], object>> = {
  integer: { type: 'integer' },
  number: { type: 'number' },
  text: { type: 'string' },
  boolean: { type: 'boolean' },
  instant: { type: 'string', format: 'date-time' },
  timestamp: { type: 'string', format: 'date-time' },
  date: { type: 'string', format: 'date' },
  geometry: { format: 'geometry-any' },
  other: { type: 'string' },
}

/** JSON Schema of the values of a column. */
export function valueSchema({ kind, labels }: Pick<Column, 'kind' | 'labels'>): object {
  return { ...TYPES[kind], ...(labels !== null && { enum: labels }) }
}

/** JSON Schema of the queryables. */
export function queryablesDocument(url: string, collection: Collection) {
  const { id, key, time, layer } = collection
  const properties = queryables(collection).map((column) => {
    const { name, kind, comment } = column
    const role =
      column === key ? 'id' : column === time ? 'primary-instant' : kind === 'geometry' ? 'primary-geometry' : null
    return [
      name,
      {
        title: name,
        ...(comment !== null && { description: comment }),
        ...(kind === 'geometry' ? { format: shapeFormat(layer.geometryType) } : valueSchema(column)),
        ...(role !== null && { 'x-ogc-role': role }),
      },
    ]
  })
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: url,
    type: 'object',
    title: id,
    properties: Object.fromEntries(properties) as Record<string, object>,
    additionalProperties: false,
  }
}

function shapeFormat(geometryType: string): string {
  const name = /^(?:(?:multi)?(?:point|linestring|polygon)|geometrycollection)/i.exec(geometryType)?.[0]?.toLowerCase()
  return `geometry-${name ?? 'any'}`
}

const WORLD = 20_037_508.342_789_244
const ZOOMS = 25
/** Width of a cell at zoom 0 in metres; the scale follows from 0.28 mm per cell. */
const CELL = (2 * WORLD) / 256
const WEB_MERCATOR_QUAD = 'http://www.opengis.net/def/tilematrixset/OGC/1.0/WebMercatorQuad'

/** The tile matrix set of web maps (OGC 17-083r4, annex D). */
export function webMercatorQuad() {
  return {
    id: 'WebMercatorQuad',
    title: 'Google Maps Compatible for the World',
    uri: WEB_MERCATOR_QUAD,
    crs: 'http://www.opengis.net/def/crs/EPSG/0/3857',
    orderedAxes: ['X', 'Y'],
    wellKnownScaleSet: 'http://www.opengis.net/def/wkss/OGC/1.0/GoogleMapsCompatible',
    tileMatrices: Array.from({ length: ZOOMS }, (_, z) => ({
      id: String(z),
      scaleDenominator: CELL / 2 ** z / 0.000_28,
      cellSize: CELL / 2 ** z,
      cornerOfOrigin: 'topLeft',
      pointOfOrigin: [-WORLD, WORLD],
      tileWidth: 256,
      tileHeight: 256,
      matrixWidth: 2 ** z,
      matrixHeight: 2 ** z,
    })),
  }
}

/** The list of tile matrix sets. */
export function tileMatrixSets(base: string) {
  const { id, title, uri, crs } = webMercatorQuad()
  return { tileMatrixSets: [{ id, title, uri, crs, links: [link(`${base}/tileMatrixSets/${id}`, 'self', title)] }] }
}

/** The vector tiles of a collection. */
export function tileset(base: string, { id, layer }: Collection) {
  const self = `${base}/collections/${encodeURIComponent(id)}/tiles/WebMercatorQuad`
  const { crs } = webMercatorQuad()
  return {
    title: id,
    dataType: 'vector',
    crs,
    tileMatrixSetURI: WEB_MERCATOR_QUAD,
    layers: [{ id: layer.table, dataType: 'vector' }],
    links: [
      link(self, 'self', 'This document'),
      link(
        `${base}/tileMatrixSets/WebMercatorQuad`,
        'http://www.opengis.net/def/rel/ogc/1.0/tiling-scheme',
        'Tile matrix set',
      ),
      { ...link(`${self}/{tileMatrix}/{tileRow}/{tileCol}`, 'item', 'Tiles', MVT), templated: true },
    ],
  }
}
