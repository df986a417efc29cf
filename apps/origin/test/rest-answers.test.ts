import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openOrigin, type TestOrigin } from './harness.ts'

// Expected answers are those of PostgREST 14 to the same requests.
let origin: TestOrigin
beforeAll(async () => {
  origin = await openOrigin({ TERRANE_REST_SCHEMAS: 'public,"odd' })
  await origin.db.database.query(`
    create schema """odd"; grant usage on schema """odd" to anon;
    create table """odd".things (id int); insert into """odd".things values (7); grant select on """odd".things to anon;
    create table public.towns (country text, name text, people int default 5, primary key (country, name));
    insert into public.towns values ('de', 'Ulm', 1), ('de', 'Hof', 2);
    create table public.days (id int primary key, at timestamptz);
    insert into public.days values (1, '2024-07-01T12:00:00Z');
    create table public.parks (id int primary key, town text);
    insert into public.parks values (1, 'Ulm'), (2, 'Ulm');
    create table public.counts (id bigint primary key default 7, n int);
    insert into public.counts values (9007199254740992, 1), (9007199254740993, 1);
    create table public.own (id int primary key, owner text); insert into public.own values (1, 'someone');
    alter table public.own enable row level security; create policy own on public.own using (owner = 'anon');
    grant all on public.towns, public.days, public.parks, public.counts, public.own to anon;
    create function public.any_park(towns) returns setof parks rows 1 language sql stable
      as 'select * from public.parks where town = $1.name';
    create domain public.town as public.towns;
    create function public.town_of(wanted text) returns setof public.town language sql stable
      as 'select t.*::public.towns::public.town from public.towns t where name = wanted';
    create function public.joined(variadic words text[]) returns text language sql stable as 'select array_to_string(words, ''+'')';
    create function public.pair(a int) returns record language sql stable as 'select a as one, a + 1 as two';
    create function public.pairs() returns setof record language sql stable as 'select 1 as one union all select 2';
    create function public.asked(name text) returns text language sql stable as 'select current_setting(name, true)';
    create function public.towns_above(people int) returns setof towns language sql stable
      as 'select * from public.towns t where t.people > towns_above.people order by name';
    create function public.answer(headers text, status text) returns int language sql volatile as
      'select set_config(''response.headers'', headers, true); select set_config(''response.status'', status, true); select 1';
    create function public.quietly(headers text) returns void language sql volatile as
      'select set_config(''response.headers'', headers, true)';
    create function public.raised(message text, detail text) returns int language plpgsql as
      'begin raise sqlstate ''PGRST'' using message = message, detail = detail; end';
    create function public.tagged() returns trigger language plpgsql as
      'begin perform set_config(''response.headers'', ''[{"X-Town": "'' || new.name || ''"}]'', true); return new; end';
    create trigger tagged before insert on public.towns for each row execute function public.tagged();
  `)
})
afterAll(() => origin[Symbol.asyncDispose]())

