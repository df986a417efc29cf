// Searches of a large embedding table: build and size against pgvector tuned by hand, then latency and recall of
// similarity_search under areas, labels and times that keep known parts of the rows. Needs DATABASE_URL, and disk and
// memory for two copies of the vectors.
//
//   node packages/database/bench/search.bench.ts [rows=200000] [dims=384] [queries=200] [--alone] [--keep]
//
// --alone skips pgvector tuned by hand, which takes most of the time. --keep leaves the database search_bench_{rows}_{dims}
// on the server and uses it again, so that only the searches are left: build it on a busy machine, measure on a calm one.
// Where the server runs on this machine, "CPU" is the processor time of its process, without parallel workers.
//
// The vectors are distributed like those of tiles: clusters that are near each other on the ground, a few dozen
// relevant dimensions, one common direction, and a little noise in each. Queries are drawn like the rows but are not
// rows. True neighbours are computed by brute force over the same numbers in JavaScript.
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { streamEmbeddingTable } from '../test/embedding-tables.ts'
import { openTestDatabase } from '@terrane/database/testing'
import { openDatabase, type Session } from '../src/database.ts'
import { writeSources } from '../src/geoembeddings/sources.ts'
import { migrate } from '../src/migrate.ts'
import { FILTERS, Neighbours, Tiles, argumentsOf, type Filter, makeQueries, shareOf, DATES } from './search-tiles.ts'

const { values: options, positionals } = parseArgs({
  options: { alone: { type: 'boolean' }, keep: { type: 'boolean' } },
  allowPositionals: true,
})
const [ROWS = 200_000, DIMS = 384, QUERIES = 200] = positionals.map(Number)
const WANTED = 10

const server = process.env['DATABASE_URL']
if (!server) throw new Error('DATABASE_URL names no server: this bench measures PostgreSQL')
if (ROWS <= 50_000) throw new Error('tables of up to 50,000 rows have no index to measure')
await using test = options.keep ? await openKept(server) : await openTestDatabase()
const { database } = test
const query = async <Row extends object>(text: string, values: unknown[] = []) =>
  (await database.query<Row>(text, values)).rows
const seconds = async (work: () => Promise<unknown>) => {
  const started = performance.now()
  await work()
  return (performance.now() - started) / 1000
}
const megabytes = async (expression: string) => {
  const [row] = await query<{ mb: number }>(`select (${expression})::float8 / 1048576 as mb`)
  return row!.mb
}

const [engine] = await query<{ about: string }>(
  `select format('PostgreSQL %s, pgvector %s, shared_buffers %s, effective_cache_size %s', current_setting('server_version'),
     (select extversion from pg_extension where extname = 'vector'), current_setting('shared_buffers'),
     current_setting('effective_cache_size')) as about`,
)
console.log(`${ROWS} × ${DIMS}, ${QUERIES} queries; ${engine!.about}; ${availableParallelism()} cores, load ${load()}`)

const tiles = new Tiles(ROWS, DIMS)
const queries = makeQueries(tiles, QUERIES)
const neighbours = new Neighbours(tiles, queries, WANTED)
// The rows with their labels are loaded as a job loads them; the neighbours are found on the way.
let build = 0
const batches = () => tiles.batches((id, vector) => neighbours.add(id, vector))
const catalogued = () =>
  query<{ index_kind: string | null; index_recall: number | null }>(
    `select index_kind, index_recall from geoembeddings.embeddings_catalogue where table_name = 'many'`,
  )
if ((await catalogued()).length > 0) {
  console.log(`neighbours found in ${(await seconds(() => Array.fromAsync(batches(), () => null))).toFixed(0)} s`)
} else {
  const total = await seconds(() =>
    streamEmbeddingTable(database, {
      name: 'many',
      rows: ROWS,
      dims: DIMS,
      batches,
      onFinished: (took) => (build = took / 1000),
    }),
  )
  await writeDates()
  console.log(`loaded and built in ${total.toFixed(0)} s, indexes ${build.toFixed(1)} s`)
}
const [entry] = await catalogued()
console.log(`the index is over ${entry!.index_kind},`)
console.log(`recall ${entry!.index_recall?.toFixed(3)} by the catalogue; load ${load()}`)

if (!options.alone) await byHand()
await search()

/** A database that stays on the server, migrated. */
async function openKept(url: string) {
  const name = `search_bench_${ROWS}_${DIMS}`
  const administration = await openDatabase({ url, max: 1 })
  const { rowCount } = await administration.query('select 1 from pg_database where datname = $1', [name])
  if (!rowCount) await administration.query(`create database ${name}`)
  await administration.close()
  const kept = await openDatabase({ url: Object.assign(new URL(url), { pathname: `/${name}` }).href, max: 4 })
  await migrate(kept, ['control', 'project'])
  return { database: kept, [Symbol.asyncDispose]: () => kept.close() }
}

