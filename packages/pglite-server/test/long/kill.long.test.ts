import { seededRandom } from '@terrane/core'
import { expect, test } from 'vitest'
import { connect } from '../clients.ts'
import { openFolder, startProcess } from './server-process.ts'

// Slow: each of 20 kills is followed by a start of the database.
const KILLS = 20
const WRITERS = 4
/** Rows that each transaction updates, so that vacuums and checkpoints run when it is killed. */
const CHURNED = 500

test(`${KILLS} kill -9 of the embedded database under load lose no acknowledged transaction`, async () => {
  await using folder = await openFolder()
  const random = seededRandom(47)
  const acknowledged = new Set<number>()
  const rolledBack = new Set<number>()
  let lastId = 0
  let running = await startProcess(folder.path)
  await using _ = { [Symbol.asyncDispose]: () => running.kill() }
  const setUp = await connect(running.url)
  await setUp.query('create table ledger (id int, part int, padding text, primary key (id, part))')
  await setUp.query(`create table churn as select i as id, 0 as n, repeat('x', 500) as padding
                     from generate_series(1, ${CHURNED}) i`)
  await setUp.end()

  /** Transactions of three rows, every fifth of them rolled back, until the connection is lost. */
  const write = async (url: string) => {
    const client = await connect(url)
    try {
      for (;;) {
        const id = ++lastId
        await client.query('begin')
        for (const part of [1, 2, 3]) {
          await client.query('insert into ledger values ($1, $2, $3)', [id, part, 'x'.repeat(random() * 2000)])
        }
        await client.query('update churn set n = n + 1')
        const isKept = id % 5 !== 0
        await client.query(isKept ? 'commit' : 'rollback')
        ;(isKept ? acknowledged : rolledBack).add(id)
      }
    } catch (error) {
      // The connection was lost with the server.
      expect((error as { code?: string }).code ?? 'lost').toMatch(/^(lost|ECONN.*|EPIPE|57P01)$/)
    }
  }
  for (let kill = 0; kill < KILLS; kill++) {
    const before = acknowledged.size
    const writers = Array.from({ length: WRITERS }, () => write(running.url))
    await expect.poll(() => acknowledged.size - before, { timeout: 60_000 }).toBeGreaterThan(random() * 60)
    await running.kill()
    await Promise.all(writers)
    running = await startProcess(folder.path)
  }

  const client = await connect(running.url)
  const { rows } = await client.query<{ id: number; parts: number }>(
    'select id, count(*)::int as parts from ledger group by id order by id',
  )
  const { rows: churn } = await client.query<{ n: number; rows: number }>(
    'select n, count(*)::int as rows from churn group by n',
  )
  await client.end()
  expect(churn).toEqual([{ n: rows.length, rows: CHURNED }])
  const found = new Map(rows.map(({ id, parts }) => [id, parts]))
  expect([...acknowledged].filter((id) => !found.has(id))).toEqual([])
  expect([...rolledBack].filter((id) => found.has(id))).toEqual([])
  expect([...found].filter(([, parts]) => parts !== 3)).toEqual([])
  expect(acknowledged.size).toBeGreaterThan(KILLS * WRITERS)
})
