// Slow: jobs wait for each other, as their queue makes them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fakeTask } from './fake-tasks.ts'
import {
  HEADERS,
  METRICS_KEY,
  openWorker,
  read,
  retryAtOnce,
  submit,
  until,
  type JobRecord,
  type TestWorker,
} from './harness.ts'

const TASK = 'createGeoEmbeddings'
let worker: TestWorker
let table = 0
const tableName = () => `t_${++table}`

beforeAll(async () => {
  worker = await openWorker({
    tasks: [fakeTask()],
    env: { TERRANE_WORKER_CONCURRENCY: '2', TERRANE_PROJECT_CONCURRENCY: '4' },
  })
})
afterAll(async () => {
  await worker[Symbol.asyncDispose]()
})

/** A cursor as lists make it, of any time and id. */
function cursorOf(at: string, id = '0199b1f0-0000-7000-8000-00000000ffff'): string {
  return Buffer.from(`${at} ${id}`).toString('base64url')
}

async function stagingTables(): Promise<unknown[]> {
  const { rows } = await worker.db.database.query(
    `select tablename from pg_tables where schemaname = 'terrane_staging'`,
  )
  return rows
}

async function exists(name: string): Promise<boolean> {
  const { rows } = await worker.db.database.query<{ there: boolean }>('select to_regclass($1) is not null as there', [
    `public.${name}`,
  ])
  return rows[0]?.there ?? false
}

describe('a job', () => {
  test('is accepted with its record, runs and ends in success', async () => {
    const name = tableName()
    const { status, body, headers } = await submit(worker, TASK, { tableName: name })
    expect(status).toBe(202)
    expect(headers['location']).toBe(body.links.self)
    expect(headers['retry-after']).toBe('5')
    expect(body).toMatchObject({
      status: 'pending',
      terminal: false,
      taskName: TASK,
      project_ref: 'demo',
      input: { tableName: name, steps: 3 },
      progress: null,
      result: null,
      error: null,
      attempt: 0,
      max_attempts: 3,
      cancel_requested: false,
      started_at: null,
      finished_at: null,
    })
    expect(body.job_id).toBe(body.id)
    expect(body.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/)
    const done = await until(worker, body.links.self)
    expect(done).toMatchObject({
      status: 'success',
      terminal: true,
      result: { table: `public.${name}`, rows: 3 },
      progress: { percent: 100, phase: 'steps', done: 3, total: 3, unit: 'steps' },
      attempt: 1,
    })
    expect(await exists(name)).toBe(true)
  })

  test('that fails by its input keeps the input and says what to do, once', async () => {
    const name = tableName()
    const { body } = await submit(worker, TASK, { tableName: name, fault: 'input' })
    const done = await until(worker, body.links.self)
    expect(done).toMatchObject({
      status: 'failed',
      attempt: 1,
      input: { tableName: name },
      error: {
        code: 'BAD_INPUT',
        message: 'The input is bad',
        hint: 'Send a better one.',
        details: null,
        retryable: false,
      },
    })
    expect(await stagingTables()).toEqual([])
    expect(await exists(name)).toBe(false)
  })

  test('that meets a fault of an upstream is run again', async () => {
    const { body } = await submit(worker, TASK, { tableName: tableName(), fault: 'upstream', faultyAttempts: 1 })
    expect(await until(worker, body.links.self)).toMatchObject({ status: 'success', attempt: 2 })
  })

  test('that meets it every time fails with it', async () => {
    await retryAtOnce(worker)
    const { body } = await submit(worker, TASK, { tableName: tableName(), fault: 'upstream' })
    const done = await until(worker, body.links.self)
    expect(done).toMatchObject({ status: 'failed', attempt: 3, error: { code: 'UPSTREAM_DOWN', retryable: true } })
  })

  test('that meets a bug fails without the inside of the bug', async () => {
    const { body } = await submit(worker, TASK, { tableName: tableName(), fault: 'bug' })
    const done = await until(worker, body.links.self)
    expect(done).toMatchObject({ status: 'failed', error: { code: 'INTERNAL' } })
    expect(JSON.stringify(done)).not.toContain('secret detail')
  })

  test('takes effect once, even when it is interrupted after its effect', async () => {
    const { body } = await submit(worker, TASK, { tableName: tableName(), fault: 'after-swap', faultyAttempts: 1 })
    expect(await until(worker, body.links.self)).toMatchObject({ status: 'success', result: { rows: 3, attempt: 1 } })
  })

  test('whose table exists is refused at submit', async () => {
    const name = tableName()
    const first = await submit(worker, TASK, { tableName: name })
    await until(worker, first.body.links.self)
    expect(await submit(worker, TASK, { tableName: name })).toMatchObject({
      status: 409,
      body: { code: 'TABLE_EXISTS' },
    })
  })
})

