// Slow: statements run until the limit of their role ends them, each on an origin of its own.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openOrigin, type TestOrigin, settingsOf } from './harness.ts'

let origin: TestOrigin
beforeAll(async () => {
  origin = await openOrigin({
    ...settingsOf({
      rest: {
        maxRows: 3,
        extensionFunctions: ['st_isvalid'],
        publicBodyBytes: 2048,
        timeoutsMs: { anon: 40_001, authenticated: 40_002, service_role: 40_003 },
      },
    }),
  })
  await origin.db.database.query(`
    create table public.five (id int primary key);
    insert into public.five select generate_series(1, 5);
    grant select on public.five to anon;
    grant all on public.five to service_role;
    create function public.rows_of_five() returns setof public.five language sql stable as 'select * from public.five order by id';
    create function public.many(n int) returns setof int language sql stable as 'select generate_series(1, n)';
    create function public.longest() returns text language sql stable as 'select current_setting(''statement_timeout'')';
    create function public.echo(value json) returns json language sql immutable as 'select value';
  `)
})
afterAll(async () => {
  await origin[Symbol.asyncDispose]()
})
const anon = () => origin.client(origin.keys.anon)
const raw = (path: string, init: { method?: string; body?: string; headers?: Record<string, string> } = {}) =>
  fetch(`${origin.url}/rest/v1${path}`, { ...init, headers: { apikey: origin.keys.anon, ...init.headers } })
const post = (path: string, body: string, key = origin.keys.anon) =>
  raw(path, { method: 'POST', body, headers: { apikey: key, 'content-type': 'application/json' } })

describe('the most rows of an answer', () => {
  test('bound tables and calls, and Content-Range tells of the rest when asked to count', async () => {
    expect((await anon().from('five').select()).data).toHaveLength(3)
    const counted = await anon().from('five').select('*', { count: 'exact' })
    expect(counted).toMatchObject({ count: 5, status: 206 })
    expect((await anon().rpc('rows_of_five')).data).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }])
    expect((await anon().rpc('many', { n: 100 })).data).toEqual([1, 2, 3])
    const response = await raw('/five?order=id', { headers: { prefer: 'count=exact' } })
    expect(response.headers.get('content-range')).toBe('0-2/5')
  })
  test('lead to the next page by offset or Range, and a smaller limit stays', async () => {
    expect((await anon().from('five').select().order('id').range(3, 99)).data).toEqual([{ id: 4 }, { id: 5 }])
    expect((await anon().from('five').select().limit(2)).data).toHaveLength(2)
  })
  test('do not touch what a change returns', async () => {
    const service = origin.client(origin.keys.service)
    const rows = [6, 7, 8, 9].map((id) => ({ id }))
    expect((await service.from('five').insert(rows).select()).data).toEqual(rows)
    await service.from('five').delete().gt('id', 5)
  })
})

test('plans are not shown unless the operator says so', async () => {
  for (const type of ['application/vnd.pgrst.plan+json', 'application/vnd.pgrst.plan+text']) {
    const response = await raw('/five', { headers: { accept: type } })
    expect(response.status).toBe(406)
    expect(await response.json()).toMatchObject({ code: 'PGRST107' })
  }
})

test('functions of extensions are not found unless they are named, for any role', async () => {
  for (const key of [origin.keys.anon, origin.keys.service]) {
    const client = origin.client(key)
    expect((await client.rpc('st_generatepoints', { area: 'POINT(0 0)', npoints: 3_000_000 })).error).toMatchObject({
      code: 'PGRST202',
    })
    expect((await client.rpc('postgis_full_version')).status).toBe(404)
  }
  // Arguments of PostGIS functions have no names, so the function is found, and the call fails for another reason.
  expect((await anon().rpc('st_isvalid')).error?.hint).toContain('public.st_isvalid')
})

test('statements are bounded by role', async () => {
  const longest = async (key: string) => (await origin.client(key).rpc('longest')).data as string
  expect(await longest(origin.keys.anon)).toBe('40001ms')
  expect(await longest(origin.keys.user)).toBe('40002ms')
  expect(await longest(origin.keys.service)).toBe('40003ms')
})

