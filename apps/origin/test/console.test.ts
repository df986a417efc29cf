import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openOrigin, type TestOrigin } from './harness.ts'

const asked: string[] = []
const page = createServer((request, response) => {
  asked.push(`${request.method} ${request.url} ${request.headers.cookie ?? ''}`.trim())
  response.setHeader('content-security-policy', `default-src 'none'`)
  response.end('the page')
})
let origin: TestOrigin
beforeAll(async () => {
  await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve))
  origin = await openOrigin({ TERRANE_CONSOLE_URL: `http://127.0.0.1:${(page.address() as AddressInfo).port}` })
})
afterAll(async () => {
  await origin[Symbol.asyncDispose]()
  page.closeAllConnections()
  page.close()
})

test('whatever is not of the data plane is the console’s, cookies and headers included', async () => {
  for (const path of ['/', '/p/demo/jobs?x=1', '/assets/index.js']) {
    const response = await fetch(origin.url + path, { headers: { cookie: 'a=b' } })
    expect(await response.text()).toBe('the page')
    expect(response.headers.get('content-security-policy')).toBe(`default-src 'none'`)
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  }
  await fetch(`${origin.url}/api/session`, {
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'application/json' },
  })
  expect(asked).toEqual(['GET / a=b', 'GET /p/demo/jobs?x=1 a=b', 'GET /assets/index.js a=b', 'POST /api/session'])
})

test('rest, storage and the ways to services that do not run stay the origin’s', async () => {
  asked.length = 0
  expect((await fetch(`${origin.url}/rest/v1/embeddings_catalogue`)).status).toBe(401)
  expect((await fetch(`${origin.url}/health/live`)).status).toBe(200)
  expect((await fetch(`${origin.url}/functions/v1/hello`)).status).toBe(503)
  const preflight = await fetch(`${origin.url}/rest/v1/rpc/similarity_search`, {
    method: 'OPTIONS',
    headers: { origin: 'https://app.example.org', 'access-control-request-method': 'POST' },
  })
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
  expect(asked).toEqual([])
})