describe('cancelling', () => {
  const cancel = async (self: string) => {
    const response = await worker.app.inject({ method: 'DELETE', url: self, headers: HEADERS })
    return { status: response.statusCode, body: response.json<JobRecord>() }
  }

  test('a running job is stopped, its staging is gone and it ends as failed / cancelled', async () => {
    const name = tableName()
    const { body } = await submit(worker, TASK, { tableName: name, steps: 1000, stepMs: 20 })
    await until(worker, body.links.self, (job) => job.progress !== null)
    const { status, body: record } = await cancel(body.links.self)
    expect(status).toBe(202)
    expect(record).toMatchObject({ status: 'running', cancel_requested: true })
    const done = await until(worker, body.links.self)
    expect(done).toMatchObject({ status: 'failed', error: { code: 'cancelled', retryable: false } })
    expect(done.progress!.done).toBeLessThan(1000)
    expect(await stagingTables()).toEqual([])
    expect(await exists(name)).toBe(false)
  })

  test('a notification that anybody may send cancels nothing by itself', async () => {
    const { body } = await submit(worker, TASK, { tableName: tableName(), steps: 20, stepMs: 20 })
    await until(worker, body.links.self, (job) => job.progress !== null)
    await worker.db.database.query(`select pg_notify('terrane_cancel', $1)`, [body.id])
    expect(await until(worker, body.links.self)).toMatchObject({ status: 'success', cancel_requested: false })
  })

  test('a client that sends a content type with everything may cancel, too', async () => {
    const { body } = await submit(worker, TASK, { tableName: tableName(), steps: 100, stepMs: 100 })
    const headers = { ...HEADERS, 'content-type': 'application/json' }
    const { statusCode } = await worker.app.inject({ method: 'DELETE', url: body.links.self, headers })
    expect([200, 202]).toContain(statusCode)
    expect(await until(worker, body.links.self)).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
  })
  test('a pending job ends at once', async () => {
    const blockers = await Promise.all(
      [1, 2].map(() => submit(worker, TASK, { tableName: tableName(), steps: 1000, stepMs: 20 })),
    )
    const { body } = await submit(worker, TASK, { tableName: tableName() })
    const { status, body: record } = await cancel(body.links.self)
    expect(status).toBe(200)
    expect(record).toMatchObject({ status: 'failed', error: { code: 'cancelled' }, attempt: 0 })
    for (const blocker of blockers) await cancel(blocker.body.links.self)
    for (const blocker of blockers) await until(worker, blocker.body.links.self)
  })

  test('a job that has ended stays as it is', async () => {
    const { body } = await submit(worker, TASK, { tableName: tableName() })
    const done = await until(worker, body.links.self)
    expect(await cancel(body.links.self)).toMatchObject({ status: 200, body: { ...done, cancel_requested: false } })
  })
})

describe('Idempotency-Key', () => {
  test('replays the same record for the same body, in any order of fields', async () => {
    const name = tableName()
    const first = await submit(worker, TASK, { tableName: name, steps: 2 }, { 'idempotency-key': 'k1' })
    await until(worker, first.body.links.self)
    const second = await submit(worker, TASK, { steps: 2, tableName: name }, { 'idempotency-key': 'k1' })
    expect(first.status).toBe(202)
    expect(second.status).toBe(200)
    expect(second.body.id).toBe(first.body.id)
  })
  test('refuses another body', async () => {
    await submit(worker, TASK, { tableName: tableName() }, { 'idempotency-key': 'k2' })
    expect(await submit(worker, TASK, { tableName: tableName() }, { 'idempotency-key': 'k2' })).toMatchObject({
      status: 422,
      body: { code: 'IDEMPOTENCY_KEY_REUSED' },
    })
  })
  test('ten requests at once make one job', async () => {
    const name = tableName()
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => submit(worker, TASK, { tableName: name }, { 'idempotency-key': 'k3' })),
    )
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1)
    expect(answers.map((answer) => answer.status).filter((status) => status === 202)).toHaveLength(1)
  })
})

