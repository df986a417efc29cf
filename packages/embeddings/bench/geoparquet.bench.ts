// Writing embeddings as GeoParquet, and reading the file with DuckDB, an independent reader. Goals: >= 2,000 rows/s at
// 1024 dimensions; DuckDB recognises the geometry column as GEOMETRY, and all values are equal.
import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { createWriteStream, existsSync, mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'

import { seededRandom } from '@terrane/core'

import { type Polygon, openGeoParquet } from '../src/index.ts'

const peer = join(import.meta.dirname, '../../../infra/peers/duckdb')
const folder = join(tmpdir(), 'terrane-bench')
mkdirSync(folder, { recursive: true })

for (const [rows, dims] of [
  [10_000, 1024],
  [20_000, 64],
] as const) {
  const path = join(folder, `embeddings-${dims}.parquet`)
  await write(path, rows, dims)
  await readWithDuckDb(path, rows, dims)
}

async function write(path: string, rows: number, dims: number): Promise<void> {
  const file = createWriteStream(path)
  const sink = {
    write: (bytes: Uint8Array) =>
      new Promise<void>((resolve, reject) => void file.write(bytes, (error) => (error ? reject(error) : resolve()))),
  }
  const delay = monitorEventLoopDelay({ resolution: 1 })
  const parts = Array.from({ length: rows / 500 }, (_, part) => part * 500)
  const batches = parts.map((first) => ({ first, embeddings: valuesOf(first, 500, dims) }))
  const columns = [
    { name: 'id', type: 'int64' },
    { name: 'valid_fraction', type: 'float' },
  ] as const
  const before = process.memoryUsage().rss
  let peak = before
  const started = performance.now()
  delay.enable()
  await using writer = openGeoParquet({ columns, dims, metadata: { model: 'bench' } }, sink)
  for (const { first, embeddings } of batches) {
    const ids = Array.from({ length: 500 }, (_, i) => first + i)
    await writer.append({
      columns: { id: ids, valid_fraction: new Float32Array(500).fill(1) },
      geometries: ids.map((id) => [squareOf(id)]),
      embeddings,
    })
    peak = Math.max(peak, process.memoryUsage().rss)
  }
  const { bytes } = await writer.finish()
  delay.disable()
  const seconds = (performance.now() - started) / 1000
  await new Promise((resolve) => file.end(resolve))
  const raw = (rows * dims * 4) / 1e6
  console.log(
    `${rows} × ${dims}: ${(rows / seconds).toFixed(0)} rows/s, ${(bytes / 1e6).toFixed(1)} MB ` +
      `(RATIO to the bare numbers ${(bytes / 1e6 / raw).toFixed(2)}), memory +${((peak - before) / 1e6).toFixed(0)} MB, ` +
      `longest stall of the event loop ${(delay.max / 1e6).toFixed(0)} ms`,
  )
}

async function readWithDuckDb(path: string, rows: number, dims: number): Promise<void> {
  if (!existsSync(join(peer, 'node_modules'))) {
    const { status } = spawnSync('pnpm', ['install', '--ignore-workspace', '--dir', peer], { stdio: 'ignore' })
    if (status !== 0) {
      console.log('SKIPPED: DuckDB could not be installed (infra/peers/duckdb)')
      return
    }
  }
  const { DuckDBInstance } = createRequire(join(peer, 'package.json'))('@duckdb/node-api')
  const connection = await (await DuckDBInstance.create()).connect()
  const query = async (sql: string): Promise<unknown[][]> => (await connection.runAndReadAll(sql)).getRowsJson()
  const from = `from read_parquet('${path}')`
  const [[type]] = (await query(`select typeof(geometry) ${from} limit 1`)) as [[string]]
  assert.match(type, /^GEOMETRY/)
  const [[count, lengths]] = (await query(`select count(*), sum(len(embedding)) ${from}`)) as [[string, string]]
  assert.deepEqual([Number(count), Number(lengths)], [rows, rows * dims])
  for (const id of [0, 1234, rows - 1]) {
    const [[embedding, xmin]] = (await query(`select embedding, bbox.xmin ${from} where id = ${id}`)) as [
      [number[], number],
    ]
    const start = Math.floor(id / 500) * 500
    assert.deepEqual(embedding.map(Number).map(Math.fround), [
      ...valuesOf(start, 500, dims).subarray((id - start) * dims, (id - start + 1) * dims),
    ])
    assert.equal(xmin, squareOf(id)[0]![0]![0])
  }
  console.log(`  DuckDB: geometry is ${type}, ${count} rows, values equal`)
}

/** Unit vectors. */
function valuesOf(first: number, rows: number, dims: number): Float32Array {
  const random = seededRandom(first + dims)
  const out = new Float32Array(rows * dims)
  for (let row = 0; row < rows; row++) {
    const vector = out.subarray(row * dims, (row + 1) * dims)
    for (let d = 0; d < dims; d++) vector[d] = random() - 0.5
    const norm = Math.hypot(...vector)
    for (let d = 0; d < dims; d++) vector[d]! /= norm
  }
  return out
}

function squareOf(id: number): Polygon {
  const [x, y, side] = [(id % 1000) / 1024, 45 + Math.floor(id / 1000) / 1024, 1 / 1024]
  return [
    [
      [x, y],
      [x + side, y],
      [x + side, y + side],
      [x, y + side],
      [x, y],
    ],
  ]
}
