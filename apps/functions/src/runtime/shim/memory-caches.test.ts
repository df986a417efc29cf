import { expect, test } from 'vitest'
import { MemoryCaches } from './memory-caches.ts'

const textOf = async (found: Response | undefined) =>
  found && [found.status, await found.text(), found.headers.get('x-a')]

test('a cache gives back what was put, by address, and forgets what is deleted', async () => {
  const caches = new MemoryCaches()
  const cache = await caches.open('a')
  await cache.put('https://x.example/1#part', new Response('one', { status: 201, headers: { 'x-a': '1' } }))
  await caches.default.put(new Request('https://x.example/1'), new Response('other'))
  expect(await textOf(await cache.match(new Request('https://x.example/1')))).toEqual([201, 'one', '1'])
  expect(await textOf(await cache.match('https://x.example/1'))).toEqual([201, 'one', '1'])
  expect(await textOf(await caches.default.match('https://x.example/1'))).toEqual([200, 'other', null])
  expect(await textOf(await caches.match('https://x.example/1'))).toEqual([201, 'one', '1'])
  expect(await cache.match(new Request('https://x.example/1', { method: 'HEAD' }))).toBeUndefined()
  expect([await caches.has('a'), await caches.keys(), await caches.delete('a')]).toEqual([true, ['a'], true])
  expect(await (await caches.open('a')).match('https://x.example/1')).toBeUndefined()
  expect([
    await caches.default.delete('https://x.example/1'),
    await caches.default.delete('https://x.example/1'),
  ]).toEqual([true, false])
})

test.each(['no-store', 'private', 'max-age=0', 'public, s-maxage=0, max-age=60'])(
  'an answer of Cache-Control: %s is not kept',
  async (control) => {
    const { default: cache } = new MemoryCaches()
    await cache.put('https://x.example/', new Response('x', { headers: { 'cache-control': control } }))
    expect(await cache.match('https://x.example/')).toBeUndefined()
  },
)

test('what was used longest ago makes room, and what has no room is not kept', async () => {
  const { default: cache } = new MemoryCaches()
  const put = (name: string, mb: number) =>
    cache.put(`https://x.example/${name}`, new Response(new Uint8Array(mb * 1024 * 1024)))
  const kept = async () => {
    const found = await Promise.all(['a', 'b', 'c'].map((name) => cache.match(`https://x.example/${name}`)))
    return found.map((each) => each !== undefined)
  }
  await put('a', 7)
  await put('b', 7)
  await cache.match('https://x.example/a')
  await put('c', 7)
  expect(await kept()).toEqual([true, false, true])
  await put('b', 17)
  expect(await kept()).toEqual([true, false, true])
  const refused = cache.put(new Request('https://x.example/', { method: 'POST' }), new Response(''))
  await expect(refused).rejects.toThrow('GET only')
})
