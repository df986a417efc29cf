import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BUILT_IN_MODEL } from '@terrane/embeddings'
import { textureImage, writeGeoTiff } from '@terrane/testing/geotiff'
import type { ChildProcess } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HEADERS, openWorker, read, submit, until, type JobRecord, type TestWorker } from '../harness.ts'
import { Runners } from '../runners.ts'

const TASK = 'createGeoEmbeddings'
const SCENES = 100
const BROKEN = 37
const SIDE = 256
const TILE = 64
const PER_SCENE = (SIDE / TILE) ** 2
const MAX_WORKERS = 4

let api: TestWorker
let runners: Runners

beforeAll(async () => {
  api = await openWorker({
    env: {
      TERRANE_WORKER_CONCURRENCY: '0',
      TERRANE_PROJECT_CONCURRENCY: String(MAX_WORKERS),
      TERRANE_INFERENCE_THREADS: '1',
    },
  })
  for (const folder of ['data', 'work']) await mkdir(join(api.folder, folder), { recursive: true })
  for (let i = 0; i < SCENES; i++) await writeFile(join(api.folder, 'data', fileOf(i)), await scene(i))
  await writeFile(join(api.folder, 'data', fileOf(BROKEN)), 'no raster')
  runners = new Runners(new URL('../task-runner.ts', import.meta.url), api.env)
})
afterAll(async () => {
  runners[Symbol.dispose]()
  await api[Symbol.asyncDispose]()
})

const fileOf = (i: number) => `scene-${String(i).padStart(3, '0')}.tif`

function scene(i: number): Promise<Uint8Array> {
  const image = textureImage({ width: SIDE, height: SIDE, bands: 3, seed: i, noise: 8, type: 'uint8' })
  const affine = [400_000 + (i % 10) * 2560, 10, 0, 5_500_000 - Math.floor(i / 10) * 2560, 0, -10] as const
  return writeGeoTiff(image, { type: 'uint8', compression: 'deflate', georeference: { epsg: 32633, affine } })
}

const body = (tableName: string) => ({
  modelName: BUILT_IN_MODEL,
  tileSize: TILE,
  tableName,
  sources: Array.from({ length: SCENES }, (_, i) => ({ geotiffPath: fileOf(i) })),
})

/** A hash of every row, in order, and how many of each source there are. */
async function contentOf(table: string) {
  const { rows } = await api.db.database.query<{
    hash: string
    rows: number
    sources: number
    most: number
    least: number
  }>(
    `select (select md5(string_agg(md5(t::text), '' order by id)) from geoembeddings.${table} t) as hash, sum(n)::int as rows,
       count(*) as sources, max(n) as most, min(n) as least
     from (select count(*) as n from geoembeddings.${table} group by id >> 32) s`,
  )
  return rows[0]!
}

async function nothingLeft() {
  const { rows } = await api.db.database.query(`select tablename from pg_tables where schemaname = 'terrane_staging'`)
  expect({ tables: rows, work: await readdir(join(api.folder, 'work')) }).toEqual({ tables: [], work: [] })
}

const partsDone = ({ progress }: JobRecord) => (progress?.total === SCENES ? progress.done : 0)

test('a hundred scenes, one of them broken, killed twice, give the same rows by 1, 2 and 4 workers', async () => {
  const hashes: string[] = []
  for (const workers of [1, 2, MAX_WORKERS]) {
    const names = Array.from({ length: workers }, (_, i) => i)
    const running: ChildProcess[] = await Promise.all(names.map((which) => runners.start(which)))
    const table = `by_${workers}`
    const { status, body: job } = await submit(api, TASK, body(table))
    expect(status).toBe(202)
    for (const [kill, done] of [20, 60].entries()) {
      const now = await until(api, job.links.self, (record) => partsDone(record) >= done || record.terminal, 300_000)
      expect(now.terminal).toBe(false)
      const which = kill % workers
      await runners.end(running[which]!, 'SIGKILL')
      running[which] = await runners.start(which)
    }
    const record = await until(api, job.links.self, ({ terminal }) => terminal, 300_000)
    expect(record).toMatchObject({
      status: 'success',
      result: {
        rows: (SCENES - 1) * PER_SCENE,
        sources: {
          total: SCENES,
          done: SCENES - 1,
          failed: 1,
          failures: [{ name: fileOf(BROKEN), code: 'NOT_A_GEOTIFF' }],
        },
        warnings: [{ code: 'SOURCES_FAILED', count: 1, examples: [fileOf(BROKEN)] }],
      },
    })
    const { hash, ...counts } = await contentOf(table)
    expect(counts).toEqual({ rows: (SCENES - 1) * PER_SCENE, sources: SCENES - 1, most: PER_SCENE, least: PER_SCENE })
    hashes.push(hash)
    await Promise.all(running.map((child) => runners.end(child, 'SIGTERM')))
    await nothingLeft()
  }
  expect(new Set(hashes).size).toBe(1)
}, 900_000)

test('a cancelled collection leaves nothing, and what is submitted again with append skips what is done', async () => {
  const running = await Promise.all([0, 1].map((which) => runners.start(which)))
  const { body: job } = await submit(api, TASK, body('cancelled'))
  await until(api, job.links.self, (record) => partsDone(record) >= 10, 300_000)
  await api.app.inject({ method: 'DELETE', url: job.links.self, headers: HEADERS })
  expect(await until(api, job.links.self)).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
  const { body: again } = await submit(api, TASK, { ...body('by_1'), mode: 'append' })
  expect(await until(api, again.links.self, ({ terminal }) => terminal, 300_000)).toMatchObject({
    status: 'success',
    result: { rows: (SCENES - 1) * PER_SCENE, sources: { done: 0, unchanged: SCENES - 1, failed: 1 } },
  })
  const { body: parts } = await read(api, `/jobs/${TASK}?parent=${job.id}&limit=100`)
  expect(parts.data.every(({ terminal }) => terminal)).toBe(true)
  await Promise.all(running.map((child) => runners.end(child, 'SIGTERM')))
  await nothingLeft()
}, 600_000)
