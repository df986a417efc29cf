import { hashKey, keyPrincipal } from '@terrane/auth'
import { describe, expect, test } from 'vitest'
import { Keyring, type FoundKey } from './keyring.ts'

const KEY = hashKey('a key')

/** A keyring with a clock and a store of the test's own. */
function ring(settings: { cacheMs?: number; graceMs?: number } = {}) {
  const store = new Map<string, FoundKey>()
  const world = { now: 0, looks: 0, down: false, used: [] as string[], store, answer: null as Promise<void> | null }
  const keyring = new Keyring({
    cacheMs: settings.cacheMs ?? 20_000,
    graceMs: settings.graceMs ?? 20_000,
    now: () => world.now,
    onUsed: (id) => world.used.push(id),
    find: async (sha256) => {
      world.looks++
      const found = store.get(sha256) ?? null
      await world.answer
      if (world.down) throw new Error('no database')
      return found
    },
  })
  const put = (change: Partial<FoundKey> = {}, sha256 = KEY) =>
    store.set(sha256, {
      id: 'k',
      sha256,
      principal: keyPrincipal('services'),
      revoked: false,
      endsInMs: null,
      ...change,
    })
  return { world, keyring, put }
}
const refused = (reason: string) =>
  expect.objectContaining({ code: 'UNAUTHORIZED', message: expect.stringContaining(reason) as string })

describe('a known key', () => {
  test('costs one look-up per cache time, also for many calls at once, and its use is told', async () => {
    const { world, keyring, put } = ring()
    put()
    await Promise.all(Array.from({ length: 100 }, () => keyring.find(KEY)))
    expect(world.looks).toBe(1)
    world.now = 19_999
    expect(await keyring.find(KEY)).toMatchObject({ role: 'services' })
    expect(world.looks).toBe(1)
    world.now = 20_000
    await keyring.find(KEY)
    expect([world.looks, world.used.length]).toEqual([2, 102])
  })

  test('that is revoked is refused after the cache time, and at once when the keyring is told', async () => {
    const { world, keyring, put } = ring()
    put()
    await keyring.find(KEY)
    put({ revoked: true })
    expect(await keyring.find(KEY)).not.toBeNull()
    world.now = 20_000
    await expect(keyring.find(KEY)).rejects.toEqual(refused('revoked'))
    put()
    keyring.forget(KEY)
    expect(await keyring.find(KEY)).not.toBeNull()
    put({ revoked: true })
    keyring.forget()
    await expect(keyring.find(KEY)).rejects.toEqual(refused('revoked'))
  })

  test('ends at the moment of its expiry, without a look-up', async () => {
    const { world, keyring, put } = ring()
    put({ endsInMs: 5000 })
    await keyring.find(KEY)
    world.now = 4999
    expect(await keyring.find(KEY)).not.toBeNull()
    world.now = 5000
    await expect(keyring.find(KEY)).rejects.toEqual(refused('expired'))
    expect(world.looks).toBe(1)
  })

  test('that changes while it is looked up is not remembered as it was', async () => {
    const { world, keyring, put } = ring()
    put()
    const { promise, resolve } = Promise.withResolvers<void>()
    world.answer = promise
    const slow = keyring.find(KEY)
    put({ revoked: true })
    keyring.forget(KEY)
    resolve()
    await slow
    await expect(keyring.find(KEY)).rejects.toEqual(refused('revoked'))
  })

  test('is not found under a hash that is not its own', async () => {
    const { keyring, put } = ring()
    put({ sha256: hashKey('another key') })
    expect(await keyring.find(KEY)).toBeNull()
  })
})

describe('an unknown key', () => {
  test('is remembered as unknown for five seconds: a new one is accepted after that', async () => {
    const { world, keyring, put } = ring()
    expect(await keyring.find(KEY)).toBeNull()
    put()
    world.now = 4999
    expect(await keyring.find(KEY)).toBeNull()
    expect(world.looks).toBe(1)
    world.now = 5000
    expect(await keyring.find(KEY)).not.toBeNull()
  })

  test('in great number pushes out other unknown ones and no known one', async () => {
    const { world, keyring, put } = ring()
    put()
    await keyring.find(KEY)
    for (let i = 0; i < 10_001; i++) await keyring.find(hashKey(String(i)))
    const before = world.looks
    await keyring.find(KEY)
    await keyring.find(hashKey('10000'))
    expect(world.looks).toBe(before)
    await keyring.find(hashKey('0'))
    expect(world.looks).toBe(before + 1)
  })
})

describe('while keys cannot be looked up', () => {
  test('a good key is believed for the grace time, then answered 503; all others at once', async () => {
    const { world, keyring, put } = ring()
    put()
    await keyring.find(KEY)
    world.down = true
    world.now = 39_999
    expect(await keyring.find(KEY)).not.toBeNull()
    await expect(keyring.find(hashKey('another'))).rejects.toMatchObject({
      code: 'KEYS_UNAVAILABLE',
      kind: 'unavailable',
    })
    world.now = 40_000
    await expect(keyring.find(KEY)).rejects.toMatchObject({ code: 'KEYS_UNAVAILABLE' })
    world.down = false
    expect(await keyring.find(KEY)).not.toBeNull()
  })

  test('they are looked up again once a second, not at each call', async () => {
    const { world, keyring, put } = ring()
    put()
    await keyring.find(KEY)
    world.down = true
    world.now = 20_000
    for (let i = 0; i < 50; i++) await keyring.find(KEY)
    expect(world.looks).toBe(2)
    world.now = 21_000
    await keyring.find(KEY)
    expect(world.looks).toBe(3)
  })

  test('an expiry is kept, and a revoked key stays refused', async () => {
    const { world, keyring, put } = ring()
    put({ endsInMs: 25_000 })
    await keyring.find(KEY)
    world.down = true
    world.now = 25_000
    await expect(keyring.find(KEY)).rejects.toEqual(refused('expired'))
  })
})
