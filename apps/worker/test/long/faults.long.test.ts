// Waits: for a database that is away for longer than a worker keeps trying.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmdirSync } from 'node:fs'
import { mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { testLane } from '@terrane/database/testing'
import { openStore } from '@terrane/storage'
import { shareOfRun } from '@terrane/testing/property'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openGate, type Gate } from '../gate.ts'
import { submit, until } from '../harness.ts'
import { streetsPbf } from '../osm-town.ts'
import { Runners } from '../runners.ts'
import { ALL_FAULTS, expectNothingLeft, openTaskCases, TASKS, type TaskCases } from './task-cases.ts'

/** Time without a database in ms: longer than a run retries to store its result, and than the heartbeat timeout. */
const GONE_MS = ALL_FAULTS ? 60_000 : 20_000
/** Each fault takes the worker's own machinery, which is the same for all tasks, and the task's. */
const [AWAY, JUMPED] = ALL_FAULTS
  ? [TASKS, TASKS]
  : [
      shareOfRun('a database that is away', ['archiveToPmtiles', 'createGeoEmbeddings'], 1),
      shareOfRun('a clock that jumps', ['overtureImportArea', 'osmImportArea'], 1),
    ]
const HOUR_S = 3600
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'
/** A small file system of its own can be made, as by root only. */
const canMount = process.getuid?.() === 0
const SMALL = '1m'
const ROOMY = '512m'

