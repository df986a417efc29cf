import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { unboundedBodies } from '@terrane/testing/bodies'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openOrigin, type TestOrigin, settingsOf } from './harness.ts'

const asked: IncomingHttpHeaders[] = []
const hostile = createServer((request, response) => {
  asked.push(request.headers)
  response.writeHead(200, {
    'content-type': 'text/html',
    'set-cookie': ['terrane_session=stolen; Path=/api', 'b=2'],
    'service-worker-allowed': '/',
    'strict-transport-security': 'max-age=63072000; includeSubDomains',
    'alt-svc': 'h3=":443"',
    'clear-site-data': '"*"',
    link: ['</a.js>; rel=preload', '<?page=2>; rel="next"'],
    'www-authenticate': 'Bearer realm="x"',
    'use-as-dictionary': 'match="/*"',
    'content-security-policy': `script-src 'none'`,
    'x-of-the-function': 'kept',
  })
  response.end('<script>alert(1)</script>')
})
let origin: TestOrigin
let own: TestOrigin
beforeAll(async () => {
  await new Promise<void>((resolve) => hostile.listen(0, '127.0.0.1', resolve))
  const TERRANE_FUNCTIONS_URL = `http://127.0.0.1:${(hostile.address() as AddressInfo).port}`
  origin = await openOrigin({ TERRANE_FUNCTIONS_URL, TERRANE_METRICS_KEY: 'the-key-of-the-operator' })
  own = await openOrigin(
    { TERRANE_FUNCTIONS_URL, TERRANE_FUNCTIONS_OWN_ORIGIN: 'true', ...settingsOf({}, { rates: { perAddress: 5 } }) },
    origin,
  )
})
afterAll(async () => {
  await own[Symbol.asyncDispose]()
  await origin[Symbol.asyncDispose]()
  hostile.closeAllConnections()
  hostile.close()
})

test('the origin of a project serves no pages', async () => {
  for (const path of ['/', '/p/demo/jobs', '/assets/index.js', '/api/session', '/index.html']) {
    const response = await fetch(origin.url + path)
    expect(response.status).toBe(404)
    expect(response.headers.get('content-type')).toContain('application/problem+json')
  }
  expect(asked).toEqual([])
})

test('services that do not run stay the origin’s, and preflights are answered', async () => {
  expect((await fetch(`${origin.url}/worker/doc`)).status).toBe(503)
  const preflight = await fetch(`${origin.url}/rest/v1/rpc/similarity_search`, {
    method: 'OPTIONS',
    headers: { origin: 'https://app.example.org', 'access-control-request-method': 'POST' },
  })
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
})

describe('answers of functions', () => {
  test('set no header for a shared origin', async () => {
    const response = await fetch(`${origin.url}/functions/v1/page`)
    expect(response.status).toBe(200)
    const { headers } = response
    expect(headers.get('x-of-the-function')).toBe('kept')
    expect(headers.get('content-security-policy')).toMatch(/^script-src 'none', sandbox allow-scripts/)
    expect(headers.get('content-security-policy')).not.toContain('allow-same-origin')
    expect(headers.getSetCookie()).toEqual([])
    const beyond = ['service-worker-allowed', 'strict-transport-security', 'alt-svc', 'clear-site-data']
    for (const name of [...beyond, 'link', 'use-as-dictionary']) expect(headers.get(name)).toBeNull()
    expect(headers.get('www-authenticate')).toBe('Bearer realm="x"')
  })
  test('are no service workers', async () => {
    const response = await fetch(`${origin.url}/functions/v1/page`, { headers: { 'service-worker': 'script' } })
    expect(response.status).toBe(403)
  })
  test('come as they are on a domain of the project’s own', async () => {
    const { headers } = await fetch(`${own.url}/functions/v1/page`)
    expect(headers.getSetCookie()).toHaveLength(2)
    expect(headers.get('content-security-policy')).toBe(`script-src 'none'`)
  })
})

