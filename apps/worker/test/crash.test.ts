// Slow: workers are processes that are killed.
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fakeTask } from './fake-tasks.ts'
import { HEADERS, openWorker, submit, until, type JobRecord, type TestWorker } from './harness.ts'
import { Runners } from './runners.ts'

/** The worker that the test talks to runs no jobs; workers that are killed are processes of their own. */
let api: TestWorker
let runners: Runners
beforeAll(async () => {
  api = await openWorker({ tasks: [fakeTask()], env: { TERRANE_WORKER_CONCURRENCY: '0' } })
  runners = new Runners(new URL('./runner-process.ts', import.meta.url), api.env)
})
afterAll(async () => {
  runners[Symbol.dispose]()
  await api[Symbol.asyncDispose]()
})

/** A worker that runs jobs in the process of the test. @param port names it */
function open(port: number): Promise<TestWorker> {
  const env = { ...api.env, TERRANE_WORKER_CONCURRENCY: '1', PORT: String(port) }
  return openWorker({ beside: api, tasks: [fakeTask()], env })
}

test('a worker that starts keeps the folders of jobs that run elsewhere', { timeout: 200_000 }, async () => {
  const folders = api.env['TERRANE_WORK_DIR']!
  const first = await submit(api, 'createGeoEmbeddings', { tableName: 'ended', steps: 1, stepMs: 1 })
  await using _runner = await open(await runners.port(0))
  await until(api, first.body.links.self, (job) => job.terminal, 60_000)
  const { body } = await submit(api, 'createGeoEmbeddings', { tableName: 'elsewhere', steps: 1000, stepMs: 100 })
  await until(api, body.links.self, (job) => (job.progress?.done ?? 0) > 0, 60_000)
  await mkdir(join(folders, `${first.body.job_id}.1`))
  await using _other = await open(await runners.port(1))
  expect(await readdir(folders)).toEqual([expect.stringMatching(new RegExp(`^${body.job_id}\\.\\d+$`))])
  await api.app.inject({ method: 'DELETE', url: body.links.self, headers: HEADERS })
  await until(api, body.links.self, (job) => job.terminal, 60_000)
})

test(
  'a run removes the folder of one before it that was killed before it had begun',
  { timeout: 200_000 },
  async () => {
    const folders = api.env['TERRANE_WORK_DIR']!
    const { body } = await submit(api, 'createGeoEmbeddings', { tableName: 'killed', steps: 1000, stepMs: 100 })
    const steps = (least: number) => (job: JobRecord) => (job.progress?.done ?? 0) >= least && job.status === 'running'
    const runner = await runners.start()
    await until(api, body.links.self, steps(1), 60_000)
    await mkdir(join(folders, `${body.job_id}.0`))
    await runners.end(runner, 'SIGKILL')
    await using _again = await open(await runners.port(0))
    await until(api, body.links.self, (job) => job.attempt === 2 && steps(1)(job), 60_000)
    expect(await readdir(folders)).toHaveLength(1)
    await api.app.inject({ method: 'DELETE', url: body.links.self, headers: HEADERS })
    await until(api, body.links.self, (job) => job.terminal, 60_000)
  },
)

test('events of a job arrive from a worker that does not run it', { timeout: 200_000 }, async () => {
  const { body } = await submit(api, 'createGeoEmbeddings', { tableName: 'followed', steps: 3, stepMs: 1 })
  const events = api.app.inject({ url: body.links.events, headers: HEADERS })
  await using _runner = await open(await runners.port(0))
  expect((await events).body).toContain('"status":"success"')
})

test('a job that is cancelled after its worker was killed leaves no folder', { timeout: 200_000 }, async () => {
  const folders = api.env['TERRANE_WORK_DIR']!
  const { body } = await submit(api, 'createGeoEmbeddings', { tableName: 'lost', steps: 1000, stepMs: 100 })
  const runner = await runners.start()
  await until(api, body.links.self, (job) => (job.progress?.done ?? 0) > 0, 60_000)
  await runners.end(runner, 'SIGKILL')
  await api.app.inject({ method: 'DELETE', url: body.links.self, headers: HEADERS })
  await using _again = await open(await runners.port(0))
  await until(api, body.links.self, (job) => job.terminal, 60_000)
  await expect.poll(() => readdir(folders), { timeout: 60_000 }).toEqual([])
})
