// Functions through the whole chain: supabase-js and curl → the origin → the functions host → a function → the origin
// again, each in a separate process.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, FunctionsHttpError, FunctionsRelayError } from '@supabase/supabase-js'
import { signToken } from '@terrane/auth'
import { openTestDatabase } from '@terrane/database/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePorts } from '@terrane/testing/ports'
import { App } from '../src/apps.ts'

const SECRET = 'the-jwt-secret-of-the-tests-32-characters'
const open = new AsyncDisposableStack()
const keys = { anon: '', service: '', user: '' }
let origin = ''

const SOURCES: Readonly<Record<string, readonly [policy: object, code: string]>> = {
  hello: [
    { auth: 'none' },
    `export default async (req) => Response.json({ message: 'Hello ' + ((await req.json()).name ?? 'world') })`,
  ],
  caller: [
    { auth: 'anon', methods: ['GET', 'POST', 'PUT'] },
    `export default async (req, ctx) => Response.json({
      method: req.method, role: ctx.claims.role, sub: ctx.claims.sub ?? null, id: ctx.requestId,
      path: new URL(req.url).pathname, type: req.headers.get('content-type'), body: await req.text() })`,
  ],
  'for-user': [{ auth: 'user' }, `export default () => new Response('in')`],
  size: [{ auth: 'none' }, `export default async (req) => Response.json((await req.arrayBuffer()).byteLength)`],
  bytes: [
    { auth: 'none' },
    `export default () => new Response(Uint8Array.of(0, 255, 128), { headers: { 'content-type': 'application/octet-stream' } })`,
  ],
  events: [
    { auth: 'none', max: 1 },
    `let release
    export default (req) => {
      if (req.url.endsWith('/release')) { release(); return new Response('released') }
      return new Response(new ReadableStream({ async start(to) {
        to.enqueue('data: first\\n\\n'); await new Promise((go) => { release = go }); to.enqueue('data: second\\n\\n'); to.close()
      } }).pipeThrough(new TextEncoderStream()), { headers: { 'content-type': 'text/event-stream' } })
    }`,
  ],
  throws: [{ auth: 'none' }, `export default () => { throw new Error('the password is 1234') }`],
  never: [{ auth: 'none', timeout_ms: 300 }, `export default () => new Promise(() => {})`],
  loop: [{ auth: 'none', block_ms: 300 }, `export default () => { for (;;); }`],
  who: [
    { auth: 'anon' },
    `export default () => fetch('http://project.internal/rest/v1/rpc/who', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })`,
  ],
  state: [
    { auth: 'none', methods: ['GET'] },
    `export default async () => {
      const kv = await Deno.openKv()
      await kv.atomic().sum(['calls'], 1n).commit()
      const at = 'https://x.example/answer', kept = await caches.default.match(at)
      await caches.default.put(at, new Response('kept'))
      return Response.json([Number((await kv.get(['calls'])).value), kept ? await kept.text() : null])
    }`,
  ],
  chain: [
    { auth: 'none' },
    `export default async () => {
      const answer = await fetch('http://project.internal/functions/v1/chain', { method: 'POST' })
      return new Response(answer.body, { status: answer.status })
    }`,
  ],
}

beforeAll(async () => {
  const db = open.use(await openTestDatabase())
  await db.database.query(
    `create function public.who() returns text language sql stable as 'select current_user::text'`,
  )
  const folder = await mkdtemp(join(tmpdir(), 'terrane-functions-'))
  open.defer(() => rm(folder, { recursive: true, force: true }))
  // Otherwise a host that runs as root would keep its versions in another folder, which is not removed.
  await chmod(folder, 0o711)
  for (const [name, [policy, code]] of Object.entries({ ...SOURCES, 'who-as-host': privileged(SOURCES['who']!) })) {
    await mkdir(join(folder, 'functions', name), { recursive: true })
    await writeFile(join(folder, 'functions', name, 'function.json'), JSON.stringify(policy))
    await writeFile(join(folder, 'functions', name, 'index.ts'), code)
  }
  const claims = { iss: 'terrane', ref: 'demo' }
  keys.anon = await signToken({ ...claims, role: 'anon' }, SECRET, 3600)
  keys.service = await signToken({ ...claims, role: 'service_role' }, SECRET, 3600)
  keys.user = await signToken({ sub: '11111111-1111-4111-8111-111111111111', role: 'authenticated' }, SECRET, 3600)
  const [originPort, functionsPort] = (await freePorts(2)) as [number, number]
  origin = `http://127.0.0.1:${originPort}`
  const env = {
    HOST: '127.0.0.1',
    LOG_LEVEL: 'silent',
    DATABASE_URL: db.url,
    TERRANE_HOME: folder,
    TERRANE_PROJECT_REF: 'demo',
    TERRANE_JWT_SECRET: SECRET,
    TERRANE_SERVICE_ROLE_KEY: keys.service,
    TERRANE_STORAGE: `file:${join(folder, 'storage')}`,
    TERRANE_FUNCTIONS_STORAGE: `file:${join(folder, 'archives')}`,
    TERRANE_FUNCTIONS_DIR: join(folder, 'functions'),
    TERRANE_PROJECT_URL: origin,
    TERRANE_FUNCTIONS_URL: `http://127.0.0.1:${functionsPort}`,
  }
  for (const [name, port] of [
    ['functions', functionsPort],
    ['origin', originPort],
  ] as const) {
    const app = await App.start(name, { ...env, PORT: String(port) }, () => {})
    open.defer(() => app.stop())
  }
}, 120_000)
afterAll(() => open.disposeAsync())

