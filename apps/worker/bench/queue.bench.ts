// Runs mixed jobs of four tasks and three projects on 1, 2 and 4 workers, with PostgreSQL and an S3 service. Checks that
// each job runs once. Measures the latency of submissions and of job starts while workers are busy, the fairness between
// projects, and the overhead compared with the same work in the same number of lanes without a queue.
//   queue.bench.ts [jobs, 500] [workers, 1,2,4]; DATABASE_URL names the server
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { uuidv7 } from '@terrane/core'
import { beginRun } from '@terrane/database/staging'
import { BUILT_IN_MODEL } from '@terrane/embeddings'
import { writePbf } from '@terrane/osm'
import { createGuardedFetch, createLogger } from '@terrane/service'
import { openStore } from '@terrane/storage'
import { buildCity } from '@terrane/testing/city'
import { textureImage, writeGeoTiff } from '@terrane/testing/geotiff'
import { serveFiles } from '@terrane/testing/overture'
import { NO_CHECKPOINT, type JobContext, type Task } from '../src/jobs/task.ts'
import { openWorker, submit, until } from '../test/harness.ts'
import { boxOf } from '../test/osm-town.ts'
import { Runners } from '../test/runners.ts'

const [jobsText = '500', workersText = '1,2,4'] = process.argv.slice(2)
const JOBS = Number(jobsText)
const WORKERS = workersText.split(',').map(Number)
const PROJECTS = ['ash', 'birch', 'cedar']
/** Maximum concurrent jobs of one task and project. */
const LIMIT = 2
const FEATURES = 200
const OSM_TABLES = 15
const PROBE_EVERY_MS = 400
const GOALS = { submitMs: 50, dispatchMs: 50, ratio: 0.9, fairness: 0.2 }

if (!process.env['DATABASE_URL']) {
  console.log('SKIPPED: several workers need a PostgreSQL at DATABASE_URL')
  process.exit()
}

const s3 = fork(new URL(import.meta.resolve('@terrane/testing/s3/process')))
const [{ port }] = (await once(s3, 'message')) as [{ port: number }]
const files = await serveFiles()
const api = await openWorker({
  env: {
    TERRANE_WORKER_CONCURRENCY: '0',
    TERRANE_PROJECT_CONCURRENCY: String(LIMIT),
    TERRANE_FETCH_ALLOW_HOSTS: files.host,
    TERRANE_STORAGE: 's3://bucket',
    AWS_ACCESS_KEY_ID: 'S3RVER',
    AWS_SECRET_ACCESS_KEY: 'S3RVER',
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
  },
})
const { database } = api.db
const store = openStore('s3://bucket', api.env)

/** A job of a project; `name` is unique. */
interface Asked {
  readonly task: string
  readonly project: string
  readonly name: string
}

const BODIES: Readonly<Record<string, (asked: Asked) => Record<string, unknown>>> = {
  archiveToPmtiles: () => ({ table: 'source', zooms: [0, 6] }),
  ogr2ogrImport: ({ project }) => ({
    fileUrl: `${files.base}/points.geojsonl`,
    tableName: `into_${project}`,
    mode: 'append',
  }),
  createGeoEmbeddings: ({ name }) => ({
    geotiffPath: 'scene.tif',
    tileSize: 64,
    modelName: BUILT_IN_MODEL,
    tableName: name,
  }),
  osmImportArea: ({ name }) => ({
    areaName: 'Town',
    tablePrefix: name,
    aoiGeoJson: boxOf(11, 48, 13, 48.5),
    source: { kind: 'file', path: 'town.osm.pbf' },
  }),
}
const TASKS = Object.keys(BODIES)
const PROBE = 'exportTable'

try {
  await prepare()
  const without = await direct(mix('d'))
  console.log(`without a queue, a lane per task: ${without.toFixed(2)} jobs/s (load ${loadavg()[0]!.toFixed(1)})`)
  for (const workers of WORKERS) await measure(workers, without)
} finally {
  await api[Symbol.asyncDispose]()
  await files[Symbol.asyncDispose]()
  s3.disconnect()
}

