import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { ChangingMap, MAP_BOX } from '@terrane/testing/changing-map'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorker, submit, until, type JobRecord, type TestWorker } from './harness.ts'
import { TOWN, boxOf, townElements, townPbf } from './osm-town.ts'

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

  test('puts newer tables in the place of earlier ones, with their readers', async () => {
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

/** Rows of each table of an import without their own ids, in order. */
async function tablesOf(prefix: string): Promise<Record<string, unknown>> {
  const names = await query(
    `select table_name as name from terrane.imports where starts_with(table_name, '${prefix}_') order by 1`,
  )
  const found: Record<string, unknown> = {}
  for (const { name } of names as { name: string }[]) {
    const rows = await query(
      `select to_jsonb(t) - 'id' - 'geom' as row, encode(st_asewkb(geom), 'hex') as geom from ${name} t
       order by osm_type, osm_id, to_jsonb(t) ->> 'part'`,
    )
    const [kept] = await query(`select rows::int from terrane.imports where table_name = '${name}'`)
    found[name.slice(prefix.length + 1)] = { rows, kept: kept?.['rows'] }
  }
  return found
}

async function changeFiles(...contents: string[]): Promise<object> {
  const files = await Promise.all(
    contents.map(async (content, i) => {
      const path = `change-${i}.osc${i % 2 === 0 ? '' : '.gz'}`
      await writeFile(join(worker.folder, 'data', path), i % 2 === 0 ? content : gzipSync(content))
      return { kind: 'file', path }
    }),
  )
  return { kind: 'files', files }
}

describe('an import that is updatable', () => {
  const area = boxOf(MAP_BOX[0] + 0.02, MAP_BOX[1] + 0.02, MAP_BOX[2] - 0.03, MAP_BOX[3] - 0.01)
  const options = {
    aoiGeoJson: area,
    topics: ['buildings', 'streets', 'water', 'boundaries', 'places'],
    updatable: true,
  }

  test.for([
    ['whole features', {}],
    ['cut ones', { clip: true }],
  ] as const)('equals an import of the newer extract after each job: %s', async ([, more]) => {
    const map = new ChangingMap(5, 10)
    const prefix = `u${Object.keys(more).length}`
    const body = { ...options, ...more }
    expect(await importTown(prefix, townPbf(map.elements()), body)).toMatchObject({ status: 'success' })
    for (let round = 0; round < 2; round++) {
      const source = await changeFiles(map.change(8), map.change(20))
      const job = await run('osmUpdateArea', { tablePrefix: prefix, source })
      expect(job).toMatchObject({ status: 'success', result: { files: 2 } })
      await importTown(`${prefix}fresh`, townPbf(map.elements()), { ...body, mode: 'replace', updatable: false })
      expect(await tablesOf(prefix)).toEqual(await tablesOf(`${prefix}fresh`))
    }
  })
})
