// A function that is called by the events that it causes: the database → the worker → the functions host → the function →
// the origin → the database, each in a separate process.
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import { freePorts } from '@terrane/testing/ports'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { App } from '../src/apps.ts'
import { appsOf, local } from '../src/environments.ts'
import { makeKeys, type Keys } from '../src/keys.ts'

const NAMES = ['worker', 'functions', 'origin'] as const
const open = new AsyncDisposableStack()
let db: TestDatabase
let keys: Keys
let origin = ''

const add = (table: string) =>
  `fetch('http://project.internal/rest/v1/${table}', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })`
const FUNCTIONS: Readonly<Record<string, readonly [policy: object, code: string]>> = {
  'on-row': [{ auth: 'service' }, `export default async () => new Response((await ${add('rows')}).statusText)`],
  'on-message': [
    { auth: 'service', queue: 'again', batch: 5 },
    `export default async () => {
      await ${add('messages')}
      await terrane.queue('again').send({})
      return new Response('sent')
    }`,
  ],
  'on-step': [
    { auth: 'service', queue: 'long', max_chain: 12 },
    `export default async () => {
      await ${add('steps')}
      await terrane.queue('long').send({})
      return new Response('sent')
    }`,
  ],
  'on-kept': [
    { auth: 'service', queue: 'kept' },
    `export default async () => {
      await ${add('kept')}
      await (await Deno.openKv()).enqueue({})
      return new Response('sent')
    }`,
  ],
}

beforeAll(async () => {
  db = open.use(await openTestDatabase())
  await db.database.query(
    ['rows', 'messages', 'kept', 'steps']
      .map(
        (name) => `create table public.${name} (id serial primary key); grant all on public.${name} to service_role;
        grant all on sequence public.${name}_id_seq to service_role;`,
      )
      .join(''),
  )
  const home = await mkdtemp(join(tmpdir(), 'terrane-loops-'))
  open.defer(() => rm(home, { recursive: true, force: true }))
  // Otherwise a host that runs as root would keep its versions in another folder, which is not removed.
  await chmod(home, 0o711)
  for (const [name, [policy, code]] of Object.entries(FUNCTIONS)) {
    await mkdir(join(home, 'sources', name), { recursive: true })
    await writeFile(join(home, 'sources', name, 'function.json'), JSON.stringify(policy))
    await writeFile(join(home, 'sources', name, 'index.ts'), code)
  }
  keys = await makeKeys('demo')
  const [worker, functions, originPort, router, console, database] = (await freePorts(6)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  origin = local(originPort)
  const settings = {
    home,
    projectRef: 'demo',
    ports: { worker, functions, origin: originPort, router, console, database },
    databaseUrl: db.url,
    databaseSync: 'soon',
    logLevel: 'silent',
  } as const
  const apps = new Map(appsOf(settings, keys, { town: '', dataRoots: home, databaseUrl: db.url }))
  for (const name of NAMES) {
    const env = { ...apps.get(name)!, TERRANE_OSM_SOURCE: 'geofabrik', TERRANE_FUNCTIONS_DIR: join(home, 'sources') }
    const app = await App.start(name, env, () => {})
    open.defer(() => app.stop())
  }
}, 120_000)
afterAll(() => open.disposeAsync())

const count = async (table: string) =>
  (await db.database.query<{ n: number }>(`select count(*)::integer as n from public.${table}`)).rows[0]!.n
const dead = async (lane: string) =>
  (
    await db.database.query<{ attempts: number; error: string }>(
      'select attempts, error from terrane.events where dead_at is not null and lane like $1',
      [lane],
    )
  ).rows
const RECURSION = [{ attempts: 1, error: expect.stringMatching(/^FUNCTION_RECURSION: .* max_chain /) as string }]
const WAIT = { timeout: 100_000, interval: 200 }

describe(`a function that causes the event by which it is called is stopped after a chain of 8, or of its max_chain (${testLane()})`, () => {
  test('by changes of its own table', async () => {
    const headers = {
      apikey: keys.serviceRoleKey,
      authorization: `Bearer ${keys.serviceRoleKey}`,
      'content-type': 'application/json',
    }
    const made = await fetch(`${origin}/worker/table-hooks`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ table: 'rows', function: 'on-row' }),
    })
    expect(made.status).toBe(201)
    await db.database.query('insert into public.rows default values')
    await expect.poll(() => dead('hook:%'), WAIT).toEqual(RECURSION)
    // The first row is from outside; the events of the next eight have the depths 1 to 8, and that of the last has 9.
    expect(await count('rows')).toBe(1 + 9)
  }, 120_000)

  test.each([
    ['again', 'messages', 9, 'by terrane.queue'],
    ['kept', 'kept', 9, 'by Deno.Kv.enqueue'],
    ['long', 'steps', 13, 'by terrane.queue with a longer chain'],
  ])(
    'by messages of its own queue %s, which it writes to %s, %i times, and sends %s',
    async (queue, table, calls) => {
      await db.database.query('select terrane.send($1, $2)', [queue, '{}'])
      await expect.poll(() => dead(`queue:${queue}`), WAIT).toEqual(RECURSION)
      expect(await count(table)).toBe(calls)
    },
    120_000,
  )
})
