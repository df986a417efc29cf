import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openPool } from '../clients.ts'
import { openFolder, startProcess } from './server-process.ts'

const ROWS = 20_000
// oxlint-disable-next-line node/no-process-env -- Set for a whole run of tests.
const UPDATES = process.env['TERRANE_TEST_ALL_FAULTS'] === '1' ? 10_000_000 : 800_000
/** Rows a statement. One client updates row by row, as an app does; the others reach the number of updates. */
const BATCHES = [1, 100, 250, 500]
const SAMPLES = 20
const MIB = 2 ** 20

/**
 * The bound of tables, indexes and log together: twice the live data and 128 MiB. Live data is the tables with their
 * indexes before the first update. The sum is bounded, not each part: the log leaves the difference to the tables.
 */
const mostBytes = (live: Sizes) => 2 * (live.heap + live.indexes) + 128 * MIB

/** Bytes: heap and indexes of the tables, the whole database and the log. */
interface Sizes {
  readonly heap: number
  readonly indexes: number
  readonly database: number
  readonly log: number
}

test(`${UPDATES} updates of ${ROWS} rows leave small tables and a short log`, { timeout: 3_600_000 }, async () => {
  await using folder = await openFolder()
  const dataDir = join(folder.path, 'pglite')
  const server = await startProcess(dataDir)
  await using _ = { [Symbol.asyncDispose]: () => server.kill() }
  await using pool = openPool(server.url)
  const number = async (sql: string) => Number(Object.values((await pool.query(sql)).rows[0] as object)[0])
  const logBytes = async () => {
    const names = (await readdir(join(dataDir, 'pg_wal'))).filter((name) => name.length === 24)
    const sizes = await Promise.all(names.map((name) => stat(join(dataDir, 'pg_wal', name))))
    return sizes.reduce((sum, found) => sum + found.size, 0)
  }
  const measure = async (): Promise<Sizes> => ({
    heap: await number(`select pg_table_size('counters') + pg_table_size('ranked')`),
    indexes: await number(`select pg_indexes_size('counters') + pg_indexes_size('ranked')`),
    database: await number('select pg_database_size(current_database())'),
    log: await logBytes(),
  })
  const tell = (done: number, { heap, indexes, database, log }: Sizes) => {
    const mib = (bytes: number) => (bytes / MIB).toFixed(1)
    process.stdout.write(
      `${done} updates: heap ${mib(heap)}, indexes ${mib(indexes)}, database ${mib(database)}, log ${mib(log)} MiB\n`,
    )
  }
  // Updates of `counters` change no index; those of `ranked` move the row in one.
  await pool.query(`create table counters (id int primary key, n int not null, padding text not null);
    create table ranked (id int primary key, n int not null, padding text not null);
    create index on ranked (n);
    insert into counters select i, 0, repeat('x', 300) from generate_series(0, ${ROWS - 1}) i;
    insert into ranked select i, i, repeat('x', 300) from generate_series(0, ${ROWS - 1}) i`)
  const live = await measure()
  tell(0, live)
  const samples: Sizes[] = []
  let done = 0
  const applied = { counters: 0, ranked: 0 }
  let at = 0
  const write = async (rows: number) => {
    for (let turn = 0; done < UPDATES; turn++) {
      const count = Math.min(rows, UPDATES - done)
      done += count
      const table = turn % 2 === 0 ? 'counters' : 'ranked'
      const from = (at += rows) % (ROWS - rows)
      await pool.query(`update ${table} set n = n + 1 where id between $1 and $1 + $2 - 1`, [from, count])
      applied[table] += count
      if (done < ((samples.length + 1) * UPDATES) / SAMPLES) continue
      const index = samples.push(live) - 1
      tell(done, (samples[index] = await measure()))
    }
  }
  await Promise.all(BATCHES.map(write))
  expect(samples.length).toBe(SAMPLES)
  const most = (of: readonly Sizes[]) => Math.max(...of.map(({ heap, indexes }) => heap + indexes))
  const log = Math.max(...samples.map((sizes) => sizes.log))
  expect(log).toBeLessThanOrEqual(128 * MIB)
  // Without vacuum the tables would have 20 times their size or more, and the log 400 MiB.
  expect(most(samples) + log).toBeLessThanOrEqual(mostBytes(live))
  // The size depends on the rate of updates, not on their number.
  const half = SAMPLES / 2
  expect(most(samples.slice(half))).toBeLessThanOrEqual(1.1 * most(samples.slice(0, half)))
  const dead = `select max(n_dead_tup) from pg_stat_user_tables where relname in ('counters', 'ranked')`
  await expect.poll(() => number(dead), { timeout: 60_000 }).toBeLessThanOrEqual(50 + 0.2 * ROWS)
  const settled = await measure()
  for (let round = 0; round < 3; round++) await pool.query('update counters set n = n + 1')
  expect((await measure()).heap).toBeLessThan(settled.heap + 2 * live.heap)
  expect(await number('select sum(n) from counters')).toBe(applied.counters + 3 * ROWS)
  expect(await number('select sum(n) from ranked')).toBe(applied.ranked + (ROWS * (ROWS - 1)) / 2)
})
