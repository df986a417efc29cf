import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { observeStore, openStore, storageUnavailable } from '../src/index.ts'

test('calls are told with their outcome; what is not there, and a rule that refuses, are no failures', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-observed-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const calls: string[] = []
  const store = observeStore(openStore(`file:${folder}`), ({ operation, seconds, failure }) => {
    expect(seconds).toBeGreaterThanOrEqual(0)
    calls.push(`${operation} ${failure === null ? 'ok' : 'failed'}`)
  })
  const rules = { public: false, fileSizeLimit: null, allowedMimeTypes: null }
  await store.createBucket('a', rules)
  await expect(store.createBucket('a', rules)).rejects.toMatchObject({ code: 'BUCKET_EXISTS' })
  await store.withSignal(new AbortController().signal).put('a', 'k', Readable.from([Buffer.from('x')]))
  const { body } = await store.get('a', 'k')
  expect(Buffer.concat(await Array.fromAsync(body)).toString()).toBe('x')
  expect((await Array.fromAsync(store.list('a', ''))).map(({ key }) => key)).toEqual(['k'])
  expect(calls).toEqual(['createBucket ok', 'createBucket ok', 'put ok', 'get ok'])
  const away = observeStore({ ready: () => Promise.reject(storageUnavailable({ operation: 'HEAD' })), withSignal: () => store }, ({ operation, failure }) => calls.push(`${operation} ${failure === null ? 'ok' : 'failed'}`)) // prettier-ignore
  await expect(away.ready()).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
  expect(calls.at(-1)).toBe('ready failed')
})
