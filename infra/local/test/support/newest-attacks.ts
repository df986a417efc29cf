import type { Answered } from './attacks.ts'
import type { Caller } from './hostile-requests.ts'

/** Name of the raster that the attacks of pictures need, in the public bucket `open`. */
export const RASTER = 'scene.tif'
const SCENE = `storage://open/${RASTER}`

/** Refusals of any kind; an attack that reaches a limit of time may also be 408. */
const REFUSED = [400, 401, 403, 404, 405, 406, 408, 409, 413, 414, 415, 422, 431, 501]
/** For requests that are costly or odd, but permitted. */
const BOUNDED = [200, 201, 204, ...REFUSED]

const encode = encodeURIComponent
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const ring = (count: number) => Array.from({ length: count }, (_, i) => [9 + (i % 100) / 1000, 48 + (i % 7) / 1000])

interface Group {
  readonly app?: string
  readonly as?: Caller | null
  readonly method?: string
  readonly right?: readonly number[]
  readonly headers?: Readonly<Record<string, string>>
}

/** Attacks of one kind by path. */
function at(kind: string, group: Group, paths: readonly string[]): Record<string, Answered> {
  const { app = 'origin', as = 'anon', method = 'GET', right = REFUSED, headers = {} } = group
  return Object.fromEntries(
    paths.map((path, i) => [`${kind} ${i + 1}: ${path.slice(0, 90)}`, { app, path, as, method, right, headers }]),
  )
}

/** Attacks of one kind by body. */
function bodies(kind: string, group: Group & { path: string }, given: readonly unknown[]): Record<string, Answered> {
  const { app = 'origin', as = 'owner', method = 'POST', right = REFUSED, headers = {}, path } = group
  return Object.fromEntries(
    given.map((body, i) => [
      `${kind} ${i + 1}: ${(JSON.stringify(body) ?? '').slice(0, 90)}`,
      { app, path, as, method, body, right, headers },
    ]),
  )
}

