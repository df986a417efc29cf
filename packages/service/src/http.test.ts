import { TerraneError, defineError } from '@terrane/core'
import { Problem, ref } from '@terrane/contracts'
import { IDENTIFIER_PATTERN } from '@terrane/contracts/names'
import { pino } from 'pino'
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { rateLimited } from './errors.ts'
import { addHealth } from './health.ts'
import { acceptEmptyDeletes, createHttp } from './http.ts'
import { createLogger } from './logger.ts'
import { addMetrics, createRegistry } from './metrics.ts'
import { addOpenApi } from './openapi.ts'

const tableExists = defineError(
  'TABLE_EXISTS',
  'conflict',
  () => 'Table a exists',
  () => ({ hint: 'Choose another name.' }),
)

async function makeApp() {
  const app = createHttp({ logger: createLogger({ name: 'test', level: 'silent' }), bodyLimit: 1000 })
  await addOpenApi(app, { title: 'Test', version: '1', description: 'A test.' })
  const schema = {
    body: Type.Object(
      { name: Type.String({ pattern: '^[a-z]+$' }), size: Type.Optional(Type.Integer({ default: 256 })) },
      { additionalProperties: false },
    ),
    response: {
      200: Type.Object({ name: Type.String(), size: Type.Integer() }),
      '4xx': ref(Problem),
      '5xx': ref(Problem),
    },
  }
  app.post('/things', { schema }, async (request) => ({ name: request.body.name, size: request.body.size ?? 0 }))
  app.get('/conflict', async () => {
    throw tableExists()
  })
  app.get('/bug', async () => {
    throw new Error('connection string postgres://u:p@h/d')
  })
  app.get('/count', { schema: { querystring: Type.Object({ limit: Type.Integer() }) } }, async (r) => ({
    limit: r.query.limit,
  }))
  return app
}

test('defaults are filled in and bodies are not converted', async () => {
  const app = await makeApp()
  const good = await app.inject({ method: 'POST', url: '/things', payload: { name: 'a' } })
  expect(good.json()).toEqual({ name: 'a', size: 256 })
  const bad = await app.inject({ method: 'POST', url: '/things', payload: { name: 'a', size: '256' } })
  expect(bad.statusCode).toBe(422)
  expect((await app.inject('/count?limit=7')).json()).toEqual({ limit: 7 })
})

test('an invalid body is 422 with one entry per field, as a problem', async () => {
  const app = await makeApp()
  const response = await app.inject({ method: 'POST', url: '/things', payload: { name: 'A!', colour: 1, size: 1.5 } })
  expect(response.statusCode).toBe(422)
  expect(response.headers['content-type']).toContain('application/problem+json')
  const problem = response.json<Record<string, unknown>>()
  expect(problem).toMatchObject({ status: 422, code: 'VALIDATION_FAILED', title: 'Unprocessable Content' })
  expect(problem['message']).toBe(problem['detail'])
  expect(problem['hint']).toBe('GET /doc describes every field.')
  expect(problem['errors']).toEqual(
    expect.arrayContaining([
      { path: '/name', message: 'must match ^[a-z]+$' },
      { path: '/colour', message: 'is not a known field' },
      { path: '/size', message: 'must be integer' },
    ]),
  )
})

const NAME = Type.String({ pattern: IDENTIFIER_PATTERN })
const UNIONS = Type.Object(
  {
    name: Type.Optional(NAME),
    place: Type.Optional(Type.Object({ bucket: Type.String(), path: Type.String() })),
    zooms: Type.Optional(
      Type.Union([
        Type.Literal('auto'),
        Type.Array(Type.Integer({ maximum: 18 }), { minItems: 2 }),
        Type.Object({ min: Type.Integer() }, { additionalProperties: false }),
      ]),
    ),
    sources: Type.Optional(
      Type.Array(
        Type.Union([
          Type.Object({ kind: Type.Literal('file'), path: NAME }, { additionalProperties: false }),
          Type.Object({ kind: Type.Literal('web'), url: Type.String() }, { additionalProperties: false }),
          Type.Object({ kind: Type.Literal('none') }, { additionalProperties: false }),
        ]),
      ),
    ),
  },
  { additionalProperties: false },
)

