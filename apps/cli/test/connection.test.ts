import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { COMMANDS } from '../src/commands/all.ts'
import { connect, localDatabase, localEnvironment } from '../src/connection.ts'
import { run } from '../src/run.ts'

const SECRET = 'the secret of the stack'
let home: string
const servers: Server[] = []
/** Requests to all servers of a test. */
const heard: IncomingMessage[] = []
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'terrane-connection-'))
  const keys = { jwtSecret: SECRET, serviceRoleKey: 'local key', anonKey: 'anon', servicesKey: 'services' }
  await writeFile(join(home, 'keys.json'), JSON.stringify(keys))
})
afterEach(async () => {
  heard.length = 0
  for (const server of servers.splice(0)) server.close()
  await rm(home, { recursive: true })
})

/** A program that answers as the stack does; with another secret it is another program. */
async function stack(ports: object, secret = SECRET): Promise<number> {
  const server = createServer((request, response) => {
    heard.push(request)
    const body = JSON.stringify({ ports })
    const nonce = new URL(request.url!, 'http://stack').searchParams.get('nonce')
    const proof = createHmac('sha256', `terrane-stack:${secret}`).update(`${nonce}\n${body}`).digest('hex')
    response.setHeader('terrane-proof', proof).end(body)
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await writeFile(join(home, 'stack.json'), JSON.stringify({ port }))
  return port
}

const found = (env: Record<string, string> = {}) => connect(undefined, { TERRANE_HOME: home, ...env })

test.each([
  'https://terrane.example',
  'http://127.0.0.1.terrane.example',
  'http://localhost@terrane.example',
  'not an address',
  'http://localhost:9001',
  'http://127.0.0.1',
])('the keys of the local stack are not sent to %s', async (url) => {
  await stack({ origin: 9000 })
  await expect(found({ TERRANE_URL: url })).rejects.toMatchObject({
    code: 'NOT_CONNECTED',
    message: expect.stringContaining('TERRANE_SERVICE_ROLE_KEY') as string,
  })
})

test.each(['http://localhost:9000', 'http://127.0.0.1:9000', 'http://[::1]:9000', ''])(
  'the local stack is found at %s with its own keys, at the address where it listens',
  async (url) => {
    await stack({ origin: 9000 })
    expect(await found({ TERRANE_URL: url })).toMatchObject({ url: 'http://127.0.0.1:9000', key: 'local key' })
  },
)

test('a stack on other ports is found without being told, and no setting says otherwise', async () => {
  await stack({ origin: 4321, functions: 4322 })
  const env = { TERRANE_ORIGIN_PORT: '1', TERRANE_FUNCTIONS_PORT: '2' }
  expect((await found(env)).url).toBe('http://127.0.0.1:4321')
  expect(await localEnvironment([], { TERRANE_HOME: home, ...env })).toEqual({
    TERRANE_FUNCTIONS_URL: 'http://127.0.0.1:4322',
    TERRANE_SERVICE_ROLE_KEY: 'local key',
  })
})

test('a program that listens where the stack did gets no key and is not believed', async () => {
  await stack({ origin: 9000, functions: 9001 }, 'another secret')
  await expect(found()).rejects.toMatchObject({
    code: 'NOT_CONNECTED',
    message: expect.stringMatching(/is used by another program/) as string,
  })
  expect(await localEnvironment([], { TERRANE_HOME: home })).toEqual({})
  expect(JSON.stringify(heard.map(({ headers, url }) => ({ headers, url })))).not.toContain('local key')
})

test('a stack that has ended, and an origin that is being started again, are said', async () => {
  await expect(found()).rejects.toThrow('The local stack does not run: there is no stack.json')
  const port = await stack({})
  await expect(found()).rejects.toThrow('its origin is being started again')
  await new Promise((resolve) => servers.pop()?.close(resolve))
  await expect(found()).rejects.toThrow(`nothing answers on port ${port}`)
})

test.each([
  [['deploy', '--url', 'https://other.example'], {}],
  [['deploy', '--url=http://127.0.0.1:9001'], {}],
  [['deploy'], { TERRANE_FUNCTIONS_URL: 'https://other.example' }],
  [['deploy'], { TERRANE_FUNCTIONS_URL: 'http://127.0.0.1:9002' }],
  [['deploy'], { TERRANE_PROFILE: 'harbour' }],
  [['deploy'], { TERRANE_URL: 'https://harbour.example', TERRANE_SERVICE_ROLE_KEY: 'key of harbour' }],
  [['deploy'], { TERRANE_SERVICE_ROLE_KEY: 'key of harbour' }],
])('the key of the stack is not handed to a program that is told another host: %j %j', async (args, env) => {
  await stack({ origin: 9000, functions: 9001 })
  expect(await localEnvironment(args, { TERRANE_HOME: home, ...env })).toEqual({})
})

test('the database of the local stack is named, and that of no other project', async () => {
  await stack({ origin: 9000, database: 5555 })
  const env = { TERRANE_HOME: home }
  expect(await localDatabase(undefined, env)).toBe('postgres://postgres@127.0.0.1:5555/postgres')
  expect(await localDatabase(undefined, { ...env, DATABASE_URL: 'postgres://own/x' })).toBe('postgres://own/x')
  expect(await localDatabase('harbour', env)).toBeUndefined()
  const other = { TERRANE_URL: 'https://terrane.example', TERRANE_SERVICE_ROLE_KEY: 'key' }
  expect(await localDatabase(undefined, { ...env, ...other })).toBeUndefined()
  await stack({ origin: 9000 })
  expect(await localDatabase(undefined, env)).toBeUndefined()
})

test('terrane env gives the database a name that no other program takes for its own', async () => {
  await stack({ origin: 9000, database: 5555 })
  vi.stubEnv('TERRANE_HOME', home)
  vi.stubEnv('DATABASE_URL', undefined)
  const lines: string[] = []
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0)
  try {
    expect(await run(['env', '--json'], COMMANDS)).toBe(0)
  } finally {
    write.mockRestore()
    vi.unstubAllEnvs()
  }
  const printed = JSON.parse(lines.join('')) as Record<string, string>
  expect(printed['TERRANE_DATABASE_URL']).toBe('postgres://postgres@127.0.0.1:5555/postgres')
  expect(printed['DATABASE_URL']).toBeUndefined()
})
