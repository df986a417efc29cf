import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keys, Organizations, Projects, openKeyring } from '@terrane/control'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import { createHttp, createLogger, createSealer, type Http } from '@terrane/service'
import { openStore } from '@terrane/storage'
import { signToken } from '@terrane/auth'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ControlDeps } from '../src/control/control-deps.ts'
import { controlRoutes } from '../src/control/control.ts'
import { LogBook } from '../src/observe/log-book.ts'
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
    const { keyring } = opened.use(
      openKeyring({ connect: async () => db.database, cacheMs: 0, graceMs: 0, onLost: () => {} }),
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
        findKey: (sha256) => keyring.find(sha256),
        domain: 'functions.example',
        pollMs: 60_000,
        onLost: (error) => {
          throw error
        },
      }),
    )
    await projects.look()
    registry = new Registry(db.database, sealer, same)
    archives = new Archives(openStore(`file:${folder}`), (id) => projects.get(id)!.folder)
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
    const functions = { get: () => undefined, isBroken: () => false, [Symbol.iterator]: () => [][Symbol.iterator]() }
    const deployed = { registry, deployer: null, source: { look: async () => {} } }
    const deps = { projects, functions, logBook, deployed } as unknown as ControlDeps
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
