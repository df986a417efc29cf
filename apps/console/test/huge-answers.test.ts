import { startEndless, type EndlessServer } from '@terrane/testing/endless'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openConsole, type Browser, type TestConsole } from './harness.ts'

/** Memory limit for one answer, including the system's buffers. */
const MOST_BYTES = 64 * 1024 * 1024

let server: EndlessServer
let console: TestConsole
let ada: Browser
beforeAll(async () => {
  server = await startEndless(({ url = '' }) => ({ status: url.includes('/raster/') ? 404 : 200 }))
  console = await openConsole({
    TERRANE_PROJECT_URL: server.url,
    CONSOLE_WORKER_BASE_LOCAL: server.url,
    TERRANE_FUNCTIONS_URL: server.url,
  })
  ada = await console.signIn()
})
afterAll(async () => {
  await console[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

test.each([
  ['a list of layers', 'GET', '/layers', 503],
  ['the problem of a tile', 'GET', '/raster/v1/tiles/WebMercatorQuad/1/1/1.webp', 503],
])('%s that has no end is one clear error', async (_, method, path, status) => {
  const before = server.sent()
  const response = await ada.ask(method, `/api/projects/demo${path}`)
  expect(response.status).toBe(status)
  expect(await response.json()).toMatchObject({ code: 'SERVICE_DOWN' })
  await server.quiet()
  expect(server.sent() - before).toBeLessThanOrEqual(MOST_BYTES)
})

test('the answer of a function that has no end is shown as far as it is shown', async () => {
  const before = server.sent()
  const response = await ada.ask('POST', '/api/projects/demo/functions/endless/call', { method: 'GET' })
  expect(await response.json()).toMatchObject({ status: 200, truncated: true })
  await server.quiet()
  expect(server.sent() - before).toBeLessThanOrEqual(MOST_BYTES)
})
