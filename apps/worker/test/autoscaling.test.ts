import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { Task } from '../src/jobs/task.ts'
import { fakeTask } from './fake-tasks.ts'
import { HEADERS, openWorker, submit, until, type JobRecord, type TestWorker } from './harness.ts'

const path = '../../../infra/kubernetes/components/autoscaling/worker.yaml'
const { spec } = parse(readFileSync(join(import.meta.dirname, path), 'utf8')) as {
  spec: { triggers: [{ metadata: { query: string; targetQueryValue: string } }] }
}
const { query } = spec.triggers[0].metadata

const TASK = 'createGeoEmbeddings'
const OTHER = 'archiveToPmtiles'
const { promise: released, resolve: release } = Promise.withResolvers<void>()
const tasks: Task[] = [fakeTask(() => released), { ...fakeTask(), name: OTHER }]

let api: TestWorker
beforeAll(async () => {
  api = await openWorker({ tasks, env: { TERRANE_WORKER_CONCURRENCY: '0', TERRANE_PROJECT_CONCURRENCY: '2' } })
})
afterAll(() => api[Symbol.asyncDispose]())

/** The number that KEDA reads: one column of one row. */
async function wanted(): Promise<number> {
  const { rows } = await api.db.database.query<Record<string, number>>(query)
  expect([rows.length, Object.keys(rows[0]!).length]).toEqual([1, 1])
  return Object.values(rows[0]!)[0]!
}

async function queue(task: string, count: number): Promise<JobRecord[]> {
  const jobs: JobRecord[] = []
  for (let n = 0; n < count; n++) {
    const { status, body } = await submit(api, task, { tableName: `${task.toLowerCase()}_${n}`, steps: 1 })
    expect(status).toBe(202)
    jobs.push(body)
  }
  return jobs
}

test('without jobs no worker is called for beyond the one that stays, and schedules that are not due call for none', async () => {
  expect(await wanted()).toBe(0)
  const { statusCode } = await api.app.inject({
    method: 'POST',
    url: `/schedules/${OTHER}`,
    headers: HEADERS,
    payload: { cron: '0 0 1 1 *', timeZone: 'UTC', input: { tableName: 'later' } },
  })
  expect(statusCode).toBeLessThan(300)
  expect(await wanted()).toBe(0)
})

test('queued and running jobs call for workers, as many of a project as may run at once, and ended ones for none', async () => {
  const jobs = await queue(TASK, 5)
  expect(await wanted()).toBe(2)
  const [other] = await queue(OTHER, 1)
  expect(await wanted()).toBe(3)
  // Another organization's project of the same name is another project.
  await api.db.database.query(
    `insert into terrane.jobs (id, task, project_ref, organization_id, input, sealed_input, max_attempts)
     select gen_random_uuid(), $1, 'demo', '00000000-0000-7000-8000-00000000000a', '{}', '', 3 from generate_series(1, 3)`,
    [TASK],
  )
  expect(await wanted()).toBe(5)
  await api.db.database.query('delete from terrane.jobs where organization_id is not null')

  await using worker = await openWorker({ beside: api, tasks, env: { TERRANE_PROJECT_CONCURRENCY: '2' } })
  await until(worker, other!.links.self)
  await expect.poll(async () => (await states()).running).toBe(1)
  expect(await wanted()).toBe(2)
  release()
  for (const { links } of jobs) await until(worker, links.self)
  expect(await wanted()).toBe(0)
})

test('a job that waits for another attempt goes on calling for a worker', async () => {
  const { body } = await submit(api, OTHER, { tableName: 'again', steps: 1, fault: 'upstream', faultyAttempts: 1 })
  await using worker = await openWorker({ beside: api, tasks, env: { TERRANE_PROJECT_CONCURRENCY: '2' } })
  await until(worker, body.links.self, ({ attempt, status }) => attempt === 1 && status === 'pending')
  expect(await wanted()).toBe(1)
  await until(worker, body.links.self)
  expect(await wanted()).toBe(0)
})

async function states(): Promise<Record<string, number>> {
  const { rows } = await api.db.database.query<{ status: string; jobs: number }>(
    'select status, count(*)::int as jobs from terrane.jobs group by status',
  )
  return Object.fromEntries(rows.map(({ status, jobs }) => [status, jobs]))
}
