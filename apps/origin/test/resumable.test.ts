import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Upload } from 'tus-js-client'
import { openOrigin, type TestOrigin, settingsOf } from './harness.ts'

let origin: TestOrigin
beforeAll(async () => {
  origin = await openOrigin(settingsOf({ maxObjectBytes: 4_000_000 }))
  const { storage } = origin.client(origin.keys.service)
  await storage.createBucket('files', { public: false })
  await storage.createBucket('pictures', { public: false, allowedMimeTypes: ['image/tiff'], fileSizeLimit: 1000 })
})
afterAll(() => origin[Symbol.asyncDispose]())

const CHUNK = 600_000
const content = randomBytes(2_500_000)

/** An upload as the page does it; `stopAfter` aborts it after this many bytes have arrived. */
function upload(
  metadata: Record<string, string>,
  options: { url?: string; stopAfter?: number; key?: string; body?: Buffer } = {},
): Promise<{ url: string | null; error: string | null; sent: number }> {
  const { url, stopAfter = Infinity, key = origin.keys.service, body = content } = options
  return new Promise((resolve) => {
    let sent = 0
    const task = new Upload(body, {
      endpoint: `${origin.url}/storage/v1/upload/resumable`,
      ...(url !== undefined && { uploadUrl: url }),
      headers: { apikey: key, authorization: `Bearer ${key}` },
      chunkSize: CHUNK,
      metadata,
      retryDelays: null,
      onChunkComplete: (size, accepted) => {
        sent += size
        if (accepted < stopAfter || accepted >= body.length) return
        void task.abort().then(() => resolve({ url: task.url, error: 'cut', sent }))
      },
      onSuccess: () => resolve({ url: task.url, error: null, sent }),
      onError: (error) => resolve({ url: task.url, error: error.message, sent }),
    })
    task.start()
  })
}

test('an upload that is cut goes on where it was, and becomes an object when it is whole', async () => {
  const target = { bucketName: 'files', objectName: 'a/scene.tif', contentType: 'image/tiff', cacheControl: '60' }
  const first = await upload(target, { stopAfter: CHUNK })
  expect([first.error, first.url !== null]).toEqual(['cut', true])
  const { storage } = origin.client(origin.keys.service)
  expect((await storage.from('files').info('a/scene.tif')).error).not.toBeNull()
  const second = await upload(target, { url: first.url ?? '' })
  expect(second.error).toBeNull()
  expect(second.sent).toBeLessThan(content.length)
  const { data } = await storage.from('files').download('a/scene.tif')
  expect(Buffer.from((await data?.arrayBuffer()) ?? new ArrayBuffer(0)).equals(content)).toBe(true)
  expect((await storage.from('files').info('a/scene.tif')).data).toMatchObject({ contentType: 'image/tiff' })
})

test('what would be refused at the end is refused before the first byte', async () => {
  const problem = async (metadata: Record<string, string>, key?: string, body?: Buffer) =>
    (await upload(metadata, { ...(key && { key }), ...(body && { body }) })).error ?? ''
  const target = { bucketName: 'files', objectName: 'b.bin' }
  expect(await problem(target, origin.keys.anon)).toContain('403')
  expect(await problem({ ...target, bucketName: 'none' })).toContain('404')
  expect(await problem({ ...target, objectName: '../b.bin' })).toContain('InvalidKey')
  expect(await problem({ bucketName: 'files' })).toContain('UPLOAD_TARGET_MISSING')
  expect(await problem({ bucketName: 'pictures', objectName: 'a.txt', contentType: 'text/plain' })).toContain('415')
  expect(await problem({ bucketName: 'pictures', objectName: 'a.tif', contentType: 'image/tiff' })).toContain('413')
  expect(await problem(target, undefined, Buffer.alloc(4_000_001))).toContain('413')
  expect((await upload(target)).error).toBeNull()
  expect(await problem(target)).toContain('409')
})

test('an upload that could not become an object when it was whole becomes one when its client asks how far it got', async () => {
  const { storage } = origin.client(origin.keys.service)
  await storage.createBucket('later', { public: false })
  const target = { bucketName: 'later', objectName: 'scene.tif' }
  const begun = await upload(target, { stopAfter: CHUNK })
  await storage.deleteBucket('later')
  expect((await upload(target, { url: begun.url ?? '' })).error).toContain('404')
  const head = (key: string) => {
    const headers = { 'tus-resumable': '1.0.0', apikey: key, authorization: `Bearer ${key}` }
    return fetch(begun.url ?? '', { method: 'HEAD', headers })
  }
  // The answer must not state the full offset, which the client would take for a completed upload.
  expect((await head(origin.keys.service)).status).toBe(404)
  await storage.createBucket('later', { public: false })
  expect((await head(origin.keys.anon)).status).toBe(403)
  expect((await upload(target, { url: begun.url ?? '' })).error).toBeNull()
  const { data } = await storage.from('later').download('scene.tif')
  expect(Buffer.from((await data?.arrayBuffer()) ?? new ArrayBuffer(0)).equals(content)).toBe(true)
})

