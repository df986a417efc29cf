import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Upload } from 'tus-js-client'
import { openOrigin, type TestOrigin } from './harness.ts'

let origin: TestOrigin
beforeAll(async () => {
  origin = await openOrigin({ TERRANE_STORAGE_MAX_BYTES: '4000000' })
  const { storage } = origin.client(origin.keys.service)
  await storage.createBucket('files', { public: false })
  await storage.createBucket('pictures', { public: false, allowedMimeTypes: ['image/tiff'], fileSizeLimit: 1000 })
})
afterAll(() => origin[Symbol.asyncDispose]())

const CHUNK = 600_000
const content = randomBytes(2_500_000)

/** An upload as the page does it; `stopAfter` cuts it off once so many bytes have arrived. */
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
  // It must not hear that all of it is there: it would believe that it is done.
  expect((await head(origin.keys.service)).status).toBe(404)
  await storage.createBucket('later', { public: false })
  expect((await head(origin.keys.anon)).status).toBe(403)
  expect((await upload(target, { url: begun.url ?? '' })).error).toBeNull()
  const { data } = await storage.from('later').download('scene.tif')
  expect(Buffer.from((await data?.arrayBuffer()) ?? new ArrayBuffer(0)).equals(content)).toBe(true)
})
