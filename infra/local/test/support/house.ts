import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keys, Organizations, Projects } from '@terrane/control'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { createSealer, parseSecretsKey } from '@terrane/service'
import { freePorts } from '@terrane/testing/ports'
import { makeKeys, type Keys as StackKeys } from '../../src/keys.ts'
import type { Caller } from './hostile-requests.ts'
import { functionsFor, pageFor, startApp, townFor, type AppProcess } from './processes.ts'

/**
 * All five apps, each in a separate process, on one database: the stack of one project, and another organization's
 * project.
 */
export interface House {
  readonly db: TestDatabase
  readonly folder: string
  readonly keys: StackKeys
  readonly registered: Keys
  readonly apps: readonly AppProcess[]
  /** A key of another organization's project: valid, but without access to this project. */
  readonly foreignKey: string
  app(name: string): AppProcess
  /** Credentials that a caller sends to an app. */
  credentials(app: string, caller: Caller): Readonly<Record<string, string>>
  /** Signs in the callers of the console. */
  signIn(): Promise<void>
  /** A value of an app's metrics; 0 when it is missing. */
  metric(app: string, name: string): Promise<number>
}

const EMAILS = { owner: 'ada@example.org', foreign: 'eve@example.org' }

/** Largest body of the house's functions, in bytes. */
const MOST_BODY = 10_485_760

/** A function that stores a request's body eight times, and reads it again. */
const KEEPER = `export default async (request) => {
  const body = await request.arrayBuffer()
  const cache = await caches.open('c')
  const addresses = Array.from({ length: 8 }, (_, i) => 'https://example.org/' + i)
  const headers = { 'cache-control': 'max-age=60' }
  for (const address of addresses) await cache.put(address, new Response(body, { headers }))
  const found = await Promise.all(addresses.map(async (address) => (await cache.match(address))?.arrayBuffer()))
  return new Response(String(found.filter(Boolean).length))
}`

/**
 * The settings file of a house. @param perAddress requests of one kind in a minute; 0 = no limit @param more settings
 * of single apps
 */
export function settingsOf(perAddress: number, more: object = {}): { TERRANE_SETTINGS: string } {
  return { TERRANE_SETTINGS: JSON.stringify({ everyApp: { rates: { perAddress }, keys: { cacheMs: 2000 } }, ...more }) }
}

type Env = Readonly<Record<string, string>>