/** Requests of the protocol as a hand-written client sends them. */
const tus = (method: string, url: string, headers: Record<string, string> = {}, body: Buffer | null = null) =>
  fetch(new URL(url, origin.url), {
    method,
    headers: { 'tus-resumable': '1.0.0', apikey: origin.keys.service, ...headers },
    ...(body && { body: Uint8Array.from(body) }),
  })
const described = (metadata: Record<string, string>) => ({
  'upload-metadata': Object.entries(metadata)
    .map(([name, value]) => `${name} ${Buffer.from(value).toString('base64')}`)
    .join(','),
})
const begin = (metadata: Record<string, string>, length: Record<string, string>) =>
  tus('POST', '/storage/v1/upload/resumable', { ...described(metadata), ...length })

test('an upload that defers its length is held to the limit of its bucket', async () => {
  const target = { bucketName: 'pictures', objectName: 'deferred.tif', contentType: 'image/tiff' }
  const part = { 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' }
  const defer = async () => (await begin(target, { 'upload-defer-length': '1' })).headers.get('location') ?? ''
  const whole = await tus('PATCH', await defer(), { ...part, 'upload-length': '1001' }, Buffer.alloc(1001))
  expect(whole.status).toBe(413)
  expect((await tus('PATCH', await defer(), part, Buffer.alloc(1001))).status).toBe(413)
  const { storage } = origin.client(origin.keys.service)
  expect((await storage.from('pictures').info('deferred.tif')).error).not.toBeNull()
  const fits = await tus('PATCH', await defer(), { ...part, 'upload-length': '1000' }, Buffer.alloc(1000))
  expect(fits.status).toBe(204)
  expect((await storage.from('pictures').info('deferred.tif')).data).toMatchObject({ size: 1000 })
  // The limit at the time when the object is made applies.
  await storage.createBucket('shrinks', { public: false })
  const late = { bucketName: 'shrinks', objectName: 'a.bin' }
  const url = (await begin(late, { 'upload-length': '500' })).headers.get('location') ?? ''
  await storage.updateBucket('shrinks', { public: false, fileSizeLimit: 100 })
  expect((await tus('PATCH', url, part, Buffer.alloc(500))).status).toBe(413)
})

test('only the service role learns of an upload, and only by its id', async () => {
  const target = { bucketName: 'files', objectName: 'hidden/name.bin' }
  const url = (await begin(target, { 'upload-length': '10' })).headers.get('location') ?? ''
  for (const [key, status] of [
    ['', 401],
    [origin.keys.anon, 403],
    [origin.keys.user, 403],
  ] as const) {
    const answer = await tus('HEAD', url, { apikey: key })
    expect([answer.status, answer.headers.get('upload-metadata'), answer.headers.get('upload-offset')]).toEqual([
      status,
      null,
      null,
    ])
  }
  const known = await tus('HEAD', url)
  expect([known.status, known.headers.get('upload-offset')]).toEqual([200, '0'])
  for (const method of ['HEAD', 'PATCH', 'DELETE']) {
    for (const id of [
      `${url}.json`,
      `${url}%2f..%2fx`,
      `${url.slice(0, -1)}%00`,
      '/storage/v1/upload/resumable/none',
    ]) {
      const answer = await tus(method, id, method === 'PATCH' ? { 'upload-offset': '0' } : {})
      expect(answer.status, `${method} ${id}`).toBeGreaterThanOrEqual(400)
      expect(answer.status, `${method} ${id}`).toBeLessThan(500)
      expect(await answer.text()).not.toMatch(/ENOENT|resumable\/[^"]*json'|\/tmp/)
    }
  }
  // The file with its facts still exists.
  expect((await tus('HEAD', url)).status).toBe(200)
  expect((await tus('DELETE', url)).status).toBe(204)
})

test('a content type that cannot be sent is refused before the first byte', async () => {
  const target = { bucketName: 'files', objectName: 'broken.txt', contentType: 'text/plain\r\nset-cookie: a=b' }
  const answer = await begin(target, { 'upload-length': '10' })
  expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([400, 'INVALID_HEADER_VALUE'])
  const form = new FormData()
  form.set('cacheControl', 'max-age=1\r\nx: y')
  form.set('', new Blob(['text'], { type: 'text/plain' }))
  const sent = await fetch(`${origin.url}/storage/v1/object/files/broken.txt`, {
    method: 'POST',
    headers: { apikey: origin.keys.service },
    body: form,
  })
  expect([sent.status, ((await sent.json()) as { code: string }).code]).toEqual([400, 'INVALID_HEADER_VALUE'])
})
