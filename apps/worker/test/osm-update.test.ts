import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorker, submit, until, type JobRecord, type TestWorker } from './harness.ts'
import { TOWN, townElements, townPbf } from './osm-town.ts'

let worker: TestWorker
beforeAll(async () => {
  worker = await openWorker()
  await mkdir(join(worker.folder, 'data'), { recursive: true })
})
afterAll(() => worker[Symbol.asyncDispose]())

async function run(task: string, body: object): Promise<JobRecord> {
  const { status, body: record } = await submit(worker, task, body)
  expect(record.message ?? status).toBe(202)
  return until(worker, record.links.self)
}

async function query(text: string): Promise<Record<string, unknown>[]> {
  return (await worker.db.database.query(text)).rows
}

async function importTown(prefix: string, content: Buffer, body: object = {}): Promise<JobRecord> {
  await writeFile(join(worker.folder, 'data', `${prefix}.osm.pbf`), content)
  const source = { kind: 'file', path: `${prefix}.osm.pbf` }
  return run('osmImportArea', { areaName: 'Town', aoiGeoJson: TOWN, tablePrefix: prefix, source, ...body })
}

describe('mode replace', () => {
  const topics = ['streets', 'places']

  test('puts newer tables in the place of those that are there, with their readers', async () => {
    await importTown('again', townPbf(), { topics })
    await worker.db.database.query(
      `grant select on again_streets to anon; alter table again_streets enable row level security;
       create policy "named ones" on again_streets for select to anon, public using (name <> 'Street 1');
       grant select on again_places to public`,
    )
    const rights = () =>
      query(
        `select relname, relacl::text, relrowsecurity, (select json_agg(p) from pg_policies p where tablename = relname)
         from pg_class where relname in ('again_streets', 'again_places') order by 1`,
      )
    const before = await rights()
    const fewer = townElements().filter(({ type, id }) => type !== 'way' || id !== 100)
    expect(await importTown('again', townPbf(fewer), { topics, mode: 'replace' })).toMatchObject({ status: 'success' })
    expect(await query('select count(*)::int from again_streets')).toEqual([{ count: 8 }])
    expect(await rights()).toEqual(before)
  })

  test('leaves all tables as they were where one of them cannot be replaced', async () => {
    await importTown('held', townPbf(), { topics })
    await worker.db.database.query('create view held_view as select name from held_streets')
    expect(await importTown('held', townPbf([]), { topics, mode: 'replace' })).toMatchObject({
      status: 'failed',
      error: { code: 'APPEND_FAILED', message: expect.stringContaining('held_streets') },
    })
    expect(await query('select count(*)::int from held_places')).toEqual([{ count: 1 }])
    await worker.db.database.query('drop view held_view; drop table held_streets; create view held_streets as select 1')
    const body = { areaName: 'Town', aoiGeoJson: TOWN, tablePrefix: 'held', topics, mode: 'replace' }
    expect(
      (await submit(worker, 'osmImportArea', { ...body, source: { kind: 'file', path: 'held.osm.pbf' } })).body,
    ).toMatchObject({ code: 'TABLE_EXISTS' })
  })
})
