import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { testLane } from '@terrane/database/testing'
import { Webhook as Verifier } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fakeTask } from './fake-tasks.ts'
import { HEADERS, openWorker, submit, until, type TestWorker } from './harness.ts'

const TASK = 'createGeoEmbeddings'

interface Heard {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

let receiver: Server
let url: string
let worker: TestWorker
let heard: Heard[] = []
/** Answers of the receiver in order; the last one repeats. */
let answers: (number | 'hang up' | 'elsewhere')[] = [204]
beforeAll(async () => {
  receiver = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      heard.push({ headers: request.headers, body })
      const answer = answers.length > 1 ? answers.shift()! : answers[0]!
      if (answer === 'hang up') return response.destroy()
      if (answer === 'elsewhere') return response.writeHead(302, { location: `${url}/elsewhere` }).end()
      return response.writeHead(answer).end()
    })
  })
  await once(receiver.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  worker = await openWorker({ tasks: [fakeTask()], env: { TERRANE_FETCH_ALLOW_HOSTS: new URL(url).host } })
})
afterAll(async () => {
  await worker[Symbol.asyncDispose]()
  receiver.closeAllConnections()
  receiver.close()
})
beforeEach(async () => {
  await worker.db.database.query('delete from terrane.webhooks')
  heard = []
  answers = [204]
})

interface Answer {
  readonly id: string
  readonly secret: string
  readonly code: string
  readonly paused: boolean
  readonly url: string
  readonly links: { readonly self: string; readonly deliveries: string }
  readonly data: {
    readonly id: string
    readonly status: string
    readonly job_id: string
    readonly attempts: { readonly status_code: number | null; readonly error: string | null }[]
  }[]
}

async function ask(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, payload?: object, headers = HEADERS) {
  const response = await worker.app.inject({ method, url: path, headers, ...(payload && { payload }) })
  return { status: response.statusCode, body: (response.body === '' ? null : response.json()) as Answer }
}

const make = (body: object = {}) => ask('POST', '/webhooks', { url, ...body })
const deliveries = async ({ links }: Answer) => (await ask('GET', links.deliveries)).body.data

/** Has the queue try again now what waits for its next attempt. */
const hurry = () => worker.db.database.query(`update pgboss.job set start_after = now() where name = 'webhooks'`)

async function run(tableName: string, more: object = {}) {
  const { body } = await submit(worker, TASK, { tableName, steps: 1, ...more })
  return until(worker, body.links.self)
}

