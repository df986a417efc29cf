// Slow: each fault of a dependency lasts until it is reported.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer as createHttpServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { awsAt, startFaux } from '@terrane/testing/s3'
import { shareOfRun } from '@terrane/testing/property'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { WAY_FAULTS, openFaultyWay, type FaultyWay, type WayFault } from '../support/faulty-way.ts'
import { openHouse, settingsOf, type House } from '../support/house.ts'
import { alertsOf, scrape, type Snapshot } from '../support/scrapes.ts'

// oxlint-disable-next-line node/no-process-env -- Set for a whole run of tests.
const isFull = process.env['TERRANE_TEST_ALL_FAULTS'] === '1'
const FAULT_SECONDS = isFull ? 30 : 12
const TOLD_MS = 15_000
const BACK_MS = 60_000
const JSON_TYPE = { 'content-type': 'application/json' }

interface JobEnd {
  readonly status: string
  readonly terminal: boolean
  readonly error: { readonly code: string } | null
}

type Dependency = 'database' | 'storage' | 'webhooks' | 'modules'

/** Apps that need the dependency; their check of that name must fail. */
const NEED: Readonly<Record<Dependency, readonly string[]>> = {
  database: ['worker', 'origin', 'functions', 'console'],
  storage: ['worker'],
  webhooks: [],
  modules: [],
}
/** Alerts; at least one must name the fault. */
const ALERTS: Readonly<Record<Dependency, readonly string[]>> = {
  database: ['TerraneNotReady'],
  storage: ['TerraneNotReady', 'TerraneStorageFails'],
  webhooks: ['TerraneWebhooksFail'],
  modules: ['TerraneFunctionsUnbuilt'],
}

const CASES: readonly (readonly [Dependency, WayFault])[] = isFull
  ? (Object.keys(NEED) as Dependency[]).flatMap((dependency) => WAY_FAULTS.map((fault) => [dependency, fault] as const))
  : shareOfRun<readonly [Dependency, WayFault]>(
      'faults of dependencies',
      [
        ['database', 'dies silently'],
        ['storage', 'answers by half'],
        ['modules', 'hangs'],
      ],
      2,
      (row) => row.join(' '),
    )

