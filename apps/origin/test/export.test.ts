import { readdir, stat, writeFile, mkdtemp, rm } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { testLane } from '@terrane/database/testing'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openOrigin, USER, type TestOrigin, settingsOf } from './harness.ts'

let origin: TestOrigin
let folder: string
beforeAll(async () => {
  // Other tests leave files in the default folder.
  folder = await mkdtemp(join(tmpdir(), 'export-test-'))
  vi.stubEnv('TMPDIR', folder)
  origin = await openOrigin()
  await origin.db.database.query(`
    create table public.places (id int primary key, name text, big int8, born date, at timestamptz, doc jsonb, list int4[],
      raw bytea, price numeric(10, 2), exact numeric, owner uuid, geom geometry(Geometry, 4326));
    insert into public.places values
      (1, 'Žluťoučký "🐎"', 9223372036854775807, '1582-10-15', '2020-02-29T23:59:59.123456Z', '{"a": [1, null]}', '{1,null}',
        '\\x00ff', 1.5, 12345678901234567890.5, null, 'SRID=4326;POINT(11.58 48.14)'),
      (2, 'line', -1, null, null, null, null, null, null, null, null, 'SRID=4326;LINESTRING(11.5 48.1, 11.7 48.2)'),
      (3, null, null, null, null, null, null, null, null, null, null, null),
      (4, 'area', null, null, null, null, null, null, null, null, null,
        'SRID=4326;MULTIPOLYGON(((0 0,4 0,4 4,0 0),(2 1,3 1,3 2,2 1)),((9 9,10 9,10 10,9 9)))'),
      (5, 'secret', null, null, null, null, null, null, null, null, '${USER}', 'SRID=4326;POINT(11.59 48.13)');
    alter table public.places enable row level security;
    create policy everybody on public.places for select using (owner is null);
    create policy own on public.places for select to authenticated using (owner = (current_setting('request.jwt.claims')::jsonb ->> 'sub')::uuid);
    grant select on public.places to anon, authenticated;
    create table public.locked (id int primary key);
    create table public.partly (id int primary key, shown text, hidden text);
    insert into public.partly values (1, 'yes', 'no');
    grant select (id, shown) on public.partly to anon;
    create table public.many as select n as id, repeat(md5(n::text), 30) as filling from generate_series(1, 20000) n;
    grant select on public.many to anon;`)
})
afterAll(async () => {
  await origin[Symbol.asyncDispose]()
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true, force: true })
})

const ask = (path: string, key = origin.keys.anon) =>
  fetch(`${origin.url}/export/v1${path}`, { headers: { apikey: key, authorization: `Bearer ${key}` } })
const left = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('terrane-export-'))

describe('an export', () => {
  test('holds the rows that its caller may see, in the format that is asked for', async () => {
    const response = await ask('/public.places')
    expect(response.headers.get('content-type')).toBe('application/geo+json')
    expect(response.headers.get('content-disposition')).toContain('places.geojson')
    const { features } = (await response.json()) as { features: { properties: Record<string, unknown> }[] }
    expect(features.map(({ properties }) => properties['id'])).toEqual([1, 2, 3, 4])
    expect(features[0]!.properties).toMatchObject({ name: 'Žluťoučký "🐎"', list: [1, null], price: 1.5 })
    const all = await (await ask('/places?format=geojsonseq', origin.keys.service)).text()
    expect(all.trim().split('\n').length).toBe(5)
  })

  test('takes filters and columns', async () => {
    const csv = await (await ask('/places?format=CSV&columns=name&id=in.(1,4)&name=like.a*')).text()
    expect(csv).toBe('name,wkt\narea,"MULTIPOLYGON(((0 0,4 0,4 4,0 0),(2 1,3 1,3 2,2 1)),((9 9,10 9,10 10,9 9)))"\n')
  })

  test('has only the columns that its caller may read', async () => {
    expect(await (await ask('/partly?format=CSV')).text()).toBe('id,shown\n1,yes\n')
    expect((await ask('/partly?columns=hidden')).status).toBe(400)
  })

  test('of a GeoPackage is a database, and leaves no file behind', async () => {
    const before = await left()
    const response = await ask('/places?format=GeoPackage')
    expect(response.headers.get('x-export-warnings')).toBe('DECIMALS_AS_TEXT=1, TIMES_CUT=1')
    await writeFile(join(folder, 'a.gpkg'), Buffer.from(await response.arrayBuffer()))
    using file = new DatabaseSync(join(folder, 'a.gpkg'), { readOnly: true })
    expect(file.prepare('select id, name, exact from places').all()).toMatchObject([
      { id: 1, exact: '12345678901234567890.5' },
      { id: 2 },
      { id: 3 },
      { id: 4 },
    ])
    expect(await left()).toEqual(before)
  })

  test('of GeoParquet is one', async () => {
    const bytes = Buffer.from(await (await ask('/places?format=GeoParquet')).arrayBuffer())
    expect([bytes.toString('latin1', 0, 4), bytes.toString('latin1', bytes.length - 4)]).toEqual(['PAR1', 'PAR1'])
  })
})

