import { openDatabase } from '@terrane/database'
import { bulkLoad, type Row } from '@terrane/database/bulk-load'
import { scan } from '@terrane/database/scan'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startFakeServer } from './fake-server.ts'
import { startSilentProxy, type SilentProxy } from './silent-proxy.ts'

const UNAVAILABLE = { code: 'DATABASE_UNAVAILABLE', retryable: true }
const SHORT = { silenceMs: 50, connectTimeoutMs: 2000 }

test('a server that accepts and says nothing is unavailable', async () => {
  await using fake = await startFakeServer(() => {})
  await using proxy = await startSilentProxy(fake.url)
  proxy.hang(true)
  await expect(openDatabase({ url: proxy.url, connectTimeoutMs: 200 })).rejects.toMatchObject(UNAVAILABLE)
})

test('a server that greets and answers nothing is unavailable', async () => {
  await using fake = await startFakeServer(() => {}, { answersVersion: false })
  await expect(openDatabase({ url: fake.url, connectTimeoutMs: 200 })).rejects.toMatchObject(UNAVAILABLE)
})

// There is no network between the embedded database and its clients.
describe.runIf(testLane() === 'postgres')('a connection that has died without a word (PostgreSQL only)', () => {
  let own: TestDatabase
  let proxy: SilentProxy
  beforeAll(async () => {
    own = await openTestDatabase()
    await own.database.query('create table loaded (a text)')
  })
  afterAll(() => own[Symbol.asyncDispose]())
  beforeEach(async () => {
    proxy = await startSilentProxy(own.url)
  })
  afterEach(() => proxy[Symbol.asyncDispose]())

  /** Waits until the server runs a matching statement. */
  const runs = (statement: string) =>
    expect
      .poll(async () => {
        const { rowCount } = await own.database.query(
          `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
             and state = 'active' and query like $1`,
          [statement],
        )
        return rowCount
      })
      .toBeGreaterThan(0)

  test('ends statements in flight as unavailable, and the pool goes on', async () => {
    await using database = await openDatabase({ url: proxy.url, ...SHORT, max: 3 })
    const flights = [
      database.query('select pg_sleep(1000) as one'),
      database.transaction((session) => session.query('select pg_sleep(1000) as two')),
      database.withSignal(new AbortController().signal).query('select pg_sleep(1000) as three'),
    ].map((flight) => expect(flight).rejects.toMatchObject(UNAVAILABLE))
    for (const name of ['one', 'two', 'three']) await runs(`%pg_sleep(1000) as ${name}`)
    proxy.swallow()
    await Promise.all(flights)
    expect((await database.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })

  test('ends them too while the database cannot be reached, and recovers with it', async () => {
    await using database = await openDatabase({ url: proxy.url, ...SHORT, connectTimeoutMs: 1000, max: 1 })
    const flight = database.query('select pg_sleep(1000) as one')
    await runs('%pg_sleep(1000) as one')
    proxy.hang(true)
    proxy.swallow()
    await expect(flight).rejects.toMatchObject(UNAVAILABLE)
    await expect(database.query('select 1')).rejects.toMatchObject(UNAVAILABLE)
    proxy.hang(false)
    expect((await database.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })

  test('is noticed by the next statement when it was idle', async () => {
    await using database = await openDatabase({ url: proxy.url, ...SHORT, max: 1 })
    proxy.swallow()
    await expect(database.query('select 1')).rejects.toMatchObject(UNAVAILABLE)
    expect((await database.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })

  test('ends a load whose rows are no longer taken', async () => {
    await using database = await openDatabase({ url: proxy.url, ...SHORT, max: 1 })
    const batch: Row[] = Array.from({ length: 1000 }, () => ['x'.repeat(1000)])
    const target = { schema: 'public', table: 'loaded', columns: [{ name: 'a', type: 'text' as const }] }
    const batches = async function* () {
      yield batch
      await runs('copy "public"."loaded"%')
      proxy.swallow()
      yield batch
    }
    await expect(bulkLoad(database, target, batches())).rejects.toMatchObject(UNAVAILABLE)
  })

  test('ends a scan', async () => {
    await using database = await openDatabase({ url: proxy.url, ...SHORT, max: 1 })
    const rows = scan(database, [{ sql: `repeat('x', 1000)`, type: 'text' }], 'generate_series(1, 1000000)')
    await rows.next()
    proxy.swallow()
    const rest = async () => {
      for await (const _ of rows);
    }
    await expect(rest()).rejects.toMatchObject(UNAVAILABLE)
  })

  test('is told apart from a long statement, which goes on', async () => {
    await using database = await openDatabase({ url: proxy.url, ...SHORT, max: 1 })
    const before = proxy.connections
    await own.database.session(async (session) => {
      await session.query('select pg_advisory_lock(33)')
      const long = database.query('select pg_advisory_lock(33), 1 as done')
      // Each check opens a connection; these are more checks than lead to giving up a connection.
      await expect.poll(() => proxy.connections, { timeout: 20_000 }).toBeGreaterThan(before + 6)
      await session.query('select pg_advisory_unlock(33)')
      expect((await long).rows).toMatchObject([{ done: 1 }])
    })
  })

  test('is told apart from a scan whose reader pauses', async () => {
    await using database = await openDatabase({ url: proxy.url, ...SHORT, max: 2 })
    await own.database.session(async (session) => {
      await session.query('select pg_advisory_lock(34)')
      const columns = [{ sql: `repeat('x', 1000)`, type: 'text' }] as const
      const batches = scan(database, columns, 'generate_series(1, 700)', { batchRows: 10 })
      let rows = (await batches.next()).value?.rows ?? 0
      // The server has sent all rows, and the session is idle.
      await expect
        .poll(async () => {
          const { rowCount } = await own.database.query(
            `select from pg_stat_activity where datname = current_database() and state = 'idle' and query like 'copy (select%'`,
          )
          return rowCount
        })
        .toBe(1)
      const before = proxy.connections
      const long = database.query('select pg_advisory_lock(34), 1 as done')
      await expect.poll(() => proxy.connections, { timeout: 20_000 }).toBeGreaterThan(before + 6)
      for await (const batch of batches) rows += batch.rows
      expect(rows).toBe(700)
      await session.query('select pg_advisory_unlock(34)')
      await long
    })
  })

  test('comes back when it listens', async () => {
    await using database = await openDatabase({ url: proxy.url, ...SHORT, silenceMs: 200 })
    const heard: string[] = []
    await using _ = await database.listen('changes', (payload) => heard.push(payload))
    const hears = (payload: string) =>
      expect
        .poll(
          async () => {
            await own.database.query(`select pg_notify('changes', $1)`, [payload])
            return heard.includes(payload)
          },
          { timeout: 20_000 },
        )
        .toBe(true)
    await hears('before')
    proxy.swallow()
    await hears('after')
  })
})
