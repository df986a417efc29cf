import { expect, onTestFinished, test, vi } from 'vitest'
import { RemoteStore, type ArtifactStore, type RemoteFetch } from '../src/index.ts'

const MEGABYTE = 1 << 20
const OBJECT = JSON.stringify({ size: MEGABYTE })

/** Answers everything with one object, and keeps how long each request may take and whether it hears a signal. */
function recording() {
  const asked: { readonly timeoutMs: number | undefined; readonly hears: boolean }[] = []
  const fetch: RemoteFetch = async (url, { timeoutMs, signal }) => {
    asked.push({ timeoutMs, hears: signal !== undefined })
    const body = (async function* () {
      yield Buffer.from(url.includes('/object/list/') ? '[]' : OBJECT)
    })()
    return { status: 200, headers: {}, body, cancel: () => {} }
  }
  return { asked, fetch }
}

async function* megabyte() {
  yield Buffer.alloc(MEGABYTE)
}

const CALLS: Readonly<Record<string, (store: ArtifactStore) => Promise<unknown>>> = {
  getBucket: (store) => store.getBucket('b'),
  createBucket: (store) => store.createBucket('b', { public: false, fileSizeLimit: null, allowedMimeTypes: null }),
  put: (store) => store.put('b', 'k', megabyte(), { size: MEGABYTE }),
  head: (store) => store.head('b', 'k'),
  get: (store) => store.get('b', 'k'),
  'get of a range': (store) => store.get('b', 'k', { range: { start: 0, end: 9 } }),
  list: (store) => Array.fromAsync(store.list('b', '')),
  move: (store) => store.move({ bucket: 'b', key: 'k' }, { bucket: 'b', key: 'l' }, { upsert: true }),
  remove: (store) => store.remove('b', ['k']),
}

test.each(Object.entries(CALLS))(
  '%s of a project’s own storage ends in its time, and when it is told to',
  async (call, run) => {
    const { asked, fetch } = recording()
    const store = new RemoteStore({ url: 'https://a.test/storage/v1', serviceRoleKey: 'key', fetch })
    await run(store.withSignal(new AbortController().signal))
    expect(asked.length).toBeGreaterThan(0)
    expect(asked.filter(({ hears }) => !hears)).toEqual([])
    // A content has time by its length, at 64 KB a second.
    const longest = call === 'put' || call === 'get' ? 20_000 + MEGABYTE / 64 : 20_001
    expect(asked.filter(({ timeoutMs = Infinity }) => timeoutMs > longest)).toEqual([])
  },
)

/** Takes bodies chunk by chunk, as a socket does, up to a number of chunks. */
function taking(most = Infinity) {
  const seen = { made: 0, taken: 0, ahead: 0, headers: {} as Readonly<Record<string, string>>, closed: false }
  const fetch: RemoteFetch = async (_url, { body, headers = {}, signal }) => {
    const answer = { status: 200, headers: {}, body: once(OBJECT), cancel: () => {} }
    if (body === undefined || typeof body === 'string') return answer
    seen.headers = headers
    for await (const chunk of body) {
      seen.taken += (chunk as Uint8Array).byteLength
      seen.ahead = Math.max(seen.ahead, seen.made - seen.taken)
      if (seen.taken >= most) {
        await new Promise((_resolve, reject) =>
          signal!.addEventListener('abort', () => reject(signal!.reason as Error)),
        )
      }
    }
    return answer
  }
  const make = async function* (chunks: number) {
    try {
      for (let i = 0; i < chunks; i++) {
        seen.made += MEGABYTE
        yield Buffer.alloc(MEGABYTE)
      }
    } finally {
      seen.closed = true
    }
  }
  return { seen, make, store: new RemoteStore({ url: 'https://a.test/storage/v1', serviceRoleKey: 'key', fetch }) }
}

async function* once(text: string) {
  yield Buffer.from(text)
}

test('an upload is sent as it is made, and holds a few chunks of it', async () => {
  for (const size of [undefined, 64 * MEGABYTE]) {
    const { seen, make, store } = taking()
    await store.put('b', 'k', make(64), size === undefined ? {} : { size })
    expect(seen).toMatchObject({ taken: 64 * MEGABYTE, closed: true })
    expect(seen.ahead).toBeLessThanOrEqual(2 * MEGABYTE)
    expect(seen.headers['content-length']).toBe(size === undefined ? undefined : String(size))
  }
})

test('an upload that the storage stops taking ends, and its source is closed', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { seen, make, store } = taking(3 * MEGABYTE)
  const put = store.put('b', 'k', make(64)).then(
    () => null,
    (error: unknown) => error,
  )
  await vi.waitUntil(() => seen.taken >= 3 * MEGABYTE && vi.getTimerCount() > 0)
  expect(seen.closed).toBe(false)
  await vi.advanceTimersByTimeAsync(20_000 + (4 * MEGABYTE) / 64)
  expect(await put).toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
  await vi.waitUntil(() => seen.closed)
  expect(seen.made).toBeLessThanOrEqual(5 * MEGABYTE)
})

test('an upload that is cancelled ends with the reason, and its source is closed', async () => {
  const { seen, make, store } = taking(MEGABYTE)
  const stop = new AbortController()
  const put = store.put('b', 'k', make(64), { signal: stop.signal })
  await vi.waitUntil(() => seen.taken >= MEGABYTE)
  stop.abort(new Error('cancelled'))
  await expect(put).rejects.toThrow('cancelled')
  await vi.waitUntil(() => seen.closed)
})
