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

  test('is for the service role alone, and its functions are reached by no other way', async () => {
    for (const key of [origin.keys.anon, origin.keys.user, origin.keys.service])
      for (const name of ['query_rows', 'query_plan', 'table_from_query']) {
        expect((await origin.client(key, 'geoembeddings').rpc(name, {})).status).toBe(404)
        expect((await origin.client(key, 'terrane').rpc(name, {})).status).toBe(406)
      }
    for (const key of [origin.keys.anon, origin.keys.user])
      expect((await post('rows', { sql: 'select 1 as a' }, key)).body.code).toBe('SERVICE_ROLE_ONLY')
  })

  test('ends when its caller leaves', async ({ skip }) => {
    skip(!origin.db.database.capabilities.parallel, 'one session does not show what runs')
    const gone = new AbortController()
    const asked = fetch(`${origin.url}/sql/v1/rows`, {
      method: 'POST',
      headers: { apikey: origin.keys.service, 'content-type': 'application/json' },
      body: JSON.stringify({ sql: `select count(*) as n from generate_series(1, 1000000000) /* left */` }),
      signal: gone.signal,
    })
    const running = () =>
      one(
        `select count(*)::integer as v from pg_stat_activity where query like '%query_rows%' and state = 'active' and datname = current_database() and pid <> pg_backend_pid()`,
      )
    await expect.poll(running, { timeout: 15_000 }).toBe(1)
    gone.abort()
    await expect(asked).rejects.toThrow('aborted')
    await expect.poll(running, { timeout: 15_000 }).toBe(0)
  })

  test('waits for its turn where several come at once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => rowsOf('select 1 as a')))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200))
  })

  test('gives values by their types: domains, types of other names, numbers beyond 2^53, geometries without an SRID', async () => {
    await origin.db.database
      .query(`create domain public.bigid as bigint; create type public.geometry_kind as enum ('a');
      create table public.odd (id public.bigid, kind public.geometry_kind, g geometry, least bigint, d numeric);
      insert into public.odd values (9007199254740993, 'a', st_makepoint(691000, 5335000), -9223372036854775808, 25.5000000000000000);
      grant select on public.odd to service_role`)
    const { body } = await rowsOf('select *, 9007199254740991 as last from odd -- all')
    expect(body.rows).toEqual([
      {
        id: '9007199254740993',
        kind: 'a',
        g: 'POINT(691000 5335000)',
        least: '-9223372036854775808',
        d: 25.5,
        last: 9007199254740991,
      },
    ])
    expect((await post('table', { sql: 'select id, kind, g from odd', name: 'odd_copy' })).body).toMatchObject({
      rows: 1,
    })
  })

  test('has a bound of its length, within which the server bears each', async () => {
    const sum = (terms: number) => `select ${'1+'.repeat(terms)}0 as a`
    expect((await rowsOf(sum(4_990))).status).toBeOneOf([200, 400])
    const isEmbedded = !origin.db.database.capabilities.parallel
    expect((await rowsOf(sum(isEmbedded ? 5_000 : 50_000))).body.code).toBe('BAD_BODY')
    expect((await rowsOf('select 1 as a')).status).toBe(200)
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
    await origin.db.database.query(
      `create table public.fat as select i, repeat('x', 9000000) as t from generate_series(1, 2) i; grant select on public.fat to service_role`,
    )
    expect((await rowsOf('select * from fat')).body.message).toContain('16 MiB')
  })
})