test.each([
  [{ name: 'A' }, [['/name', 'must be 1 to 63 lower-case letters, digits and _, beginning with a letter']]],
  [{ zooms: '5' }, [['/zooms', 'must be "auto" or array or object']]],
  [{ zooms: 5 }, [['/zooms', 'must be "auto" or array or object']]],
  [{ zooms: [5] }, [['/zooms', 'must have at least 2 entries']]],
  [
    { zooms: [1, 20, 30] },
    [
      ['/zooms/1', 'must be <= 18'],
      ['/zooms/2', 'must be <= 18'],
    ],
  ],
  [
    { zooms: { minimum: 1 } },
    [
      ['/zooms/min', 'is required'],
      ['/zooms/minimum', 'is not a known field'],
    ],
  ],
  [{ sources: [{ kind: 'ftp' }] }, [['/sources/0/kind', 'must be "file" or "web" or "none"']]],
  [{ sources: ['file'] }, [['/sources/0', 'must be object']]],
  [{ place: 'a.tif' }, [['/place', 'must be object: {bucket, path}']]],
  [{ place: { bucket: 1, path: 'a.tif' } }, [['/place/bucket', 'must be string']]],
  [{ sources: [{}] }, [['/sources/0/kind', 'is required']]],
  [
    { sources: [{ kind: 'file' }, { kind: 'none' }, { kind: 'web', url: 1 }] },
    [
      ['/sources/0/path', 'is required'],
      ['/sources/2/url', 'must be string'],
    ],
  ],
])('%j is answered by what is wrong with the choice that was meant', async (payload, expected) => {
  const app = await makeApp()
  app.post('/unions', { schema: { body: UNIONS } }, async () => ({}))
  const { errors } = (await app.inject({ method: 'POST', url: '/unions', payload })).json<Problem>()
  expect(errors.map(({ path, message }) => [path, message])).toEqual(expect.arrayContaining(expected))
  expect(errors).toHaveLength(expected.length)
})

test('a DELETE that announces JSON needs no body', async () => {
  const app = await makeApp()
  acceptEmptyDeletes(app)
  app.delete('/things/:name', async (_, reply) => reply.code(204).send())
  const headers = { 'content-type': 'application/json' }
  expect((await app.inject({ method: 'DELETE', url: '/things/a', headers })).statusCode).toBe(204)
  const sent = await app.inject({ method: 'DELETE', url: '/things/a', headers, payload: '{' })
  expect(sent.json()).toMatchObject({ status: 400, code: 'MALFORMED_BODY' })
})

test.each([
  ['malformed JSON', { payload: '{"name":', type: 'application/json' }, 400, 'MALFORMED_BODY'],
  ['an empty body', { payload: '', type: 'application/json' }, 400, 'MALFORMED_BODY'],
  [
    'a body over the limit',
    { payload: JSON.stringify({ name: 'a'.repeat(2000) }), type: 'application/json' },
    413,
    'BODY_TOO_LARGE',
  ],
  [
    'another content type',
    { payload: 'name=a', type: 'application/x-www-form-urlencoded' },
    415,
    'UNSUPPORTED_MEDIA_TYPE',
  ],
])('%s is answered in kind', async (_, { payload, type }, status, code) => {
  const app = await makeApp()
  const response = await app.inject({ method: 'POST', url: '/things', payload, headers: { 'content-type': type } })
  expect(response.statusCode).toBe(status)
  expect(response.json()).toMatchObject({ code, status })
})

test('a catalogue error keeps its text, anything else is a 500 without internals', async () => {
  const app = await makeApp()
  const conflict = await app.inject('/conflict')
  expect(conflict.statusCode).toBe(409)
  expect(conflict.json()).toMatchObject({ code: 'TABLE_EXISTS', hint: 'Choose another name.' })
  const bug = await app.inject('/bug')
  expect(bug.statusCode).toBe(500)
  expect(bug.body).not.toContain('postgres://')
})

test.each([
  ['as long as the error says', rateLimited({ seconds: 35 }), [429, '35']],
  ['five seconds where it says nothing', new TerraneError('X', 'unavailable', 'x'), [503, '5']],
  ['never where another try is of no use', new TerraneError('X', 'invalid', 'x'), [422, undefined]],
])('callers are told to wait %s', async (_, error, told) => {
  await using app = createHttp({ logger: createLogger({ name: 'test', level: 'silent' }) })
  app.get('/', () => Promise.reject(error))
  const { statusCode, headers } = await app.inject('/')
  expect([statusCode, headers['retry-after']]).toEqual(told)
})

test('an unknown route is a 404 problem', async () => {
  const response = await (await makeApp()).inject('/nowhere?key=secret')
  expect(response.statusCode).toBe(404)
  expect(response.json()).toMatchObject({ code: 'NOT_FOUND', message: 'No route for GET /nowhere' })
})

