import { once } from 'node:events'
import { chmod, cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AddressInfo } from 'node:net'
import { signToken } from '@terrane/auth'
import { buildApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { openDeps, type Deps } from '../../src/deps.ts'
import { STATE_DIR } from './runtimes.ts'

export const JWT_SECRET = 'a-secret-of-the-tests-that-is-long-enough-to-sign'
export const ANON_KEY = 'sb_publishable_of_the_tests'
export const SERVICE_KEY = 'sb_secret_of_the_tests'

/** A token of the test project, signed with its secret; expires in an hour. */
export const token = (claims: object, secret = JWT_SECRET, seconds = 3600) =>
  signToken({ ref: 'test', ...claims }, secret, seconds)

/** An API of a project that keeps no state of functions. */
export async function openStatelessApi() {
  const server = createServer((request, response) =>
    response.writeHead(api.status).end(JSON.stringify(api.answer(request))),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const api = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    status: 404,
    /** The body of each answer. */
    answer: (_request: IncomingMessage): object => ({}),
    [Symbol.dispose]: () => void server.close(),
  }
  return api
}

/**
 * The whole app on a free port, with a state folder of its own.
 *
 * @param checkTypes whether it checks the types of its folder, which takes a second of CPU time for each saved function
 */
export async function startApp(env: Record<string, string> = {}, checkTypes = false) {
  const stack = new AsyncDisposableStack()
  const home = await mkdtemp(join(tmpdir(), 'terrane-app-'))
  stack.defer(() => rm(home, { recursive: true, force: true }))
  // Instances run as users of their own when the tests run as root.
  await chmod(home, 0o711)
  await copyPrograms(join(home, 'functions'))
  const config = readConfig({
    LOG_LEVEL: 'silent',
    PORT: '0',
    TERRANE_HOME: home,
    TERRANE_PROJECT_REF: 'test',
    TERRANE_ANON_KEY: ANON_KEY,
    TERRANE_SERVICE_ROLE_KEY: SERVICE_KEY,
    TERRANE_JWT_SECRET: JWT_SECRET,
    TERRANE_FUNCTIONS_STORAGE: `file:${join(home, 'archives')}`,
    ...env,
  })
  // oxlint-disable-next-line node/no-process-env -- The programs that a profile needs are looked up on PATH.
  const { env: programs } = process
  const deps: Deps = stack.use(
    await openDeps(config, checkTypes ? await withUsualPriority(home, programs) : programs, checkTypes),
  )
  const app = await buildApp(deps)
  stack.defer(async () => {
    // Connections of calls that hang, and idle ones of a client, would be waited for.
    app.server.closeAllConnections()
    await app.close()
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  return {
    origin,
    deps,
    home,
    compileSchemas: () => app.compileSchemas(),
    url: (name: string) => `${origin}/functions/v1/${name}`,
    /** Calls the deploy API as the service role. */
    async control(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
      const response = await fetch(`${origin}/v1/projects/test${path}`, {
        method,
        headers: { apikey: SERVICE_KEY, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      const parsed: unknown = text === '' ? null : JSON.parse(text)
      return { status: response.status, etag: response.headers.get('etag'), body: parsed as Record<string, unknown> }
    },
    async deploy(name: string, source: string, policy: object = { auth: 'none', methods: ['GET', 'POST'] }) {
      return this.control('PUT', `/functions/${name}`, { files: { 'index.ts': source }, policy })
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** Copies the programs of hosts and their compiled code, as an earlier host in the same folder leaves them. */
async function copyPrograms(folder: string): Promise<void> {
  const names = await readdir(STATE_DIR).catch(() => [])
  for (const name of names.filter((each) => /^(?:shim|build)-[\da-f]{16}(?:\.mjs|-[a-z]+)$/.test(each)))
    await cp(join(STATE_DIR, name), join(folder, name), { recursive: true })
}

/** Programs with a `nice` that does nothing: at the lowest priority, types are not checked while other tests run. */
async function withUsualPriority(home: string, programs: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  const folder = join(home, 'programs')
  await mkdir(folder)
  await writeFile(join(folder, 'nice'), '#!/bin/sh\nshift 2\nexec "$@"\n', { mode: 0o755 })
  return { ...programs, PATH: `${folder}:${programs['PATH']}` }
}

export type TestApp = Awaited<ReturnType<typeof startApp>>
