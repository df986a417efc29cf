// Compares one job that embeds 100 scenes (500,000 tiles) into one table with one job per scene. Both use the built-in
// model.
//
//   DATABASE_URL   a PostgreSQL server with PostGIS and pgvector, on which a database is made and dropped
//   SCENES, TILES  how many scenes, and tiles of each (defaults 100 and 5000)
//   WORKERS        numbers of workers, one after the other (default 1,2,4)
//   ROUNDS         number of repetitions (default 1); on a busy machine use the medians
//
// The overhead of shards is the time of one worker compared with separate jobs for the same scenes, all queued at once.
// Above 50,000 rows the one table has a vector index, which the small tables do not have. So the additional time for
// indexes is reported separately.
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
/** Page size of the list of shards. */
const PAGE = 100
const env = (name: string, otherwise: string) => process.env[name] ?? otherwise
const scenes = Number(env('SCENES', '100'))
const tiles = Number(env('TILES', '5000'))
const rounds = Number(env('ROUNDS', '1'))
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

/** Seconds that the work takes on `count` started workers. */
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

async function queued(body: object): Promise<JobRecord> {
  const { status, body: job } = await submit(api, TASK, body)
  assert.equal(status, 202, JSON.stringify(job))
  return job
}

async function whole(body: object): Promise<JobRecord> {
  const { links } = await queued(body)
  const ended = await until(api, links.self, done, 24 * 3_600_000)
  assert.equal(ended.status, 'success', JSON.stringify(ended.error))
  return ended
}

const lasted = ({ started_at: from, finished_at: to }: JobRecord) => (Date.parse(to!) - Date.parse(from!)) / 1000
const timing = ({ result }: JobRecord, phase: string) =>
  (result as { timings: Record<string, number> }).timings[phase] ?? 0
const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0)
const median = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!

/** Runs each scene as a job with its own table, all queued at once. Returns the seconds spent on their indexes. */
async function apart(round: number): Promise<number> {
  let index = 0
  const jobs: JobRecord[] = []
  for (let i = 0; i < scenes; i++) {
    jobs.push(await queued({ ...request, geotiffPath: `${i}.tif`, tableName: `alone_${round}_${i}` }))
  }
  for (const { links } of jobs) {
    const ended = await until(api, links.self, done, 24 * 3_600_000)
    assert.equal(ended.result?.['rows'], perScene)
    index += timing(ended, 'index')
  }
  return index
}

async function partsOf(id: string): Promise<JobRecord[]> {
  const parts: JobRecord[] = []
  for (let cursor = ''; ;) {
    const url = `/jobs/${TASK}?parent=${id}&limit=${PAGE}${cursor}`
    const { data, next_cursor: next } = (await api.app.inject({ url, headers: HEADERS })).json<{
      data: JobRecord[]
      next_cursor: string | null
    }>()
    parts.push(...data)
    if (next === null) return parts
    cursor = `&cursor=${next}`
  }
}

console.log(`${scenes} scenes, ${scenes * perScene} tiles of ${TILE} px, stride ${STRIDE}`)
const alone: number[] = []
const together = new Map<number, { all: number; index: number; between: number }[]>(counts.map((n) => [n, []]))
for (let round = 0; round < rounds; round++) {
  let small = 0
  const apartSeconds = await timed(1, async () => {
    small = await apart(round)
  })
  alone.push(apartSeconds)
  console.log(`jobs of their own, 1 worker: ${apartSeconds.toFixed(1)} s`)
  for (const count of counts) {
    const table = `together_${round}_${count}`
    let job: JobRecord | undefined
    const all = await timed(count, async () => {
      const sources = Array.from({ length: scenes }, (_, i) => ({ geotiffPath: `${i}.tif` }))
      job = await whole({ ...request, sources, tableName: table })
    })
    const text = `select count(*) as n from geoembeddings.${table}`
    assert.equal((await api.db.database.query<{ n: number }>(text)).rows[0]?.n, scenes * perScene)
    const parts = await partsOf(job!.id)
    const indexing = timing(job!, 'index')
    const index = Math.max(0, indexing - small)
    const between = all - indexing - sum(parts.map((part) => lasted(part))) / count
    // Time of a shard that is not in its own timings: mostly the copy of its rows.
    const giving = median(parts.map((part) => lasted(part) - timing(part, 'total')))
    together.get(count)!.push({ all, index, between })
    console.log(
      `one table, ${count} workers: ${all.toFixed(1)} s; index ${indexing.toFixed(1)} s, of the small tables ${small.toFixed(1)} s; planning, waiting and the swap ` +
        `${between.toFixed(1)} s; handing its rows over, of a scene ${giving.toFixed(2)} s`,
    )
  }
}
const base = median(alone)
const first = median(together.get(counts[0]!)!.map(({ all, index }) => all - index))
for (const [count, runs] of together) {
  const all = median(runs.map((run) => run.all))
  const without = median(runs.map((run) => run.all - run.index))
  console.log(
    `${count} workers: ${Math.round((scenes * perScene) / all)} tiles/s; without the index ${(without / base).toFixed(3)} of the ` +
      `jobs of their own, speed-up ${(first / without).toFixed(2)}; planning, waiting and the swap ` +
      `${((median(runs.map((run) => run.between)) / without) * 100).toFixed(1)} % of it`,
  )
}