async function ask(path: string, init: { method?: string; prefer?: string; body?: unknown; headers?: object } = {}) {
  const { method = 'GET', prefer, body, headers } = init
  const response = await fetch(`${origin.url}/rest/v1${path}`, {
    method,
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    headers: {
      apikey: origin.keys.anon,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      prefer: `tx=rollback, ${prefer ?? ''}`,
      ...headers,
    },
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? null : (JSON.parse(text) as unknown),
  }
}
const call = (name: string, body: object) => ask(`/rpc/${name}`, { method: 'POST', body })
const codeOf = async (answer: ReturnType<typeof ask>) => {
  const { status, body } = await answer
  return [status, (body as { code?: string } | null)?.code]
}

describe('what SQL sets for the answer', () => {
  test('response.headers and response.status are applied, and not to the next answer', async () => {
    const headers = JSON.stringify([{ 'X-Cost': '5' }, { 'Cache-Control': 'no-store' }])
    const answer = await call('answer', { headers, status: '203' })
    expect([answer.status, answer.headers.get('x-cost'), answer.headers.get('cache-control'), answer.body]).toEqual([
      203,
      '5',
      'no-store',
      1,
    ])
    const next = await ask('/towns?limit=1')
    expect([next.status, next.headers.get('x-cost')]).toEqual([200, null])
    expect((await call('quietly', { headers: '[{"X-Cost": "6"}]' })).headers.get('x-cost')).toBe('6')
  })
  test('a trigger sets headers of a change', async () => {
    const answer = await ask('/towns', { method: 'POST', body: { country: 'de', name: 'Zell' } })
    expect([answer.status, answer.headers.get('x-town')]).toEqual([201, 'Zell'])
  })
  test.each([
    '{"a": "b"}',
    '[{"a": 1}]',
    '[{"a": "1", "b": "2"}]',
    'x',
    '[{"Set-Cookie": "a=b"}]',
    '[{"X-Accel-Redirect": "/"}]',
    '[{"X-A": "b\\r\\nc: d"}]',
    '[{"Access-Control-Allow-Origin": "x"}]',
    '[{"Content-Length": "1"}]',
    '[{"Transfer-Encoding": "chunked"}]',
    '[{"Vary": "*"}]',
    '[{"X-LiteSpeed-Location": "/"}]',
    '[{"X-Reproxy-URL": "http://a.test"}]',
    '[{"X-Terrane-Denied": "1"}]',
    '[{"Link": "</a>; rel=preload"}]',
  ])('headers %s are an error PGRST111', async (headers) => {
    expect(await codeOf(call('answer', { headers, status: '' }))).toEqual([500, 'PGRST111'])
  })
  test.each(['bad', '99', '100', '600', '200 OK'])('a status %s is an error PGRST112', async (status) => {
    expect(await codeOf(call('answer', { headers: '[]', status }))).toEqual([500, 'PGRST112'])
  })
  test('headers of more than 8192 characters are an error PGRST111', async () => {
    const headers = JSON.stringify(Array.from({ length: 9 }, (_, i) => ({ [`X-${i}`]: 'a'.repeat(1000) })))
    expect(await codeOf(call('answer', { headers, status: '' }))).toEqual([500, 'PGRST111'])
  })
  test('refused settings undo the change', async () => {
    const insert = { method: 'POST', body: { country: 'de', name: 'Zell' }, headers: { prefer: '' } }
    await origin.db.database.query(`create function public.refused() returns trigger language plpgsql as
      'begin perform set_config(''response.status'', ''99'', true); return new; end';
      create trigger refused before insert on public.towns for each row execute function public.refused()`)
    expect(await codeOf(ask('/towns', insert))).toEqual([500, 'PGRST112'])
    await origin.db.database.query('drop function public.refused() cascade')
    expect((await ask('/towns?name=eq.Zell')).body).toEqual([])
  })
  test('its headers replace those of the server, and caches keep callers apart', async () => {
    const headers = JSON.stringify([{ Link: '</a>; rel="next"' }, { link: '</b>; rel="prev"' }, { Location: '/c' }])
    const answer = await call('answer', { headers, status: '201' })
    expect(answer.headers.get('vary')).toMatch(/apikey.*Authorization/)
    expect(answer.headers.get('link')).toBe('</a>; rel="next", </b>; rel="prev"')
    await origin.db.database.query(`create function public.placed() returns trigger language plpgsql as
      'begin perform set_config(''response.headers'', ''[{"Location": "/here"}]'', true); return new; end';
      create trigger placed before insert on public.days for each row execute function public.placed()`)
    const placed = await ask('/days', { method: 'POST', body: { id: 2 }, prefer: 'return=headers-only' })
    expect(placed.headers.get('location')).toBe('/here')
  })
  test.each(['204', '205', '304'])('a status %s without a body leaves the connection usable', async (status) => {
    expect((await call('answer', { headers: '[]', status })).status).toBe(Number(status))
    expect((await ask('/towns?name=eq.Ulm&select=name')).body).toEqual([{ name: 'Ulm' }])
  })
  test('an error of SQLSTATE PGRST is answered as it says', async () => {
    const message = JSON.stringify({ code: '123', message: 'No more', details: 'D', hint: 'H' })
    const detail = JSON.stringify({ status: 402, headers: { 'X-Left': '0', 'Set-Cookie': 'a=b' } })
    const answer = await call('raised', { message, detail })
    expect([answer.status, answer.body]).toEqual([402, { code: '123', message: 'No more', details: 'D', hint: 'H' }])
    expect([answer.headers.get('x-left'), answer.headers.get('set-cookie')]).toEqual(['0', null])
    expect(await codeOf(call('raised', { message: 'x', detail }))).toEqual([500, 'PGRST121'])
    expect(await codeOf(call('raised', { message, detail: '{"status": 42, "headers": {}}' }))).toEqual([
      500,
      'PGRST121',
    ])
  })
})

describe('what SQL learns of the request', () => {
  test('its headers without credentials, its method and its path', async () => {
    const secret = ['X-API-Key', 'Cookie', 'Proxy-Authorization', 'X-Auth-Token', 'X-Goog-Iap-Jwt-Assertion']
    const hidden = [...secret, 'X-Forwarded-Access-Token', 'X_API_KEY', 'X-Terrane-Depth'].map((name) => [
      name,
      'hidden',
    ])
    const headers = { 'x-tenant': 'öst', 'x-author': 'me', ...(Object.fromEntries(hidden) as object) }
    const asked = async (name: string) => (await ask(`/rpc/asked?name=${name}`, { headers })).body
    expect(await asked('request.headers')).toContain('"x-author":"me"')
    expect(await asked('request.headers')).not.toContain('hidden')
    expect(JSON.parse((await asked('request.headers')) as string)).toMatchObject({ 'x-tenant': expect.any(String) })
    expect(await asked('request.headers')).not.toContain('apikey')
    expect([await asked('request.method'), await asked('request.path')]).toEqual(['GET', '/rpc/asked'])
  })
  test('the time zone of Prefer', async () => {
    const day = (prefer: string) => ask('/days', { prefer })
    const there = await day('timezone=America/New_York')
    expect(there.body).toEqual([{ id: 1, at: '2024-07-01T08:00:00-04:00' }])
    expect(there.headers.get('preference-applied')).toContain('timezone=America/New_York')
    expect((await day('')).body).toEqual([{ id: 1, at: '2024-07-01T12:00:00+00:00' }])
    for (const zone of ['Nowhere/Land', "UTC';--", "\\'"])
      expect(await codeOf(day(`timezone=${zone}`))).toEqual([400, '22023'])
    expect((await day('')).status).toBe(200)
  })
})

describe('PUT', () => {
  const put = (query: string, body: unknown, prefer = 'return=representation') =>
    ask(`/towns?${query}`, { method: 'PUT', body, prefer })
  test('inserts a row, or replaces the row with its key', async () => {
    const fresh = await put('country=eq.de&name=eq.Zell', { country: 'de', name: 'Zell', people: 9 })
    expect([fresh.status, fresh.body]).toEqual([201, [{ country: 'de', name: 'Zell', people: 9 }]])
    const known = await put('country=eq.de&name=eq.Ulm', [{ country: 'de', name: 'Ulm', people: 9 }])
    expect([known.status, known.body]).toEqual([200, [{ country: 'de', name: 'Ulm', people: 9 }]])
    expect((await put('country=eq.de&name=eq.Ulm', { country: 'de', name: 'Ulm' }, '')).status).toBe(204)
  })
  test('keys are compared as the database compares them', async () => {
    const count = (id: string, body: string) =>
      ask(`/counts?id=eq.${id}`, { method: 'PUT', body, prefer: 'return=representation' })
    const exact = await count('9007199254740993', '{"id": 9007199254740993, "n": 2}')
    expect([exact.status, exact.body]).toMatchObject([200, [{ n: 2 }]])
    expect((await count('1', '{"id": "01", "n": 2}')).status).toBe(201)
    const others = [
      ['9007199254740992', '{"id": 9007199254740993, "n": 2}'],
      ['null', '{"id": null}'],
    ]
    for (const [id = '', body = ''] of others) {
      const [status, code] = await codeOf(count(id, body))
      expect([status, ['PGRST115', '22P02'].includes(String(code))]).toEqual([400, true])
    }
    expect(await codeOf(count('undefined', '{"n": 2}'))).toEqual([400, 'PGRST115'])
    expect(await codeOf(count('7', '{}'))).toEqual([400, 'PGRST115'])
  })
  test('a row that a policy hides is not replaced', async () => {
    const own = { method: 'PUT', body: { id: 1, owner: 'anon' } }
    expect(await codeOf(ask('/own?id=eq.1', own))).toEqual([401, '42501'])
  })
  test.each([
    ['country=eq.de', 405, 'PGRST105'],
    ['country=eq.de&name=neq.Ulm', 405, 'PGRST105'],
    ['country=eq.de&name=eq.Ulm&people=eq.1', 405, 'PGRST105'],
    ['or=(country.eq.de,name.eq.Ulm)', 405, 'PGRST105'],
    ['country=eq.de&name=eq.Hof', 400, 'PGRST115'],
    ['country=eq.de&name=eq.Ulm&limit=1', 400, 'PGRST114'],
  ])('%s is refused', async (query, status, code) => {
    expect(await codeOf(put(query, { country: 'de', name: 'Ulm', people: 9 }))).toEqual([status, code])
  })
})

test('Location names the inserted row', async () => {
  const insert = (body: unknown) => ask('/towns', { method: 'POST', body, prefer: 'return=headers-only' })
  const one = await insert({ country: 'de', name: 'Bad Orb&x' })
  expect(one.headers.get('location')).toBe('/rest/v1/towns?country=eq.de&name=eq.Bad%20Orb%26x')
  const two = await insert(['A', 'B'].map((name) => ({ country: 'de', name })))
  expect([two.status, two.headers.get('location')]).toEqual([201, null])
})

test('a column of the body that is not in the table is named', async () => {
  const body = { country: 'de', name: 'A', mayor: 'x' }
  const wanted = { code: 'PGRST204', message: "Could not find the 'mayor' column of 'towns' in the schema cache" }
  expect((await ask('/towns', { method: 'POST', body })).body).toMatchObject(wanted)
  expect((await ask('/towns?name=eq.Ulm', { method: 'PATCH', body })).body).toMatchObject(wanted)
})

test('PATCH takes a list of one object, and no longer one', async () => {
  const patch = (body: unknown) => ask('/towns?name=eq.Ulm', { method: 'PATCH', body, prefer: 'return=representation' })
  expect((await patch([{ people: 3 }])).body).toEqual([{ country: 'de', name: 'Ulm', people: 3 }])
  expect(await codeOf(patch([{ people: 3 }, { people: 4 }]))).toEqual([400, 'PGRST102'])
})

describe('functions', () => {
  test('a variadic function takes a list, a value, or several values of GET', async () => {
    expect((await call('joined', { words: ['a', 'b'] })).body).toBe('a+b')
    expect((await ask('/rpc/joined?words=a')).body).toBe('a')
    expect((await ask('/rpc/joined?words=a&words=b')).body).toBe('a+b')
  })
  test('an argument and a filter may have the same name', async () => {
    expect((await ask('/rpc/towns_above?people=0&people=lt.2&select=name')).body).toEqual([{ name: 'Ulm' }])
    expect(await codeOf(ask('/rpc/towns_above?people=0&people=1'))).toEqual([400, 'PARAMETER_REPEATED'])
  })
  test('records are objects of their columns', async () => {
    expect((await call('pair', { a: 4 })).body).toEqual({ one: 4, two: 5 })
    expect((await call('pairs', {})).body).toEqual([{ one: 1 }, { one: 2 }])
    expect((await call('pairs?select=*', {})).status).toBe(200)
    expect(await codeOf(call('pairs?select=one', {}))).toEqual([400, 'PGRST100'])
  })
  test('rows of a domain over a table are rows of the table', async () => {
    expect((await call('town_of?select=name', { wanted: 'Ulm' })).body).toEqual([{ name: 'Ulm' }])
  })
  test('max-affected of a function without rows is refused', async () => {
    const prefer = 'handling=strict, max-affected=1'
    expect(await codeOf(ask('/rpc/quietly', { method: 'POST', body: { headers: '[]' }, prefer }))).toEqual([
      400,
      'PGRST128',
    ])
  })
})

test('a function that promises one row and gives two does not repeat the outer row', async () => {
  const rows = [{ name: 'Ulm', any_park: { id: expect.any(Number) as number } }]
  expect((await ask('/towns?select=name,any_park(id)&name=eq.Ulm')).body).toEqual(rows)
})

describe('headers', () => {
  const range = async (path: string, headers: object = {}, prefer = '') => {
    const answer = await ask(path, { headers, prefer })
    return [answer.status, answer.headers.get('content-range')]
  }
  test('a page beyond the end tells the number of rows', async () => {
    expect(await range('/towns?offset=5', {}, 'count=exact')).toEqual([416, '*/2'])
  })
  test('Range narrows limit and offset', async () => {
    expect(await range('/towns?limit=2', { range: '0-0' })).toEqual([200, '0-0/*'])
    expect(await range('/towns?offset=1', { range: '0-5' })).toEqual([200, '1-1/*'])
  })
  test('inserted and deleted rows are not a part of a list', async () => {
    const removed = await ask('/towns?name=eq.Ulm', { method: 'DELETE', prefer: 'count=exact' })
    expect([removed.status, removed.headers.get('content-range')]).toEqual([204, '*/1'])
    expect(removed.headers.get('preference-applied')).toContain('count=exact')
  })
  test('the media type says that nulls are left out', async () => {
    const accept = 'application/vnd.pgrst.array+json;nulls=stripped'
    expect((await ask('/towns', { headers: { accept } })).headers.get('content-type')).toBe(`${accept}; charset=utf-8`)
  })
  test('the schema of the answer is named where there are several, also one with a quote', async () => {
    const odd = await ask('/things', { headers: { 'accept-profile': '"odd' } })
    expect([odd.body, odd.headers.get('content-profile')]).toEqual([[{ id: 7 }], '"odd'])
  })
  test('OPTIONS tells the methods without a key', async () => {
    const options = (path: string, headers: Record<string, string> = {}) =>
      fetch(`${origin.url}/rest/v1${path}`, { method: 'OPTIONS', headers })
    const [table, fn] = [await options('/towns'), await options('/rpc/pairs')]
    expect([table.status, table.headers.get('allow')]).toEqual([200, 'OPTIONS, GET, HEAD, POST, PUT, PATCH, DELETE'])
    expect([fn.status, fn.headers.get('allow')]).toEqual([200, 'OPTIONS, GET, HEAD, POST'])
    const preflight = await options('/towns', { origin: 'http://a.test', 'access-control-request-method': 'PATCH' })
    expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([
      204,
      expect.stringContaining('PATCH'),
    ])
  })
})

test('other paths, methods of functions and media types of bodies are errors of PostgREST', async () => {
  expect(await codeOf(ask('/towns/a/b'))).toEqual([404, 'PGRST125'])
  expect(await codeOf(ask('/rpc/pairs', { method: 'DELETE' }))).toEqual([405, 'PGRST101'])
  const csv = { method: 'POST', body: 'a', headers: { 'content-type': 'text/csv' } }
  expect(await codeOf(ask('/towns', csv))).toEqual([415, 'PGRST102'])
})
