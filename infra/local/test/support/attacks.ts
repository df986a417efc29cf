import type { Caller } from './hostile-requests.ts'

/** A request beyond the caller's rights or limits, with the expected answer. */
export interface Answered {
  readonly app: string
  readonly path: string
  /** Null for a request without a key. */
  readonly as: Caller | null
  readonly method?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Expected statuses. */
  readonly right: readonly number[]
  /** Pattern that the answer must contain. */
  readonly holds?: RegExp
}

const post = (path: string, as: Caller, body: unknown, right: readonly number[]): Answered => ({
  app: path.startsWith('/table-hooks') ? 'worker' : 'origin',
  path,
  as,
  method: 'POST',
  body,
  right,
})
const sql = (text: string, right: readonly number[]) => post('/sql/v1/rows', 'owner', { sql: text }, right) // prettier-ignore
const get = (path: string, right: readonly number[], as: Caller = 'anon', holds?: RegExp): Answered => ({
  app: 'origin',
  path,
  as,
  right,
  ...(holds && { holds }),
})
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const list = (count: number, of: (i: number) => string) => Array.from({ length: count }, (_, i) => of(i)).join(',')

/** 400 (54000) for a row of more than 16 MiB, or 408 when the statement exceeds its time first. */
const LATE_OR_LARGE = [400, 408]
/** A map in the console's format whose layer is a script. */
const scripted = {
  version: 8,
  sources: {},
  layers: [],
  metadata: {
    'terrane:map': {
      title: 'x',
      notes: '',
      view: null,
      layers: [{ id: 'a', title: 'a', attribution: '', opacity: 1, zooms: [0, 1], bounds: [0, 0, 1, 1], kind: 'raster', url: 'javascript:alert(1)' }], // prettier-ignore
    },
  },
}

/**
 * Statements of `/sql/v1` with PostgreSQL's errors in PostgREST's mapping: 403 for 42501, 400 for anything that is not
 * a query, 408 after the timeout. Permitted actions of the service role give 200, as long as they do not reach another
 * project.
 */
const SQL: Readonly<Record<string, Answered>> = {
  'SQL of an anon key': post('/sql/v1/rows', 'anon', { sql: 'select 1' }, [403]),
  'SQL of another project': post('/sql/v1/rows', 'foreign', { sql: 'select 1' }, [401]),
  'a second statement': sql('select 1; drop table things', [400]),
  'a second statement behind a comment': sql('select 1 /* */;--\n drop table things', [400]),
  'a write within a with': sql('with x as (delete from things returning *) select * from x', [400]),
  'a value of a gigabyte': sql(`select repeat('x', 1000000000)`, LATE_OR_LARGE),
  'a value that doubles': sql(
    `select string_agg(repeat('x', 1000000), '') from generate_series(1, 900)`,
    LATE_OR_LARGE,
  ),
  'one large value in 1,500 columns': sql(`select ${list(1500, (i) => `name as a${i}`)} from big`, LATE_OR_LARGE),
  'rows without an end': sql('select * from generate_series(1, 1000000000000)', [408]),
  'a recursion without an end': sql('with recursive r(n) as (select 1 union all select n + 1 from r) select max(n) from r', [408]), // prettier-ignore
  'a sleep': sql('select pg_sleep(1000)::text', [408]),
  'a role that sets itself back': sql(`select set_config('role', 'none', false), current_user, pg_sleep(0), (select count(*) from terrane.jobs)`, [403]), // prettier-ignore
  'a file of the server': sql(`select pg_read_file('/etc/passwd')`, [403]),
  'a large object of a file': sql(`select lo_import('/etc/passwd')`, [403]),
  'a program': sql(`copy things to program 'id'`, [400]),
  'a block without an end': sql('do $$ begin loop end loop; end $$', [400]),
  'an analysis that runs it': sql('explain (analyze) delete from things', [400]),
  'a table as XML': sql(`select query_to_xml('select * from many', true, false, '')`, LATE_OR_LARGE),
  'the end of other connections': sql('select count(pg_terminate_backend(pid)) from pg_stat_activity where pid <> pg_backend_pid()', [200, 403]), // prettier-ignore
  'a lock that stays': sql('select pg_advisory_lock(1) is null', [200]),
  'a message on a channel of the platform': sql(`select pg_notify('terrane_jobs', 'x')::text`, [200]),
  'ten thousand parentheses': sql(`select ${'('.repeat(9000)}1${')'.repeat(9000)}`, [200, 400]),
  'keys of registered projects': sql('select * from terrane.keys', [403]),
  'passwords of roles': sql('select * from pg_authid', [403]),
  'settings that outlive a call': sql(`select set_config('statement_timeout', '0', false), pg_sleep(1000)::text`, [408]), // prettier-ignore
  'a plan of a write': post('/sql/v1/plan', 'owner', { sql: 'delete from things' }, [400]),
  'a table in place of one that is there': post('/sql/v1/table', 'owner', { sql: 'select 1 as a', name: 'things' }, [409]), // prettier-ignore
  'a table of another schema': post('/sql/v1/table', 'owner', { sql: 'select 1 as a', name: 'terrane.jobs' }, [400]),
  'a parameter called __proto__': post('/sql/v1/rows', 'owner', { sql: 'select :__proto__', parameters: [{ name: '__proto__', type: 'text', value: 'x' }] }, [200]), // prettier-ignore
  'a type that is SQL': post('/sql/v1/rows', 'owner', { sql: 'select :a', parameters: [{ name: 'a', type: 'text); drop table things; --', value: 'x' }] }, [400]), // prettier-ignore
}

