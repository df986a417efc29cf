import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWorker, read, submit, until, type TestWorker } from '../harness.ts'
import { Runners } from '../runners.ts'

/** The worker that the test talks to runs no jobs; the ones that do are processes of their own, to be killed. */
let api: TestWorker
let runners: Runners
beforeAll(async () => {
  const { fakeTask } = await import('../fake-tasks.ts')
  api = await openWorker({ tasks: [fakeTask()], env: { TERRANE_WORKER_CONCURRENCY: '0' } })
  runners = new Runners(new URL('../runner-process.ts', import.meta.url), api.env)
})
afterAll(async () => {
  runners[Symbol.dispose]()
  await api[Symbol.asyncDispose]()
})

test('a job whose worker is killed twice ends as if nothing had happened', { timeout: 400_000 }, async () => {
  const { body } = await submit(api, 'createGeoEmbeddings', { tableName: 'survivor', steps: 40, stepMs: 100 })
  for (const attempt of [1, 2]) {
    const runner = await runners.start()
    await until(api, body.links.self, (job) => job.attempt === attempt && (job.progress?.done ?? 0) > 5, 180_000)
    runner.kill('SIGKILL')
    await once(runner, 'exit')
  }
  const last = await runners.start()
  const done = await until(api, body.links.self, (job) => job.terminal, 180_000)
  expect(done).toMatchObject({ status: 'success', attempt: 3, result: { rows: 40 } })
  const { rows } = await api.db.database.query('select array_agg(step order by step) as steps from public.survivor')
  expect(rows).toEqual([{ steps: Array.from({ length: 40 }, (_, i) => i + 1) }])
  const staging = await api.db.database.query(`select tablename from pg_tables where schemaname = 'terrane_staging'`)
  expect(staging.rows).toEqual([])

  last.kill('SIGTERM')
  const [code] = (await once(last, 'exit')) as [number]
  expect(code).toBe(0)
})

test('a job outlives the stops of its workers in its first attempt', { timeout: 400_000 }, async () => {
  const { body } = await submit(api, 'createGeoEmbeddings', { tableName: 'handed_over', steps: 60, stepMs: 50 })
  for (let stop = 1; stop <= 4; stop++) {
    const runner = await runners.start()
    await until(api, body.links.self, (job) => job.status === 'running' && (job.progress?.done ?? 0) > 3)
    runner.kill('SIGTERM')
    await once(runner, 'exit')
    // It lies there for the next worker when the process has ended, not some time later.
    const { body: waiting } = await read(api, body.links.self)
    expect(waiting).toMatchObject({ status: 'pending', attempt: 1, progress: { phase: 'waiting' } })
  }
  await runners.start()
  expect(await until(api, body.links.self, (job) => job.terminal)).toMatchObject({
    status: 'success',
    attempt: 1,
    result: { rows: 60 },
  })
})
