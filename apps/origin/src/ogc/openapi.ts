import type { CollectionProperties } from './collection.ts'
import { GEOJSON, JSON_TYPE, valueSchema } from './documents.ts'

const answer = (description: string, type = JSON_TYPE) => ({
  description,
  content: { [type]: { schema: { type: 'object' } }, 'text/html': { schema: { type: 'string' } } },
})
const parameter = (name: string) => ({ $ref: `#/components/parameters/${name}` })
const errors = { '4XX': { description: 'The request cannot be answered; code and message say why.' } }
const get = (summary: string, parameters: readonly object[], type?: string) => ({
  get: { summary, parameters: [parameter('f'), ...parameters], responses: { '200': answer(summary, type), ...errors } },
})
/** Names an operation as OGC API Tiles has it (requirement oas30/operation-id). */
const named = (operationId: string, { get: operation }: ReturnType<typeof get>) => ({
  get: { operationId, ...operation },
})
const query = (name: string, description: string, schema: object = { type: 'string' }) => ({
  name,
  in: 'query',
  description,
  required: false,
  schema,
  style: 'form',
  explode: false,
})
const path = (name: string, description: string, schema: object = { type: 'string' }) => ({
  name,
  in: 'path',
  description,
  required: true,
  schema,
})
const body = (type: string) => ({ required: true, content: { [type]: { schema: { type: 'object' } } } })
const change = (summary: string, type: string | null) => ({
  summary,
  ...(type !== null && { requestBody: body(type) }),
  responses: { '204': { description: 'Done' }, ...errors },
})

/**
 * OpenAPI 3.0 of `/ogc/v1`.
 *
 * @param most largest number of features of a page
 * @param collections whose items and properties are named one by one: GDAL reads their parameters there
 */
export function openApiDocument(base: string, most: number, collections: readonly CollectionProperties[]) {
  const items = '/collections/{collectionId}/items'
  const index = { type: 'integer', minimum: 0 }
  const place = [
    path('tileMatrix', 'Zoom of the tile'),
    path('tileRow', 'Row of the tile, from the north', index),
    path('tileCol', 'Column of the tile, from the west', index),
  ]
  const collection = parameter('collectionId')
  return {
    openapi: '3.0.3',
    info: {
      title: 'Features and tiles of the project',
      version: '1.0.0',
      description: 'OGC API Features 1 to 4 and Tiles, under the row-level security of the caller.',
    },
    servers: [{ url: base }],
    security: [{ key: [] }, { bearer: [] }, { basic: [] }],
    paths: {
      '/': get('Landing page', []),
      '/api': get('This document', []),
      '/conformance': get('Classes of requirements', []),
      '/collections': get('Collections', []),
      '/collections/{collectionId}': get('One collection', [collection]),
      '/collections/{collectionId}/queryables': get('Properties for filters', [collection]),
      ...Object.fromEntries(collections.map(itemsPath)),
      [items]: {
        ...get('Features', [collection, ...ITEMS.map(parameter)], GEOJSON),
        post: {
          ...change('Adds a feature', GEOJSON),
          parameters: [collection],
          responses: { '201': { description: 'Added; Location is its address' }, ...errors },
        },
      },
      [`${items}/{featureId}`]: {
        parameters: [collection, parameter('featureId')],
        ...get('One feature', [parameter('crs')], GEOJSON),
        put: change('Replaces a feature', GEOJSON),
        patch: change('Changes a feature', 'application/merge-patch+json'),
        delete: change('Deletes a feature', null),
      },
      '/collections/{collectionId}/tiles': named('.collection.vector.getTileSetsList', get('Tilesets', [collection])),
      '/collections/{collectionId}/tiles/WebMercatorQuad': named(
        '.collection.vector.getTileSet',
        get('One tileset', [collection]),
      ),
      '/collections/{collectionId}/tiles/WebMercatorQuad/{tileMatrix}/{tileRow}/{tileCol}': {
        get: {
          operationId: '.collection.vector.getTile',
          summary: 'One vector tile',
          parameters: [collection, ...place],
          responses: { '200': { description: 'Mapbox Vector Tile' }, '204': { description: 'Empty' }, ...errors },
        },
      },
      '/tileMatrixSets': named('getTileMatrixSetsList', get('Tile matrix sets', [])),
      '/tileMatrixSets/WebMercatorQuad': named('getTileMatrixSet', get('One tile matrix set', [])),
    },
    components: { securitySchemes: SECURITY, parameters: { ...PATHS, ...queries(most) } },
  }
}

function itemsPath({ id, properties }: CollectionProperties) {
  const own = properties
    .filter(({ name }) => !ITEMS.includes(name))
    .map((column) => query(column.name, `Value of ${column.name}`, valueSchema(column)))
  return [`/collections/${id}/items`, get(`Features of ${id}`, [...ITEMS.map(parameter), ...own], GEOJSON)] as const
}

const SECURITY = {
  key: { type: 'apiKey', in: 'header', name: 'apikey' },
  bearer: { type: 'http', scheme: 'bearer' },
  basic: { type: 'http', scheme: 'basic', description: 'The password is the key; the user name is not read.' },
}

const PATHS = {
  collectionId: path('collectionId', 'Id of a collection: schema.table'),
  featureId: path('featureId', 'Id of a feature'),
}

function queries(most: number) {
  const uri = { type: 'string', format: 'uri' }
  const box = { type: 'array', minItems: 4, maxItems: 6, items: { type: 'number' } }
  const languages = { type: 'string', enum: ['cql2-text', 'cql2-json', 'cql-text'], default: 'cql2-text' }
  return {
    f: query('f', 'Form of the answer', { type: 'string', enum: ['json', 'html'] }),
    limit: query('limit', 'Number of features', { type: 'integer', minimum: 1, maximum: most, default: 100 }),
    bbox: query('bbox', 'west,south,east,north of the box that features intersect', box),
    datetime: query('datetime', 'Moment, day or interval by RFC 3339'),
    crs: query('crs', 'Reference system of the answer', uri),
    'bbox-crs': query('bbox-crs', 'Reference system of the box', uri),
    filter: query('filter', 'Condition in CQL2'),
    'filter-lang': query('filter-lang', 'Form of the filter', languages),
    'filter-crs': query('filter-crs', "Reference system of the filter's geometries", uri),
  }
}

const ITEMS = ['limit', 'bbox', 'datetime', 'crs', 'bbox-crs', 'filter', 'filter-lang', 'filter-crs']
