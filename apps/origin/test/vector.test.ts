// Slow: each request of the query language, of roles and of hostile texts is a query of its own.
import { Parameters } from '@terrane/database/rest-query'
import { VectorTile } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { randomCases } from '@terrane/testing/property'
import { testLane } from '@terrane/database/testing'
import { findLayer } from '../src/vector/layer.ts'
import type { ColumnStats } from '../src/vector/column-stats.ts'
import { encodeRows } from '../src/vector/encode-rows.ts'
import { tileSql } from '../src/vector/tile-sql.ts'
import { openOrigin, settingsOf, USER, type TestOrigin } from './harness.ts'

let origin: TestOrigin
beforeAll(async () => {
  origin = await openOrigin()
  await origin.db.database.query(`
    create table public.places (id int primary key, name text, height numeric, open boolean, tags jsonb, owner uuid, geom geometry(Geometry, 4326));
    insert into public.places values
      (1, 'point', 1.5, true, '{"a":1}', null, 'SRID=4326;POINT(11.58 48.14)'),
      (2, 'line', 2, false, null, null, 'SRID=4326;LINESTRING(11.5 48.1, 11.7 48.2)'),
      (3, 'area', null, null, null, null, 'SRID=4326;POLYGON((11.55 48.12,11.62 48.12,11.62 48.16,11.55 48.16,11.55 48.12),(11.57 48.13,11.57 48.15,11.6 48.15,11.6 48.13,11.57 48.13))'),
      (4, 'far', 9, true, null, null, 'SRID=4326;POINT(-70 10)'),
      (5, 'secret', 3, true, null, '${USER}', 'SRID=4326;POINT(11.59 48.13)');
    alter table public.places enable row level security;
    create policy everybody on public.places for select using (owner is null);
    create policy own on public.places for select to authenticated using (owner = (current_setting('request.jwt.claims')::jsonb ->> 'sub')::uuid);
    grant select on public.places to anon, authenticated;
    create view public.utm with (security_invoker = true) as select id, name, st_transform(geom, 32632) as shape from public.places;
    grant select on public.utm to anon;
    create table public.locked (id int primary key, geom geometry(Point, 4326));
    create table public.plain (id int primary key);
    grant select on public.plain to anon;`)
})
afterAll(() => origin[Symbol.asyncDispose]())

const ask = (path: string, key = origin.keys.anon, headers: Record<string, string> = {}) =>
  fetch(`${origin.url}/vector/v1${path}`, { headers: { apikey: key, authorization: `Bearer ${key}`, ...headers } })
/** The tile of zoom 10 that contains most of the places. */
const AT = '/10/544/355'

async function featuresOf(path: string, key = origin.keys.anon) {
  const response = await ask(path, key)
  if (response.status === 204) return []
  expect(response.headers.get('content-type')).toBe('application/vnd.mapbox-vector-tile')
  const tile = new VectorTile(new PbfReader(new Uint8Array(await response.arrayBuffer())))
  return Object.values(tile.layers).flatMap((layer) =>
    Array.from({ length: layer.length }, (_, i) => {
      const { id, type, properties } = layer.feature(i)
      return { layer: layer.name, id, type, properties, rings: layer.feature(i).loadGeometry() }
    }),
  )
}

test('a large table has the bounds of its spatial index, unless rows are hidden from the caller', async () => {
  await origin.db.database.query(`create table public.many (id int primary key, geom geometry(Point, 4326));
    insert into public.many select i, st_setsrid(st_makepoint(6 + i % 400 * 0.001, 49 + i / 400 * 0.001), 4326) from generate_series(0, 100399) i;
    create index on public.many using gist (geom); analyze public.many; grant select on public.many to anon`)
  const bounds = async () => ((await (await ask('/public.many')).json()) as { bounds: number[] }).bounds
  expect(await bounds()).toEqual([6, 49, 6.399, 49.25].map((edge) => expect.closeTo(edge, 4)))
  await origin.db.database.query(`alter table public.many enable row level security`)
  expect(await bounds()).toEqual([-180, -85.0511, 180, 85.0511])
  await origin.db.database.query(`drop table public.many`)
})

