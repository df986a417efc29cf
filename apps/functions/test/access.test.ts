// Slow: hosts start, and each caller starts an instance of each function.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { FunctionsHttpError, createClient } from '@supabase/supabase-js'
import { SignJWT, exportJWK, generateKeyPair } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { ANON_KEY, SERVICE_KEY, startApp, token, type TestApp } from './support/app.ts'
import { outcome, rawExchange } from './support/http.ts'

let database: TestDatabase
let jwks: Server
let app: TestApp
const es256 = await generateKeyPair('ES256', { extractable: true })
const rs256 = await generateKeyPair('RS256', { extractable: true })

beforeAll(async () => {
  database = await openTestDatabase()
  const keys = [
    { ...(await exportJWK(es256.publicKey)), kid: 'e', alg: 'ES256' },
    { ...(await exportJWK(rs256.publicKey)), kid: 'r', alg: 'RS256' },
  ]
  jwks = createServer((_, response) => response.end(JSON.stringify({ keys })))
  await new Promise<void>((done) => jwks.listen(0, '127.0.0.1', done))
  const { port } = jwks.address() as AddressInfo
  app = await startApp({ DATABASE_URL: database.url, TERRANE_JWKS_URL: `http://127.0.0.1:${port}/keys` })
  const source = `export default async (req, ctx) => Response.json({
    sub: ctx.claims?.sub ?? null, role: ctx.claims?.role ?? null, path: new URL(req.url).pathname, search: new URL(req.url).search,
    body: req.method === 'POST' ? await req.text() : null })`
  for (const auth of ['none', 'anon', 'user', 'service'])
    await app.deploy(`for-${auth}`, source, { auth, methods: ['GET', 'POST'], cors: ['https://app.example'] })
  await app.deploy(
    'own-cors',
    `export default () => new Response('x', { headers: { 'access-control-allow-origin': 'https://own.example' } })`,
    {
      auth: 'none',
      methods: ['GET', 'OPTIONS'],
      cors: [],
    },
  )
  await app.deploy('failing', `export default () => Response.json({ reason: 'quota' }, { status: 402 })`)
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  jwks.close()
  await database[Symbol.asyncDispose]()
})

const user = { role: 'authenticated', sub: 'user-1' }
const signedBy = (pair: typeof es256, alg: string, kid: string, seconds = 3600) =>
  new SignJWT({ ...user, ref: 'test' })
    .setProtectedHeader({ alg, kid })
    .setIssuedAt()
    .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
    .sign(pair.privateKey)

async function statusOf(auth: string, headers: Record<string, string>): Promise<number> {
  return (await fetch(app.url(`for-${auth}`), { method: 'POST', headers })).status
}