async function prepare(): Promise<void> {
  const folder = join(api.folder, 'data')
  await mkdir(folder)
  const image = textureImage({ width: 256, height: 256, bands: 3, seed: 7, noise: 8, type: 'uint8' })
  const georeference = { epsg: 32633, affine: [400_000, 10, 0, 5_500_000, 0, -10] as const }
  await writeFile(join(folder, 'scene.tif'), await writeGeoTiff(image, { type: 'uint8', georeference }))
  await writeFile(join(folder, 'town.osm.pbf'), Buffer.concat([...writePbf(buildCity().elements)]))
  const lines = Array.from({ length: FEATURES }, (_, i) => {
    const geometry = { type: 'Point', coordinates: [i % 170, i % 80] }
    return `${JSON.stringify({ type: 'Feature', properties: { n: i }, geometry })}\n`
  })
  files.files.set('/points.geojsonl', Buffer.from(lines.join('')))
  for (const bucket of ['pmtiles', 'exports']) {
    await store.createBucket(bucket, { public: false, fileSizeLimit: null, allowedMimeTypes: null })
  }
  await database.query(`create table source as select n as id, st_setsrid(st_makepoint(n % 170, n % 80), 4326) as geom
    from generate_series(1, 500) n`)
  for (const project of PROJECTS) {
    await database.query(`create table into_${project} (n int, geom geometry(Point, 4326))`)
  }
}

/** All jobs of the first project, then those of the next: serving jobs in the order of submission would be unfair. */
function mix(prefix: string): Asked[] {
  return PROJECTS.flatMap((project, p) =>
    Array.from({ length: Math.ceil((JOBS - p) / PROJECTS.length) }, (_, i) => {
      return { task: TASKS[i % TASKS.length]!, project, name: `${prefix}_${project}_${i}` }
    }),
  )
}

/** Jobs per second without a queue: one lane per task, as in a worker. */
async function direct(asked: readonly Asked[]): Promise<number> {
  const begun = performance.now()
  const lanes = TASKS.map(async (name) => {
    const task = api.deps.tasks.find((one) => one.name === name)!
    for (const one of asked) if (one.task === name) await runAlone(task, BODIES[name]!(one))
  })
  await Promise.all(lanes)
  const seconds = (performance.now() - begun) / 1000
  await expectEffects(asked)
  return asked.length / seconds
}

async function runAlone(task: Task, input: object): Promise<void> {
  const workdir = await mkdtemp(join(api.folder, 'alone-'))
  const context: JobContext = {
    run: await beginRun(database, uuidv7()),
    attempt: 1,
    project: { ref: 'bench', database, store },
    signal: new AbortController().signal,
    logger: createLogger({ name: 'bench', level: 'silent' }),
    fetch: createGuardedFetch({ allowHosts: [files.host] }),
    workdir,
    checkpoint: NO_CHECKPOINT,
    progress: () => {},
  }
  await task.run(input, context)
  await rm(workdir, { recursive: true })
}

async function measure(workers: number, without: number): Promise<void> {
  using runners = new Runners(new URL('../test/task-runner.ts', import.meta.url), api.env)
  const children = []
  for (let n = 0; n < workers; n++) children.push(await runners.start(n))
  const asked = mix(`w${workers}`)
  const begun = performance.now()
  const submits: number[] = []
  for (const { task, project, name } of asked) {
    const before = performance.now()
    await api.deps.submitter.submit({
      task: api.deps.tasks.find((one) => one.name === task)!,
      scope: { projectRef: project, organizationId: null, projectId: null },
      input: BODIES[task]!({ task, project, name }),
      idempotencyKey: undefined,
      requestId: null,
    })
    submits.push(performance.now() - before)
  }
  const probes = await probe()
  const seconds = (performance.now() - begun) / 1000
  for (const child of children) await runners.end(child, 'SIGTERM')

  // The rate does not count probes, because the run without a queue has none.
  const rate = asked.length / seconds
  const unfair = await unfairness()
  const most = await mostAtOnce()
  await expectEffects(asked)
  await expectOnce()
  console.log(
    `${workers} workers: ${asked.length} jobs once each in ${seconds.toFixed(0)} s, ${rate.toFixed(2)} jobs/s; ` +
      `submit p95 ${p95(submits).toFixed(1)} ms, by HTTP while busy ${p95(probes.submit).toFixed(1)} ms (goal ${GOALS.submitMs}); ` +
      `dispatch p95 ${p95(probes.dispatch).toFixed(1)} ms of ${probes.dispatch.length} (goal ${GOALS.dispatchMs}); ` +
      `projects differ by ${(unfair * 100).toFixed(0)} % while all wait (goal ${GOALS.fairness * 100}); ` +
      `at most ${most} of a task and project at once (limit ${LIMIT}); load ${loadavg()[0]!.toFixed(1)}`,
  )
  console.log(
    `RATIO jobs/s, ${workers} workers / without a queue: ${(rate / without).toFixed(2)} (goal ${GOALS.ratio} for 1)`,
  )
  await database.query('delete from terrane.jobs')
}

