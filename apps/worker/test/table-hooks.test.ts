import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testLane } from '@terrane/database/testing'
import { Webhook as Verifier } from 'standardwebhooks'
import { HEADERS, KEY, openWorker, submit, type TestWorker, until } from './harness.ts'
import { fakeTask } from './fake-tasks.ts'

interface Heard {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

interface Change {
  readonly type: string
  readonly record: { readonly id: number; readonly v: number } | null
  readonly old_record: { readonly id: number; readonly v: number } | null
  readonly truncated?: boolean
}

interface Answer {
  readonly id: string
  readonly secret: string
  readonly code: string
  readonly url: string
  readonly count: number
  readonly waiting: number
  readonly dead: number
  readonly links: { readonly self: string; readonly deadLetters: string }
  readonly data: { readonly id: string; readonly key: string; readonly error: string }[]
}

let receiver: Server
let url: string
let worker: TestWorker
let heard: Heard[] = []
/** Status of the answer; null: there is none. */
let answer: (heard: Heard) => number | null = () => 204
beforeAll(async () => {
  receiver = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      const message = { path: request.url!, headers: request.headers, body }
      const status = answer(message)
      if (status === null) return
      if (status < 300) heard.push(message)
      response.writeHead(status, status === 508 ? { 'x-error-code': 'FUNCTION_RECURSION' } : {}).end()
    })
  })
  await once(receiver.listen(0, '127.0.0.1'), 'listening')
  const base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  url = `${base}/hook`
  worker = await openWorker({
    tasks: [fakeTask()],
    env: { TERRANE_FETCH_ALLOW_HOSTS: new URL(url).host, TERRANE_FUNCTIONS_URL: `${base}/` },
  })
})
afterAll(async () => {
  await worker[Symbol.asyncDispose]()
  receiver.closeAllConnections()
  receiver.close()
})
beforeEach(async () => {
  heard = []
  answer = () => 204
  await sql(`create table public.things (id int primary key, v int, note text);
    grant select, insert, update on public.things to anon;
    alter table public.things enable row level security;
    create policy ofAnon on public.things to anon using (v < 100) with check (v < 100)`)
})
afterEach(async () => {
  for (const { links } of (await ask('GET', '/table-hooks')).body.data as unknown as Answer[])
    await ask('DELETE', links.self)
  await sql('drop table public.things')
})

const sql = (text: string) => worker.db.database.query(text)
const as = (role: string, text: string) =>
  worker.db.database.transaction(async (session) => {
    await session.query(`set local role ${role}`)
    await session.query(text)
  })

async function ask(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, payload?: object, headers = HEADERS) {
  const response = await worker.app.inject({ method, url: path, headers, ...(payload && { payload }) })
  return { status: response.statusCode, body: (response.body === '' ? null : response.json()) as Answer }
}

const make = async (body: object = {}) => {
  const made = await ask('POST', '/table-hooks', { table: 'things', url, ...body })
  expect(made).toMatchObject({ status: 201 })
  return made.body
}
const changes = () => heard.map(({ body }) => JSON.parse(body) as Change)
const hearing = (count: number) => expect.poll(() => heard.length, { timeout: 20_000 }).toBe(count)
/** Has what waits for its next attempt tried now. */
const hurry = () => sql('update terrane.events set due_at = clock_timestamp()')

