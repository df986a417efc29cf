// Slow: each fault of the database of a project lasts until its jobs have ended.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keys, Organizations, Projects } from '@terrane/control'
import { openTestDatabase } from '@terrane/database/testing'
import { createSealer, parseSecretsKey } from '@terrane/service'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { WAY_FAULTS, openFaultyWay, type FaultyWay } from '../support/faulty-way.ts'
import { settingsOf } from '../support/house.ts'
import { startApp, type AppProcess } from '../support/processes.ts'
import { alertsOf, scrape } from '../support/scrapes.ts'

// oxlint-disable-next-line node/no-process-env -- Set for a whole run of tests.
const isFull = process.env['TERRANE_TEST_ALL_FAULTS'] === '1'
const FAULT_SECONDS = isFull ? 30 : 12
const BACK_MS = 60_000
/** A job is retried several times before its database makes it fail. */
const FAILS_MS = 400_000
const SECRETS_KEY = 'ab'.repeat(32)
const JSON_TYPE = { 'content-type': 'application/json' }

interface JobEnd {
  readonly status: string
  readonly terminal: boolean
  readonly error: { readonly code: string } | null
  readonly code?: string
}

describe('the database of one project of a pool', () => {
  const opened = new AsyncDisposableStack()
  const refs = ['sound', 'sick'] as const
  let worker: AppProcess
  let way: FaultyWay
  let headers: Record<string, string>
  let files: string
  let started = 0
  const keys = { metricsKey: 'key-of-the-operator' }

  beforeAll(async () => {
    const [control, project] = [opened.use(await openTestDatabase()), opened.use(await openTestDatabase())]
    const url = new URL(project.url)
    way = opened.use(await openFaultyWay(url.hostname, Number(url.port)))
    const server = createServer((_, response) => response.end('name,lon,lat\nUlm,9.99,48.4\n')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    opened.defer(() => void server.close())
    files = `http://127.0.0.1:${(server.address() as AddressInfo).port}/towns.csv`
    const sealer = createSealer(parseSecretsKey(SECRETS_KEY)!)
    const { id: organizationId } = await new Organizations(control.database).create('pool')
    const { key } = await new Keys(control.database, sealer).issue({ organizationId, role: 'services' })
    headers = { apikey: key, authorization: `Bearer ${key}`, ...JSON_TYPE }
    for (const ref of refs) {
      const databaseUrl = new URL(project.url)
      if (ref === 'sick') databaseUrl.host = `127.0.0.1:${way.port}`
      await new Projects(control.database, sealer).create({
        organizationId,
        ref,
        credentials: { databaseUrl: databaseUrl.href },
      })
    }
    const folder = await mkdtemp(join(tmpdir(), 'terrane-pool-'))
    opened.defer(() => rm(folder, { recursive: true, force: true }))
    worker = await startApp(opened, 'worker', {
      ...settingsOf(100_000),
      DATABASE_URL: control.url,
      TERRANE_HOME: folder,
      TERRANE_WORK_DIR: join(folder, 'work'),
      TERRANE_STORAGE: `file:${join(folder, 'storage')}`,
      TERRANE_MODE: 'shared',
      // A project uses at most one place of a task, whatever its jobs wait for.
      TERRANE_WORKER_CONCURRENCY: '2',
      TERRANE_METRICS_KEY: keys.metricsKey,
      TERRANE_SECRETS_KEY: SECRETS_KEY,
      TERRANE_ALLOW_PROJECT_TARGET: 'true',
      TERRANE_FETCH_ALLOW_HOSTS: '127.0.0.1',
    })
  }, 300_000)
  afterAll(() => opened.disposeAsync())

  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${worker.url}${path}`, { headers, signal: AbortSignal.timeout(20_000), ...init })
    return { status: response.status, body: (await response.json()) as JobEnd & { links: { self: string } } }
  }
  /** Starts an import into the database of a project; returns its address. */
  const start = async (ref: string) => {
    const table = { tableName: `t${++started}`, url: files, projectTarget: { projectRef: ref } }
    const { status, body } = await ask('/jobs/ogr2ogrImport', { method: 'POST', body: JSON.stringify(table) })
    expect([status, body.code]).toEqual([202, undefined])
    return `${body.links.self}?projectRef=${ref}`
  }
  const end = async (self: string) => {
    const { body } = await ask(self)
    return body.terminal ? `${body.status} ${body.error?.code ?? ''}` : 'open'
  }

  test.each(isFull ? WAY_FAULTS : ['dies silently' as const])(
    '%s: jobs of other projects run meanwhile, and its own run afterwards',
    { timeout: 900_000 },
    async (fault) => {
      onTestFinished(() => void (way.fault = null))
      const scraped = { apps: [worker], keys }
      const calm = [await scrape(scraped), await scrape(scraped), 1] as const
      const began = performance.now()
      const before = await Promise.all(Array.from({ length: 4 }, () => start('sick')))
      way.fault = fault
      const soundJob = await start('sound')
      await expect.poll(() => end(soundJob), { timeout: BACK_MS }).toBe('success ')
      expect((await fetch(`${worker.url}/health/ready`)).status).toBe(200)
      await sleep(FAULT_SECONDS * 1000)
      const ends = () => Promise.all(before.map(end))
      const failures = async () => (await ends()).filter((one) => one.startsWith('failed')).length
      await expect.poll(failures, { timeout: FAILS_MS, interval: 1000 }).toBeGreaterThan(0)
      const again = await start('sound')
      await expect.poll(() => end(again), { timeout: BACK_MS }).toBe('success ')
      way.fault = null
      await expect.poll(ends, { timeout: 300_000, interval: 1000 }).not.toContain('open')
      const course = [calm[1], await scrape(scraped), (performance.now() - began) / 1000] as const
      const after = await start('sick')
      await expect.poll(() => end(after), { timeout: BACK_MS }).toBe('success ')
      const found = alertsOf(calm, course)
      process.stdout.write(
        `database of a project ${fault}: its jobs ended with ${(await ends()).join(', ')}; alerts ${JSON.stringify(found)}\n`,
      )
      expect(await ends()).not.toContainEqual(expect.stringContaining('worker_lost'))
      expect(Object.keys(found)).toContain('TerraneJobsFail')
      expect(worker.isAlive).toBe(true)
    },
  )
})