/** Records a source for each month. */
async function writeDates(): Promise<void> {
  const [rest, empty] = [
    { status: 'done', skipped: 0, zeroVectors: 0 } as const,
    { profile: null, crs: null, dataType: null, bbox: null, version: null, error: null },
  ]
  const counts = DATES.map(() => 0)
  for (let id = 0; id < ROWS; id++) counts[tiles.sourceOf(id)]!++
  const sources = DATES.map((datetime, source) => {
    return { ...rest, ...empty, source, name: datetime, datetime, rows: counts[source]! }
  })
  await writeSources(database, 'many', '0199b1f0-0000-7000-8000-00000000ffff', sources)
}

/** The same indexes, and the float32 index for comparing sizes, made by hand-tuned statements. */
async function byHand(): Promise<void> {
  const memory = `${Math.ceil((ROWS * (4 * DIMS + 830)) / 1048576) + 64}MB`
  await database.query('create table public.hand as select id, geom, embedding, label_name from geoembeddings.many')
  const ours = await database.query<{ def: string }>(
    `select replace(replace(indexdef, 'geoembeddings.many ', 'public.hand '), indexname, 'hand_ours') as def
     from pg_indexes where schemaname = 'geoembeddings' and tablename = 'many' and indexdef like '%hnsw%'`,
  )
  await database.session(async (session) => {
    const run = (text: string) => seconds(() => session.query(text))
    await session.query(`set maintenance_work_mem = '${memory}'; set max_parallel_maintenance_workers = 2`)
    const same =
      (await run('alter table public.hand add primary key (id)')) +
      (await run('create index on public.hand using gist (geom)')) +
      (await run('create index on public.hand (label_name)')) +
      (ours.rows[0] ? await run(ours.rows[0].def) : 0) +
      (await run('analyze public.hand'))
    console.log(`by hand the same indexes: ${same.toFixed(1)} s, so ours took ${(build / same).toFixed(2)} × that`)
    const float = await run('create index hand_float on public.hand using hnsw (embedding vector_cosine_ops)')
    console.log(`by hand an index over float32: ${float.toFixed(1)} s; load ${load()}`)
    await session.query('reset all')
  })
  const [table, floats] = [
    await megabytes(`pg_relation_size('geoembeddings.many')`),
    await megabytes(`pg_relation_size('hand_float')`),
  ]
  const hnsw = `(select sum(pg_relation_size(i.indexrelid)) from pg_index i join pg_class c on c.oid = i.indexrelid
    join pg_am a on a.oid = c.relam where i.indrelid = 'geoembeddings.many'::regclass and a.amname = 'hnsw')`
  const index = await megabytes(hnsw)
  console.log(
    `MB: table ${table.toFixed(0)}, index ${index.toFixed(0)}, float32 index ${floats.toFixed(0)}: index ${(index / floats).toFixed(3)},`,
    `table and index ${((table + index) / (table + floats)).toFixed(3)}`,
  )
  await database.query('drop table public.hand')
}

/** Latency, processor time and recall of each filter, sequentially by one client. */
async function search(): Promise<void> {
  console.log('filter         keeps      p50 ms  p95 ms  CPU p95  recall@10')
  await database.session(async (session) => {
    for (const [cell, filter] of FILTERS.entries()) await searchWith(session, cell, filter)
  })
  console.log(`load ${load()}`)
}

async function searchWith(session: Session, cell: number, filter: Filter): Promise<void> {
  const { rows: processes } = await session.query<{ pid: number }>('select pg_backend_pid() as pid')
  const processorMs = () => processorTime(processes[0]!.pid)
  const times: number[] = []
  const processor: number[] = []
  let hits = 0
  let wanted = 0
  // The first pass warms the caches for the second one, which is measured.
  for (let q = -Math.min(10, QUERIES); q < QUERIES; q++) {
    const i = Math.abs(q) % QUERIES
    const [started, used] = [performance.now(), processorMs()]
    const { rows } = await session.query<{ id: number }>(
      `select id from geoembeddings.similarity_search(table_name => 'many', query_embedding => $1::vector,
         similarity_threshold => -1, result_limit => ${WANTED} ${argumentsOf(filter, queries[i]!)})`,
      [`[${queries[i]!.vector.join()}]`],
    )
    if (q < 0) continue
    times.push(performance.now() - started)
    processor.push(processorMs() - used)
    const truth = neighbours.of(i, cell).map(({ id }) => id)
    wanted += truth.length
    hits += rows.filter(({ id }) => truth.includes(id % 2 ** 32)).length
  }
  console.log(
    filter.name.padEnd(14),
    `${(shareOf(filter) * 100).toFixed(2)} %`.padEnd(8),
    quantile(times, 0.5).toFixed(1).padStart(8),
    quantile(times, 0.95).toFixed(1).padStart(7),
    quantile(processor, 0.95).toFixed(1).padStart(8),
    (hits / wanted).toFixed(4).padStart(10),
  )
}

function quantile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(part * values.length))]!
}

/** Processor time of a process of this machine in milliseconds; NaN for one of another machine. */
function processorTime(pid: number): number {
  const path = `/proc/${pid}/schedstat`
  return existsSync(path) ? Number(readFileSync(path, 'utf8').split(' ')[0]) / 1e6 : Number.NaN
}

function load(): string {
  return loadavg()[0]!.toFixed(1)
}