const WMS = '/raster/v1/wms?service=WMS&version=1.3.0&request=GetMap&styles=&format=image/png'
const map = `${WMS}&layers=${SCENE}&crs=EPSG:3857`
const wms = [
  `${map}&bbox=0,0,1,1&width=100000&height=100000`,
  `${map}&bbox=0,0,1,1&width=-1&height=1`,
  `${map}&bbox=0,0,1,1&width=1e9&height=1`,
  `${map}&bbox=1,1,0,0&width=9&height=9`,
  `${map}&bbox=NaN,0,1,1&width=9&height=9`,
  `${map}&bbox=-1e308,-1e308,1e308,1e308&width=9&height=9&x=1`,
  `${map}&bbox=0,0,0,0&width=9&height=9`,
  `${map}&bbox=0,0,1,1,2,3&width=9&height=9`,
  `${map}&bbox=0,0,1,1&width=9&height=9&WIDTH=99`,
  `${map}&bbox=0,0,1,1&width=9&height=9&LAYERS=${SCENE}`,
  `${map}&bbox=0,0,1,1&width=9&height=9&url=storage://open/other.tif`,
  `${map}&bbox=0,0,1,1&width=9&height=9&SLD=http://169.254.169.254/`,
  `${map}&bbox=0,0,1,1&width=9&height=9&SLD_BODY=${encode('<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>')}`,
  `${map}&bbox=0,0,1,1&width=9&height=9&bgcolor=url(javascript:1)`,
  `${map}&bbox=0,0,1,1&width=9&height=9&format=../../etc`,
  `${map}&bbox=0,0,1,1&width=9&height=9&__proto__=x&colormap=${nested(3000)}`,
  `${map}&bbox=0,0,1,1&width=9&height=9&expression=${'('.repeat(4000)}b1${')'.repeat(4000)}`,
  `${WMS}&layers=file:///etc/passwd&crs=EPSG:3857&bbox=0,0,1,1&width=9&height=9`,
  `${WMS}&layers=http://169.254.169.254/a.tif&crs=EPSG:3857&bbox=0,0,1,1&width=9&height=9`,
  `${WMS}&layers=http://[::ffff:127.0.0.1]/a.tif&crs=EPSG:3857&bbox=0,0,1,1&width=9&height=9`,
  `${WMS}&layers=storage://open/..%2F..%2Fetc%2Fpasswd&crs=EPSG:3857&bbox=0,0,1,1&width=9&height=9`,
  `${WMS}&layers=storage://secret/a.tif&crs=EPSG:3857&bbox=0,0,1,1&width=9&height=9`,
  `${WMS}&layers=embeddings://terrane.jobs&crs=EPSG:3857&bbox=0,0,1,1&width=9&height=9`,
  `${WMS}&layers=${Array.from({ length: 100 }, () => SCENE).join()}&crs=EPSG:3857&bbox=0,0,1,1&width=9&height=9`,
  `${WMS}&layers=&crs=EPSG:3857&bbox=0,0,1,1&width=9&height=9`,
  `${WMS}&layers=${SCENE}&crs=EPSG:999999999&bbox=0,0,1,1&width=9&height=9`,
  `${WMS}&layers=${SCENE}&crs=http://169.254.169.254/&bbox=0,0,1,1&width=9&height=9`,
  `${map.replace('1.3.0', '9.9.9')}&bbox=0,0,1,1&width=9&height=9`,
  `/raster/v1/wms?service=WFS&request=GetCapabilities&layers=${SCENE}`,
  `/raster/v1/wms?service=WMS&request=GetFeatureInfo&version=1.3.0&layers=${SCENE}&query_layers=storage://open/b.tif&crs=EPSG:3857&bbox=0,0,1,1&width=9&height=9&i=1&j=1`,
  `/raster/v1/wms?service=WMS&request=GetFeatureInfo&version=1.3.0&layers=${SCENE}&query_layers=${SCENE}&crs=EPSG:3857&bbox=0,0,1,1&width=9&height=9&i=1e9&j=-1`,
  `/raster/v1/wms?service=WMS&request=${encode('<script>')}&layers=${SCENE}`,
]
const statistics = [
  `/raster/v1/statistics?url=${SCENE}&c=${Array.from({ length: 1500 }, (_, i) => i).join('&c=')}`,
  `/raster/v1/statistics?url=${SCENE}&histogram_bins=1000000000`,
  `/raster/v1/statistics?url=${SCENE}&histogram_range=NaN,Infinity`,
  `/raster/v1/statistics?url=${SCENE}&p=101`,
  `/raster/v1/statistics?url=${SCENE}&max_size=1000000`,
  `/raster/v1/statistics?url=${SCENE}&bidx=999999`,
  `/raster/v1/statistics?url=${SCENE}&expression=${Array.from({ length: 900 }, () => 'b1').join(';')}`,
  `/raster/v1/point/1e308,1e308?url=${SCENE}`,
  `/raster/v1/point/NaN,0?url=${SCENE}`,
  `/raster/v1/point/0,0?url=${SCENE}&coord_crs=EPSG:0`,
  '/vector/v1/public.many/stats?property=name&classes=-1',
  '/vector/v1/terrane.keys/stats?property=key',
  '/vector/v1/public.many/stats?property=id&property=name',
  `/vector/v1/public.many/stats?property=${encode('id"; drop table things; --')}`,
  `/vector/v1/public.many/stats?property=${encode('id,name')}`,
  `/vector/v1/public.many/stats?property=id&filter=${encode('('.repeat(12_000))}`,
]
const fonts = [
  '/maps/v1/fonts/..%2F..%2Fetc%2Fpasswd/0-255.pbf',
  '/maps/v1/fonts/Noto%20Sans%20Regular/0-99999999.pbf',
  '/maps/v1/fonts/Noto%20Sans%20Regular/-256--1.pbf',
  '/maps/v1/fonts/Noto%20Sans%20Regular/1-256.pbf',
  `/maps/v1/fonts/${encode(Array.from({ length: 500 }, (_, i) => `f${i}`).join())}/0-255.pbf`,
  '/maps/v1/fonts/%00/0-255.pbf',
  `/maps/v1/fonts/${'x'.repeat(3000)}/0-255.pbf`,
  '/maps/v1/sprites/..%2F..%2Fetc.json',
  '/maps/v1/sprites/none@1000000x.png',
  '/maps/v1/sprites/none@2x@2x.json',
  '/maps/v1/sprites/constructor.json',
  '/maps/v1/styles/..%2f..%2fkeys.json',
  '/maps/v1/styles/__proto__',
  '/maps/v1/styles/%F0%9F%92%A9',
]
const functionsOf = (name: string) => `/rest/v1/rpc/${name}`
/** An embedding table of the raster's tiles. */
export const SERIES = 'series'
const searches = [
  {},
  { table_name: null },
  { table_name: 'terrane.jobs' },
  { table_name: "x'; drop table things; --" },
  { table_name: SERIES, result_limit: 2147483647 },
  { table_name: SERIES, result_offset: -1 },
  { table_name: SERIES, min_overlap: 'NaN' },
  { table_name: SERIES, sources: Array.from({ length: 200_000 }, (_, i) => i) },
  {
    table_name: SERIES,
    spatial_filter: `POLYGON((${ring(50_000)
      .map((p) => p.join(' '))
      .join()},9 48))`,
  },
  {
    table_name: SERIES,
    spatial_filter: `GEOMETRYCOLLECTION(${'GEOMETRYCOLLECTION('.repeat(500)}POINT(0 0)${')'.repeat(501)}`,
  },
  { table_name: SERIES, srid: 2147483647 },
  { table_name: SERIES, since: 'infinity', until: '-infinity' },
  { table_name: SERIES, label_name: 'x'.repeat(1_000_000) },
]
const feature = (more: object) => ({ type: 'Feature', properties: { id: 900, name: 'a' }, geometry: { type: 'Point', coordinates: [0, 0] }, ...more }) // prettier-ignore
const features: unknown[] = [
  feature({ geometry: { type: 'Point', coordinates: ['a', null] } }),
  feature({ geometry: { type: 'Point', coordinates: Array.from({ length: 100_000 }, () => 1) } }),
  feature({ geometry: { type: 'Polygon', coordinates: [ring(3)] } }),
  feature({
    geometry: {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0],
          [1e308, 1e308],
          [-1e308, 1e308],
          [0, 0],
        ],
      ],
    },
  }),
  feature({ geometry: { type: 'GeometryCollection', geometries: [{ type: 'GeometryCollection', geometries: [] }] } }),
  feature({ geometry: { type: 'Curve', coordinates: [] } }),
  feature({ properties: { 'id"; drop table things; --': 1 } }),
  feature({ properties: { __proto__: 1, constructor: 2 } }),
  feature({ properties: { id: 'not a number' } }),
  feature({ properties: { id: 1e300 } }),
  feature({ properties: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`c${i}`, i])) }),
  feature({ type: 'FeatureCollection' }),
  JSON.parse(nested(400)),
  [],
  null,
]
const items = '/ogc/v1/collections/public.things/items'
const filters = ['casei(casei(casei(name)))', "name LIKE '%_%_%_%_%_%_%_%_%_%_%'", '1=1;drop table things', `name IN (${Array.from({ length: 1200 }, (_, i) => `'${i}'`).join()})`, `${'NOT '.repeat(2000)}id=1`, `S_INTERSECTS(geom,POLYGON((${ring(400).map((p) => p.join(' ')).join()},9 48)))`, "name='\u0000'", 'pg_sleep(100)=1', 'id=99999999999999999999999999', 'xmin=1'] // prettier-ignore
const saved: unknown[] = [
  { sql: 'select :a::int', parameters: [{ name: 'a', type: 'int4', value: '1); drop table things; --' }] },
  { sql: 'select :a', parameters: [{ name: 'a', type: 'regclass', value: 'terrane.keys' }] },
  { sql: 'select :a', parameters: [{ name: 'a b', type: 'text', value: '' }] },
  { sql: 'select :a', parameters: [{ name: 'a', type: 'text', value: 'x' }, { name: 'a', type: 'text', value: 'y' }] },
  { sql: 'select :a', parameters: Array.from({ length: 5000 }, (_, i) => ({ name: `a${i}`, type: 'text', value: '' })) },
  { sql: 'select :a', parameters: [{ name: 'a', type: 'text', value: 'x'.repeat(30_000_000) }] },
  { sql: `select $$:a$$, ':a', ":a", /* :a */ 1`, parameters: [{ name: 'a', type: 'text', value: 'x' }] },
  { sql: 'select E\'\\\':a', parameters: [{ name: 'a', type: 'text', value: '; drop table things; --' }] },
  { sql: 'select $1', parameters: [] },
  { sql: 'select dblink_connect(\'host=169.254.169.254\')', parameters: [] },
  { sql: 'set role postgres', parameters: [] },
  { sql: 'select 1', limit: -1 },
  { sql: 'select 1', limit: 1e12 },
  { sql: '' },
  { sql: '\u0000' },
] // prettier-ignore
const MAP = '/api/projects/local/maps/01900000-0000-4000-8000-00000000abcd'
const pictures = [
  'data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+',
  'data:image/png;base64,AAAA" onerror="x',
  'data:text/html;base64,PGI+',
  `data:image/png;base64,${'A'.repeat(70_000)}`,
  'https://169.254.169.254/a.png',
  'data:image/png;base64,iVBORw0KGgo\n=',
].map((picture) => ({ picture }))
const documents = [
  { version: -1, title: 'x', style: {} },
  { version: 0, title: '', style: {} },
  { version: 0, title: 'x', style: { metadata: { 'terrane:map': null } } },
  { version: 0, title: 'x', style: { version: 8, sources: { a: { type: 'vector', url: 'file:///etc/passwd' } }, layers: [] } },
  { version: 0, title: 'x', style: JSON.parse(`{"a":${nested(900)}}`) },
  { version: 0, title: '</script><script>', style: { metadata: { 'terrane:map': { title: 1 } } } },
] // prettier-ignore
const place = (lat: unknown, lon: unknown) => ({ lat, lon })
/** Places of a route where numbers, counts or shapes are wrong. Heights themselves are not served. */
const journeys = [
  {},
  { locations: [] },
  { locations: [place(91, 0), place(0, 0)] },
  { locations: [place('a', null), place(48.1, 11.6)] },
  { locations: [place([48.1], { lon: 11.6 }), place(48.1, 11.6)] },
  { locations: [place('', ' '), place('0x10', '1e999')] },
  { locations: Array.from({ length: 20_000 }, () => place(48.1, 11.58)) },
  { locations: [place(48.09, 11.58), place(48.1, 11.59)], exclude_polygons: [[['a', null], [true, 1], [0, 0]]] },
  { locations: [place(48.09, 11.58), place(48.1, 11.59)], exclude_locations: Array.from({ length: 9000 }, () => place(48, 11)) },
  { locations: [place(48.09, 11.58), place(48.1, 11.59)], costing_options: { auto: { use_tolls: 'NaN', top_speed: 1e308 } } },
].map((journey) => ({ costing: 'auto', ...journey })) // prettier-ignore
const traces = [
  { encoded_polyline: '\u0000' },
  { encoded_polyline: '~'.repeat(900_000) },
  { shape: Array.from({ length: 2_000_000 }, () => place(1, 1)) },
].map((trace) => ({ costing: 'auto', shape_match: 'map_snap', ...trace }))
/** Addresses that a job must not read, in several spellings. */
const zarr = (url: string) => ({ url, tableName: 'z' })
const led = ['http://169.254.169.254/a.zarr', 'https://169.254.169.254/a.zarr', 'https://[::1]:1/a.zarr', 'https://[::ffff:7f00:1]/a.zarr', 'https://0x7f000001/a.zarr', 'https://2130706433/a.zarr', 'file:///etc', 's3://../../etc', 'https://user:pass@127.0.0.1/a.zarr', 'gopher://127.0.0.1/'].map(zarr) // prettier-ignore
const chains = ['abc', '-1', '99999999999999999999', '9'.repeat(5000), '0, 1', 'eyJhbGciOiJub25lIn0.eyJkIjowfQ.', '[object Object]'] // prettier-ignore

