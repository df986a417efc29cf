import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineError } from '@terrane/core'
import type { FetchResponse, GuardedFetch } from '@terrane/service'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { cachedDownload, type CacheOptions } from './cached-download.ts'

const down = defineError('DOWN', 'upstream', () => 'the server is down')

let folder: string
let asked: string[]
/** Files of the server: text and date. */
let files: Map<string, { text: string; date: string }>
let broken: boolean
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-cache-'))
  asked = []
  files = new Map()
  broken = false
})
afterEach(() => rm(folder, { recursive: true }))

const fetch: GuardedFetch = async (url, options = {}): Promise<FetchResponse> => {
  const since = options.headers?.['if-modified-since']
  asked.push(`${new URL(url).pathname}${since ? ` since ${since}` : ''}`)
  const file = files.get(new URL(url).pathname)
  if (broken || !file) throw down()
  const same = since === file.date
  const body = async function* () {
    await new Promise(setImmediate)
    if (!same) yield Buffer.from(file.text)
  }
  const headers = { 'last-modified': file.date, 'content-length': `${file.text.length}` }
  return { url, status: same ? 304 : 200, headers, body: body(), cancel: () => {} }
}

let targets = 0
async function get(path: string, options: Partial<CacheOptions> = {}): Promise<string> {
  const target = join(folder, `target-${++targets}`)
  const cache = join(folder, 'cache')
  const signal = new AbortController().signal
  const settings = { fetch, folder: cache, signal, maxBytes: 1e6, maxCacheBytes: 1e6, maxAgeMs: 0, ...options }
  const { fresh, bytes } = await cachedDownload(`https://example.org${path}`, target, settings)
  const text = await readFile(target, 'utf8')
  expect(bytes).toBe(text.length)
  return `${text}${fresh ? '' : ' (old)'}`
}

test('a file is downloaded once, asked for again, and renewed when the server has a newer one', async () => {
  files.set('/a', { text: 'one', date: 'Monday' })
  expect(await get('/a')).toBe('one')
  expect(await get('/a')).toBe('one')
  files.set('/a', { text: 'two', date: 'Tuesday' })
  expect(await get('/a')).toBe('two')
  expect(asked).toEqual(['/a', '/a since Monday', '/a since Monday'])
})

test('a young copy is used without asking', async () => {
  files.set('/a', { text: 'one', date: 'Monday' })
  await get('/a')
  expect(await get('/a', { maxAgeMs: 60_000 })).toBe('one')
  expect(asked).toEqual(['/a'])
})

test('an older copy is used while the server is down, and said to be old', async () => {
  files.set('/a', { text: 'one', date: 'Monday' })
  await get('/a')
  broken = true
  expect(await get('/a')).toBe('one (old)')
  await expect(get('/b')).rejects.toMatchObject({ code: 'DOWN' })
})

test('a second job waits for the download of the first', async () => {
  files.set('/a', { text: 'one', date: 'Monday' })
  expect(await Promise.all([get('/a', { maxAgeMs: 60_000 }), get('/a', { maxAgeMs: 60_000 })])).toEqual(['one', 'one'])
  expect(asked).toEqual(['/a'])
})

test('a wrong checksum keeps nothing', async () => {
  files.set('/a', { text: 'one', date: 'Monday' })
  files.set('/a.md5', { text: 'f97c5d29941bfb1b2fdab0874906ab82  a', date: '' })
  expect(await get('/a', { md5: true })).toBe('one')
  files.set('/b', { text: 'two', date: 'Monday' })
  files.set('/b.md5', { text: 'f97c5d29941bfb1b2fdab0874906ab82  b', date: '' })
  await expect(get('/b', { md5: true })).rejects.toMatchObject({ code: 'CHECKSUM_DIFFERS' })
  expect((await readdir(join(folder, 'cache'))).length).toBe(2)
})

test('files that were not used for longest go when the folder is full, and their users keep them', async () => {
  for (const name of ['/a', '/b', '/c']) files.set(name, { text: name.repeat(50), date: 'Monday' })
  for (const name of ['/a', '/b', '/c']) {
    expect(await get(name, { maxCacheBytes: 250 })).toBe(name.repeat(50))
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const kept = (await readdir(join(folder, 'cache'))).map((name) => name.replace(/^[0-9a-f]{16}-/, ''))
  expect(kept.toSorted()).toEqual(['b', 'b.json', 'c', 'c.json'])
})

test('its own signal ends the waiting of a job', async () => {
  files.set('/a', { text: 'one', date: 'Monday' })
  const stop = new AbortController()
  const first = get('/a')
  const second = get('/a', { signal: stop.signal })
  stop.abort(new Error('enough'))
  await expect(second).rejects.toThrow('enough')
  expect(await first).toBe('one')
})