describe('dependencies that fail', () => {
  const opened = new AsyncDisposableStack()
  const ways = {} as Record<Dependency, FaultyWay>
  let house: House
  let calm: [Snapshot, Snapshot, number]
  const jobs: string[] = []

  beforeAll(async () => {
    const emulator = opened.use(await startFaux())
    ways.storage = opened.use(await openFaultyWay('127.0.0.1', emulator.port))
    const receiver = createHttpServer((_, response) => response.end()).listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    opened.defer(() => void receiver.close())
    ways.webhooks = opened.use(await openFaultyWay('127.0.0.1', (receiver.address() as AddressInfo).port))
    const modules = createHttpServer((_, response) =>
      response.writeHead(200, { 'content-type': 'application/typescript' }).end(`export const text = 'fetched'`),
    ).listen(0, '127.0.0.1')
    await once(modules, 'listening')
    opened.defer(() => void modules.close())
    ways.modules = opened.use(await openFaultyWay('127.0.0.1', (modules.address() as AddressInfo).port))
    house = await openHouse(opened, async (db) => {
      const url = new URL(db.url)
      ways.database = opened.use(await openFaultyWay(url.hostname, Number(url.port)))
      url.host = `127.0.0.1:${ways.database.port}`
      return {
        ...settingsOf(100_000, { functions: { importTimeoutMs: 5000 } }),
        TERRANE_FUNCTIONS_IMPORT_HOSTS: `127.0.0.1:${ways.modules.port}`,
        ...awsAt(ways.storage.port),
        DATABASE_URL: url.href,
        TERRANE_STORAGE: 's3://bucket/p',
        TERRANE_FETCH_ALLOW_HOSTS: `127.0.0.1:${ways.webhooks.port}`,
      }
    })
    await house.db.database.query(
      'create table public.things as select i as id, repeat(i::text, 9) as name from generate_series(1, 50) i',
    )
    const untilReady = async () => {
      if (!(await allReady())) throw new Error('an app is not ready')
    }
    await vi.waitFor(untilReady, { timeout: BACK_MS })
    await made(ask('worker', '/webhooks', { url: `http://127.0.0.1:${ways.webhooks.port}/` }))
    await made(ask('origin', '/storage/v1/bucket', { id: 'out', name: 'out' }))
    await saveFunction('steady', `export default () => new Response('in')`)
    await submit()
    await sleep(5000)
    const before = await scrape(house)
    await submit()
    await sleep(10_000)
    calm = [before, await scrape(house), 10]
  }, 300_000)
  afterAll(() => opened.disposeAsync())

  const headers = () => ({ ...house.credentials('worker', 'owner'), ...JSON_TYPE })
  async function ask(app: string, path: string, body: object): Promise<number> {
    const init = { method: 'POST', headers: headers(), body: JSON.stringify(body) }
    const response = await fetch(`${house.app(app).url}${path}`, init)
    await response.arrayBuffer()
    return response.status
  }

  async function made(answer: Promise<number>): Promise<void> {
    const status = await answer
    if (status >= 300) throw new Error(`answered ${status}`)
  }

  /** Starts a job if possible, and records it. */
  async function submit(): Promise<void> {
    const body = { table: 'things', format: 'CSV', storagePath: { bucket: 'out', path: `things-${jobs.length}.csv` } }
    const init = { method: 'POST', headers: headers(), body: JSON.stringify(body), signal: AbortSignal.timeout(3000) }
    const response = await fetch(`${house.app('worker').url}/jobs/exportTable`, init).catch(() => null)
    if (response?.status === 202) jobs.push(((await response.json()) as { links: { self: string } }).links.self)
  }

  async function saveFunction(name: string, code: string): Promise<void> {
    const folder = join(house.folder, 'functions', name)
    await mkdir(folder)
    await writeFile(join(folder, 'function.json'), '{"auth":"none","methods":["GET"]}')
    await writeFile(join(folder, 'index.ts'), code)
  }
  let written = 0
  /** Saves a function with an import that was not fetched before; resolves to its path. */
  async function saveImporting(): Promise<string> {
    const name = `importing-${++written}`
    const from = `http://127.0.0.1:${ways.modules.port}/${name}.ts`
    await saveFunction(name, `import { text } from '${from}'; export default () => new Response(text)`)
    return `/functions/v1/${name}`
  }
  const answerOf = async (path: string) => {
    const init = { signal: AbortSignal.timeout(5000), headers: headers() }
    return fetch(`${house.app('functions').url}${path}`, init).then(
      (response) => response.text(),
      () => '',
    )
  }

  const readiness = async (name: string) => {
    const init = { signal: AbortSignal.timeout(TOLD_MS) }
    return fetch(`${house.app(name).url}/health/ready`, init).then(
      async (response) => ({ status: response.status, text: await response.text() }),
      () => ({ status: 0, text: '' }),
    )
  }
  /**
   * Waits until an app says 503. A busy machine delays each answer, which `/health/live` shows: `own` is the time
   * without these delays.
   */
  async function untilTold(name: string): Promise<{ name: string; ms: number; own: number }> {
    const began = performance.now()
    let waited = 0
    for (;;) {
      const asked = performance.now()
      await fetch(`${house.app(name).url}/health/live`, { signal: AbortSignal.timeout(BACK_MS) })
      waited += performance.now() - asked
      const { status } = await readiness(name)
      const ms = performance.now() - began
      if (status === 503 || ms > BACK_MS) return { name, ms, own: ms - waited }
      await sleep(250)
    }
  }
  const allReady = async () =>
    (await Promise.all(house.apps.map(({ name }) => readiness(name)))).every(({ status }) => status === 200)

  test('half an hour of calm raises no alert', () => {
    expect(alertsOf(calm, calm)).toEqual({})
  })

  test.each(CASES)('%s %s: apps stay, tell it, and come back', { timeout: 600_000 }, async (dependency, fault) => {
    const way = ways[dependency]
    const scraping = new AbortController()
    onTestFinished(() => scraping.abort())
    onTestFinished(() => void (way.fault = null))
    const scrapes: { at: number; snapshot: Snapshot }[] = []
    const watching = (async () => {
      while (!scraping.signal.aborted) {
        const at = performance.now()
        scrapes.push({ at, snapshot: await scrape(house) })
        await submit()
        await sleep(1000)
      }
    })()
    way.fault = fault
    const importing = dependency === 'modules' ? await saveImporting() : null
    const told = await Promise.all(NEED[dependency].map(untilTold))
    for (const { name, own } of told) expect(own, `${name} tells it`).toBeLessThanOrEqual(TOLD_MS)
    await sleep(FAULT_SECONDS * 1000)
    // Features that do not need the dependency continue.
    if (importing) {
      const steady = () => answerOf('/functions/v1/steady')
      await expect.poll(steady, { timeout: TOLD_MS }).toBe('in')
      await expect.poll(allReady, { timeout: TOLD_MS }).toBe(true)
    }
    scraping.abort()
    await watching
    const [first, last] = [scrapes[0]!, scrapes.at(-1)!]
    way.fault = null
    const healed = performance.now()
    await expect.poll(allReady, { timeout: BACK_MS * 2, interval: 500 }).toBe(true)
    if (importing) {
      const answer = () => answerOf(importing)
      await expect.poll(answer, { timeout: BACK_MS, interval: 500 }).toBe('fetched')
    }
    const back = Math.round((performance.now() - healed) / 1000)
    expect(house.apps.filter(({ isAlive }) => !isAlive).map(({ name }) => name)).toEqual([])
    expect(scrapes.flatMap(({ snapshot }) => downIn(snapshot))).toEqual([])
    const course = [first.snapshot, last.snapshot, (last.at - first.at) / 1000] as const
    const found = alertsOf(calm, course)
    const seconds = told.map(
      ({ name, ms, own }) => `${name} ${(ms / 1000).toFixed(1)} (own ${(own / 1000).toFixed(1)})`,
    )
    process.stdout.write(
      `${dependency} ${fault}: told after ${seconds.join(', ')} s, back after ${back} s, alerts ${JSON.stringify(found)}\n`,
    )
    expect(Object.keys(found).filter((name) => ALERTS[dependency].includes(name))).not.toEqual([])
    if (NEED[dependency].length > 0) expect(JSON.stringify(found)).toContain(dependency)
    await submit()
    await expect.poll(ends, { timeout: 300_000, interval: 1000 }).not.toContain('open')
    expect((await ends()).filter((end) => end.includes('worker_lost'))).toEqual([])
  })

  /** Status and error code of each job; `open` while it runs. */
  async function ends(): Promise<string[]> {
    const init = { headers: headers(), signal: AbortSignal.timeout(5000) }
    const read = async (self: string) => {
      const job = (await (await fetch(`${house.app('worker').url}${self}`, init)).json()) as JobEnd
      return job.terminal ? `${job.status} ${job.error?.code ?? ''}` : 'open'
    }
    return Promise.all(jobs.map((self) => read(self).catch(() => 'open')))
  }

  function downIn(snapshot: Snapshot): string[] {
    return [...snapshot.values()]
      .filter(({ labels, value }) => labels['__name__'] === 'up' && value === 0)
      .map(({ labels }) => labels['job']!)
  }
})
