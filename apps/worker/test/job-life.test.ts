import { createServer, type AddressInfo, type Socket } from 'node:net'
import { TerraneError } from '@terrane/core'
import { dropStaging, stagedTable, swapIn } from '@terrane/database/staging'
import type { TestDatabase } from '@terrane/database/testing'
import { createLogger } from '@terrane/service'
import type { PgBoss } from 'pg-boss'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Task } from '../src/jobs/task.ts'
import { cancelled, toShowable, workerLost } from '../src/errors.ts'
import { archiveToPmtiles } from '../src/jobs/archive-to-pmtiles.ts'
import { startBoss } from '../src/queue/boss.ts'
import { JobLeases } from '../src/queue/job-leases.ts'
import { JobStore } from '../src/queue/job-store.ts'
import type { Claim } from '../src/queue/queue-tables.ts'
import { ensureQueue } from '../src/queue/open-queue.ts'
import { fakeTask } from './fake-tasks.ts'
import { HEADERS, openWorker, submit, until, type TestWorker } from './harness.ts'

const TASK = 'createGeoEmbeddings'

let db: TestDatabase
let boss: PgBoss
let api: TestWorker
beforeAll(async () => {
  api = await openWorker({ tasks: [fakeTask()], env: { TERRANE_WORKER_CONCURRENCY: '0' } })
  db = api.db
  boss = await startBoss(db.database, createLogger({ name: 'test', level: 'silent' }))
  await ensureQueue(boss, fakeTask())
})
afterAll(async () => {
  await boss.stop({ graceful: false, close: false })
  await api[Symbol.asyncDispose]()
})

test('a task that takes too long is ended once and for all', async () => {
  let runs = 0
  await using worker = await openWorker({ beside: api, tasks: [fakeTask(() => void runs++, 1)] })
  const { body } = await submit(worker, TASK, { tableName: 'slow', steps: 10_000, stepMs: 20 })
  const done = await until(worker, body.links.self)
  expect(done).toMatchObject({ status: 'failed', attempt: 1, error: { code: 'timed_out' } })
  expect(runs).toBe(1)
})

test('a stop leaves a task behind that does not hear it, and its job is handed over all the same', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: running, resolve: run } = Promise.withResolvers<void>()
  const deaf = fakeTask(() => {
    run()
    return released
  })
  await using worker = await openWorker({ beside: api, tasks: [deaf] })
  const { body } = await submit(worker, TASK, { tableName: 'deaf' })
  await running
  await worker.deps.drain(100)
  const { rows } = await worker.db.database.query('select status, attempt from terrane.jobs where id = $1', [body.id])
  expect(rows).toEqual([{ status: 'pending', attempt: 1 }])
  release()
  await api.app.inject({ method: 'DELETE', url: body.links.self, headers: HEADERS })
})

test('a stop whose time is up hands its jobs over before the pool closes', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: running, resolve: run } = Promise.withResolvers<void>()
  const deaf = fakeTask(() => {
    run()
    return released
  })
  const worker = await openWorker({ beside: api, tasks: [deaf] })
  const { body } = await submit(worker, TASK, { tableName: 'deaf_too' })
  await running
  // As `serve` does it when the phase of the work has run out of its time.
  const drained = worker.deps.drain(100)
  await worker.app.close()
  await worker.deps[Symbol.asyncDispose]()
  await drained
  const { rows } = await api.db.database.query('select status, attempt from terrane.jobs where id = $1', [body.id])
  expect(rows).toEqual([{ status: 'pending', attempt: 1 }])
  release()
  await api.app.inject({ method: 'DELETE', url: body.links.self, headers: HEADERS })
})

describe('with a storage that takes connections and says nothing', () => {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => void sockets.add(socket))
  let silent: TestWorker
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const task = fakeTask(async ({ project }) => void (await project.store.getBucket('b')))
    const checked = { ...task, checkSubmit: async () => {} }
    const asking = { ...archiveToPmtiles({ memoryBytes: 2 ** 24 }) }
    silent = await openWorker({
      beside: api,
      tasks: [checked, asking],
      env: {
        TERRANE_STORAGE: 's3://bucket',
        AWS_ENDPOINT_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        AWS_ACCESS_KEY_ID: 'A',
        AWS_SECRET_ACCESS_KEY: 'B',
      },
    })
  })
  afterAll(async () => {
    await silent[Symbol.asyncDispose]()
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })

  test('a job that waits for it is cancelled all the same', async () => {
    const { body } = await submit(silent, TASK, { tableName: 'waits' })
    await until(silent, body.links.self, (job) => job.status === 'running')
    await silent.app.inject({ method: 'DELETE', url: body.links.self, headers: HEADERS })
    expect(await until(silent, body.links.self)).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
  })

  test('a request that needs it is refused in words, and the worker is not ready', async () => {
    const refused = await submit(silent, 'archiveToPmtiles', { table: 'geometry_columns' })
    expect([refused.status, refused.body.code]).toEqual([503, 'STORAGE_UNAVAILABLE'])
    const ready = await silent.app.inject('/health/ready')
    expect([ready.statusCode, ready.json()]).toEqual([
      503,
      { status: 'down', checks: { database: 'ok', storage: 'down', lanes: 'ok' } },
    ])
  })
})

