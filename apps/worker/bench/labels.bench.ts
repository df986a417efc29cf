// Time of classifyEmbeddings on random vectors: of the job from submission to end, and of the classification alone.
//
//   DATABASE_URL  a PostgreSQL server with PostGIS and pgvector, on which a database is made and dropped; the embedded
//                 database when it is absent
//   ROUNDS        number of maps of each table (default 3); details are those of the median
//   ROWS, DIMS    numbers of rows of the tables (default 50000,1000000) and dimensions of a vector (default 384)
//   HEADS         heads, one after the other (default logistic; also linear, knn)
//
// There are 100 examples of ten classes. Load average and CPU time of this process are reported beside the times.
import assert from 'node:assert/strict'
import { loadavg } from 'node:os'
import type { TaskResults } from '@terrane/contracts'
import { seededRandom } from '@terrane/core'
import { openWorker, submit, until } from '../test/harness.ts'
import { COLUMNS, gridId, makeGridTable, type GridRow } from '../test/vector-tables.ts'

const CLASSES = 10
const env = (name: string, otherwise: string) => process.env[name] ?? otherwise
const dims = Number(env('DIMS', '384'))

const random = seededRandom(1)
const centres = Array.from({ length: CLASSES }, () => Float32Array.from({ length: dims }, () => random() - 0.5))

function* rowsOf(count: number): Generator<GridRow> {
  for (let i = 0; i < count; i++) {
    const centre = centres[i % CLASSES]!
    const embedding = Float32Array.from(centre, (value) => value + 1.5 * (random() - 0.5))
    yield { column: i % COLUMNS, row: Math.floor(i / COLUMNS), embedding }
  }
}

await using worker = await openWorker()

async function job<Name extends keyof TaskResults>(task: Name, body: object) {
  const [started, before] = [performance.now(), process.cpuUsage()]
  const { status, body: record } = await submit(worker, task, body)
  assert.equal(status, 202, JSON.stringify(record))
  const { result, error } = await until(worker, record.links.self, ({ terminal }) => terminal, 3_600_000)
  assert.equal(error, null)
  const used = process.cpuUsage(before)
  return {
    result: result as TaskResults[Name],
    seconds: (performance.now() - started) / 1000,
    cpu: (used.user + used.system) / 1e6,
  }
}

const classifyOnce = (head: string, count: number) =>
  job('classifyEmbeddings', { table: `vectors_${count}`, classifier: `${head}_${count}`, tableName: `map_${head}_${count}`, mode: 'replace' }) // prettier-ignore
const load = () => loadavg()[0]!.toFixed(0)
const ids = Object.fromEntries(
  centres.map((_, c) => [`class ${c}`, Array.from({ length: 10 }, (_v, i) => gridId((i * 90 + c) % COLUMNS, i))]),
)
for (const count of env('ROWS', '50000,1000000').split(',').map(Number)) {
  const table = `vectors_${count}`
  await makeGridTable(worker.db.database, { name: table, rows: rowsOf(count), dims })
  for (const head of env('HEADS', 'logistic').split(',')) {
    const classifier = `${head}_${count}`
    const training = await job('trainClassifier', { table, classifier, head, ids })
    const rounds: Awaited<ReturnType<typeof classifyOnce>>[] = []
    for (let round = 0; round < Number(env('ROUNDS', '3')); round++) rounds.push(await classifyOnce(head, count))
    const map = rounds.toSorted((a, b) => a.seconds - b.seconds)[rounds.length >> 1]!
    assert.equal(map.result.classified, count)
    const { rows } = await worker.db.database.query<{ right: number }>(
      `select avg((class = 'class ' || (id % 10))::int)::float8 as right from public.map_${head}_${count}`,
    )
    console.log(
      `${count} × ${dims}, ${head}: training ${training.seconds.toFixed(2)} s; map ${rounds.map(({ seconds }) => seconds.toFixed(2)).join(', ')} s ` +
        `(${JSON.stringify(map.result.timings)}), ${map.cpu.toFixed(1)} s of processor here, load ${load()}; right ${rows[0]!.right.toFixed(3)}`,
    )
  }
}
