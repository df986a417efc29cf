import { expect, test } from 'vitest'
import { CacheStore } from './cache-store.ts'
import { FunctionCaches } from './caches.ts'
import type { Commit, Mutation, Range } from './store.ts'

type Asked = Commit & Range & { readonly operation: 'get' | 'list' | 'write'; readonly keys: readonly string[] }

/** Caches over a store in memory, with the entries that it holds. */
function cachesInMemory() {
  const held = new Map<string, Mutation & { readonly versionstamp: string }>()
  let commits = 0
  const answer = (asked: Asked): unknown => {
    if (asked.operation === 'get') return asked.keys.flatMap((key) => held.get(key) ?? [])
    if (asked.operation === 'list') {
      const keys = [...held.keys()].filter((key) => key >= asked.first && key < asked.past).toSorted()
      return keys.slice(0, asked.limit).map((key) => held.get(key))
    }
    const versionstamp = String(++commits).padStart(20, '0')
    for (const write of asked.writes ?? [])
      if (write.operation === 'delete') held.delete(write.key)
      else held.set(write.key, { ...write, versionstamp })
    return versionstamp
  }
  const send = (async (_address, init) =>
    Response.json(answer(JSON.parse(init!.body as string) as Asked))) as typeof fetch
  return { held, caches: new FunctionCaches(new CacheStore(send, () => {})) }
}

const AT = 'https://x.example/'

test('what replaces an answer takes the place of its body', async () => {
  const { held, caches } = cachesInMemory()
  const { default: cache } = caches
  await cache.put(AT, new Response(new Uint8Array(2_000_000)))
  await cache.put(AT, new Response('small'))
  expect(await (await cache.match(AT))!.text()).toBe('small')
  // The answer, its body, and the name of the cache.
  expect(held.size).toBe(3)
  await cache.delete(AT)
  expect(held.size).toBe(1)
})

test('answers put at once are found whole', async () => {
  const { held, caches } = cachesInMemory()
  const bodies = Array.from({ length: 10 }, (_, n) => new Uint8Array(1_300_000).fill(n))
  await Promise.all(bodies.map((body) => caches.default.put(AT, new Response(body))))
  const found = new Uint8Array(await (await caches.default.match(AT))!.arrayBuffer())
  expect([found.length, new Set(found).size]).toEqual([1_300_000, 1])
  await caches.default.put(AT, new Response(bodies[0]))
  expect(held.size).toBeLessThan(2 + 3 * 10)
})

test('each of many addresses and variants is found, and none stays in a cache that is deleted', async () => {
  const { held, caches } = cachesInMemory()
  const cache = await caches.open('many')
  const asked = Array.from({ length: 600 }, (_, n) => `${AT}${n}?${'x'.repeat(n === 0 ? 100_000 : 1)}`)
  for (const url of asked) await cache.put(url, new Response(url))
  for (const url of asked) expect(await (await cache.match(url))?.text()).toBe(url)
  // Among this many answers, some keys begin with the byte 0xff.
  const languages = Array.from({ length: 600 }, (_, n) => new Request(`${AT}vary${n}`, { headers: { a: `${n}` } }))
  for (const request of languages) await cache.put(request, new Response('', { headers: { vary: 'A' } }))
  for (const request of languages) expect(await cache.match(request)).toBeDefined()
  expect(await caches.delete('many')).toBe(true)
  expect(held.size).toBe(0)
})

test.each([
  ['max-age=-1', undefined],
  ['max-age=soon', undefined],
  ['max-age=0, max-age=60', undefined],
  ['PRIVATE', undefined],
  ['no-cache', undefined],
  ['max-age="60"', null],
  ['max-age=99999999999999999999', null],
  ['private=Set-Cookie, max-age=60', null],
  ['no-cache="x-a, Set-Cookie"', null],
])('an answer with a cookie and Cache-Control: %s is found %s', async (control, cookie) => {
  const { caches } = cachesInMemory()
  const headers = new Headers({ 'cache-control': control })
  if (cookie === null && control.toLowerCase().includes('set-cookie')) headers.append('set-cookie', 'a=b')
  await caches.default.put(AT, new Response('x', { headers }))
  expect((await caches.default.match(AT))?.headers.get('set-cookie')).toBe(cookie)
})

test('answers that no cache keeps are refused', async () => {
  const { held, caches } = cachesInMemory()
  const put = (response: Response, asked: Request | string = AT) => caches.default.put(asked, response)
  await expect(put(new Response('x', { status: 206 }))).rejects.toThrow('no partial answers')
  await expect(put(Response.error())).rejects.toThrow('Response.error()')
  await expect(put(new Response('x', { headers: { vary: 'accept, *' } }))).rejects.toThrow('Vary: *')
  await expect(put(new Response('x'), new Request(AT, { method: 'HEAD' }))).rejects.toThrow('GET only')
  const broken = new ReadableStream({ pull: (to) => to.error(new Error('cut off')) })
  await expect(put(new Response(broken))).rejects.toThrow('cut off')
  const read = new Response('x')
  await read.text()
  await expect(put(read)).rejects.toThrow('has been read')
  await put(new Response('x', { headers: { 'set-cookie': 'a=b' } }))
  expect(held.size).toBe(0)
})

test('where nothing can be kept, a cache finds nothing and says why once', async () => {
  const warnings: string[] = []
  const refused = async () => Response.json({ message: 'the project has no service key here' }, { status: 503 })
  const caches = new FunctionCaches(new CacheStore(refused, (text) => warnings.push(text)))
  const { default: cache } = caches
  expect(await cache.match(AT)).toBeUndefined()
  await cache.put(AT, new Response(new Uint8Array(2_000_000)))
  await (await caches.open('a')).put(AT, new Response('x'))
  expect([await cache.match(AT), await caches.match(AT), await cache.delete(AT)]).toEqual([undefined, undefined, false])
  expect(warnings).toEqual(['caches: nothing was found or kept: the project has no service key here'])
})