describe(`webhooks (${testLane()})`, () => {
  test('hear of each end of a job, signed as the specification wants', async () => {
    const { status, body: hook } = await make()
    expect(status).toBe(201)
    const job = await run('told')
    await expect.poll(() => heard.length, { timeout: 20_000 }).toBe(1)
    const [message] = heard
    // An implementation of the specification's authors: throws unless the signature and the time are right.
    const told = new Verifier(hook.secret).verify(message!.body, message!.headers as Record<string, string>)
    expect(told).toMatchObject({ type: 'job.succeeded', data: { id: job.id, status: 'success', result: job.result } })
    expect(message!.body).not.toContain('"input"')
    const other = await make({ secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}` })
    expect(() => new Verifier(other.body.secret).verify(message!.body, message!.headers as never)).toThrow(/signature/)

    const failed = await run('fails', { fault: 'input' })
    await expect.poll(() => heard.length, { timeout: 20_000 }).toBe(3)
    expect(heard.slice(1).map(({ body }) => JSON.parse(body) as unknown)).toEqual([
      expect.objectContaining({ type: 'job.failed', data: expect.objectContaining({ id: failed.id }) as unknown }),
      expect.objectContaining({ type: 'job.failed', data: expect.objectContaining({ id: failed.id }) as unknown }),
    ])
    await expect.poll(async () => (await deliveries(hook)).map((d) => d.status)).toEqual(['delivered', 'delivered'])
  })

  test('are told again, under the same id, until they take it; each attempt is written down', async () => {
    answers = [500, 'hang up', 'elsewhere', 200]
    const { body: hook } = await make()
    const job = await run('stubborn')
    await expect
      .poll(
        async () => {
          await hurry()
          return (await deliveries(hook))[0]?.status
        },
        { timeout: 60_000, interval: 200 },
      )
      .toBe('delivered')
    const ids = new Set(heard.map(({ headers }) => headers['webhook-id']))
    expect([heard.length, ids.size]).toEqual([4, 1])
    const [delivery] = await deliveries(hook)
    expect(delivery).toMatchObject({ id: [...ids][0], job_id: job.id })
    expect(delivery!.attempts.map(({ status_code: code, error }) => [code, error === null])).toEqual([
      [500, false],
      [null, false],
      [302, false],
      [200, true],
    ])
    for (const { headers, body } of heard) {
      expect(() => new Verifier(hook.secret).verify(body, headers as Record<string, string>)).not.toThrow()
    }
  })

  test('are paused when they say that they are gone', async () => {
    answers = [410]
    const { body: hook } = await make()
    await run('gone')
    await expect.poll(async () => (await ask('GET', hook.links.self)).body.paused, { timeout: 20_000 }).toBe(true)
    expect((await deliveries(hook))[0]?.status).toBe('failed')
    await run('gone_too')
    expect(await deliveries(hook)).toHaveLength(1)
  })

  test('hear of what they asked for, also of a job that is cancelled before it runs', async () => {
    const { body: ofFailures } = await make({ statuses: ['failed'] })
    const { body: ofOthers } = await make({ tasks: ['exportTable'] })
    const { body: blocker } = await submit(worker, TASK, { tableName: 'blocker', steps: 100_000 })
    await until(worker, blocker.links.self, ({ status }) => status === 'running')
    const { body: waiting } = await submit(worker, TASK, { tableName: 'waiting' })
    for (const { links } of [waiting, blocker]) await ask('DELETE', links.self)
    await until(worker, blocker.links.self)
    await expect
      .poll(async () => (await deliveries(ofFailures)).map(({ job_id: id }) => id).toSorted())
      .toEqual([blocker.id, waiting.id].toSorted())
    expect(await deliveries(ofOthers)).toEqual([])
    await run('fine')
    expect(await deliveries(ofFailures)).toHaveLength(2)
  })

  test('are no way into a private network', async () => {
    for (const refused of [
      'http://169.254.169.254/latest',
      'https://10.0.0.1/',
      'http://example.com/',
      'file:///etc',
    ]) {
      const { status, body } = await ask('POST', '/webhooks', { url: refused })
      expect([refused, status, body.code]).toEqual([refused, 422, 'URL_REFUSED'])
    }
    // A name that leads there is refused when it is dialled.
    const { body: hook } = await make({ url: 'https://localhost/hook' })
    await run('inside')
    await expect
      .poll(async () => (await deliveries(hook))[0]?.attempts[0]?.error, { timeout: 20_000 })
      .toMatch(/not public/)
  })

  test('keep their secrets, and are seen only under the key of their project', async () => {
    const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
    const { body: hook } = await make({ url: `${url}?token=hunter2`, secret })
    expect(hook.secret).toBe(secret)
    expect(hook.url).toBe(`${url}?token=[redacted]`)
    await run('quiet')
    await expect.poll(async () => (await deliveries(hook))[0]?.status, { timeout: 20_000 }).toBe('delivered')
    const { rows } = await worker.db.database.query(
      `select (select json_agg(w) from terrane.webhooks w)::text, (select json_agg(b) from pgboss.job b)::text as queue,
         (select json_agg(a) from terrane.webhook_attempts a)::text as attempts`,
    )
    const shown = JSON.stringify([rows, await ask('GET', hook.links.self), await ask('GET', '/webhooks')])
    expect(shown).not.toContain('hunter2')
    expect(shown).not.toContain(secret)
    expect((await ask('GET', `${hook.links.self}?projectRef=other`)).body.code).toBe('PROJECT_NOT_FOUND')
    expect((await ask('GET', hook.links.self, undefined, { apikey: 'x', authorization: 'Bearer x' })).status).toBe(401)
    expect((await ask('POST', '/webhooks', { url, secret: 'short' })).status).toBe(422)
    expect((await ask('DELETE', hook.links.self)).status).toBe(204)
    expect((await ask('GET', hook.links.deliveries)).body.code).toBe('WEBHOOK_NOT_FOUND')
  })
})
