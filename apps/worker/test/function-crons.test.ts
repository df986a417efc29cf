import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testLane } from '@terrane/database/testing'
import { fakeTask } from './fake-tasks.ts'
import { KEY, openWorker, type TestWorker } from './harness.ts'

interface Call {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly event: { readonly name: string; readonly cron: string; readonly scheduledTime: number }
}

let host: Server
let workers: TestWorker[] = []
let calls: Call[] = []
/** A status, with the code of an answer that the host itself makes. */
let answer = (): readonly [status: number, code?: string] => [204]
beforeAll(async () => {
  host = createServer((request, response) => {
    const { url, headers } = request
    const event = JSON.parse(decodeURIComponent(String(headers['x-terrane-cron']))) as Call['event']
    const [status, code] = answer()
    if (code === undefined) calls.push({ path: url!, headers, event })
    response.writeHead(status, code === undefined ? {} : { 'x-error-code': code }).end()
  })
  await once(host.listen(0, '127.0.0.1'), 'listening')
  const env = { TERRANE_FUNCTIONS_URL: `http://127.0.0.1:${(host.address() as AddressInfo).port}` }
  const first = await openWorker({ tasks: [fakeTask()], env })
  const others = ['3334', '3335'].map((PORT) =>
    openWorker({ tasks: [fakeTask()], env: { ...env, PORT }, beside: first }),
  )
  workers = [first, ...(await Promise.all(others))]
})
afterAll(async () => {
  for (const worker of workers.toReversed()) await worker[Symbol.asyncDispose]()
  host.closeAllConnections()
  host.close()
})

const sql = <Row extends object>(text: string, values: unknown[] = []) =>
  workers[0]!.db.database.query<Row & Record<string, unknown>>(text, values)
const wanted = (name: string, policy: object) =>
  sql(
    `insert into terrane.served_functions select id, $1, $2 from terrane.projects
     on conflict (project_id, name) do update set policy = excluded.policy`,
    [name, JSON.stringify(policy)],
  )
const followed = async () =>
  (await sql<{ entry: string }>('select entry, next_at from terrane.function_crons order by entry')).rows

describe(`functions at times (${testLane()})`, () => {
  test('are called once for each time, whichever of three workers looks', { timeout: 60_000 }, async () => {
    await wanted('nightly', { schedule: ['clean: 0 3 * * *', '30 4 * * *'], time_zone: 'Europe/Zurich' })
    await expect.poll(async () => (await followed()).length, { timeout: 20_000 }).toBe(2)
    for (let time = 1; time <= 3; time++) {
      const due = new Date(Date.now() - 1000)
      await sql(`update terrane.function_crons set next_at = $1 where entry = 'clean: 0 3 * * *'`, [due])
      await expect.poll(() => calls.length, { timeout: 20_000 }).toBe(time)
      const { path, headers, event } = calls[time - 1]!
      expect(path).toBe('/functions/v1/nightly')
      expect(headers.authorization).toBe(`Bearer ${KEY}`)
      expect(event).toEqual({ name: 'clean', cron: '0 3 * * *', scheduledTime: due.getTime() })
    }
    // Every worker has looked again since, and none has called.
    await Promise.all(workers.map(({ deps }) => deps.crons.tick()))
    expect(calls).toHaveLength(3)
    const [first] = await followed()
    expect((first!['next_at'] as Date).getTime()).toBeGreaterThan(Date.now())
  })

  test('are called again where they were not reached, and once where they failed', { timeout: 60_000 }, async () => {
    calls = []
    // The function's own 503 is an answer.
    const answers: [number, string?][] = [[503, 'FUNCTION_BUSY'], [503]]
    answer = () => answers.shift() ?? [204]
    await sql(
      `update terrane.function_crons set next_at = date_trunc('second', clock_timestamp()) where entry = '30 4 * * *'`,
    )
    const hurry = () => sql(`update pgboss.job set start_after = now() where name = 'function-crons'`)
    await expect.poll(async () => (await hurry(), calls.length), { timeout: 30_000, interval: 200 }).toBe(1)
    const open = () => sql(`select from pgboss.job where name = 'function-crons' and state < 'completed'`)
    await expect.poll(async () => (await open()).rowCount, { timeout: 20_000 }).toBe(0)
    expect(calls).toHaveLength(1)
  })

  test('follow what the function wants now, the folder before what is deployed', { timeout: 60_000 }, async () => {
    await sql(`insert into terrane.function_versions (project_id, name, version, digest, bytes, policy, created_by)
      select id, f.name, 1, repeat('0', 64), 1, f.policy::jsonb, 'test' from terrane.projects, (values
        ('nightly', '{"schedule": ["0 1 * * *"]}'), ('deployed', '{"schedule": ["0 2 * * *", "0 0 30 2 *"]}'), ('old', '{}')) f (name, policy)`)
    await sql(
      'insert into terrane.function_live (project_id, name, version) select project_id, name, 1 from terrane.function_versions',
    )
    await wanted('nightly', { schedule: ['0 5 * * *'] })
    const entries = async () => (await followed()).map(({ entry }) => entry)
    await expect.poll(entries, { timeout: 20_000 }).toEqual(['0 0 30 2 *', '0 2 * * *', '0 5 * * *'])
    expect((await followed())[0]!['next_at']).toBe(null)
    await sql('delete from terrane.served_functions')
    await expect.poll(entries, { timeout: 20_000 }).toEqual(['0 0 30 2 *', '0 1 * * *', '0 2 * * *'])
  })
})
