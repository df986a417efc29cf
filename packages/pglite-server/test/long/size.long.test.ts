import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startPgliteServer } from '../../src/index.ts'
import { openPool } from '../clients.ts'
import { openFolder } from './server-process.ts'

const ROWS = 20_000
// oxlint-disable-next-line node/no-process-env -- Set for a whole run of tests.
const UPDATES = process.env['TERRANE_TEST_ALL_FAULTS'] === '1' ? 10_000_000 : 800_000
const MIB = 2 ** 20

test(`${UPDATES} updates of ${ROWS} rows leave a small table and a short log`, async () => {
  await using folder = await openFolder()
  const dataDir = join(folder.path, 'pglite')
  await using server = await startPgliteServer({ dataDir })
  await using pool = openPool(server.url)
  const size = async () => Number((await pool.query(`select pg_relation_size('counters') as n`)).rows[0]?.['n'])
  const logBytes = async () => {
    const names = (await readdir(join(dataDir, 'pg_wal'))).filter((name) => name.length === 24)
    const sizes = await Promise.all(names.map((name) => stat(join(dataDir, 'pg_wal', name))))
    return sizes.reduce((sum, found) => sum + found.size, 0)
  }
  await pool.query('create table counters (id int primary key, n int not null, padding text not null)')
  await pool.query(`insert into counters select i, 0, repeat('x', 300) from generate_series(0, ${ROWS - 1}) i`)
  const live = await size()
  const sizes: number[] = []
  const logs: number[] = []
  for (let done = 0; done < UPDATES; done += 1000) {
    await pool.query('update counters set n = n + 1 where id between $1 and $1 + 999', [done % ROWS])
    if (done % ROWS !== 0) continue
    sizes.push(await size())
    logs.push(await logBytes())
  }
  process.stdout.write(
    `table of ${live / MIB} MiB: at most ${Math.max(...sizes) / MIB} MiB, log at most ${Math.max(...logs) / MIB} MiB\n`,
  )
  // Without vacuum the table would have 40 times its size, and the log 400 MiB.
  expect(Math.max(...sizes) + Math.max(...logs)).toBeLessThanOrEqual(2 * live + 128 * MIB)
  const settled = await size()
  await expect
    .poll(
      async () =>
        (await pool.query(`select n_dead_tup::int as n_dead_tup from pg_stat_user_tables where relname = 'counters'`))
          .rows[0]?.['n_dead_tup'],
      { timeout: 60_000 },
    )
    .toBeLessThanOrEqual(50 + 0.2 * ROWS)
  for (let round = 0; round < 3; round++) await pool.query('update counters set n = n + 1')
  expect(await size()).toBeLessThan(settled + 2 * live)
  expect((await pool.query('select sum(n)::int as n from counters')).rows).toEqual([{ n: UPDATES + 3 * ROWS }])
})
