import type { Job, Schedule } from '@terrane/contracts'
import { testLane } from '@terrane/database/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fakeTask } from './fake-tasks.ts'
import { HEADERS, openWorker, read, until, type JobRecord, type TestWorker } from './harness.ts'

const TASK = 'createGeoEmbeddings'
const SECRET = 'hunter2-must-not-be-shown'

let worker: TestWorker
let beside: TestWorker
beforeAll(async () => {
  worker = await openWorker({ tasks: [fakeTask()] })
  beside = await openWorker({ beside: worker, tasks: [fakeTask()] })
})
afterAll(async () => {
  await beside[Symbol.asyncDispose]()
  await worker[Symbol.asyncDispose]()
})

type Answer = Schedule & {
  code: string
  hint: string
  errors: { path: string }[]
  data: Schedule[]
  next_cursor: string
}

async function ask(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object, headers = HEADERS) {
  const response = await worker.app.inject({ method, url, headers, ...(payload && { payload }) })
  return { status: response.statusCode, body: (response.body === '' ? null : response.json()) as Answer }
}

const make = (input: object, more: object = {}) =>
  ask('POST', `/schedules/${TASK}`, { cron: '0 3 * * *', timeZone: 'Europe/Zurich', input, ...more })

/** Lets the time of a schedule pass, as if no worker had run. */
const pass = (id: string, by = '3 days') =>
  worker.db.database.query(
    `update terrane.schedules set next_at = date_trunc('second', now() - interval '${by}') where id = $1`,
    [id],
  )

const jobsOf = async ({ id }: Schedule) =>
  (await read(worker, `/jobs/${TASK}?schedule=${id}`)).body.data as unknown as (JobRecord & Job)[]

