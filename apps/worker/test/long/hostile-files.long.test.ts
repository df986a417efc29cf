// Slow: files that hold their reader are ended after 45 seconds of CPU time, which a busy machine gives it in minutes.
import { once } from 'node:events'
import { readFile, readdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Keys, Organizations, Projects } from '@terrane/control'
import { openTestDatabase, testLane } from '@terrane/database/testing'
import { createSealer, parseSecretsKey } from '@terrane/service'
import { shareOfRun } from '@terrane/testing/property'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorker, read, submit, type JobRecord, type TestWorker } from '../harness.ts'
import { hostileFiles, type Refusals } from './hostile-files.ts'
import { ChildWatch } from './reading-processes.ts'
import { sharedFolder } from './shared.ts'

const SECRETS_KEY = 'ab'.repeat(32)
const TASK = 'ogr2ogrImport'
const SEED = 20_261_127
const MOST_CPU_SECONDS = 60
const MOST_BYTES = 512 * 1024 * 1024
/** CPU time of a reader that must have been ended while it computed: an import of one row takes a twentieth of it. */
const LONG_CPU_SECONDS = 40
const JOB_MS = 1_800_000
/** Files of a run that is not whole: all of them take ten minutes of CPU time. */
const SHARE = 5
/** Times that a look is taken while another one holds its place, which ends after 30 seconds however slow the machine is. */
const LOOKS = 5
/** Places of this machine, and what only the code knows. */
const OWN = /terrane-|node_modules|\/tmp\/|\/home\/|\/packages\/|\.ts\b|is not a function|Cannot read prop|ulimit/
const REFUSED = ['FILE_TOO_COSTLY', 'CONVERSION_FAILED']

const found = sharedFolder('data/round3/hostile')
const files: Record<string, readonly [Buffer, Refusals]> = { ...(await hostileFiles(SEED)) }
if (found) for (const name of await readdir(found)) files[name] = [await readFile(join(found, name)), REFUSED]

const FILES = shareOfRun('hostile files', Object.entries(files), SHARE, ([name]) => name)

describe.runIf(process.platform === 'linux')(`hostile files (${testLane()})`, () => {
  const opened = new AsyncDisposableStack()
  const headers: Record<string, Record<string, string>> = {}
  let worker: TestWorker
  let base: string
  let made = 0

  beforeAll(async () => {
    const project = opened.use(await openTestDatabase())
    const server = createServer((request, response) => {
      const name = decodeURIComponent(request.url!.slice(1))
      response.end(files[name]?.[0] ?? 'n,lon,lat\n1,8.5,47.25\n')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    opened.defer(() => void server.close())
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    worker = await openWorker({
      env: {
        TERRANE_MODE: 'shared',
        TERRANE_SECRETS_KEY: SECRETS_KEY,
        TERRANE_ALLOW_PROJECT_TARGET: 'true',
        TERRANE_WORKER_CONCURRENCY: '2',
        TERRANE_FETCH_ALLOW_HOSTS: '127.0.0.1',
      },
    })
    const { database } = worker.db
    const sealer = createSealer(parseSecretsKey(SECRETS_KEY)!)
    for (const ref of ['hostile', 'honest']) {
      const { id: organizationId } = await new Organizations(database).create(ref)
      const { key } = await new Keys(database, sealer).issue({ organizationId, role: 'services' })
      headers[ref] = { apikey: key, authorization: `Bearer ${key}` }
      await new Projects(database, sealer).create({ organizationId, ref, credentials: { databaseUrl: project.url } })
    }
  }, 300_000)
  afterAll(async () => {
    await worker[Symbol.asyncDispose]()
    await opened.disposeAsync()
  })

  /** Starts an import of a project; what reads its record. */
  async function start(ref: string, name: string): Promise<() => Promise<JobRecord>> {
    const input = { tableName: `t${++made}`, fileUrl: `${base}/${encodeURIComponent(name)}`, projectTarget: { projectRef: ref } } // prettier-ignore
    const { status, body } = await submit(worker, TASK, input, headers[ref])
    expect([status, body.code]).toEqual([202, undefined])
    return async () => (await read(worker, `${body.links.self}?projectRef=${ref}`, headers[ref])).body
  }
  const statusOf = (job: () => Promise<JobRecord>) => async () => (await job()).status

  function inspect(ref: string, name: string) {
    const payload = { fileUrl: `${base}/${encodeURIComponent(name)}`, projectRef: ref }
    return worker.app.inject({ method: 'POST', url: '/inspect', headers: headers[ref]!, payload })
  }

  test.each(FILES)(
    '%s is refused within bounds, and another project’s import finishes meanwhile',
    { timeout: 2 * JOB_MS },
    async (name, [bytes, codes]) => {
      await using watch = new ChildWatch()
      const hostile = await start('hostile', name)
      await expect.poll(statusOf(hostile), { timeout: JOB_MS, interval: 250 }).not.toBe('pending')
      const honest = await start('honest', 'small.csv')
      await expect.poll(statusOf(honest), { timeout: JOB_MS, interval: 250 }).toBe('success')
      const meanwhile = (await hostile()).terminal ? 'before it' : 'meanwhile'
      await expect.poll(async () => (await hostile()).terminal, { timeout: JOB_MS, interval: 250 }).toBe(true)
      const { status, error, attempt } = await hostile()
      const { cpuSeconds, bytes: memory } = watch.most
      process.stdout.write(
        `${name} (${bytes.length} B): ${status} ${error?.code}, ${cpuSeconds.toFixed(1)} s of CPU, ` +
          `${Math.round(memory / 1024 / 1024)} MiB, the other import ended ${meanwhile}; ${error?.message}\n`,
      )
      expect(attempt).toBe(1)
      expect(codes).toContain(status === 'success' ? 'READ' : error?.code)
      expect(JSON.stringify(error)).not.toMatch(OWN)
      expect(cpuSeconds).toBeLessThan(MOST_CPU_SECONDS)
      if (cpuSeconds > LONG_CPU_SECONDS) expect(meanwhile).toBe('meanwhile')
      expect(memory).toBeLessThan(MOST_BYTES)
      expect(await readdir(worker.env['TERRANE_WORK_DIR']!)).toEqual([])
    },
  )

  test('a look at a file of another project is answered while one holds its place', { timeout: JOB_MS }, async () => {
    let isHeld = false
    for (let look = 0; look < LOOKS && !isHeld; look++) {
      await using watch = new ChildWatch()
      let hasEnded = false
      const held = inspect('hostile', 'a view without an end').finally(() => (hasEnded = true))
      await expect.poll(() => watch.children > 0 || hasEnded, { timeout: JOB_MS }).toBe(true)
      const other = await inspect('honest', 'small.csv')
      isHeld = !hasEnded
      if (isHeld) expect(other.json<object>()).toMatchObject({ layers: [{ rows: 1 }] })
      expect(['INSPECT_TIMED_OUT', 'FILE_TOO_COSTLY']).toContain((await held).json<{ code: string }>().code)
    }
    expect(isHeld).toBe(true)
  })
})

test.runIf(!found)('SKIPPED: the hostile files of the shared folder are not here (set TERRANE_SHARED)', () => {
  expect(found).toBeNull()
})
