// Slow: each case imports a map and updates it in jobs.
import { mkdir, mkdtemp, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beginRun } from '@terrane/database/staging'
import { createGuardedFetch, createLogger } from '@terrane/service'
import { openStore } from '@terrane/storage'
import { ChangingMap, MAP_BOX } from '@terrane/testing/changing-map'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { osmUpdateArea } from '../src/jobs/osm-update-area.ts'
import { osmImportSettings } from '../src/jobs/osm/settings.ts'
import { NO_CHECKPOINT } from '../src/jobs/task.ts'
import { openWorker, retryAtOnce, submit, until, type JobRecord, type TestWorker } from './harness.ts'
import { TOWN, boxOf, townElements, townPbf } from './osm-town.ts'

let worker: TestWorker
let server: Server
let base: string
/** Files of the server of change files by path. */
const files = new Map<string, string | Uint8Array | (() => Promise<string>)>()
beforeAll(async () => {
  server = createServer((request, response) => {
    const file = files.get(request.url ?? '')
    if (file === undefined) return void response.writeHead(404).end()
    void Promise.resolve(typeof file === 'function' ? file() : file).then((content) => response.end(content))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  base = `http://127.0.0.1:${port}`
  worker = await openWorker({ env: { TERRANE_FETCH_ALLOW_HOSTS: `127.0.0.1:${port}` } })
  await retryAtOnce(worker)
  await mkdir(join(worker.folder, 'data'), { recursive: true })
})
afterAll(async () => {
  server.close()
  await worker[Symbol.asyncDispose]()
})

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
  const written = await Promise.all(
    contents.map(async (content, i) => {
      const path = `change-${i}.osc${i % 2 === 0 ? '' : '.gz'}`
      await writeFile(join(worker.folder, 'data', path), i % 2 === 0 ? content : gzipSync(content))
      return { kind: 'file', path }
    }),
  )
  return { kind: 'files', files: written }
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

/** A node of the town that is a place, as an OsmChange document. */
function place(id: number, lon: number, lat: number, action = 'modify'): string {
  const tags = `<tag k="place" v="village"/><tag k="name" v="Place ${id}"/>`
  return `<osmChange><${action}><node id="${id}" version="2" lon="${lon}" lat="${lat}">${tags}</node></${action}></osmChange>`
}

function state(sequence: number, time: string): string {
  return `#now\nsequenceNumber=${sequence}\ntimestamp=${time.replaceAll(':', '\\:')}\n`
}

/** The places of an import, by id. */
async function placesOf(prefix: string): Promise<unknown[]> {
  return query(`select osm_id::int as id, round(st_x(geom)::numeric, 4)::float as lon from ${prefix}_places order by 1`)
}

describe('an update', () => {
  const body = { topics: ['places', 'streets'], updatable: true }
  const update = (tablePrefix: string, source?: object) =>
    run('osmUpdateArea', { tablePrefix, ...(source && { source }) })
  let untouched: Promise<JobRecord> | null = null
  /** Imports the tables of prefix `s`, which no test changes. */
  const importUntouched = () => (untouched ??= importTown('s', townPbf(), body))

  test('follows a replication server from the time of the extract on, and goes on where it was', async () => {
    await importTown('r', townPbf(), body)
    // The town is of 05:06:07: number 1001 is the last one of before.
    for (let i = 0; i < 6; i++) {
      const path = `/minute/000/001/00${i}`
      if (i > 0) files.set(`${path}.state.txt`, state(1000 + i, `2026-03-04T05:0${5 + i}:00Z`))
      files.set(`${path}.osc.gz`, gzipSync(place(900 + i, 11.05, 48.05 + i / 1e3, 'create')))
    }
    files.set('/minute/state.txt', state(1003, '2026-03-04T05:08:00Z'))
    const source = { kind: 'replication', url: `${base}/minute` }
    // A server named by the request has priority over the one in the extract.
    await query(
      `update terrane.osm_imports set replication_url = 'https://example.org/?a=1', sequence = 5 where table_prefix = 'r'`,
    )
    const first = await update('r', source)
    expect(first).toMatchObject({
      status: 'success',
      result: { files: 2, sequence: 1003, timestamp: '2026-03-04T05:08:00.000Z' },
    })
    expect((await placesOf('r')).slice(1)).toMatchObject([{ id: 902 }, { id: 903 }])
    expect(await update('r', source)).toMatchObject({
      status: 'success',
      result: { files: 0, sequence: 1003, warnings: [] },
    })
    files.set('/minute/state.txt', state(1005, '2026-03-04T05:10:00Z'))
    expect(await update('r')).toMatchObject({ result: { files: 2, sequence: 1005, source: { from: 1003, to: 1005 } } })
    const told = await query(
      `select table_name, sequence::int from terrane.changes where table_name = 'r_places' order by id`,
    )
    expect(told.map(({ sequence }) => sequence)).toEqual([1002, 1003, 1004, 1005])
    files.set('/minute/state.txt', state(1007, '2026-03-04T05:12:00Z'))
    files.set('/minute/000/001/006.osc.gz', gzipSync(place(906, 11.05, 48.05, 'create')))
    // Change file 1007 is missing; the changes before it stay.
    expect(await update('r')).toMatchObject({ status: 'failed', error: { code: 'OSM_REPLICATION_BROKEN' } })
    expect(await query(`select sequence::int from terrane.osm_imports where table_prefix = 'r'`)).toEqual([
      { sequence: 1006 },
    ])
    expect((await placesOf('r')).at(-1)).toMatchObject({ id: 906 })
  })

  test('leaves rows that do not change alone, and tells where others changed', async () => {
    await importTown('t', townPbf(), body)
    const before = await query('select id, xmin::text, ctid::text from t_streets order by id')
    const moved = townElements().find(({ type, tags }) => type === 'node' && tags?.['place'])!
    const street = `<way id="100" version="2"><nd ref="1"/><nd ref="2"/><nd ref="3"/><tag k="highway" v="residential"/><tag k="name" v="Street 1"/><tag k="maxspeed" v="30"/></way>`
    const osc = place(moved.id, 11.0701, 48.0301).replace('</modify>', `${street}</modify>`)
    const job = await update('t', await changeFiles(osc, place(950, 11.01, 48.01, 'create')))
    expect(job.result).toMatchObject({ tables: [{ name: 't_places', rows: 2, inserted: 1, updated: 1, deleted: 0 }] })
    expect(await query('select id, xmin::text, ctid::text from t_streets order by id')).toEqual(before)
    const [{ boxes }] = (job.result as { tables: [{ boxes: number[][] }] }).tables
    const holds = (lon: number, lat: number) =>
      boxes.some(([w, s, e, n]) => lon > w! && lon < e! && lat > s! && lat < n!)
    expect([holds(11.05, 48.05), holds(11.0701, 48.0301), holds(11.01, 48.01), holds(11.09, 48.09)]).toEqual([true, true, true, false]) // prettier-ignore
    const told = await query(`select bbox from terrane.changes where table_name = 't_places' order by bbox[1], bbox[2]`)
    expect(told.map(({ bbox }) => bbox)).toEqual(boxes)
    for (const table of ['terrane.changes', 'terrane.osm_imports']) {
      await expect(query(`set role anon; select * from ${table}`)).rejects.toMatchObject({ code: '42501' })
      await query('reset role')
    }
  })

  test('that ends within its files keeps what it has done, and the next run of the job goes on after it', async () => {
    await importTown('k', townPbf(), body)
    const good = [place(960, 11.05, 48.05, 'create'), place(960, 11.06, 48.05)]
    const source = await changeFiles(good[0]!, good[1]!, '<osmChange><modify><node id="1"')
    const failed = await update('k', source)
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'OSM_TRUNCATED' } })
    expect((await placesOf('k')).at(-1)).toEqual({ id: 960, lon: 11.06 })
    const found = await query(
      `select i.version::int, u.version::int as own, files from terrane.osm_imports i join terrane.osm_updates u using (table_prefix)
       where table_prefix = 'k' and u.job_id = '${failed.id}'`,
    )
    expect(found).toEqual([{ version: 2, own: 2, files: 2 }])
    // As after a crash: the job runs again, and its first two files would undo later changes.
    await query(`update k_places set geom = st_setsrid(st_point(11.07, 48.05), 4326) where osm_id = 960`)
    await changeFiles(...good, place(961, 11.01, 48.01, 'create'))
    await query(`delete from terrane.job_runs where job_id = '${failed.id}'`)
    const again = await runTask({ tablePrefix: 'k', source }, failed.id)
    expect(again).toMatchObject({ files: 3, tables: [{ name: 'k_places', inserted: 2, updated: 1, deleted: 0 }] })
    expect((await placesOf('k')).slice(1)).toEqual([{ id: 960, lon: 11.07 }, { id: 961, lon: 11.01 }]) // prettier-ignore
  })

  test('of files does not go on after changes of another job', async () => {
    await importTown('w', townPbf(), body)
    const good = place(962, 11.05, 48.05, 'create')
    const failed = await update('w', await changeFiles(good, '<osmChange><modify><node id="1"'))
    expect(failed.error).toMatchObject({ code: 'OSM_TRUNCATED' })
    await update('w', await changeFiles(place(962, 11.06, 48.05).replace('"2"', '"3"')))
    await query(`delete from terrane.job_runs where job_id = '${failed.id}'`)
    const source = await changeFiles(good, place(963, 11.01, 48.01, 'create'))
    await expect(runTask({ tablePrefix: 'w', source }, failed.id)).rejects.toMatchObject({
      code: 'OSM_UPDATE_OVERTAKEN',
    })
    expect((await placesOf('w')).slice(1)).toEqual([{ id: 962, lon: 11.06 }])
  })

  test("leaves a file of the operator's that cannot be linked where it is", async () => {
    await importTown('l', townPbf(), body)
    const source = await changeFiles(place(964, 11.05, 48.05, 'create'))
    const jobId = '00000000-0000-4000-8000-000000000964'
    expect(await runTask({ tablePrefix: 'l', source }, jobId, { taken: '0.osc' })).toMatchObject({ files: 1 })
    expect(await stat(join(worker.folder, 'data', 'change-0.osc'))).toMatchObject({ nlink: 1 })
  })

  test('is for the last import of a prefix: tables of the one before are named', async () => {
    await importTown('p', townPbf(), { topics: ['places'], updatable: true })
    const second = await importTown('p', townPbf(), { topics: ['streets'], updatable: true })
    expect(second).toMatchObject({
      status: 'success',
      result: { warnings: [{ code: 'UPDATES_END', count: 1, examples: ['p_places'] }] },
    })
  })

  test('that another one overtakes changes nothing', async () => {
    await importTown('o', townPbf(), body)
    files.set('/late.osc', async () => {
      await query(`update terrane.osm_imports set version = version + 1 where table_prefix = 'o'`)
      return place(970, 11.05, 48.05, 'create')
    })
    const job = await update('o', { kind: 'files', files: [{ kind: 'url', url: `${base}/late.osc` }] })
    expect(job).toMatchObject({ status: 'failed', error: { code: 'OSM_UPDATE_OVERTAKEN' } })
    expect(await placesOf('o')).toHaveLength(1)
    expect(await query(`select * from terrane.changes where table_name = 'o_places'`)).toEqual([])
  })

  test('passes over tables that were dropped unless it is strict, and what it needs goes with the last one', async () => {
    await importTown('d', townPbf(), body)
    const [kept] = await query(`select pages_table as name from terrane.osm_imports where table_prefix = 'd'`)
    const pages = () =>
      query(`select from pg_tables where schemaname = 'terrane' and tablename = '${String(kept?.['name'])}'`)
    await query(`select geoembeddings.drop_table('public', 'd_streets')`)
    const source = await changeFiles(place(980, 11.05, 48.05, 'create'))
    const refused = await run('osmUpdateArea', { tablePrefix: 'd', source, strict: true })
    expect(refused).toMatchObject({ status: 'failed', error: { code: 'WARNINGS_REFUSED' } })
    expect(await placesOf('d')).toHaveLength(1)
    const job = await update('d', source)
    expect(job).toMatchObject({
      status: 'success',
      result: { warnings: [{ code: 'TABLES_GONE', examples: ['d_streets'] }] },
    })
    expect(await pages()).toHaveLength(1)
    await query(`select geoembeddings.drop_table('public', 'd_places')`)
    expect(await pages()).toHaveLength(0)
    expect((await submit(worker, 'osmUpdateArea', { tablePrefix: 'd' })).body.code).toBe('OSM_IMPORT_NOT_FOUND')
  })

  test('is refused after the tables were replaced by an import that keeps nothing', async () => {
    await importTown('n', townPbf(), body)
    await importTown('n', townPbf(), { ...body, mode: 'replace', updatable: false })
    expect((await submit(worker, 'osmUpdateArea', { tablePrefix: 'n' })).body.code).toBe('OSM_IMPORT_NOT_FOUND')
    const owners = `select count(*)::int from pg_tables where schemaname = 'terrane' and starts_with(tablename, 'osm_pages_')`
    expect(await query(owners)).toEqual(await query('select count(*)::int from terrane.osm_imports'))
  })

  test('goes on with an import of before styles, whose rules were kept in another form, but not with other rules', async () => {
    await importTown('b', townPbf(), { ...body, topics: ['buildings'] })
    // The hash of ['buildings'] by the version before.
    const rules = '01cfa8c134c41a0942b5ceba6c2cb9265abf98cb8040b759df69df345fe51785'
    await query(`update terrane.osm_imports set rules = '${rules}' where table_prefix = 'b'`)
    expect((await submit(worker, 'osmUpdateArea', { tablePrefix: 'b' })).body.code).toBe('OSM_REPLICATION_UNKNOWN')
    for (const other of [`2:${rules}`, 'others']) {
      await query(`update terrane.osm_imports set rules = '${other}' where table_prefix = 'b'`)
      expect((await submit(worker, 'osmUpdateArea', { tablePrefix: 'b' })).body.code).toBe('OSM_IMPORT_OUTDATED')
    }
  })

  test.for<[string, object, number, string]>([
    ['a prefix that is none', { tablePrefix: 'no_such' }, 404, 'OSM_IMPORT_NOT_FOUND'],
    ['a prefix with quotes', { tablePrefix: `s'; drop table x` }, 422, 'VALIDATION_FAILED'],
    ['no replication server', {}, 422, 'OSM_REPLICATION_UNKNOWN'],
    [
      'an address with a query',
      { source: { kind: 'replication', url: 'https://example.org/minute?key=1' } },
      422,
      'OSM_REPLICATION_URL_INVALID',
    ],
    [
      'an address with a password',
      { source: { kind: 'replication', url: 'https://a:b@example.org/minute' } },
      422,
      'OSM_REPLICATION_URL_INVALID',
    ],
    [
      'an address with a password alone',
      { source: { kind: 'replication', url: 'https://:b@example.org/minute' } },
      422,
      'OSM_REPLICATION_URL_INVALID',
    ],
    [
      'a private address',
      { source: { kind: 'replication', url: 'http://169.254.169.254/latest' } },
      422,
      'URL_REFUSED',
    ],
    [
      'a private address of a file',
      { source: { kind: 'files', files: [{ kind: 'url', url: 'http://10.0.0.1/a.osc' }] } },
      422,
      'URL_REFUSED',
    ],
    [
      'a bucket that is not there',
      { source: { kind: 'files', files: [{ kind: 'storage', bucket: 'none', path: 'a' }] } },
      404,
      'BUCKET_NOT_FOUND',
    ],
    ['no files', { source: { kind: 'files', files: [] } }, 422, 'VALIDATION_FAILED'],
  ])('is refused at once with %s', async ([, more, status, code]) => {
    await importUntouched()
    const answer = await submit(worker, 'osmUpdateArea', { tablePrefix: 's', ...more })
    expect([answer.status, answer.body.code]).toEqual([status, code])
  })

  test('reads change files within the data roots only', async () => {
    await importUntouched()
    const of = (path: string) => update('s', { kind: 'files', files: [{ kind: 'file', path }] })
    expect(await of('../../etc/passwd')).toMatchObject({ status: 'failed', error: { code: 'FILE_NOT_REACHABLE' } })
    expect(await of('s.osm.pbf')).toMatchObject({ status: 'failed' })
    expect(await query(`select version::int from terrane.osm_imports where table_prefix = 's'`)).toEqual([
      { version: 0 },
    ])
  })
})

/** Runs the task itself, as the queue does for a job that was lost. */
async function runTask(
  body: object,
  jobId: string,
  { taken }: { taken?: string } = {},
): Promise<Readonly<Record<string, unknown>>> {
  const workdir = await mkdtemp(join(tmpdir(), 'terrane-update-'))
  if (taken !== undefined) await writeFile(join(workdir, taken), '')
  const { database } = worker.db
  return osmUpdateArea(osmImportSettings(readConfig(worker.env))).run(body, {
    run: await beginRun(database, jobId),
    attempt: 2,
    project: { ref: 'demo', database, store: openStore(worker.env['TERRANE_STORAGE']!) },
    signal: new AbortController().signal,
    logger: createLogger({ name: 'test', level: 'silent' }),
    fetch: createGuardedFetch(),
    workdir,
    checkpoint: NO_CHECKPOINT,
    progress: () => {},
  })
}
