import { readdir } from 'node:fs/promises'
import { openStore, type ObjectStore } from '@terrane/storage'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { archiveToPmtiles } from '../src/jobs/archive-to-pmtiles.ts'
import { HEADERS, openWorker, submit, until, type TestWorker } from './harness.ts'
import { StoredTiles } from './read-tiles.ts'

const TASK = 'archiveToPmtiles'
let worker: TestWorker
let store: ObjectStore

beforeAll(async () => {
  worker = await openWorker({
    tasks: [archiveToPmtiles({ memoryBytes: 2 ** 24, openSchemas: ['odd "schema"'] })],
    env: { TERRANE_WORKER_CONCURRENCY: '2', TERRANE_PROJECT_CONCURRENCY: '4' },
  })
  store = openStore(worker.env['TERRANE_STORAGE']!)
  await query(`
    create domain label as text;
    create table towns (
      town_id int primary key, name label, population bigint, share real, price numeric(12,2), capital boolean,
      founded date, tags jsonb, words text[], raw bytea, geom geometry(Point, 3857));
    insert into towns values
      (7, 'Aachen', 9007199254740993, 0.5, 12.25, true, '0765-01-01', '{"a": [1]}', '{x,y}', '\\x00',
        st_transform(st_setsrid(st_makepoint(6.08, 50.77), 4326), 3857)),
      (8, 'Görlitz', 5, null, null, false, null, null, null, null,
        st_transform(st_setsrid(st_makepoint(14.98, 51.15), 4326), 3857)),
      (9, 'Nowhere', 1, 1, 1, false, null, null, null, null, null);
    create schema "odd ""schema""";
    create table "odd ""schema"""."ta'b""le" ("co""l" text, "geom" geometry);
    insert into "odd ""schema"""."ta'b""le" values ('x', 'SRID=4326;CIRCULARSTRING(0 0, 1 1, 2 0)');
    create table no_srid (geom geometry); insert into no_srid values (st_makepoint(1, 2));
    create table no_map (id int);
    create domain place as geometry;
    create domain here as place;
    create domain heading as label;
    create table domains (title heading, spot here);
    insert into domains values ('x', 'SRID=4326;POINT(1 2)'), ('y', st_transform('SRID=4326;POINT(1 2)'::geometry, 3857));
    create view broken as select 1 / (town_id - 7) as share, geom from towns;
    create view town_names as select town_id, name, geom::geography as place from (
      select town_id, name, st_transform(geom, 4326) as geom from towns) t;
    create table many as select n as id, 'name ' || n % 100 as name,
        st_buffer(st_setsrid(st_makepoint(sin(n) * 10, cos(n * 7) * 10), 4326), 0.01 + n % 5 * 0.01, 16) as geom
      from generate_series(1, 6000) n`)
})
afterAll(() => worker[Symbol.asyncDispose]())

const query = async (sql: string) => {
  for (const statement of sql.split(/;\s*\n/)) await worker.db.database.query(statement)
}

async function archive(body: object) {
  const { status, body: job } = await submit(worker, TASK, body)
  expect(status).toBe(202)
  return until(worker, job.links.self)
}

async function keys(): Promise<string[]> {
  const found: string[] = []
  for await (const { key } of store.list('pmtiles', '')) found.push(key)
  return found
}

test('without its bucket the task is refused at submit, and says what to do', async () => {
  const { status, body } = await submit(worker, TASK, { table: 'towns' })
  expect([status, body.code]).toEqual([404, 'BUCKET_NOT_FOUND'])
})

