import { expect, test, vi } from 'vitest'
import { CacheStore } from './cache-store.ts'
import { FunctionCaches } from './caches.ts'
import type { Commit, Mutation, Range } from './store.ts'

/** A store in memory whose writes wait until all that begin at the same time have begun. */
class SlowStore {
  readonly entries = new Map<string, Mutation>()
  readonly commits: (readonly Mutation[])[] = []
  asking = 0
  /** Most requests with a part that were under way at once. */
  mostAsking = 0
  /** Requests with a part wait for it. */
  held: Promise<void> | undefined
  lists = 0
  /** Runs before the next part is read. */
  meanwhile = async () => {}
  /** Number of the write that fails; none by default. */
  failing = -1

  readonly fetch: typeof fetch = async (_, init) => {
    const asked = JSON.parse(init?.body as string) as Commit & Range & { operation: string; keys: string[] }
    const answered = (value: unknown) => Response.json(value)
    if (asked.operation === 'get') {
      const meanwhile = this.meanwhile
      this.meanwhile = async () => {}
      await meanwhile()
      const found = asked.keys.flatMap((key) => this.entries.get(key) ?? [])
      return this.#while(() => answered(found.map((entry) => this.#stored(entry))))
    }
    if (asked.operation === 'list') {
      this.lists++
      const found = [...this.entries.values()].filter(({ key }) => key >= asked.first && key < asked.past)
      return answered(found.map((entry) => this.#stored(entry)))
    }
    const at = this.commits.push(asked.writes ?? []) - 1
    return this.#while(() => {
      if (at === this.failing) return Response.json({ message: 'full' }, { status: 507 })
      for (const write of asked.writes ?? [])
        if (write.operation === 'delete') this.entries.delete(write.key)
        else this.entries.set(write.key, write)
      return answered('1')
    })
  }

  async #while(answer: () => Response): Promise<Response> {
    this.mostAsking = Math.max(this.mostAsking, ++this.asking)
    await this.held
    await new Promise((resolve) => setImmediate(resolve))
    this.asking--
    return answer()
  }

  #stored({ key, kind, value, metadata }: Mutation) {
    return { key, kind, value, metadata, versionstamp: '1', expires: null }
  }
}

const ADDRESS = 'https://x.example/large'
const open = (store: SlowStore) => new FunctionCaches(new CacheStore(store.fetch, () => {})).default
const bytesOf = (size: number) => new Uint8Array(Buffer.alloc(size, 'of no power of two'))
const readFrom = async (cache: ReturnType<typeof open>) => {
  const found = await cache.match(ADDRESS)
  return found && new Uint8Array(await found.arrayBuffer())
}

test('a large body is written four parts at a time, and its head after all of them', async () => {
  const store = new SlowStore()
  const cache = open(store)
  const body = bytesOf(8 * 2 ** 20)
  await cache.put(ADDRESS, new Response(body))
  expect([store.commits.length, store.mostAsking]).toEqual([8, 4])
  expect(store.commits.map((writes) => writes.length)).toEqual([1, 1, 1, 1, 1, 1, 1, 3])
  expect(Buffer.compare((await readFrom(cache))!, body)).toBe(0)
})

test('of many answers that are kept and read at once four parts are under way, because each takes memory', async () => {
  const store = new SlowStore()
  const cache = open(store)
  const addresses = Array.from({ length: 5 }, (_, i) => `${ADDRESS}/${i}`)
  const body = bytesOf(2 * 2 ** 20)
  const { promise, resolve } = Promise.withResolvers<void>()
  store.held = promise
  const kept = Promise.all(addresses.map((address) => cache.put(address, new Response(body))))
  await vi.waitUntil(() => store.asking === 4, { timeout: 60_000 })
  resolve()
  await kept
  const found = await Promise.all(addresses.map(async (address) => (await cache.match(address))?.arrayBuffer()))
  expect(found.map((each) => each && Buffer.compare(new Uint8Array(each), body))).toEqual(addresses.map(() => 0))
  expect(store.mostAsking).toBe(4)
})

test('an answer that is replaced while it is read is found as the new one', async () => {
  const store = new SlowStore()
  const cache = open(store)
  await cache.put(ADDRESS, new Response(bytesOf(2 * 2 ** 20)))
  store.meanwhile = () => cache.put(ADDRESS, new Response('new'))
  expect(await (await cache.match(ADDRESS))?.text()).toBe('new')
})

test('an answer whose body was removed to free space is not read again and again', async () => {
  const store = new SlowStore()
  const cache = open(store)
  await cache.put(ADDRESS, new Response('gone'))
  for (const key of store.entries.keys()) if (key.startsWith('01')) store.entries.delete(key)
  store.lists = 0
  expect([await cache.match(ADDRESS), store.lists]).toEqual([undefined, 2])
})

test('a body with a part that is not written is not kept', async () => {
  const store = new SlowStore()
  store.failing = 2
  const cache = open(store)
  await cache.put(ADDRESS, new Response(bytesOf(6 * 2 ** 20)))
  expect(await readFrom(cache)).toBeUndefined()
  expect([...store.entries.keys()].filter((key) => key.startsWith('00'))).toEqual([])
})

test('an answer in parts of half the size is read whole', async () => {
  const store = new SlowStore()
  const cache = open(store)
  const body = bytesOf(8 * 2 ** 20)
  await cache.put(ADDRESS, new Response(body))
  const head = [...store.entries.values()].find(({ key }) => key.startsWith('00'))!
  const { body: prefix } = head.metadata as { body: string }
  for (let at = 0; at < 16; at++) {
    const key = prefix + at.toString(16).padStart(2, '0')
    const value = Buffer.from(body.subarray(at * 2 ** 19, (at + 1) * 2 ** 19)).toString('base64')
    store.entries.set(key, { operation: 'set', key, kind: 'raw', value })
  }
  store.entries.set(head.key, { ...head, metadata: { body: prefix, parts: 16 } })
  expect(Buffer.compare((await readFrom(cache))!, body)).toBe(0)
})
