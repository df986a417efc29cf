// A hundred scenes with 500,000 tiles into one table, beside the same scenes as jobs of their own. By the built-in model.
//
//   DATABASE_URL   a PostgreSQL server with PostGIS and pgvector, on which a database is made and dropped
//   SCENES, TILES  how many scenes, and tiles of each (defaults 100 and 5000)
//   WORKERS        numbers of workers that are tried in turn (default 1,2,4)
//
// The overhead of shards is that of one worker over the same scenes as jobs that are queued together.
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BUILT_IN_MODEL } from '@terrane/embeddings'
import { textureImage, writeGeoTiff } from '@terrane/testing/geotiff'
import { HEADERS, openWorker, submit, until, type JobRecord } from '../test/harness.ts'
import { Runners } from '../test/runners.ts'

const TASK = 'createGeoEmbeddings'
const TILE = 64
const STRIDE = 16
const env = (name: string, otherwise: string) => process.env[name] ?? otherwise
const scenes = Number(env('SCENES', '100'))
const tiles = Number(env('TILES', '5000'))
const counts = env('WORKERS', '1,2,4').split(',').map(Number)
if (!process.env['DATABASE_URL']) throw new Error('set DATABASE_URL to a PostgreSQL server with PostGIS and pgvector')

const rows = Math.floor(Math.sqrt(tiles / 2))
const columns = Math.ceil(tiles / rows)
const [width, height] = [TILE + (columns - 1) * STRIDE, TILE + (rows - 1) * STRIDE]
const perScene = rows * columns

await using api = await openWorker({
  env: {
    TERRANE_WORKER_CONCURRENCY: '0',
    TERRANE_PROJECT_CONCURRENCY: '64',
    TERRANE_INFERENCE_THREADS: env('THREADS', '1'),
  },
})
for (const folder of ['data', 'work']) await mkdir(join(api.folder, folder), { recursive: true })
const image = textureImage({ width, height, bands: 3, seed: 1, noise: 8, type: 'uint8' })
for (let i = 0; i < scenes; i++) {
  const affine = [400_000 + i, 10, 0, 5_500_000, 0, -10] as const
  const bytes = await writeGeoTiff(image, {
    type: 'uint8',
    compression: 'deflate',
    georeference: { epsg: 32633, affine },
  })
  await writeFile(join(api.folder, 'data', `${i}.tif`), bytes)
}
using runners = new Runners(new URL('../test/task-runner.ts', import.meta.url), api.env)
const request = { modelName: BUILT_IN_MODEL, tileSize: TILE, stride: STRIDE, edge: 'drop' }
const done = (job: JobRecord) => job.terminal

let warmed = 0

/** Seconds of work on `count` workers that are up. */
async function timed(count: number, work: () => Promise<void>): Promise<number> {
  const running = await Promise.all(Array.from({ length: count }, (_, which) => runners.start(which)))
  // The first job of a process opens the model.
  for (let i = 0; i < count; i++) await whole({ ...request, geotiffPath: '0.tif', tableName: `warm_${++warmed}` })
  const started = performance.now()
  await work()
  const seconds = (performance.now() - started) / 1000
  await Promise.all(running.map((child) => runners.end(child, 'SIGTERM')))
  return seconds
}

async function whole(body: object): Promise<JobRecord> {
  const { body: job } = await submit(api, TASK, body)
  const ended = await until(api, job.links.self, done, 24 * 3_600_000)
  assert.equal(ended.status, 'success', JSON.stringify(ended.error))
  return ended
}

const alone = await timed(1, async () => {
  const jobs = await Promise.all(
    Array.from({ length: scenes }, (_, i) =>
      submit(api, TASK, { ...request, geotiffPath: `${i}.tif`, tableName: `alone_${i}` }),
    ),
  )
  for (const { body } of jobs) {
    const ended = await until(api, body.links.self, done, 24 * 3_600_000)
    assert.equal(ended.result?.['rows'], perScene)
  }
})
console.log(`${scenes} scenes, ${scenes * perScene} tiles of ${TILE} px, stride ${STRIDE}`)
console.log(`jobs of their own, 1 worker: ${alone.toFixed(1)} s, ${Math.round((scenes * perScene) / alone)} tiles/s`)
let first = 0
for (const count of counts) {
  let parts: JobRecord[] = []
  const table = `together_${count}`
  const seconds = await timed(count, async () => {
    const sources = Array.from({ length: scenes }, (_, i) => ({ geotiffPath: `${i}.tif` }))
    const job = await whole({ ...request, sources, tableName: table })
    const url = `/jobs/${TASK}?parent=${job.id}&limit=100`
    parts = (await api.app.inject({ url, headers: HEADERS })).json<{ data: JobRecord[] }>().data
  })
  const { rows: found } = await api.db.database.query<{ n: number }>(`select count(*) as n from geoembeddings.${table}`)
  assert.equal(found[0]?.n, scenes * perScene)
  first ||= seconds
  const busy = parts.map(({ result }) => (result as { timings: { total: number } }).timings.total)
  const inside = (busy.reduce((sum, one) => sum + one, 0) / busy.length) * scenes
  console.log(
    `one table, ${count} workers: ${seconds.toFixed(1)} s, ${Math.round((scenes * perScene) / seconds)} tiles/s, ` +
      `speed-up ${(first / seconds).toFixed(2)}, of the jobs of their own ${(seconds / alone).toFixed(3)}, ` +
      `outside of shards ${((1 - inside / count / seconds) * 100).toFixed(1)} % of a worker's time`,
  )
}
