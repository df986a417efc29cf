import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { openStore, within } from '@terrane/storage'
import { awsAt, startFaux } from '@terrane/testing/s3'
import { Upload as TusUpload } from '@tus/server'
import { Upload } from 'tus-js-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SharedUploads } from '../src/storage/shared-uploads.ts'
import { openOrigin, type TestOrigin, settingsOf } from './harness.ts'

let folder: string
let first: TestOrigin
let second: TestOrigin
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-uploads-'))
  const env = { TERRANE_STORAGE: `file:${folder}`, ...settingsOf({ maxObjectBytes: 20_000_000 }) }
  first = await openOrigin(env)
  second = await openOrigin(env, first)
  await first.client(first.keys.service).storage.createBucket('files', { public: false })
})
afterAll(async () => {
  await second[Symbol.asyncDispose]()
  await first[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const headersOf = ({ keys }: TestOrigin) => ({ apikey: keys.service, authorization: `Bearer ${keys.service}` })
/** Sends chunks to one origin until this many bytes have arrived; returns the path of the upload. */
function send(origin: TestOrigin, body: Buffer, options: { path?: string; stopAfter?: number } = {}): Promise<string> {
  const { path, stopAfter = Infinity } = options
  return new Promise((resolve, reject) => {
    const task = new Upload(body, {
      endpoint: `${origin.url}/storage/v1/upload/resumable`,
      ...(path !== undefined && { uploadUrl: `${origin.url}${path}` }),
      headers: headersOf(origin),
      chunkSize: 600_000,
      metadata: { bucketName: 'files', objectName: `${body.length}.bin` },
      retryDelays: null,
      onChunkComplete: (_size, accepted) => {
        if (accepted >= stopAfter && accepted < body.length) void task.abort().then(() => resolve(pathOf(task)))
      },
      onSuccess: () => resolve(pathOf(task)),
      onError: reject,
    })
    task.start()
  })
}
const pathOf = ({ url }: Upload) => new URL(url ?? '').pathname
const download = async (origin: TestOrigin, name: string) =>
  Buffer.from(await (await origin.client(origin.keys.service).storage.from('files').download(name)).data!.arrayBuffer())

describe('two origins', () => {
  test('an upload goes on at the other one, chunk by chunk', async () => {
    const content = randomBytes(3_100_000)
    let path = await send(first, content, { stopAfter: 600_000 })
    for (const [origin, stopAfter] of [
      [second, 1_200_000],
      [first, 1_800_000],
      [second, 2_400_000],
    ] as const)
      path = await send(origin, content, { path, stopAfter })
    await send(first, content, { path })
    expect((await download(second, '3100000.bin')).equals(content)).toBe(true)
    // Nothing of the upload remains, and the API does not show its bucket.
    expect((await fetch(`${second.url}${path}`, { method: 'HEAD', headers: { ...headersOf(second), 'tus-resumable': '1.0.0' } })).status).toBe(404) // prettier-ignore
    const buckets = (await second.client(second.keys.service).storage.listBuckets()).data
    expect(buckets?.map(({ id }) => id)).toEqual(['files'])
  })
  test('both are told to make the object at once, and it is there once', async () => {
    const content = randomBytes(900_000)
    const path = await send(first, content, { stopAfter: 600_000 })
    const patch = (origin: TestOrigin) =>
      fetch(`${origin.url}${path}`, {
        method: 'PATCH',
        headers: { ...headersOf(origin), 'tus-resumable': '1.0.0', 'upload-offset': '600000', 'content-type': 'application/offset+octet-stream' }, // prettier-ignore
        body: Uint8Array.from(content.subarray(600_000)),
      })
    const answers = await Promise.all([patch(first), patch(second)])
    const states = answers.map(({ status }) => status)
    expect(states).toContain(204)
    expect(states.every((status) => [204, 404, 409].includes(status))).toBe(true)
    expect((await download(first, '900000.bin')).equals(content)).toBe(true)
  })
})

describe.each(['a folder', 'S3'])('uploads under way in %s', (kind) => {
  const resources = new AsyncDisposableStack()
  let uploads: SharedUploads
  let store: ReturnType<typeof openStore>
  beforeAll(async () => {
    if (kind === 'S3') {
      const { port } = resources.use(await startFaux())
      store = openStore(within('s3://bucket/p/', 'uploads'), awsAt(port))
    } else {
      const at = await mkdtemp(join(tmpdir(), 'terrane-uploads-'))
      resources.defer(() => rm(at, { recursive: true, force: true }))
      store = openStore(within(`file:${at}`, 'uploads'))
    }
    uploads = new SharedUploads(store, 3_600_000)
  })
  afterAll(() => resources.disposeAsync())

  const begin = async (id: string, size: number) => {
    await uploads.create(new TusUpload({ id, offset: 0, size, metadata: { bucketName: 'b' } }))
    return id
  }
  const collected = async (id: string) =>
    Buffer.concat(await Array.fromAsync(uploads.read(id, (await uploads.getUpload(id)).offset)))

  test('what came before a break is kept', async () => {
    const id = await begin('a'.repeat(32), 100)
    const broken = Readable.from(
      (async function* () {
        yield Buffer.from('before')
        throw new Error('cut')
      })(),
      { objectMode: false },
    )
    await expect(uploads.write(broken, id, 0)).rejects.toThrow('cut')
    expect(await uploads.getUpload(id)).toMatchObject({ offset: 6, size: 100, metadata: { bucketName: 'b' } })
    expect(await uploads.write(Readable.from([Buffer.from(' and after')]), id, 6)).toBe(16)
    expect((await collected(id)).toString()).toBe('before and after')
  })
  test('a request that comes too late for its offset changes nothing', async () => {
    const id = await begin('b'.repeat(32), 100)
    await uploads.write(Readable.from([Buffer.from('first')]), id, 0)
    await expect(uploads.write(Readable.from([Buffer.from('x')]), id, 0)).rejects.toMatchObject({ status_code: 409 })
    expect((await collected(id)).toString()).toBe('first')
  })
  test('more than a part is kept in parts, and reads as it came', async () => {
    const id = await begin('c'.repeat(32), 20_000_000)
    const bytes = randomBytes(9_000_000)
    expect(await uploads.write(Readable.from([bytes.subarray(0, 8_500_000), bytes.subarray(8_500_000)]), id, 0)).toBe(9e6) // prettier-ignore
    expect((await collected(id)).equals(bytes)).toBe(true)
    expect((await uploads.getUpload(id)).offset).toBe(9_000_000)
  })
  test('an upload is removed with all its parts, by its client or when nothing came for its lifetime', async () => {
    const id = await begin('d'.repeat(32), 100)
    await uploads.write(Readable.from([Buffer.from('x')]), id, 0)
    await uploads.remove(id)
    await expect(uploads.getUpload(id)).rejects.toMatchObject({ status_code: 404 })
    await begin('e'.repeat(32), 100)
    expect(await uploads.deleteExpired()).toBe(0)
    expect(await new SharedUploads(store, -1000).deleteExpired()).toBe(4)
    expect(await Array.fromAsync(store.list('resumable', ''))).toEqual([])
  })
})