function privileged([policy, code]: readonly [object, string]): readonly [object, string] {
  return [{ ...policy, privileged: true }, code]
}

const url = (name: string) => `${origin}/functions/v1/${name}`
const client = (key: string) =>
  createClient(origin, key, { auth: { persistSession: false, autoRefreshToken: false } }).functions

/** Status, `x-error-code` and body of an error of supabase-js. */
async function failure(invoked: PromiseLike<{ error: unknown }>) {
  const { error } = await invoked
  const response = (error as FunctionsHttpError).context as Response
  const isRelay = response.headers.get('x-relay-error') === 'true'
  expect(error).toBeInstanceOf(isRelay ? FunctionsRelayError : FunctionsHttpError)
  expect(isRelay).toBe(response.status > 500)
  const body = (await response.json()) as { code: string; message: string; request_id: string }
  expect(body.request_id).toBe(response.headers.get('x-request-id'))
  return { status: response.status, code: response.headers.get('x-error-code'), body }
}

test('a function keeps state and caches in the project’s database, behind the origin', async () => {
  const call = async () => (await fetch(url('state'))).json()
  expect(await call()).toEqual([1, null])
  expect(await call()).toEqual([2, 'kept'])
})

describe('functions.invoke of supabase-js, through the origin', () => {
  test('JSON in, JSON out', async () => {
    expect(await client(keys.anon).invoke('hello', { body: { name: 'Ada' } })).toMatchObject({
      data: { message: 'Hello Ada' },
      error: null,
    })
  })

  test('the caller is who the key says, or the user whose token was set', async () => {
    const anon = client(keys.anon)
    const { data } = await anon.invoke('caller/sub', { method: 'PUT', body: { a: 1 } })
    expect(data).toMatchObject({ method: 'PUT', role: 'anon', sub: null, path: '/caller/sub', body: '{"a":1}' })
    anon.setAuth(keys.user)
    expect((await anon.invoke('caller', { method: 'GET' })).data).toMatchObject({
      role: 'authenticated',
      sub: '11111111-1111-4111-8111-111111111111',
    })
    expect((await anon.invoke('for-user')).data).toBe('in')
  })

  test('texts, forms and bytes of either direction arrive as they were', async () => {
    const { invoke } = bound(client(keys.anon))
    expect(await invoke('caller', 'plain')).toMatchObject({ type: 'text/plain', body: 'plain' })
    const form = new FormData()
    form.append('field', 'value')
    expect(await invoke('caller', form)).toMatchObject({
      type: expect.stringContaining('multipart/form-data') as string,
      body: expect.stringContaining('value') as string,
    })
    expect(await invoke('size', new ArrayBuffer(6 * 1024 * 1024))).toBe(6 * 1024 * 1024)
    expect(new Uint8Array(await ((await invoke('bytes', {})) as Blob).arrayBuffer())).toEqual(
      Uint8Array.of(0, 255, 128),
    )
  })

  test('an event arrives before the next one exists', async () => {
    const { data } = await client(keys.anon).invoke('events', { body: {} })
    const reader = (data as Response).body!.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader.read()).value).toBe('data: first\n\n')
    await fetch(url('events/release'), { method: 'POST' })
    expect((await reader.read()).value).toBe('data: second\n\n')
    expect((await reader.read()).done).toBe(true)
  })

  test('every kind of failure has its status, code and request id', async () => {
    const anon = client(keys.anon)
    const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } })
    expect(await failure(anon.invoke('caller', bearer(`${keys.anon}x`)))).toMatchObject({
      status: 401,
      code: 'UNAUTHORIZED',
    })
    expect(await failure(anon.invoke('for-user'))).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    expect(await failure(anon.invoke('missing'))).toMatchObject({ status: 404, code: 'FUNCTION_NOT_FOUND' })
    expect(await failure(anon.invoke('hello', { method: 'PATCH' }))).toMatchObject({
      status: 405,
      code: 'METHOD_NOT_ALLOWED',
    })
    const tooLarge = new ArrayBuffer(6 * 1024 * 1024 + 1)
    // Repeated, because the answer may arrive before or after the rest of the upload.
    for (let i = 0; i < 10; i++) {
      expect(await failure(anon.invoke('size', { body: tooLarge }))).toMatchObject({
        status: 413,
        code: 'PAYLOAD_TOO_LARGE',
      })
    }
    const thrown = await failure(anon.invoke('throws'))
    expect(thrown).toMatchObject({ status: 500, code: 'FUNCTION_ERROR' })
    expect(JSON.stringify(thrown.body)).not.toContain('1234')
    expect(await failure(anon.invoke('never'))).toMatchObject({ status: 504, code: 'FUNCTION_TIMEOUT' })
    expect(await failure(anon.invoke('loop'))).toMatchObject({ status: 546, code: 'FUNCTION_RESOURCE_LIMIT' })
  })
})

