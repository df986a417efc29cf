// Slow: each of the cuts is followed by a start of the database.
import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { seededRandom } from '@terrane/core'
import type { Client } from 'pg'
import { expect, test } from 'vitest'
import type { SyncMode } from '../../src/index.ts'
import { connect } from '../clients.ts'
import { openFolder, startProcess } from './server-process.ts'

const CUTS = 5
const WRITERS = 4
const CHURNED = 300
const FORGETFUL = new URL('./forgetful-disk.ts', import.meta.url).href

test.each<SyncMode>(['commit', 'soon'])(
  `${CUTS} power cuts leave a whole database, synced at %s`,
  { timeout: 900_000 },
  async (sync) => {
    await using folder = await openFolder()
    const [live, disk] = [join(folder.path, 'live'), join(folder.path, 'disk')]
    const random = seededRandom(sync === 'commit' ? 3 : 5)
    const first = await startProcess(disk, { sync })
    const setUp = await connect(first.url)
    await setUp.query(`create table ledger (id int, part int, padding text, primary key (id, part));
    create table churn as select i as id, 0 as n, repeat('x', 500) as padding from generate_series(1, ${CHURNED}) i; checkpoint`)
    await setUp.end()
    await first.kill()

    let lastId = 0
    let kept: number[] = []
    for (let cut = 0; cut < CUTS; cut++) {
      await rm(live, { recursive: true, force: true })
      await cp(disk, live, { recursive: true })
      const env = { FORGETFUL_LIVE: live, FORGETFUL_DISK: disk, FORGETFUL_SEED: String(cut) }
      const running = await startProcess(live, { sync, preload: FORGETFUL, env })
      const checked = await connect(running.url)
      const found = await idsIn(checked)
      expect(kept.filter((id) => !found.includes(id))).toEqual([])
      const acknowledged: number[] = []
      const write = async () => {
        const client = await connect(running.url)
        try {
          for (;;) {
            const id = ++lastId
            // One message, so that commits are quick; most of them write nothing but the log.
            await client.query(`begin;
            insert into ledger select ${id}, part, repeat('x', ${Math.floor(random() * 50)}) from generate_series(1, 3) part;
            ${id % 16 === 0 ? 'update churn set n = n + 1;' : ''}
            ${id % 48 === 0 ? `drop table if exists short; create table short as select ${id} as id;` : ''}
            commit`)
            acknowledged.push(id)
          }
        } catch {
          // The connection was lost with the machine.
        }
      }
      const writers = Array.from({ length: WRITERS }, write)
      const wanted = 100 + random() * 200
      await expect.poll(() => acknowledged.length, { timeout: 120_000 }).toBeGreaterThan(wanted)
      await running.kill()
      await Promise.all(writers)

      const after = await startProcess(disk, { sync })
      const client = await connect(after.url)
      const survived = new Set(await idsIn(client))
      await client.end()
      await after.kill()
      const lost = acknowledged.filter((id) => !survived.has(id))
      process.stdout.write(`${sync}: cut ${cut} after ${acknowledged.length} commits lost ${lost.length}\n`)
      // Only the last transactions may be lost.
      expect(lost).toEqual(sync === 'commit' ? [] : acknowledged.slice(acknowledged.length - lost.length))
      kept = [...survived]
    }
  },
)

/** Ids of transactions. Each must have all its parts, by the index and without it. */
async function idsIn(client: Client): Promise<number[]> {
  const read = async () => {
    const { rows } = await client.query<{ id: number; parts: number }>(
      'select id, count(*)::int as parts from ledger group by id order by id',
    )
    expect(rows.filter(({ parts }) => parts !== 3)).toEqual([])
    return rows.map(({ id }) => id)
  }
  const ids = await read()
  await client.query('set enable_seqscan = off; set enable_bitmapscan = off')
  expect(await read()).toEqual(ids)
  const { rows: churn } = await client.query('select n, count(*)::int as rows from churn group by n')
  expect(churn).toEqual([{ n: ids.filter((id) => id % 16 === 0).length, rows: CHURNED }])
  const { rows: tables } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relname = 'short'`,
  )
  for (const { name } of tables) expect((await client.query(`select id from ${name}`)).rowCount).toBe(1)
  return ids
}
