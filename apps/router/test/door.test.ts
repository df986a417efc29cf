import { ACTIONS } from '@terrane/routing'
import { Keys, Organizations } from '@terrane/control'
import { openTestDatabase, testLane } from '@terrane/database/testing'
import { createLogger, createRegistry } from '@terrane/service'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { buildApp, ROUTING_BASE } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { openDoor } from '../src/door.ts'

const logger = createLogger({ name: 'test', level: 'silent' })

/** A router without a graph whose answers say that the door was passed. */
async function openRouter(env: Readonly<Record<string, string>>, ratePerKey = 0) {
  const door = openDoor(readConfig(env), logger)
  const app = await buildApp({
    logger,
    registry: createRegistry('router'),
    verify: door.verify,
    engine: {
      answer: () => Promise.resolve({ status: 200, body: '{}' }),
      work: () => Promise.resolve({ status: 200, body: '{}' }),
    },
    actions: ACTIONS,
    edge: { trustedProxies: [], metricsKey: null, ratePerAddress: 0, ratePerKey },
    corsOrigins: ['*'],
    readiness: {},
    bodyLimit: 1000,
  })
  onTestFinished(async () => {
    await app.close()
    await door[Symbol.asyncDispose]()
  })
  const ask = (key: string) =>
    app.inject({
      method: 'POST',
      url: `${ROUTING_BASE}/route`,
      headers: { apikey: key, origin: 'https://a.example' },
      body: '{}',
    })
  const route = async (key: string) => {
    const response = await ask(key)
    return [response.statusCode, response.json<{ error_code?: number }>().error_code ?? 0]
  }
  return Object.assign(route, { ask })
}

describe(`a router that asks the control plane (${testLane()})`, () => {
  test('takes keys for routes while they are good, and says 503 for those it does not know when the database is away', async () => {
    await using db = await openTestDatabase()
    const route = await openRouter({
      DATABASE_URL: db.url,
      TERRANE_SETTINGS: '{"everyApp":{"keys":{"cacheMs":100,"graceMs":3600000}}}',
    })
    const { id: organizationId } = await new Organizations(db.database).create('any')
    const keys = new Keys(db.database, null)
    const good = await keys.issue({ organizationId, role: 'services', scopes: ['routes'] })
    const forJobs = await keys.issue({ organizationId, role: 'services', scopes: ['jobs'] })
    const ended = await keys.issue({ organizationId, role: 'services', expiresAt: new Date(0) })
    expect(await route(good.key)).toEqual([200, 0])
    expect(await route(forJobs.key)).toEqual([403, 403_001])
    expect(await route(ended.key)).toEqual([401, 401_002])
    expect(await route('k1,k2')).toEqual([401, 401_002])
    const { key: successor } = await keys.rotate(good.record.id, 3_600_000)
    expect([await route(good.key), await route(successor)]).toEqual([
      [200, 0],
      [200, 0],
    ])
    await keys.revoke(good.record.id)
    await expect.poll(() => route(good.key)).toEqual([401, 401_002])
    // Word of the rotation has come before that of the revocation; from here on nothing makes the router forget this one.
    expect(await route(successor)).toEqual([200, 0])
    await db.database.query('alter table terrane.keys rename to away')
    await expect.poll(() => route('another key')).toEqual([503, 503_003])
    expect(await route(successor)).toEqual([200, 0])
    await db.database.query('alter table terrane.away rename to keys')
  })

  test('starts without its database and answers as soon as that is there', async () => {
    const route = await openRouter({ DATABASE_URL: 'postgres://user@127.0.0.1:1/none' })
    expect(await route('a key')).toEqual([503, 503_003])
  })
})

test('a router that stands alone takes the keys whose hashes it was given, and needs one way or the other', async () => {
  const sha256 = '2c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683'
  const route = await openRouter({ TERRANE_ACCEPTED_KEYS: sha256.toUpperCase() })
  expect(await route('key')).toEqual([200, 0])
  expect(await route(sha256)).toEqual([401, 401_002])
  for (const env of [
    {},
    { TERRANE_ACCEPTED_KEYS: 'key' },
    { TERRANE_ACCEPTED_KEYS: sha256, DATABASE_URL: 'postgres://x' },
  ])
    expect(() => openDoor(readConfig(env), logger)).toThrow('The router needs DATABASE_URL or TERRANE_ACCEPTED_KEYS')
})

test('a key that asks too often is told when the next request may come', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const sha256 = '2c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683'
  const route = await openRouter({ TERRANE_ACCEPTED_KEYS: sha256 }, 1)
  expect(await route('key')).toEqual([200, 0])
  vi.advanceTimersByTime(25_000)
  const { statusCode, headers } = await route.ask('key')
  expect([statusCode, headers['retry-after']]).toEqual([429, '35'])
  expect(headers['access-control-expose-headers']).toContain('retry-after')
})
