// Loads rows of 1024 dimensions by the bulk load, by COPY of the same bytes encoded beforehand, and by INSERT of many
// rows, as in a program without COPY. Without DATABASE_URL it uses the embedded database.
import { pipeline } from 'node:stream/promises'
import { Readable } from 'node:stream'
import { seededRandom } from '@terrane/core'
import copyStreams from 'pg-copy-streams'
import { COPY_HEADER, COPY_TRAILER, CopyEncoder } from '../src/bulk-load/copy-binary.ts'
import { bulkLoad, type Column, type Row } from '../src/bulk-load/index.ts'
import type { Database } from '../src/index.ts'
import { openTestDatabase } from '@terrane/database/testing'

const ROWS = Number(process.argv[2] ?? 10_000)
const DIMS = 1024
const ROUNDS = 3
const columns: Column[] = [
  { name: 'id', type: 'int8' },
  { name: 'embedding', type: 'vector' },
]
const random = seededRandom(1)
const rows: Row[] = Array.from({ length: ROWS }, (_, id) => [
  id,
  Float32Array.from({ length: DIMS }, () => random() - 0.5),
])

await using test = await openTestDatabase()
const { database } = test
const checksum = rows.reduce((sum, [, v]) => sum + ((v as Float32Array)[7] as number), 0)

const ways: [string, () => Promise<number>][] = [['bulkLoad', load]]
ways.push(['COPY of encoded bytes', copyEncoded])
ways.push(['INSERT, 200 rows a statement', insert])
const best = new Map<string, number>()
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, way] of ways) {
    await database.query(`drop table if exists t; create table t (id bigint, embedding vector(${DIMS}))`)
    const seconds = await way()
    await verify(database)
    best.set(name, Math.min(best.get(name) ?? Infinity, seconds))
  }
}
const ours = best.get('bulkLoad') as number
console.log(`${ROWS} rows of ${DIMS} dimensions, ${database.capabilities.engine}, best of ${ROUNDS} interleaved rounds`)
for (const [name, seconds] of best) {
  console.log(
    `${name.padEnd(30)} ${seconds.toFixed(2)} s  ${Math.round(ROWS / seconds)} rows/s  ${(seconds / ours).toFixed(2)} × the time of bulkLoad`,
  )
}

async function load(): Promise<number> {
  const started = performance.now()
  await bulkLoad(database, { schema: 'public', table: 't', columns }, batches())
  return (performance.now() - started) / 1000
}

async function copyEncoded(): Promise<number> {
  const encoder = new CopyEncoder(columns)
  for (const row of rows) encoder.write(row)
  const bytes = Buffer.concat([COPY_HEADER, encoder.take(), COPY_TRAILER])
  const chunks = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, i) =>
    bytes.subarray(i * 65_536, (i + 1) * 65_536),
  )
  const started = performance.now()
  await database.session((session) =>
    pipeline(
      Readable.from(chunks),
      session.client.query(copyStreams.from('copy t (id, embedding) from stdin (format binary)')),
    ),
  )
  return (performance.now() - started) / 1000
}

async function insert(): Promise<number> {
  const started = performance.now()
  for (let at = 0; at < rows.length; at += 200) {
    const part = rows.slice(at, at + 200)
    const values = part.map((_, i) => `($${i * 2 + 1}, $${i * 2 + 2})`).join(', ')
    await database.query(
      `insert into t values ${values}`,
      part.flatMap(([id, v]) => [id, `[${(v as Float32Array).join(',')}]`]),
    )
  }
  return (performance.now() - started) / 1000
}

function* batches(): Generator<Row[]> {
  for (let at = 0; at < rows.length; at += 1000) yield rows.slice(at, at + 1000)
}

async function verify(db: Database): Promise<void> {
  const { rows: found } = await db.query<{ n: number; sum: number }>(
    'select count(*) as n, sum((embedding::real[])[8]::float8) as sum from t',
  )
  if (found[0]?.n !== ROWS || Math.abs(found[0].sum - checksum) > 1e-3)
    throw new Error(`the table holds something else: ${JSON.stringify(found)}`)
}