test.each([
  ['a work folder that is full', Object.assign(new Error('x'), { code: 'ENOSPC' }), 'DISK_FULL'],
  ['a work folder that has no room for tiles', new TerraneError('SCRATCH_FULL', 'unavailable', 'x'), 'DISK_FULL'],
  ['a database that is full', Object.assign(new Error('x'), { code: '53100' }), 'DATABASE_FULL'],
  [
    'a load into a database that is full',
    new TerraneError('BULK_LOAD_FAILED', 'internal', 'x', { cause: Object.assign(new Error('x'), { code: '53100' }) }),
    'DATABASE_FULL',
  ],
  ['a connection that is reset', Object.assign(new Error('x'), { code: 'ECONNRESET' }), 'CONNECTION_LOST'],
  ['a bug', new TypeError('x'), 'INTERNAL'],
])('%s has a name', (_, thrown, code) => {
  expect(toShowable(thrown).code).toBe(code)
})

test('a disk that is full says by how much, as far as that is known, also when it is told on', () => {
  const full = Object.assign(new Error('x'), { code: 'ENOSPC' })
  const shown = toShowable(full, { folder: '/work', neededBytes: 9, freeBytes: 7 })
  const figures = /: 9 bytes are needed, 7 bytes are free, the folder is \/work$/
  expect([shown.message, toShowable(shown).message]).toEqual([expect.stringMatching(figures), shown.message])
  expect(toShowable(full, { freeBytes: 7, totalBytes: 8 }).message).toContain(': 7 of 8 bytes are free without')
  expect(toShowable(full).message).toBe('The worker has no space left for the files of this job')
})

function openLeases(workerId: string, projectConcurrency = 1) {
  const store = new JobStore(db.database)
  return { store, leases: new JobLeases({ boss, database: db.database, store, workerId, projectConcurrency }) }
}

async function take({ leases, store }: ReturnType<typeof openLeases>): Promise<Claim> {
  const claim = await leases.take(TASK)
  expect(claim).not.toBeNull()
  await store.start(claim!.id, claim!.attempt)
  return claim!
}

const record = async (id: string) => {
  const { rows } = await db.database.query(
    `select j.status, j.attempt, b.state::text as queued, b.retry_count as retries
     from terrane.jobs j join pgboss.job b on b.name = j.task and b.id = j.id where j.id = $1`,
    [id],
  )
  return rows[0] as unknown
}

test('the server ends the transaction of a worker that takes a job after half a minute of silence, not sooner', async () => {
  const { body } = await submit(api, TASK, { tableName: 'starved' })
  const settings: unknown[] = []
  const watched: PgBoss = Object.create(boss, {
    fetch: {
      value: async (name: string, options: { db: { executeSql(text: string): Promise<{ rows: unknown[] }> } }) => {
        const { rows } = await options.db.executeSql(
          `select current_setting('idle_in_transaction_session_timeout') as idle, current_setting('lock_timeout') as lock`,
        )
        settings.push(...rows)
        return boss.fetch(name, options)
      },
    },
  }) as PgBoss
  const { store, leases } = openLeases('x')
  const watching = { boss: watched, database: db.database, store, workerId: 'x', projectConcurrency: 1 }
  const claim = await new JobLeases(watching).take(TASK)
  // The embedded database has one connection at work and no locks between workers.
  const bound = db.database.capabilities.locks ? { idle: '30s', lock: '5s' } : { idle: '0', lock: '0' }
  expect(settings).toEqual([bound])
  expect(claim?.id).toBe(body.id)
  expect(await leases.forget(claim!)).toBe(true)
})

