// Slow: parts of jobs wait for each other and for workers that stop.
import { setTimeout as sleep } from 'node:timers/promises'
import { defineError } from '@terrane/core'
import { addToCollection, collectionTable, openCollection } from '@terrane/database/collections'
import { stagedTable, swapIn } from '@terrane/database/staging'
import { Type } from 'typebox'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { JobContext, Task } from '../src/jobs/task.ts'
import { HEADERS, openWorker, submit, until, type JobRecord, type TestWorker } from './harness.ts'

const TASK = 'createGeoEmbeddings'
const SHAPE = { kind: 'h3', dims: 2 } as const

const upstreamDown = defineError('UPSTREAM_DOWN', 'upstream', () => 'The upstream is down')
const badInput = defineError('BAD_INPUT', 'invalid', () => 'The input is bad')

interface Body extends Record<string, unknown> {
  readonly tableName: string
  readonly parts: number
}

type OnPart = (part: number, context: JobContext) => unknown

/** Has one place. */
let worker: TestWorker
/** Set by a test: the work of a part, and a hook after planning. */
let onPart: OnPart
let onPlanned: () => unknown
/** Runs nothing itself. */
let api: TestWorker
let count = 0
const name = () => `s_${++count}`

/** A task that makes a table of one row per part. @param doPart runs in each of them, before its row is loaded */
function sharded(doPart: OnPart, donePlanning: () => unknown = () => {}): Task {
  return {
    name: TASK,
    summary: 'Fake',
    description: 'Fake',
    body: Type.Object({ tableName: Type.String(), parts: Type.Integer() }, { additionalProperties: false }),
    expireSeconds: 3600,
    version: 1,
    checkSubmit: () => Promise.resolve(),
    run: () => Promise.reject(new Error('is never run whole')),
    sharding: {
      divides: () => true,
      plan: async (body, { run, project }) => {
        const { tableName, parts } = body as Body
        await openCollection(project.database, run, collectionTable(run.jobId, tableName), SHAPE)
        await donePlanning()
        return Array.from({ length: parts }, (_, number) => ({ shard: { name: `part ${number}`, number } }))
      },
      run: async ({ shard }, context, jobId) => {
        const { number } = shard as { number: number }
        await doPart(number, context)
        const { run, project } = context
        const staged = stagedTable(run, 0, 'public', 'none')
        await project.database.query(
          `create table terrane_staging.${staged.staging} as select 0::bigint as id,
             'SRID=4326;POLYGON((0 0,1 0,1 1,0 0))'::geometry as geom, '[1,2]'::vector as embedding, 'x' as h3_index`,
        )
        const result = { number }
        await swapIn(project.database, run, [], result, (session) =>
          addToCollection(session, staged, { jobId, shard: number, kind: SHAPE.kind }),
        )
        return result
      },
      publish: async (body, shards, { run, project }) => {
        const { tableName } = body as Body
        const result = { done: shards.filter(({ status }) => status === 'success').length, total: shards.length }
        const table = { ...collectionTable(run.jobId, tableName), schema: 'public' }
        await swapIn(project.database, run, [table], result)
        return result
      },
    },
  }
}

beforeAll(async () => {
  api = await openWorker({ tasks: [sharded(() => {})], env: { TERRANE_WORKER_CONCURRENCY: '0' } })
  const task = sharded(
    (part, context) => onPart(part, context),
    () => onPlanned(),
  )
  worker = await beside(task, { TERRANE_PROJECT_CONCURRENCY: '2' })
})
beforeEach(() => {
  onPart = () => {}
  onPlanned = () => {}
})
afterAll(async () => {
  await worker[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})

const beside = (task: Task, env: Record<string, string> = {}) =>
  openWorker({ beside: api, tasks: [task], env: { TERRANE_WORKER_CONCURRENCY: '1', ...env } })

async function partsOf(id: string): Promise<JobRecord[]> {
  const { body } = { body: (await api.app.inject({ url: `/jobs/${TASK}?parent=${id}&order=created_at.asc`, headers: HEADERS })).json<{ data: JobRecord[] }>() } // prettier-ignore
  return body.data
}

const numbers = async (table: string) =>
  (await api.db.database.query<{ n: number }>(`select id >> 32 as n from public.${table} order by 1`)).rows.map(
    ({ n }) => n,
  )

const staged = async () =>
  (await api.db.database.query(`select tablename from pg_tables where schemaname = 'terrane_staging'`)).rows

/** Waits until something holds. */
async function soon(holds: () => Promise<boolean> | boolean): Promise<void> {
  for (const end = Date.now() + 30_000; !(await holds()); await sleep(50)) {
    if (Date.now() > end) throw new Error('it did not come to hold')
  }
}

test('one worker with one place does a job of many parts, one part at a time', async () => {
  let running = 0
  let most = 0
  onPart = async () => {
    most = Math.max(most, ++running)
    await sleep(20)
    running--
  }
  const { body } = await submit(api, TASK, { tableName: 'one', parts: 5 })
  const job = await until(api, body.links.self)
  expect(job).toMatchObject({ status: 'success', attempt: 1, result: { done: 5, total: 5 } })
  expect(most).toBe(1)
  expect(await numbers('one')).toEqual([0, 1, 2, 3, 4])
  expect(await staged()).toEqual([])
})

test('parts are spread over workers, within what the project may run at once', async () => {
  const places = new Map<string, number>()
  let running = 0
  let most = 0
  const { promise: together, resolve: two } = Promise.withResolvers<void>()
  const part = (place: string) => async () => {
    most = Math.max(most, ++running)
    places.set(place, (places.get(place) ?? 0) + 1)
    if (running === 2) two()
    await together
    await sleep(50)
    running--
  }
  onPart = part('a')
  const env = { TERRANE_PROJECT_CONCURRENCY: '2', TERRANE_WORKER_CONCURRENCY: '2', PORT: '3399' }
  await using _ = await beside(sharded(part('b')), env)
  const { body } = await submit(api, TASK, { tableName: 'spread', parts: 12 })
  expect(await until(api, body.links.self)).toMatchObject({ status: 'success', result: { done: 12 } })
  expect(most).toBe(2)
  expect([...places.values()].reduce((sum, n) => sum + n)).toBe(12)
})

test('the record says how many parts are done while no worker holds the job, and it counts as no load', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  onPart = (part) => (part === 2 ? released : undefined)
  const { body } = await submit(api, TASK, { tableName: 'shown', parts: 3 })
  const waiting = await until(api, body.links.self, ({ progress }) => progress?.done === 2)
  expect(waiting).toMatchObject({ status: 'running', progress: { done: 2, total: 3, percent: 66.7 } })
  // The third part alone.
  const jobs = (await api.deps.store.load()).map((load) => load.jobs)
  expect(jobs).toEqual([1])
  release()
  expect(await until(api, body.links.self)).toMatchObject({ status: 'success' })
})

