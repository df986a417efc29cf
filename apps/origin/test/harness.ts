import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signToken } from '@terrane/auth'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { createClient } from '@supabase/supabase-js'
import { buildApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { openDeps } from '../src/deps.ts'

const SECRET = 'the-jwt-secret-of-the-tests-32-characters'
export const USER = '11111111-1111-4111-8111-111111111111'
export const OPAQUE_SERVICE_KEY = 'sb_secret_of-the-tests'

/** An origin that listens on loopback, with a database and a folder of the test's own. */
export interface TestOrigin extends AsyncDisposable {
  readonly url: string
  readonly db: TestDatabase
  compileSchemas(): void
  readonly routes: readonly { readonly method: string; readonly url: string; readonly body: unknown }[]
  readonly keys: { readonly anon: string; readonly service: string; readonly user: string }
  /** A key of the project with these claims. */
  sign(claims: Readonly<Record<string, unknown>>): Promise<string>
  /** A supabase-js client, unmodified, with one of the keys. */
  client(key: string, schema?: string): ReturnType<typeof makeClient>
}

/** Timeouts that a busy machine does not reach. */
export const PATIENT = { timeoutsMs: { anon: 60_000, authenticated: 60_000 } }

/** The settings file of an origin, with members of its sections. */
export function settingsOf(origin: object, everyApp: object = {}): { TERRANE_SETTINGS: string } {
  return { TERRANE_SETTINGS: JSON.stringify({ everyApp, origin: { rest: PATIENT, ...origin } }) }
}

/** @param beside an origin that lives longer, and whose database is used */
export async function openOrigin(
  env: Readonly<Record<string, string>> = {},
  beside: TestOrigin | null = null,
): Promise<TestOrigin> {
  const db = beside?.db ?? (await openTestDatabase())
  const folder = await mkdtemp(join(tmpdir(), 'terrane-origin-'))
  const deps = await openDeps(
    readConfig({
      DATABASE_URL: db.url,
      LOG_LEVEL: 'silent',
      TERRANE_PROJECT_REF: 'demo',
      TERRANE_JWT_SECRET: SECRET,
      TERRANE_SERVICE_ROLE_KEY: OPAQUE_SERVICE_KEY,
      TERRANE_STORAGE: `file:${folder}`,
      ...settingsOf({}),
      ...env,
    }),
  )
  const app = await buildApp(deps)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const [anon, service, user] = await Promise.all([
    signToken({ iss: 'terrane', ref: 'demo', role: 'anon' }, SECRET, 3600),
    signToken({ iss: 'terrane', ref: 'demo', role: 'service_role' }, SECRET, 3600),
    signToken({ sub: USER, role: 'authenticated' }, SECRET, 3600),
  ])
  return {
    url,
    db,
    compileSchemas: () => app.compileSchemas(),
    routes: app.routeList,
    keys: { anon, service, user },
    sign: (claims) => signToken(claims, SECRET, 3600),
    client: (key, schema = 'public') => makeClient(url, key, schema),
    [Symbol.asyncDispose]: async () => {
      // A connection whose answer has just ended is not idle yet, so closing would wait for it.
      app.server.closeAllConnections()
      await app.close()
      await deps[Symbol.asyncDispose]()
      if (!beside) await db[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function makeClient(url: string, key: string, schema: string) {
  return createClient(url, key, {
    db: { schema: schema as 'public' },
    auth: { persistSession: false, autoRefreshToken: false },
  })
}
