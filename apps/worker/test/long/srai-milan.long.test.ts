// A real extract, from the request to a search, at three resolutions; figures are printed as a table.
import { cpSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { gridDisk } from 'h3-js'
import { seededRandom } from '@terrane/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWorker, submit, until, type JobRecord, type TestWorker } from '../harness.ts'
import { boxOf } from '../osm-town.ts'
import { sharedFolder } from './shared.ts'

const extract = sharedFolder('data/osm')
const absent = ' (SKIPPED: no extracts here)'
const MILAN = boxOf(9.1, 45.4, 9.28, 45.54)

let worker: TestWorker
beforeAll(async () => {
  worker = await openWorker()
  await mkdir(join(worker.folder, 'data'))
  if (extract) cpSync(join(extract, 'milan-2015.osm.pbf'), join(worker.folder, 'data', 'milan.osm.pbf'))
})
afterAll(() => worker[Symbol.asyncDispose]())

async function run(body: object): Promise<JobRecord> {
  const sent = { aoiGeoJson: MILAN, source: { kind: 'file', path: 'milan.osm.pbf' }, ...body }
  const { status, body: record } = await submit(worker, 'createSraiEmbeddings', sent)
  expect(record.message ?? status).toBe(202)
  const job = await until(worker, record.links.self, ({ terminal }) => terminal, 600_000)
  expect(job).toMatchObject({ status: 'success', error: null })
  return job
}

async function search(table: string): Promise<{ ms: number; found: number }> {
  const started = performance.now()
  const { rows } = await worker.db.database.query<{ similarity: number }>(
    `select similarity from geoembeddings.similarity_search($1, lon => 9.19, lat => 45.464, result_limit => 20)`,
    [table],
  )
  const ms = performance.now() - started
  expect(rows[0]?.similarity).toBeCloseTo(1, 5)
  return { ms: Math.round(ms), found: rows.length }
}

test.skipIf(!extract).for([
  [8, 'count'],
  [9, 'count'],
  [10, 'count'],
  [8, 'contextual-count'],
  [9, 'contextual-count'],
  [10, 'contextual-count'],
  [8, 'hex2vec'],
  [9, 'hex2vec'],
  [10, 'hex2vec'],
] as const)(`Milan at resolution %i by %s${extract ? '' : absent}`, async ([h3Resolution, embedder]) => {
  const tableName = `milan_${h3Resolution}_${embedder.replace('-', '_')}`
  let peak = 0
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 50)
  const started = performance.now()
  const job = await run({ tableName, h3Resolution, embedder })
  const seconds = (performance.now() - started) / 1000
  clearInterval(watch)
  const { rows, dims, features, zero_vectors: zeros, timings } = job.result as Record<string, number>
  const { ms, found } = await search(tableName)
  expect(found).toBe(20)
  process.stdout.write(
    `${tableName}: ${rows} cells, ${dims} dims, ${features} features, ${zeros} zero vectors, ${seconds.toFixed(1)} s ` +
      `${JSON.stringify(timings)}, rss ${(peak / 2 ** 20).toFixed(0)} MB, search ${ms} ms\n`,
  )
})

test.skipIf(!extract)(
  `hex2vec brings neighbours in Milan closer than random pairs, by 0.2 of cosine${extract ? '' : absent}`,
  async () => {
    await run({ tableName: 'margin', h3Resolution: 9, embedder: 'hex2vec', osmPreset: 'hex2vec' })
    const { rows } = await worker.db.database.query<{ cell: string; vector: string }>(
      'select h3_index as cell, embedding::text as vector from geoembeddings.margin order by id',
    )
    const vectors = new Map(rows.map(({ cell, vector }) => [cell, JSON.parse(vector) as number[]]))
    const cells = [...vectors.keys()]
    const random = seededRandom(1)
    let near = 0
    let far = 0
    let pairs = 0
    for (const cell of cells) {
      const neighbour = gridDisk(cell, 1).find((other) => other !== cell && vectors.has(other))
      const other = cells[Math.floor(random() * cells.length)]!
      if (neighbour === undefined || other === cell) continue
      near += cosine(vectors.get(cell)!, vectors.get(neighbour)!)
      far += cosine(vectors.get(cell)!, vectors.get(other)!)
      pairs++
    }
    process.stdout.write(`hex2vec margin: neighbours ${near / pairs}, random ${far / pairs}, ${pairs} pairs\n`)
    expect(near / pairs - far / pairs).toBeGreaterThan(0.2)
  },
)

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = a.reduce((sum, value, i) => sum + value * b[i]!, 0)
  return dot / (Math.hypot(...a) * Math.hypot(...b) || 1)
}
