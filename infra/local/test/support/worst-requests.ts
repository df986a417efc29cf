import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { writePbf } from '@terrane/osm'
import { buildCity } from '@terrane/testing/city'

const MIB = 1024 * 1024

/** Tables and functions that the requests use. */
export const SETUP = `
  create extension if not exists postgis;
  create table public.big (id int primary key, name text, parts text[], geom geometry(Geometry, 4326), raw bytea);
  insert into public.big
    select 1, repeat('x', 1000000), array_fill(repeat('y', 1000), array[1000]),
      st_setsrid(st_buffer(st_point(9, 48), 1, 50000), 4326), decode(repeat('00', 1000000), 'hex');
  create table public.many (id int primary key, name text, geom geometry(Point, 4326));
  insert into public.many
    select i, repeat('z', 2000), st_setsrid(st_point(9 + i / 1e6, 48), 4326) from generate_series(1, 60000) i;
  create table public.wide (${Array.from({ length: 1500 }, (_, i) => `c${i} text`).join(', ')});
  insert into public.wide select ${Array.from({ length: 1500 }, () => `'ww'`).join(', ')} from generate_series(1, 500);
  create table public.child (id serial primary key, parent int references public.many (id));
  insert into public.child (parent) select i % 10 + 1 from generate_series(1, 200000) i;
  create function public.fat_tile(z integer, x integer, y integer) returns bytea language sql as
    $$ select convert_to(repeat('t', 200000000), 'utf8') $$;
  create function public.stuck_tile(z integer, x integer, y integer) returns bytea language plpgsql as
    $$ begin loop perform 1; end loop; end $$;
  create function public.endless() returns setof public.many language sql as
    $$ select m.* from public.many m, generate_series(1, 100000) $$;
  create function public.one_text() returns text language sql as $$ select repeat('q', 200000000) $$;
  grant all on all tables in schema public to service_role, anon; grant execute on all functions in schema public to service_role, anon;
  notify pgrst, 'reload schema';
`
const aliases = (column: string, count: number) => Array.from({ length: count }, (_, i) => `a${i}:${column}`).join(',')
const rows = (count: number, bytes: number) =>
  JSON.stringify(Array.from({ length: count }, (_, i) => ({ id: 1_000_000 + i, name: 'v'.repeat(bytes) })))

const ITEMS = '/ogc/v1/collections/public.many/items'
const terms = (count: number) => Array.from({ length: count }, (_, i) => `name like 'z%${i}'`).join(' or ')
const within = (count: number) => {
  const ring = Array.from(
    { length: count },
    (_, i) => `${(9 + Math.cos(i) / 3).toFixed(3)} ${(48 + Math.sin(i) / 3).toFixed(3)}`,
  )
  return `S_INTERSECTS(geom, POLYGON((${[...ring, ring[0]].join(',')})))`
}
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
/** Positions in the town of the router. */
const points = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ lon: 11.58 + (i % 97) / 4000, lat: 48.09 + (i % 89) / 4000 }))
const trace = (count: number) => JSON.stringify({ costing: 'auto', shape_match: 'map_snap', shape: points(count) })
const updateOf = (url: string) =>
  JSON.stringify({ tablePrefix: 'town', source: { kind: 'files', files: [{ kind: 'url', url }] } })

type Asked = Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> }

/** An expected status, and the expected content of its answer. */
interface Right {
  readonly status: number
  readonly holds?: string
}

/** A request and its expected answers. */
export type WorstRequest = readonly [
  app: string,
  path: string,
  init: Asked,
  right: readonly Right[],
  /** The app whose memory and answers are watched; by default the one that gets the request. */
  watched?: string,
]
export type WorstRequests = Readonly<Record<string, WorstRequest>>

const ok = { status: 200 }
const accepted = { status: 202 }
export const refused = (status: number, code: string): readonly Right[] => [{ status, holds: code }]
const tooLarge = refused(413, 'ANSWER_TOO_LARGE')
/** PostgREST answers 500 to a statement that exceeds its timeout. */
const timedOut = { status: 500, holds: '"57014"' }
const tooSlow = { status: 503, holds: 'STATEMENT_TOO_SLOW' }
/** The answer is too large, or a busy server reaches the statement timeout first. */
const tooLargeOrLate = [...tooLarge, timedOut]

