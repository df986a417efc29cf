import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Keys, Organizations, Projects, registerLocal } from '@terrane/control'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import { writePbf } from '@terrane/osm'
import { createSealer, parseSecretsKey } from '@terrane/service'
import { buildCity } from '@terrane/testing/city'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

vi.setConfig({ testTimeout: 400_000, hookTimeout: 400_000 })

const SECRETS_KEY = 'cd'.repeat(32)
const PASSWORD = 'correct horse battery'
const OVERLAP_MS = 6000

/** Calls an app with a key until it is told to stop; remembers every answer. */
interface Load {
  readonly answers: { readonly status: number; readonly endedAt: number }[]
  stop(): Promise<void>
}

describe(`a key is rotated and revoked under load, over four apps (${testLane()})`, () => {
  const opened = new AsyncDisposableStack()
  let db: TestDatabase
  let keys: Keys
  let organizationId: string
  let localProject: string
  const call: Record<string, (key: string) => Promise<number>> = {}
  let console: () => Promise<number>

  beforeAll(async () => {
    db = opened.use(await openTestDatabase())
    const folder = await mkdtemp(join(tmpdir(), 'terrane-rotation-'))
    opened.defer(() => rm(folder, { recursive: true, force: true }))
    const sealer = createSealer(parseSecretsKey(SECRETS_KEY)!)
    keys = new Keys(db.database, sealer)
    organizationId = (await new Organizations(db.database).create('of the rotation')).id
    const credentials = { databaseUrl: db.url }
    await new Projects(db.database, sealer).create({ organizationId, ref: 'pool', credentials })
    localProject = (await registerLocal(db.database, { ref: 'local' })).project.id

    await writeFile(join(folder, 'town.osm.pbf'), writePbf(buildCity().elements))
    await mkdir(join(folder, 'functions', 'guarded'), { recursive: true })
    await writeFile(join(folder, 'functions', 'guarded', 'index.ts'), `export default () => new Response('in')`)
    await writeFile(join(folder, 'functions', 'guarded', 'function.json'), `{"auth":"service","methods":["GET"]}`)
    await mkdir(join(folder, 'page'))
    await writeFile(join(folder, 'page', 'index.html'), '<!doctype html><title>Terrane</title>')

    const start = async (app: string, env: Record<string, string>) => {
      const child = fork(fileURLToPath(new URL(`../../../../apps/${app}/src/main.ts`, import.meta.url)), {
        env: {
          // oxlint-disable-next-line node/no-process-env -- Programs are looked up on PATH.
          PATH: process.env['PATH'] ?? '',
          PORT: '0',
          LOG_LEVEL: 'error',
          DATABASE_URL: db.url,
          TERRANE_SECRETS_KEY: SECRETS_KEY,
          TERRANE_HOME: join(folder, 'home', app),
          TERRANE_KEYS_CACHE_MS: '2000',
          TERRANE_KEYS_GRACE_MS: '2000',
          ...env,
        },
      })
      const ended = once(child, 'exit')
      opened.defer(async () => {
        child.kill('SIGTERM')
        await ended
      })
      const [{ url }] = (await once(child, 'message')) as [{ url: string }]
      return url
    }
    const worker = await start('worker', {
      TERRANE_MODE: 'shared',
      TERRANE_STORAGE: `file:${join(folder, 'storage')}`,
      TERRANE_WORK_DIR: join(folder, 'work'),
    })
    const router = await start('router', {
      TERRANE_ROUTING_OSM: join(folder, 'town.osm.pbf'),
      TERRANE_ROUTING_GRAPH: join(folder, 'graph.bin'),
      TERRANE_ROUTING_THREADS: '1',
    })
    const functions = await start('functions', { TERRANE_FUNCTIONS_DIR: join(folder, 'functions') })
    const consoleUrl = await start('console', {
      TERRANE_MODE: 'shared',
      CONSOLE_WORKER_BASE_SHARED: worker,
      TERRANE_CONSOLE_EMAIL: 'ada@example.org',
      TERRANE_CONSOLE_PASSWORD: PASSWORD,
      TERRANE_CONSOLE_SECURE_COOKIES: 'false',
      TERRANE_CONSOLE_PAGE_DIR: join(folder, 'page'),
    })
    await db.database.query(
      'insert into terrane.memberships (user_id, organization_id) select id, $1 from terrane.users',
      [organizationId],
    )
    const statusOf = async (url: string, init: RequestInit) => {
      const response = await fetch(url, init)
      await response.arrayBuffer()
      return response.status
    }
    call['worker'] = (key) =>
      statusOf(`${worker}/capacity?projectRef=pool`, { headers: { apikey: key, authorization: `Bearer ${key}` } })
    const locations = [
      { lat: 48.0919, lon: 11.5869 },
      { lat: 48.1081, lon: 11.6131 },
    ]
    const body = JSON.stringify({ locations, costing: 'auto' })
    call['router'] = (key) =>
      statusOf(`${router}/routing-engine/v1/route`, { method: 'POST', headers: { apikey: key }, body })
    call['functions'] = (key) => statusOf(`${functions}/functions/v1/guarded`, { headers: { apikey: key } })
    const signedIn = await fetch(`${consoleUrl}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'ada@example.org', password: PASSWORD }),
    })
    const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? ''
    console = () => statusOf(`${consoleUrl}/api/projects/pool/capacity`, { headers: { cookie } })
  })
  afterAll(() => opened.disposeAsync())

  function load(ask: () => Promise<number>): Load {
    const answers: Load['answers'] = []
    const leaving = new AbortController()
    const done = (async () => {
      while (!leaving.signal.aborted) {
        answers.push({ status: await ask(), endedAt: Date.now() })
        await sleep(10)
      }
    })()
    return {
      answers,
      stop: () => {
        leaving.abort()
        return done
      },
    }
  }

  const issue = (app: string) =>
    keys.issue({
      organizationId,
      ...(app === 'functions'
        ? { organizationId: '00000000-0000-7000-8000-000000000000', projectId: localProject, role: 'service_role' }
        : { role: 'services' }),
    })

  test.each(['worker', 'router', 'functions'])(
    '%s: no call fails in the overlap, and 401 after it and after a revocation',
    async (app) => {
      const ask = call[app]!
      const { key: former, record } = await issue(app)
      await expect.poll(() => ask(former), { timeout: 300_000 }).toBe(200)
      const withFormer = load(() => ask(former))
      const { key: successor, record: next } = await keys.rotate(record.id, OVERLAP_MS)
      const end = (await keys.find(record.id)).expiresAt!.getTime()
      const withSuccessor = load(() => ask(successor))
      await expect.poll(() => withFormer.answers.at(-1)?.status).toBe(401)
      await withFormer.stop()
      await withSuccessor.stop()
      const inOverlap = withFormer.answers.filter(({ endedAt }) => endedAt < end)
      expect(inOverlap.length).toBeGreaterThan(10)
      expect(inOverlap.filter(({ status }) => status !== 200)).toEqual([])
      expect(withSuccessor.answers.filter(({ status }) => status !== 200)).toEqual([])
      expect(await ask(former)).toBe(401)
      await keys.revoke(next.id)
      await expect.poll(() => ask(successor)).toBe(401)
    },
  )

  test('the console’s proxy: no call fails when the key that it sends is rotated and ends; a revoked one is replaced', async () => {
    await expect.poll(() => console()).toBe(200)
    const members = load(console)
    const sent = async () => (await keys.find(await keys.servicesKeyOf(organizationId))).id
    const first = await sent()
    await keys.rotate(first, OVERLAP_MS)
    const second = await sent()
    expect(second).not.toBe(first)
    const end = (await keys.find(first)).expiresAt!.getTime()
    await expect.poll(() => members.answers.at(-1)!.endedAt > end + 2500).toBe(true)
    await members.stop()
    expect(members.answers.length).toBeGreaterThan(20)
    expect(members.answers.filter(({ status }) => status !== 200)).toEqual([])
    await keys.revoke(second)
    await expect.poll(() => console()).toBe(200)
    expect(await sent()).not.toBe(second)
  })
})
