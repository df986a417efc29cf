import { expect, test } from 'vitest'
import { openDatabase } from '../database.ts'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'

/**
 * Changes that a test could make, each in its own statement: objects, settings, files, memory of the session and of the
 * server.
 */
const CHANGES = [
  `create schema left_behind create table things (id serial primary key, place geometry(point, 4326))`,
  `insert into left_behind.things (place) select st_setsrid(st_point(i % 180, i % 90), 4326) from generate_series(1, 2000) i`,
  `create index on left_behind.things using gist (place)`,
  `create sequence public.counter; select nextval('public.counter')`,
  `create type public.mood as enum ('good', 'bad')`,
  `create function public.answer() returns int language sql as 'select 42'`,
  `create or replace function st_astext(geometry) returns text language sql as $$ select 'replaced' $$`,
  `drop extension vector cascade`,
  `create publication everything for all tables`,
  `create function public.on_ddl() returns event_trigger language plpgsql as 'begin end'`,
  `create event trigger watching on ddl_command_end execute function public.on_ddl()`,
  `create role visitor login superuser password 'secret'`,
  `alter role postgres set work_mem = '7MB'`,
  `alter role postgres set search_path = left_behind, public`,
  `alter default privileges grant all on tables to visitor`,
  `grant all on schema terrane to visitor`,
  `alter system set work_mem = '9MB'`,
  `select pg_reload_conf()`,
  `alter database postgres set statement_timeout = '1h'`,
  `create database another`,
  `delete from terrane.migrations`,
  `alter table terrane.migrations add column note text; alter table terrane.migrations rename to history`,
  `comment on schema public is 'changed'; comment on database postgres is 'changed'`,
  `delete from spatial_ref_sys where srid = 3857`,
  `update pg_proc set prosrc = 'int4mi' where oid = 'int4pl'::regproc`,
  `select lo_from_bytea(0, 'large')`,
  `copy (select 1) to '/tmp/file'; copy (select 2) to '/pglite/data/postgresql.auto.conf'`,
  `copy (select 3) to '/pglite/share/postgresql/extension/vector.control'`,
  `analyze`,
  `vacuum full pg_class`,
  `prepare plan as select 1`,
  `create temporary table scratch (id int)`,
  `declare place cursor with hold for select 1`,
  `select pg_advisory_lock(1), pg_advisory_lock(2, 3)`,
  `listen changes`,
  `select set_config('search_path', 'left_behind', false), set_config('own.setting', 'x', false), setseed(0.5)`,
  `delete from pg_cast where castsource = 'int4'::regtype and casttarget = 'int8'::regtype`,
  `set session authorization visitor`,
  `select repeat('x', 150000000) is null`,
  `begin; create table unfinished (id int); savepoint here`,
]

/** Queries with a row for every existing object, so that an additional, missing or changed object is a difference. */
const STATE = [
  `select * from pg_settings order by name`,
  `select * from pg_prepared_statements`,
  `select * from pg_cursors`,
  `select locktype, mode, objid from pg_locks where locktype = 'advisory'`,
  `select pg_listening_channels()`,
  `select current_user, session_user, current_schemas(true), current_setting('own.setting', true)`,
  `select pg_ls_dir('/') union all select pg_ls_dir('/tmp') union all select pg_ls_dir('/pglite/data') order by 1`,
  `select md5(pg_read_file('/pglite/data/postgresql.auto.conf')), md5(pg_read_file('/pglite/share/postgresql/extension/vector.control'))`,
  `select * from pg_ls_dir('/pglite/data/base') base, pg_ls_dir('/pglite/data/base/' || base) file order by 1, 2`,
  `select 2 + 3, 1::int8, st_astext(st_point(1, 2)), '[1,2]'::vector <-> '[1,3]'`,
  `select id, sha256, applied_at from terrane.migrations order by id`,
]

test.runIf(testLane() === 'pglite')(
  'a database begins as the snapshot is, whatever the test before has changed',
  async () => {
    const first = await openTestDatabase()
    const before = await stateOf(first)
    const client = await openDatabase({ url: first.url, max: 1 })
    const failed: string[] = []
    await client.session(async (session) => {
      for (const change of CHANGES) await session.query(change).catch(() => failed.push(change))
      session.discard()
      await first[Symbol.asyncDispose]()
    })
    await expect(client.query('select 1')).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' })
    await client.close()
    expect(failed).toEqual([])
    await using second = await openTestDatabase()
    expect(second.url).not.toBe(first.url)
    // Runs more transactions than the changes needed, so that transaction numbers in a page that was not restored would
    // count as committed.
    for (let i = 0; i < 3 * CHANGES.length; i++) await second.database.query('select txid_current()')
    expect(await stateOf(second)).toEqual(before)
  },
)

/** The answers of {@link STATE}, and of every table of the catalogue, of PostGIS and of Terrane. */
async function stateOf({ database }: TestDatabase): Promise<Record<string, unknown>> {
  // Larger than the server's buffers, so that it is read from files.
  await database.query(`create table large as select repeat(md5(i::text), 40) as text from generate_series(1, 25000) i`)
  await database.query('drop table large')
  const { rows: tables } = await database.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relkind = 'r' and relname not in ('pg_statistic') order by oid`,
  )
  const state: Record<string, unknown> = { tables }
  for (const { name } of tables) {
    const { rows } = await database.query(
      `select count(*), md5(string_agg(t::text, chr(10) order by t::text)) from ${name} t`,
    )
    state[name] = rows[0]
  }
  for (const statement of STATE) state[statement] = (await database.query(statement)).rows
  return state
}
