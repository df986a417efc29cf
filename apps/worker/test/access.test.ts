import { signToken } from '@terrane/auth'
import { TASK_NAMES } from '@terrane/contracts'
import { unboundedBodies } from '@terrane/testing/bodies'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fakeTask } from './fake-tasks.ts'
import { HEADERS, METRICS_KEY, KEY, openWorker, submit, type TestWorker } from './harness.ts'

const SECRET = 'the-jwt-secret-of-the-tests-32-characters'
let worker: TestWorker
beforeAll(async () => {
  worker = await openWorker({ tasks: [fakeTask()], env: { TERRANE_JWT_SECRET: SECRET } })
})
afterAll(async () => {
  await worker[Symbol.asyncDispose]()
})

describe('without a key', () => {
  test.each(['/doc', '/ui', '/health/live', '/health/ready'])('GET %s answers', async (url) => {
    expect((await worker.app.inject(url)).statusCode).toBe(200)
  })
  test.each(['/jobs/createGeoEmbeddings', '/jobs/createGeoEmbeddings/latest', '/capacity', '/jobs/nope'])(
    'GET %s is 401',
    async (url) => {
      const response = await worker.app.inject(url)
      expect(response.statusCode).toBe(401)
      expect(response.json()).toMatchObject({ code: 'UNAUTHORIZED', hint: expect.stringContaining('apikey') as string })
      expect(response.headers['www-authenticate']).toBe('Bearer')
    },
  )
})

describe('keys', () => {
  const get = (headers: Record<string, string>) => worker.app.inject({ url: '/capacity', headers })
  const both = (key: string) => ({ apikey: key, authorization: `Bearer ${key}` })

  test('the key must be in both headers and be the same', async () => {
    expect((await get({ apikey: KEY })).json()).toMatchObject({
      status: 401,
      message: 'No key was sent (Authorization)',
    })
    expect((await get({ authorization: `Bearer ${KEY}` })).json()).toMatchObject({
      status: 401,
      message: 'No key was sent (apikey)',
    })
    expect((await get({ apikey: KEY, authorization: 'Bearer other' })).statusCode).toBe(401)
    expect((await get(both('other'))).statusCode).toBe(401)
    expect((await get(HEADERS)).statusCode).toBe(200)
  })
  test('a service-role token of the project is a key, an anon token is not enough', async () => {
    expect((await get(both(await signToken({ ref: 'demo', role: 'service_role' }, SECRET, 60)))).statusCode).toBe(200)
    const anon = await get(both(await signToken({ ref: 'demo', role: 'anon' }, SECRET, 60)))
    expect(anon.statusCode).toBe(403)
    expect(anon.json()).toMatchObject({ code: 'FORBIDDEN' })
    expect((await get(both(await signToken({ ref: 'other', role: 'service_role' }, SECRET, 60)))).statusCode).toBe(401)
  })
  test('a browser is refused although its key is good', async () => {
    const response = await get({ ...HEADERS, origin: 'https://app.example' })
    expect(response.statusCode).toBe(403)
    expect(response.json()).toMatchObject({ code: 'BROWSER_REFUSED' })
    expect(response.headers['access-control-allow-origin']).toBeUndefined()
  })
})

test('capacity tells limits and load', async () => {
  const { body } = await worker.app.inject({ url: '/capacity', headers: HEADERS })
  expect(JSON.parse(body)).toEqual({
    maxH3Cells: 500_000,
    maxGeoPatches: 10_000,
    maxGeotiffBytes: 104_857_600,
    maxAoiKm2: 1_000_000,
    maxAoiVertices: 50_000,
    workers: 1,
    queued: 0,
    running: 0,
  })
})

test('a key without the role is refused before its body is read', async () => {
  const anon = await signToken({ ref: 'demo', role: 'anon' }, SECRET, 60)
  for (const payload of ['{', JSON.stringify({ colour: 1 }), '['.repeat(10_000)]) {
    const headers = { apikey: anon, authorization: `Bearer ${anon}`, 'content-type': 'application/json' }
    const post = { method: 'POST' as const, url: '/jobs/createGeoEmbeddings', payload }
    expect((await worker.app.inject({ ...post, headers })).statusCode).toBe(403)
    const none = { 'content-type': 'application/json' }
    expect((await worker.app.inject({ ...post, headers: none })).statusCode).toBe(401)
  }
})

