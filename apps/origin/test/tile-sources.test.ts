import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { validateStyleMin, type StyleSpecification } from '@maplibre/maplibre-gl-style-spec'
import { VectorTile } from '@mapbox/vector-tile'
import { Keys } from '@terrane/control'
import { PbfReader } from 'pbf'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testLane } from '@terrane/database/testing'
import { createHttp, createLogger } from '@terrane/service'

import { archiveRoutes, type ArchiveDeps } from '../src/vector/archives.ts'
import { cachedBytes, tagged } from '../src/vector/given.ts'
import { openOrigin, settingsOf, USER, type TestOrigin } from './harness.ts'
import { townArchive as archive } from './town-archive.ts'

let origin: TestOrigin
/** A tile by the specification: layer `made` of version 2 and extent 4096 with one point. */
const MADE = '1a140a046d6164651207180122030900002880207802'
beforeAll(async () => {
  origin = await openOrigin()
  await origin.db.database.query(`
    create table public.dots (id int primary key, name text, owner uuid, geom geometry(Point, 4326));
    insert into public.dots values (1, 'a', null, 'SRID=4326;POINT(11.58 48.14)'), (2, 'b', '${USER}', 'SRID=4326;POINT(11.59 48.14)');
    alter table public.dots enable row level security;
    create policy own on public.dots for select using (owner is null or owner = (current_setting('request.jwt.claims')::jsonb ->> 'sub')::uuid);
    create table public.lines (gid uuid primary key, name text, geom geometry(LineString, 4326));
    insert into public.lines values ('${USER}', 'l', 'SRID=4326;LINESTRING(11.5 48.1, 11.7 48.2)');
    create table public.notes (said text);
    grant select on public.dots, public.lines to anon, authenticated;
    create function public.made(z int, x int, y int, query_params json) returns bytea language sql stable
      as $$ select case when z = 0 then null else convert_to(query_params::text || ' ' || z || '/' || x || '/' || y, 'utf8') end $$;
    comment on function public.made(int, int, int, json) is '{"description":"made","minzoom":3,"maxzoom":"far","vector_layers":[{"id":"made","fields":{}}]}';
    create function public.named(zoom int, x int, y int, floors int default 2, word text default 'w') returns bytea language sql stable
      as $$ select convert_to(floors || word || current_user, 'utf8') $$;
    create function public.counted(z int, x int, y int) returns bytea language sql stable
      as $$ select convert_to((select count(*)::text from public.dots), 'utf8') $$;
    create function public.layered(z int, x int, y int) returns bytea language sql immutable as $$ select decode('${MADE}', 'hex') $$;
    create function public.writes(z int, x int, y int) returns bytea language plpgsql
      as $$ begin insert into public.notes values ('x'); return ''; end $$;
    create function public.sleeps(z int, x int, y int) returns text language sql as $$ select 'no tile' $$;
    create function public.other(a int, x int, y int) returns bytea language sql as $$ select ''::bytea $$;
    create function public.kept(z int, x int, y int) returns bytea language sql as $$ select 'kept'::bytea $$;
    revoke execute on function public.kept(int, int, int) from public;
    grant execute on function public.kept(int, int, int) to service_role;
    grant insert on public.notes to anon;
    ${['a', 'b', 'c'].map((name) => `create function public.heavy_${name}(z int, x int, y int) returns bytea language sql stable as $$ select convert_to(repeat('${name}', 6000000), 'utf8') $$;`).join(' ')}
    create table public.pages (id int primary key, page text, geom geometry(Point, 4326));
    insert into public.pages values (1, 'a', 'SRID=4326;POINT(11.58 48.14)');
    grant select on public.pages to anon`)
})
afterAll(() => origin[Symbol.asyncDispose]())

const ask = (path: string, key = origin.keys.anon) =>
  fetch(`${origin.url}/vector/v1${path}`, { headers: { apikey: key, authorization: `Bearer ${key}` } })
const textOf = async (path: string, key?: string) => (await ask(path, key)).text()
const layersOf = async (response: Response) => new VectorTile(new PbfReader(await response.bytes())).layers
const AT = '/10/544/355'

