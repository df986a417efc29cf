import { imageOf, writeGeoTiff } from '@terrane/testing/geotiff'
import type { House } from './house.ts'
import { refused, type WorstRequests } from './worst-requests.ts'

const NOISE_SIDE = 1024
const ICON_BYTES = 130_000
const JSON_TYPE = { 'content-type': 'application/json' }

/** Tables and files of maps that {@link ofDoors} requests. */
export const DOORS_SETUP = `
  create table public.hooked (id int primary key, turn int, name text);
  insert into public.hooked select i, 0, repeat('h', 100000) from generate_series(1, 1000) i;
  grant all on public.hooked to service_role;
  insert into geoembeddings.map_files (kind, folder, name, content, media_type, is_public)
    select 'icon', 'heavy', i::text, convert_to('<svg xmlns="http://www.w3.org/2000/svg" width="60" height="60"><!--'
      || repeat('i', ${ICON_BYTES}) || '--><circle cx="' || i % 60 || '" cy="30" r="20"/></svg>', 'utf8'), 'image/svg+xml', true
    from generate_series(1, 1000) i;
`

/** A VRT whose sources are all the same file. */
function vrt(sources: number): string {
  const place = `xOff="0" yOff="0" xSize="${NOISE_SIDE}" ySize="${NOISE_SIDE}"`
  const one = `<SimpleSource><SourceFilename relativeToVRT="1">noise.tif</SourceFilename><SourceBand>1</SourceBand>
    <SrcRect ${place}/><DstRect ${place}/></SimpleSource>`
  return `<VRTDataset rasterXSize="${NOISE_SIDE}" rasterYSize="${NOISE_SIDE}"><SRS>EPSG:4326</SRS>
    <GeoTransform>11.5, 0.0001, 0, 48.2, 0, -0.0001</GeoTransform>
    <VRTRasterBand dataType="Float32" band="1">${one.repeat(sources)}</VRTRasterBand></VRTDataset>`
}

/** Uploads the pictures, and adds a hook that sends changes of `hooked` to a receiver with endless answers. */
export async function prepareDoors(house: House, files: string): Promise<void> {
  const image = imageOf(
    { width: NOISE_SIDE, height: NOISE_SIDE, bands: 1 },
    (x, y) => Math.sin(x * 12.9898 + y * 78.233) * 43_758.5453,
  )
  const georeference = { affine: [11.5, 0.0001, 0, 48.2, 0, -0.0001] as const, epsg: 4326, geographic: true }
  const noise = Buffer.from(await writeGeoTiff(image, { type: 'float32', georeference }))
  const post = async (
    app: string,
    path: string,
    body: string | Buffer,
    headers: Record<string, string> = JSON_TYPE,
  ) => {
    const init = { method: 'POST', body: body as string, headers: { ...house.credentials(app, 'owner'), ...headers } }
    const response = await fetch(`${house.app(app).url}${path}`, init)
    if (!response.ok) throw new Error(`${path} answered ${response.status} ${await response.text()}`)
  }
  await post('origin', '/storage/v1/bucket', JSON.stringify({ id: 'pictures', name: 'pictures', public: true }))
  const bytes = { 'content-type': 'application/octet-stream' }
  await post('origin', '/storage/v1/object/pictures/noise.tif', noise, bytes)
  await post('origin', '/storage/v1/object/pictures/layers.vrt', vrt(12), bytes)
  await post('worker', '/table-hooks', JSON.stringify({ table: 'hooked', url: `${files}/hook`, attempts: 2 }))
}

const square = (west: number, south: number) => ({
  type: 'Feature',
  properties: {},
  geometry: {
    type: 'Polygon',
    coordinates: [[[west, south], [west + 0.1, south], [west + 0.1, south + 0.1], [west, south + 0.1], [west, south]]], // prettier-ignore
  },
})
const squares = (count: number) =>
  JSON.stringify({ type: 'FeatureCollection', features: Array.from({ length: count }, () => square(11.5, 48.1)) })
/** Coordinates that alternate on one street, 9 m at a time. */
const near = (count: number) =>
  Array.from({ length: count }, (_, i) => [11.6 + (i % 2) / 8000, 48.1 + (i % 7) / 90_000])
const sql = (text: string) => ({ method: 'POST', body: JSON.stringify({ sql: text, limit: 10_000 }) })
const NOISE = 'url=storage://pictures/noise.tif'
const ok = { status: 200 }
/** 32 MB in 64 writes; a function that takes longer than its limits allow is ended. */
const kept = [ok, { status: 504, holds: 'FUNCTION_TIMEOUT' }, { status: 546, holds: 'FUNCTION_RESOURCE_LIMIT' }]
const tooLarge = refused(413, 'ANSWER_TOO_LARGE')