let sources: TaskCases
let gate: Gate
let folder: string
beforeAll(async () => {
  sources = await openTaskCases()
  const { hostname, port } = new URL(sources.api.db.url)
  gate = await openGate(hostname, Number(port))
  folder = await mkdtemp(join(tmpdir(), 'terrane-faults-'))
})
afterAll(async () => {
  await gate[Symbol.asyncDispose]()
  await sources[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

/** Workers with an environment of their own. */
function runnersWith(env: Readonly<Record<string, string>>): Runners {
  return new Runners(new URL('../task-runner.ts', import.meta.url), { ...sources.api.env, ...env })
}

async function ask(task: string, name: string, more: object = {}) {
  const one = sources.cases.find((candidate) => candidate.task === task)!
  const { status, body } = await submit(sources.api, task, { ...one.body(name), ...more })
  expect([status, body.message]).toEqual([202, undefined])
  return { ...one, self: body.links.self }
}

const isRunning = ({ status }: { readonly status: string }) => status !== 'pending'

/** Checks the invariants after a job, with and without faults. */
async function expectWhole({ found, remove }: Awaited<ReturnType<typeof ask>>, name: string): Promise<void> {
  expect(await found(name)).toBe('whole')
  await expectNothingLeft(sources)
  await remove(name)
}

describe(`faults (${testLane()})`, () => {
  test.each(AWAY)('%s outlives a database that is away for a while', async (task) => {
    const url = new URL(sources.api.db.url)
    url.host = `127.0.0.1:${gate.port}`
    using runners = runnersWith({ DATABASE_URL: url.href })
    await runners.start()
    const job = await ask(task, 'gone')
    await until(sources.api, job.self, isRunning)
    await sleep(300)
    gate.isShut = true
    await sleep(GONE_MS)
    gate.isShut = false
    const done = await until(sources.api, job.self, ({ terminal }) => terminal, 120_000)
    expect(done).toMatchObject({ status: 'success', error: null })
    await expectWhole(job, 'gone')
  })

  test.runIf(existsSync(FAKETIME)).each(JUMPED)(
    '%s outlives a clock that jumps by an hour (SKIPPED without libfaketime)',
    async (task) => {
      const clock = join(folder, 'clock')
      await writeFile(clock, '+0')
      using runners = runnersWith({
        LD_PRELOAD: FAKETIME,
        FAKETIME_TIMESTAMP_FILE: clock,
        FAKETIME_NO_CACHE: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      })
      const runner = await runners.start()
      const job = await ask(task, 'jump')
      await until(sources.api, job.self, isRunning)
      await writeFile(clock, `+${HOUR_S}`)
      await sleep(500)
      await writeFile(clock, `-${HOUR_S}`)
      const done = await until(sources.api, job.self, ({ terminal }) => terminal, 120_000)
      expect(done).toMatchObject({ status: 'success', attempt: 1, error: null })
      await expectWhole(job, 'jump')
      await runners.end(runner, 'SIGTERM')
    },
  )

  describe.runIf(canMount)('disks that are full (SKIPPED where mounting is not allowed)', () => {
    let disk: Disk
    beforeAll(() => {
      disk = openDisk(folder)
    })
    afterAll(() => disk[Symbol.dispose]())

    test.each([
      // Tiles up to this zoom do not fit into the least memory that a job may have.
      ['archiveToPmtiles', { zooms: [0, 11] }],
      ['ogr2ogrImport', {}],
    ])('%s says that the work folder is full, leaves nothing, and works when there is room', async (task, more) => {
      using runners = runnersWith({ TERRANE_WORK_DIR: disk.path, TERRANE_TILER_MEMORY_MB: '16' })
      await runners.start()
      disk.resize(SMALL)
      const job = await ask(task, 'full', more)
      const ended = await until(sources.api, job.self, ({ terminal }) => terminal, 120_000)
      expect(ended).toMatchObject({ status: 'failed', error: { code: 'DISK_FULL' } })
      expect(await job.found('full')).toBe('nothing')
      expect(await readdir(disk.path)).toEqual([])
      await expectNothingLeft(sources)
      disk.resize(ROOMY)
      const again = await ask(task, 'full', more)
      const done = await until(sources.api, again.self, ({ terminal }) => terminal, 120_000)
      expect(done).toMatchObject({ status: 'success', error: null })
      await expectWhole(again, 'full')
    })

    test('osmImportArea says what it needs and what is free, before it writes and when it wrote, and leaves nothing', async () => {
      const pbf = streetsPbf(330)
      const data = join(sources.api.folder, 'data')
      await writeFile(join(data, 'streets.osm.pbf'), pbf)
      // The size of packed data is unknown before they are unpacked.
      await writeFile(join(data, 'streets.osm.pbf.gz'), gzipSync(pbf))
      using runners = runnersWith({ TERRANE_WORK_DIR: disk.path, TERRANE_OSM_MEMORY_MB: '1' })
      await runners.start()
      const importing = async (path: string) => {
        const job = await ask('osmImportArea', 'full', { topics: ['streets'], source: { kind: 'file', path } })
        return until(sources.api, job.self, ({ terminal }) => terminal, 120_000)
      }
      disk.resize(SMALL)
      const before = `: ${330 * 330 * 16} bytes are needed, \\d+ bytes are free`
      const onTheWay = String.raw`: \d+ of \d+ bytes are free without the files of this job`
      for (const [path, figures] of [
        ['streets.osm.pbf', before],
        ['streets.osm.pbf.gz', onTheWay],
      ] as const) {
        // prettier-ignore
        const ended = await importing(path)
        expect(ended).toMatchObject({ status: 'failed', error: { code: 'DISK_FULL' } })
        expect(ended.error?.message).toMatch(new RegExp(`${figures}, the folder is ${disk.path}$`))
        expect(await readdir(disk.path)).toEqual([])
        await expectNothingLeft(sources)
      }
      disk.resize(ROOMY)
      expect(await importing('streets.osm.pbf.gz')).toMatchObject({ status: 'success', error: null })
      await sources.api.db.database.query('drop table full_streets')
    })

    test('an archive says that the storage is full, and leaves nothing there', async () => {
      disk.resize(SMALL)
      const storage = `file:${join(disk.path, 'storage')}`
      using runners = runnersWith({ TERRANE_STORAGE: storage })
      await runners.start()
      const store = openStore(storage)
      await store.createBucket('pmtiles', { public: true, fileSizeLimit: null, allowedMimeTypes: null })
      const job = await ask('archiveToPmtiles', 'full')
      const ended = await until(sources.api, job.self, ({ terminal }) => terminal, 120_000)
      expect(ended).toMatchObject({ status: 'failed', error: { code: 'STORAGE_FULL' } })
      const keys = await Array.fromAsync(store.list('pmtiles', ''), ({ key }) => key)
      expect(keys).toEqual([])
      await expectNothingLeft(sources)
    })
  })

  test.runIf(canMount && testLane() === 'postgres').for(['overtureImportArea', 'createGeoEmbeddings'])(
    '%s says that the database is full, leaves nothing, and works when there is room (SKIPPED where the server is on another machine)',
    async (task, { skip }) => {
      await using space = await openSpace()
      if (!space) return skip('the server of DATABASE_URL is not on this machine')
      using runners = runnersWith({})
      await runners.start()
      space.resize(SMALL)
      const job = await ask(task, 'full')
      const ended = await until(sources.api, job.self, ({ terminal }) => terminal, 120_000)
      expect(ended).toMatchObject({ status: 'failed', error: { code: 'DATABASE_FULL' } })
      expect(await job.found('full')).toBe('nothing')
      await expectNothingLeft(sources)
      space.resize(ROOMY)
      const again = await ask(task, 'full')
      const done = await until(sources.api, again.self, ({ terminal }) => terminal, 120_000)
      expect(done).toMatchObject({ status: 'success', error: null })
      await expectWhole(again, 'full')
    },
  )
})

/** A file system of its own, whose size can be changed. */
interface Disk extends Disposable {
  readonly path: string
  resize(size: string): void
}

function openDisk(within: string): Disk {
  const path = mkdtempSync(join(within, 'disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${ROOMY}`, 'tmpfs', path])
  return {
    path,
    resize: (size) => void execFileSync('mount', ['-o', `remount,size=${size}`, path]),
    [Symbol.dispose]: () => {
      execFileSync('umount', ['-l', path])
      rmdirSync(path)
    },
  }
}

/** Has new tables of the test's database lie on a disk of their own; null when the server is on another machine. */
async function openSpace(): Promise<(AsyncDisposable & Pick<Disk, 'resize'>) | null> {
  const { database, url } = sources.api.db
  const { rows } = await database.query<{ pid: number; data: string }>(
    `select pg_backend_pid() as pid, current_setting('data_directory') as data`,
  )
  const { pid, data } = rows[0]!
  // The server may have a root of its own.
  const root = await readlink(`/proc/${pid}/root`).catch(() => null)
  if (root === null || !existsSync(join(root, data, 'PG_VERSION'))) return null
  const disk = openDisk(join(root, 'tmp'))
  const name = new URL(url).pathname.slice(1)
  const space = `full_${process.pid}`
  execFileSync('chown', ['--reference', join(root, data), disk.path])
  await database.query(`create tablespace ${space} location '/${relative(root, disk.path)}'`)
  await database.query(`alter database "${name}" set default_tablespace = '${space}'`)
  return {
    resize: (size) => disk.resize(size),
    [Symbol.asyncDispose]: async () => {
      await database.query(`alter database "${name}" reset default_tablespace`)
      await database.query(`drop tablespace ${space}`)
      disk[Symbol.dispose]()
    },
  }
}
