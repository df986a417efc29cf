import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JobLog } from '@terrane/contracts'
import { seededRandom } from '@terrane/core'
import { BUILT_IN_MODEL } from '@terrane/embeddings'
import { openStore } from '@terrane/storage'
import { textureImage, writeGeoTiff } from '@terrane/testing/geotiff'
import { expect } from 'vitest'
import type { Checkpoint, Task } from '../src/jobs/task.ts'
import { TOWN, boxOf, townPbf } from './osm-town.ts'
import { HEADERS, openWorker, read, submit, until, type JobRecord, type TestWorker } from './harness.ts'
import { features, indexParquet, overtureParquet, serveFiles, type FileServer } from '@terrane/testing/overture'
import { zip } from '@terrane/testing/files'

const RELEASE = '2026-08-19.0'
const LINES = 3000
/** A job, and where its worker stops: at its so-many-th checkpoint. */
export interface Case {
  readonly task: string
  readonly body: (name: string) => object
  readonly stopAt: number
  /** Log message of a run that continues from a checkpoint. */
  readonly says?: RegExp
}

/** Runs no jobs; the workers that do are opened beside it. */
let api: TestWorker
let server: FileServer
const random = seededRandom(11)

/** A worker that runs no jobs itself, and the sources of every case. */
export async function openCheckpointCases(): Promise<AsyncDisposable & { readonly api: TestWorker }> {
  server = await serveFiles()
  api = await openWorker({
    env: {
      TERRANE_WORKER_CONCURRENCY: '0',
      TERRANE_FETCH_ALLOW_HOSTS: server.host,
      TERRANE_SETTINGS: JSON.stringify({
        worker: { maxAreaKm2: 0, overtureCatalogueUrl: `${server.base}/catalog.json` },
      }),
    },
  })
  await mkdir(join(api.folder, 'data'))
  await scene(7)
  await writeFile(join(api.folder, 'data', 'town.osm.pbf'), townPbf())
  publishRelease()
  const layers = ['lines', 'points'].map((name) => ({ name: `${name}.geojsonl`, data: layer(name) }))
  server.files.set('/layers.zip', zip(layers))
  return {
    api,
    [Symbol.asyncDispose]: async () => {
      await api[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

/** Writes the raster of the jobs of embeddings. */
export async function scene(seed: number, width = 1600): Promise<void> {
  const bytes = await writeGeoTiff(textureImage({ width, height: 1216, bands: 3, seed, noise: 8, type: 'uint8' }), {
    type: 'uint8',
    georeference: { epsg: 32633, affine: [400_000, 10, 0, 5_500_000, 0, -10] },
  })
  await writeFile(join(api.folder, 'data', 'scene.tif'), bytes)
}

function publishRelease(): void {
  const entries = (['building', 'building', 'building', 'water', 'water'] as const).map((type, i) => {
    const path = `/release/part-${i}.zstd.parquet`
    const shifted = features(1000, type, i).map((feature) => ({ ...feature, id: `${i}-${feature.id}` }))
    server.files.set(path, overtureParquet(shifted, 500))
    return { type, href: `${server.base}${path}`, bbox: [0, 0, 11, 11] }
  })
  server.files.set(`/${RELEASE}/collections.parquet`, indexParquet(entries))
  const links = [{ rel: 'child', href: `./${RELEASE}/catalog.json` }]
  server.files.set('/catalog.json', Buffer.from(JSON.stringify({ latest: RELEASE, links })))
}

/** Features; some have another type, or no geometry. */
function layer(name: string): Buffer {
  const texts = Array.from({ length: LINES }, (_, i) => {
    const at = [(i % 170) + 0.5, (i % 80) + 0.25]
    const line = { type: 'LineString', coordinates: [at, [at[0]! + 1, at[1]! + 1]] }
    const geometry = i % 1000 === 7 ? null : name === 'lines' && i % 50 > 0 ? line : { type: 'Point', coordinates: at }
    return `${JSON.stringify({ type: 'Feature', properties: { n: i, text: `${name} ${i}` }, geometry })}\n`
  })
  return Buffer.from(texts.join(''))
}

export const CASES = {
  'a job of embeddings': {
    task: 'createGeoEmbeddings',
    body: (name) => ({ geotiffPath: 'scene.tif', tileSize: 64, modelName: BUILT_IN_MODEL, tableName: name }),
    stopAt: 2,
    says: /going on after \d+ tiles of an earlier run/,
  },
  'a job of embeddings with artifacts': {
    task: 'createGeoEmbeddings',
    body: (name) => ({
      geotiffPath: 'scene.tif',
      tileSize: 64,
      modelName: BUILT_IN_MODEL,
      tableName: name,
      uploadArtifactsToStorage: true,
    }),
    stopAt: 2,
    says: /going on after \d+ tiles of an earlier run/,
  },
  'a job of region embeddings with artifacts': {
    task: 'createSraiEmbeddings',
    body: (name) => ({
      tableName: name,
      aoiGeoJson: boxOf(11, 48, 11.1, 48.1),
      h3Resolution: 10,
      osmTags: { building: true, highway: true },
      source: { kind: 'file', path: 'town.osm.pbf' },
      uploadArtifactsToStorage: true,
    }),
    stopAt: 2,
  },
  'an import of map data': {
    task: 'osmImportArea',
    body: (name) => ({
      areaName: 'Town',
      aoiGeoJson: TOWN,
      tablePrefix: name,
      source: { kind: 'file', path: 'town.osm.pbf' },
    }),
    stopAt: 1,
    says: /going on with the tables of an earlier run/,
  },
  'an import of map data that is cut at the border': {
    task: 'osmImportArea',
    body: (name) => ({
      areaName: 'Town',
      aoiGeoJson: boxOf(11.02, 48.02, 11.07, 48.07),
      clip: true,
      tablePrefix: name,
      source: { kind: 'file', path: 'town.osm.pbf' },
    }),
    stopAt: 1,
    says: /going on with the tables of an earlier run/,
  },
  'an import of Overture data': {
    task: 'overtureImportArea',
    body: (name) => ({
      areaName: 'x',
      aoiGeoJson: boxOf(1, 1, 9, 9),
      types: ['building', 'water'],
      tablePrefix: name,
    }),
    stopAt: 2,
    says: /going on after \d+ rows of an earlier run/,
  },
  'an import of a file of two layers': {
    task: 'ogr2ogrImport',
    body: (name) => ({ fileUrl: `${server.base}/layers.zip`, tableName: name, targetSrs: 'EPSG:3857' }),
    stopAt: 2,
    says: /going on after \d+ rows of an earlier run/,
  },
} satisfies Readonly<Record<string, Case>>

/** A worker that runs jobs, and keeps a checkpoint whenever it may. */
export function open(tasks: readonly Task[] = api.deps.tasks): Promise<TestWorker> {
  const env = { ...api.env, TERRANE_WORKER_CONCURRENCY: '1' }
  return openWorker({ beside: api, env, tasks, checkpointMs: 0 })
}

/** Has a worker of its own do the jobs, and returns their records. */
export async function finish<Selves extends readonly string[]>(
  ...selves: Selves
): Promise<{ [K in keyof Selves]: JobRecord }> {
  await using _worker = await open()
  const records = await Promise.all(selves.map((self) => until(api, self)))
  return records as { [K in keyof Selves]: JobRecord }
}

/** The tasks; each stops at a checkpoint of its run, right before or after it is kept. */
function halting(stopAt: number, isKept: boolean, reach: () => void): Task[] {
  return api.deps.tasks.map((task) => {
    const run: Task['run'] = (input, context) => {
      const { checkpoint, signal } = context
      let count = 0
      const stop = async (): Promise<void> => {
        reach()
        const stopped = Promise.withResolvers<never>()
        signal.addEventListener('abort', () => stopped.reject(signal.reason as Error))
        await stopped.promise
      }
      const watched: Checkpoint = {
        take: (identity) => checkpoint.take(identity),
        clear: () => checkpoint.clear(),
        get isThere() {
          return checkpoint.isThere
        },
        isDue: true,
        keep: async (...args) => {
          count++
          if (count === stopAt && !isKept) await stop()
          await checkpoint.keep(...args)
          if (count === stopAt) await stop()
        },
      }
      return task.run(input, { ...context, checkpoint: watched })
    }
    return { ...task, run }
  })
}

/** Stops the worker of a job at a checkpoint; false when the job ended before it. */
export async function stopOnce(self: string, stopAt: number, isKept: boolean): Promise<boolean> {
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
  await using worker = await open(halting(stopAt, isKept, reach))
  await Promise.race([reached, until(api, self)])
  // The job waits for the signal to stop, so there is nothing to wait for.
  await worker.deps.drain(0)
  const { body } = await read(api, self)
  if (body.terminal) {
    expect(body).toMatchObject({ status: 'success', error: null })
    return false
  }
  expect(body).toMatchObject({ status: 'pending', attempt: 1 })
  return true
}

export async function ask({ task, body }: Case, name: string): Promise<string> {
  const { status, body: job } = await submit(api, task, body(name))
  expect([status, job.message]).toEqual([202, undefined])
  return job.links.self
}

/** Log messages of a job. */
export const messages = async (self: string) =>
  (await api.app.inject({ url: `${self}/log`, headers: HEADERS })).json<JobLog>().data.map(({ message }) => message)

/** A hash of all rows of each table whose name begins so, and of its artifact. */
export async function content(name: string): Promise<Record<string, string>> {
  const { database } = api.db
  const { rows: tables } = await database.query<{ schema: string; table: string }>(
    `select schemaname as schema, tablename as table from pg_tables
     where schemaname in ('public', 'geoembeddings') and starts_with(tablename, $1) order by 1, 2`,
    [name],
  )
  const found: Record<string, string> = {}
  for (const { schema, table } of tables) {
    const { rows } = await database.query<{ md5: string }>(
      `select count(*) || ' ' || md5(string_agg(t::text, ';' order by t::text)) as md5 from ${schema}."${table}" t`,
    )
    found[table.slice(name.length)] = rows[0]!.md5
  }
  const store = openStore(api.env['TERRANE_STORAGE']!)
  const file = await store.head('geoembeddings', `${name}/${name}.parquet`).catch(() => null)
  if (file) found['parquet'] = `${file.size} ${file.etag}`
  return found
}

/** A result without names and times. */
function comparable({ result }: JobRecord, name: string): unknown {
  const { timings: _, seconds: __, source, ...rest } = result!
  const { requests: ___, bytes_read: ____, ...origin } = (source ?? {}) as Record<string, unknown>
  return JSON.parse(JSON.stringify({ ...rest, origin }).replaceAll(name, ''))
}

export const staging = async () =>
  (await api.db.database.query(`select tablename from pg_tables where schemaname = 'terrane_staging'`)).rows
export const checkpoints = async () => (await api.db.database.query('select job_id from terrane.job_checkpoints')).rows

/** Stops the workers of a job up to a number of times, and compares its result with that of an uninterrupted run. Returns the result. */
export async function expectSame(one: Case, name: string, most: number): Promise<Record<string, string>> {
  const self = await ask(one, `${name}x`)
  let stops = 0
  while (stops < most && (await stopOnce(self, one.stopAt, one.stopAt === 1 || random() < 0.5))) stops++
  expect(stops).toBeGreaterThan(0)
  const [done, whole] = await finish(self, await ask(one, `${name}y`))
  expect(done).toMatchObject({ status: 'success', attempt: 1 })
  const expected = await content(`${name}y`)
  expect(Object.keys(expected).length).toBeGreaterThan(0)
  expect(await content(`${name}x`)).toEqual(expected)
  expect(comparable(done, `${name}x`)).toEqual(comparable(whole, `${name}y`))
  if (one.says) expect((await messages(self)).filter((text) => one.says!.test(text))).not.toEqual([])
  expect([await staging(), await checkpoints()]).toEqual([[], []])
  return expected
}