describe('tiles of a table', () => {
  test('have its rows, their ids and properties by type', async () => {
    const features = await featuresOf(`/public.places${AT}`)
    expect(
      features
        .map(({ layer, id, type, properties }) => ({ layer, id, type, properties }))
        .toSorted((a, b) => Number(a.id) - Number(b.id)),
    ).toEqual([
      {
        layer: 'places',
        id: 1,
        type: 1,
        properties: { id: 1, name: 'point', height: 1.5, open: true, tags: '{"a": 1}' },
      },
      { layer: 'places', id: 2, type: 2, properties: { id: 2, name: 'line', height: 2, open: false } },
      { layer: 'places', id: 3, type: 3, properties: { id: 3, name: 'area' } },
    ])
    const area = features.find(({ id }) => id === 3)
    expect(area?.rings.length).toBe(2)
    const point = features.find(({ id }) => id === 1)?.rings[0]?.[0]
    const n = 2 ** 10
    const exact = [
      ((11.58 + 180) / 360) * n - 544,
      (0.5 - Math.log(Math.tan(Math.PI / 4 + (48.14 * Math.PI) / 360)) / (2 * Math.PI)) * n - 355,
    ]
    expect(Math.abs((point?.x ?? 0) - (exact[0] ?? 0) * 4096)).toBeLessThan(2)
    expect(Math.abs((point?.y ?? 0) - (exact[1] ?? 0) * 4096)).toBeLessThan(2)
  })

  test('take chosen properties, limits and the filters of rest', async () => {
    const names = async (query: string) =>
      (await featuresOf(`/places${AT}?${query}`)).map(({ properties }) => properties)
    expect(await names('properties=name&name=eq.line')).toEqual([{ name: 'line' }])
    expect(await names('properties=name&or=(name.eq.area,height.lt.1.8)')).toHaveLength(2)
    expect(await names('limit=1')).toHaveLength(1)
    expect(await (await ask(`/places${AT}?properties=nothing`)).json()).toMatchObject({ code: '42703' })
    expect(await (await ask(`/places${AT}?properties=id,name,id`)).json()).toMatchObject({ code: '42701' })
    expect((await ask(`/places${AT}?name=like`)).status).toBe(400)
    expect((await ask(`/places/10/5000/1`)).status).toBe(400)
  })

  test('are empty by 204, and unchanged by 304', async () => {
    expect((await ask('/public.places/10/0/0')).status).toBe(204)
    const etag = (await ask(`/public.places${AT}`)).headers.get('etag') ?? ''
    expect(etag).toMatch(/^"/)
    expect((await ask(`/public.places${AT}`, undefined, { 'if-none-match': etag })).status).toBe(304)
    await origin.db.database.query(`update public.places set name = 'dot' where id = 1`)
    const status = async () => (await ask(`/public.places${AT}`, undefined, { 'if-none-match': etag })).status
    await expect.poll(status, { interval: 50, timeout: 10_000 }).toBe(200)
    await origin.db.database.query(`update public.places set name = 'point' where id = 1`)
  })

  test('go to zoom 24, and no further', async () => {
    const n = 2 ** 24
    const place = (lng: number, lat: number) => {
      const y = 0.5 - Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) / (2 * Math.PI)
      return [((lng + 180) / 360) * n, y * n] as const
    }
    const [x, y] = place(11.58, 48.14)
    const features = await featuresOf(`/places/24/${Math.floor(x)}/${Math.floor(y)}`)
    // The point lies within the hole of the area.
    expect(features.map(({ id }) => Number(id)).toSorted((a, b) => a - b)).toEqual([1])
    const point = features[0]!.rings[0]![0]!
    // The embedded database has a precision of 4 cm, which is 64 units here.
    expect(Math.abs(point.x - (x % 1) * 4096)).toBeLessThan(66)
    expect(Math.abs(point.y - (y % 1) * 4096)).toBeLessThan(66)
    expect(await (await ask('/places')).json()).toMatchObject({ minzoom: 0, maxzoom: 24 })
    expect((await ask(`/places/25/0/0`)).status).toBe(400)
    const [hx, hy] = place(11.56, 48.125)
    const inside = await featuresOf(`/places/24/${Math.floor(hx)}/${Math.floor(hy)}`)
    expect(inside).toMatchObject([
      {
        id: 3,
        rings: [
          expect.arrayContaining([
            { x: -64, y: -64 },
            { x: 4160, y: 4160 },
          ]),
        ],
      },
    ])
  })

  test('a view in another system is drawn, too', async () => {
    expect((await featuresOf(`/utm${AT}`)).map(({ properties }) => properties['name'])).toContain('area')
  })
})