// On a server, requests and exports always run concurrently.
test.runIf(testLane() === 'pglite')(
  'an export of a large table lets requests answer before its end, and is of one snapshot',
  async () => {
    const { database } = origin.db
    await database.query(`create table public.moving (id int, amount int, filling text); grant select on public.moving to anon;
    insert into public.moving select n, 1, repeat(md5(n::text), 30) from generate_series(1, 20000) n`)
    const done = ask('/moving?format=CSV&columns=id,amount').then((response) => response.text())
    const state = { isDone: false }
    void done.then(() => (state.isDone = true))
    const isWriting = async () => {
      const sizes = (await left()).map((name) =>
        stat(join(folder, name, 'file')).then(
          ({ size }) => size,
          () => 0,
        ),
      )
      return (await Promise.all(sizes)).some((size) => size > 0)
    }
    while (!state.isDone && !(await isWriting())) await sleep(1)
    let answered = 0
    while (!state.isDone) {
      const rest = await fetch(`${origin.url}/rest/v1/places?select=id`, { headers: { apikey: origin.keys.anon } })
      expect([rest.status, await rest.json()]).toMatchObject([200, [{ id: 1 }, { id: 2 }, { id: 3 }, { id: 4 }]])
      // Moves an amount from a late row to an early one, so that a mixture of two states has another sum.
      if (answered++ === 0)
        await database.query(
          'update public.moving set amount = case id when 1 then 2 else 0 end where id in (1, 20000)',
        )
    }
    // During an export in one piece, only the last request could be answered.
    expect(answered).toBeGreaterThan(2)
    const [, ...rows] = (await done).trim().split('\n')
    expect(rows.length).toBe(20_000)
    expect(rows.reduce((sum, row) => sum + Number(row.split(',')[1]), 0)).toBe(20_000)
  },
)