describe('several sources in one tile', () => {
  test('are its layers, each under the policies of its table', async () => {
    const namesOf = async (key: string) => {
      const { dots, lines } = await layersOf(await ask(`/dots,public.lines${AT}`, key))
      return [dots?.length, lines?.length, lines?.feature(0).properties]
    }
    expect(await namesOf(origin.keys.anon)).toEqual([1, 1, { gid: USER, name: 'l' }])
    expect(await namesOf(origin.keys.user)).toEqual([2, 1, { gid: USER, name: 'l' }])
    expect(Object.keys(await layersOf(await ask(`/dots,layered${AT}`)))).toEqual(['dots', 'made'])
    // A source without features in this tile adds no layer.
    expect(Object.keys(await layersOf(await ask(`/dots,lines${AT}?name=eq.l`)))).toEqual(['lines'])
    expect((await ask('/dots,lines/10/0/0')).status).toBe(204)
  })

  test('have no more bytes together than an answer', async () => {
    expect((await ask(`/heavy_a,heavy_b${AT}`)).status).toBe(200)
    const refused = await ask(`/heavy_a,heavy_b,heavy_c${AT}`)
    expect([refused.status, await refused.json()]).toMatchObject([413, { code: 'ANSWER_TOO_LARGE' }])
  })

  test('may have a column of any name', async () => {
    const { pages } = await layersOf(await ask(`/pages${AT}`))
    expect(pages?.feature(0).properties).toEqual({ id: 1, page: 'a' })
  })

  test('are weighed in the cache with their keys', () => {
    const given = tagged(Buffer.from('tile'))
    expect(cachedBytes(given, 'x'.repeat(1000)) - cachedBytes(given, '')).toBe(2000)
  })

  test('have one TileJSON', async () => {
    const about = await (await ask('/dots,lines')).json()
    expect(about).toMatchObject({
      name: 'public.dots,public.lines',
      tiles: [`${origin.url}/vector/v1/dots,lines/{z}/{x}/{y}`],
      bounds: [11.5, 48.1, 11.7, 48.2],
      vector_layers: [
        { id: 'dots', fields: { id: 'Number', name: 'String', owner: 'String' } },
        { id: 'lines', fields: { gid: 'String', name: 'String' } },
      ],
    })
  })

  test('are refused when one is unreadable, named twice, or when there are too many', async () => {
    expect((await ask(`/dots,notes${AT}`)).status).toBe(404)
    expect((await ask(`/dots,notes`)).status).toBe(404)
    expect((await ask(`/dots,public.dots${AT}`)).status).toBe(400)
    expect((await ask(`/dots,terrane.imports${AT}`)).status).toBe(406)
    expect((await ask(`/${Array.from({ length: 17 }, (_, i) => `t${i}`).join()}${AT}`)).status).toBe(400)
  })

  test('are held to the tables of a publishable key, functions among them', async () => {
    const env = { TERRANE_CONTROL_DATABASE_URL: origin.db.url, ...settingsOf({}, { keys: { cacheMs: 0 } }) }
    await using limited = await openOrigin(env, origin)
    const { rows } = await origin.db.database.query<{ id: string; organization_id: string }>(
      'select id, organization_id from terrane.projects',
    )
    const page = 'https://maps.example.org'
    const { key } = await new Keys(origin.db.database, null).issue({
      projectId: rows[0]!.id,
      organizationId: rows[0]!.organization_id,
      role: 'anon',
      limits: { tables: ['public.dots', 'public.layered'], origins: [page] },
    })
    const statusOf = async (source: string) =>
      (await fetch(`${limited.url}/vector/v1/${source}${AT}?apikey=${key}`, { headers: { origin: page } })).status
    const asked = ['dots', 'layered', 'dots,layered', 'lines', 'dots,lines', 'counted', 'dots,counted']
    expect(await Promise.all(asked.map(statusOf))).toEqual([200, 200, 200, 404, 404, 404, 404])
  })
})