test('services are told whom the origin saw, not whom the caller names', async () => {
  asked.length = 0
  const headers = {
    'x-forwarded-for': '203.0.113.9, 10.0.0.1',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'bank.example',
    'x-real-ip': '203.0.113.9',
    forwarded: 'for=203.0.113.9',
  }
  await fetch(`${origin.url}/functions/v1/page`, { headers })
  expect(asked[0]).toMatchObject({
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': 'http',
    'x-forwarded-host': new URL(origin.url).host,
  })
  expect(asked[0]).not.toHaveProperty('x-real-ip')
  expect(asked[0]).not.toHaveProperty('forwarded')
})

test('every part of a body has a bound', () => {
  expect(unboundedBodies(origin.routes)).toEqual([])
})

test('every schema of every route can be compiled', () => {
  expect(() => origin.compileSchemas()).not.toThrow()
})

test('metrics are the operator’s', async () => {
  const get = (headers: Record<string, string> = {}) => fetch(`${origin.url}/metrics`, { headers })
  expect((await get()).status).toBe(401)
  expect((await get({ authorization: `Bearer ${origin.keys.service}`, apikey: origin.keys.service })).status).toBe(401)
  const seen = await get({ authorization: 'Bearer the-key-of-the-operator' })
  expect(seen.status).toBe(200)
  expect(await seen.text()).toContain('http_request_duration_seconds')
  // Without a key of the operator they are closed.
  expect((await fetch(`${own.url}/metrics`, { headers: { authorization: 'Bearer ' } })).status).toBe(401)
})

describe('storage', () => {
  const paths = Array.from({ length: 400_000 }, () => 1)
  const post = (key: string | null, body: string, method = 'POST', path = '/object/sign/zz') =>
    fetch(`${origin.url}/storage/v1${path}`, {
      method,
      body,
      headers: { 'content-type': 'application/json', ...(key !== null && { apikey: key }) },
    })
  test('asks for the key before it looks at a body', async () => {
    const body = JSON.stringify({ expiresIn: 1, paths })
    expect((await post(null, body)).status).toBe(401)
    expect((await post('nonsense', body)).status).toBe(401)
    expect((await post(origin.keys.anon, body)).status).toBe(403)
    expect((await post(origin.keys.anon, '{', 'PUT', '/bucket/x')).status).toBe(403)
    expect((await post(origin.keys.anon, '{', 'DELETE', '/object/x/y')).status).toBe(403)
  })
  test('names the first error of a large body', async () => {
    const response = await post(origin.keys.service, JSON.stringify({ expiresIn: 1, paths }))
    expect(response.status).toBe(400)
    expect((await response.text()).length).toBeLessThan(2000)
  })
})

test('a refusal for too many requests says when the next may come, also to scripts of other origins', async () => {
  await using limited = await openOrigin(settingsOf({}, { rates: { perAddress: 1 } }), origin)
  const read = (path: string) =>
    fetch(limited.url + path, { headers: { apikey: limited.keys.anon, origin: 'https://a.example' } })
  await read('/rest/v1/')
  await read('/storage/v1/bucket')
  const paths = ['rest/v1/', 'vector/v1/catalog', 'export/v1/a', 'ogc/v1/', 'storage/v1/bucket']
  for (const path of paths) {
    const refused = await read(`/${path}`)
    const { headers } = refused
    expect([path, refused.status]).toEqual([path, 429])
    const { message } = (await refused.json()) as { message: string }
    expect(headers.get('retry-after')).toBe(/ in (\d+) s/.exec(message)?.[1])
    expect(headers.get('access-control-expose-headers')).toContain('retry-after')
  }
})

test('one address asks so often, and a secret key is not counted for it', async () => {
  const read = (key: string) =>
    fetch(`${own.url}/rest/v1/embeddings_catalogue`, { headers: { apikey: key, 'accept-profile': 'geoembeddings' } })
  const statuses: number[] = []
  for (let i = 0; i < 7; i++) statuses.push((await read(own.keys.anon)).status)
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429])
  expect((await read(own.keys.service)).status).toBe(200)
  const elsewhere = { apikey: own.keys.anon, 'accept-profile': 'geoembeddings', 'x-forwarded-for': '198.51.100.7' }
  expect((await fetch(`${own.url}/rest/v1/embeddings_catalogue`, { headers: elsewhere })).status).toBe(429)
  // Other kinds of requests are counted separately.
  expect((await fetch(`${own.url}/storage/v1/object/public/none/x`)).status).toBe(404)
})
