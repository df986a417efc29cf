// Waits: for the time limits of a storage that does not answer.
import { testLane } from '@terrane/database/testing'
import { BUILT_IN_MODEL } from '@terrane/embeddings'
import { writePbf } from '@terrane/osm'
import { openStore, type ObjectStore } from '@terrane/storage'
import { buildCity } from '@terrane/testing/city'
import { textureImage, writeGeoTiff } from '@terrane/testing/geotiff'
import { shareOfRun } from '@terrane/testing/property'
import { awsAt, startFaultProxy, startFaux, type Fault, type FaultProxy } from '@terrane/testing/s3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HEADERS, openWorker, submit, until, type TestWorker } from '../harness.ts'
import { boxOf } from '../osm-town.ts'
import { expectNothingLeft } from './task-cases.ts'

/** A caller waits 4 s for the storage; the rest is for a busy machine. */
const LONGEST_SUBMIT_MS = 9000
/** Far below the 10 s without a byte, after which a connection is given up by itself. */
const LONGEST_CANCEL_MS = 8000
/** Connections with a fault: more than a job's tries of one request, fewer than those of all of its attempts. */
const HARMED = 8
const FEATURES = 200

const opened = new AsyncDisposableStack()
let proxy: FaultProxy
/** Runs no jobs; its storage is the one behind the proxy. */
let api: TestWorker
/** The same storage, without the proxy. */
let store: ObjectStore
let env: Readonly<Record<string, string>>
let url: string
beforeAll(async () => {
  const emulator = opened.use(await startFaux())
  proxy = opened.use(await startFaultProxy(emulator.port))
  env = { TERRANE_STORAGE: 's3://bucket/p', TERRANE_MODEL_DOWNLOAD: 'false', ...awsAt(proxy.port) }
  store = openStore('s3://bucket/p', awsAt(emulator.port))
  api = opened.use(await openWorker({ env: { ...env, TERRANE_WORKER_CONCURRENCY: '0' } }))
  url = await api.app.listen({ host: '127.0.0.1', port: 0 })
  for (const bucket of ['pmtiles', 'exports', 'sources']) {
    await store.createBucket(bucket, { public: false, fileSizeLimit: null, allowedMimeTypes: null })
  }
  const image = textureImage({ width: 256, height: 256, bands: 3, seed: 7, noise: 8, type: 'uint8' })
  const georeference = { epsg: 32633, affine: [400_000, 10, 0, 5_500_000, 0, -10] as const }
  const scene = await writeGeoTiff(image, { type: 'uint8', georeference })
  for (const key of ['scene.tif', 'scenes/a.tif', 'scenes/b.tif']) await store.put('sources', key, once(scene))
  await store.put('sources', 'town.osm.pbf', once(Buffer.concat([...writePbf(buildCity().elements)])))
  await store.put('sources', 'points.geojsonl', once(Buffer.from(points())))
  await api.db.database.query(
    `create table source as select n as id, st_setsrid(st_makepoint(n % 170, n % 80), 4326) as geom
     from generate_series(1, ${FEATURES}) n`,
  )
})
afterAll(() => opened.disposeAsync())

async function* once(bytes: Uint8Array) {
  yield bytes
}

function points(): string {
  const lines = Array.from({ length: FEATURES }, (_, i) => {
    const geometry = { type: 'Point', coordinates: [i % 170, i % 80] }
    return `${JSON.stringify({ type: 'Feature', properties: { n: i }, geometry })}\n`
  })
  return lines.join('')
}

const at = (path: string) => ({ bucket: 'sources', path })
const inTown = boxOf(11.59, 48.09, 11.61, 48.11)

/** Every task that asks the storage, in each of the ways it does. */
const CASES: Readonly<Record<string, readonly [task: string, bodyOf: (name: string) => object]>> = {
  'an archive': ['archiveToPmtiles', () => ({ table: 'source', zooms: [0, 4] })],
  'an export': [
    'exportTable',
    (name) => ({ table: 'source', format: 'CSV', storagePath: { bucket: 'exports', path: `${name}.csv` } }),
  ],
  'a file': ['ogr2ogrImport', (name) => ({ storagePath: at('points.geojsonl'), tableName: `${name}_file` })],
  'an extract': [
    'osmImportArea',
    (name) => ({
      areaName: 'Town',
      tablePrefix: `${name}_osm`,
      aoiGeoJson: inTown,
      source: { kind: 'storage', ...at('town.osm.pbf') },
    }),
  ],
  'regions and artifacts': [
    'createSraiEmbeddings',
    (name) => ({
      tableName: `${name}_srai`,
      aoiGeoJson: inTown,
      h3Resolution: 9,
      osmTags: { building: true },
      embedder: { kind: 'count' },
      source: { kind: 'storage', ...at('town.osm.pbf') },
      uploadArtifactsToStorage: true,
    }),
  ],
  'a scene and artifacts': [
    'createGeoEmbeddings',
    (name) => ({
      storagePath: at('scene.tif'),
      tileSize: 64,
      modelName: BUILT_IN_MODEL,
      tableName: `${name}_geo`,
      uploadArtifactsToStorage: true,
    }),
  ],
  'scenes below a prefix': [
    'createGeoEmbeddings',
    (name) => ({
      storagePrefix: { bucket: 'sources', prefix: 'scenes/' },
      tileSize: 64,
      modelName: BUILT_IN_MODEL,
      tableName: `${name}_scenes`,
    }),
  ],
}

