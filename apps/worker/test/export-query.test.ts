import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { openStore, type ObjectStore } from '@terrane/storage'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HEADERS, openWorker, submit, until, type TestWorker } from './harness.ts'

let worker: TestWorker
let store: ObjectStore

beforeAll(async () => {
  worker = await openWorker()
  store = openStore(worker.env['TERRANE_STORAGE']!)
  await store.createBucket('files', { public: false, fileSizeLimit: null, allowedMimeTypes: null })
  await worker.db.database.query(
    `create table towns (id int4 primary key, name text, people int8, price numeric(12, 2), geom geometry(Point, 4326));
     grant select on towns to service_role;
     insert into towns values (1, 'Köln', 9007199254740993, 1.50, 'SRID=4326;POINT(6.95 50.93)'), (2, 'Bonn', 3, null, null);
     create table secrets (id int4); revoke all on secrets from service_role`,
  )
})
afterAll(() => worker[Symbol.asyncDispose]())

const storagePath = { bucket: 'files', path: 'out.geojsonl' }

async function exported(query: string, more: object = {}) {
  const { status, body } = await submit(worker, 'exportTable', { query, format: 'GeoJSONSeq', storagePath, ...more })
  if (status !== 202) return { refused: [status, body.code, body.message] as const }
  return { done: await until(worker, body.links.self) }
}

async function text(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of (await store.get('files', storagePath.path, {})).body) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

test('the rows of a query are a file, with its columns and the place of each', async () => {
  const { done } = await exported(
    `with big as (select * from towns) select id, upper(name) as name, people, price, geom from big order by id -- all of them`,
  )
  expect(done).toMatchObject({ status: 'success', result: { rows: 2, format: 'GeoJSONSeq', warnings: [] } })
  expect((await text()).trim().split('\n')).toEqual([
    '{"type":"Feature","properties":{"id":1,"name":"KÖLN","people":9007199254740993,"price":1.50},"geometry":{"type":"Point","coordinates":[6.95,50.93]}}',
    '{"type":"Feature","properties":{"id":2,"name":"BONN","people":3,"price":null},"geometry":null}',
  ])
})

test('a query without a geometry, and one with columns that are chosen', async () => {
  expect((await exported('select id, name from towns where id = 1', { columns: ['name'] })).done).toMatchObject({
    result: { rows: 1 },
  })
  expect(await text()).toBe('{"type":"Feature","properties":{"name":"Köln"},"geometry":null}\n')
})

describe('is refused at submit:', () => {
  test.each([
    ['two statements', 'select 1 as a; drop table towns'],
    [
      'two statements that close the bracket',
      'select 1 as a) as source; drop table towns; select 1 from (select 1 as a',
    ],
    ['a change', 'delete from towns returning *'],
    ['a change within', 'with gone as (delete from towns returning *) select * from gone'],
    ['what is no SQL', 'give me all'],
    ['a table that is not there', 'select * from nothing'],
    ['a table that service_role may not read', 'select * from secrets'],
    ['two columns of one name', 'select 1 as a, 2 as a'],
    ['an open comment', 'select 1 as a /*'],
    ['an open quote', `select 'a`],
  ])('%s', async (_, query) => {
    const { refused } = await exported(query)
    expect(refused?.slice(0, 2)).toEqual([422, 'QUERY_REFUSED'])
    const { rows } = await worker.db.database.query('select count(*)::int as n from towns')
    expect(rows).toEqual([{ n: 2 }])
  })

  test('a table and a query, and neither', async () => {
    expect((await exported('select 1 as a', { table: 'towns' })).refused?.slice(0, 2)).toEqual([422, 'TABLE_OR_QUERY'])
    const { body } = await submit(worker, 'exportTable', { format: 'CSV', storagePath })
    expect(body.code).toBe('TABLE_OR_QUERY')
  })
})

test('a change that a function would make fails, because the transaction only reads', async () => {
  await worker.db.database.query(
    `create function sneak() returns int language sql volatile security definer as $$ insert into towns (id) values (9) returning id $$`,
  )
  const { done } = await exported('select sneak() as a')
  expect(done).toMatchObject({ status: 'failed', error: { code: 'QUERY_REFUSED' } })
  expect(done?.error?.message).toContain('read-only')
})

test('a query that takes longer than its time ends', async () => {
  const { done } = await exported('select pg_sleep(30)::text as a', { queryTimeoutSeconds: 1 })
  expect(done).toMatchObject({ status: 'failed', error: { code: 'QUERY_TIMEOUT' } })
})

test('a job that streams a query without an end is cancelled', async () => {
  const query = `select repeat('e', 1000) as e, generate_series(1, 1000000000) as n`
  const { body } = await submit(worker, 'exportTable', { query, format: 'CSV', storagePath })
  // On the embedded database the job holds the one session by now, so that its record cannot be read.
  const bytesWritten = async () => {
    const names = await readdir(worker.env['TERRANE_WORK_DIR']!, { recursive: true })
    const name = names.find((one) => one.endsWith('export.bin'))
    return name === undefined ? 0 : (await stat(join(worker.env['TERRANE_WORK_DIR']!, name))).size
  }
  await expect.poll(bytesWritten, { timeout: 60_000 }).toBeGreaterThan(0)
  const stopped = await worker.app.inject({ method: 'DELETE', url: body.links.self, headers: HEADERS })
  expect([200, 202]).toContain(stopped.statusCode)
  expect(await until(worker, body.links.self)).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
})