describe('whose rows', () => {
  test('row-level security decides by caller', async () => {
    const ids = async (key: string) =>
      (await featuresOf(`/places${AT}`, key))
        .map(({ id, properties }) => Number(id ?? properties['id']))
        .toSorted((a, b) => a - b)
    expect(await ids(origin.keys.anon)).toEqual([1, 2, 3])
    expect(await ids(origin.keys.user)).toEqual([1, 2, 3, 5])
    expect(await ids(origin.keys.service)).toEqual([1, 2, 3, 5])
  })

  test('under row-level security the spatial index finds the rows of a tile', async () => {
    const plan = await origin.db.database.transaction(async (session) => {
      await session.query(`create table public.many (geom geometry(Point, 4326), owner uuid);
        insert into public.many select st_setsrid(st_point(i % 360 - 180, i % 170 - 85), 4326) from generate_series(1, 20000) i;
        create index on public.many using gist (geom); analyze public.many;
        alter table public.many enable row level security;
        create policy not_owned on public.many for select to authenticated using (owner is null);
        grant select on public.many to authenticated; set local role authenticated`)
      const { rows } = await session.query<{ 'QUERY PLAN': string }>(
        'explain select 1 from public.many where geom && st_expand(st_setsrid(st_point(11, 48), 4326), 0.1)',
      )
      return rows.map((row) => row['QUERY PLAN']).join('\n')
    })
    expect(plan).toContain('Index Cond: (geom &&')
  })
  test('tiles, asked for in turns and at once, hold no row of another role', async () => {
    await origin.db.database.query(`
      create table public.owned (id int primary key, owner uuid, geom geometry(Point, 4326));
      insert into public.owned select i, case when i % 2 = 0 then '${USER}'::uuid else gen_random_uuid() end,
        st_setsrid(st_point(11.4 + (i % 50) * 0.01, 48 + (i / 50) * 0.01), 4326) from generate_series(0, 2499) i;
      alter table public.owned enable row level security;
      create policy own on public.owned for select to authenticated using (owner = (current_setting('request.jwt.claims')::jsonb ->> 'sub')::uuid);
      grant select on public.owned to anon, authenticated`)
    let own = 0
    const ran = await randomCases(25, async (_, seed) => {
      const asked = Array.from({ length: 20 }, (__, at) => {
        const i = (seed % 25) * 20 + at
        return {
          isUser: i % 2 === 0,
          // Both callers request each tile, one right after the other.
          path: `/owned/12/${2177 + ((i >> 1) % 6)}/${1418 + ((i >> 2) % 5)}?id=gte.${(i >> 1) % 25}`,
        }
      })
      const { user, anon } = origin.keys
      const answers = await Promise.all(asked.map(({ path, isUser }) => featuresOf(path, isUser ? user : anon)))
      for (const [i, features] of answers.entries()) {
        const others = features.filter(({ id }) => !asked[i]!.isUser || Number(id) % 2 !== 0)
        expect(others).toEqual([])
        own += features.length
      }
    })
    expect(own).toBeGreaterThan(40 * ran)
    await origin.db.database.query('drop table public.owned')
  })

  test('a tile is given again for a moment, to the same caller only, and a changed table is looked up anew', async () => {
    await origin.db.database.query(
      `create table public.moving (id int primary key, name text, geom geometry(Point, 4326));
       insert into public.moving values (1, 'a', 'SRID=4326;POINT(11.58 48.14)'); grant select on public.moving to anon`,
    )
    const shown = async () => (await featuresOf(`/moving${AT}`)).map(({ properties }) => properties)
    expect(await shown()).toEqual([{ id: 1, name: 'a' }])
    await origin.db.database.query(`alter table public.moving rename column name to title`)
    await expect.poll(shown, { interval: 50, timeout: 10_000 }).toEqual([{ id: 1, title: 'a' }])
    await origin.db.database.query(`revoke select on public.moving from anon`)
    await expect.poll(async () => (await ask(`/moving${AT}`)).status, { interval: 50, timeout: 10_000 }).toBe(404)
    await origin.db.database.query('drop table public.moving')
  })

  test('a tile is drawn anew each time with a cache time of 0', async () => {
    await using uncached = await openOrigin(settingsOf({ tileMs: 0 }), origin)
    await origin.db.database.query(
      'create table public.fresh (id int primary key, geom geometry(Point, 4326)); grant select on public.fresh to anon',
    )
    const status = async () => {
      const { anon } = uncached.keys
      return (await fetch(`${uncached.url}/vector/v1/fresh${AT}`, { headers: { apikey: anon } })).status
    }
    expect(await status()).toBe(204)
    await origin.db.database.query("insert into public.fresh values (1, 'SRID=4326;POINT(11.58 48.14)')")
    expect(await status()).toBe(200)
    await origin.db.database.query('drop table public.fresh')
  })

  test('what the caller may not read is not there, and nothing without a key', async () => {
    expect((await ask(`/locked${AT}`)).status).toBe(404)
    expect((await ask(`/plain${AT}`)).status).toBe(404)
    expect((await ask(`/terrane.imports${AT}`)).status).toBe(406)
    expect((await fetch(`${origin.url}/vector/v1/places${AT}`)).status).toBe(401)
    const { tiles } = (await (await ask('/catalog')).json()) as { tiles: object }
    expect(Object.keys(tiles)).toEqual(['public.places', 'public.utm'])
  })

  test('names and filters are never run as SQL', async () => {
    for (const evil of ["places'; drop table places; --", 'places" where true --', "x') or ('a'='a"]) {
      const source = encodeURIComponent(evil)
      expect((await ask(`/${source}${AT}`)).status).toBeGreaterThanOrEqual(400)
      expect((await ask(`/places${AT}?name=eq.${source}`)).status).toBe(204)
      expect((await ask(`/places${AT}?${source}=eq.1`)).status).toBeGreaterThanOrEqual(400)
      expect((await ask(`/places${AT}?properties=${source}`)).status).toBe(400)
    }
    expect(await featuresOf(`/places${AT}`)).toHaveLength(3)
  })

  test('texts that try to leave their place, in every place and in the claims, change and show nothing', async () => {
    const check = async (random: () => number) => {
      const pick = (from: readonly string[]) => from[Math.floor(random() * from.length)] ?? ''
      const text = `${pick(['x', '', '1', '\\', "\\'", '%27'])}${pick(["'", '"', "')", '")', '$$', ';', '--', "\\';"])}${pick(
        [
          ' or true --',
          '; drop table public.places; --',
          ' union select id, geom from public.locked --',
          '; set role postgres; --',
          ')) or ((true',
        ],
      )}`
      const part = encodeURIComponent(text)
      const statuses = await Promise.all(
        [
          `/${part}${AT}`,
          `/places${AT}?properties=${part}`,
          `/places${AT}?${part}=eq.1`,
          `/places${AT}?limit=${part}`,
        ].map(async (path) => (await ask(path)).status),
      )
      expect([text, statuses.every((status) => status >= 400 && status < 500)]).toEqual([text, true])
      expect([text, await featuresOf(`/places${AT}?name=eq.${part}`)]).toEqual([text, []])
      const key = await origin.sign({ role: 'authenticated', sub: USER, name: text, [text]: text })
      expect((await featuresOf(`/places${AT}?properties=id`, key)).length).toBe(4)
    }
    await randomCases(200, check, { least: 20 })
    const { rows } = await origin.db.database.query<{ n: number }>('select count(*)::int as n from public.places')
    expect(rows).toEqual([{ n: 5 }])
  })
})