test.each([
  ['/nothing', 404, '42P01'],
  ['/locked', 401, '42501'],
  ['/other.places', 406, 'PGRST106'],
  ['/places?format=Shapefile', 400, 'PGRST100'],
  ['/places?format=docx', 400, 'PGRST100'],
  ['/places?limit=3', 400, 'PGRST100'],
  ['/places?id=x', 400, 'PGRST100'],
  ['/places?id=eq.x', 400, '22P02'],
  ['/places?columns=none', 400, '42703'],
  ['/places?columns=name,id,name', 400, '42701'],
  [`/places?format=CSV&columns=${Array.from({ length: 1600 }, () => 'name').join(',')}`, 400, '42701'],
  [`/places?name=eq.${encodeURIComponent(`'; drop table places; --`)}`, 200, undefined],
])('%s is answered by %i', async (path, status, code) => {
  const response = await ask(path)
  const body = await response.text()
  expect(response.status).toBe(status)
  if (code !== undefined) expect(JSON.parse(body)).toMatchObject({ code })
})

test('without a key nothing is exported', async () => {
  expect((await fetch(`${origin.url}/export/v1/places`)).status).toBe(401)
})

describe('a client', () => {
  const begin = async (path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> => {
    const request = get(`${origin.url}/export/v1${path}`, { headers: { apikey: origin.keys.anon, ...headers } })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    return response
  }
  const copies = async () => {
    const { rows } = await origin.db.database.query<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity where datname = current_database() and query like 'copy (select%' and state <> 'idle'`,
    )
    return rows[0]!.n
  }

  test('that leaves ends the work of its export, and others go on', async () => {
    const before = await left()
    for (let i = 0; i < 5; i++) {
      const response = await begin('/many?format=GeoJSONSeq', i % 2 === 0 ? {} : { 'accept-encoding': 'gzip' })
      await once(response, 'readable')
      response.destroy()
    }
    if (testLane() === 'postgres') while ((await copies()) > 0) await sleep(20)
    expect(await left()).toEqual(before)
    const whole = await (await ask('/many?format=GeoJSONSeq')).text()
    expect(whole.trim().split('\n').length).toBe(20_000)
  })

  test.runIf(testLane() === 'postgres')(
    'that reads slowly holds the rows up, not the memory; its third export is refused, and one of another role is not',
    async () => {
      const slow = await Promise.all(Array.from({ length: 2 }, () => begin('/many?format=GeoJSONSeq')))
      const busy = await ask('/places')
      expect([busy.status, busy.headers.get('retry-after')]).toEqual([429, '30'])
      expect(await busy.json()).toMatchObject({ code: 'TOO_MANY_EXPORTS' })
      for (const key of [origin.keys.user, origin.keys.service]) {
        const other = await ask('/places', key)
        expect([other.status, JSON.parse(await other.text())]).toMatchObject([200, { type: 'FeatureCollection' }])
      }
      while ((await copies()) !== 2) await sleep(20)
      for (const response of slow) expect((await text(response)).trim().split('\n').length).toBe(20_000)
      expect((await ask('/places')).status).toBe(200)
    },
  )
})

describe('with small limits', () => {
  let small: TestOrigin
  beforeAll(async () => {
    small = await openOrigin({
      ...settingsOf({ exports: { mostOfCaller: 1, stallMs: 300, fileBytes: 1_000_000 } }),
    })
    await small.db.database.query(
      `create table public.many as select n as id, repeat(md5(n::text), 300) as filling from generate_series(1, 4000) n;
       create table public.less as select 1 as id, repeat('a', 500) as filling;
       grant select on public.many, public.less to anon`,
    )
  })
  afterAll(() => small[Symbol.asyncDispose]())
  const fromSmall = (path: string) => fetch(`${small.url}/export/v1${path}`, { headers: { apikey: small.keys.anon } })

  /** A place becomes free shortly after the client has received the end of its answer. */
  const whenFree = async (path: string) => {
    for (;;) {
      const answer = await fromSmall(path)
      if (answer.status !== 429) return answer
      await answer.text()
      await sleep(50)
    }
  }
  const untilFree = async () => {
    const answer = await whenFree('/less?format=CSV')
    expect([answer.status, await answer.text()]).toMatchObject([200, expect.stringContaining('a')])
  }
  const begun = async () => {
    for (;;) {
      const request = get(`${small.url}/export/v1/many?format=CSV`, { headers: { apikey: small.keys.anon } })
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      if (response.statusCode === 200) return response
      response.resume()
      await sleep(50)
    }
  }

  test('a temporary file that grows beyond its bound is refused with a remedy, and leaves nothing', async () => {
    const before = await left()
    const refused = await fromSmall('/many?format=GeoPackage')
    expect(refused.status).toBe(413)
    const body = (await refused.json()) as { code: string; hint: string }
    expect(body.code).toBe('EXPORT_TOO_LARGE')
    expect(body.hint).toContain('origin.exports.fileBytes')
    expect(await left()).toEqual(before)
    const fits = await whenFree('/less?format=GeoPackage')
    expect([fits.status, (await fits.arrayBuffer()).byteLength < 1_000_000]).toEqual([200, true])
  })

  test.runIf(testLane() === 'postgres')('a client that takes nothing any more loses its place', async () => {
    const stalled = await begun()
    const cut = once(stalled, 'error')
    // The client reads nothing until the place is free again.
    await untilFree()
    stalled.resume()
    expect((await cut)[0]).toBeInstanceOf(Error)
  })
})
