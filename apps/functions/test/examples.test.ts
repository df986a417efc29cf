import { cp, mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ANON_KEY, startApp, token, type TestApp } from './support/app.ts'

const SERVICES_KEY = 'services-key-of-the-tests'
let app: TestApp
let folder: string
let api: Server
const calls: { readonly url: string; readonly headers: IncomingHttpHeaders; readonly body: unknown }[] = []
let routes = true

/** A project with two places that look alike, and a routing engine. */
beforeAll(async () => {
  api = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      calls.push({ url: request.url!, headers: request.headers, body: JSON.parse(text) as unknown })
      const [status, answer] = answerTo(request.url!, text)
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })
  })
  await new Promise<void>((done) => api.listen(0, '127.0.0.1', done))
  // Beside the repository, because the imports of the examples would be searched in its workspaces.
  folder = await mkdtemp(join(tmpdir(), 'terrane-examples-'))
  await cp(new URL('../examples/', import.meta.url), folder, { recursive: true })
  app = await startApp({
    TERRANE_FUNCTIONS_DIR: folder,
    TERRANE_PROJECT_URL: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
    TERRANE_SERVICES_KEY: SERVICES_KEY,
  })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  api.closeAllConnections()
  api.close()
  await rm(folder, { recursive: true })
})
beforeEach(() => {
  calls.length = 0
  routes = true
})

function answerTo(url: string, body: string): [number, unknown] {
  if (url === '/routing-engine/v1/route') {
    if (!routes) return [400, { error: 'No path could be found for input', error_code: 442 }]
    return [200, { trip: { summary: { time: 321, length: 1.5 }, legs: [{ shape: 'abc' }] } }]
  }
  if (body.includes('private')) return [404, { code: '42501', message: 'permission denied for table private' }]
  const square = (lon: number, lat: number) => ({
    type: 'Polygon',
    coordinates: [
      [
        [lon, lat],
        [lon + 0.002, lat],
        [lon + 0.002, lat + 0.002],
        [lon, lat + 0.002],
        [lon, lat],
      ],
    ],
  })
  return [
    200,
    [
      { id: 7, similarity: 1, geom: square(9.519, 47.139) },
      { id: 42, similarity: 0.9, geom: square(9.599, 47.199) },
    ],
  ]
}
const ask = async (body: unknown, headers: Record<string, string> = { apikey: ANON_KEY }) => {
  const response = await fetch(app.url('nearest'), { method: 'POST', headers, body: JSON.stringify(body) })
  const answer: unknown = await response.json()
  return { status: response.status, body: answer }
}
const question = { table: 'scene', lon: 9.52, lat: 47.14, limit: 2 }

test('hello answers anyone', async () => {
  const greet = async (body: string) => (await fetch(app.url('hello'), { method: 'POST', body })).json()
  expect(await greet('{"name":"Ada"}')).toMatchObject({ message: 'Hello Ada!' })
  expect(await greet('')).toMatchObject({ message: 'Hello world!' })
})

test('nearest finds what looks alike, and the way to the first place that is elsewhere', async () => {
  expect(await ask(question)).toEqual({
    status: 200,
    body: {
      places: [
        { id: 7, similarity: 1, centre: { lon: expect.closeTo(9.52) as number, lat: expect.closeTo(47.14) as number } },
        {
          id: 42,
          similarity: 0.9,
          centre: { lon: expect.closeTo(9.6) as number, lat: expect.closeTo(47.2) as number },
        },
      ],
      route: { seconds: 321, kilometers: 1.5, shape: 'abc' },
    },
  })
  expect(calls.map((call) => call.url)).toEqual(['/rest/v1/rpc/similarity_search', '/routing-engine/v1/route'])
  expect(calls[0]).toMatchObject({
    headers: { 'content-profile': 'geoembeddings', apikey: ANON_KEY },
    body: { table_name: 'scene', lon: 9.52, lat: 47.14, radius: 300, unit: 'm', result_limit: 2, include_geom: true },
  })
  expect(calls[1]!.body).toMatchObject({ costing: 'pedestrian' })
})

test('the search is made with the rights of the caller, the route with a key that only the host has', async () => {
  const jwt = await token({ role: 'authenticated', sub: 'u' })
  await ask(question, { apikey: ANON_KEY, authorization: `Bearer ${jwt}` })
  expect(calls[0]!.headers).toMatchObject({ apikey: ANON_KEY, authorization: `Bearer ${jwt}` })
  expect(calls[1]!.headers['apikey']).toBe(SERVICES_KEY)
  expect(calls[1]!.headers.authorization).toBeUndefined()
})

test('what the project API refuses is passed on; a missing route does not hide the places', async () => {
  expect(await ask({ ...question, table: 'private' })).toEqual({
    status: 404,
    body: { message: 'permission denied for table private' },
  })
  routes = false
  expect(await ask(question)).toMatchObject({
    status: 200,
    body: { route: { error: 'No path could be found for input' } },
  })
})

test.each([
  [null, '"table"'],
  [{ ...question, lon: 200 }, '"lon"'],
  [{ ...question, lat: '47' }, '"lat"'],
  [{ ...question, radius: 0 }, '"radius"'],
  [{ ...question, limit: 1000 }, '"limit"'],
])('a wrong question names its field: %j', async (body, field) => {
  const answer = await ask(body)
  expect(answer.status).toBe(422)
  expect((answer.body as { message: string }).message).toContain(field)
})
