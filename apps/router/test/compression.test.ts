import { ACTIONS } from '@terrane/routing'
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'

import { createVerifier, hashKey, keyPrincipal } from '@terrane/auth'
import { createLogger, createRegistry } from '@terrane/service'
import { expect, test } from 'vitest'

import { type AppDeps, buildApp, ROUTING_BASE } from '../src/app.ts'

const KEY = 'a-key-of-this-test'
const LONG = JSON.stringify({ trip: 'x'.repeat(20_000) })

async function ask(
  answer: { body: string; type?: 'gpx' },
  headers: Record<string, string>,
  payload: string | Buffer = '{}',
) {
  const seen: string[] = []
  const deps: AppDeps = {
    logger: createLogger({ name: 'router', level: 'silent' }),
    registry: createRegistry('router'),
    edge: { trustedProxies: [], metricsKey: null, ratePerAddress: 0, ratePerKey: 0 },
    verify: createVerifier({ keys: [{ sha256: hashKey(KEY), principal: keyPrincipal('services') }] }),
    engine: {
      answer: async (text) => {
        seen.push(text)
        return { status: 200, ...answer }
      },
      work: () => Promise.reject(new Error('nothing else is asked')),
    },
    actions: ACTIONS,
    corsOrigins: ['*'],
    readiness: {},
    bodyLimit: 100_000,
  }
  const app = await buildApp(deps)
  const sent = await app.inject({
    method: 'POST',
    url: `${ROUTING_BASE}/route`,
    headers: { apikey: KEY, ...headers },
    payload,
  })
  await app.close()
  return { ...sent, headers: sent.headers, raw: sent.rawPayload, seen }
}

test.each([
  ['gzip', gunzipSync],
  ['br', brotliDecompressSync],
])('a long answer is sent as %s to clients that accept it', async (encoding, unpack) => {
  const { headers, raw } = await ask({ body: LONG }, { 'accept-encoding': encoding })
  expect(headers['content-encoding']).toBe(encoding)
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
  expect(headers.vary).toContain('accept-encoding')
  expect(raw.length).toBeLessThan(1000)
  expect(unpack(raw).toString()).toBe(LONG)
})

test('a client that names no encoding gets an answer uncompressed, and a short one is never compressed', async () => {
  const plain = await ask({ body: LONG }, {})
  expect(plain.headers['content-encoding']).toBeUndefined()
  expect(plain.raw.toString()).toBe(LONG)
  const short = await ask({ body: '{"trip":1}' }, { 'accept-encoding': 'gzip' })
  expect(short.headers['content-encoding']).toBeUndefined()
  expect(short.raw.toString()).toBe('{"trip":1}')
})

test('GPX has its own media type', async () => {
  const { headers } = await ask({ body: '<gpx/>', type: 'gpx' }, {})
  expect(headers['content-type']).toBe('application/gpx+xml; charset=utf-8')
})

test('a compressed body is not unpacked', async () => {
  const packed = gzipSync('x'.repeat(10_000_000))
  const { seen } = await ask({ body: '{}' }, { 'content-encoding': 'gzip' }, packed)
  expect(seen.every((text) => text.length <= packed.length)).toBe(true)
})