describe('the values of a property', () => {
  const statsOf = async (path: string, key = origin.keys.anon) => {
    const response = await ask(path, key)
    return [response.status, (await response.json()) as ColumnStats & { code?: string }] as const
  }

  test('are classed over all rows: each class has the rows that SQL counts between its ends', async () => {
    await origin.db.database.query(`
      create table public.measured (id int primary key, whole int, skewed numeric, few float4, word text, odd float8, geom geometry(Point, 4326));
      insert into public.measured select i, i * 10, round(exp(i / 400.0)::numeric, 3), (i % 3) / 2.0, 'w' || (i % 30),
        case i % 10 when 0 then 'NaN'::float8 when 1 then '-Infinity'::float8 when 2 then null else i / 7.0 end,
        st_setsrid(st_point(11 + i / 1e5, 48), 4326) from generate_series(0, 2999) i;
      grant select on public.measured to anon`)
    for (const column of ['whole', 'skewed', 'few', 'odd']) {
      const [status, stats] = await statsOf(`/measured/stats?property=${column}&classes=5`)
      expect([column, status, stats.type, stats.rows]).toEqual([column, 200, 'Number', 3000])
      for (const [i, { from, to, rows }] of stats.classes.entries()) {
        const last = i === stats.classes.length - 1
        const { rows: counted } = await origin.db.database.query<{ n: number }>(
          `select count(*)::int as n from public.measured where ${column}::float8 >= $1 and ${column}::float8 ${last ? '<=' : '<'} $2
           and ${column}::float8 <> 'NaN' and abs(${column}::float8) <> 'Infinity'`,
          [from, to],
        )
        expect([column, i, rows]).toEqual([column, i, counted[0]?.n])
      }
      const classed = stats.classes.reduce((sum, { rows }) => sum + rows, 0)
      expect([column, classed + stats.missing]).toEqual([column, 3000])
    }
    const [, whole] = await statsOf('/measured/stats?property=whole')
    expect(whole.classes.map(({ from }) => from)).toEqual([0, 5990, 11_990, 17_990, 23_990])
    expect(whole.classes.at(-1)?.to).toBe(29_990)
    const [, odd] = await statsOf('/measured/stats?property=odd')
    expect([odd.missing, odd.distinct]).toEqual([900, 2100])
  })

  test('are counted by value, the most frequent first, under the filters', async () => {
    const [, few] = await statsOf('/measured/stats?property=few')
    expect(few.values).toEqual([
      { value: 0, rows: 1000 },
      { value: 0.5, rows: 1000 },
      { value: 1, rows: 1000 },
    ])
    const [, words] = await statsOf('/measured/stats?property=word&id=lt.31')
    expect([words.type, words.rows, words.distinct, words.values[0], words.values.length, words.classes]).toEqual([
      'String',
      31,
      30,
      { value: 'w0', rows: 2 },
      20,
      [],
    ])
    await origin.db.database.query('drop table public.measured')
  })

  test("are those of the caller's rows and columns alone", async () => {
    const [, anon] = await statsOf('/places/stats?property=name')
    expect(anon.values.map(({ value }) => value)).toEqual(['area', 'far', 'line', 'point'])
    const user = await origin.sign({ role: 'authenticated', sub: USER })
    const [, own] = await statsOf('/places/stats?property=name', user)
    expect(own.values.map(({ value }) => value)).toEqual(['area', 'far', 'line', 'point', 'secret'])
    const [, open] = await statsOf('/places/stats?property=open')
    expect([open.type, open.missing, open.values]).toEqual([
      'Boolean',
      1,
      [
        { value: true, rows: 2 },
        { value: false, rows: 1 },
      ],
    ])
    const refused = [
      '/locked/stats?property=id',
      '/places/stats?property=geom',
      '/places/stats',
      '/places/stats?property=name&classes=1',
    ]
    expect(await Promise.all(refused.map(async (path) => (await ask(path)).status))).toEqual([404, 400, 400, 400])
    const evil = encodeURIComponent('name" from public.locked --')
    expect((await ask(`/places/stats?property=${evil}`)).status).toBe(400)
  })
})

