import type { JobLog } from '@terrane/contracts'
import { testLane } from '@terrane/database/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { writeLines } from '../src/queue/job-log.ts'
import { fakeTask } from './fake-tasks.ts'
import { HEADERS, openWorker, submit, until, type TestWorker } from './harness.ts'

const TASK = 'createGeoEmbeddings'
const SECRET = 'hunter2-must-not-be-shown'

let worker: TestWorker
beforeAll(async () => {
  const task = fakeTask((context) => {
    const download = { phase: 'download', message: `reading https://u:${SECRET}@host/a.tif?sig=${SECRET}` }
    context.progress({ ...download, ...of(1) })
    context.progress({ ...download, ...of(2) })
    context.progress({ phase: 'embed', message: 'embedding tiles', ...of(1) })
  })
  const warning = { code: 'LEFT_OUT', message: `Left out postgres://u:${SECRET}@host/db`, count: 3 }
  const run: typeof task.run = async (input, context) => ({ ...(await task.run(input, context)), warnings: [warning] })
  worker = await openWorker({ tasks: [{ ...task, run }] })
})
afterAll(() => worker[Symbol.asyncDispose]())

const of = (done: number) => ({ done, total: 2, unit: 'tiles' })

async function log(self: string, query = '', by: TestWorker = worker) {
  const response = await by.app.inject({ url: `${self}/log${query}`, headers: HEADERS })
  return { status: response.statusCode, body: response.json<JobLog & { code: string }>() }
}

describe(`the log of a job (${testLane()})`, () => {
  test('tells each step once, with phases, times, warnings and the request that asked', async () => {
    const { body } = await submit(worker, TASK, { tableName: 'told' }, { 'x-request-id': 'asked-by-me' })
    await until(worker, body.links.self)
    const { body: told } = await log(body.links.self)
    expect(told.data.map(({ event, phase }) => [event, phase])).toEqual([
      ['submitted', null],
      ['started', null],
      ['step', 'download'],
      ['step', 'embed'],
      ['step', 'steps'],
      ['times', null],
      ['warning', null],
      ['succeeded', null],
    ])
    expect(told.data[0]).toMatchObject({ number: 1, attempt: 0, request_id: 'asked-by-me' })
    expect(told.data[5]?.message).toMatch(/^download \d+\.\d s, embed \d+\.\d s, steps \d+\.\d s$/)
    expect(told.data[6]).toMatchObject({ level: 'warning', code: 'LEFT_OUT', attempt: 1 })
    expect(told).toMatchObject({ last: 8, more: false, dropped: 0, terminal: true })
    const times = told.data.map(({ at }) => at)
    expect(times).toEqual(times.toSorted())
    expect((await worker.app.inject({ url: body.links.self, headers: HEADERS })).json()).toMatchObject({
      links: { log: `${body.links.self}/log` },
    })
  })

  test('holds no secret of a URL', async () => {
    const { body } = await submit(worker, TASK, { tableName: 'hidden' })
    await until(worker, body.links.self)
    const text = JSON.stringify((await log(body.links.self)).body)
    expect(text).toContain('https://host/a.tif?sig=[redacted]')
    expect(text).toContain('postgres://host/db')
    expect(text).not.toContain(SECRET)
  })

  test('tells of faults that may pass, and of the end', async () => {
    const { body } = await submit(worker, TASK, { tableName: 'again', fault: 'upstream', faultyAttempts: 1 })
    await until(worker, body.links.self)
    const { data } = (await log(body.links.self)).body
    const retry = data.find(({ event }) => event === 'retry')
    expect(retry).toMatchObject({ level: 'warning', attempt: 1, code: 'UPSTREAM_DOWN' })
    expect(data.filter(({ event }) => event === 'started').map(({ attempt }) => attempt)).toEqual([1, 2])

    const { body: bad } = await submit(worker, TASK, { tableName: 'bad', fault: 'input' })
    await until(worker, bad.links.self)
    expect((await log(bad.links.self)).body.data.at(-1)).toMatchObject({
      event: 'failed',
      level: 'error',
      code: 'BAD_INPUT',
      message: 'The input is bad. Send a better one.',
    })
  })

  test('grows while the job runs, is read on by page, and tells who cancelled', async () => {
    const { body } = await submit(worker, TASK, { tableName: 'slow', steps: 100_000 })
    await expect.poll(async () => (await log(body.links.self)).body.data.at(-1)?.phase).toBe('steps')
    const { body: page } = await log(body.links.self, '?limit=2')
    expect(page).toMatchObject({ last: 2, more: true, terminal: false })
    const headers = { ...HEADERS, 'x-request-id': 'cancelled-by-me' }
    await worker.app.inject({ method: 'DELETE', url: body.links.self, headers })
    await until(worker, body.links.self)
    const { body: rest } = await log(body.links.self, `?after=${page.last}`)
    expect(rest.data[0]?.number).toBe(3)
    expect(rest.data.find(({ event }) => event === 'cancel_requested')).toMatchObject({ request_id: 'cancelled-by-me' })
    expect(rest.data.at(-1)).toMatchObject({ event: 'failed', level: 'info', code: 'cancelled' })
    expect(rest.terminal).toBe(true)
  })

  test('is bounded in lines and bytes; what is left out is counted, and the end is kept', async () => {
    const { body } = await submit(worker, TASK, { tableName: 'flood', steps: 100_000 })
    await expect.poll(async () => (await log(body.links.self)).body.data.at(-1)?.phase).toBe('steps')
    const { database } = worker.db
    const steps = Array.from({ length: 400 }, () => ({ event: 'step' as const, message: 'é'.repeat(5000) }))
    for (let i = 0; i < 3; i++) await writeLines(database, body.id, steps)
    await worker.app.inject({ method: 'DELETE', url: body.links.self, headers: HEADERS })
    await until(worker, body.links.self)
    const { body: page } = await log(body.links.self, '?limit=1000')
    expect(page.data.findLast(({ event }) => event === 'step')?.number).toBe(900)
    expect(page.last).toBeGreaterThan(1200)
    expect(page.dropped).toBe(page.last - page.data.length)
    expect(page.data.slice(-3).map(({ event }) => event)).toEqual(['cancel_requested', 'times', 'failed'])
    expect(Math.max(...page.data.map(({ message }) => Buffer.byteLength(message)))).toBeLessThanOrEqual(1000)
    const more = Array.from({ length: 90 }, () => ({ event: 'lost' as const, message: 'x' }))
    for (let i = 0; i < 3; i++) await writeLines(database, body.id, more)
    const { rows } = await database.query<{ n: number }>(
      'select count(*) as n from terrane.job_lines where job_id = $1',
      [body.id],
    )
    expect(rows[0]?.n).toBeLessThanOrEqual(1000)
    await worker.deps.store.prune(0)
    expect((await database.query('select 1 from terrane.job_lines where job_id = $1', [body.id])).rows).toEqual([])
  })

  test('is only for readers of the record', async () => {
    const { body } = await submit(worker, TASK, { tableName: 'mine' })
    const refused = await worker.app.inject({ url: `${body.links.self}/log` })
    expect(refused.statusCode).toBe(401)
    expect((await log(body.links.self, '?projectRef=other')).body.code).toBe('PROJECT_NOT_FOUND')
    expect((await log(`/jobs/${TASK}/00000000-0000-7000-8000-000000000000`)).body.code).toBe('JOB_NOT_FOUND')
    expect((await log(body.links.self, '?after=-1')).status).toBe(422)
    await until(worker, body.links.self)
  })
})
