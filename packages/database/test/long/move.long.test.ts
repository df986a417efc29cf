import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { migrate, openDatabase } from '@terrane/database'
import { moveDatabase } from '@terrane/database/transfer'
import { openTestDatabase, testLane } from '@terrane/database/testing'
import { startPgliteServer } from '@terrane/pglite-server'

/** Objects of a database, some visible to one role only. */
const things = (mover: string) => `
  create role ${mover} nologin; grant ${mover} to authenticated;
  create table public."Odd name" (id bigint generated always as identity primary key, t text not null check (t <> ''),
    g geometry(Point, 4326), v vector(3), twice text generated always as (t || t) stored, of_it bigint references public."Odd name");
  insert into public."Odd name" (t, g, v) select e'line\\n\\ttab \\\\ ' || n, st_setsrid(st_makepoint(n, 1), 4326), '[1,2,3]'
    from generate_series(1, 500) n;
  create index on public."Odd name" using gist (g);
  create schema theirs;
  create type theirs.mood as enum ('sad', 'glad');
  create table theirs.moods (mood theirs.mood primary key, note jsonb);
  insert into theirs.moods values ('glad', '{"a": [1, null]}');
  create view public.seen as select id, t from public."Odd name" where id > 10;
  create materialized view theirs.counted as select count(*) from public."Odd name";
  create function theirs.plus(a int, b int default 1) returns int language sql as 'select a + b';
  alter table public."Odd name" enable row level security;
  create policy "who may" on public."Odd name" for select to ${mover} using (id < 100);
  grant select on public."Odd name", public.seen to ${mover};
  insert into spatial_ref_sys values (990001, 'own', 1, 'LOCAL_CS["own"]', '+proj=longlat');
  create table terrane_staging.half (n int)`

/** The server of the tests; null where they run on the embedded database. */
// oxlint-disable-next-line node/no-process-env -- The documented switch between the two lanes.
const server = process.env['DATABASE_URL'] ?? null

async function administer(sql: string): Promise<void> {
  const client = new Client({ connectionString: server! })
  await client.connect()
  await client.query(sql)
  await client.end()
}

/** Name of a role. A role belongs to all databases of a server, so it is dropped after them. */
function aRole() {
  const name = `mover_${randomBytes(4).toString('hex')}`
  const drop = async () => (server === null ? undefined : administer(`drop role if exists ${name}`))
  return { name, [Symbol.asyncDispose]: drop }
}

/** An empty database. */
async function openEmpty(): Promise<{ url: string } & AsyncDisposable> {
  if (server === null) {
    const embedded = await startPgliteServer()
    return { url: embedded.url, [Symbol.asyncDispose]: () => embedded.close() }
  }
  const name = `terrane_test_empty_${randomBytes(4).toString('hex')}`
  await administer(`create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return {
    url: url.href,
    [Symbol.asyncDispose]: () => administer(`drop database ${name} with (force)`),
  }
}

async function look(url: string) {
  await using database = await openDatabase({ url, max: 1 })
  const one = async (sql: string) => (await database.query(sql)).rows
  return {
    rows: await one(`select md5(string_agg(o::text, '|' order by id)) as sum, count(*) from public."Odd name" o`),
    moods: await one('select m.*, theirs.plus(1) as two from theirs.moods m'),
    counted: await one('select * from theirs.counted'),
    custom: await one('select srtext from spatial_ref_sys where srid = 990001'),
    migrations: await one('select id, sha256 from terrane.migrations order by id'),
    next: await one(`insert into public."Odd name" (t) values ('next') returning id`),
    staged: await one(`select to_regclass('terrane_staging.half') as t`),
  }
}

test('a database moves into an empty one with all that it has, and into no other', async () => {
  await using role = aRole()
  await using own = await openTestDatabase()
  await own.database.query(things(role.name))
  await using empty = await openEmpty()
  const tables: string[] = []
  const moved = await moveDatabase(own.url, empty.url, (name) => tables.push(name))
  expect(moved).toMatchObject({ warnings: [] })
  expect(tables).toContain('public.Odd name')
  const there = await look(empty.url)
  expect(there.staged).toEqual([{ t: null }])
  expect({ ...there, staged: null }).toEqual({ ...(await look(own.url)), staged: null })
  await expect(moveDatabase(own.url, empty.url)).rejects.toMatchObject({ code: 'DATABASE_NOT_EMPTY' })
})

test.runIf(testLane() === 'postgres')('the embedded database moves to PostgreSQL (PostgreSQL only)', async () => {
  await using role = aRole()
  await using embedded = await startPgliteServer()
  await using database = await openDatabase({ url: embedded.url, max: 1 })
  await migrate(database, ['control', 'project'])
  await database.query(things(role.name))
  await using empty = await openEmpty()
  const { rows } = await moveDatabase(embedded.url, empty.url)
  expect(rows).toBeGreaterThan(500)
  expect({ ...(await look(empty.url)), staged: null }).toEqual({ ...(await look(embedded.url)), staged: null })
})
