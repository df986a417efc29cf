// An extract as large as you have, through what may happen to a job that takes many minutes. PostgreSQL only: the
// embedded database is not meant for a country.
//
//   TERRANE_TEST_EXTRACT  the file; without it this is skipped
import { mkdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { topicTables } from '@terrane/osm'
import { testLane } from '@terrane/database/testing'
import { openStore, type ObjectStore } from '@terrane/storage'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openGate, type Gate } from '../gate.ts'
import { HEADERS, openWorker, submit, until, type JobRecord, type TestWorker } from '../harness.ts'
import { boxOf } from '../osm-town.ts'
import { Runners } from '../runners.ts'
import { expectNothingLeft } from './task-cases.ts'

// oxlint-disable-next-line node/no-process-env -- Where a large file lies is a matter of the machine.
const extract = process.env['TERRANE_TEST_EXTRACT'] ?? ''
const skipped =
  extract === '' ? 'TERRANE_TEST_EXTRACT is not set' : testLane() === 'postgres' ? '' : 'it takes PostgreSQL'
const OSM_TABLES = topicTables().length
const PHASES: readonly string[] = ['nodes', 'ways', 'relations', 'indexes']
const GONE_MS = 20_000
const WITHIN_MS = 3 * 3_600_000

let api: TestWorker
let gate: Gate
let runners: Runners
let store: ObjectStore

describe.skipIf(skipped)(`a large extract${skipped && ` (SKIPPED: ${skipped})`}`, () => {
  beforeAll(async () => {
    api = await openWorker({
      env: {
        TERRANE_WORKER_CONCURRENCY: '0',
        TERRANE_SETTINGS: JSON.stringify({ worker: { maxAreaKm2: 0, maxOsmBytes: 2 ** 40 } }),
        TERRANE_DATA_ROOTS: dirname(extract),
      },
    })
    await mkdir(join(api.folder, 'work'), { recursive: true })
    store = openStore(api.env['TERRANE_STORAGE']!)
    await store.createBucket('pmtiles', { public: true, fileSizeLimit: null, allowedMimeTypes: null })
    const url = new URL(api.db.url)
    gate = await openGate(url.hostname, Number(url.port))
    url.host = `127.0.0.1:${gate.port}`
    runners = new Runners(new URL('../task-runner.ts', import.meta.url), { ...api.env, DATABASE_URL: url.href })
  })
  afterAll(async () => {
    runners[Symbol.dispose]()
    await gate[Symbol.asyncDispose]()
    await api[Symbol.asyncDispose]()
  })

  test(
    'is imported though a worker is killed and the next one loses its database',
    { timeout: WITHIN_MS },
    async () => {
      let runner = await runners.start()
      const self = await ask('osmImportArea', importOf('whole'))
      await reached(self, 'ways')
      await runners.end(runner, 'SIGKILL')
      expect(await tablesOf('whole')).toEqual([])
      runner = await runners.start()
      await reached(self, 'indexes', 2)
      gate.isShut = true
      await sleep(GONE_MS)
      gate.isShut = false
      const done = await ended(self)
      expect(done).toMatchObject({ status: 'success', error: null })
      const tables = done.result!['tables'] as readonly { name: string; rows: number }[]
      expect(await tablesOf('whole')).toEqual(tables.map(({ name }) => name).toSorted())
      expect(tables).toHaveLength(OSM_TABLES)
      for (const { name, rows } of tables) {
        const counted = await api.db.database.query<{ rows: number }>(`select count(*) as rows from "${name}"`)
        expect([name, counted.rows[0]!.rows]).toEqual([name, rows])
      }
      await expectNothingLeft({ api, store })
      await runners.end(runner, 'SIGTERM')
    },
  )

  test('becomes an archive though a worker is killed', { timeout: WITHIN_MS }, async () => {
    let runner = await runners.start()
    const self = await ask('archiveToPmtiles', { table: 'whole_buildings', zooms: [0, 13] })
    await until(api, self, ({ progress }) => (progress?.percent ?? 0) >= 30, WITHIN_MS)
    await runners.end(runner, 'SIGKILL')
    expect(await store.head('pmtiles', 'whole_buildings.pmtiles')).toBeNull()
    runner = await runners.start()
    expect(await ended(self)).toMatchObject({ status: 'success', error: null })
    await expectNothingLeft({ api, store })
    await runners.end(runner, 'SIGTERM')
  })

  test('leaves nothing when its import is cancelled', { timeout: WITHIN_MS }, async () => {
    const runner = await runners.start()
    const self = await ask('osmImportArea', importOf('never'))
    await reached(self, 'ways')
    expect((await api.app.inject({ method: 'DELETE', url: self, headers: HEADERS })).statusCode).toBe(202)
    expect(await ended(self)).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
    expect(await tablesOf('never')).toEqual([])
    await expectNothingLeft({ api, store })
    await runners.end(runner, 'SIGTERM')
  })
})

function importOf(tablePrefix: string): object {
  return {
    areaName: 'All of it',
    tablePrefix,
    aoiGeoJson: boxOf(-180, -90, 180, 90),
    source: { kind: 'file', path: basename(extract) },
  }
}

async function ask(task: string, body: object): Promise<string> {
  const { status, body: record } = await submit(api, task, body)
  expect([status, record.message]).toEqual([202, undefined])
  return record.links.self
}

/** Waits until an attempt has come so far. */
async function reached(self: string, phase: string, from = 1): Promise<void> {
  const hasCome = ({ attempt, progress }: JobRecord) =>
    attempt >= from && PHASES.indexOf(progress?.phase ?? '') >= PHASES.indexOf(phase)
  const job = await until(api, self, (now) => now.terminal || hasCome(now), WITHIN_MS)
  expect(job.error).toBeNull()
}

function ended(self: string): Promise<JobRecord> {
  return until(api, self, ({ terminal }) => terminal, WITHIN_MS)
}

async function tablesOf(prefix: string): Promise<string[]> {
  const { rows } = await api.db.database.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public' and starts_with(tablename, $1)`,
    [prefix],
  )
  return rows.map(({ name }) => name).toSorted()
}