describe('who may call what', () => {
  test.each([
    ['an anonymous caller', async () => ({}), { none: 200, anon: 401, user: 401, service: 401 }],
    ['the anon key', async () => ({ apikey: ANON_KEY }), { none: 200, anon: 200, user: 403, service: 403 }],
    [
      'the anon key as Bearer',
      async () => ({ authorization: `Bearer ${ANON_KEY}` }),
      { none: 200, anon: 200, user: 403, service: 403 },
    ],
    [
      'the anon key twice, as supabase-js sends it',
      async () => ({ apikey: ANON_KEY, authorization: `Bearer ${ANON_KEY}` }),
      { none: 200, anon: 200, user: 403, service: 403 },
    ],
    [
      'an anon token',
      async () => ({ apikey: await token({ role: 'anon' }) }),
      { none: 200, anon: 200, user: 403, service: 403 },
    ],
    [
      'a user, HS256',
      async () => ({ apikey: ANON_KEY, authorization: `Bearer ${await token(user)}` }),
      { none: 200, anon: 200, user: 200, service: 403 },
    ],
    [
      'a user, ES256',
      async () => ({ apikey: ANON_KEY, authorization: `Bearer ${await signedBy(es256, 'ES256', 'e')}` }),
      { none: 200, anon: 200, user: 200, service: 403 },
    ],
    [
      'a user, RS256',
      async () => ({ authorization: `Bearer ${await signedBy(rs256, 'RS256', 'r')}` }),
      { none: 200, anon: 200, user: 200, service: 403 },
    ],
    [
      'the service key',
      async () => ({ apikey: SERVICE_KEY, authorization: `Bearer ${SERVICE_KEY}` }),
      { none: 200, anon: 200, user: 200, service: 200 },
    ],
    [
      'a service token',
      async () => ({ apikey: await token({ role: 'service_role' }) }),
      { none: 200, anon: 200, user: 200, service: 200 },
    ],
  ])('%s', async (_, headers, expected) => {
    const sent = await headers()
    const seen: Record<string, number> = {}
    for (const auth of Object.keys(expected)) seen[auth] = await statusOf(auth, sent)
    expect(seen).toEqual(expected)
  })

  test.each([
    ['an unknown key', async () => ({ apikey: 'sb_publishable_unknown' })],
    ['nonsense', async () => ({ authorization: 'Bearer nonsense' })],
    ['another scheme', async () => ({ authorization: 'Basic YTpi' })],
    ['an expired token', async () => ({ authorization: `Bearer ${await token(user, undefined, -60)}` })],
    ['an expired ES256 token', async () => ({ authorization: `Bearer ${await signedBy(es256, 'ES256', 'e', -60)}` })],
    ['a token of another secret', async () => ({ authorization: `Bearer ${await token(user, 'x'.repeat(40))}` })],
    [
      'a token of another key',
      async () => ({ authorization: `Bearer ${await signedBy(await generateKeyPair('ES256'), 'ES256', 'e')}` }),
    ],
    ['a tampered token', async () => ({ authorization: `Bearer ${tamper(await token(user))}` })],
    ['a token of another project', async () => ({ authorization: `Bearer ${await token({ ...user, ref: 'other' })}` })],
    ['alg none', async () => ({ authorization: `Bearer ${unsigned({ alg: 'none' })}` })],
    ['alg none in capitals', async () => ({ authorization: `Bearer ${unsigned({ alg: 'NONE' })}` })],
    ['HS256 with the public key as its secret', async () => ({ authorization: `Bearer ${await confused()}` })],
    ['a token without exp', async () => ({ authorization: `Bearer ${await eternal()}` })],
    ['an unknown role', async () => ({ authorization: `Bearer ${await token({ role: 'postgres' })}` })],
  ])('%s is 401, also beside a good apikey, but where anyone may call', async (_, headers) => {
    const sent = await headers()
    const open = await fetch(app.url('for-none'), { method: 'POST', headers: sent })
    expect([open.status, await open.json()]).toMatchObject([200, { sub: null, role: null }])
    for (const auth of ['anon', 'user', 'service']) {
      expect(await statusOf(auth, sent)).toBe(401)
      const beside = 'authorization' in sent ? { ...sent, apikey: ANON_KEY } : sent
      expect(await statusOf(auth, beside)).toBe(401)
    }
  })

  test('a function that anyone may call gets the Authorization of others as it is, and its requests to the project do not carry it', async () => {
    await app.deploy(
      'hook',
      `export default async (req) => {
         const user = await fetch('http://project.internal/auth/v1/user')
         return Response.json([req.headers.get('authorization'), (await user.json()).code])
       }`,
      { auth: 'none' },
    )
    for (const authorization of ['Basic YTpi', 'Bearer of-another', `Bearer ${await token(user, 'x'.repeat(40))}`]) {
      for (const apikey of [{}, { apikey: ANON_KEY }]) {
        const response = await fetch(app.url('hook'), { method: 'POST', headers: { authorization, ...apikey } })
        expect(await response.json()).toEqual([authorization, 'no_authorization'])
      }
    }
  })

  test('a token that expires stops working although it was good before', async () => {
    const short = await token(user, undefined, -3)
    // The tolerance for clocks is five seconds: the token is still valid, and is not cached beyond its expiry.
    expect(await statusOf('user', { authorization: `Bearer ${short}` })).toBe(200)
    await expect.poll(() => statusOf('user', { authorization: `Bearer ${short}` }), { interval: 500 }).toBe(401)
  })

  test('the claims of the token are the ones the function sees', async () => {
    const response = await fetch(app.url('for-user'), { headers: { authorization: `Bearer ${await token(user)}` } })
    expect(await response.json()).toMatchObject({ sub: 'user-1', role: 'authenticated' })
  })
})

