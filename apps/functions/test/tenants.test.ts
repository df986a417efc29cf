import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keys, Organizations, Projects, openKeyring } from '@terrane/control'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import {
  RateLimits,
  addMetrics,
  createHttp,
  createLogger,
  createRegistry,
  createSealer,
  type Http,
} from '@terrane/service'
import { openStore } from '@terrane/storage'
import { signToken } from '@terrane/auth'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ControlDeps } from '../src/control/control-deps.ts'
import { controlRoutes } from '../src/control/control.ts'
import type { FunctionVersion } from '../src/function-version.ts'
import { LogBook } from '../src/observe/log-book.ts'
import { FunctionMetrics } from '../src/observe/metrics.ts'
import { createObserver } from '../src/observe/observer.ts'
import { parsePolicy } from '../src/policy.ts'
import { SharedProjects } from '../src/projects/shared.ts'
import { Archives } from '../src/registry/archives.ts'
import { Registry } from '../src/registry/registry.ts'

const sealer = createSealer(Buffer.alloc(32, 7))
const same = { toRegistry: (id: string) => id, fromRegistry: (id: string) => id }
const NAMES = ['first', 'second'] as const
const FUNCTION = 'same'

interface Tenant {
  readonly id: string
  readonly host: string
  readonly serviceKey: string
  readonly jwtSecret: string
  readonly mark: string
}