describe('what passes through the origin', () => {
  test('a request id, from the caller to the function and back', async () => {
    const headers = { apikey: keys.anon, 'x-request-id': 'from-the-caller-1' }
    const response = await fetch(url('caller'), { method: 'POST', headers })
    expect(response.headers.get('x-request-id')).toBe('from-the-caller-1')
    expect(await response.json()).toMatchObject({ id: 'from-the-caller-1' })
  })

  test('a preflight, which the policy of the function answers', async () => {
    const headers = { origin: 'https://app.example', 'access-control-request-method': 'PUT' }
    const response = await fetch(url('caller'), { method: 'OPTIONS', headers })
    expect([response.status, response.headers.get('access-control-allow-methods')]).toEqual([204, 'GET, POST, PUT'])
  })

  test('a function at the project API is its caller, a privileged one the service role', async () => {
    const who = async (name: string, token: string) =>
      (await client(keys.anon).invoke(name, { headers: { Authorization: `Bearer ${token}` } })).data as unknown
    expect(await who('who', keys.anon)).toBe('anon')
    expect(await who('who', keys.user)).toBe('authenticated')
    expect(await who('who-as-host', keys.anon)).toBe('service_role')
  })

  test('a refusal of an upload, to callers who write all before they read, and then the next call', async () => {
    const head = (name: string, length: number, more = '') =>
      `POST /functions/v1/${name} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${more}content-length: ${length}\r\n\r\n`
    const { port } = new URL(origin)
    const uploads = Array.from({ length: 5 }, async () => {
      let text = ''
      const socket = connect(Number(port), '127.0.0.1')
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
      socket.write(head('size', 8_000_000) + 'x'.repeat(8_000_000))
      socket.write(`${head('hello', 15, 'connection: close\r\n')}{"name":"next"}`)
      await once(socket, 'close')
      return text
    })
    for (const text of await Promise.all(uploads)) {
      expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200'])
      expect(text).toContain('Hello next')
    }
  })

  test('how deep a chain of functions is', async () => {
    const response = await fetch(url('chain'), { method: 'POST' })
    expect(await response.json()).toMatchObject({ status: 508, code: 'FUNCTION_RECURSION' })
  })
})

const curl = spawnSync('curl', ['--version']).status === 0
test.skipIf(!curl)(`the curl of the interface document${curl ? '' : ': NOT RUN, there is no curl here'}`, () => {
  const header = (text: string) => ['-H', text]
  const args = ['-sS', '-X', 'POST', url('caller'), '-d', '{"a":1}', '-w', '\n%{http_code}']
  args.push(...header('Content-Type: application/json'), ...header(`apikey: ${keys.anon}`))
  args.push(...header(`Authorization: Bearer ${keys.anon}`))
  const [body, status] = spawnSync('curl', args, { timeout: 20_000 }).stdout.toString().split('\n')
  expect(status).toBe('200')
  expect(JSON.parse(body!)).toMatchObject({ role: 'anon', type: 'application/json', body: '{"a":1}' })
})

/** Invokes and returns the data. */
function bound(functions: ReturnType<typeof client>) {
  return {
    invoke: async (
      name: string,
      body: NonNullable<Parameters<typeof functions.invoke>[1]>['body'],
    ): Promise<unknown> => {
      const { data, error } = await functions.invoke(name, { body: body as FormData })
      expect(error).toBeNull()
      return data
    },
  }
}