/** Attacks on the newest surfaces, answered at once. */
export const NEWEST: Readonly<Record<string, Answered>> = {
  ...at('WMS', { right: BOUNDED }, wms.slice(5, 6)),
  ...at('WMS', {}, [...wms.slice(0, 5), ...wms.slice(6)]),
  ...at('statistics', { right: BOUNDED }, statistics),
  ...at('statistics without a key', { as: null }, ['/vector/v1/public.secret/stats?property=id', '/vector/v1/geoembeddings.sources/stats?property=id']), // prettier-ignore
  ...at('fonts and icons', {}, fonts),
  ...at('fonts of anon', { method: 'PUT' }, ['/maps/v1/fonts/mine', '/maps/v1/styles/mine', '/maps/v1/sprites/a/b']),
  ...at('fonts deleted by anon', { method: 'DELETE' }, ['/maps/v1/fonts/mine', '/maps/v1/styles/mine']),
  ...bodies('change series', { path: functionsOf('change_series'), right: BOUNDED, headers: { 'content-profile': 'geoembeddings' } }, searches), // prettier-ignore
  ...bodies('change series of a stranger', { path: functionsOf('change_series'), as: 'foreign', headers: { 'content-profile': 'geoembeddings' } }, searches.slice(0, 2)), // prettier-ignore
  ...bodies('OGC create', { path: items }, features),
  ...bodies('OGC create by anon', { path: items, as: 'anon' }, features.slice(0, 2)),
  ...bodies('OGC replace', { path: `${items}/1`, method: 'PUT' }, features.slice(0, 8)),
  ...bodies('OGC patch', { path: `${items}/999999`, method: 'PATCH' }, [...features.slice(0, 4), feature({})]),
  ...at('OGC delete by anon', { method: 'DELETE' }, [`${items}/1`, `${items}/1%20or%201=1`, `${items}/*`]),
  ...at('OGC filter', { right: BOUNDED }, filters.map((filter) => `${items}?filter=${encode(filter)}`)), // prettier-ignore
  ...bodies('saved SQL', { path: '/sql/v1/rows', right: BOUNDED }, saved),
  ...bodies('saved SQL of anon', { path: '/sql/v1/rows', as: 'anon' }, saved.slice(0, 3)),
  ...bodies('a picture of a map', { app: 'console', path: `${MAP}/picture`, method: 'PUT' }, pictures),
  ...bodies('a picture by a stranger', { app: 'console', path: `${MAP}/picture`, method: 'PUT', as: 'foreign', right: [...REFUSED, 503] }, pictures.slice(0, 1)), // prettier-ignore
  ...bodies('a map', { app: 'console', path: MAP, method: 'PUT' }, documents),
  ...at('a page of a map', { app: 'console', as: null }, ['/api/m/local/..%2f..%2fkeys', '/api/m/local/01900000-0000-4000-8000-000000000000', '/api/m/%00/%00', '/api/m/__proto__/constructor', `/api/m/${'x'.repeat(3000)}/y`]), // prettier-ignore
  ...at('files of the console', { app: 'console', as: null }, ['/assets/..%2f..%2fpackage.json', '/assets/%2e%2e/%2e%2e/etc/passwd', '/assets/....//package.json', '/assets/%00']), // prettier-ignore
  ...bodies('places of a route', { app: 'router', path: '/routing-engine/v1/route', right: BOUNDED }, journeys),
  ...bodies('a trace', { app: 'router', path: '/routing-engine/v1/trace_route' }, traces),
  ...bodies('heights', { app: 'router', path: '/routing-engine/v1/height' }, [{}]),
  ...bodies('heights without a key', { app: 'router', path: '/routing-engine/v1/height', as: null }, [{}]),
  ...bodies('Zarr by address', { app: 'worker', path: '/jobs/importEmbeddings', right: [...REFUSED, 202] }, led),
  ...Object.fromEntries(chains.map((chain) => [`a chain of calls ${chain.slice(0, 40)}`, { app: 'functions', path: '/functions/v1/guarded', as: 'owner', method: 'POST', right: [200], holds: /^in$/, headers: { 'x-terrane-depth': chain, 'x-terrane-chain': chain } }])), // prettier-ignore
}
