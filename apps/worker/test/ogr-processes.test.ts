// Slow: files are read in processes, and one computes for a second before it is ended.
// Imports as the product runs them: a file is read in a process of its own, and converted in another. The tests of values
// do both in their own process.
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Readable } from 'node:stream'
import { openStore } from '@terrane/storage'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readerProcesses, wasmEngine } from '@terrane/files'
import { ogr2ogrImport } from '../src/jobs/ogr2ogr-import.ts'
import { HEADERS, openWorker, submit, until, type TestWorker } from './harness.ts'
import { zip } from '@terrane/testing/files'

const TASK = 'ogr2ogrImport'
const point = { type: 'Feature', properties: { n: 1 }, geometry: { type: 'Point', coordinates: [1, 2] } }
const topology = (objects: object) => JSON.stringify({ type: 'Topology', objects, arcs: [] })
const place = { type: 'Point', coordinates: [1, 2], properties: { a: 1 } }
const places = { type: 'GeometryCollection', geometries: [place] }

const program = new URL('../src/jobs/file-import/read.worker.ts', import.meta.url)
const patient = readerProcesses({ program })
/** Ends a reader after a CPU second without progress. */
const impatient = readerProcesses({ program, stuckSeconds: 1 })
let startReader = patient

let worker: TestWorker
let made = 0
beforeAll(async () => {
  worker = await openWorker({
    tasks: [ogr2ogrImport({ engine: wasmEngine, startReader: (...of) => startReader(...of), maxBytes: 2 ** 24 })],
  })
  const bucket = { public: false, fileSizeLimit: null, allowedMimeTypes: null }
  await openStore(worker.env['TERRANE_STORAGE']!).createBucket('files', bucket)
})
afterAll(() => worker[Symbol.asyncDispose]())

async function start(file: Buffer | string, body: object = {}) {
  const path = String(++made)
  const type = { contentType: 'application/octet-stream', upsert: true }
  await openStore(worker.env['TERRANE_STORAGE']!).put('files', path, Readable.from([Buffer.from(file)]), type)
  const request = { storagePath: { bucket: 'files', path }, tableName: `read_${path}`, ...body }
  return (await submit(worker, TASK, request)).body.links.self
}

const run = async (file: Buffer | string, body: object = {}) => until(worker, await start(file, body))

async function expectNothingLeft(): Promise<void> {
  const { rows } = await worker.db.database.query(`select 1 from pg_tables where schemaname = 'terrane_staging'`)
  expect([rows, await readdir(worker.env['TERRANE_WORK_DIR']!)]).toEqual([[], []])
}

test('a file is read in a process, also one of more rows than a pipe holds', async () => {
  const rows = Array.from({ length: 20_000 }, (_, i) => `${i},${'x'.repeat(80)},8.5,47.25`)
  const done = await run(`n,text,lon,lat\n${rows.join('\n')}\n`)
  expect(done).toMatchObject({ status: 'success', result: { rows: 20_000, rejected: 0, geometry_type: 'Point' } })
  const { rows: sums } = await worker.db.database.query(`select sum(n) as sum, sum(length(text)) as texts from read_1`)
  expect(sums).toEqual([{ sum: (20_000 * 19_999) / 2, texts: 20_000 * 80 }])
})

test('a file is converted in a process', async () => {
  const done = await run(topology({ towns: places }))
  expect(done).toMatchObject({ status: 'success', result: { rows: 1, layer: 'towns', srid: 4326 } })
  await expectNothingLeft()
})

describe('what a process fails with reaches the job', () => {
  const sqlite = [Buffer.from('SQLite format 3\0'), Buffer.alloc(52, 1), Buffer.from('GPKG'), Buffer.alloc(4000, 7)]
  const drawing = '0\nSECTION\n2\nENTITIES\n0\nPOINT\n8\n0\n10\n1\n20\n2\n0\nENDSEC\n0\nEOF\n'
  test.each([
    { name: 'of a GeoPackage that is garbage', file: Buffer.concat(sqlite), code: 'CONVERSION_FAILED' },
    { name: 'of GeoJSON that is cut off', file: JSON.stringify([point]).slice(1, 60), code: 'CONVERSION_FAILED' },
    { name: 'of a layer that is missing', file: topology({ a: places, b: places }), body: { layer: 'c' }, code: 'LAYER_UNKNOWN' }, // prettier-ignore
    { name: 'of a drawing without a reference system', file: drawing, code: 'SOURCE_SRS_NEEDED' },
    {
      name: 'of a Shapefile that names a local file',
      file: zip([
        { name: 'a.shp', data: Buffer.from('<OGRVRTDataSource><SrcDataSource>/etc/passwd</SrcDataSource>') },
        { name: 'a.dbf', data: Buffer.from('x') },
      ]),
      code: 'CONVERSION_FAILED',
    },
  ])('$name', async ({ file, body = {}, code }) => {
    const done = await run(file, body)
    expect(done).toMatchObject({ status: 'failed', error: { code } })
    expect(JSON.stringify(done.error)).not.toContain('root:')
    await expectNothingLeft()
  })
})

test('a cancelled job ends its process, with nothing left behind', async () => {
  const started = Promise.withResolvers<void>()
  startReader = (...of) => {
    started.resolve()
    return patient(...of)
  }
  onTestFinished(() => {
    startReader = patient
  })
  const self = await start(await geoPackageOf(ENDLESS))
  await started.promise
  await worker.app.inject({ method: 'DELETE', url: self, headers: HEADERS })
  expect(await until(worker, self)).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
  await expectNothingLeft()
})

/** Query of a view without an end. */
const ENDLESS = 'with recursive c(x) as (select 1 union all select x + 1 from c) select x as fid, x as a from c'

/** A GeoPackage whose only layer is a view. */
async function geoPackageOf(view: string): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-view-'))
  const path = join(folder, 'view.gpkg')
  const database = new DatabaseSync(path)
  database.exec(`pragma application_id = 0x47504b47;
    create table gpkg_contents (table_name text, data_type text);
    insert into gpkg_contents values ('v', 'attributes');
    create view v as ${view}`)
  database.close()
  const bytes = await readFile(path)
  await rm(folder, { recursive: true })
  return bytes
}

describe('a file that costs more than a file may is refused, and its lane goes on', () => {
  test.each([
    { name: 'a view without an end', view: ENDLESS, reader: impatient, message: /CPU time without progress/ },
    { name: 'a value of 800 MB', view: 'select 1 as fid, zeroblob(800000000) as a', reader: patient, message: /more memory/ }, // prettier-ignore
  ])('$name', async ({ view, reader, message }) => {
    startReader = reader
    onTestFinished(() => {
      startReader = patient
    })
    const done = await run(await geoPackageOf(view))
    const error = { code: 'FILE_TOO_COSTLY', message: expect.stringMatching(message) }
    expect(done).toMatchObject({ status: 'failed', attempt: 1, error })
    expect(await run('n,lon,lat\n1,8.5,47.25\n')).toMatchObject({ status: 'success' })
    await expectNothingLeft()
  })
})
