import { expect, test } from 'vitest'
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
  put: (store) => store.put('b', 'k', megabyte()),
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