describe('with its bucket', () => {
  beforeAll(() => store.createBucket('pmtiles', { public: true, fileSizeLimit: null, allowedMimeTypes: null }))

  test('a table becomes an archive that the reference reader opens, with typed attributes and the key as id', async () => {
    const done = await archive({ table: 'towns', zooms: [0, 9] })
    expect(done).toMatchObject({
      status: 'success',
      result: {
        bucket: 'pmtiles',
        path: 'towns.pmtiles',
        minzoom: 0,
        maxzoom: 9,
        features: 2,
        skipped_features: 1,
        dropped_features: 0,
        layers: [{ id: 'towns', fields: { name: 'String', population: 'Mixed', share: 'Number', capital: 'Boolean' } }],
      },
    })
    const info = await store.head('pmtiles', 'towns.pmtiles')
    expect(info).toMatchObject({
      contentType: 'application/vnd.pmtiles',
      size: done.result!['bytes'],
      etag: done.result!['etag'],
    })
    const tiles = new StoredTiles(store, 'towns.pmtiles')
    expect(await tiles.header()).toMatchObject({ clustered: true, maxZoom: 9 })
    const [x, y] = [Math.floor(((6.08 + 180) / 360) * 512), 171]
    expect((await tiles.features(9, x, y)).get(7)).toEqual({
      name: 'Aachen',
      population: '9007199254740993',
      share: 0.5,
      price: 12.25,
      capital: true,
      founded: '0765-01-01',
      tags: '{"a": [1]}',
      words: '{x,y}',
    })
    expect((await tiles.features(0, 0, 0)).get(8)).toEqual({ name: 'Görlitz', population: 5, capital: false })
  })

  test('properties, layer name and zooms are taken as asked for', async () => {
    const body = { table: 'towns', zooms: { min: 3, max: 5 }, layerName: 'Städte', properties: ['town_id', 'name'] }
    const { result } = await archive(body)
    expect(result).toMatchObject({ minzoom: 3, maxzoom: 5, layers: [{ id: 'Städte' }] })
    const shown = await new StoredTiles(store, 'towns.pmtiles').features(3, 4, 2)
    expect(shown.get(7)).toEqual({ town_id: 7, name: 'Aachen' })
  })

  test('several tables are layers of one archive, each with its filter, properties and zooms', async () => {
    const { result } = await archive({
      table: 'towns',
      zooms: [0, 6],
      properties: ['name'],
      filter: 'capital=is.true&name=like.A*',
      archiveName: 'all',
      layers: [
        { table: 'many', layerName: 'circles', zooms: [2, 4], properties: [], filter: 'id=in.(1,2,3)' },
        { table: 'town_names', filter: 'or=(name.eq."Aachen",name.eq."G\\"x")' },
        { table: 'many', layerName: 'none', filter: 'id=eq.0' },
      ],
    })
    expect(result).toMatchObject({
      path: 'all.pmtiles',
      minzoom: 0,
      maxzoom: 6,
      features: 5,
      layers: [
        { id: 'towns', minzoom: 0, maxzoom: 6, fields: { name: 'String' } },
        { id: 'circles', minzoom: 2, maxzoom: 4, fields: {} },
        { id: 'town_names', minzoom: 0, maxzoom: 6, fields: { town_id: 'Number', name: 'String' } },
        { id: 'none' },
      ],
      warnings: [{ code: 'LAYER_EMPTY', layer: 'none' }],
    })
    const tiles = new StoredTiles(store, 'all.pmtiles')
    expect(Object.keys(await tiles.layers(6, 33, 21))).toEqual(['towns', 'town_names'])
    expect([...(await tiles.features(6, 33, 21)).values()]).toEqual([{ name: 'Aachen' }])
  })

  test('points become clusters that count and sum, and the first by an attribute stay', async () => {
    const { result } = await archive({
      table: 'towns',
      zooms: [0, 9],
      cluster: { distance: 200, maxZoom: 5, aggregates: [{ property: 'population', operation: 'sum' }] },
    })
    expect(result).toMatchObject({ features: 2, layers: [{ fields: { point_count: 'Number', cluster: 'Boolean' } }] })
    const [whole] = Object.values(await new StoredTiles(store, 'towns.pmtiles').layers(0, 0, 0))[0]!
    // A population that no number holds is text in a tile, and counts for nothing.
    expect(whole).toEqual({ cluster: true, point_count: 2, point_count_abbreviated: 2, population: 5 })
    await archive({
      table: 'town_names',
      zooms: [0, 9],
      rankBy: { property: 'town_id', order: 'smallest' },
      dropRate: 2,
    })
    expect([...(await new StoredTiles(store, 'town_names.pmtiles').features(0, 0, 0)).values()]).toEqual([
      { town_id: 7, name: 'Aachen' },
    ])
  })

  test('an earlier archive is replaced whole, and its ETag changes', async () => {
    const first = await archive({ table: 'towns', zooms: [0, 2] })
    const second = await archive({ table: 'towns', zooms: [0, 3] })
    const again = await archive({ table: 'towns', zooms: [0, 3] })
    expect(second.result!['etag']).not.toBe(first.result!['etag'])
    expect(again.result!['etag']).toBe(second.result!['etag'])
    expect((await keys()).filter((key) => key.startsWith('.'))).toEqual([])
  })

  test('names of any characters, arcs, and views over geography work', async () => {
    const odd = await archive({ table: `ta'b"le`, schema: 'odd "schema"' })
    expect(odd.result).toMatchObject({
      path: `ta'b"le.pmtiles`,
      features: 1,
      layers: [{ fields: { 'co"l': 'String' } }],
    })
    const view = await archive({ table: 'town_names', zooms: [0, 4] })
    expect(view.result).toMatchObject({ features: 2, layers: [{ fields: { town_id: 'Number', name: 'String' } }] })
  })

  test('geometry without a reference system is an error that says how to give it one', async () => {
    const done = await archive({ table: 'no_srid' })
    expect(done).toMatchObject({ status: 'failed', error: { code: 'TABLE_UNREADABLE', retryable: false } })
    expect(done.error!.hint).toContain('UpdateGeometrySRID')
  })

  test('domains of domains are what they stand for, and each row has a reference system of its own', async () => {
    const { result } = await archive({ table: 'domains', zooms: [0, 2] })
    expect(result).toMatchObject({ features: 2, layers: [{ fields: { title: 'String' } }] })
    const shown = [...(await new StoredTiles(store, 'domains.pmtiles').features(0, 0, 0)).values()]
    expect(shown).toEqual([{ title: 'x' }])
  })

  test('an archive has the attribution and the description in the comment of its table', async () => {
    await query(`comment on table domains is '{"attribution": "ESA", "description": "Places"}'`)
    await archive({ table: 'domains', zooms: [0, 0], archiveName: 'attributed' })
    const about = await new StoredTiles(store, 'attributed.pmtiles').archive.getMetadata()
    expect(about).toMatchObject({ attribution: 'ESA', description: 'Places' })
    await query('comment on table domains is null')
  })

  test('a view that fails is an error with its reason', async () => {
    const done = await archive({ table: 'broken' })
    expect(done).toMatchObject({ status: 'failed', error: { code: 'TABLE_UNREADABLE' } })
    expect(done.error!.message).toContain('division by zero')
    expect(done.error!.hint).toContain('properties')
  })

  test.each([
    { name: 'a table that is not there', body: { table: 'nothing' }, status: 404, code: 'TABLE_NOT_FOUND' },
    {
      name: 'a table of the platform',
      body: { table: 'jobs', schema: 'terrane' },
      status: 422,
      code: 'SCHEMA_NOT_ALLOWED',
    },
    { name: 'a name that is no object path', body: { table: 'a/../b' }, status: 422, code: 'INVALID_KEY' },
    { name: 'an index', body: { table: 'towns_pkey' }, status: 404, code: 'TABLE_NOT_FOUND' },
    { name: 'a table without geometry', body: { table: 'no_map' }, status: 422, code: 'NO_GEOMETRY_COLUMN' },
    {
      name: 'a property that is none',
      body: { table: 'towns', properties: ['nam'] },
      status: 422,
      code: 'PROPERTY_NOT_SHOWN',
    },
    {
      name: 'a property of bytes',
      body: { table: 'towns', properties: ['raw'] },
      status: 422,
      code: 'PROPERTY_NOT_SHOWN',
    },
    {
      name: 'a filter of a column that is none',
      body: { table: 'towns', filter: 'x=eq.1' },
      status: 422,
      code: 'BAD_FILTER',
    },
    {
      name: 'a filter that compares a number with a word',
      body: { table: 'towns', filter: 'town_id=eq.x' },
      status: 422,
      code: 'BAD_FILTER',
    },
    {
      name: 'a filter that does not parse',
      body: { table: 'towns', filter: 'town_id=1' },
      status: 422,
      code: 'BAD_FILTER',
    },
    {
      name: 'a limit in a filter',
      body: { table: 'towns', filter: 'town_id=eq.1&limit=3' },
      status: 422,
      code: 'BAD_FILTER',
    },
    { name: 'a table twice', body: { table: 'towns', layers: [{ table: 'towns' }] }, status: 422, code: 'BAD_LAYERS' },
    {
      name: 'a further table that is not there',
      body: { table: 'towns', layers: [{ table: 'nothing' }] },
      status: 404,
      code: 'TABLE_NOT_FOUND',
    },
    {
      name: 'a further table of the platform',
      body: { table: 'towns', layers: [{ table: 'jobs', schema: 'terrane' }] },
      status: 422,
      code: 'SCHEMA_NOT_ALLOWED',
    },
    {
      name: 'a rank that is no property',
      body: { table: 'towns', properties: ['name'], rankBy: { property: 'share' } },
      status: 422,
      code: 'PROPERTY_NOT_SHOWN',
    },
    { name: 'zooms the wrong way round', body: { table: 'towns', zooms: [5, 2] }, status: 422, code: 'BAD_ZOOMS' },
    { name: 'a zoom too high', body: { table: 'towns', zooms: [0, 19] }, status: 422, code: 'VALIDATION_FAILED' },
    { name: 'an unknown field', body: { table: 'towns', sql: 'select' }, status: 422, code: 'VALIDATION_FAILED' },
    { name: 'no table', body: {}, status: 422, code: 'VALIDATION_FAILED' },
  ])('$name is refused at submit', async ({ body, status, code }) => {
    const answer = await submit(worker, TASK, body)
    expect([answer.status, answer.body.code]).toEqual([status, code])
  })

  test('a cancelled job leaves no object and no file behind', async () => {
    const { body: job } = await submit(worker, TASK, { table: 'many', zooms: [0, 16] })
    await until(worker, job.links.self, ({ status }) => status === 'running')
    await worker.app.inject({ method: 'DELETE', url: job.links.self, headers: HEADERS })
    const done = await until(worker, job.links.self)
    expect(done).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
    expect((await keys()).filter((key) => key.startsWith('many') || key.startsWith('.'))).toEqual([])
    expect(await readdir(worker.env['TERRANE_WORK_DIR']!)).toEqual([])
  })

  test('a job reports its phases and shows every feature of a larger table', async () => {
    const { body: job } = await submit(worker, TASK, { table: 'many', zooms: [0, 10] })
    const done = await until(worker, job.links.self)
    expect(done).toMatchObject({ status: 'success', result: { features: 6000, dropped_features: 0 } })
    expect(done.progress).toMatchObject({ percent: 100 })
  })
})
