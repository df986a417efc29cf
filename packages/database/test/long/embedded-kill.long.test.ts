import { seededRandom } from '@terrane/core'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { openFolder, startProcess } from './embedded-process.ts'

// oxlint-disable-next-line node/no-process-env -- asked for by whoever runs the tests
const KILLS = process.env['TERRANE_TEST_ALL_FAULTS'] === '1' ? 20 : 6
const WRITERS = 4

test(`${KILLS} kill -9 of the embedded database under load lose no acknowledged transaction`, async () => {
  await using folder = await openFolder()
  const random = seededRandom(47)
  const acknowledged = new Set<number>()
  const rolledBack = new Set<number>()
  let lastId = 0
  let running = await startProcess(folder.path)
  await using _ = { [Symbol.asyncDispose]: () => running.kill() }
  const setUp = await open(running.url)
  await setUp.query('create table ledger (id int, part int, padding text, primary key (id, part))')
  await setUp.end()

  /** Transactions of three rows, every fifth of them rolled back, until the connection is lost. */
  const write = async (url: string) => {
    const client = await open(url)
    try {
      for (;;) {
        const id = ++lastId
        await client.query('begin')
        for (const part of [1, 2, 3]) {
          await client.query('insert into ledger values ($1, $2, $3)', [id, part, 'x'.repeat(random() * 2000)])
        }
        const isKept = id % 5 !== 0
        await client.query(isKept ? 'commit' : 'rollback')
        ;(isKept ? acknowledged : rolledBack).add(id)
      }
    } catch (error) {
      // Lost with the server.
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

  const client = await open(running.url)
  const { rows } = await client.query<{ id: number; parts: number }>(
    'select id, count(*)::int as parts from ledger group by id order by id',
  )
  await client.end()
  const found = new Map(rows.map(({ id, parts }) => [id, parts]))
  expect([...acknowledged].filter((id) => !found.has(id))).toEqual([])
  expect([...rolledBack].filter((id) => found.has(id))).toEqual([])
  expect([...found].filter(([, parts]) => parts !== 3)).toEqual([])
  expect(acknowledged.size).toBeGreaterThan(KILLS * WRITERS)
})

async function open(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  return client
}