describe('a hostile statement', () => {
  /** Attempts to leave the role, each with a possible effect. */
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
    `select terrane.table_from_query('select 1', '{}', '[{"name": "a", "oid": 23, "typmod": -1}]', 'owned', '', 1) as a`,
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

  test.each(HOSTILE)('%s is refused as a kept query, at the latest when it is called', async (sql) => {
    const before = await one('select count(*)::integer as v from public.shops')
    const { status } = await post('query', { sql, name: 'kept_loot' })
    const called = await fetch(`${origin.url}/rest/v1/rpc/kept_loot`, {
      method: 'POST',
      headers: { apikey: origin.keys.service },
    })
    expect(Math.max(status, called.status)).toBeGreaterThanOrEqual(400)
    expect(await one('select count(*)::integer as v from public.shops')).toBe(before)
    await origin.db.database.query('drop view if exists kept_loot; drop function if exists kept_loot()')
  })

  test('keeps a table without the statement, which others would read as its description', async () => {
    const answer = await post('table', { sql: `select 'only for me' as a`, name: 'silent' })
    expect(answer.status).toBe(200)
    expect(await one(`select obj_description('public.silent'::regclass, 'pg_class') as v`)).toBeNull()
  })

  test('keeps the attribution of its sources with a table, and tiles name it', async () => {
    const attribution = 'Contains "Copernicus" data, <b>ESA</b>'
    const body = { sql: 'select id, geom from shops', name: 'attributed', attribution }
    expect((await post('table', body)).status).toBe(200)
    const response = await fetch(`${origin.url}/vector/v1/public.attributed`, {
      headers: { apikey: origin.keys.service },
    })
    const tiles = (await response.json()) as { vector_layers: { description: string }[] }
    expect(tiles).toMatchObject({ attribution, vector_layers: [{ description: '' }] })
    expect(tiles).not.toHaveProperty('description')
    const listed = async () => {
      const answer = await fetch(`${origin.url}/vector/v1/catalog`, { headers: { apikey: origin.keys.service } })
      return ((await answer.json()) as { tiles: Record<string, object> }).tiles['public.attributed']
    }
    expect(await listed()).toMatchObject({ description: null, attribution })
    await origin.db.database.query(`comment on table public.attributed is 'Shops of the town'`)
    expect(await listed()).toMatchObject({ description: 'Shops of the town' })
    expect(await listed()).not.toHaveProperty('attribution')
    for (const wrong of [7, 'x'.repeat(901), 'a\u0001b', 'a\0b', '\ud800']) {
      const { status, body: told } = await post('table', { ...body, name: 'too_long', attribution: wrong })
      expect([status, told.code, told.message]).toEqual([400, 'BAD_BODY', 'attribution of the body is not a text of at most 900 characters without control characters']) // prettier-ignore
    }
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

  test('calls nothing of a schema where others create functions', async () => {
    await origin.db.database.query(
      [2, 3, 4, 5]
        .map(
          (n) =>
            `create function public.format(${Array(n).fill('text').join()}) returns text language plpgsql as $$begin raise 'hijacked'; end$$`,
        )
        .join(';'),
    )
    expect((await post('table', { sql: 'select 1 as one', name: 'victim' })).body).toMatchObject({ rows: 1 })
    const { rows } = await origin.db.database.query<{ path: string }>(
      `select p.proname || ': ' || array_to_string(p.proconfig, ' ') as path from pg_proc p where p.prosecdef and p.pronamespace = 'terrane'::regnamespace
         and pg_get_userbyid(p.proowner) <> 'service_role' and 'search_path=pg_catalog, pg_temp' <> all (coalesce(p.proconfig, '{}'))`,
    )
    expect(rows).toEqual([])
  })

  test('tells no listener anything', async ({ skip }) => {
    const { database } = origin.db
    skip(!database.capabilities.notify, 'no notifications')
    const heard: string[] = []
    await using _listener = await database.listen('terrane_forged', (payload) => heard.push(payload))
    const sql = `select pg_notify('terrane_forged', 'forged')::text as a`
    expect((await post('table', { sql, name: 'notified' })).body).toMatchObject({ rows: 1 })
    expect((await rowsOf(sql)).status).toBe(200)
    await database.query(`select pg_notify('terrane_forged', 'true')`)
    await expect.poll(() => heard).toEqual(['true'])
  })
})

describe('a kept query', () => {
  const sql = 'select id::bigint as id, name, geom from shops where id < :most order by id'
  const parameters = [{ name: 'most', type: 'bigint', value: '4' }]
  const keep = (more: object = {}) => post('query', { sql, parameters, name: 'few_shops', ...more })
  const rpc = (query: string, key = origin.keys.service) =>
    fetch(`${origin.url}/rest/v1/rpc/few_shops?${query}`, { headers: { apikey: key } })

  test('is a function with its parameters and a view that tiles show', async () => {
    expect((await keep()).body).toEqual({ view: 'public.few_shops', rpc: '/rest/v1/rpc/few_shops' })
    expect(await (await rpc('select=id')).json()).toEqual([1, 2, 3].map((id) => ({ id })))
    expect(await (await rpc('select=id&most=3&id=gt.1')).json()).toEqual([{ id: 2 }])
    const { data } = await origin.client(origin.keys.service).from('few_shops').select('name').eq('id', 2)
    expect(data).toEqual([{ name: 'shop 2' }])
    const headers = { apikey: origin.keys.service }
    const about = (await (await fetch(`${origin.url}/vector/v1/public.few_shops`, { headers })).json()) as object
    expect(about).toMatchObject({
      bounds: [6.001, 49.6, 6.003, 49.6].map((edge) => expect.closeTo(edge, 6)),
      vector_layers: [{ geometry_type: 'Point', fields: { id: 'Number', name: 'String' } }],
    })
    const tile = await fetch(`${origin.url}/vector/v1/public.few_shops/0/0/0`, { headers })
    expect([tile.status, (await tile.arrayBuffer()).byteLength > 60]).toEqual([200, true])
  })

  test('is replaced under its name, and replaces nothing else', async () => {
    expect((await keep({ parameters: [{ ...parameters[0], value: '2' }] })).status).toBe(200)
    expect(await (await rpc('select=id')).json()).toEqual([{ id: 1 }])
    expect((await keep({ sql: 'select 1 as one', parameters: [] })).status).toBe(200)
    expect(await (await rpc('')).json()).toEqual([{ one: 1 }])
    expect((await keep({ name: 'shops' })).status).toBe(409)
    await origin.db.database.query(`create function public.ours() returns integer language sql as 'select 1'`)
    expect((await keep({ name: 'ours' })).status).toBe(409)
    expect((await keep({ parameters: [{ ...parameters[0], value: 'x' }] })).status).toBe(400)
  })

  test('is listed and removed, and nothing else is', async () => {
    await keep()
    expect((await post('queries', {})).body).toContainEqual({
      name: 'few_shops',
      parameters: expect.stringMatching(/^most bigint DEFAULT '?4/),
    })
    await origin.db.database.query('create view public.of_few as select name from public.few_shops')
    expect((await post('remove', { name: 'few_shops' })).body).toMatchObject({ code: '2BP01' })
    await origin.db.database.query('drop view public.of_few')
    expect((await post('remove', { name: 'few_shops' })).body).toEqual({ removed: 'few_shops' })
    expect([(await rpc('')).status, (await post('queries', {})).body]).toEqual([404, []])
    for (const name of ['few_shops', 'shops', 'ours'])
      expect([name, (await post('remove', { name })).body]).toMatchObject([name, { code: 'NO_SUCH_QUERY' }])
    expect((await post('remove', { name: 'Few' })).body).toMatchObject({ code: 'BAD_BODY' })
  })

  test('of more rows than its limit is an error, not a part of the rows', async () => {
    const sizes = (rows: number) =>
      keep({ sql: 'select generate_series(1, :most) as n', parameters: [{ ...parameters[0], value: String(rows) }] })
    expect((await sizes(100_000)).status).toBe(200)
    const count = () => origin.client(origin.keys.service).from('few_shops').select('n.count()')
    expect((await count()).data).toEqual([{ count: 100_000 }])
    expect((await sizes(100_001)).status).toBe(200)
    expect((await count()).error).toMatchObject({
      code: '54000',
      message: 'the kept query gives more than 100000 rows',
    })
  })

  test('has no parameter with the name of a column, and names of columns that a function could mistake', async () => {
    const asked = { sql: 'select id, name from shops where id = :id', parameters: [{ ...parameters[0], name: 'id' }] }
    expect((await keep(asked)).body).toMatchObject({ message: 'a parameter and a column are both named id' })
    const odd = `select 1 as n, 2 as "q'""%s", 3 as "select", '$body$'::varchar(9) as text where 'a%' like 'a%' and :given <> ''`
    const given = `it's $1 %L ''; drop table shops`
    const taken = { sql: odd, parameters: [{ name: 'given', type: 'text', value: given }] }
    expect((await keep(taken)).body).toMatchObject({ view: 'public.few_shops' })
    const { data } = await origin.client(origin.keys.service).from('few_shops').select()
    expect(data).toEqual([{ n: 1, [`q'"%s`]: 2, select: 3, text: '$body$' }])
    expect(await (await rpc('given=')).json()).toEqual([])
  })

  test('is for the service role alone, has its rights, and leaves no setting behind', async () => {
    for (const key of [origin.keys.anon, origin.keys.user]) {
      expect((await keep()).status).toBe(200)
      expect((await rpc('', key)).status).toBeGreaterThanOrEqual(400)
      expect((await origin.client(key).from('few_shops').select()).status).toBeGreaterThanOrEqual(400)
    }
    await origin.db.database.query('grant execute on function public.few_shops(bigint) to anon')
    const call = async (statement: string) => {
      await keep({ sql: statement, parameters: [] })
      return rpc('')
    }
    const secret = `query_to_xml('select word from secrets', true, true, '')::text`
    for (const hostile of [
      `select set_config('role', 'none', true) as a, ${secret} as b`,
      `select ${secret} as b`,
      `select terrane.table_from_query('select 1', '{}', '[{"name": "a", "oid": 23, "typmod": -1}]', 'stolen', '', 1) as a`,
    ]) {
      const answer = await call(hostile)
      expect([answer.status >= 400, await answer.text()]).toEqual([true, expect.not.stringContaining('sesame')])
    }
    expect(await one(`select to_regclass('public.stolen')::text as v`)).toBeNull()
    expect((await call(`select set_config('search_path', 'terrane', false) as a`)).status).toBe(200)
    const { data } = await origin.client(origin.keys.service).from('shops').select('id').eq('id', 1)
    expect(data).toEqual([{ id: 1 }])
  })
})
