// Slow: waits for the memory of each app to settle between requests.
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { testLane } from '@terrane/database/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openHouse, settingsOf, type House } from '../support/house.ts'
import type { Probe } from '../support/prober.worker.ts'

const MIB = 1024 * 1024
/** Most memory that one request may take beyond what its app holds when idle. */
const MOST_BYTES = 300 * MIB
/** PostgREST answers a statement that took too long with 500 and this code. */
const TIMED_OUT = '57014'
const JSON_TYPE = { 'content-type': 'application/json' }

const SETUP = `
  create extension if not exists postgis;
  create table public.big (id int primary key, name text, parts text[], geom geometry(Geometry, 4326), raw bytea);
  insert into public.big
    select 1, repeat('x', 1000000), array_fill(repeat('y', 1000), array[1000]),
      st_setsrid(st_buffer(st_point(9, 48), 1, 50000), 4326), decode(repeat('00', 1000000), 'hex');
  create table public.many (id int primary key, name text, geom geometry(Point, 4326));
  insert into public.many
    select i, repeat('z', 2000), st_setsrid(st_point(9 + i / 1e6, 48), 4326) from generate_series(1, 60000) i;
  create table public.wide (${Array.from({ length: 1500 }, (_, i) => `c${i} text`).join(', ')});
  insert into public.wide select ${Array.from({ length: 1500 }, () => `'ww'`).join(', ')} from generate_series(1, 500);
  create function public.endless() returns setof public.many language sql as
    $$ select m.* from public.many m, generate_series(1, 100000) $$;
  create function public.one_text() returns text language sql as $$ select repeat('q', 200000000) $$;
  grant all on all tables in schema public to service_role, anon; grant execute on all functions in schema public to service_role, anon;
  notify pgrst, 'reload schema';
`
const aliases = (column: string, count: number) => Array.from({ length: count }, (_, i) => `a${i}:${column}`).join(',')
const rows = (count: number, bytes: number) =>
  JSON.stringify(Array.from({ length: count }, (_, i) => ({ id: 1_000_000 + i, name: 'v'.repeat(bytes) })))

type Asked = Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> }

/** Requests that ask for as much as they can, and the app that answers. */
const REQUESTS: Readonly<Record<string, readonly [app: string, path: string, init?: Asked]>> = {
  'one large value under many names': ['origin', `/rest/v1/big?id=eq.1&select=${aliases('name', 500)}`],
  'one large value with casts': ['origin', `/rest/v1/big?id=eq.1&select=${aliases('parts::text', 400)}`],
  'a large geometry under many names': ['origin', `/rest/v1/big?id=eq.1&select=${aliases('geom', 200)}`],
  'bytes as text under many names': ['origin', `/rest/v1/big?id=eq.1&select=${aliases('raw', 300)}`],
  'all rows of a large table': ['origin', '/rest/v1/many'],
  '1,500 columns of all rows': ['origin', '/rest/v1/wide'],
  'rows without end of a function': ['origin', '/rest/v1/rpc/endless'],
  'one text of 200 MB of a function': ['origin', '/rest/v1/rpc/one_text'],
  'an export of columns without end': ['origin', `/export/v1/public.big?format=CSV&columns=${'name,'.repeat(1500)}id`],
  'an export of a large table': ['origin', '/export/v1/public.many?format=FlatGeobuf'],
  'a tile of a large table': ['origin', '/vector/v1/public.many/0/0/0.mvt'],
  'a tile of a large geometry': ['origin', '/vector/v1/public.big/0/0/0.mvt'],
  'an insert that comes back': [
    'origin',
    '/rest/v1/many',
    { method: 'POST', body: rows(800, 10_000), headers: { prefer: 'return=representation' } },
  ],
  'a regular expression of large repetitions': ['origin', '/rest/v1/many?name=match.(z{1,200}){1,200}'],
  'a job that exports a query without end': [
    'worker',
    '/jobs/exportTable',
    {
      method: 'POST',
      body: JSON.stringify({
        query: `select repeat('e', 1000000) as e from generate_series(1, 2000)`,
        format: 'CSV',
        storagePath: { bucket: 'out', path: 'e.csv' },
      }),
    },
  ],
  'a function that gets a large body': [
    'functions',
    '/functions/v1/open',
    { method: 'POST', body: 'b'.repeat(9 * MIB) },
  ],
}

describe(`the worst requests (${testLane()})`, () => {
  const opened = new AsyncDisposableStack()
  const probes: Probe[] = []
  let house: House
  beforeAll(async () => {
    house = await openHouse(opened, settingsOf(100_000))
    await house.db.database.query(SETUP)
    const prober = new Worker(new URL('../support/prober.worker.ts', import.meta.url), {
      workerData: house.apps.map(({ name, url }) => ({ name, url })),
    })
    prober.on('message', (probe: Probe) => probes.push(probe))
    opened.defer(async () => void (await prober.terminate()))
    const headers = { ...house.credentials('origin', 'owner'), ...JSON_TYPE }
    const init = { method: 'POST', headers, body: JSON.stringify({ id: 'out', name: 'out' }) }
    await fetch(`${house.app('origin').url}/storage/v1/bucket`, init)
  }, 300_000)
  afterAll(() => opened.disposeAsync())

  const memory = (app: string) => house.metric(app, 'process_resident_memory_bytes')

  /** Memory of an app with its garbage collected. */
  async function idle(app: string): Promise<number> {
    await house.app(app).collect()
    await sleep(500)
    await house.app(app).collect()
    return memory(app)
  }

  test.each(Object.entries(REQUESTS))('%s', { timeout: 300_000 }, async (name, [app, path, init = {}]) => {
    const before = await idle(app)
    probes.length = 0
    let peak = before
    const answered = new AbortController()
    const watching = (async () => {
      while (!answered.signal.aborted) {
        peak = Math.max(peak, await memory(app))
        await sleep(50)
      }
    })()
    const headers = { ...house.credentials(app, 'owner'), ...JSON_TYPE, ...init.headers }
    const answers = await Promise.all(
      Array.from({ length: 2 }, async () => {
        const response = await fetch(`${house.app(app).url}${path}`, { ...init, headers }).catch(() => null)
        let bytes = 0
        let begin = ''
        try {
          for await (const chunk of response?.body ?? []) {
            bytes += (chunk as Uint8Array).length
            begin ||= Buffer.from(chunk as Uint8Array).toString('latin1', 0, 300)
          }
        } catch {
          // An answer that is too long for its limit ends within.
        }
        return { status: response?.status ?? 0, bytes, begin }
      }),
    )
    // A job goes on after its answer.
    if (answers.some(({ status }) => status === 202)) await sleep(10_000)
    answered.abort()
    await watching
    const late = Math.max(0, ...probes.filter((probe) => probe.app === app).map(({ ms }) => ms))
    process.stdout.write(
      `${name}: ${answers.map(({ status, bytes }) => `${status} ${Math.round(bytes / MIB)} MiB`).join(', ')}; ` +
        `memory + ${Math.round((peak - before) / MIB)} MiB, live at most ${Math.round(late)} ms late\n`,
    )
    expect(house.apps.filter(({ isAlive }) => !isAlive).map((one) => one.name)).toEqual([])
    expect(
      answers.filter(({ status, begin }) => status === 0 || (status >= 500 && !begin.includes(TIMED_OUT))),
    ).toEqual([])
    expect(peak - before).toBeLessThan(MOST_BYTES)
  })
})
