import { awsAt, startFaultProxy, startFaux } from '@terrane/testing/s3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openOrigin, type TestOrigin } from './harness.ts'

const resources = new AsyncDisposableStack()
let origin: TestOrigin
beforeAll(async () => {
  const proxy = resources.use(await startFaultProxy(resources.use(await startFaux()).port))
  origin = resources.use(await openOrigin({ TERRANE_STORAGE: 's3://bucket/p', ...awsAt(proxy.port) }))
  proxy.fail('503')
})
afterAll(() => resources.disposeAsync())

test('while the storage is away what needs it says 503, and the rest goes on and stays in the balancer', async () => {
  const headers = { apikey: origin.keys.service }
  const ask = async (path: string, more: Record<string, string> = {}) =>
    (await fetch(`${origin.url}${path}`, { headers: { ...headers, ...more } })).status
  expect(await ask('/rest/v1/embeddings_catalogue', { 'accept-profile': 'geoembeddings' })).toBe(200)
  expect(await ask('/storage/v1/bucket')).toBe(503)
  expect(await ask('/storage/v1/object/files/a.txt')).toBe(503)
  const ready = await fetch(`${origin.url}/health/ready`)
  expect([ready.status, await ready.json()]).toEqual([
    200,
    { status: 'degraded', checks: { database: 'ok', storage: 'down' } },
  ])
})