function tamper(jwt: string): string {
  const [header, payload, signature] = jwt.split('.') as [string, string, string]
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object
  const changed = Buffer.from(JSON.stringify({ ...claims, role: 'service_role' })).toString('base64url')
  return [header, changed, signature].join('.')
}
function unsigned(header: object): string {
  const parts = [header, { ...user, ref: 'test', role: 'service_role', exp: 4e9 }]
  return `${parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.`
}
async function confused(): Promise<string> {
  return token(user, JSON.stringify(await exportJWK(rs256.publicKey)))
}
async function eternal(): Promise<string> {
  const { JWT_SECRET } = await import('./support/app.ts')
  return new SignJWT({ ...user, ref: 'test' })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(new TextEncoder().encode(JWT_SECRET))
}

describe('the interface as clients use it', () => {
  test('every schema of every route can be compiled', () => {
    expect(() => app.compileSchemas()).not.toThrow()
  })

  test('the request of the interface document', async () => {
    const response = await fetch(app.url('for-anon'), {
      method: 'POST',
      headers: { 'content-type': 'application/json', apikey: ANON_KEY, authorization: `Bearer ${ANON_KEY}` },
      body: '{"a":1}',
    })
    expect([response.status, await response.json()]).toEqual([
      200,
      { sub: null, role: 'anon', path: '/for-anon', search: '', body: '{"a":1}' },
    ])
  })

  test('the target of a request may be a whole address', async () => {
    const { port } = new URL(app.origin)
    const head = `GET ${app.url('for-none')}/sub?x=1 HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: close\r\n\r\n`
    const { text } = await rawExchange(Number(port), (write) => write(head), 20_000)
    expect([text.slice(0, 15), text]).toEqual(['HTTP/1.1 200 OK', expect.stringContaining('"path":"/for-none/sub"')])
  })

  test('HEAD is taken where GET is, and may announce what a body may not have', async () => {
    await app.deploy(
      'sized',
      `export default (req) => new Response(null, { headers: { 'content-length': '200000000', 'x-method': req.method } })`,
      { auth: 'none', methods: ['GET'] },
    )
    const head = await fetch(app.url('sized'), { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length'), head.headers.get('x-method')]).toEqual([
      200,
      '200000000',
      'HEAD',
    ])
    const refused = await fetch(app.url('sized'), { method: 'POST' })
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    await app.deploy('posted', `export default () => new Response('x')`, { auth: 'none' })
    expect((await fetch(app.url('posted'), { method: 'HEAD' })).status).toBe(405)
  })

  test('supabase-js invokes, with sub-path, method and region, and gets the body of an error', async () => {
    const client = createClient(app.origin, ANON_KEY)
    const posted = await client.functions.invoke('for-anon', { body: { a: 1 } })
    expect(posted).toMatchObject({ error: null, data: { body: '{"a":1}', role: 'anon' } })
    const got = await client.functions.invoke('for-anon/sub?x=1', { method: 'GET', region: 'eu-west-1' as never })
    expect(got).toMatchObject({
      error: null,
      data: { path: '/for-anon/sub', search: expect.stringContaining('x=1') as string },
    })
    const failed = await client.functions.invoke('failing', { body: {} })
    expect(failed.error).toBeInstanceOf(FunctionsHttpError)
    expect(await (failed.error as FunctionsHttpError).context.json()).toEqual({ reason: 'quota' })
    const missing = await client.functions.invoke('missing', { body: {} })
    expect(await (missing.error as FunctionsHttpError).context.json()).toMatchObject({ code: 'FUNCTION_NOT_FOUND' })
  })

  test.each([
    ['GET', '/functions/v1/missing', 404, 'FUNCTION_NOT_FOUND'],
    ['GET', '/functions/v1/', 404, 'FUNCTION_NOT_FOUND'],
    ['GET', '/functions/v1/UPPER', 404, 'FUNCTION_NOT_FOUND'],
    ['GET', '/functions/v1/..%2fetc', 404, 'FUNCTION_NOT_FOUND'],
    ['GET', '/functions/v1/__proto__', 404, 'FUNCTION_NOT_FOUND'],
    ['DELETE', '/functions/v1/for-none', 405, 'METHOD_NOT_ALLOWED'],
    ['OPTIONS', '/functions/v1/for-none', 405, 'METHOD_NOT_ALLOWED'],
  ])('%s %s is %d', async (method, path, status, code) => {
    const response = await fetch(app.origin + path, { method })
    expect(response.headers.get('allow')).toBe(status === 405 ? 'GET, POST, HEAD' : null)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    const problem = (await response.clone().json()) as { request_id: string; code: string; message: string }
    expect(problem).toMatchObject({ code, status, request_id: response.headers.get('x-request-id') })
    expect(await outcome(response)).toMatchObject({ status, code })
  })

  test('a body over the limit is 413, announced or not, and the answer arrives', async () => {
    await app.deploy('small', `export default async (req) => new Response(String((await req.bytes()).length))`, {
      auth: 'none',
      body_bytes: 1000,
    })
    const send = (body: NonNullable<RequestInit['body']>, more: object = {}) =>
      fetch(app.url('small'), { method: 'POST', body, ...more })
    expect(await outcome(await send('x'.repeat(1000)))).toMatchObject({ status: 200, body: '1000' })
    expect(await outcome(await send('x'.repeat(1001)))).toMatchObject({ status: 413, code: 'PAYLOAD_TOO_LARGE' })
    const stream = new Blob(['x'.repeat(5000)]).stream()
    expect(await outcome(await send(stream, { duplex: 'half' }))).toMatchObject({
      status: 413,
      code: 'PAYLOAD_TOO_LARGE',
    })
  })

  test('a caller that writes all before it reads sees the refusal, and its connection goes on', async () => {
    await app.deploy('tiny', `export default async (req) => new Response(await req.text())`, {
      auth: 'none',
      body_bytes: 10,
    })
    const head = (length: number, more = '') =>
      `POST /functions/v1/tiny HTTP/1.1\r\nhost: x\r\n${more}content-length: ${length}\r\n\r\n`
    const { text, closed } = await rawExchange(
      Number(new URL(app.origin).port),
      (write) => {
        write(head(2_000_000) + 'x'.repeat(2_000_000))
        write(`${head(5, 'connection: close\r\n')}after`)
      },
      20_000,
    )
    expect([text.match(/HTTP\/1\.1 \d+/g), text.endsWith('after'), closed]).toEqual([
      ['HTTP/1.1 413', 'HTTP/1.1 200'],
      true,
      true,
    ])
  })

  test('a caller that closes after its request and writes all before it reads gets an early answer', async () => {
    await app.deploy(
      'early',
      `export default async (req) => { await req.body.getReader().read(); return new Response('enough') }`,
      {
        auth: 'none',
        stream_body: true,
        body_bytes: 20_000_000,
      },
    )
    const preflight = 'origin: https://app.example\r\naccess-control-request-method: POST\r\n'
    for (const [method, headers, status] of [
      ['POST', '', 200],
      ['OPTIONS', preflight, 204],
    ] as const) {
      const socket = connect({ port: Number(new URL(app.origin).port), host: '127.0.0.1', allowHalfOpen: true })
      socket.pause()
      socket.write(
        `${method} /functions/v1/early HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${headers}content-length: 10000000\r\n\r\n`,
      )
      for (let i = 0; i < 10; i++) if (!socket.write(Buffer.alloc(1_000_000))) await once(socket, 'drain')
      expect(await textOf(socket)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
      socket.destroy()
    }
  })
})

test('where a proxy refuses 546 the limit answers with the status of the configuration', async () => {
  await using host = await startApp({
    DATABASE_URL: database.url,
    TERRANE_SETTINGS: '{"functions":{"limitStatus":503}}',
  })
  await host.deploy('loop', `export default () => { for (;;); }`, { auth: 'none', block_ms: 500 })
  const response = await fetch(host.url('loop'), { method: 'POST' })
  expect(await outcome(response)).toMatchObject({ status: 503, code: 'FUNCTION_RESOURCE_LIMIT' })
})

describe('CORS', () => {
  const origin = 'https://app.example'

  test('a preflight is answered without credentials and without an instance', async () => {
    const before = [...app.deps.control.functions.get('test', 'for-service')!.pool].length
    const response = await fetch(app.url('for-service'), {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'apikey, x-custom',
      },
    })
    expect(response.status).toBe(204)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': 'apikey, x-custom',
      vary: 'Origin',
    })
    expect([...app.deps.control.functions.get('test', 'for-service')!.pool].length).toBe(before)
  })

  test('answers and errors of the host carry the headers; other origins get none', async () => {
    for (const [headers, status] of [
      [{ apikey: ANON_KEY }, 200],
      [{}, 401],
    ] as const) {
      const allowed = await fetch(app.url('for-anon'), { headers: { ...headers, origin } })
      expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([status, origin])
      const other = await fetch(app.url('for-anon'), { headers: { ...headers, origin: 'https://evil.example' } })
      expect([other.status, other.headers.get('access-control-allow-origin')]).toEqual([status, null])
    }
  })

  test('a page hears that there is no such function, instead of a failed preflight', async () => {
    const headers = { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'apikey' }
    const preflight = await fetch(app.url('nowhere'), { method: 'OPTIONS', headers })
    expect(preflight.status).toBe(204)
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': expect.stringContaining('POST') as string,
      'access-control-allow-headers': 'apikey',
    })
    const answer = await fetch(app.url('nowhere'), { method: 'POST', headers: { origin } })
    expect([answer.status, answer.headers.get('x-error-code')]).toEqual([404, 'FUNCTION_NOT_FOUND'])
    expect(answer.headers.get('access-control-expose-headers')).toContain('x-error-code')
  })

  test('with an empty list the function speaks for itself', async () => {
    const response = await fetch(app.url('own-cors'), { headers: { origin } })
    expect(response.headers.get('access-control-allow-origin')).toBe('https://own.example')
    const preflight = await fetch(app.url('own-cors'), {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'GET' },
    })
    expect(await preflight.text()).toBe('x')
  })

  test('a function’s own headers reach the page, also on its preflights; what "cors" narrows is said in its log, once', async () => {
    const source = `
      const own = { 'Access-Control-Allow-Origin': '${origin}', 'Access-Control-Allow-Credentials': 'true', 'Access-Control-Expose-Headers': 'x-total-count' }
      Deno.serve((req) => new URL(req.url).pathname.endsWith('/plain') ? new Response('plain', { status: 404 })
        : new Response(null, { status: 204, headers: { ...own, 'Access-Control-Allow-Headers': 'x-own' } }))`
    const methods = ['GET', 'OPTIONS']
    await app.deploy('mine', source, { auth: 'none', methods })
    await app.deploy('narrowed', source, { auth: 'none', methods, cors: ['https://other.example'] })
    const names = ['origin', 'credentials', 'headers'].map((name) => `access-control-allow-${name}`)
    const seen = async (name: string, method: string) => {
      const headers = { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'x-asked' }
      const response = await fetch(app.url(name), { method, headers })
      return names.map((header) => response.headers.get(header))
    }
    expect(await seen('mine', 'GET')).toEqual([origin, 'true', 'x-own'])
    expect(await seen('mine', 'OPTIONS')).toEqual([origin, 'true', 'x-own'])
    // The function does not know of preflights here.
    expect(await seen('mine/plain', 'OPTIONS')).toEqual(['*', null, 'x-asked'])
    for (let n = 0; n < 2; n++) expect(await seen('narrowed', 'GET')).toEqual([null, null, null])
    expect(await seen('narrowed', 'OPTIONS')).toEqual([null, null, 'x-asked'])
    const said = (name: string) =>
      app.deps.control.logBook.latest('test', name, 100).filter(({ message }) => message.includes('"cors"'))
    expect([said('mine').length, said('narrowed').length]).toEqual([0, 1])
  })
})
