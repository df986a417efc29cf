import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { testLane } from '@terrane/database/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openGate, type Gate } from '../gate.ts'
import { read, submit, until } from '../harness.ts'
import { Runners } from '../runners.ts'
import { expectNothingLeft, openTaskCases, TASKS, type TaskCases } from './task-cases.ts'

/** How long the database is away: longer than a run tries to write down its end, and than a silence that counts as a loss. */
const GONE_MS = 20_000
const HOUR_S = 3600
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'
/** A small file system of its own can be made, as by root only. */
const canMount = process.getuid?.() === 0
const SMALL = '2m'
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

async function ask(task: string, name: string) {
  const one = sources.cases.find((candidate) => candidate.task === task)!
  const { status, body } = await submit(sources.api, task, one.body(name))
  expect([status, body.message]).toEqual([202, undefined])
  return { ...one, self: body.links.self }
}

const isRunning = ({ status }: { readonly status: string }) => status !== 'pending'

/** What holds after a job whatever has happened. */
async function expectWhole({ found, remove }: Awaited<ReturnType<typeof ask>>, name: string): Promise<void> {
  expect(await found(name)).toBe('whole')
  await expectNothingLeft(sources)
  await remove(name)
}

describe(`faults (${testLane()})`, () => {
  test.each(TASKS)('%s outlives a database that is away for a while', async (task) => {
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

  test.runIf(existsSync(FAKETIME)).each(TASKS)(
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

  describe.runIf(canMount)('disks that are full (SKIPPED where nobody may mount one)', () => {
    let disk: string
    beforeAll(async () => {
      disk = join(folder, 'disk')
      await mkdir(disk)
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SMALL}`, 'tmpfs', disk])
    })
    afterAll(() => {
      execFileSync('umount', ['-l', disk])
    })
    const resize = (size: string) => execFileSync('mount', ['-o', `remount,size=${size}`, disk])

    test.each(['archiveToPmtiles', 'ogr2ogrImport'])(
      '%s says that the work folder is full, leaves nothing, and works when there is room',
      async (task) => {
        using runners = runnersWith({ TERRANE_WORK_DIR: disk })
        await runners.start()
        resize(SMALL)
        const job = await ask(task, 'full')
        const ended = await until(sources.api, job.self, ({ terminal }) => terminal, 120_000)
        expect(ended).toMatchObject({ status: 'failed', error: { code: 'DISK_FULL' } })
        expect(await job.found('full')).toBe('nothing')
        await expectNothingLeft(sources)
        resize(ROOMY)
        const again = await ask(task, 'full')
        expect(await until(sources.api, again.self, ({ terminal }) => terminal, 120_000)).toMatchObject({
          status: 'success',
        })
        await expectWhole(again, 'full')
      },
    )

    test('an archive says that the storage is full, and leaves nothing there', async () => {
      resize(SMALL)
      using runners = runnersWith({ TERRANE_STORAGE: `file:${disk}/storage` })
      await runners.start()
      const { openStore } = await import('@terrane/storage')
      const store = openStore(`file:${disk}/storage`)
      await store.createBucket('pmtiles', { public: true, fileSizeLimit: null, allowedMimeTypes: null })
      const job = await ask('archiveToPmtiles', 'full')
      const ended = await until(sources.api, job.self, ({ terminal }) => terminal, 120_000)
      expect(ended).toMatchObject({ status: 'failed', error: { code: 'STORAGE_FULL' } })
      const keys = await Array.fromAsync(store.list('pmtiles', ''), ({ key }) => key)
      expect(keys).toEqual([])
      await expectNothingLeft(sources)
    })

    test.runIf(testLane() === 'postgres').each(['overtureImportArea', 'createGeoEmbeddings'])(
      '%s says that the database is full, leaves nothing, and works when there is room',
      async (task) => {
        const { database, url } = sources.api.db
        const space = `full_${Date.now()}`
        const name = new URL(url).pathname.slice(1)
        const place = join(disk, space)
        await mkdir(place)
        const { rows } = await database.query<{ folder: string }>(`select current_setting('data_directory') as folder`)
        // The tablespace is the server's own user's.
        if (!existsSync(rows[0]!.folder)) throw new Error('the server is on another machine: run this beside it')
        execFileSync('chown', ['--reference', rows[0]!.folder, place])
        execFileSync('chmod', ['a+rx', folder, disk])
        resize(ROOMY)
        await database.query(`create tablespace ${space} location '${place}'`)
        await database.query(`alter database "${name}" set default_tablespace = '${space}'`)
        try {
          using runners = runnersWith({})
          await runners.start()
          resize(SMALL)
          const job = await ask(task, 'full')
          const ended = await until(sources.api, job.self, ({ terminal }) => terminal, 120_000)
          expect(ended).toMatchObject({ status: 'failed', error: { code: 'DATABASE_FULL' } })
          expect(await job.found('full')).toBe('nothing')
          await expectNothingLeft(sources)
          resize(ROOMY)
          const again = await ask(task, 'full')
          await until(sources.api, again.self, ({ terminal }) => terminal, 120_000)
          expect(await read(sources.api, again.self)).toMatchObject({ body: { status: 'success', error: null } })
          await expectWhole(again, 'full')
        } finally {
          await database.query(`alter database "${name}" reset default_tablespace`)
          await database.query(`drop tablespace ${space}`)
        }
      },
    )
  })
})