/**
 * Requests with hostile paths and queries: 400 for repeated or invalid values, 404 and 406 for resources that the
 * caller may not see, 422 for paths that leave a bucket, 405 for changes without rights. A stranger has a project of
 * the same name, which has no address (503).
 */
const PATHS: Readonly<Record<string, Answered>> = {
  'select twice': get('/rest/v1/things?select=id&select=name', [400], 'anon', /PARAMETER_REPEATED|PGRST/),
  'select twice in two spellings': get('/rest/v1/things?%73elect=id&select=name', [400]),
  'limit twice': get('/rest/v1/things?limit=1&limit=100000', [400]),
  'a name with NUL': get('/rest/v1/things?select%00=id', [400]),
  'embedding forty levels deep': get(`/rest/v1/child?select=${'many(child('.repeat(20)}id${'))'.repeat(20)}`, [400]),
  'embedding of one table 300 times': get(`/rest/v1/many?select=${list(300, (i) => `a${i}:child(*)`)}`, [400]),
  'a spread of large rows': get(`/rest/v1/child?select=${list(200, (i) => `...many(a${i}:name)`)}`, [400], 'owner'), // prettier-ignore
  'aggregates of large values': get(`/rest/v1/big?select=${list(300, (i) => `a${i}:name.max()`)}`, [400], 'owner'),
  'the state of functions for anybody': post('/rest/v1/rpc/state', 'anon', { store: 'fn:open:', operation: 'get' }, [404]), // prettier-ignore
  'the tables of the platform by a profile': { ...get('/rest/v1/jobs', [406]), headers: { 'accept-profile': 'terrane' } }, // prettier-ignore
  'a filter on a column that is not shown': get('/rest/v1/pg_authid?select=*', [404]),
  'collections with a limit twice': get('/ogc/v1/collections/public.things/items?limit=1&limit=10000', [400]),
  'collections with a box twice': get('/ogc/v1/collections/public.things/items?bbox=0,0,1,1&bbox=0,0,2,2', [400]),
  'a filter in two languages': get('/ogc/v1/collections/public.things/items?filter=id=1&filter-lang=cql2-json&filter-lang=cql2-text', [400]), // prettier-ignore
  'an offset behind all numbers': get('/ogc/v1/collections/public.things/items?offset=99999999999999999999', [400]),
  'a system that lies elsewhere': get('/ogc/v1/collections/public.things/items?crs=http://169.254.169.254/crs', [400]),
  'a feature of seventy megabytes': post('/ogc/v1/collections/public.things/items', 'owner', { type: 'Feature', properties: { name: 'x'.repeat(70 << 20) }, geometry: null }, [413]), // prettier-ignore
  'features of a caller without rights': post('/ogc/v1/collections/public.things/items', 'anon', { type: 'Feature', properties: { id: 9 }, geometry: null }, [405]), // prettier-ignore
  'colours twice': get('/raster/v1/preview.png?url=storage://open/a.tif&colormap_name=viridis&colormap_name=magma', [400]), // prettier-ignore
  'colours twice in two spellings': get('/raster/v1/preview.png?url=storage://open/a.tif&colormap%5Fname=viridis&colormap_name=magma', [400]), // prettier-ignore
  'a raster behind a path': get('/raster/v1/info?url=storage://open/..%2Fsecret%2Fa.tif', [422]),
  'a raster of the machine': get('/raster/v1/info?url=file:///etc/passwd', [404]),
  'a picture of ten gigapixels': get('/raster/v1/bbox/0,0,1,1/100000x100000.png?url=storage://open/a.tif', [400]),
  'a tile of 65,536 pixels': get('/raster/v1/tiles/WebMercatorQuad/0/0/0.png?url=storage://open/a.tif&tilesize=65536', [400]), // prettier-ignore
  'colours without an end': get(`/raster/v1/preview.png?url=storage://open/a.tif&colormap=${encodeURIComponent(nested(2000))}`, [400]), // prettier-ignore
  'properties twice': get('/vector/v1/public.things/0/0/0.mvt?properties=id&properties=name', [400]),
  'one table as 16 layers': get(`/vector/v1/${Array.from({ length: 16 }, () => 'public.many').join(',')}/0/0/0.mvt`, [400]), // prettier-ignore
  'a billion classes': get('/vector/v1/public.things/stats?property=id&classes=1000000000', [400]),
  'an archive behind a path': get('/vector/v1/archives/open/..%2f..%2fetc%2fpasswd', [422]),
  'an export of a column twice in two spellings': get('/export/v1/public.things?format=CSV&columns=name,%6eame', [400]),
  'an export in two formats': get('/export/v1/public.things?format=CSV&format=GeoJSON', [400]),
  'a worker of two projects': { ...get('/jobs/exportTable?projectRef=a&projectRef=b', [400], 'owner'), app: 'worker' }, // prettier-ignore
  'a map of another project': { app: 'console', path: '/api/projects/local/maps/01900000-0000-7000-8000-000000000000', as: 'foreign', method: 'DELETE', right: [503], holds: /SERVICE_OFF/ }, // prettier-ignore
  'a map without the token of its page': { app: 'console', path: '/api/projects/local/maps/01900000-0000-7000-8000-000000000000', as: 'owner', method: 'DELETE', headers: { 'x-csrf-token': '' }, right: [403] }, // prettier-ignore
  'a map of eleven megabytes': { app: 'console', path: '/api/projects/local/maps/01900000-0000-4000-8000-000000000000', as: 'owner', method: 'PUT', body: { version: 0, title: 'x', style: { version: 8, sources: {}, layers: [], a: 'x'.repeat(11 << 20) } }, right: [413] }, // prettier-ignore
  'a map of scripts': { app: 'console', path: '/api/projects/local/maps/01900000-0000-4000-8000-000000000000', as: 'owner', method: 'PUT', body: { version: 0, title: 'x', style: scripted }, right: [422], holds: /MAP_INVALID.*url/ }, // prettier-ignore
  'the page of a map with NUL': { app: 'console', path: '/m/local/%00', as: null, right: [200] },
}