describe(`schedules (${testLane()})`, () => {
  test('submit their request when the time has come, once for all times that were missed', async () => {
    const { status, body } = await make(
      { tableName: 'nightly_{date}', url: `https://h/a?sig=${SECRET}` },
      { name: 'At night' },
    )
    expect(status).toBe(201)
    expect(body).toMatchObject({
      name: 'At night',
      paused: false,
      last_job_id: null,
      input: { tableName: 'nightly_{date}' },
    })
    expect(new Date(body.next_run_at!).getTime()).toBeGreaterThan(Date.now())
    const { rows } = await pass(body.id)
    expect(rows).toEqual([])
    await expect.poll(async () => (await jobsOf(body)).length, { timeout: 30_000 }).toBe(1)
    const [job] = await jobsOf(body)
    const done = await until(worker, job!.links.self)
    expect(done).toMatchObject({ status: 'success', schedule_id: body.id, request_id: null })
    expect(done.input['tableName']).toMatch(/^nightly_20\d{6}$/)
    expect(new Date(job!.scheduled_for!).getTime()).toBeLessThan(Date.now() - 2 * 86_400_000)
    const { body: after } = await ask('GET', body.links.self)
    expect(after).toMatchObject({ last_job_id: job!.id, skipped: 0 })
    expect(new Date(after.next_run_at!).getTime()).toBeGreaterThan(Date.now())
    expect(await jobsOf(body)).toHaveLength(1)
    const stored = await worker.db.database.query(`select (select json_agg(s) from terrane.schedules s)::text as all`)
    expect(JSON.stringify([stored.rows, after, done])).not.toContain(SECRET)
  })

  test('leave a time out while the job of an earlier one goes on', async () => {
    const { body } = await make({ tableName: 'long_{date}', steps: 100_000 })
    await pass(body.id)
    await expect.poll(async () => (await jobsOf(body))[0]?.status, { timeout: 30_000 }).toBe('running')
    await pass(body.id, '1 hour')
    await expect.poll(async () => (await ask('GET', body.links.self)).body.skipped, { timeout: 30_000 }).toBe(1)
    const [job, ...others] = await jobsOf(body)
    expect(others).toEqual([])
    await worker.app.inject({ method: 'DELETE', url: job!.links.self, headers: HEADERS })
    await until(worker, job!.links.self)
  })

  test('leave a record where the task refuses the request of a time', async () => {
    await worker.db.database.query('create table public.there_already (a int)')
    const { body: refused } = await make({ tableName: 'there_already' })
    expect(refused.code).toBe('TABLE_EXISTS')
    const { body } = await make({ tableName: 'there_later' })
    await worker.db.database.query('create table public.there_later (a int)')
    await pass(body.id)
    await expect.poll(async () => (await jobsOf(body))[0]?.error?.code, { timeout: 30_000 }).toBe('TABLE_EXISTS')
    expect((await jobsOf(body))[0]).toMatchObject({ status: 'failed', attempt: 0 })
  })

  test('that cannot be submitted are put off, however many there are, and hold up no other', async () => {
    const broken = await Promise.all(Array.from({ length: 25 }, (_, i) => make({ tableName: `broken_${i}` })))
    expect(broken.filter(({ status }) => status !== 201)).toEqual([])
    const { body } = await make({ tableName: 'behind_them' })
    const ids = broken.map((made) => made.body.id)
    await worker.db.database.query(
      `update terrane.schedules set sealed_input = '\\x00', next_at = date_trunc('second', now()) - interval '1 day' where id = any($1)`,
      [ids],
    )
    await pass(body.id, '1 hour')
    await expect.poll(async () => (await jobsOf(body)).length).toBe(1)
    const { rows } = await worker.db.database.query(
      `select count(*)::int as due from terrane.schedules where id = any($1) and next_at <= now()`,
      [ids],
    )
    expect(rows).toEqual([{ due: 0 }])
    // A whole second, as the times of a cron expression are: it is compared when it is taken.
    const { body: later } = await ask('GET', broken[0]!.body.links.self)
    expect(later.next_run_at).toMatch(/\.000Z$/)
    for (const made of broken) await ask('DELETE', made.body.links.self)
  })

  test('rest while they are paused, and go on from now', async () => {
    const { body } = await make({ tableName: 'paused' }, { paused: true })
    expect(body).toMatchObject({ paused: true, next_run_at: null })
    const { body: on } = await ask('PATCH', body.links.self, { paused: false })
    expect(new Date(on.next_run_at!).getTime()).toBeGreaterThan(Date.now())
    const { body: off } = await ask('PATCH', body.links.self, { paused: true })
    expect(off.next_run_at).toBeNull()
    const { body: moved } = await ask('PATCH', body.links.self, { cron: '0 4 1 1 *', timeZone: 'UTC', paused: false })
    expect(moved.next_run_at).toMatch(/-01-01T04:00:00.000Z$/)
    expect((await ask('PATCH', body.links.self, { cron: '* * * * *' })).body.code).toBe('SCHEDULE_TOO_FREQUENT')
    expect((await ask('PATCH', body.links.self, {})).status).toBe(422)
  })

  test('are checked like a request when they are made, and name the field', async () => {
    const bad = await make({ tableName: 'UPPER_{date}' })
    expect([bad.status, bad.body.code, bad.body.errors[0]?.path]).toEqual([
      422,
      'VALIDATION_FAILED',
      '/input/tableName',
    ])
    const zone = await make({ tableName: 'x' }, { timeZone: 'Mars/Olympus' })
    expect([zone.status, zone.body.code, zone.body.errors[0]?.path]).toEqual([422, 'TIME_ZONE_INVALID', '/timeZone'])
    const cron = await make({ tableName: 'x' }, { cron: 'at noon' })
    expect([cron.status, cron.body.code, cron.body.errors[0]?.path]).toEqual([422, 'CRON_INVALID', '/cron'])
    const often = await make({ tableName: 'x' }, { cron: '*/2 * * * *' })
    expect([often.status, often.body.code]).toEqual([422, 'SCHEDULE_TOO_FREQUENT'])
    expect(often.body.hint).toContain('worker.minScheduleMinutes')
    expect((await ask('POST', '/schedules/nothing', {})).body.code).toBe('UNKNOWN_TASK')
  })

  test('are listed by page, deleted, and seen only under the key of their project', async () => {
    const ids = new Set<string>()
    for (let cursor = ''; ;) {
      const { body } = await ask('GET', `/schedules?limit=2${cursor && `&cursor=${cursor}`}`)
      for (const { id } of body.data) ids.add(id)
      cursor = body.next_cursor
      if (!cursor) break
    }
    expect(ids.size).toBeGreaterThanOrEqual(4)
    const [id] = ids
    expect((await ask('GET', `/schedules/${id}?projectRef=other`)).body.code).toBe('PROJECT_NOT_FOUND')
    expect((await ask('GET', `/schedules/${id}`, undefined, { apikey: 'x', authorization: 'Bearer x' })).status).toBe(
      401,
    )
    expect((await ask('DELETE', `/schedules/${id}`)).status).toBe(204)
    expect((await ask('GET', `/schedules/${id}`)).body.code).toBe('SCHEDULE_NOT_FOUND')
    expect((await ask('GET', '/schedules/nonsense')).body.code).toBe('SCHEDULE_NOT_FOUND')
  })
})