/** Requests for rows, features, tiles and routes. */
const OF_ROWS: WorstRequests = {
  'one large value under many names': [
    'origin',
    `/rest/v1/big?id=eq.1&select=${aliases('name', 500)}`,
    {},
    refused(400, 'PGRST100'),
  ],
  'one large value with casts': [
    'origin',
    `/rest/v1/big?id=eq.1&select=${aliases('parts::text', 400)}`,
    {},
    refused(400, 'PGRST100'),
  ],
  'a large geometry under many names': [
    'origin',
    `/rest/v1/big?id=eq.1&select=${aliases('geom', 200)}`,
    {},
    refused(400, 'PGRST100'),
  ],
  'bytes as text under many names': [
    'origin',
    `/rest/v1/big?id=eq.1&select=${aliases('raw', 300)}`,
    {},
    refused(400, 'PGRST100'),
  ],
  'all rows of a large table': ['origin', '/rest/v1/many', {}, [ok]],
  '1,500 columns of all rows': ['origin', '/rest/v1/wide', {}, [ok]],
  'rows without end of a function': ['origin', '/rest/v1/rpc/endless', {}, [ok, timedOut]],
  'one text of 200 MB of a function': ['origin', '/rest/v1/rpc/one_text', {}, tooLargeOrLate],
  'an export of columns without end': [
    'origin',
    `/export/v1/public.big?format=CSV&columns=${'name,'.repeat(1500)}id`,
    {},
    refused(400, '42701'),
  ],
  'an export of a large table': ['origin', '/export/v1/public.many?format=FlatGeobuf', {}, [ok]],
  'a tile of a large table': ['origin', '/vector/v1/public.many/0/0/0.mvt', {}, [ok, ...tooLarge]],
  'a tile of a large geometry': ['origin', '/vector/v1/public.big/0/0/0.mvt', {}, [ok, ...tooLarge]],
  'an insert that comes back': [
    'origin',
    '/rest/v1/many',
    { method: 'POST', body: rows(800, 10_000), headers: { prefer: 'return=representation' } },
    [{ status: 201 }, { status: 409, holds: '23505' }],
  ],
  'a regular expression of large repetitions': [
    'origin',
    '/rest/v1/many?name=match.(z{1,200}){1,200}',
    {},
    refused(400, 'PGRST100'),
  ],
  'a job that exports a query without end': [
    'worker',
    '/jobs/exportTable',
    {
      method: 'POST',
      body: JSON.stringify({
        query: `select repeat('e', 1000000) as e from generate_series(1, 2000)`,
        format: 'CSV',
        storagePath: { bucket: 'out', path: 'e.csv' },
      }),
    },
    [accepted],
  ],
  'a function that gets a large body': [
    'functions',
    '/functions/v1/open',
    { method: 'POST', body: 'b'.repeat(9 * MIB) },
    [ok],
  ],
  'features with large values as a page': [
    'origin',
    '/ogc/v1/collections/public.big/items?limit=10000&f=html',
    {},
    [ok, ...tooLarge],
  ],
  'all features of a large table': ['origin', '/ogc/v1/collections/public.many/items?limit=10000', {}, [ok]],
  'a CQL2 filter of many parentheses': [
    'origin',
    `${ITEMS}?filter=${'(not '.repeat(1500)}id=1${')'.repeat(1500)}`,
    {},
    refused(400, 'BAD_FILTER'),
  ],
  'a CQL2 filter of many terms': [
    'origin',
    `${ITEMS}?filter=${encodeURIComponent(terms(200))}`,
    {},
    refused(400, 'BAD_FILTER'),
  ],
  'a CQL2 filter with a large shape': ['origin', `${ITEMS}?filter=${encodeURIComponent(within(400))}`, {}, [ok]],
  'several large tables as one tile': ['origin', '/vector/v1/public.big,public.many/0/0/0.mvt', {}, [ok, ...tooLarge]],
  'a tile of 200 MB of a function': ['origin', '/vector/v1/public.fat_tile/0/0/0.mvt', {}, [...tooLarge, tooSlow]],
  'a tile of a function without end': ['origin', '/vector/v1/public.stuck_tile/0/0/0.mvt', {}, [tooSlow]],
  'embedded rows of embedded rows': [
    'origin',
    '/rest/v1/many?select=name,child(id,many(name,child(id,many(name))))&limit=10',
    {},
    [ok, ...tooLarge, timedOut],
  ],
  'an exact count of embedded rows that are filtered': [
    'origin',
    '/rest/v1/child?select=id,many!inner(id,child!inner(id,many!inner(id)))&many.child.many.name=like.*z*&limit=1',
    { headers: { prefer: 'count=exact' } },
    [ok, { status: 206 }, timedOut],
  ],
  'groups of large values': ['origin', '/rest/v1/big?select=name,parts,count()', {}, [ok]],
  'a map of deeply nested expressions': [
    'console',
    `/api/projects/local/maps/${crypto.randomUUID()}`,
    {
      method: 'PUT',
      body: `{"version":0,"title":"deep","style":{"version":8,"sources":{},"layers":${nested(200_000)}}}`,
    },
    refused(400, 'BODY_TOO_DEEP'),
  ],
  'a trace of 16,000 points': [
    'router',
    '/routing-engine/v1/trace_route',
    { method: 'POST', body: trace(16_000) },
    // Longer than the 200 km that a trace may have.
    refused(400, '"error_code":154'),
  ],
  'a tour of many stops': [
    'router',
    '/routing-engine/v1/optimized_route',
    { method: 'POST', body: JSON.stringify({ costing: 'auto', locations: points(500) }) },
    // More than the 50 stops that a tour may have.
    refused(400, '"error_code":150'),
  ],
}

