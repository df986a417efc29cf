import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bulkLoad, type Row } from '@terrane/database/bulk-load'
import { scan } from '@terrane/database/scan'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'

const UNAVAILABLE = { code: 'DATABASE_UNAVAILABLE', retryable: true }

let own: TestDatabase
beforeAll(async () => {
  own = await openTestDatabase()
})
afterAll(async () => {
  await own[Symbol.asyncDispose]()
})

/** Ends the backends that run a matching statement, as a restart of the server does; waits until there is one. */
async function endBackends(statement: string): Promise<void> {
  await expect
    .poll(async () => {
      const { rowCount } = await own.database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and query like $1`,
        [statement],
      )
      return rowCount
    })
    .toBeGreaterThan(0)
}

// The embedded database has one session, which cannot be ended from outside.
describe.runIf(testLane() === 'postgres')('a connection that is lost (PostgreSQL only)', () => {
  const target = { schema: 'public', table: 'loaded', columns: [{ name: 'a', type: 'text' as const }] }
  const batch: Row[] = Array.from({ length: 1000 }, () => ['x'.repeat(1000)])

  test('while the server takes no rows ends the load as unavailable', async () => {
    const { database } = own
    await database.query('create table loaded (a text)')
    await database.transaction(async (session) => {
      // The COPY waits for this lock, and the load waits for the COPY, because it sends more than the buffers hold.
      await session.query('lock table loaded in access exclusive mode')
      const loading = bulkLoad(
        database,
        target,
        Array.from({ length: 20 }, () => batch),
      )
      await Promise.all([expect(loading).rejects.toMatchObject(UNAVAILABLE), endBackends('copy "public"."loaded"%')])
    })
    expect(await bulkLoad(database, target, [batch])).toBe(1000)
  })

  test('between two batches ends the load as unavailable', async () => {
    const batches = async function* () {
      yield batch
      await endBackends('copy "public"."loaded"%')
      for (let i = 0; i < 20; i++) yield batch
    }
    await expect(bulkLoad(own.database, target, batches())).rejects.toMatchObject(UNAVAILABLE)
  })

  test('before the last row is acknowledged ends the load as unavailable', async () => {
    await own.database.transaction(async (session) => {
      await session.query('lock table loaded in access exclusive mode')
      await Promise.all([
        expect(bulkLoad(own.database, target, [[['one']]])).rejects.toMatchObject(UNAVAILABLE),
        endBackends('copy "public"."loaded"%'),
      ])
    })
  })

  test('ends a scan as unavailable', async () => {
    const rows = scan(own.database, [{ sql: `repeat('x', 1000)`, type: 'text' }], 'generate_series(1, 1000000)')
    await rows.next()
    await endBackends('copy (select%')
    const rest = async () => {
      for await (const _ of rows);
    }
    await expect(rest()).rejects.toMatchObject(UNAVAILABLE)
  })

  test('between two statements of a transaction is unavailable', async () => {
    const working = own.database.transaction(async (session) => {
      await session.query(`select 'to be ended'`)
      const ended = new Promise((resolve) => session.client.once('end', resolve))
      await endBackends(`select 'to be ended'`)
      await ended
      await session.query('select 1')
    })
    await expect(working).rejects.toMatchObject(UNAVAILABLE)
    expect((await own.database.query('select 2 as n')).rows).toEqual([{ n: 2 }])
  })
})
