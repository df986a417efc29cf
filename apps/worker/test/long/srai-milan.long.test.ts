// A real extract, from the request to a search, at three resolutions; figures are printed as a table.
import { cpSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { gridDisk } from 'h3-js'
import { seededRandom } from '@terrane/core'
import { shareOfRun } from '@terrane/testing/property'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWorker, submit, until, type JobRecord, type TestWorker } from '../harness.ts'
import { boxOf } from '../osm-town.ts'
import { sharedFolder } from './shared.ts'

const extract = sharedFolder('data/osm')
const absent = ' (SKIPPED: no extracts here)'
const MILAN = boxOf(9.1, 45.4, 9.28, 45.54)
/** The tags of this extract, which was made for routing. */
const TAGS = { highway: true, railway: true, amenity: true, public_transport: true, barrier: true }
const LIECHTENSTEIN = boxOf(9.47, 47.04, 9.64, 47.28)

let worker: TestWorker
beforeAll(async () => {
  worker = await openWorker()
  await mkdir(join(worker.folder, 'data'))
  for (const file of extract ? ['milan-2015.osm.pbf', 'liechtenstein-2021.osm.pbf'] : []) {
    cpSync(join(extract!, file), join(worker.folder, 'data', file))
  }
})
afterAll(() => worker[Symbol.asyncDispose]())

async function run(body: object): Promise<JobRecord> {
  const source = { kind: 'file', path: 'milan-2015.osm.pbf' }
  const sent = { aoiGeoJson: MILAN, osmTags: TAGS, source, ...body }
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

/** Four by the seed, or all. */
const MODELS = shareOfRun(
  'Milan: resolutions and embedders',
  [
    [8, 'count'],
    [9, 'count'],
    [10, 'count'],
    [8, 'contextual-count'],
    [9, 'contextual-count'],
    [10, 'contextual-count'],
    [8, 'hex2vec'],
    [9, 'hex2vec'],
    [10, 'hex2vec'],
  ] as const,
  4,
  (row) => row.join(' '),
)

test.skipIf(!extract).for(MODELS)(
  `Milan at resolution %i by %s${extract ? '' : absent}`,
  async ([h3Resolution, embedder]) => {
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
  },
)

interface MarginCase {
  readonly tableName: string
  readonly body: object
  readonly margin: number
}

const liechtenstein = {
  aoiGeoJson: LIECHTENSTEIN,
  source: { kind: 'file', path: 'liechtenstein-2021.osm.pbf' },
  osmTags: undefined,
  osmPreset: 'hex2vec',
}
test.skipIf(!extract).for<MarginCase>([
  { tableName: 'milan', body: {}, margin: 0.3 },
  { tableName: 'liechtenstein', body: liechtenstein, margin: 0.3 },
])(
  `hex2vec brings neighbours with features in $tableName closer than random pairs, by $margin of cosine${extract ? '' : absent}`,
  async ({ tableName, body, margin }) => {
    const request = { ...body, h3Resolution: 9 }
    await run({ ...request, tableName: `${tableName}_counts`, embedder: { kind: 'count', subcategories: false } })
    const job = await run({ ...request, tableName: `${tableName}_learned`, embedder: 'hex2vec' })
    const { rows } = await worker.db.database.query<{ cell: string; vector: string }>(
      `select l.h3_index as cell, l.embedding::text as vector
       from geoembeddings.${tableName}_learned l join geoembeddings.${tableName}_counts c on c.id = l.id
       where vector_norm(c.embedding) > 0 order by l.id`,
    )
    const vectors = new Map(rows.map(({ cell, vector }) => [cell, JSON.parse(vector) as number[]]))
    const cells = [...vectors.keys()]
    const random = seededRandom(1)
    const pairs = cells.flatMap((cell) => {
      const neighbour = gridDisk(cell, 1).find((other) => other !== cell && vectors.has(other))
      const other = cells[Math.floor(random() * cells.length)]!
      if (neighbour === undefined || other === cell) return []
      const vector = vectors.get(cell)!
      return [{ near: cosine(vector, vectors.get(neighbour)!), far: cosine(vector, vectors.get(other)!) }]
    })
    const near = pairs.reduce((sum, pair) => sum + pair.near, 0) / pairs.length
    const far = pairs.reduce((sum, pair) => sum + pair.far, 0) / pairs.length
    const [entry] = (
      await worker.db.database.query<{ losses: number[] }>(
        `select metadata->'losses' as losses from geoembeddings.embeddings_catalogue where table_name = $1`,
        [`${tableName}_learned`],
      )
    ).rows
    process.stdout.write(
      `${tableName}, hex2vec: neighbours ${near.toFixed(3)}, random ${far.toFixed(3)}, ${pairs.length} pairs of ` +
        `${String(job.result?.['rows'])} cells, losses ${entry?.losses.map((loss) => loss.toFixed(3)).join(' ')}\n`,
    )
    expect(entry?.losses.at(-1)).toBeLessThan(entry?.losses[0] ?? 0)
    expect(near - far).toBeGreaterThan(margin)
  },
)

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = a.reduce((sum, value, i) => sum + value * b[i]!, 0)
  return dot / (Math.hypot(...a) * Math.hypot(...b) || 1)
}
