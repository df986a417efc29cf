import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testLane } from '@terrane/database/testing'
import { fakeTask } from './fake-tasks.ts'
import { HEADERS, openWorker, type TestWorker } from './harness.ts'

interface Batch {
  readonly queue: string
  readonly messages: readonly {
    readonly id: string
    readonly attempts: number
    readonly body: { readonly n: number }
  }[]
}

let host: Server
let worker: TestWorker
let taken: Batch[] = []
const ids = new Map<string, string>()
let answer: (batch: Batch) => number = () => 204
beforeAll(async () => {
  host = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      const batch = JSON.parse(body) as Batch
      const status = ['/functions/v1/mailer', '/functions/v1/once'].includes(request.url!) ? answer(batch) : 404
      if (status < 300) taken.push(batch)
      ids.set(JSON.stringify(batch.messages.map(({ id }) => id)), String(request.headers['webhook-id']))
      response.writeHead(status, status === 508 ? { 'x-error-code': 'FUNCTION_RECURSION' } : {}).end()
    })
  })
  await once(host.listen(0, '127.0.0.1'), 'listening')
  const env = { TERRANE_FUNCTIONS_URL: `http://127.0.0.1:${(host.address() as AddressInfo).port}` }
  worker = await openWorker({ tasks: [fakeTask()], env })
  for (const [name, queue, attempts] of [
    ['mailer', 'mail', 2],
    ['once', 'once', 1],
  ] as const) {
    const policy = JSON.stringify({ schedule: [], queue, batch: 3, attempts })
    await sql(`insert into terrane.served_functions select id, '${name}', '${policy}' from terrane.projects`)
  }
})
afterAll(async () => {
  await worker[Symbol.asyncDispose]()
  host.closeAllConnections()
  host.close()
})
beforeEach(async () => {
  taken = []
  answer = () => 204
  await sql('delete from terrane.events')
})

const sql = (text: string) => worker.db.database.query(text)
const as = (role: string, text: string) =>
  worker.db.database.transaction(async (session) => {
    await session.query(`set local role ${role}`)
    return session.query(text)
  })
const numbers = () => taken.flatMap(({ messages }) => messages.map(({ body }) => body.n))
const hurry = () =>
  sql(`update terrane.events set due_at = clock_timestamp() where due_at < clock_timestamp() + interval '1 minute'`)
const taking = (count: number) =>
  expect.poll(async () => (await hurry(), numbers().length), { timeout: 20_000, interval: 100 }).toBe(count)
const dead = async () => {
  const response = await worker.app.inject({ url: '/dead-letters?lane=queue:mail', headers: HEADERS })
  return response.json<{ data: { id: string; body: { n: number }; attempts: number; error: string }[] }>().data
}

describe(`queues (${testLane()})`, () => {
  test('call their consumer with batches; what is rolled back is not sent', async () => {
    await sql(`select terrane.send('mail', jsonb_build_object('n', i)) from generate_series(1, 7) i`)
    await expect(sql(`select terrane.send('mail', '{"n": 8}'); select 1 / 0`)).rejects.toThrow('division by zero')
    await taking(7)
    expect(numbers().toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(Math.max(...taken.map(({ messages }) => messages.length))).toBe(3)
    expect(taken[0]).toMatchObject({ type: 'queue', queue: 'mail' })
  })

  test('give a poisonous message up as a dead letter, and deliver the others of its batch', async () => {
    answer = ({ messages }) => (messages.some(({ body }) => body.n === 2) ? 500 : 204)
    await sql(`select terrane.send('mail', jsonb_build_object('n', i)) from generate_series(1, 3) i`)
    await taking(2)
    await expect.poll(async () => (await hurry(), (await dead()).length), { timeout: 20_000 }).toBe(1)
    const [letter] = await dead()
    expect(letter).toMatchObject({ body: { n: 2 }, attempts: 2, error: 'HTTP status 500' })
    expect((await sql('select from terrane.events where dead_at is null')).rowCount).toBe(0)
    answer = () => 204
    const payload = { ids: [letter!.id] }
    await worker.app.inject({ method: 'POST', url: '/dead-letters/resend', headers: HEADERS, payload })
    await taking(3)
    expect(await dead()).toEqual([])
  })

  test('give a message of too long a chain up at once, and deliver the others of its batch in their first attempt', async () => {
    answer = ({ messages }) => (messages.some(({ body }) => body.n === 2) ? 508 : 204)
    await sql(`select terrane.send('mail', jsonb_build_object('n', i)) from generate_series(1, 3) i`)
    await expect.poll(async () => (await dead()).length, { timeout: 20_000 }).toBe(1)
    expect((await dead())[0]).toMatchObject({
      body: { n: 2 },
      attempts: 1,
      error: expect.stringContaining('FUNCTION_RECURSION') as string,
    })
    expect(taken.flatMap(({ messages }) => messages).map(({ body, attempts }) => [body.n, attempts])).toEqual([
      [1, 1],
      [3, 1],
    ])
  })

  test('have an id for each batch, and no batches where there is one attempt', async () => {
    expect(new Set(ids.values()).size).toBe(ids.size)
    answer = ({ messages }) => (messages.some(({ body }) => body.n === 2) ? 500 : 204)
    await sql(`select terrane.send('once', jsonb_build_object('n', i)) from generate_series(1, 3) i`)
    await taking(2)
    const given = () => sql(`select from terrane.events where lane = 'queue:once' and dead_at is not null`)
    await expect.poll(async () => (await given()).rowCount, { timeout: 20_000 }).toBe(1)
  })

  test('keep the order of a key, and wait as long as they are told', async () => {
    let failures = 1
    answer = ({ messages }) => (messages.some(({ body }) => body.n === 1) && failures-- > 0 ? 500 : 204)
    await sql(`select terrane.send('mail', '{"n": 9}', delay => '1 hour')`)
    await sql(`select terrane.send('mail', jsonb_build_object('n', i), key => 'a') from generate_series(1, 3) i`)
    await taking(3)
    expect(numbers()).toEqual([1, 2, 3])
    await sql(`update terrane.events set due_at = clock_timestamp()`)
    await taking(4)
  })

  test('take messages of the service role and of SQL that may, within bounds', async () => {
    await as('service_role', `select terrane.send('mail', '{"n": 1}')`)
    await as('service_role', `select geoembeddings.send_message('mail', '{"n": 2}', 0.001)`)
    await taking(2)
    for (const role of ['anon', 'authenticated']) {
      await expect(as(role, `select terrane.send('mail', '{}')`)).rejects.toThrow(/permission denied/)
      await expect(as(role, `select geoembeddings.send_message('mail', '{}')`)).rejects.toThrow(/permission denied/)
    }
    for (const [text, said] of [
      [`select terrane.send('Mail; drop', '{}')`, 'queue is a name'],
      [`select terrane.send('mail', null)`, 'body is JSON'],
      [`select terrane.send('mail', to_jsonb(repeat('x', 300000)))`, 'at most 262144 bytes'],
      [`select terrane.send('mail', '{}', '-1 s')`, 'delay is between'],
      [`select terrane.send('mail', '{}', '0', repeat('k', 201))`, 'key has at most'],
    ] as const)
      await expect(as('service_role', text)).rejects.toThrow(said)
    await expect(as('service_role', 'select * from terrane.events')).rejects.toThrow(/permission denied/)
  })
})