test('a part that fails is named, and the others are published', async () => {
  onPart = (part) => {
    if (part === 1) throw badInput()
  }
  const { body } = await submit(api, TASK, { tableName: 'failing', parts: 3 })
  expect(await until(api, body.links.self)).toMatchObject({ status: 'success', result: { done: 2, total: 3 } })
  expect(await numbers('failing')).toEqual([0, 2])
  const [, failed] = await partsOf(body.id)
  expect(failed).toMatchObject({ status: 'failed', error: { code: 'BAD_INPUT' } })
  const log = await api.app.inject({ url: `/jobs/${TASK}/${body.id}/log`, headers: HEADERS })
  expect(log.body).toContain('part 1: The input is bad')
  const retried = await api.app.inject({ method: 'POST', url: `/jobs/${TASK}/${failed!.id}/retry`, headers: HEADERS })
  expect(retried.json()).toMatchObject({ status: 409, code: 'JOB_IS_A_PART' })
})

test('a part whose fault may pass is tried again', async () => {
  let tries = 0
  onPart = (part) => {
    if (part === 0 && ++tries < 2) throw upstreamDown()
  }
  const { body } = await submit(api, TASK, { tableName: 'again', parts: 2 })
  expect(await until(api, body.links.self)).toMatchObject({ status: 'success', attempt: 1, result: { done: 2 } })
  expect((await partsOf(body.id)).map(({ attempt }) => attempt)).toEqual([2, 1])
})

test('cancelling ends running and waiting parts, and leaves nothing', async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  let stopped = 0
  onPart = async (part, { signal }) => {
    if (part === 0) return
    begin()
    await sleep(60_000, undefined, { signal }).catch(() => stopped++)
    signal.throwIfAborted()
  }
  const { body } = await submit(api, TASK, { tableName: name(), parts: 4 })
  await begun
  await until(api, body.links.self, ({ progress }) => progress?.done === 1)
  const answer = await worker.app.inject({ method: 'DELETE', url: body.links.self, headers: HEADERS })
  expect(answer.statusCode).toBe(200)
  expect(answer.json()).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
  await soon(async () => (await partsOf(body.id)).every(({ terminal }) => terminal))
  expect((await partsOf(body.id)).map(({ error }) => error?.code ?? null)).toEqual([
    null,
    ...Array(3).fill('cancelled'),
  ])
  expect(stopped).toBe(1)
  await soon(async () => (await staged()).length === 0)
})

test('cancelling while the parts are planned ends the job and all of its parts', async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  onPlanned = () => {
    begin()
    return released
  }
  const { body } = await submit(api, TASK, { tableName: name(), parts: 3 })
  await begun
  await worker.app.inject({ method: 'DELETE', url: body.links.self, headers: HEADERS })
  release()
  expect(await until(api, body.links.self)).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
  expect((await partsOf(body.id)).every(({ status }) => status === 'failed')).toBe(true)
  await soon(async () => (await staged()).length === 0)
})

// The last test, because it ends the worker of the others.
test('a worker that stops hands its part over, which counts as no attempt', async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  onPart = async (_part, { signal }) => {
    begin()
    await sleep(60_000, undefined, { signal })
  }
  const { body } = await submit(api, TASK, { tableName: 'handed', parts: 2 })
  await begun
  await worker.deps.drain(200)
  await using _ = await beside(sharded(() => {}))
  expect(await until(api, body.links.self)).toMatchObject({ status: 'success', attempt: 1, result: { done: 2 } })
  expect((await partsOf(body.id)).map(({ attempt }) => attempt)).toEqual([1, 1])
  expect(await numbers('handed')).toEqual([0, 1])
})