describe(`table hooks (${testLane()})`, () => {
  test('tell of each change of a row in order, in the shape of database webhooks, signed', async () => {
    const hook = await make()
    await sql(`insert into things values (1, 1, 'a')`)
    await sql('update things set v = 2')
    await sql('delete from things')
    await hearing(3)
    expect(changes()).toEqual([
      { type: 'INSERT', schema: 'public', table: 'things', record: { id: 1, v: 1, note: 'a' }, old_record: null },
      {
        type: 'UPDATE',
        schema: 'public',
        table: 'things',
        record: { id: 1, v: 2, note: 'a' },
        old_record: { id: 1, v: 1, note: 'a' },
      },
      { type: 'DELETE', schema: 'public', table: 'things', record: null, old_record: { id: 1, v: 2, note: 'a' } },
    ])
    // The verifier is that of the specification's authors.
    for (const { body, headers } of heard)
      expect(() => new Verifier(hook.secret).verify(body, headers as Record<string, string>)).not.toThrow()
    expect(new Set(heard.map(({ headers }) => headers['webhook-id'])).size).toBe(3)
    await expect.poll(async () => (await ask('GET', hook.links.self)).body.waiting).toBe(0)
  })

  test('call a function of the project with its service key', async () => {
    expect((await make({ url: undefined, function: 'on-thing' })).url).toBe('/functions/v1/on-thing')
    await sql('insert into things values (1, 1)')
    await hearing(1)
    expect(heard[0]).toMatchObject({ path: '/functions/v1/on-thing', headers: { authorization: `Bearer ${KEY}` } })
  })

  test('tell of what any role writes, and of nothing that is rolled back or refused', async () => {
    await make()
    await as('anon', 'insert into things values (1, 1)')
    await expect(as('anon', 'insert into things values (2, 200)')).rejects.toThrow('row-level security')
    await expect(sql('insert into things values (3, 1); select 1 / 0')).rejects.toThrow('division by zero')
    await sql(
      'begin; insert into things values (4, 1); savepoint s; insert into things values (5, 1); rollback to s; commit',
    )
    await hearing(2)
    await expect.poll(async () => (await sql('select from terrane.events')).rowCount).toBe(0)
    expect(new Set(changes().map(({ record }) => record!.id))).toEqual(new Set([1, 4]))
  })

  test('give no role of the project a right to read or write events', async () => {
    const { id } = await make({ paused: true })
    for (const role of ['anon', 'authenticated', 'service_role']) {
      for (const text of [
        'select * from terrane.events',
        `insert into terrane.events (lane, body) values ('hook:${id}', '{}')`,
        'delete from terrane.events',
      ])
        await expect(as(role, text)).rejects.toThrow(/permission denied/)
      await sql(`grant create on schema public to ${role}`)
      await expect(
        as(
          role,
          `create table forged (id int); create trigger t after insert on forged for each row
             execute function terrane.record_change('hook:${id}', '{id}', '{}', '{}')`,
        ),
      ).rejects.toThrow(/permission denied/)
      await sql(`revoke create on schema public from ${role}`)
    }
  })

  test('can be narrowed to kinds of changes, columns and values', async () => {
    await make({ events: ['UPDATE'], columns: ['v'], where: { note: 'paid' } })
    await sql(`insert into things values (1, 1, 'open'), (2, 1, 'paid')`)
    await sql('update things set note = note')
    await sql('update things set v = 2')
    await hearing(1)
    expect(changes()[0]).toMatchObject({ type: 'UPDATE', record: { id: 2, v: 2 } })
  })

  test('tell a row that is too large by its key', async () => {
    await make()
    await sql(`insert into things select 1, 1, repeat('x', 300000)`)
    // Stored bytes: noise that is not compressed.
    await sql(`insert into things select 2, 1, string_agg(md5(i::text), '') from generate_series(1, 60000) i`)
    await hearing(2)
    for (const { body } of heard) expect(body.length).toBeLessThan(1000)
    expect(changes().toSorted((a, b) => a.record!.id - b.record!.id)).toEqual([
      expect.objectContaining({ record: { id: 1 }, old_record: null, truncated: true }),
      expect.objectContaining({ record: { id: 2 }, old_record: null, truncated: true }),
    ])
  })

  test('try again, in order; a row that fails holds up no other, ends as a dead letter and can be sent again', async () => {
    answer = ({ body }) => ((JSON.parse(body) as Change).record!.id === 1 ? 500 : 204)
    const hook = await make({ attempts: 2 })
    await sql('insert into things select i, 0 from generate_series(1, 3) i')
    await sql('update things set v = 1')
    await hearing(4)
    const dead = async () => (await ask('GET', hook.links.deadLetters)).body.data
    await expect.poll(async () => (await hurry(), (await dead()).length), { timeout: 20_000 }).toBe(2)
    expect(await dead()).toEqual([
      expect.objectContaining({ key: '[1]', error: 'HTTP status 500', attempts: 2 }),
      expect.objectContaining({ key: '[1]', error: 'HTTP status 500', attempts: 2 }),
    ])
    answer = () => 204
    expect((await ask('POST', '/dead-letters/resend', { ids: [(await dead())[1]!.id] })).body.count).toBe(1)
    await hearing(5)
    expect((await ask('POST', '/dead-letters/resend', { lane: 'hook:of another' })).body.count).toBe(0)
    expect((await ask('POST', '/dead-letters/delete', { lane: `hook:${hook.id}` })).body.count).toBe(1)
    expect(await dead()).toEqual([])
    for (const id of [1, 2, 3]) {
      const versions = changes().filter(({ record }) => record?.id === id).map(({ record }) => record!.v) // prettier-ignore
      expect(versions).toEqual(id === 1 ? [0] : [0, 1])
    }
  })

  test('carry the depth of the chain that changed the row, and give a chain up that is too long', async () => {
    const signed = (depth: number) => `${depth}.${'s'.repeat(43)}`
    const ofSteps = `1.7.${'s'.repeat(43)}`
    const hook = await make({ url: undefined, function: 'loop' })
    await make()
    answer = ({ headers, path }) =>
      path === '/functions/v1/loop' && headers['x-terrane-depth'] === signed(9) ? 508 : 204
    const change = (depth: string, id: number) =>
      worker.db.database.transaction(async (session) => {
        await session.query(`select set_config('terrane.depth', $1, true)`, [depth])
        await session.query('insert into things values ($1, 1)', [id])
      })
    await change(signed(2), 1)
    await change(signed(9), 2)
    await sql('insert into things values (3, 1)')
    await change('1.no\nsignature', 4)
    await change(ofSteps, 5)
    const dead = () => sql('select key, attempts, error, depth from terrane.events where dead_at is not null')
    await expect
      .poll(async () => (await dead()).rows, { timeout: 20_000 })
      .toEqual([{ key: '[2]', attempts: 1, error: expect.stringContaining('FUNCTION_RECURSION'), depth: signed(9) }])
    await hearing(9)
    const depths = (of: string) =>
      heard.filter(({ path }) => path === of).map(({ headers }) => headers['x-terrane-depth'])
    expect(new Set(depths('/functions/v1/loop'))).toEqual(new Set([signed(2), ofSteps, undefined]))
    // An address outside is told nothing of it.
    expect(depths('/hook')).toEqual(Array(5).fill(undefined))
    // An event that is sent again by hand begins a chain.
    await ask('POST', '/dead-letters/resend', { lane: hook.links.deadLetters.split('lane=')[1] })
    await hearing(10)
  })

  test('wait for a function as long as it may take itself', async () => {
    const policy = JSON.stringify({ schedule: [], timeout_ms: 100 })
    await sql(`insert into terrane.served_functions select id, 'slow', '${policy}' from terrane.projects`)
    answer = () => null
    await make({ url: undefined, function: 'slow' })
    await sql('insert into things values (1, 1)')
    const errors = async () => (await sql('select error from terrane.events where error is not null')).rows
    await expect.poll(errors, { timeout: 20_000 }).toEqual([{ error: expect.stringContaining('within 5 s') }])
    await sql('delete from terrane.served_functions')
  })

  test('are silent while paused, and when deleted', async () => {
    const hook = await make()
    await ask('PATCH', hook.links.self, { paused: true })
    await sql('insert into things values (1, 1)')
    await ask('PATCH', hook.links.self, { paused: false })
    await sql('insert into things values (2, 1)')
    await hearing(1)
    expect(changes()[0]!.record!.id).toBe(2)
    expect((await ask('DELETE', hook.links.self)).status).toBe(204)
    await sql('insert into things values (3, 1)')
    expect((await sql('select from terrane.events')).rowCount).toBe(0)
    expect((await ask('GET', hook.links.self)).body.code).toBe('TABLE_HOOK_NOT_FOUND')
  })

  test('hold for a table that was replaced', async () => {
    await make()
    await sql('drop table things; create table public.things (id int primary key, v int, note text)')
    // A change of the hooks has triggers looked at now instead of within half a minute.
    await make({ events: ['DELETE'] })
    const triggers = `select from pg_trigger where tgrelid = 'public.things'::regclass`
    await expect.poll(async () => (await sql(triggers)).rowCount, { timeout: 20_000 }).toBe(2)
    await sql('insert into things values (1, 1)')
    await hearing(1)
  })

  test('are taken off a table that was renamed, and follow one that takes its name', async () => {
    const hook = await make()
    const triggers = async () =>
      (await sql(`select tgrelid::regclass::text as of from pg_trigger where tgname like 'zz_terrane_hook_%'`)).rows
    await sql('create schema shelf; alter table things rename to old; alter table old set schema shelf')
    await ask('PATCH', hook.links.self, { paused: true })
    expect(await triggers()).toEqual([])
    await sql('alter table shelf.old set schema public; alter table old rename to things')
    await ask('PATCH', hook.links.self, { paused: false })
    await sql('alter table things rename to old; create table public.things (id int primary key, v int)')
    await make({ events: ['DELETE'] })
    await expect.poll(triggers, { timeout: 20_000 }).toEqual([{ of: 'things' }, { of: 'things' }])
    await sql('drop table things; drop schema shelf; alter table old rename to things')
    await expect.poll(triggers, { timeout: 40_000 }).toHaveLength(0)
  })

  test('let every write pass that is legal: what is no JSON is told by its key', async () => {
    await sql(`create table public.odd (id int primary key, shape geometry, text json)`)
    await make({ table: 'odd' })
    await sql(`insert into odd values (1, 'CIRCULARSTRING(0 0, 1 1, 2 0)', null)`)
    await sql(`insert into odd values (2, null, '{"a": "\\u0000"}')`)
    await sql(`alter table odd rename id to number; insert into odd values (3, 'CIRCULARSTRING(0 0, 1 1, 2 0)', null)`)
    await hearing(3)
    const [first, second, third] = changes().toSorted((a, b) => (a.record!.id ?? 9) - (b.record!.id ?? 9))
    expect([first, second]).toMatchObject([1, 2].map((id) => ({ record: { id }, truncated: true })))
    expect(third).toMatchObject({ record: {}, truncated: true })
    // A look at the triggers puts this one on with the key's new name.
    await make({ events: ['DELETE'] })
    const given = async () =>
      (await sql(`select encode(tgargs, 'escape') as given from pg_trigger where tgrelid = 'odd'::regclass`)).rows
    await expect.poll(async () => String((await given())[0]!['given']), { timeout: 20_000 }).toContain('{"number"}')
    await sql('drop table odd')
  })

  test('tell the changes of partitions as those of their table', async () => {
    await sql(`create table public.parted (id int primary key, v int) partition by range (id);
      create table public.low partition of parted for values from (0) to (10)`)
    await make({ table: 'parted' })
    await sql('insert into parted values (1, 1)')
    await hearing(1)
    expect(changes()[0]).toMatchObject({ table: 'parted', schema: 'public', record: { id: 1 } })
    await sql('drop table parted')
  })

  test('are refused where they cannot work', async () => {
    await sql('create table public.keyless (id int); create view public.seen as select 1 as id')
    const refusals: [object, string][] = [
      [{ table: 'keyless' }, 'TABLE_NOT_HOOKED'],
      [{ table: 'seen' }, 'TABLE_NOT_HOOKED'],
      [{ table: 'nothing"; drop table things; --' }, 'TABLE_NOT_HOOKED'],
      [{ table: '\u0000' }, 'VALIDATION_FAILED'],
      [{ schema: 'terrane', table: 'jobs' }, 'SCHEMA_NOT_ALLOWED'],
      [{ columns: ['nothing'] }, 'COLUMN_UNKNOWN'],
      [{ where: { nothing: 1 } }, 'COLUMN_UNKNOWN'],
      [{ where: { note: ['\u0000'] } }, 'WHERE_INVALID'],
      [{ where: { note: '\ud800' } }, 'WHERE_INVALID'],
      [{ url: 'http://169.254.169.254/' }, 'URL_REFUSED'],
      [{ function: 'both' }, 'TARGET_REQUIRED'],
      [{ url: undefined }, 'TARGET_REQUIRED'],
      [{ url: undefined, function: '../secret' }, 'VALIDATION_FAILED'],
    ]
    for (const [body, code] of refusals) {
      const { status, body: said } = await ask('POST', '/table-hooks', { table: 'things', url, ...body })
      expect([body, status, said.code]).toEqual([body, 422, code])
    }
    await sql('drop table public.keyless; drop view public.seen')
    expect((await sql('select from things')).rowCount).toBe(0)
    expect((await ask('GET', `/dead-letters?cursor=${'9'.repeat(19)}`)).status).toBe(422)
    expect((await ask('GET', '/table-hooks?projectRef=other')).body.code).toBe('PROJECT_NOT_FOUND')
    expect((await ask('GET', '/dead-letters', undefined, { apikey: 'x', authorization: 'Bearer x' })).status).toBe(401)
  })

  test('names and values with quotes are names and values', async () => {
    await sql(`create table public."O'Neil ""x""" ("k'e""y" text primary key, "a,b{}\\" text)`)
    const table = `O'Neil "x"`
    await make({ table, columns: ['a,b{}\\'], where: { [`k'e"y`]: `it's "this"` } })
    await sql(`insert into public."O'Neil ""x""" values ('it''s "this"', 'a'), ('other', 'a')`)
    await sql(`update public."O'Neil ""x""" set "a,b{}\\" = 'b'`)
    await hearing(2)
    expect(changes().map(({ type }) => type)).toEqual(['INSERT', 'UPDATE'])
    await sql(`drop table public."O'Neil ""x"""`)
  })

  test('the end of a job calls a function, too', async () => {
    const { status, body } = await ask('POST', '/webhooks', { function: 'on-job-end' })
    expect([status, body.url]).toEqual([201, '/functions/v1/on-job-end'])
    const { body: job } = await submit(worker, 'createGeoEmbeddings', { tableName: 'told_by_function', steps: 1 })
    await until(worker, job.links.self)
    await hearing(1)
    expect(heard[0]).toMatchObject({ path: '/functions/v1/on-job-end', headers: { authorization: `Bearer ${KEY}` } })
    expect(JSON.parse(heard[0]!.body)).toMatchObject({ type: 'job.succeeded', data: { id: job.id } })
    await ask('DELETE', body.links.self)
  })
})
