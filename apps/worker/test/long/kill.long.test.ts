import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStore, type ObjectStore } from '@terrane/storage'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorker, submit, until, type TestWorker } from '../harness.ts'
import { features, indexParquet, overtureParquet, serveFiles, type FileServer } from '../overture-release.ts'
import { StoredTiles } from '../read-tiles.ts'

const KILLS = 10
const RELEASE = '2026-08-19.0'
const FEATURES = 20_000

let server: FileServer
let api: TestWorker
let store: ObjectStore
const children: ChildProcess[] = []

beforeAll(async () => {
  server = await serveFiles()
  const buildings = features(FEATURES, 'building', 1)
  const path = `/release/part.zstd.parquet`
  server.files.set(path, overtureParquet(buildings, 1000))
  server.files.set(
    `/${RELEASE}/collections.parquet`,
    indexParquet([{ type: 'building', href: `${server.base}${path}`, bbox: [0, 0, 11, 11] }]),
  )
  const links = [{ rel: 'child', href: `./${RELEASE}/catalog.json` }]
  server.files.set('/catalog.json', Buffer.from(JSON.stringify({ latest: RELEASE, links })))
  const lines = Array.from({ length: FEATURES }, (_, i) => {
    const geometry = {
      type: 'LineString',
      coordinates: Array.from({ length: 10 }, (__, k) => [(i % 170) + k / 100, (i % 80) + (k % 3) / 100]),
    }
    return `${JSON.stringify({ type: 'Feature', properties: { n: i, name: `line ${i}` }, geometry })}\n`
  })
  server.files.set('/lines.geojsonl', Buffer.from(lines.join('')))
  // This worker runs no jobs; the ones that do are processes of their own.
  api = await openWorker({
    env: {
      TERRANE_WORKER_CONCURRENCY: '0',
      TERRANE_OVERTURE_STAC_URL: `${server.base}/catalog.json`,
      TERRANE_FETCH_ALLOW_HOSTS: server.host,
      TERRANE_MAX_AOI_KM2: '0',
    },
  })
  store = openStore(api.env['TERRANE_STORAGE']!)
  await store.createBucket('pmtiles', { public: true, fileSizeLimit: null, allowedMimeTypes: null })
  await api.db.database.query(
    `create table source as select n as id, 'name ' || n % 100 as name,
       st_buffer(st_setsrid(st_makepoint(sin(n) * 10, cos(n * 7) * 10), 4326), 0.01 + n % 5 * 0.01, 16) as geom
     from generate_series(1, ${FEATURES}) n`,
  )
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await api[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

async function startRunner(): Promise<ChildProcess> {
  const child = fork(new URL('../task-runner.ts', import.meta.url), {
    env: { ...api.env, PORT: '45998' },
    stdio: 'inherit',
  })
  children.push(child)
  await once(child, 'message')
  return child
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

async function rowsOf(table: string): Promise<number | null> {
  const { rows } = await api.db.database.query<{ there: boolean }>('select to_regclass($1) is not null as there', [
    `public.${table}`,
  ])
  if (!rows[0]!.there) return null
  const counted = await api.db.database.query<{ rows: number }>(`select count(*) as rows from ${table}`)
  return counted.rows[0]!.rows
}

async function expectNothingLeft(): Promise<void> {
  const staging = await api.db.database.query(`select tablename from pg_tables where schemaname = 'terrane_staging'`)
  expect(staging.rows).toEqual([])
  expect(await readdir(api.env['TERRANE_WORK_DIR']!)).toEqual([])
  const keys: string[] = []
  for await (const { key } of store.list('pmtiles', '')) keys.push(key)
  expect(keys.filter((key) => key.startsWith('.'))).toEqual([])
}

const AREA = {
  type: 'Polygon',
  coordinates: [
    [
      [-1, -1],
      [12, -1],
      [12, 12],
      [-1, 12],
      [-1, -1],
    ],
  ],
}

describe.each([
  {
    task: 'archiveToPmtiles',
    body: () => ({ table: 'source', zooms: [0, 9] }),
    /** What is there is whole: null, or the number of its features. */
    whole: async () => {
      const info = await store.head('pmtiles', 'source.pmtiles')
      if (!info) return null
      const header = await new StoredTiles(store, 'source.pmtiles').header()
      return info.size === header.tileDataOffset + header.tileDataLength! ? FEATURES : -1
    },
  },
  {
    task: 'overtureImportArea',
    body: (name: string) => ({ areaName: 'x', aoiGeoJson: AREA, types: ['building'], tablePrefix: name }),
    whole: (name: string) => rowsOf(`${name}_building`),
  },
  {
    task: 'ogr2ogrImport',
    body: (name: string) => ({ fileUrl: `${server.base}/lines.geojsonl`, tableName: name }),
    whole: rowsOf,
  },
])('$task', ({ task, body, whole }) => {
  test(
    `killed at ${KILLS} points of its run, it never leaves half of anything, and ends well`,
    { timeout: 600_000 },
    async () => {
      let runner = await startRunner()
      const measured = await submit(api, task, body('k_measure'))
      await until(api, measured.body.links.self, ({ status }) => status === 'running')
      const started = performance.now()
      const first = await until(api, measured.body.links.self, ({ terminal }) => terminal, 120_000)
      const duration = performance.now() - started
      expect(first).toMatchObject({ status: 'success' })
      for (let round = 0; round < KILLS; round++) {
        const name = `k${round}`
        const { body: job } = await submit(api, task, body(name))
        await until(api, job.links.self, ({ status }) => status === 'running')
        await sleep((duration * (round + 0.5)) / KILLS)
        await kill(runner)
        expect([null, FEATURES]).toContain(await whole(name))
        runner = await startRunner()
        const done = await until(api, job.links.self, ({ terminal }) => terminal, 120_000)
        expect(done).toMatchObject({ status: 'success' })
        expect(await whole(name)).toBe(FEATURES)
        await expectNothingLeft()
      }
      await kill(runner)
    },
  )
})