test('a run that has handed its job over settles nothing any more', async () => {
  const { body } = await submit(api, TASK, { tableName: 'handed' })
  const [old, young] = [openLeases('old'), openLeases('young')]
  const before = await take(old)
  expect(await old.leases.handOver(before, 'stopping')).toBe(true)
  expect(await record(body.id)).toEqual({ status: 'pending', attempt: 1, queued: 'created', retries: 0 })
  const now = await take(young)
  expect(now).toMatchObject({ id: body.id, attempt: 1 })
  const running = await record(body.id)

  expect(await old.leases.succeed(before, { rows: 1 })).toBe(false)
  expect(await old.leases.fail(before, cancelled())).toBe(false)
  expect(await old.leases.tryAgain(before, workerLost({ attempts: 1 }))).toBe(false)
  expect(await old.leases.handOver(before, 'again')).toBe(false)
  expect(await old.leases.forget(before)).toBe(false)
  expect(await old.leases.touch([before])).toEqual([before])
  expect(await record(body.id)).toEqual(running)

  expect(await young.leases.touch([now])).toEqual([])
  expect(await young.leases.succeed(now, { rows: 2 })).toBe(true)
  expect(await record(body.id)).toMatchObject({ status: 'success', attempt: 1, queued: 'completed' })
})

test('a run that was given up for lost settles nothing, also before the next one has made its mark', async () => {
  const { body } = await submit(api, TASK, { tableName: 'lost' })
  const [old, young] = [openLeases('old'), openLeases('young')]
  const before = await take(old)
  await boss.fail(TASK, body.id, { message: 'heartbeat' })
  await db.database.query(`update pgboss.job set start_after = now() where name = $1 and id = $2`, [TASK, body.id])
  await boss.fetch(TASK)
  expect(await old.leases.succeed(before, { rows: 1 })).toBe(false)
  await boss.fail(TASK, body.id, { message: 'heartbeat' })
  await db.database.query(`update pgboss.job set start_after = now() where name = $1 and id = $2`, [TASK, body.id])
  const now = await take(young)
  expect(now.attempt).toBe(3)
  expect(await old.leases.succeed(before, { rows: 1 })).toBe(false)
  expect(await young.leases.succeed(now, { rows: 3 })).toBe(true)
  expect(await record(body.id)).toMatchObject({ status: 'success', attempt: 3, queued: 'completed' })
})

test('a run that was lost just before its swap publishes nothing, and the next one publishes its own', async () => {
  const { promise: inside, resolve: enter } = Promise.withResolvers<void>()
  const { promise: late, resolve: goOn } = Promise.withResolvers<void>()
  const refused: string[] = []
  const task: Task = {
    ...fakeTask(),
    async run(_, { run, attempt }) {
      // On a database without the signal: this run never hears that it was lost.
      const staged = stagedTable(run, 0, 'public', 'by_the_second')
      await db.database.query(`create table terrane_staging.${staged.staging} as select ${attempt} as attempt`)
      if (attempt === 1) {
        enter()
        await late
      }
      await swapIn(db.database, run, [staged], { attempt }).catch((error: { code: string }) => {
        refused.push(error.code)
        throw error
      })
      return { attempt }
    },
  }
  await using first = await openWorker({ beside: api, tasks: [task] })
  const { body } = await submit(first, TASK, { tableName: 'by_the_second' })
  await inside
  await boss.fail(TASK, body.id, { message: 'heartbeat' })
  await db.database.query(`update pgboss.job set start_after = now() where name = $1 and id = $2`, [TASK, body.id])
  await using second = await openWorker({ beside: api, tasks: [task] })
  expect(await until(second, body.links.self)).toMatchObject({ status: 'success', attempt: 2, result: { attempt: 2 } })
  goOn()
  await expect.poll(() => refused).toEqual(['RUN_SUPERSEDED'])
  expect((await db.database.query('select attempt from public.by_the_second')).rows).toEqual([{ attempt: 2 }])
  // A table that the server itself holds at the moment, to count its rows for one, is left to maintenance.
  const left = async () => {
    await dropStaging(db.database, body.id)
    return (await db.database.query(`select tablename from pg_tables where schemaname = 'terrane_staging'`)).rows
  }
  await expect.poll(left).toEqual([])
})

test('workers that take jobs at once take as many of a project together as it may have, and each job once', async () => {
  const jobs = 12
  const limit = 2
  for (let n = 0; n < jobs; n++) await submit(api, TASK, { tableName: `at_once_${n}` })
  const workers = Array.from({ length: 4 }, (_, n) => openLeases(`w${n}`, limit))
  const done = new Set<string>()
  for (let round = 0; round < jobs / limit; round++) {
    const asked = [0, 1, 2].flatMap(() => workers.map(({ leases }) => leases.take(TASK)))
    const taken = (await Promise.all(asked)).filter((claim) => claim !== null)
    expect(taken.length).toBe(limit)
    for (const claim of taken) {
      done.add(claim.id)
      expect(await workers[0]!.leases.forget(claim)).toBe(true)
    }
  }
  expect(done.size).toBe(jobs)
})