describe('our own encoder beside the database', () => {
  test.skipIf(testLane() === 'pglite')(
    `${testLane() === 'pglite' ? 'SKIPPED: the embedded database has no ST_AsMVT. ' : ''}the same features, ids and properties, geometry within two units`,
    async () => {
      await origin.db.database.query(`
        select setseed(0.5);
        create table public.mixed (id int primary key, name text, height float8, geom geometry(Geometry, 4326));
        insert into public.mixed select i, 'n' || (i % 7), i / 3.0, case i % 3
          when 0 then st_setsrid(st_point(11.4 + random() * 0.5, 48 + random() * 0.4), 4326)
          when 1 then st_setsrid(st_makeline(st_point(11.4 + random() * 0.5, 48 + random() * 0.4), st_point(11.4 + random() * 0.5, 48 + random() * 0.4)), 4326)
          else st_buffer(st_setsrid(st_point(11.4 + random() * 0.5, 48 + random() * 0.4), 4326), 0.002 + random() * 0.02) end
          from generate_series(1, 600) i; analyze public.mixed`)
      let compared = 0
      for (const [z, x, y] of [
        [10, 544, 355],
        [10, 545, 355],
        [11, 1089, 710],
        [12, 2178, 1420],
        [13, 4357, 2841],
      ] as const) {
        const query = { z, x, y, buffer: 64, limit: 50_000, cluster: null, hasLabelPoints: false, conditions: [] }
        const [theirs, ours] = await origin.db.database.transaction(async (session) => {
          const layer = await findLayer(session, 'public', 'mixed', null)
          const parameters = new Parameters()
          const { rows } = await session.query<{ tile: Buffer }>(tileSql(layer, query, parameters), parameters.values)
          return [rows[0]?.tile ?? null, await encodeRows(session, layer, query)] as const
        })
        const [expected, found] = [shapesOf(theirs), shapesOf(ours)]
        for (const id of new Set([...expected.keys(), ...found.keys()])) {
          const [one, other] = [expected.get(id), found.get(id)]
          // A shape that only touches the edge of the buffer may be in only one of the tiles.
          const points = [one, other].flatMap((shape) => shape?.rings.flat() ?? [])
          if (points.every(isAtRim)) continue
          expect([z, x, y, id, other?.properties]).toEqual([z, x, y, id, one?.properties])
          const [a, b] = [one?.rings ?? [], other?.rings ?? []]
          const strays = [...farFrom(a, b), ...farFrom(b, a)]
          expect([z, x, y, id, strays]).toEqual([z, x, y, id, []])
          compared++
        }
      }
      expect(compared).toBeGreaterThan(300)
    },
  )
})