/** Submits every case. */
const submitAll = (name: string) =>
  Promise.all(
    Object.entries(CASES).map(async ([title, [task, bodyOf]]) => {
      const began = performance.now()
      const { status, body } = await submit(api, task, bodyOf(name))
      return { title, status, body, ms: performance.now() - began }
    }),
  )

async function accepted(name: string) {
  const jobs = await submitAll(name)
  expect(
    jobs.filter(({ status }) => status !== 202).map(({ title, body }) => [title, body.code, body.message]),
  ).toEqual([])
  return jobs
}

const runner = () => openWorker({ beside: api, env })

const FAULTS = ['503', 'reset', 'cut', 'stall', 'hang'] satisfies Fault[]
const REFUSED = shareOfRun('worker: a storage that is away', FAULTS, 3)
const DELAYED = shareOfRun('worker: a storage that comes back', [...FAULTS, 'drip', 'lost answer'] satisfies Fault[], 3)

describe(`a storage that fails (${testLane()})`, () => {
  test.each(REFUSED)('refuses what needs it within a caller’s patience, and keeps nothing: %s', async (fault) => {
    proxy.fail(fault)
    const [jobs, looked, ready] = await Promise.all([
      submitAll('refused'),
      fetch(`${url}/inspect`, {
        method: 'POST',
        headers: { ...HEADERS, 'content-type': 'application/json' },
        body: JSON.stringify({ storagePath: at('points.geojsonl') }),
      }),
      api.app.inject('/health/ready'),
    ])
    proxy.heal()
    const wrong = jobs.filter(({ body, ms }) => body.code !== 'STORAGE_UNAVAILABLE' || ms > LONGEST_SUBMIT_MS)
    expect(wrong.map(({ title, status, body, ms }) => [title, status, body.code, ms])).toEqual([])
    expect(jobs.map(({ status }) => status)).toEqual(jobs.map(() => 503))
    // Where the content itself stops coming, a look at it ends after its own 30 s.
    const ends = [
      [503, 'STORAGE_UNAVAILABLE'],
      [504, 'INSPECT_TIMED_OUT'],
    ]
    expect(ends).toContainEqual([looked.status, ((await looked.json()) as { code: string }).code])
    expect(ready.statusCode).toBe(503)
    await expectNothingLeft({ api, store })
  })

  test.each(DELAYED)('delays jobs, which end well when it is back: %s', async (fault) => {
    const jobs = await accepted(`t${fault.replace(' ', '_')}`)
    proxy.fail(fault, HARMED)
    await using _worker = await runner()
    const ended = await Promise.all(
      jobs.map(async ({ title, body }) => ({ title, ...(await until(api, body.links.self, undefined, 240_000)) })),
    )
    proxy.heal()
    expect(ended.filter(({ status }) => status !== 'success').map(({ title, error }) => [title, error])).toEqual([])
    await expectNothingLeft({ api, store })
  })

  test('holds no job that is cancelled, and nothing is left of it', async () => {
    const jobs = await accepted('cancelled')
    proxy.fail('hang')
    await using _worker = await runner()
    const took = await Promise.all(
      jobs.map(async ({ title, body: { links } }) => {
        await until(api, links.self, ({ status }) => status !== 'pending')
        // Until it asks the storage.
        await new Promise((resolve) => setTimeout(resolve, 1000))
        const began = performance.now()
        await api.app.inject({ method: 'DELETE', url: links.self, headers: HEADERS })
        const { status, error } = await until(api, links.self)
        return { title, status, code: error?.code, ms: performance.now() - began }
      }),
    )
    proxy.heal()
    const wrong = took.filter(
      ({ status, code, ms }) => status !== 'failed' || code !== 'cancelled' || ms > LONGEST_CANCEL_MS,
    )
    expect(wrong).toEqual([])
    await expectNothingLeft({ api, store })
  })
})