/** @param given environment of every app, or a function that makes it from the database */
export async function openHouse(
  opened: AsyncDisposableStack,
  given: Env | ((db: TestDatabase) => Promise<Env>) = {},
): Promise<House> {
  const db = opened.use(await openTestDatabase())
  const env = typeof given === 'function' ? await given(db) : given
  const folder = await mkdtemp(join(tmpdir(), 'terrane-house-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const keys = await makeKeys('local')
  const common = {
    DATABASE_URL: db.url,
    TERRANE_STORAGE: `file:${join(folder, 'storage')}`,
    TERRANE_JWT_SECRET: keys.jwtSecret,
    TERRANE_ANON_KEY: keys.anonKey,
    TERRANE_SERVICE_ROLE_KEY: keys.serviceRoleKey,
    TERRANE_SERVICES_KEY: keys.servicesKey,
    TERRANE_SECRETS_KEY: keys.secretsKey,
    TERRANE_METRICS_KEY: keys.metricsKey,
    ...settingsOf(0),
    ...env,
  }
  const [originPort] = await freePorts(1)
  const start = (name: string, more: Readonly<Record<string, string>>) =>
    startApp(opened, name, { ...common, TERRANE_HOME: join(folder, 'home', name), ...more })
  const behindOrigin = { TERRANE_TRUSTED_PROXIES: '127.0.0.1/32' }
  const worker = await start('worker', { ...behindOrigin, TERRANE_WORK_DIR: join(folder, 'work') })
  const functions = await start('functions', {
    ...behindOrigin,
    TERRANE_FUNCTIONS_DIR: await functionsFor(folder, {
      open: [
        { auth: 'none', body_bytes: MOST_BODY },
        `export default async (request) => new Response(String((await request.text()).length))`,
      ],
      keeper: [{ auth: 'none', body_bytes: MOST_BODY }, KEEPER],
      guarded: [{ auth: 'service' }, `export default () => new Response('in')`],
      personal: [{ auth: 'user' }, `export default () => new Response('in')`],
    }),
    TERRANE_FUNCTIONS_STORAGE: `file:${join(folder, 'archives')}`,
    // The state of functions is reached through the origin.
    TERRANE_PROJECT_URL: `http://127.0.0.1:${originPort}`,
  })
  const router = await start('router', { ...behindOrigin, ...(await townFor(folder)) })
  const origin = await start('origin', {
    PORT: String(originPort),
    TERRANE_CONTROL_DATABASE_URL: env['DATABASE_URL'] ?? db.url,
    TERRANE_WORKER_URL: worker.url,
    TERRANE_FUNCTIONS_URL: functions.url,
    TERRANE_ROUTER_URL: router.url,
  })
  const page = await start('console', {
    TERRANE_PROJECT_URL: origin.url,
    CONSOLE_WORKER_BASE_LOCAL: worker.url,
    TERRANE_ROUTER_URL: router.url,
    TERRANE_FUNCTIONS_URL: functions.url,
    TERRANE_CONSOLE_EMAIL: EMAILS.owner,
    TERRANE_CONSOLE_PASSWORD: keys.consolePassword,
    TERRANE_CONSOLE_PAGE_DIR: await pageFor(folder),
  })
  const apps = [worker, origin, functions, router, page]
  const registered = new Keys(db.database, createSealer(parseSecretsKey(keys.secretsKey)!))
  const foreignKey = await makeStranger(db, registered)

  const sessions: Partial<Record<Caller, Readonly<Record<string, string>>>> = {}
  const app = (name: string) => apps.find((one) => one.name === name)!
  return {
    db,
    folder,
    keys,
    registered,
    apps,
    foreignKey,
    app,
    credentials(name, caller) {
      if (name === 'console') return sessions[caller] ?? (caller === 'anon' ? { cookie: 'terrane_session=none' } : {})
      if (caller === 'nobody') return {}
      const own = name === 'router' ? keys.servicesKey : keys.serviceRoleKey
      const key = { anon: keys.anonKey, foreign: foreignKey, owner: own }[caller]
      return { apikey: key, authorization: `Bearer ${key}` }
    },
    async signIn() {
      for (const caller of ['owner', 'foreign'] as const) {
        const response = await fetch(`${page.url}/api/session`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ email: EMAILS[caller], password: keys.consolePassword }),
        })
        const { csrf_token: csrf = '' } = (await response.json()) as { csrf_token?: string }
        const cookie = (response.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? ''
        sessions[caller] = { cookie, 'x-csrf-token': csrf }
      }
    },
    async metric(name, metric) {
      const headers = { authorization: `Bearer ${keys.metricsKey}` }
      const text = await (await fetch(`${app(name).url}/metrics`, { headers })).text()
      const line = text.split('\n').find((one) => one.startsWith(`${metric}{`) || one.startsWith(`${metric} `))
      return Number(line?.split(' ').at(-1) ?? 0)
    },
  }
}

/** Another organization with a project of the same reference, a key of it, and a person who may use the console. */
async function makeStranger({ database }: TestDatabase, keys: Keys): Promise<string> {
  const { id: organizationId } = await new Organizations(database).create('of a stranger')
  const { id: projectId } = await new Projects(database, null).create({ organizationId, ref: 'local' })
  const { key } = await keys.issue({ organizationId, projectId, role: 'service_role' })
  await database.query(
    `with stranger as (
       insert into terrane.users (id, email, password_hash)
       select gen_random_uuid(), $1, password_hash from terrane.users where email = $2 returning id)
     insert into terrane.memberships (user_id, organization_id) select id, $3 from stranger`,
    [EMAILS.foreign, EMAILS.owner, organizationId],
  )
  return key
}
