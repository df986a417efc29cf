import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Organizations, Projects } from '@terrane/control'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import { createSealer, parseSecretsKey } from '@terrane/service'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fakeTask } from './fake-tasks.ts'
import { HEADERS, openWorker, submit, until, type TestWorker } from './harness.ts'

interface Call {
  readonly path: string
  readonly body: { readonly type: string; readonly record?: { readonly id: number; readonly v: number } | null }
}

let calls: Call[] = []
/** Done before the answer, as a function would. */
let work: (call: Call) => Promise<unknown> = () => Promise.resolve()
let host: Server
let url: string
beforeAll(async () => {
  host = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      const call = { path: request.url!, body: JSON.parse(body) as Call['body'] }
      calls.push(call)
      void work(call).finally(() => response.writeHead(204).end())
    })
  })
  await once(host.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(host.address() as AddressInfo).port}`
})
afterAll(() => {
  host.closeAllConnections()
  host.close()
})
beforeEach(() => {
  calls = []
  work = () => Promise.resolve()
})

const patient = { timeout: 20_000 }
const callsOf = (path: string) => calls.filter((call) => call.path === path)

describe(`hooks that functions declare (${testLane()})`, () => {
  let worker: TestWorker
  beforeAll(async () => {
    worker = await openWorker({ tasks: [fakeTask()], env: { TERRANE_FUNCTIONS_URL: url } })
    await sql('create table public.orders (id int primary key, v int, note text)')
  })
  afterAll(() => worker[Symbol.asyncDispose]())

  const sql = (text: string, values: unknown[] = []) => worker.db.database.query<Record<string, unknown>>(text, values)
  /** Deploys a function; the worker looks at it now instead of within two seconds. */
  const serve = async (name: string, policy: object) => {
    await sql(
      `insert into terrane.served_functions select id, $1, $2 from terrane.projects
       on conflict (project_id, name) do update set policy = excluded.policy`,
      [name, JSON.stringify(policy)],
    )
    worker.deps.onHooks()
  }
  const withdraw = async (name: string) => {
    await sql('delete from terrane.served_functions where name = $1', [name])
    worker.deps.onHooks()
  }
  const triggers = async () =>
    (await sql(`select from pg_trigger where tgname like 'zz_terrane_hook_%' and tgparentid = 0`)).rowCount
  async function ask(method: 'GET' | 'PATCH' | 'DELETE', path: string, payload?: object) {
    const response = await worker.app.inject({ method, url: path, headers: HEADERS, ...(payload && { payload }) })
    return { status: response.statusCode, body: response.body === '' ? {} : response.json<{ code?: string }>() }
  }
  const list = async (path: string) =>
    (await ask('GET', path)).body as { data: { id: string; url: string; events?: string[]; paused: boolean }[] }

  test(
    'are made with the function, called for rows and ends of jobs, and go with it',
    { timeout: 60_000 },
    async () => {
      await serve('on-order', { tables: ['insert or update of v on orders'], jobs: ['*: success', 'exportTable'] })
      await expect.poll(triggers, patient).toBe(1)
      await sql(
        `insert into orders values (1, 1); update orders set note = 'x'; update orders set v = 2; delete from orders`,
      )
      await expect
        .poll(() => callsOf('/functions/v1/on-order').map(({ body }) => body.type), patient)
        .toEqual(['INSERT', 'UPDATE'])
      const { body } = await submit(worker, 'createGeoEmbeddings', { tableName: 'made', steps: 1 })
      await until(worker, body.links.self)
      await expect
        .poll(() => calls.map((call) => call.body.type).toSorted(), patient)
        .toEqual(['INSERT', 'UPDATE', 'job.succeeded'])
      await serve('on-order', { tables: ['delete on orders'] })
      await expect
        .poll(async () => (await list('/table-hooks')).data.map(({ events }) => events), patient)
        .toEqual([['DELETE']])
      expect((await list('/webhooks')).data).toEqual([])
      await withdraw('on-order')
      await expect.poll(async () => (await list('/table-hooks')).data, patient).toEqual([])
      expect(await triggers()).toBe(0)
    },
  )

  test('may be paused, but deleted only in function.json', { timeout: 60_000 }, async () => {
    await serve('kept', { tables: ['insert on orders'], jobs: ['*'] })
    await expect.poll(triggers, patient).toBe(1)
    for (const path of ['/table-hooks', '/webhooks']) {
      const [hook] = (await list(path)).data
      expect(hook).toMatchObject({ url: '/functions/v1/kept' })
      expect(await ask('DELETE', `${path}/${hook!.id}`)).toMatchObject({ status: 409, body: { code: 'HOOK_DECLARED' } })
      expect(await ask('PATCH', `${path}/${hook!.id}`, { paused: true })).toMatchObject({ status: 200 })
    }
    expect(await triggers()).toBe(0)
    await withdraw('kept')
    await expect.poll(async () => (await list('/table-hooks')).data, patient).toEqual([])
  })

  test('wait for a table that is not there yet, and reach no table of the platform', { timeout: 60_000 }, async () => {
    await serve('early', { tables: ['insert on events', 'insert on later'] })
    await expect.poll(async () => (await list('/table-hooks')).data.length, patient).toBe(2)
    await sql('create table public.later (id int primary key, v int)')
    // Another declaration has the triggers looked at now.
    await serve('early', { tables: ['insert on events', 'insert on later', 'delete on later'] })
    await expect.poll(triggers, patient).toBe(2)
    const { rows } = await sql(
      `select distinct tgrelid::regclass::text as name from pg_trigger where tgname like 'zz_terrane_hook_%'`,
    )
    expect(rows).toEqual([{ name: 'later' }])
    await withdraw('early')
    await expect.poll(triggers, patient).toBe(0)
  })

  test(
    'that change their own table for ever hold up no other function, and end with their function',
    { timeout: 60_000 },
    async () => {
      await sql('create table public.quiet (id int primary key, v int)')
      // Changes that lock rows in one order cannot wait for each other.
      const change = () =>
        sql('update orders set v = v + 1 from (select id from orders order by id for update) o where orders.id = o.id')
      work = ({ path }) => (path === '/functions/v1/endless' ? change() : Promise.resolve())
      await serve('endless', { tables: ['insert or update on orders'] })
      await serve('other', { tables: ['insert on quiet'] })
      await expect.poll(triggers, patient).toBe(2)
      await sql('insert into orders select n, 0 from generate_series(1, 20) n')
      await expect.poll(() => callsOf('/functions/v1/endless').length, patient).toBeGreaterThan(40)
      await sql('insert into quiet values (1, 1)')
      await expect.poll(() => callsOf('/functions/v1/other').length, patient).toBe(1)
      await withdraw('endless')
      await expect.poll(triggers, patient).toBe(1)
      await expect.poll(async () => (await sql('select from terrane.events')).rowCount, patient).toBe(0)
    },
  )
})

describe(`hooks of functions of two projects (${testLane()})`, () => {
  const SECRETS_KEY = 'cd'.repeat(32)
  let worker: TestWorker
  const projects: Record<string, { id: string; db: TestDatabase }> = {}
  beforeAll(async () => {
    worker = await openWorker({
      tasks: [fakeTask()],
      env: {
        TERRANE_MODE: 'shared',
        TERRANE_SECRETS_KEY: SECRETS_KEY,
        TERRANE_FUNCTIONS_URL: url,
        TERRANE_FETCH_ALLOW_HOSTS: `127.0.0.1,${new URL(url).host}`,
      },
    })
    const { database } = worker.db
    const sealer = createSealer(parseSecretsKey(SECRETS_KEY) as Buffer)
    for (const ref of ['alpha', 'beta']) {
      const db = await openTestDatabase()
      await db.database.query('create table public.orders (id int primary key, v int)')
      const { id: organizationId } = await new Organizations(database).create(ref)
      const credentials = { databaseUrl: db.url, originUrl: `${url}/${ref}`, serviceRoleKey: `key of ${ref}` }
      const { id } = await new Projects(database, sealer).create({ organizationId, ref, credentials })
      projects[ref] = { id, db }
    }
  })
  afterAll(async () => {
    await worker[Symbol.asyncDispose]()
    for (const { db } of Object.values(projects)) await db[Symbol.asyncDispose]()
  })

  test('hear of the tables and queues of their own project alone', { timeout: 60_000 }, async () => {
    await worker.db.database.query('insert into terrane.served_functions values ($1, $2, $3)', [
      projects['alpha']!.id,
      'spy',
      JSON.stringify({ tables: ['insert on orders'], queue: 'mail', batch: 1, attempts: 1 }),
    ])
    const insert = (ref: string) => projects[ref]!.db.database.query('insert into orders values (1, 1)')
    const hooked = async (ref: string) =>
      (await projects[ref]!.db.database.query(`select from pg_trigger where tgname like 'zz_terrane_hook_%'`)).rowCount
    await expect.poll(() => hooked('alpha'), patient).toBe(1)
    await projects['beta']!.db.database.query(`select terrane.send('mail', '{}')`)
    await insert('beta')
    await insert('alpha')
    await expect.poll(() => calls.map(({ path }) => path), patient).toEqual(['/alpha/functions/v1/spy'])
    expect(await hooked('beta')).toBe(0)
    const { rows } = await projects['beta']!.db.database.query('select lane from terrane.events')
    expect(rows).toEqual([{ lane: 'queue:mail' }])
  })
})
