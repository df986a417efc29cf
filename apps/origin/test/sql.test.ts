import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openOrigin, type TestOrigin } from './harness.ts'

let origin: TestOrigin
beforeAll(async () => {
  origin = await openOrigin()
  await origin.db.database
    .query(`create table public.shops (id integer primary key, name text, district text, price numeric, geom geometry(Point, 4326));
    insert into public.shops select i, 'shop ' || i, 'd' || i % 3, i * 1.5, st_setsrid(st_makepoint(6 + i * 0.001, 49.6), 4326) from generate_series(1, 50) i;
    create table public.secrets (id integer primary key, word text); insert into public.secrets values (1, 'open sesame');
    revoke all on public.secrets from service_role, public; grant all on public.shops to service_role`)
})
afterAll(() => origin[Symbol.asyncDispose]())

interface Answer {
  readonly status: number
  readonly body: {
    readonly code?: string
    readonly message?: string
    readonly rows: Record<string, unknown>[]
    readonly columns: { readonly name: string; readonly type: string }[]
    readonly more: boolean
    readonly estimate: { readonly cost: number }
  }
}

async function post(path: string, body: object, key = origin.keys.service): Promise<Answer> {
  const response = await fetch(`${origin.url}/sql/v1/${path}`, {
    method: 'POST',
    headers: { apikey: key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as Answer['body'] }
}

const rowsOf = (sql: string, more: object = {}) => post('rows', { sql, ...more })
const one = async (sql: string) => (await origin.db.database.query<{ v: unknown }>(sql)).rows[0]?.v

describe('a statement', () => {
  test('gives its rows, types, an estimate, and whether there are more', async () => {
    const { status, body } = await rowsOf(
      'select id, name, price, geom, 9007199254740993 as big from shops order by id desc;',
      { limit: 2 },
    )
    expect(status).toBe(200)
    expect(body.columns).toEqual([
      { name: 'id', type: 'integer' },
      { name: 'name', type: 'text' },
      { name: 'price', type: 'numeric' },
      { name: 'geom', type: 'geometry(Point,4326)' },
      { name: 'big', type: 'bigint' },
    ])
    expect(body.rows).toEqual([
      {
        id: 50,
        name: 'shop 50',
        price: 75,
        geom: { type: 'Point', coordinates: [6.05, 49.6] },
        big: '9007199254740993',
      },
      {
        id: 49,
        name: 'shop 49',
        price: 73.5,
        geom: { type: 'Point', coordinates: [6.049, 49.6] },
        big: '9007199254740993',
      },
    ])
    expect([body.more, body.estimate.cost > 0]).toEqual([true, true])
  })

  test('takes parameters as values of their types, and leaves colons elsewhere alone', async () => {
    const parameters = [
      { name: 'least', type: 'integer', value: '49' },
      { name: 'word', type: 'text', value: `'; drop table shops; --` },
    ]
    const sql = `select id::bigint as id, :word as word, ':word' as quoted /* :least */ from shops where id >= :least order by id -- :word`
    const { body } = await rowsOf(sql, { parameters })
    expect(body.rows).toEqual([49, 50].map((id) => ({ id, word: `'; drop table shops; --`, quoted: ':word' })))
    expect((await rowsOf('select :n', { parameters: [{ name: 'n', type: 'integer', value: 'x' }] })).status).toBe(400)
    expect((await rowsOf('select 1', { parameters: [{ name: 'n', type: 'regclass', value: 'x' }] })).body.code).toBe(
      'BAD_BODY',
    )
  })

  test.each([
    ['', 'BAD_BODY'],
    ['select 1; select 2', '42601'],
    ['select 1); drop table shops; select (1', '42601'],
    ['drop table shops', 'BAD_SQL'],
    ['begin', 'BAD_SQL'],
    ['select 1 as a, 2 as a', 'BAD_SQL'],
    ['select nothing from shops', '42703'],
    ['select', 'BAD_SQL'],
    ['explain analyze select 1', '42601'],
    ['select * from nowhere', '42P01'],
  ])('%j is refused with %s', async (sql, code) => {
    const { status, body } = await rowsOf(sql)
    expect([status >= 400 && status < 500, body.code]).toEqual([true, code])
  })

  test('is for the service role alone', async () => {
    for (const key of [origin.keys.anon, origin.keys.user]) {
      expect((await post('rows', { sql: 'select 1 as a' }, key)).body.code).toBe('SERVICE_ROLE_ONLY')
      for (const name of ['query_rows', 'query_plan', 'table_from_query', 'save_query', 'give_to_service_role'])
        expect((await origin.client(key, 'geoembeddings').rpc(name, {})).status).toBeGreaterThanOrEqual(400)
    }
  })

  test('ends when its caller leaves', async () => {
    const gone = new AbortController()
    const asked = fetch(`${origin.url}/sql/v1/rows`, {
      method: 'POST',
      headers: { apikey: origin.keys.service, 'content-type': 'application/json' },
      body: JSON.stringify({ sql: `select count(*) as n from generate_series(1, 1000000000) /* left */` }),
      signal: gone.signal,
    })
    setTimeout(() => gone.abort(), 300)
    await expect(asked).rejects.toThrow('aborted')
    await expect.poll(async () => (await rowsOf('select 1 as a')).status, { timeout: 15_000 }).toBe(200)
    if (origin.db.database.capabilities.parallel)
      await expect
        .poll(
          () =>
            one(
              `select count(*)::integer as v from pg_stat_activity where query like '%left%' and state = 'active' and pid <> pg_backend_pid()`,
            ),
          { timeout: 15_000 },
        )
        .toBe(0)
  })

  test('has bounds of rows and bytes', async () => {
    expect(
      (await rowsOf('select a.id from shops a, shops b, shops c, shops d, shops e, shops f', { limit: 3 })).body,
    ).toMatchObject({
      more: true,
    })
    expect((await rowsOf('select 1 as a', { limit: 10_001 })).status).toBe(400)
    const { status, body } = await rowsOf(`select repeat('x', 1000000) as big from generate_series(1, 20)`)
    expect([status, body.message]).toEqual([400, expect.stringContaining('16 MiB')])
  })
})

describe('a hostile statement', () => {
  /** Ways out of the role, and what each would change or tell. */
  const HOSTILE = [
    `select set_config('role', 'none', true) as a`,
    `select set_config('role', 'none', false) as a`,
    `select set_config('role', current_setting('is_superuser'), true) as a`,
    `select set_config('session_authorization', 'postgres', true) as a`,
    `select query_to_xml('select set_config(''role'', ''none'', true)', true, true, '') as a`,
    `select query_to_xml('reset role', true, true, '')::text as a`,
    `select query_to_xml('set session authorization default', true, true, '')::text as a`,
    `select * from ts_stat('select to_tsvector(set_config(''role'', ''none'', true))')`,
    `select database_to_xml(true, true, '')::text as a from (select set_config('role', 'none', true)) x`,
    `with x as (insert into shops values (999) returning 1) select * from x`,
    `with x as (delete from shops returning id) select * from x`,
    `select * from shops for update`,
    `select word from secrets`,
    `select query_to_xml('select word from secrets', true, true, '')::text as a`,
    `select query_to_xml('delete from shops', true, true, '')::text as a`,
    `select query_to_xml('create table owned ()', true, true, '')::text as a`,
    `select set_config('transaction_read_only', 'off', true) || query_to_xml('delete from shops returning 1', true, true, '')::text as a`,
    `select query_to_xml('copy shops to program ''id''', true, true, '')::text as a`,
    `select pg_read_file('/etc/hostname') as a`,
    `select * from pg_ls_dir('/') f`,
    `select lo_import('/etc/hostname') as a`,
    `select rolpassword from pg_authid`,
    `select geoembeddings.give_to_service_role('pg_catalog.version()'::regprocedure)::text as a`,
    `select geoembeddings.table_from_query('select 1', '{}', '[]', 'owned', 1) as a`,
    `select geoembeddings.drop_table('public', 'shops')::text as a`,
    `select nextval('terrane_none') as a`,
  ]

  test.each(HOSTILE)('%s is refused', async (sql) => {
    const { status } = await rowsOf(sql)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).not.toBe(500)
  })

  test.each(HOSTILE)('%s is refused as a table and as a plan, and leaves nothing', async (sql) => {
    const before = await one('select count(*)::integer as v from public.shops')
    expect((await post('table', { sql, name: 'loot' })).status).toBeGreaterThanOrEqual(400)
    await post('plan', { sql })
    expect(await one('select count(*)::integer as v from public.shops')).toBe(before)
    expect(await one(`select coalesce(to_regclass('public.owned'), to_regclass('public.loot'))::text as v`)).toBeNull()
  })

  test('leaves no setting and no lock behind for other callers', async () => {
    await rowsOf(
      `select set_config('search_path', 'terrane', false) as a, set_config('statement_timeout', '1', false) as b, set_config('request.jwt.claims', '{"sub":"x"}', false) as c`,
    )
    await rowsOf(`select pg_try_advisory_lock(4711)::text as a`)
    expect(
      (
        await post('table', {
          sql: `select set_config('search_path', 'terrane', false) as a, pg_try_advisory_lock(4711) as b`,
          name: 'settings',
        })
      ).status,
    ).toBe(200)
    await expect
      .poll(() => one(`select count(*)::integer as v from pg_locks where locktype = 'advisory' and objid = 4711`))
      .toBe(0)
    for (let i = 0; i < 12; i++) {
      const { data } = await origin
        .client(origin.keys.service)
        .from('shops')
        .select('id')
        .eq('id', i + 1)
      expect(data).toEqual([{ id: i + 1 }])
    }
  })
})

describe('what is kept', () => {
  test('is a table with a key, an index and its types, which is not overwritten', async () => {
    const sql =
      'select district, count(*) as n, st_union(geom)::geometry(MultiPoint, 4326) as geom from shops group by 1'
    expect((await post('table', { sql, name: 'per_district' })).body).toEqual({ table: 'public.per_district', rows: 3 })
    expect((await post('table', { sql, name: 'per_district' })).status).toBe(409)
    const { data } = await origin
      .client(origin.keys.service)
      .from('per_district')
      .select('row_id,district,n')
      .order('district')
    expect(data).toEqual([16, 17, 17].map((n, i) => ({ row_id: expect.any(Number), district: `d${i}`, n })))
    expect((await origin.client(origin.keys.anon).from('per_district').select()).status).toBe(401)
    expect(await one(`select count(*)::integer as v from pg_indexes where tablename = 'per_district'`)).toBe(2)
    expect((await post('table', { sql, name: 'Bad Name' })).body.code).toBe('BAD_BODY')
  })

  test('is a function with parameters, which rpc calls and which cannot change its role', async () => {
    const parameters = [
      { name: 'least', type: 'integer', value: '48' },
      { name: 'word', type: 'text', value: `it's` },
    ]
    const sql = 'select id as shop, :word || name as label, geom from shops where id >= :least order by id'
    const { body } = await post('query', { sql, parameters, name: 'late_shops' })
    const hasTiles = origin.db.database.capabilities.parallel
    expect(body).toEqual({ name: 'late_shops', tiles: hasTiles ? 'late_shops_tiles' : null })
    const client = origin.client(origin.keys.service)
    expect((await client.rpc('late_shops', { least: 50 }).select('shop,label')).data).toEqual([
      { shop: 50, label: `it'sshop 50` },
    ])
    expect((await client.rpc('late_shops').select('shop')).data).toHaveLength(3)
    expect((await origin.client(origin.keys.anon).rpc('late_shops')).status).toBe(401)
    if (hasTiles) {
      const tile = await fetch(`${origin.url}/vector/v1/public.late_shops_tiles/0/0/0?least=49`, {
        headers: { apikey: origin.keys.service },
      })
      expect([tile.status, (await tile.arrayBuffer()).byteLength > 20]).toEqual([200, true])
    }
    expect((await post('query', { sql, parameters, name: 'late_shops' })).status).toBe(409)
    await post('query', { sql: `select set_config('role', 'none', true) as a`, name: 'escape' })
    expect((await client.rpc('escape')).error?.message).toMatch(/security-definer/)
    const headers = { apikey: origin.keys.service }
    const list = (await (await fetch(`${origin.url}/sql/v1/queries`, { headers })).json()) as { name: string }[]
    expect(list.map(({ name }) => name)).toEqual(['escape', 'late_shops'])
    for (const name of ['escape', 'late_shops'])
      expect((await fetch(`${origin.url}/sql/v1/queries/${name}`, { method: 'DELETE', headers })).status).toBe(204)
    expect(await one(`select count(*)::integer as v from pg_proc where proname like 'late_shops%'`)).toBe(0)
    expect((await fetch(`${origin.url}/sql/v1/queries/version`, { method: 'DELETE', headers })).status).toBe(404)
  })
})
