import { VectorTile } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import { expect } from 'vitest'
import { EPSG, REL, SPOTS, TILES, ask, statusOf, bodyOf, relOf, documentOf, type Body, type Case } from './requests.ts'

const tileParameters = async () =>
  (await documentOf()).paths['/collections/{collectionId}/tiles/WebMercatorQuad/{tileMatrix}/{tileRow}/{tileCol}']![
    'get'
  ]!.parameters as { name?: string }[]

/** Tiles 1. */
export const TILE_CASES: readonly Case[] = [
  ['core/tc-op', () => statusOf(`${TILES}/WebMercatorQuad/8/88/135`), 200],
  [
    'core/tc-tilematrix-definition',
    () => Promise.all([statusOf(`${TILES}/WebMercatorQuad/25/0/0`), statusOf(`${TILES}/WebMercatorQuad/x/0/0`)]),
    [400, 400],
  ],
  ['core/tc-tilerow-definition', () => statusOf(`${TILES}/WebMercatorQuad/1/2/0`), 400],
  ['core/tc-tilecol-definition', () => statusOf(`${TILES}/WebMercatorQuad/1/0/2`), 400],
  [
    'core/tc-success',
    () => Promise.all([statusOf(`${TILES}/WebMercatorQuad/8/88/135`), statusOf(`${TILES}/WebMercatorQuad/8/0/0`)]),
    [200, 204],
  ],
  [
    'core/tc-error',
    () =>
      Promise.all([statusOf(`${TILES}/None/0/0/0`), statusOf('/collections/public.none/tiles/WebMercatorQuad/0/0/0')]),
    [404, 404],
  ],
  [
    'tileset/description',
    () => bodyOf(`${TILES}/WebMercatorQuad`),
    expect.objectContaining({
      dataType: 'vector',
      crs: `${EPSG}3857`,
      tileMatrixSetURI: 'http://www.opengis.net/def/tilematrixset/OGC/1.0/WebMercatorQuad',
      layers: [{ id: 'spots', dataType: 'vector' }],
    }),
  ],
  [
    'tileset/description',
    async () =>
      Promise.all((await relOf(`${TILES}/WebMercatorQuad`, `${REL}tiling-scheme`)).map(({ href }) => statusOf(href))),
    [200],
  ],
  [
    'tileset/description',
    async () => (await relOf(`${TILES}/WebMercatorQuad`, 'item')).map(({ templated, type }) => [templated, type]),
    [[true, 'application/vnd.mapbox-vector-tile']],
  ],
  ['tilesets-list/tileset-path', () => statusOf(TILES), 200],
  [
    'tilesets-list/tileset-links',
    async () =>
      ((await bodyOf(TILES))['tilesets'] as Body[]).map(({ crs, dataType, links }) => [
        crs,
        dataType,
        links.some(({ rel }) => rel === 'self'),
      ]),
    [[`${EPSG}3857`, 'vector', true]],
  ],
  [
    'geodata-tilesets/desc-links',
    async () => Promise.all((await relOf(SPOTS, `${REL}tilesets-vector`)).map(({ href }) => statusOf(href))),
    [200],
  ],
  [
    'mvt/content',
    async () => {
      const answer = await ask(`${TILES}/WebMercatorQuad/8/88/135`)
      const { spots } = new VectorTile(new PbfReader(await answer.bytes())).layers
      return [answer.headers.get('content-type'), spots?.length]
    },
    ['application/vnd.mapbox-vector-tile', 25],
  ],
  [
    'oas30/operation-id',
    async () => Object.values((await documentOf()).paths).flatMap(({ get: operation }) => operation?.operationId ?? []),
    [
      '.collection.vector.getTileSetsList',
      '.collection.vector.getTileSet',
      '.collection.vector.getTile',
      'getTileMatrixSetsList',
      'getTileMatrixSet',
    ],
  ],
  [
    'core/conformance-success',
    async () =>
      ((await bodyOf('/conformance'))['conformsTo'] as string[]).filter((uri) => uri.includes('ogcapi-tiles')).length,
    6,
  ],
  [
    'core/tc-tilematrix-definition',
    async () => (await tileParameters()).find(({ name }) => name === 'tileMatrix'),
    { name: 'tileMatrix', in: 'path', required: true, schema: { type: 'string' }, description: expect.any(String) },
  ],
  ...['Row', 'Col'].map((axis): Case => [
    `core/tc-tile${axis.toLowerCase()}-definition`,
    async () => (await tileParameters()).find(({ name }) => name === `tile${axis}`),
    {
      name: `tile${axis}`,
      in: 'path',
      required: true,
      schema: { type: 'integer', minimum: 0 },
      description: expect.any(String),
    },
  ]),
  [
    'tilesets-list/tileset-links',
    async () => {
      const [one] = (await bodyOf(TILES))['tilesets'] as Body[]
      const hrefs = one!.links
        .filter(({ rel }) => rel === 'self' || rel === `${REL}tiling-scheme`)
        .map(({ href }) => href)
      return [one!['tileMatrixSetURI'], ...(await Promise.all(hrefs.map((href) => statusOf(href))))]
    },
    ['http://www.opengis.net/def/tilematrixset/OGC/1.0/WebMercatorQuad', 200, 200],
  ],
  [
    'tileset/description',
    async () => {
      const [item] = await relOf(`${TILES}/WebMercatorQuad`, 'item')
      return statusOf(item!.href.replace('{tileMatrix}', '8').replace('{tileRow}', '88').replace('{tileCol}', '135'))
    },
    200,
  ],
  ['geodata-tilesets/operation', async () => ((await bodyOf(TILES))['tilesets'] as Body[]).length, 1],
  [
    'oas30/completeness',
    async () =>
      Object.keys((await documentOf()).paths).filter((path) => path.startsWith('/collections/{collectionId}/tiles')),
    [
      '/collections/{collectionId}/tiles',
      '/collections/{collectionId}/tiles/WebMercatorQuad',
      '/collections/{collectionId}/tiles/WebMercatorQuad/{tileMatrix}/{tileRow}/{tileCol}',
    ],
  ],
  [
    'mvt/content',
    // The corners of the grid are those of the tile: the point lies where the formula of the projection puts it.
    async () => {
      const answer = await ask(`${TILES}/WebMercatorQuad/8/88/135`)
      const { spots } = new VectorTile(new PbfReader(await answer.bytes())).layers
      const x = spots!.feature(0).loadGeometry()[0]![0]!.x
      const lon = ((135 + x / spots!.extent) / 256) * 360 - 180
      return [spots!.feature(0).type, lon]
    },
    [1, expect.closeTo(11.01, 3)],
  ],
]