/** Requests with the largest possible cost, and their app. @param files address of {@link openEndlessFiles} */
export const worstRequests = (files: string): WorstRequests => ({
  ...OF_ROWS,
  'a table hook with a deeply nested condition': [
    'worker',
    '/table-hooks',
    { method: 'POST', body: `{"table":"big","url":"${files}/hook","where":{"name":${nested(200_000)}}}` },
    refused(400, 'BODY_TOO_DEEP'),
  ],
  'vectors from a file without end': [
    'worker',
    '/jobs/importEmbeddings',
    { method: 'POST', body: JSON.stringify({ url: `${files}/endless.parquet`, tableName: 'vectors' }) },
    [accepted],
  ],
  'an update of OpenStreetMap without end': [
    'worker',
    '/jobs/osmUpdateArea',
    { method: 'POST', body: updateOf(`${files}/endless.osc`) },
    [accepted],
  ],
  'an update of OpenStreetMap that unpacks without end': [
    'worker',
    '/jobs/osmUpdateArea',
    { method: 'POST', body: updateOf(`${files}/bomb.osc.gz`) },
    [accepted],
  ],
})

/** A server of endless files and of a town. */
export interface EndlessFiles extends AsyncDisposable {
  readonly url: string
}

/**
 * Serves `/town.osm.pbf`, `/bomb.osc.gz` (200 MB of blanks in 200 kB) and endless files on other paths, on loopback.
 */
export async function openEndlessFiles(): Promise<EndlessFiles> {
  const town = Buffer.concat([...writePbf(buildCity().elements, { timestamp: new Date(Date.UTC(2026, 0, 1)) })])
  const bomb = gzipSync(`<osmChange version="0.6">${' '.repeat(200 * MIB)}</osmChange>`)
  const noise = Buffer.alloc(65_536, 0x20)
  const server = createServer((request, response) => {
    if (request.url === '/town.osm.pbf') return void response.end(town)
    if (request.url === '/bomb.osc.gz') return void response.end(bomb)
    response.write('<osmChange version="0.6">')
    const more = () => {
      while (!response.destroyed && response.write(noise));
      response.once('drain', more)
    }
    more()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Body of an import of the town with tables that can be updated. */
export function townImport({ url }: EndlessFiles): object {
  const [west, south, east, north] = [11.5, 48, 11.7, 48.2]
  return {
    areaName: 'town',
    tablePrefix: 'town',
    updatable: true,
    topics: ['streets'],
    source: { kind: 'url', url: `${url}/town.osm.pbf` },
    aoiGeoJson: {
      type: 'Polygon',
      coordinates: [[[west, south], [east, south], [east, north], [west, north], [west, south]]], // prettier-ignore
    },
  }
}