describe('the style of sources', () => {
  test('is one that MapLibre takes, with a layer for each kind of geometry that there may be', async () => {
    for (const [source, ids] of [
      ['dots', ['dots point']],
      ['dots,lines', ['lines line', 'dots point']],
      ['made', ['made polygon', 'made line', 'made point']],
    ] as const) {
      const style = (await (await ask(`/${source}/style.json?name=eq.l`)).json()) as StyleSpecification
      expect([source, validateStyleMin(style)]).toEqual([source, []])
      expect(style.layers.map(({ id }) => id)).toEqual(['background', ...ids])
      expect(style.sources['terrane']).toMatchObject({
        tiles: [`${origin.url}/vector/v1/${source}/{z}/{x}/{y}?name=eq.l`],
      })
    }
    expect((await ask('/notes/style.json')).status).toBe(404)
  })

  test('may name sprites and fonts of a public bucket, which MapLibre gets without a key', async () => {
    const service = origin.client(origin.keys.service)
    await service.storage.createBucket('styles', { public: true })
    const files = ['sprite.json', 'sprite.png', 'sprite@2x.json', 'sprite@2x.png', 'fonts/Open Sans Regular/0-255.pbf']
    for (const name of files) await service.storage.from('styles').upload(name, Buffer.from(name))
    for (const name of files) {
      const url = `${origin.url}/storage/v1/object/public/styles/${name.replaceAll(' ', '%20')}`
      expect([name, await (await fetch(url)).text()]).toEqual([name, name])
    }
  })
})

