import { afterAll, beforeAll, expect, test } from 'vitest'
import { openOrigin, type TestOrigin } from './harness.ts'

let origin: TestOrigin
beforeAll(async () => {
  origin = await openOrigin()
  await origin.db.database.query(`
    create table public.trees (id int primary key, geom geometry(Point, 4326));
    insert into public.trees values (1, 'SRID=4326;POINT(1 2)');
    create table public.base (id int primary key);
    create view public.over_base as select id from public.base;
    insert into terrane.imports (table_schema, table_name, job_id, task, source, attribution, licence, rows)
      values ('public', 'trees', gen_random_uuid(), 'ogr2ogrImport', '{}', 'the city', 'CC0', 1);
    analyze public.trees;`)
})
afterAll(() => origin[Symbol.asyncDispose]())

const manage = (name: string, args: object = {}, key = origin.keys.service) =>
  origin.client(key, 'geoembeddings').rpc(name as never, args as never)
const listed = async (name: string) =>
  ((await manage('list_tables')).data as unknown as { table_name: string; shared_with: string[] }[]).find(
    (table) => table.table_name === name,
  )
const read = async (key: string) => (await origin.client(key).from('trees').select('id')).data?.length ?? null
const trees = { p_schema: 'public', p_table: 'trees' }

test('tables are listed with kind, rows and import, without those of extensions and the platform', async () => {
  expect(await listed('trees')).toMatchObject({
    table_schema: 'public',
    kind: 'table',
    geometry_type: 'Point',
    rows: 1,
    task: 'ogr2ogrImport',
    attribution: 'the city',
    shared_with: [],
  })
  expect([await listed('spatial_ref_sys'), await listed('embeddings_catalogue'), await listed('imports')]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test('a table is shared with a role, then with another, and taken back', async () => {
  expect(await read(origin.keys.anon)).toBeNull()
  expect((await manage('share_table', { ...trees, p_role: 'anon' })).error).toBeNull()
  expect([await read(origin.keys.anon), await read(origin.keys.user)]).toEqual([1, null])
  expect((await manage('share_table', { ...trees, p_role: 'authenticated' })).error).toBeNull()
  expect((await listed('trees'))?.shared_with).toEqual(['anon', 'authenticated'])
  const written = await origin
    .client(origin.keys.anon)
    .from('trees')
    .insert({ id: 2 } as never)
  expect(written.error).not.toBeNull()
  expect((await manage('unshare_table', { ...trees, p_role: 'anon' })).error).toBeNull()
  expect([await read(origin.keys.anon), await read(origin.keys.user)]).toEqual([null, 1])
})

test('an embedding table is shared with all or none, by the same call', async () => {
  await origin.db.database.query(`
    create table geoembeddings.seen (id bigint primary key);
    insert into geoembeddings.seen values (1);
    alter table geoembeddings.seen enable row level security;
    create policy visible on geoembeddings.seen for select using (exists (
      select from geoembeddings.embeddings_catalogue c where c.table_name = 'seen'));
    grant select on geoembeddings.seen to anon, authenticated;
    insert into geoembeddings.embeddings_catalogue (table_name, model_name, dims, rows) values ('seen', 'm', 3, 1);`)
  const seen = { p_schema: 'geoembeddings', p_table: 'seen' }
  const readers = async () =>
    Promise.all(
      [origin.keys.anon, origin.keys.user].map(
        async (key) => (await origin.client(key, 'geoembeddings').from('seen').select('id')).data?.length,
      ),
    )
  expect([await readers(), (await listed('seen'))?.shared_with]).toEqual([
    [1, 1],
    ['anon', 'authenticated'],
  ])
  expect((await manage('unshare_table', { ...seen, p_role: 'authenticated' })).error?.code).toBe('22023')
  expect((await manage('unshare_table', { ...seen, p_role: 'anon' })).error).toBeNull()
  expect([await readers(), (await listed('seen'))?.shared_with]).toEqual([[0, 0], []])
  expect((await manage('share_table', { ...seen, p_role: 'anon' })).error).toBeNull()
  expect([await readers(), (await listed('seen'))?.shared_with]).toEqual([
    [1, 1],
    ['anon', 'authenticated'],
  ])
  expect((await manage('drop_table', seen)).error).toBeNull()
  expect(await listed('seen')).toBeUndefined()
})

test('a role that could read before keeps it when another is added', async () => {
  await origin.db.database.query(
    'create table public.known (id int); insert into public.known values (1); grant select on public.known to anon',
  )
  await manage('share_table', { p_schema: 'public', p_table: 'known', p_role: 'authenticated' })
  expect((await origin.client(origin.keys.anon).from('known').select('id')).data).toEqual([{ id: 1 }])
})

test('only the service role manages, and nothing but own tables', async () => {
  for (const key of [origin.keys.anon, origin.keys.user]) {
    expect((await manage('list_tables', {}, key)).error?.code).toBe('42501')
    expect((await manage('drop_table', trees, key)).error?.code).toBe('42501')
    expect((await manage('share_table', { ...trees, p_role: 'anon' }, key)).error?.code).toBe('42501')
  }
  for (const [schema, table] of [
    ['terrane', 'imports'],
    ['public', 'spatial_ref_sys'],
    ['geoembeddings', 'embeddings_catalogue'],
    ['public', 'over_base'],
  ]) {
    expect((await manage('drop_table', { p_schema: schema, p_table: table })).error?.code).toBe('42P01')
  }
  expect((await manage('share_table', { ...trees, p_role: 'postgres' })).error?.code).toBe('22023')
})

test('a table is dropped with its import, unless a view needs it', async () => {
  expect((await manage('drop_table', { p_schema: 'public', p_table: 'base' })).error?.code).toBe('2BP01')
  expect((await manage('drop_table', trees)).error).toBeNull()
  expect(await listed('trees')).toBeUndefined()
  const { rows } = await origin.db.database.query(`select from terrane.imports where table_name = 'trees'`)
  expect(rows).toHaveLength(0)
})