/** Host names are resolved at the time of the call. */
const ADDRESSES = ['http://example.org/', 'https://2130706433/', 'https://0x7f.1/', 'https://127.1/', 'https://[::ffff:127.0.0.1]/', 'https://0177.0.0.1/', 'https://localhost/', 'https://169.254.169.254/latest/', 'https://user:pass@example.org/', 'ftp://example.org/', 'https://[::1]:1/', 'https://127.0.0.1.:1/', 'https://[fd00::1]/', 'https://[64:ff9b::7f00:1]/'] // prettier-ignore

const hook = (body: object, right: readonly number[]) => post('/table-hooks', 'owner', { table: 'things', ...body }, right) // prettier-ignore
/** Hooks: 422 for schemas that are not open, addresses that are not public, and invalid input. */
const HOOKS: Readonly<Record<string, Answered>> = {
  ...Object.fromEntries(
    ADDRESSES.map((url) => [`a hook to ${url}`, hook({ url }, url.includes('localhost') ? [201] : [422])]),
  ),
  'a hook on the keys of projects': hook({ url: 'https://example.org/', table: 'keys', schema: 'terrane' }, [422]), // prettier-ignore
  'a hook on a table of the server': hook({ url: 'https://example.org/', table: 'pg_class', schema: 'pg_catalog' }, [422]), // prettier-ignore
  'a hook to a function behind a path': hook({ function: '../open' }, [422]),
  'a hook with ten thousand conditions': hook({ url: 'https://example.org/', where: Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`c${i}`, `eq.${i}`])) }, [422]), // prettier-ignore
  'a hook on one literal that looks like a pattern': hook({ url: 'https://example.org/', where: { name: 'match.((x{1,200}){1,200}){1,200}' } }, [201]), // prettier-ignore
  'a hook with a header in its secret': hook({ url: 'https://example.org/', secret: 'a\r\nx: y' }, [422]),
  'a hook of an anon key': post('/table-hooks', 'anon', { table: 'things', url: 'https://example.org/' }, [403]),
}

