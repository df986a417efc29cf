import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PoolClient } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { cancelStatement } from '../src/cancel.ts'

let own: TestDatabase
beforeAll(async () => {
  own = await openTestDatabase()
  await own.database.query('create table public.kept (n int)')
})
afterAll(async () => {
  await own[Symbol.asyncDispose]()
})

/** Statements that would run for minutes or longer, of the executor, of GEOS, of a procedural language and of the host. */
const ENDLESS = {
  'a series': 'select count(*) from generate_series(1, 40000000000)',
  'a recursion without an end': 'with recursive r(n) as (select 1 union all select n + 1 from r) select max(n) from r',
  'random points in a polygon': `select sum(st_npoints(st_generatepoints(st_makeenvelope(0, 0, 1, 1), 3000000 + i))) from generate_series(1, 10000) i`,
  'a union in GEOS': `select st_unaryunion(st_collect(st_buffer(st_makepoint(random(), random()), 1, 200))) from generate_series(1, 20000)`,
  'a loop': 'do $$ begin loop perform 1; end loop; end $$',
  'a sleep': 'select pg_sleep(1000)',
}
const CANCELLED = { code: '57014' }

test.each(Object.entries(ENDLESS))('statement_timeout ends %s', async (_, sql) => {
  const error = await own.database
    .transaction(async (session) => {
      await session.query(`set local statement_timeout = '200ms'`)
      await session.query(sql)
    })
    .catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ ...CANCELLED, message: 'canceling statement due to statement timeout' })
  expect((await own.database.query('select 1 as one')).rows).toEqual([{ one: 1 }])
})

test('a bare statement gets its end, too', async () => {
  await own.database.session(async (session) => {
    await session.query(`set statement_timeout = '200ms'`)
    await expect(session.query(ENDLESS['a union in GEOS'])).rejects.toMatchObject(CANCELLED)
    expect((await session.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    await session.query('reset statement_timeout')
  })
})

/** Requests the cancellation until the statement has ended, because a request before its begin has no effect. */
async function cancelled(client: PoolClient, running: Promise<unknown>): Promise<void> {
  const ended = running.catch((error: unknown) => error)
  // Requests are sent one after the other, so that none is in flight when the next statement begins.
  for (let isOver = false; !isOver;) {
    await cancelStatement(client)
    isOver = await Promise.race([ended.then(() => true), sleep(100, false)])
  }
  expect(await ended).toMatchObject({ ...CANCELLED, message: 'canceling statement due to user request' })
}

test.each(Object.entries(ENDLESS))('a request to cancel ends %s, and the connection goes on', async (_, sql) => {
  await own.database.session(async (session) => {
    const { client } = session
    await cancelled(client, session.query(sql))
    expect((await session.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })
})

test('what was cancelled inside a transaction leaves nothing', async () => {
  await own.database.session(async (session) => {
    const { client } = session
    await session.query('begin')
    await session.query('insert into public.kept values (1)')
    await cancelled(client, session.query(`insert into public.kept select n from generate_series(1, 40000000000) n`))
    await expect(session.query('select 1')).rejects.toMatchObject({ code: '25P02' })
    await session.query('rollback')
    expect((await session.query('select * from public.kept')).rows).toEqual([])
  })
})

test('a request with another key cancels nothing', async () => {
  await own.database.session(async (session) => {
    const { client } = session
    const { host, port, processID, secretKey } = client as unknown as Record<string, number>
    const wrong = { host, port, processID, secretKey: (secretKey as number) ^ 1 } as unknown as PoolClient
    const running = session.query('select pg_sleep(0.5), 1 as one')
    for (let i = 0; i < 4; i++) {
      await cancelStatement(wrong)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    expect((await running).rows).toMatchObject([{ one: 1 }])
  })
})

test('a statement whose client has gone ends, and others go on', async () => {
  const running = own.database
    .session(async (session) => {
      const { client } = session
      const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection
      setTimeout(() => stream.destroy(), 300)
      await session.query('insert into public.kept select n from generate_series(1, 40000000000) n')
    })
    .catch((error: { code: string }) => error.code)
  expect(await running).toBe('DATABASE_UNAVAILABLE')
  expect((await own.database.query('select * from public.kept')).rows).toEqual([])
})

test('an abort of its signal ends a statement', async () => {
  const stop = new AbortController()
  const reason = new Error('enough')
  setTimeout(() => stop.abort(reason), 300)
  await expect(own.database.withSignal(stop.signal).query(ENDLESS['a series'])).rejects.toBe(reason)
})

const hasPsql = spawnSync('psql', ['--version']).status === 0

test.runIf(hasPsql)('Ctrl-C in psql ends a statement (SKIPPED without psql)', async () => {
  const commands = ['-c', String.raw`\echo connected`, '-c', ENDLESS['a series']]
  const psql = spawn('psql', [own.url, ...commands], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  psql.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  // Before it has a connection, Ctrl-C ends psql itself.
  await once(psql.stdout, 'data')
  const asking = setInterval(() => psql.kill('SIGINT'), 500)
  await new Promise((resolve) => psql.once('exit', resolve))
  clearInterval(asking)
  expect(said).toContain('canceling statement due to user request')
})