/**
 * Submits jobs of a task with a free lane, one after the other, until all other jobs have ended. Returns how long each
 * waits.
 */
async function probe() {
  const [submitMs, dispatch]: [number[], number[]] = [[], []]
  for (let n = 0; ; n++) {
    const before = performance.now()
    const storagePath = { bucket: 'exports', path: `probe-${n}.csv` }
    const { body } = await submit(api, PROBE, { table: 'source', format: 'CSV', storagePath })
    submitMs.push(performance.now() - before)
    const { status, created_at: created, started_at: started } = await until(api, body.links.self)
    if (status !== 'success') throw new Error(`a probe ended as ${status}`)
    dispatch.push(Date.parse(started!) - Date.parse(created))
    const { rows } = await database.query<{ left: number }>(
      `select count(*) as left from terrane.jobs where status in ('pending', 'running')`,
    )
    if (rows[0]!.left === 0) return { submit: submitMs, dispatch }
    await sleep(PROBE_EVERY_MS)
  }
}

/**
 * Unfairness between projects: how many more jobs the most served project finished than the least served one, as a
 * share. Counts the first half of the jobs that end after the last submission, while all projects have waiting jobs.
 */
async function unfairness(): Promise<number> {
  const { rows } = await database.query<{ n: number }>(
    `with together as (
       select project_ref, finished_at from terrane.jobs
       where task <> $1 and finished_at > (select max(created_at) from terrane.jobs where task <> $1))
     select count(*) as n from (select project_ref from together order by finished_at limit (select count(*) / 2 from together)) t
     group by project_ref order by n`,
    [PROBE],
  )
  if (rows.length < PROJECTS.length) return Infinity
  return rows.at(-1)!.n / rows[0]!.n - 1
}

/** Most jobs of one task and project that ran at the same time. */
async function mostAtOnce(): Promise<number> {
  const { rows } = await database.query<{ most: number }>(
    `select max(n) as most from (select count(*) as n from terrane.jobs a join terrane.jobs b
       on b.task = a.task and b.project_ref = a.project_ref and b.started_at <= a.started_at and b.finished_at > a.started_at
     group by a.id) t`,
  )
  return rows[0]!.most
}

/** Each job succeeded in its first attempt and began once. */
async function expectOnce(): Promise<void> {
  const { rows } = await database.query<{ wrong: number }>(
    `select count(*) as wrong from terrane.jobs j where status <> 'success' or attempt <> 1
       or 1 <> (select count(*) from terrane.job_lines l where l.job_id = j.id and l.event = 'started')`,
  )
  if (rows[0]!.wrong > 0) throw new Error(`${rows[0]!.wrong} jobs did not succeed in one run`)
}

/** Checks that each effect of the jobs is there once, and removes it. */
async function expectEffects(asked: readonly Asked[]): Promise<void> {
  const of = (task: string) => asked.filter((one) => one.task === task)
  for (const project of PROJECTS) {
    const { rows } = await database.query<{ rows: number }>(`select count(*) as rows from into_${project}`)
    const wanted = of('ogr2ogrImport').filter((one) => one.project === project).length * FEATURES
    if (rows[0]!.rows !== wanted) throw new Error(`${rows[0]!.rows} rows were appended for ${project}, not ${wanted}`)
    await database.query(`truncate into_${project}`)
  }
  for (const { name } of of('createGeoEmbeddings')) {
    const { rows } = await database.query(`select geoembeddings.delete_embedding_table($1)`, [name])
    if (rows.length !== 1) throw new Error(`${name} is not there`)
  }
  for (const { name } of of('osmImportArea')) {
    const { rows } = await database.query<{ table: string }>(
      `select tablename as table from pg_tables where schemaname = 'public' and starts_with(tablename, $1)`,
      [`${name}_`],
    )
    if (rows.length !== OSM_TABLES) throw new Error(`${rows.length} tables of ${name}, not ${OSM_TABLES}`)
    await database.query(`drop table ${rows.map(({ table }) => `"${table}"`).join(', ')}`)
  }
  if (!(await store.head('pmtiles', 'source.pmtiles'))) throw new Error('the archive is not there')
}

function p95(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? NaN
}