/**
 * The most expensive requests for pictures, map files, SQL, OSRM's services, vectors, and stored data of functions and
 * hooks.
 */
export const ofDoors: WorstRequests = {
  'a histogram of values that all differ': [
    'origin',
    `/raster/v1/statistics?${NOISE}&width=2048&height=2048&categorical=true`,
    {},
    refused(413, 'PICTURE_TOO_LARGE'),
  ],
  'statistics of many large areas': [
    'origin',
    `/raster/v1/statistics?${NOISE}&width=2048&height=2048&histogram_bins=1000`,
    { method: 'POST', body: squares(12) },
    [ok],
  ],
  'statistics of four expressions': [
    'origin',
    `/raster/v1/statistics?${NOISE}&width=2048&height=2048&expression=${encodeURIComponent('b1;b1*2;b1*3;b1/7')}`,
    {},
    [ok, { status: 413 }],
  ],
  'a picture by an expression of a thousand terms': [
    'origin',
    `/raster/v1/preview/2048x2048.png?${NOISE}&expression=${encodeURIComponent(Array.from({ length: 1000 }, () => 'b1*b1').join('+'))}`,
    {},
    [ok, { status: 422, holds: 'EXPRESSION_UNREADABLE' }],
  ],
  'a picture of a file under itself': [
    'origin',
    '/raster/v1/preview/2048x2048.tif?url=storage://pictures/layers.vrt',
    {},
    [ok, { status: 413 }, { status: 422 }],
  ],
  'a sprite of a thousand large icons': ['origin', '/maps/v1/sprites/heavy@4x.png', {}, [ok, ...tooLarge]],
  'SQL whose rows are a megabyte each': [
    'origin',
    '/sql/v1/rows',
    sql(`select i, repeat('s', 1000000) as s from generate_series(1, 10000) i`),
    refused(400, '54000'),
  ],
  'SQL without an end': [
    'origin',
    '/sql/v1/rows',
    sql('with recursive r(n) as (select 1::bigint union all select n + 1 from r) select max(n) from r'),
    refused(408, 'STATEMENT_TOO_SLOW'),
  ],
  'numbers of embedded rows of embedded rows': [
    'origin',
    '/rest/v1/many?select=id,child(count(),many(name,child(count())))&order=name.desc,id',
    {},
    [ok, ...tooLarge, { status: 500, holds: '"57014"' }],
  ],
  'clusters of a large table': ['origin', '/vector/v1/public.many/0/0/0.mvt?cluster=512', {}, [ok]],
  'a search by many long vectors': [
    'origin',
    '/rest/v1/rpc/similarity_search',
    {
      method: 'POST',
      headers: { 'content-profile': 'geoembeddings' },
      body: JSON.stringify({
        table_name: 'none',
        positive: Array.from({ length: 60 }, () => Array.from({ length: 16_000 }, (_, i) => i % 10)),
      }),
    },
    [{ status: 400 }, { status: 404 }, { status: 413 }],
  ],
  'a match of OSRM of points that lie close': [
    'router',
    '/match/v1/driving',
    {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `coordinates=${near(8000)
        .map(([lon, lat]) => `${lon!.toFixed(6)},${lat!.toFixed(6)}`)
        .join(';')}&overview=full&annotations=true`,
    },
    // The router limits the time of one answer, which may not suffice on a busy machine.
    [ok, { status: 504, holds: 'took longer than this server may spend' }],
  ],
  'attributes of a trace of points that lie close': [
    'router',
    '/routing-engine/v1/trace_attributes',
    {
      method: 'POST',
      body: JSON.stringify({
        costing: 'auto',
        shape_match: 'map_snap',
        shape: near(15_000).map(([lon, lat]) => ({ lon, lat })),
        trace_options: { search_radius: 100, gps_accuracy: 100 },
      }),
    },
    [ok, { status: 400 }],
  ],
  'a table of OSRM of many places': [
    'router',
    '/table/v1/driving',
    {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `coordinates=${near(2500)
        .map(([lon, lat]) => `${lon},${lat}`)
        .join(';')}&annotations=duration,distance`,
    },
    [ok, { status: 400 }],
  ],
  'a function that fills its cache': [
    'functions',
    '/functions/v1/keeper',
    { method: 'POST', body: 'k'.repeat(4e6) },
    kept,
  ],
  'a function that fills its cache, where the cache lies': [
    'functions',
    '/functions/v1/keeper',
    { method: 'POST', body: 'l'.repeat(4e6) },
    kept,
    'origin',
  ],
  'a change of a thousand large rows that a hook tells': [
    'origin',
    '/rest/v1/hooked?id=gt.0',
    { method: 'PATCH', body: '{"turn":1}', headers: { prefer: 'return=minimal' } },
    [{ status: 204 }, { status: 500, holds: '"57014"' }],
    'worker',
  ],
}