/** All attacks with an immediate answer, by name. */
export const ANSWERED: Readonly<Record<string, Answered>> = { ...SQL, ...PATHS, ...HOOKS }

/** A job that reads from a server of {@link openHostileServer}, and the expected error codes. */
export type LedJob = readonly [task: string, body: object, codes: readonly string[]]

/** A model that needs no file. */
/** A model that is part of the worker. */
export const MODEL = 'builtin-texture-spectral-v2'

/** Jobs that read from a hostile server, by the server's behaviour. @param url its address */
export function ledJobs(url: string): Readonly<Record<string, LedJob>> {
  const stac = (name: string, codes: readonly string[], more: object = {}): LedJob => ['createGeoEmbeddings', { tableName: 't', modelName: MODEL, tileSize: 64, stac: { url: `${url}/${name}`, ...more } }, codes] // prettier-ignore
  const update = (name: string, codes: readonly string[]): LedJob => ['osmUpdateArea', { tablePrefix: 'town', source: { kind: 'replication', url: `${url}/${name}` } }, codes] // prettier-ignore
  const file = (name: string, codes: readonly string[]): LedJob => ['ogr2ogrImport', { fileUrl: `${url}/${name}`, tableName: 't' }, codes] // prettier-ignore
  const vectors = (name: string, codes: readonly string[]): LedJob => ['importEmbeddings', { url: `${url}/${name}`, tableName: 'v' }, codes] // prettier-ignore
  const unusable = ['STAC_UNUSABLE']
  const large = ['DOWNLOAD_TOO_LARGE', 'size_guard_exceeded']
  return {
    'a search whose next page is itself': stac('stac-itself', unusable),
    'a search in a circle': stac('stac-circle', unusable),
    'a search without an end': stac('stac-ever', unusable),
    'a search whose body grows': stac('stac-grows', unusable, { search: {} }),
    'a page without an end': stac('stac-long', large),
    'a page of twenty million lists': stac('stac-dense', [...unusable, ...large]),
    'a page of deep brackets': stac('stac-deep', [...unusable, ...large]),
    'a page that unpacks': stac('stac-bomb', large),
    'a search that leads inside': stac('stac-inside', ['URL_REFUSED']),
    'a search that leads to a file': stac('stac-file', ['URL_REFUSED']),
    'an address that leads inside': file('redirect-inside', ['URL_REFUSED']),
    'an address that leads to a file': file('redirect-file', ['URL_REFUSED']),
    'an address that leads on and on': file('redirect-round', ['URL_REFUSED']),
    'a file that its header says to unpack': file('encoded-bomb', large),
    'a file that unpacks': file('packed-bomb', ['ZIP_REFUSED']),
    'a file that breaks off': file('half', ['DOWNLOAD_FAILED', 'DOWNLOAD_INCOMPLETE']),
    'an answer of headers': file('headers', ['DOWNLOAD_FAILED']),
    'vectors that unpack': vectors('packed-bomb', ['FORMAT_UNKNOWN', 'FILE_UNREADABLE', 'FILE_REQUIRED', 'ZIP_REFUSED']), // prettier-ignore
    'a state without an end': update('state-endless', [...large, 'OSM_REPLICATION_BROKEN']),
    'a state of the largest number': update('state-huge', ['OSM_REPLICATION_BROKEN']),
    'a state that is no number': update('state-odd', ['OSM_REPLICATION_BROKEN']),
    'examples of deep brackets': ['trainClassifier', { table: 'none', classifier: 'c', features: { type: 'FeatureCollection', features: [JSON.parse(nested(90))] } }, ['EMBEDDING_TABLE_NOT_FOUND']], // prettier-ignore
  }
}

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

/**
 * Variants of a key that are not the key itself. They must not give more access than a revoked key, nor reveal that the
 * key is valid.
 */
