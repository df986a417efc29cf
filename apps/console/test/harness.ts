import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Organizations } from '@terrane/control'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { unboundedBodies } from '@terrane/testing/bodies'
import { Accounts } from '../src/accounts/accounts.ts'
import type { HashCost } from '../src/accounts/password.ts'
import { buildApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { openDeps } from '../src/deps.ts'

export const EMAIL = 'ada@example.org'
export const PASSWORD = 'correct horse battery'

/** A thousandth of the default cost. */
const CHEAP: HashCost = { ln: 6, r: 8, p: 1 }

/** A request that a service behind the console received. */
export interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** A service that records its requests and gives the answers set by the test. */
export interface FakeService extends AsyncDisposable {
  readonly url: string
  readonly asked: Asked[]
  answer: (asked: Asked, response: ServerResponse) => void
}

export async function openService(): Promise<FakeService> {
  const asked: Asked[] = []
  const server: Server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const one = { method, url, headers, body }
      asked.push(one)
      service.answer(one, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const service: FakeService = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answer: (_, response) => json(response, 200, {}),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
  return service
}

export function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** A console that listens on loopback, with a database and a page of the test's own. */
export interface TestConsole extends AsyncDisposable {
  readonly url: string
  /** Places where schemas of bodies set no limit. */
  readonly unbounded: readonly string[]
  compileSchemas(): void
  readonly db: TestDatabase
  readonly accounts: Accounts
  /** Makes an organization and returns its id. */
  addOrganization(name: string): Promise<string>
  /** Signs in and returns a client for requests as that person. */
  signIn(email?: string, password?: string): Promise<Browser>
}

/** A browser that has signed in. */
export interface Browser {
  readonly cookie: string
  readonly csrf: string
  ask(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>
}

/** @param hashCost of passwords; null for the default */
export async function openConsole(
  env: Readonly<Record<string, string>> = {},
  hashCost: HashCost | null = CHEAP,
): Promise<TestConsole> {
  const db = await openTestDatabase()
  const page = await mkdtemp(join(tmpdir(), 'terrane-page-'))
  await mkdir(join(page, 'assets'))
  await writeFile(join(page, 'index.html'), '<!doctype html><title>Terrane</title>')
  await writeFile(join(page, 'theme.js'), '')
  await writeFile(join(page, 'assets', 'index-abc.js'), 'export {}')
  const deps = await openDeps(
    readConfig({
      DATABASE_URL: db.url,
      LOG_LEVEL: 'silent',
      TERRANE_PROJECT_REF: 'demo',
      TERRANE_ANON_KEY: 'anon-key-of-the-tests',
      TERRANE_SERVICE_ROLE_KEY: 'service-role-key-of-the-tests',
      TERRANE_SERVICES_KEY: 'services-key-of-the-tests',
      TERRANE_CONSOLE_EMAIL: EMAIL,
      TERRANE_CONSOLE_PASSWORD: PASSWORD,
      TERRANE_CONSOLE_PAGE_DIR: page,
      ...env,
    }),
    hashCost ?? undefined,
  )
  const app = await buildApp(deps)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    url,
    db,
    unbounded: unboundedBodies(app.routeList),
    compileSchemas: () => app.compileSchemas(),
    accounts: new Accounts(db.database, hashCost ?? undefined),
    addOrganization: async (name) => (await new Organizations(db.database).create(name)).id,
    signIn: (email = EMAIL, password = PASSWORD) => signIn(url, email, password),
    [Symbol.asyncDispose]: async () => {
      await app.close()
      await deps[Symbol.asyncDispose]()
      await db[Symbol.asyncDispose]()
      await rm(page, { recursive: true, force: true })
    },
  }
}

/** Tries to sign in, from an address that a trusted proxy names. */
export function attempt(url: string, email: string, password: string, from = '203.0.113.1'): Promise<Response> {
  return fetch(`${url}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': from },
    body: JSON.stringify({ email, password }),
  })
}

async function signIn(url: string, email: string, password: string): Promise<Browser> {
  const response = await attempt(url, email, password)
  if (!response.ok) throw new Error(`signing in was answered with ${response.status}: ${await response.text()}`)
  const cookie = (response.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? ''
  const { csrf_token: csrf } = (await response.json()) as { csrf_token: string }
  return {
    cookie,
    csrf,
    ask: (method, path, body, headers = {}) =>
      fetch(`${url}${path}`, {
        method,
        headers: {
          cookie,
          ...(method !== 'GET' && method !== 'HEAD' && { 'x-csrf-token': csrf }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
  }
}
