import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeOpaqueKey } from '@terrane/auth'
import { DEFAULT_ORGANIZATION, Keys, Organizations, Projects, registerLocal } from '@terrane/control'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import { createSealer, parseSecretsKey } from '@terrane/service'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { functionsFor, pageFor, startApp, townFor } from '../support/processes.ts'

vi.setConfig({ testTimeout: 400_000, hookTimeout: 400_000 })

const SECRETS_KEY = 'cd'.repeat(32)
const PASSWORD = 'correct horse battery'
const OVERLAP_MS = 6000

/** Calls an app with a key until it is stopped; records every answer. */
interface Load {
  readonly answers: { readonly status: number; readonly endedAt: number }[]
  stop(): Promise<void>
}

describe(`a key is rotated and revoked under load, over five apps (${testLane()})`, () => {
  const opened = new AsyncDisposableStack()
  let db: TestDatabase
  let keys: Keys
  let organizationId: string
  let localProject: string
  let poolProject: string
  const call: Record<string, (key: string) => Promise<number>> = {}
  let console: (path: string) => Promise<number>
  const serviceRoleKey = makeOpaqueKey('trn_service')

  beforeAll(async () => {
    db = opened.use(await openTestDatabase())
    const folder = await mkdtemp(join(tmpdir(), 'terrane-rotation-'))
    opened.defer(() => rm(folder, { recursive: true, force: true }))
    const sealer = createSealer(parseSecretsKey(SECRETS_KEY)!)
    keys = new Keys(db.database, sealer)
    organizationId = (await new Organizations(db.database).create('of the rotation')).id
    const projects = new Projects(db.database, sealer)
    const credentials = { databaseUrl: db.url }
    poolProject = (await projects.create({ organizationId, ref: 'pool', credentials })).id
    localProject = (await registerLocal(db.database, { ref: 'local' })).id

    const start = async (app: string, env: Record<string, string>) => {
      const { url } = await startApp(opened, app, {
        DATABASE_URL: db.url,
        TERRANE_SECRETS_KEY: SECRETS_KEY,
        TERRANE_HOME: join(folder, 'home', app),
        TERRANE_STORAGE: `file:${join(folder, 'storage')}`,
        TERRANE_SETTINGS: '{"everyApp":{"keys":{"cacheMs":2000,"graceMs":2000},"rates":{"perAddress":0}}}',
        ...env,
      })
      return url
    }
    const worker = await start('worker', { TERRANE_MODE: 'shared', TERRANE_WORK_DIR: join(folder, 'work') })
    const router = await start('router', await townFor(folder))
    const functions = await start('functions', {
      TERRANE_FUNCTIONS_DIR: await functionsFor(folder, {
        guarded: [{ auth: 'service', methods: ['GET'] }, `export default () => new Response('in')`],
      }),
    })
    const origin = await start('origin', {
      TERRANE_CONTROL_DATABASE_URL: db.url,
      TERRANE_PROJECT_REF: 'pool',
      TERRANE_PROJECT_ID: poolProject,
      TERRANE_JWT_SECRET: 'the-jwt-secret-of-the-tests-32-characters',
    })
    await projects.set(poolProject, { credentials: { ...credentials, originUrl: origin, serviceRoleKey } }, 0)
    const consoleUrl = await start('console', {
      TERRANE_MODE: 'shared',
      CONSOLE_WORKER_BASE_SHARED: worker,
      TERRANE_CONSOLE_EMAIL: 'ada@example.org',
      TERRANE_CONSOLE_PASSWORD: PASSWORD,
      TERRANE_CONSOLE_SECURE_COOKIES: 'false',
      TERRANE_CONSOLE_PAGE_DIR: await pageFor(folder),
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
    call['origin'] = (key) => statusOf(`${origin}/storage/v1/bucket`, { headers: { apikey: key } })
    const signedIn = await fetch(`${consoleUrl}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'ada@example.org', password: PASSWORD }),
    })
    const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? ''
    console = (path) => statusOf(`${consoleUrl}/api/projects/pool${path}`, { headers: { cookie } })
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

  const issue = (app: string) => {
    if (app === 'origin') return keys.issue({ organizationId, projectId: poolProject, role: 'service_role' })
    if (app !== 'functions') return keys.issue({ organizationId, role: 'services' })
    return keys.issue({ organizationId: DEFAULT_ORGANIZATION, projectId: localProject, role: 'service_role' })
  }

  test.each(['worker', 'router', 'functions', 'origin'])(
    '%s: no call fails in the overlap, and 401 after it and after a revocation',
    async (app) => {
      const ask = call[app]!
      const { key: former, record } = await issue(app)
      await expect.poll(() => ask(former), { timeout: 300_000 }).toBe(200)
      const withFormer = load(() => ask(former))
      const { key: successor, record: next } = await keys.rotate(record.id, OVERLAP_MS)
      const began = Date.now()
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
      const revoked = Date.now()
      await keys.revoke(next.id)
      await expect.poll(() => ask(successor)).toBe(401)
      process.stdout.write(
        `${app}: ${inOverlap.length} calls with the former key and ${withSuccessor.answers.length} with its successor in ${end - began} ms, 0 failed; ` +
          `401 ${withFormer.answers.find(({ status }) => status === 401)!.endedAt - end} ms after the end, ${Date.now() - revoked} ms after the revocation\n`,
      )
    },
  )

  test('the console’s proxy: no call fails when the key that it sends is rotated and ends; a revoked one is replaced', async () => {
    await expect.poll(() => console('/capacity')).toBe(200)
    const members = load(() => console('/capacity'))
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
    await expect.poll(() => console('/capacity')).toBe(200)
    expect(await sent()).not.toBe(second)
  })

  test('the console’s proxy: 401 once the key of the project that it sends is revoked, and not before', async () => {
    await expect.poll(() => console('/layers')).toBe(200)
    const members = load(() => console('/layers'))
    await expect.poll(() => members.answers.length).toBeGreaterThan(20)
    expect(members.answers.filter(({ status }) => status !== 200)).toEqual([])
    await keys.revoke((await keys.find(serviceRoleKey)).id)
    await expect.poll(() => members.answers.at(-1)?.status).toBe(401)
    await members.stop()
    // The key has ended, but not the session.
    expect(await console('')).toBe(200)
  })
})