describe(`two organizations with a project of one name on a functions host (${testLane()})`, () => {
  let db: TestDatabase
  let folder: string
  let projects: SharedProjects
  let registry: Registry
  let archives: Archives
  let app: Http
  const tenants: Tenant[] = []
  const opened = new AsyncDisposableStack()

  beforeAll(async () => {
    db = opened.use(await openTestDatabase())
    folder = await mkdtemp(join(tmpdir(), 'terrane-tenants-'))
    opened.defer(() => rm(folder, { recursive: true }))
    const registered = new Projects(db.database, sealer)
    const keys = opened.use(
      openKeyring({
        connect: async () => db.database,
        settings: { cacheMs: 0, graceMs: 0 },
        log: { warn() {} },
      }),
    )
    for (const name of NAMES) {
      const { id: organizationId } = await new Organizations(db.database).create('same')
      const jwtSecret = `jwt secret of the ${name} project, long enough`
      const credentials = { originUrl: 'http://127.0.0.1:9', anonKey: `anon key of the ${name}`, jwtSecret }
      const { id, hostLabel } = await registered.create({ organizationId, ref: 'same', credentials })
      const { key } = await new Keys(db.database, sealer).issue({ organizationId, projectId: id, role: 'service_role' })
      tenants.push({
        id,
        host: `${hostLabel}.functions.example`,
        serviceKey: key,
        jwtSecret,
        mark: `mark of the ${name}`,
      })
    }
    projects = opened.use(
      new SharedProjects({
        registered,
        keys,
        audiences: ['authenticated'],
        domain: 'functions.example',
        pollMs: 60_000,
        onLost: (error) => {
          throw error
        },
      }),
    )
    await projects.look()
    registry = new Registry(db.database, sealer, same)
    const folderOf = (id: string) => projects.get(id)!.folder
    archives = new Archives(openStore(`file:${folder}`), folderOf, (_keys, error) => {
      throw error
    })
    const logBook = new LogBook(createLogger({ name: 'test', level: 'silent' }))
    for (const { id, mark } of tenants) {
      const archive = { code: Buffer.from(`// ${mark}`), files: new Map<string, Uint8Array>() }
      const { digest, bytes } = await archives.put(id, archive)
      const version = { digest, bytes, policy: parsePolicy({}), createdBy: mark }
      await registry.promote(id, FUNCTION, await registry.addVersion(id, FUNCTION, version), null)
      await registry.changeSecrets(id, '', { SAME: mark })
      logBook.event('info', { project: id, name: FUNCTION, version: 1 }, mark)
    }
    app = createHttp({ logger: createLogger({ name: 'test', level: 'silent' }) })
    const functions = {
      get: () => undefined,
      isBroken: () => false,
      failuresOf: () => new Map(),
      [Symbol.iterator]: () => [][Symbol.iterator](),
    }
    const deployed = { registry, deployer: null, source: { look: async () => {} } }
    const limits = new RateLimits({ trustedProxies: [], metricsKey: null, ratePerAddress: 0, ratePerKey: 0 })
    const deps = { typesOf: () => null, projects, functions, logBook, deployed, limits } as unknown as ControlDeps
    await app.register(async (guarded) => controlRoutes(guarded as unknown as Http, deps))
  })
  afterAll(async () => {
    await app.close()
    await opened.disposeAsync()
  })

  const pairs = () =>
    [
      [tenants[0]!, tenants[1]!],
      [tenants[1]!, tenants[0]!],
    ] as const
  const get = (path: string, key: string) => app.inject({ url: `/v1/projects/${path}`, headers: { apikey: key } })

  test('the host name tells them apart', () => {
    const [first, second] = tenants as [Tenant, Tenant]
    expect(first.host).toBe('same.functions.example')
    expect(second.host).toMatch(/^same-[0-9a-f]{12}\.functions\.example$/)
    for (const { host, id } of tenants) expect(projects.idOf(host)).toBe(id)
  })

  test('by reference the key says whose is meant, by id it must be of that very project', async () => {
    for (const [mine, theirs] of pairs()) {
      for (const path of [`functions/${FUNCTION}/versions`, `functions/${FUNCTION}/logs`]) {
        const { statusCode, body } = await get(`same/${path}`, mine.serviceKey)
        expect([path, statusCode, body.includes(mine.mark), body.includes(theirs.mark)]).toEqual([
          path,
          200,
          true,
          false,
        ])
      }
      expect((await get(`same/functions`, mine.serviceKey)).json<{ data: unknown[] }>().data).toHaveLength(1)
      for (const path of ['functions', `functions/${FUNCTION}/logs`, 'secrets'])
        expect((await get(`${theirs.id}/${path}`, mine.serviceKey)).statusCode).toBe(401)
    }
  })

  test('a token is of the project whose secret has signed it, though both have its reference', async () => {
    for (const [mine, theirs] of pairs()) {
      const token = await signToken({ ref: 'same', role: 'service_role' }, mine.jwtSecret, 60)
      expect((await get(`same/functions/${FUNCTION}/logs`, token)).body).toContain(mine.mark)
      expect((await get(`${theirs.id}/functions`, token)).statusCode).toBe(401)
    }
  })

  test('code and secrets lie apart, and do not open in each other’s place', async () => {
    for (const [mine, theirs] of pairs()) {
      const live = await registry.live(mine.id, FUNCTION)
      expect(String((await archives.get(mine.id, live!.digest)).code)).toBe(`// ${mine.mark}`)
      await expect(archives.get(theirs.id, live!.digest)).rejects.toMatchObject({ code: 'OBJECT_NOT_FOUND' })
      expect(await registry.secrets(mine.id, '')).toEqual({ SAME: mine.mark })
    }
    const [first, second] = tenants as [Tenant, Tenant]
    await db.database.query(
      `update terrane.function_secrets s set sealed = o.sealed from terrane.function_secrets o
       where s.project_id = $1 and o.project_id = $2`,
      [first.id, second.id],
    )
    await expect(registry.secrets(first.id, '')).rejects.toMatchObject({ code: 'SEAL_BROKEN' })
  })

  test('a secret that an early version encrypted for the reference is named until it is set again', async () => {
    const { id, mark } = tenants[1]!
    await db.database.query(
      `update terrane.function_secrets set sealed = 'x', sealed_for = 'same' where project_id = $1`,
      [id],
    )
    await expect(registry.secrets(id, '')).rejects.toMatchObject({
      code: 'FUNCTION_SECRET_OUTDATED',
      message: expect.stringContaining('SAME'),
    })
    await registry.changeSecrets(id, '', { SAME: mark })
    expect(await registry.secrets(id, '')).toEqual({ SAME: mark })
  })

  test('no route of the deploy API opens a project for the key or the token of the other one', async () => {
    const routes = app.routeList.filter(({ method, url }) => method !== 'HEAD' && url.startsWith('/v1/projects/:ref'))
    expect(routes.length).toBeGreaterThan(8)
    const crossings: string[] = []
    let looks = 0
    for (const [mine, theirs] of pairs()) {
      const token = await signToken({ ref: 'same', role: 'service_role' }, mine.jwtSecret, 60)
      for (const { method, url } of routes) {
        const path = url.replace(':ref', theirs.id).replaceAll(/:\w+/g, FUNCTION)
        for (const headers of [
          { apikey: mine.serviceKey },
          { authorization: `Bearer ${mine.serviceKey}` },
          { apikey: token },
          { authorization: `Bearer ${token}` },
          { apikey: mine.serviceKey, authorization: `Bearer ${token}` },
          { apikey: `anon key of the ${NAMES[tenants.indexOf(mine)]}` },
        ]) {
          for (const payload of [undefined, '{}', '{"files":{"index.ts":"1"}}']) {
            const request = {
              method: method as 'GET',
              url: path,
              headers: { ...headers, 'content-type': 'application/json' },
            }
            const { statusCode, body } = await app.inject({ ...request, ...(payload !== undefined && { payload }) })
            looks++
            if (statusCode !== 401 || body.includes(theirs.mark)) crossings.push(`${method} ${url}: ${statusCode}`)
          }
        }
      }
    }
    process.stdout.write(`${looks} looks at the other project through the deploy API, ${crossings.length} crossings\n`)
    expect(crossings).toEqual([])
    expect(looks).toBeGreaterThanOrEqual(300)
  })

  test('what is measured of functions of one name is counted apart, and is the operator’s to read', async () => {
    const registered = createRegistry('functions')
    const observer = createObserver(
      new LogBook(createLogger({ name: 'test', level: 'silent' })),
      new FunctionMetrics(registered),
    )
    const metered = createHttp({ logger: createLogger({ name: 'test', level: 'silent' }) })
    addMetrics(metered, registered, {
      trustedProxies: [],
      metricsKey: 'key-of-the-operator',
      ratePerAddress: 0,
      ratePerKey: 0,
    })
    for (const [n, { id }] of tenants.entries()) {
      const version = { project: id, name: FUNCTION, version: 1 } as FunctionVersion
      for (let i = 0; i <= n; i++) {
        observer.pool(version).bootFailed({ message: '', detail: '' } as never)
        observer.line(version, { level: 'info', dropped: 1, text: '' } as never, null)
      }
    }
    const read = (headers: Record<string, string>) => metered.inject({ url: '/metrics', headers })
    const { body } = await read({ authorization: 'Bearer key-of-the-operator' })
    for (const [n, tenant] of tenants.entries()) {
      for (const name of ['boot_failures', 'log_lines_lost']) {
        const series = body
          .split('\n')
          .find((line) => line.startsWith(`terrane_function_${name}_total{`) && line.includes(tenant.id))
        expect([name, series?.split(' ').at(-1)]).toEqual([name, String(n + 1)])
      }
      for (const headers of [{ apikey: tenant.serviceKey }, { authorization: `Bearer ${tenant.serviceKey}` }])
        expect((await read(headers)).statusCode).toBe(401)
    }
    await metered.close()
  })

  test('a project that is deleted takes functions and keys along, and leaves the other one alone', async () => {
    const [first, second] = tenants as [Tenant, Tenant]
    await new Projects(db.database, sealer).delete(first.id)
    await projects.look()
    expect(projects.idOf(first.host)).toBeNull()
    expect((await get('same/functions', first.serviceKey)).statusCode).toBe(401)
    expect((await get('same/functions', second.serviceKey)).statusCode).toBe(200)
    expect((await registry.allLive()).map(({ project }) => project)).toEqual([second.id])
  })
})