test('a sane request id is echoed and a strange one replaced', async () => {
  const app = await makeApp()
  const sane = await app.inject({ url: '/count?limit=1', headers: { 'x-request-id': 'abc-1' } })
  expect(sane.headers['x-request-id']).toBe('abc-1')
  const strange = await app.inject({ url: '/count?limit=1', headers: { 'x-request-id': 'a b<script>' } })
  expect(strange.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
})

test('readiness names the dependency that is down', async () => {
  const app = await makeApp()
  addHealth(app, { database: () => Promise.reject(new Error('no')), disk: () => Promise.resolve() })
  expect((await app.inject('/health/live')).json()).toEqual({ status: 'ok', checks: {} })
  const ready = await app.inject('/health/ready')
  expect(ready.statusCode).toBe(503)
  expect(ready.json()).toEqual({ status: 'down', checks: { database: 'down', disk: 'ok' } })
})

test('an app stays ready while only a part of it lacks something, and metrics tell', async () => {
  const app = await makeApp()
  const registry = createRegistry('test')
  let isStarting = false
  const database = () => Promise.resolve(isStarting ? 'starting' : 'there')
  addHealth(app, { database }, { parts: { storage: () => Promise.reject(new Error('no')) }, registry })
  const ready = await app.inject('/health/ready')
  expect([ready.statusCode, ready.json()]).toEqual([
    200,
    { status: 'degraded', checks: { database: 'ok', storage: 'down' } },
  ])
  const shown = await registry.metrics()
  expect(shown).toContain('terrane_ready{check="database",app="test"} 1')
  expect(shown).toContain('terrane_ready{check="storage",app="test"} 0')
  isStarting = true
  const starting = await app.inject('/health/ready')
  expect([starting.statusCode, starting.json<{ status: string }>().status]).toEqual([503, 'starting'])
})

test('an answer of a route that is polled is a line for debugging, its failure is not', async () => {
  const lines: { level: number; path?: string }[] = []
  const logger = pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const app = createHttp({ logger })
  app.get('/polled', { config: { quiet: true } }, async (request, reply) => {
    if (request.url.includes('?')) void reply.code(409)
    return {}
  })
  app.get('/asked', async () => ({}))
  for (const url of ['/polled', '/asked', '/polled?x=1']) await app.inject(url)
  const requests = lines.filter(({ path }) => path !== undefined)
  expect(requests.map(({ path, level }) => [path, level])).toEqual([
    ['/polled', 20],
    ['/asked', 30],
    ['/polled', 30],
  ])
})

test('metrics count requests by route', async () => {
  const app = await makeApp()
  const metricsKey = 'the-key-of-the-operator'
  addMetrics(app, createRegistry('test'), { trustedProxies: [], metricsKey, ratePerAddress: 0, ratePerKey: 0 })
  await app.inject('/conflict')
  const { body } = await app.inject({ url: '/metrics', headers: { authorization: `Bearer ${metricsKey}` } })
  expect((await app.inject('/metrics')).statusCode).toBe(401)
  expect((await app.inject({ url: '/metrics', headers: { authorization: 'Bearer x' } })).statusCode).toBe(401)
  expect(body).toMatch(
    /http_request_duration_seconds_count\{app="test",method="GET",route="\/conflict",status="409"\} 1/,
  )
})

test('the OpenAPI document is made from the schemas that validate', async () => {
  const app = await makeApp()
  const document = (await app.inject('/doc')).json<{
    openapi: string
    paths: Record<string, { post?: { requestBody: { content: Record<string, { schema: unknown }> } } }>
    components: { schemas: Record<string, unknown> }
  }>()
  expect(document.openapi).toBe('3.1.0')
  expect(document.components.schemas['Problem']).toBeDefined()
  expect(document.paths['/things']?.post?.requestBody.content['application/json']?.schema).toMatchObject({
    required: ['name'],
    additionalProperties: false,
  })
})

test('an answer that is sent while the server closes ends its connection, so that no request follows on it', async () => {
  const app = createHttp({ logger: createLogger({ name: 'test', level: 'silent' }) })
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  app.get('/slow', async () => {
    arrive()
    await released
    return { ok: true }
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const answer = fetch(`${url}/slow`)
  await arrived
  const { promise: closing, resolve: closes } = Promise.withResolvers<void>()
  app.server.once('close', () => closes())
  const closed = app.close()
  while (app.server.listening) await new Promise((resolve) => setImmediate(resolve))
  release()
  const { status, headers } = await answer
  expect([status, headers.get('connection')]).toEqual([200, 'close'])
  await Promise.all([closing, closed])
})

test.each([
  ['bytes that are no text', '/count/%ff'],
  ['a broken escape', '/%zz'],
])('a path with %s is a problem with the id of the request', async (_, url) => {
  const app = await makeApp()
  const answer = await app.inject({ url, headers: { 'x-request-id': 'r-1' } })
  expect(answer.statusCode).toBe(400)
  expect(answer.headers).toMatchObject({ 'content-type': 'application/problem+json', 'x-request-id': 'r-1' })
  expect(answer.json()).toMatchObject({ code: 'MALFORMED_URL', status: 400, instance: 'r-1' })
})