type Ring = readonly { readonly x: number; readonly y: number }[]

/** Features of a tile by id: their properties and outlines in units of the tile. */
function shapesOf(tile: Uint8Array | null): Map<number, { properties: object; rings: readonly Ring[] }> {
  const layers =
    tile && tile.length > 0 ? Object.values(new VectorTile(new PbfReader(new Uint8Array(tile))).layers) : []
  return new Map(
    layers.flatMap((layer) =>
      Array.from({ length: layer.length }, (_, i) => {
        const feature = layer.feature(i)
        return [Number(feature.id), { properties: feature.properties, rings: feature.loadGeometry() }] as const
      }),
    ),
  )
}

const UNITS = 2

/** The rounded slope of a line determines where it is cut off. */
function isAtRim({ x, y }: { x: number; y: number }): boolean {
  const [low, high] = [-64 + UNITS, 4096 + 64 - UNITS]
  return x <= low || y <= low || x >= high || y >= high
}

/** Vertices of shapes, except at the rim, that are farther than two units from other shapes' outlines. */
function farFrom(rings: readonly Ring[], others: readonly Ring[]): Ring {
  return rings.flat().filter((point) => !isAtRim(point) && !others.some((ring) => isNear(point, ring)))
}

function isNear({ x, y }: { x: number; y: number }, ring: Ring): boolean {
  return ring.some((from, i) => {
    const to = ring[i + 1] ?? from
    const [dx, dy] = [to.x - from.x, to.y - from.y]
    const length = dx * dx + dy * dy
    const along = length === 0 ? 0 : Math.max(0, Math.min(1, ((x - from.x) * dx + (y - from.y) * dy) / length))
    return Math.hypot(from.x + along * dx - x, from.y + along * dy - y) <= UNITS
  })
}
