import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPool } from './clients.ts'
import { startPgliteServer, type PgliteServer } from '../src/index.ts'

let folder: string
let server: PgliteServer
let pool: ReturnType<typeof openPool>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-maintenance-'))
  server = await startPgliteServer({ dataDir: join(folder, 'pglite') })
  pool = openPool(server.url)
})
afterAll(async () => {
  await pool.end()
  await server.close()
  await rm(folder, { recursive: true })
})

async function value(sql: string): Promise<unknown> {
  return Object.values((await pool.query(sql)).rows[0] as object)[0]
}

/** Bytes of the log on the disk. */
async function logBytes(): Promise<number> {
  const log = join(folder, 'pglite/pg_wal')
  const sizes = (await readdir(log)).filter((name) => name.length === 24).map((name) => stat(join(log, name)))
  return (await Promise.all(sizes)).reduce((sum, { size }) => sum + size, 0)
}

test('a table that is updated without end keeps its size, its statistics and a short log', async () => {
  await pool.query(`create table counters (id int primary key, n int not null, padding text not null)`)
  await pool.query(`insert into counters select i, 0, repeat('x', 300) from generate_series(1, 5000) i`)
  for (let i = 0; i < 100; i++) await pool.query('update counters set n = n + 1')
  await expect
    .poll(
      () =>
        value(`select n_dead_tup < 1100 and n_mod_since_analyze < 600 and last_vacuum is not null
                         and reltuples = 5000 from pg_stat_user_tables join pg_class c on c.oid = relid
                       where relid = 'counters'::regclass`),
      { timeout: 60_000 },
    ) // prettier-ignore
    .toBe(true)
  expect(await value('select sum(n)::int from counters')).toBe(500_000)
  const size = Number(await value(`select pg_relation_size('counters')`))
  // If only new pages were used, the table would grow by 8.5 MB.
  for (let i = 0; i < 5; i++) await pool.query('update counters set n = n - 1')
  expect(Number(await value(`select pg_relation_size('counters')`))).toBeLessThan(size + 4e6)
  expect(await logBytes()).toBeLessThanOrEqual(128 << 20)
})

test('maintenance leaves settings of a client and its open transaction as they are', async () => {
  const client = await pool.connect()
  try {
    await client.query(`set application_name = 'mine'; set search_path = pg_catalog`)
    await client.query('begin')
    await client.query('create temporary table own as select 1 as n')
    for (let i = 0; i < 20; i++) await client.query('update public.counters set n = n + 1')
    expect((await client.query('select n from own')).rows).toEqual([{ n: 1 }])
    await client.query('commit')
    await client.query('drop table own')
    const before = await value(`select vacuum_count::int from pg_stat_user_tables where relname = 'counters'`)
    await expect
      .poll(() => value(`select vacuum_count::int from pg_stat_user_tables where relname = 'counters'`), {
        timeout: 60_000,
      })
      .toBeGreaterThan(Number(before))
    expect((await client.query('show search_path')).rows).toEqual([{ search_path: 'pg_catalog' }])
  } finally {
    client.release(true)
  }
})

test('the disk is waited for', async () => {
  expect(await value('show fsync')).toBe('on')
  expect(await value('show wal_sync_method')).toBe('fsync')
})
