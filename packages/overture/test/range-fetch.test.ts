import { features } from '@terrane/testing/overture'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { webFetch } from '../src/range-fetch.ts'
import { RemoteFile } from '../src/remote-file.ts'
import { serveRelease } from './release-server.ts'

let release: Awaited<ReturnType<typeof serveRelease>>
beforeAll(async () => {
  release = await serveRelease(features(100, 'place', 1))
})
afterAll(() => release.server[Symbol.asyncDispose]())
beforeEach(() => {
  release.server.intercept = null
})

const source = (signal = new AbortController().signal) => ({
  fetch: webFetch,
  traffic: { requests: 0, bytes: 0 },
  signal,
})

test('the runtime’s fetch reads a file by ranges and counts what it asks for', async () => {
  const counted = source()
  const file = await RemoteFile.open(counted, release.file, 100)
  const bytes = release.server.files.get(new URL(release.file).pathname)!
  expect(file.size).toBe(bytes.length)
  expect(Buffer.from(await file.read(0, 1000))).toEqual(Buffer.from(bytes.subarray(0, 1000)))
  expect(counted.traffic).toEqual({ requests: 2, bytes: 1100 })
})

test('an answer that may pass is asked for again', async () => {
  let asked = 0
  release.server.intercept = (_, response) => {
    if (++asked > 1) return false
    response.writeHead(503).end()
    return true
  }
  const counted = source()
  expect((await RemoteFile.open(counted, release.file, 100)).tail).toHaveLength(100)
  expect(counted.traffic.requests).toBe(2)
})

test('too many requests and a connection that breaks may pass', async () => {
  const failed = { code: 'DOWNLOAD_FAILED', retryable: true }
  release.server.intercept = (_, response) => {
    response.writeHead(429).end()
    return true
  }
  await expect(webFetch(release.file, { maxBytes: 1000 })).rejects.toMatchObject(failed)
  release.server.intercept = (_, response) => {
    response.writeHead(200, { 'content-length': 100 })
    response.write('half of it', () => response.destroy())
    return true
  }
  const { body } = await webFetch(release.file, { maxBytes: 1000 })
  const read = async () => {
    for await (const _ of body) continue
  }
  await expect(read()).rejects.toMatchObject(failed)
})

test('more bytes than are wanted end a fetch, and the caller’s signal does', async () => {
  const { body } = await webFetch(release.file, { maxBytes: 10 })
  const read = async () => {
    for await (const _ of body) continue
  }
  await expect(read()).rejects.toMatchObject({ code: 'DOWNLOAD_TOO_LARGE' })
  const reason = new Error('not needed any more')
  await expect(webFetch(release.file, { maxBytes: 10, signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
})

test('an answer other than success is an error, unless it is accepted', async () => {
  const missing = `${release.server.base}/missing`
  await expect(webFetch(missing, { maxBytes: 10 })).rejects.toMatchObject({
    code: 'DOWNLOAD_REFUSED',
    retryable: false,
  })
  expect((await webFetch(missing, { maxBytes: 10, accept: [404] })).status).toBe(404)
})
