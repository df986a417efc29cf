// Cost of stopping a worker during a job without checkpoints: working time of archiveToPmtiles and exportTable on one
// table, without a stop and with a stop half-way.
//   stop-cost.bench.ts [rows, 200000]; DATABASE_URL names the server, else the embedded database
import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStore } from '@terrane/storage'
import { openWorker, read, submit, until } from '../test/harness.ts'
import { Runners } from '../test/runners.ts'

const ROWS = Number(process.argv[2] ?? 200_000)
const BODIES: Readonly<Record<string, object>> = {
  archiveToPmtiles: { table: 'source', zooms: [0, 12] },
  exportTable: { table: 'source', format: 'GeoParquet', storagePath: { bucket: 'exports', path: 'source.parquet' } },
}

await using api = await openWorker({ env: { TERRANE_WORKER_CONCURRENCY: '0' } })
const store = openStore(api.env['TERRANE_STORAGE']!)
for (const bucket of ['pmtiles', 'exports']) {
  await store.createBucket(bucket, { public: false, fileSizeLimit: null, allowedMimeTypes: null })
}
await api.db.database.query(
  `create table source as select n as id, 'name ' || n % 100 as name,
     st_buffer(st_setsrid(st_makepoint(sin(n) * 10, cos(n * 7) * 10), 4326), 0.001, 4) as geom
   from generate_series(1, ${ROWS}) n`,
)
using runners = new Runners(new URL('../test/task-runner.ts', import.meta.url), api.env)

for (const [task, body] of Object.entries(BODIES)) {
  const runner = await runners.start()
  const whole = await workOf(task, body, async () => {})
  await runners.end(runner, 'SIGTERM')
  let last = await runners.start()
  const stopped = await workOf(task, body, async (self) => {
    await until(api, self, ({ status }) => status === 'running')
    await sleep((whole * 1000) / 2)
    await runners.end(last, 'SIGTERM')
    const { body: now } = await read(api, self)
    if (now.status !== 'pending' || now.attempt !== 1) throw new Error(`the job is ${now.status} after the stop`)
    last = await runners.start()
  })
  await runners.end(last, 'SIGTERM')
  console.log(
    `${task} of ${ROWS} rows: ${whole.toFixed(1)} s at once, ${stopped.toFixed(1)} s with a stop half-way: ` +
      `the stop cost ${(stopped - whole).toFixed(1)} s of work; load ${loadavg()[0]!.toFixed(1)}`,
  )
}

/** Seconds that a job ran, over all of its runs. */
async function workOf(task: string, body: object, meanwhile: (self: string) => Promise<void>): Promise<number> {
  const { status, body: job } = await submit(api, task, body)
  if (status !== 202) throw new Error(job.message)
  await meanwhile(job.links.self)
  const done = await until(api, job.links.self, ({ terminal }) => terminal, 600_000)
  if (done.status !== 'success') throw new Error(`${task} ended as ${done.status}`)
  const { rows } = await api.db.database.query<{ seconds: number }>(
    `select sum(extract(epoch from until - at))::float8 as seconds from (
       select event, at, lead(at) over (order by number) as until from terrane.job_lines
       where job_id = $1 and event in ('started', 'handed_over', 'succeeded')) t where event = 'started'`,
    [job.id],
  )
  return rows[0]!.seconds
}