export function spellingsOf(key: string): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const last = key.at(-1)!
  const other = String.fromCharCode(last.charCodeAt(0) + 1)
  return {
    'as it is': { apikey: key },
    'with padding': { apikey: `${key}=` },
    'with another last character': { apikey: key.slice(0, -1) + other },
    'with a blank before it': { authorization: `Bearer  ${key}` },
    'under a name in capitals': { APIKEY: key },
    'with a scheme in small letters': { authorization: `bearer ${key}` },
    'with a comma': { authorization: `Bearer ${key},` },
    'in standard base64': { apikey: key.replaceAll('-', '+').replaceAll('_', '/') },
    'as a password': { authorization: basic(`x:${key}`) },
    'as a user name': { authorization: basic(`${key}:`) },
    'behind an empty part': { apikey: `.${key}` },
    'with a fourth part': { apikey: `${key}.` },
    escaped: { apikey: key.replaceAll('.', '%2E') },
    'in quotes': { apikey: `"${key}"` },
  }
}

/**
 * A function that attacks the state of functions; the query selects the attack. It answers with the result of each
 * attempt.
 */
export const STATE_ATTACKER = `
const told = (work) => Promise.resolve().then(work).then((x) => 'done ' + JSON.stringify(x ?? null).slice(0, 80), (e) => e.name + ': ' + e.message)
const ask = (body) => fetch('http://state.internal/', { method: 'POST', body }).then(async (r) => r.status + ' ' + (await r.text()).slice(0, 80))
const kinds = {
  value: async (kv) => kv.set(['a'], 'x'.repeat(70_000)),
  key: async (kv) => kv.set(['k'.repeat(3000)], 1),
  many: async (kv) => kv.getMany(Array.from({ length: 11 }, (_, i) => [i])),
  commit: async (kv) => { let one = kv.atomic(); for (let i = 0; i < 1200; i++) one = one.set([i], 1); return one.commit() },
  list: async (kv) => { let n = 0; for await (const _ of kv.list({ prefix: [] }, { limit: 1e9, batchSize: 1e9 })) n++; return n },
  circle: async (kv) => { const a = {}; a.a = a; await kv.set(['c'], a); return 'kept' },
  sum: async (kv) => { await kv.set(['s'], new Deno.KvU64(2n ** 64n - 1n)); await kv.atomic().sum(['s'], 5n).commit(); return String((await kv.get(['s'])).value) },
  other: async () => ask(JSON.stringify({ store: ['fn:open', ''], operation: 'get', keys: ['00'] })),
  bound: async () => ask(JSON.stringify({ store: ['kv', 'of-others'], operation: 'get', keys: ['00'] })),
  colon: async () => ask(JSON.stringify({ store: ['fn', ':open:'], operation: 'get', keys: ['00'] })),
  remove: async () => ask(JSON.stringify({ store: ['fn', ''], operation: 'remove' })),
  proto: async () => ask('{"store":["fn",""],"operation":"get","keys":[],"__proto__":{"store":["kv","x"]}}'),
  twice: async () => ask('{"store":["fn",""],"store":["kv","of-others"],"operation":"get","keys":["00"]}'),
  deep: async () => ask('{"store":["fn",""],"operation":"get","keys":' + '['.repeat(900_000) + ']'.repeat(900_000) + '}'),
  long: async () => ask('x'.repeat(3_000_000)),
  dense: async () => { const body = '{"store":["fn",""],"operation":"get","keys":[' + '[],'.repeat(650_000) + '1]}'; const all = await Promise.all(Array.from({ length: 60 }, () => told(() => ask(body)))); return [...new Set(all)].join(' ') },
  flood: async (kv) => { const all = await Promise.all(Array.from({ length: 300 }, (_, i) => told(() => kv.set(['f', i], 'x'.repeat(60_000))))); return [...new Set(all.map((t) => t.slice(0, 60).replace(/[0-9a-f]{20}/, '')))].slice(0, 3).join(' ') },
}
export default async (request) => {
  const kind = new URL(request.url).searchParams.get('kind')
  const kv = await Deno.openKv()
  return new Response(await told(() => kinds[kind](kv)))
}
`

/** Expected results of the attempts. */
export const STATE_ATTEMPTS: Readonly<Record<string, RegExp>> = {
  value: /^TypeError/,
  key: /^TypeError/,
  many: /^TypeError/,
  commit: /^TypeError/,
  list: /^TypeError|^done/,
  circle: /^done "kept"/,
  sum: /^done "4"/,
  other: /^done "403/,
  bound: /^done "403/,
  colon: /^done "200/,
  remove: /^done "403/,
  proto: /^done "200/,
  twice: /^done "403/,
  deep: /^done "413/,
  long: /^done "413/,
  dense: /413|FUNCTION_RESOURCE_LIMIT|FUNCTION_CRASHED/,
  flood: /^done|FUNCTION_RESOURCE_LIMIT|FUNCTION_CRASHED/,
}