describe('reading', () => {
  test('a list pages by keyset in both orders and filters by status', async () => {
    const { data } = (await read(worker, `/jobs/${TASK}?limit=100`)).body
    expect(data.length).toBeGreaterThan(5)
    const paged: string[] = []
    let cursor = ''
    do {
      const { body } = await read(worker, `/jobs/${TASK}?limit=3&order=created_at.asc${cursor}`)
      paged.push(...body.data.map((job) => job.id))
      cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`
    } while (cursor !== '')
    expect(paged).toEqual(data.map((job) => job.id).toReversed())
    const failed = (await read(worker, `/jobs/${TASK}?status=failed`)).body.data
    expect(failed.length).toBeGreaterThan(0)
    expect(new Set(failed.map((job) => job.status))).toEqual(new Set(['failed']))
  })
  test('latest is the newest', async () => {
    const { data } = (await read(worker, `/jobs/${TASK}?limit=1`)).body
    expect((await read(worker, `/jobs/${TASK}/latest`)).body.id).toBe(data[0]?.id)
    expect(await read(worker, '/jobs/osmImportArea/latest')).toMatchObject({
      status: 404,
      body: { code: 'JOB_NOT_FOUND' },
    })
  })
  test.each([
    ['/jobs/nope', 404, 'UNKNOWN_TASK'],
    ['/jobs/createGeoEmbeddings/0199b1f0-0000-7000-8000-00000000ffff', 404, 'JOB_NOT_FOUND'],
    ['/jobs/createGeoEmbeddings/not-a-uuid', 404, 'JOB_NOT_FOUND'],
    ['/jobs/createGeoEmbeddings?limit=101', 422, 'VALIDATION_FAILED'],
    ['/jobs/createGeoEmbeddings?cursor=abc', 422, 'INVALID_CURSOR'],
    [`/jobs/createGeoEmbeddings?cursor=${cursorOf('2026-02-30T00:00:00.000000Z')}`, 422, 'INVALID_CURSOR'],
    [`/jobs/createGeoEmbeddings?cursor=${cursorOf('2026-02-03T25:00:00.000000Z')}`, 422, 'INVALID_CURSOR'],
    [
      `/jobs/createGeoEmbeddings?cursor=${cursorOf('2026-02-03T00:00:00.000000Z', '-'.repeat(36))}`,
      422,
      'INVALID_CURSOR',
    ],
    ['/jobs/createGeoEmbeddings?status=cancelled', 422, 'VALIDATION_FAILED'],
    ['/jobs/createGeoEmbeddings?projectRef=other', 404, 'PROJECT_NOT_FOUND'],
  ])('GET %s is %i %s', async (path, status, code) => {
    expect(await read(worker, path)).toMatchObject({ status, body: { code } })
  })
  test('a job is found under its own task only', async () => {
    const { id } = (await read(worker, `/jobs/${TASK}/latest`)).body
    expect((await read(worker, `/jobs/osmImportArea/${id}`)).status).toBe(404)
  })
  test('the routes answer under /worker too', async () => {
    expect((await read(worker, `/worker/jobs/${TASK}/latest`)).status).toBe(200)
    expect((await worker.app.inject('/worker/health/live')).statusCode).toBe(200)
  })
  test.each(['', '/worker'])('addresses in headers are those of a caller at "%s"', async (mount) => {
    const payload = { tableName: tableName() }
    const posted = await worker.app.inject({ method: 'POST', url: `${mount}/jobs/${TASK}`, headers: HEADERS, payload })
    const { id } = posted.json<JobRecord>()
    expect(posted.headers.location).toBe(`${mount}/jobs/${TASK}/${id}`)
    const list = await worker.app.inject({ url: `${mount}/jobs/${TASK}?limit=1`, headers: HEADERS })
    const next = /^<([^>]+)>; rel="next"$/.exec(String(list.headers.link))
    expect(next?.[1]).toMatch(new RegExp(`^${mount}/jobs/${TASK}\\?`))
    expect((await read(worker, next![1]!)).status).toBe(200)
    await until(worker, String(posted.headers.location))
  })
})

test('metrics count what waits and what runs, by task', async () => {
  const { body } = await submit(worker, TASK, { tableName: tableName(), steps: 100, stepMs: 100 })
  await until(worker, body.links.self, ({ status }) => status === 'running')
  const { body: text } = await worker.app.inject({
    url: '/metrics',
    headers: { authorization: `Bearer ${METRICS_KEY}` },
  })
  expect(text).toContain(`terrane_jobs{task="${TASK}",state="running",app="worker"} 1`)
  expect(text).toContain(`terrane_jobs{task="${TASK}",state="pending",app="worker"} 0`)
  await worker.app.inject({ method: 'DELETE', url: body.links.self, headers: HEADERS })
  await until(worker, body.links.self)
})

describe('the events of a job', () => {
  const events = async (self: string, headers: Record<string, string> = {}) => {
    const { body } = await worker.app.inject({ url: `${self}/events`, headers: { ...HEADERS, ...headers } })
    return body
      .split('\n\n')
      .filter((block) => block.startsWith('id:'))
      .map((block) => {
        const [id, event, data] = block.split('\n').map((line) => line.slice(line.indexOf(':') + 2))
        return { id: Number(id), event, job: JSON.parse(data as string) as JobRecord }
      })
  }

  test('tell every status and progress, and end with the job', async () => {
    const { body } = await submit(worker, TASK, { tableName: tableName(), steps: 25, stepMs: 100 })
    const seen = await events(body.links.self)
    expect(seen.map(({ id }) => id)).toEqual(seen.map(({ id }) => id).toSorted((a, b) => a - b))
    expect(seen.filter(({ event }) => event === 'progress').length).toBeGreaterThan(1)
    expect(seen.at(-1)).toMatchObject({ event: 'status', job: { status: 'success', terminal: true } })
  })
  test('resume after Last-Event-ID', async () => {
    const { id } = (await read(worker, `/jobs/${TASK}/latest`)).body
    const [last] = await events(`/jobs/${TASK}/${id}`)
    expect(last?.job.terminal).toBe(true)
    expect(await events(`/jobs/${TASK}/${id}`, { 'last-event-id': '1' })).toHaveLength(1)
  })
})

describe('trying again', () => {
  const again = (path: string, headers: Readonly<Record<string, string>> = HEADERS) =>
    worker.app.inject({
      method: 'POST',
      url: `${path}/retry`,
      headers: { ...headers, 'x-request-id': 'the-second-try' },
    })

  test('a failed job is queued once more as a job of its own, with its whole request', async () => {
    const request = { tableName: 'tried_again', fault: 'input', faultyAttempts: 0 }
    const first = await submit(worker, TASK, { ...request, steps: 100_000 }, { 'x-request-id': 'the-first-try' })
    expect(first.body).toMatchObject({ request_id: 'the-first-try', retry_of: null })
    expect((await again(first.body.links.self)).json()).toMatchObject({ code: 'JOB_NOT_FAILED' })
    await worker.app.inject({ method: 'DELETE', url: first.body.links.self, headers: HEADERS })
    await until(worker, first.body.links.self)
    const answer = await again(first.body.links.self)
    expect(answer.statusCode).toBe(202)
    const second = answer.json<JobRecord>()
    expect(second).toMatchObject({
      status: 'pending',
      request_id: 'the-second-try',
      retry_of: first.body.id,
      input: first.body.input,
    })
    expect(answer.headers['location']).toBe(second.links.self)
    await worker.app.inject({ method: 'DELETE', url: second.links.self, headers: HEADERS })
    await until(worker, second.links.self)
  })

  test('what is refused at submit is refused here, and so are strangers', async () => {
    const { body } = await submit(worker, TASK, { tableName: 'taken_meanwhile', fault: 'input' })
    await until(worker, body.links.self)
    await worker.db.database.query('create table public.taken_meanwhile (n int)')
    expect((await again(body.links.self)).json()).toMatchObject({ status: 409, code: 'TABLE_EXISTS' })
    expect((await again(body.links.self, {})).statusCode).toBe(401)
    expect((await again(`/jobs/${TASK}/0199b1f0-0000-7000-8000-000000000000`)).statusCode).toBe(404)
  })
})