describe('bodies', () => {
  test('of callers without the service-role key are small, announced or not', async () => {
    const body = JSON.stringify({ value: 'x'.repeat(3000) })
    expect((await post('/rpc/echo', body)).status).toBe(413)
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(body))
        controller.close()
      },
    })
    const init = { method: 'POST', body: stream, duplex: 'half', headers: { apikey: origin.keys.anon } } as RequestInit
    ;(init.headers as Record<string, string>)['content-type'] = 'application/json'
    expect((await fetch(`${origin.url}/rest/v1/rpc/echo`, init)).status).toBe(413)
    expect((await post('/rpc/echo', body, origin.keys.service)).status).toBe(200)
  })
  test('are read after the key was', async () => {
    expect((await post('/rpc/echo', '{', 'nonsense')).status).toBe(401)
    expect((await post('/five', 'x'.repeat(5000), 'nonsense')).status).toBe(401)
  })
  test.each([
    ['deep arrays', `{"value": ${'['.repeat(900)}${']'.repeat(900)}}`],
    ['deep objects', `{"value": ${'{"a":'.repeat(300)}1${'}'.repeat(300)}}`],
    ['many arguments', JSON.stringify(Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`a${i}`, 1])))],
  ])('with %s are refused', async (_, body) => {
    const response = await post('/rpc/echo', body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ code: 'PGRST102' })
  })
})

test('a range that ends before it begins is 416', async () => {
  expect((await raw('/five', { headers: { range: '5-2' } })).status).toBe(416)
})

describe('a statement that runs for too long', () => {
  const points =
    'select sum(st_npoints(st_generatepoints(st_makeenvelope(0, 0, 1, 1), 3000000 + i))) from generate_series(1, 10000) i'
  test('ends at the timeout of its role, and others go on', async () => {
    await using bounded = await openOrigin(settingsOf({ rest: { timeoutsMs: { anon: 300 } } }))
    const { database } = bounded.db
    await database.query(
      `create function public.points() returns double precision language sql volatile as '${points}'`,
    )
    const { error } = await bounded.client(bounded.keys.anon).rpc('points')
    expect(error).toMatchObject({ code: '57014', message: 'canceling statement due to statement timeout' })
    expect((await database.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })

  test('is 503 with a hint where the answer is a tile or features', async () => {
    await using bounded = await openOrigin(settingsOf({ rest: { timeoutsMs: { anon: 300 } } }))
    await bounded.db.database.query(`create extension if not exists postgis;
      create function public.stuck_tile(z integer, x integer, y integer) returns bytea language plpgsql as
        $$ begin loop perform 1; end loop; end $$;
      create function public.stuck() returns text language plpgsql as $$ begin loop perform 1; end loop; end $$;
      create table public.few (id int primary key, geom geometry(Point, 4326));
      insert into public.few values (1, st_setsrid(st_point(1, 1), 4326));
      create view public.slow with (security_invoker) as select id, public.stuck() as name, geom from public.few;
      grant select on public.few, public.slow to anon; grant execute on all functions in schema public to anon`)
    for (const path of ['/vector/v1/public.stuck_tile/0/0/0.mvt', '/ogc/v1/collections/public.slow/items']) {
      const response = await fetch(bounded.url + path, { headers: { apikey: bounded.keys.anon } })
      const hint = expect.stringContaining('fewer rows') as string
      expect([path, response.status, await response.json()]).toEqual([path, 503, expect.objectContaining({ code: 'STATEMENT_TOO_SLOW', hint })]) // prettier-ignore
    }
  })

  test('ends with the request that it is for', async () => {
    const { database } = origin.db
    await database.query(`create table public.left_behind (n int);
      create function public.long_insert() returns void security definer language sql volatile
        as 'insert into public.left_behind select n from generate_series(1, 40000000000) n'`)
    const stop = new AbortController()
    const asked = anon().rpc('long_insert').abortSignal(stop.signal)
    const asking = Promise.resolve(asked)
    await sleep(500)
    stop.abort()
    expect((await asking).error?.message).toContain('AbortError')
    // This would wait for a running statement on the embedded database, and for the lock on a server.
    await database.query('lock table public.left_behind; drop table public.left_behind')
  })
})