test('metrics are Prometheus text with the jobs, for the operator', async () => {
  expect((await worker.app.inject({ url: '/metrics', headers: HEADERS })).statusCode).toBe(401)
  const { body } = await worker.app.inject({
    url: '/metrics',
    headers: { authorization: `Bearer ${METRICS_KEY}` },
  })
  expect(body).toMatch(/terrane_jobs\{.*state="pending".*\} 0/)
  expect(body).toContain('terrane_jobs_running_here')
})

test('every part of a body has a bound', () => {
  expect(unboundedBodies(worker.app.routeList)).toEqual([])
})

test('every schema of every route can be compiled', () => {
  expect(() => worker.app.compileSchemas()).not.toThrow()
})

test('all six tasks are known; those not built answer 501 as a problem', async () => {
  for (const name of TASK_NAMES.filter((task) => task !== 'createGeoEmbeddings')) {
    const { status, body } = await submit(worker, name, {})
    expect({ status, code: body.code }).toEqual({ status: 501, code: 'NOT_IMPLEMENTED' })
  }
  expect(await submit(worker, 'makeCoffee', {})).toMatchObject({ status: 404, body: { code: 'UNKNOWN_TASK' } })
})

test('the OpenAPI document describes every task with the schema that validates it', async () => {
  const document = (await worker.app.inject('/doc')).json<{
    openapi: string
    paths: Record<
      string,
      Record<string, { requestBody?: { content: Record<string, { schema: { required: string[] } }> } }>
    >
    components: { schemas: Record<string, unknown> }
  }>()
  expect(document.openapi).toBe('3.1.0')
  for (const name of TASK_NAMES) expect(document.paths[`/jobs/${name}`]?.['post']).toBeDefined()
  expect(
    document.paths['/jobs/createGeoEmbeddings']?.['post']?.requestBody?.content['application/json']?.schema.required,
  ).toEqual(['tableName'])
  expect(Object.keys(document.paths)).toEqual(
    expect.arrayContaining([
      '/jobs/{taskName}',
      '/jobs/{taskName}/latest',
      '/jobs/{taskName}/{job_id}',
      '/jobs/{taskName}/{job_id}/events',
      '/capacity',
    ]),
  )
  expect(Object.keys(document.components.schemas)).toEqual(
    expect.arrayContaining(['Job', 'JobError', 'Problem', 'Capacity']),
  )
})

test('the page for people shows the same fields and runs no script', async () => {
  const { body, headers } = await worker.app.inject('/ui')
  expect(body).toContain('/jobs/createGeoEmbeddings')
  expect(body).toContain('tableName')
  expect(body).not.toContain('<script')
  expect(headers['content-security-policy']).toContain(`default-src 'none'`)
})

describe('bad bodies', () => {
  const post = (payload: string, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
    worker.app.inject({
      method: 'POST',
      url: '/jobs/createGeoEmbeddings',
      headers: { ...HEADERS, ...headers },
      payload,
    })

  test.each([
    ['malformed JSON', '{"tableName":', 400],
    ['an array', '[]', 422],
    ['a missing field', '{}', 422],
    ['an unknown field', '{"tableName":"a","colour":1}', 422],
    ['a number as text', '{"tableName":"a","steps":"3"}', 422],
    ['a quoted name', JSON.stringify({ tableName: 'a"; drop table x; --' }), 422],
    ['a megabyte of brackets', '['.repeat(500_000) + ']'.repeat(500_000), 400],
    ['thousands of fields', `{${Array.from({ length: 10_000 }, (_, i) => `"k${i}":1`).join(',')}}`, 422],
    ['a megabyte of fields', `{${Array.from({ length: 80_000 }, (_, i) => `"k${i}":1`).join(',')}}`, 413],
    ['a prototype', '{"tableName":"a","__proto__":{"x":1}}', 400],
  ])('%s', async (_, payload, status) => {
    const response = await post(payload)
    expect(response.statusCode).toBe(status)
    expect(response.headers['content-type']).toContain('application/problem+json')
    expect(response.body.length).toBeLessThan(20_000)
  })
  test('a body over the limit is 413, another type 415', async () => {
    expect((await post(JSON.stringify({ tableName: 'x'.repeat(11_000_000) }))).statusCode).toBe(413)
    expect((await post('tableName=a', { 'content-type': 'text/plain' })).statusCode).toBe(415)
  })
})