describe('a function that gives tiles', () => {
  test('takes the query as one object, where values that are JSON stay so', async () => {
    const text = await textOf(`/made${AT}?a=1&b=x%22y&c=[1,2]&limit=3`)
    expect(text).toBe('{"a":1,"b":"x\\"y","c":[1,2],"limit":3} 10/544/355')
    expect((await ask('/made/0/0/0')).status).toBe(204)
    expect((await ask(`/made${AT}?a=1&a=2`)).status).toBe(400)
  })

  test('takes parameters by name, and runs as the caller', async () => {
    expect(await textOf(`/named${AT}`)).toBe('2wanon')
    expect(await textOf(`/named${AT}?floors=7&word=${encodeURIComponent(`'; drop table dots; --`)}&more=1`)).toBe(
      `7'; drop table dots; --anon`,
    )
    expect((await ask(`/named${AT}?floors=many`)).status).toBe(400)
    expect([await textOf(`/counted${AT}`), await textOf(`/counted${AT}`, origin.keys.user)]).toEqual(['1', '2'])
  })

  test('is described by its comment', async () => {
    expect(await (await ask('/made')).json()).toMatchObject({
      description: 'made',
      minzoom: 3,
      maxzoom: 24,
      vector_layers: [{ id: 'made' }],
    })
  })

  test('changes nothing, and is not there for a caller who may not call it', async () => {
    expect((await ask(`/writes${AT}`)).status).toBe(405)
    const { rows } = await origin.db.database.query<{ n: number }>('select count(*)::int as n from public.notes')
    expect(rows).toEqual([{ n: 0 }])
    for (const name of ['kept', 'sleeps', 'other', 'st_asmvt']) expect((await ask(`/${name}${AT}`)).status).toBe(404)
    expect(await textOf(`/kept${AT}`, origin.keys.service)).toBe('kept')
  })

  test.skipIf(testLane() === 'pglite')(
    `${testLane() === 'pglite' ? 'SKIPPED: the embedded database has no ST_AsMVT. ' : ''}may encode with PostGIS`,
    async () => {
      await origin.db.database
        .query(`create function public.by_postgis(z int, x int, y int) returns bytea language sql stable as $$
        select st_asmvt(f, 'f') from (select st_asmvtgeom(st_transform(geom, 3857), st_tileenvelope(z, x, y)) as geom, name from public.dots) f $$`)
      const { f } = await layersOf(await ask(`/by_postgis${AT}`, origin.keys.user))
      expect(f?.length).toBe(2)
    },
  )
})

describe('an archive', () => {
  const asked = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${origin.url}/vector/v1/archives/${path}`, { headers })

  beforeAll(async () => {
    const service = origin.client(origin.keys.service)
    for (const [bucket, isPublic] of [
      ['open', true],
      ['closed', false],
    ] as const) {
      await service.storage.createBucket(bucket, { public: isPublic })
      for (const [name, bytes] of [
        ['town.pmtiles', await archive()],
        ['broken.pmtiles', Buffer.concat([(await archive()).subarray(0, 127), gzipSync('x')])],
        ['text.pmtiles', Buffer.from('no archive')],
      ] as const)
        await service.storage.from(bucket).upload(name, bytes)
    }
  })

  test('is served as z/x/y and TileJSON, without a key where its bucket is public', async () => {
    const about = (await (await asked('open/town.pmtiles')).json()) as { tiles: string[]; maxzoom: number }
    expect(about).toMatchObject({ tilejson: '3.0.0', minzoom: 0, maxzoom: 10, vector_layers: [{ id: 'dots' }] })
    const [z, x, y] = [10, 544, 355].map(String)
    const url = about.tiles[0]!.replace('{z}', z!).replace('{x}', x!).replace('{y}', y!)
    const { dots } = await layersOf(await fetch(url))
    expect(dots?.feature(0).properties).toEqual({ name: 'a' })
    expect((await asked('open/town.pmtiles/10/0/0')).status).toBe(204)
    const etag = (await asked('open/town.pmtiles/10/544/355')).headers.get('etag')!
    expect((await asked('open/town.pmtiles/10/544/355', { 'if-none-match': etag })).status).toBe(304)
  })

  test('is read again after the storage failed', async () => {
    const bytes = await archive()
    let isDown = true
    const store = {
      getBucket: async () => ({ public: true }),
      head: async (bucket: string, key: string) => ({ bucket, key, size: bytes.length, etag: 'e' }),
      get: async (_bucket: string, _key: string, { range }: { range: { start: number; end: number } }) => {
        if (isDown) throw new Error('the storage is down')
        return { body: Readable.from([bytes.subarray(range.start, range.end + 1)]) }
      },
    }
    const http = createHttp({ logger: createLogger({ name: 'test', level: 'silent' }) })
    await archiveRoutes(http, { store, limits: { count: async () => {} } } as unknown as ArchiveDeps)
    const statusOf = async (path: string) => (await http.inject(`/vector/v1/archives/open/${path}`)).statusCode
    for (const path of ['a.pmtiles', 'b.pmtiles/10/544/355']) {
      isDown = true
      const refused = await statusOf(path)
      isDown = false
      expect([path, refused, await statusOf(path)]).toEqual([path, 422, 200])
    }
    await http.close()
  })

  test('whose directory unpacks to more than one has is refused', async () => {
    const count = 300_000
    const varint = [(count % 128) | 128, ((count >> 7) % 128) | 128, count >> 14]
    const parts = [varint, Array<number>(3 * count).fill(1), [1], Array<number>(count - 1).fill(0)]
    const root = gzipSync(Buffer.concat(parts.map((part) => Buffer.from(part))))
    const header = Buffer.from((await archive()).subarray(0, 127))
    header.writeBigUInt64LE(127n, 8)
    header.writeBigUInt64LE(BigInt(root.length), 16)
    header.writeUInt8(2, 97)
    const service = origin.client(origin.keys.service)
    await service.storage.from('open').upload('bomb.pmtiles', Buffer.concat([header, root]))
    // The directory has no entry for this tile.
    expect((await asked('open/bomb.pmtiles/10/544/355')).status).toBe(422)
  })

  test('of a private bucket is for the service role alone', async () => {
    const tile = 'closed/town.pmtiles/10/544/355'
    const statusBy = async (key?: string) => (await asked(tile, key ? { apikey: key } : {})).status
    const { anon, user, service } = origin.keys
    expect([await statusBy(), await statusBy(anon), await statusBy(user), await statusBy(service)]).toEqual([
      401, 404, 404, 200,
    ])
  })

  test('that cannot be read, or a place that is none, is an error with the field', async () => {
    for (const name of ['broken', 'text']) {
      for (const path of [`open/${name}.pmtiles`, `open/${name}.pmtiles/3/1/1`]) {
        const answer = await asked(path)
        expect([path, answer.status, await answer.json()]).toMatchObject([path, 422, { code: 'ARCHIVE_UNREADABLE' }])
      }
    }
    expect((await asked('open/town.pmtiles/3/8/1')).status).toBe(400)
    expect((await asked('open/none.pmtiles')).status).toBe(404)
    expect((await asked('open/..%2Fclosed%2Ftown.pmtiles')).status).toBe(422)
  })
})
