import { PMTiles } from 'pmtiles'
import { RemoteStore, type RemoteFetch } from '@terrane/storage'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OPAQUE_SERVICE_KEY, openOrigin, type TestOrigin, settingsOf } from './harness.ts'

let origin: TestOrigin
let storage: ReturnType<TestOrigin['client']>['storage']
beforeAll(async () => {
  origin = await openOrigin(settingsOf({ maxObjectBytes: 1_000_000 }))
  storage = origin.client(origin.keys.service).storage
  await storage.createBucket('files', { public: false })
  await storage.createBucket('open', { public: true })
})
afterAll(async () => {
  await origin[Symbol.asyncDispose]()
})

const raw = (path: string, init: RequestInit = {}) => fetch(`${origin.url}/storage/v1${path}`, init)

describe('buckets, through supabase-js', () => {
  test('are created, read, listed, changed, emptied and deleted', async () => {
    const created = await storage.createBucket('pmtiles', {
      public: true,
      fileSizeLimit: '50MB',
      allowedMimeTypes: ['application/octet-stream'],
    })
    expect(created).toEqual({ data: { name: 'pmtiles' }, error: null })
    expect((await storage.getBucket('pmtiles')).data).toMatchObject({
      id: 'pmtiles',
      name: 'pmtiles',
      public: true,
      file_size_limit: 52_428_800,
      allowed_mime_types: ['application/octet-stream'],
    })
    expect((await storage.listBuckets()).data?.map((bucket) => bucket.id)).toEqual(['files', 'open', 'pmtiles'])
    expect((await storage.updateBucket('pmtiles', { public: false })).error).toBeNull()
    expect((await storage.getBucket('pmtiles')).data).toMatchObject({ public: false })
    await storage.from('pmtiles').upload('a.bin', Buffer.from('x'), { contentType: 'application/octet-stream' })
    expect((await storage.deleteBucket('pmtiles')).error).toMatchObject({ status: 409, statusCode: '409' })
    expect((await storage.emptyBucket('pmtiles')).data).toEqual({ message: 'Successfully emptied' })
    expect((await storage.deleteBucket('pmtiles')).data).toEqual({ message: 'Successfully deleted' })
    expect((await storage.getBucket('pmtiles')).error).toMatchObject({
      statusCode: '404',
      message: 'Bucket pmtiles does not exist',
    })
  })
  test('of the same name exist once, and strange names are refused', async () => {
    expect((await storage.createBucket('files')).error).toMatchObject({ statusCode: '409' })
    expect((await storage.createBucket('../x')).error).toMatchObject({ statusCode: '400' })
  })
})

describe('objects, through supabase-js', () => {
  test('a Buffer and a Blob make the round trip', async () => {
    const files = storage.from('files')
    const buffer = await files.upload('a/b.pmtiles', Buffer.from('hello'), {
      contentType: 'application/vnd.pmtiles',
      cacheControl: '60',
      upsert: true,
      metadata: { note: 'ü' },
    })
    expect(buffer.error).toBeNull()
    expect(buffer.data).toMatchObject({ path: 'a/b.pmtiles', fullPath: 'files/a/b.pmtiles' })
    const blob = await files.upload('a/c d.txt', new Blob(['form'], { type: 'text/plain' }), { cacheControl: '3600' })
    expect(blob.error).toBeNull()
    expect(await (await files.download('a/b.pmtiles')).data?.text()).toBe('hello')
    expect(await (await files.download('a/c d.txt')).data?.text()).toBe('form')
    expect((await files.info('a/b.pmtiles')).data).toMatchObject({
      size: 5,
      contentType: 'application/vnd.pmtiles',
      metadata: { note: 'ü' },
    })
    expect((await files.exists('a/b.pmtiles')).data).toBe(true)
    expect((await files.exists('a/nope')).data).toBe(false)
  })
  test('JSON is stored as the bytes it was sent as', async () => {
    const text = '{ "b":1,\n "a": 1.0 }'
    await storage.from('files').upload('x.json', Buffer.from(text), { contentType: 'application/json' })
    expect(await (await storage.from('files').download('x.json')).data?.text()).toBe(text)
  })
  test('without upsert an object is not replaced, update replaces it', async () => {
    const files = storage.from('files')
    await files.upload('once.txt', 'one')
    expect((await files.upload('once.txt', 'two')).error).toMatchObject({ statusCode: '409' })
    expect((await files.update('once.txt', 'two')).error).toBeNull()
    expect(await (await files.download('once.txt')).data?.text()).toBe('two')
  })
  test('list shows a folder with its folders, by page, search and order', async () => {
    const files = storage.from('files')
    for (const path of ['l/1.txt', 'l/2.txt', 'l/3.log', 'l/sub/4.txt']) await files.upload(path, path)
    const names = async (options?: Parameters<typeof files.list>[1]) =>
      (await files.list('l', options)).data?.map((entry) => entry.name)
    expect(await names()).toEqual(['1.txt', '2.txt', '3.log', 'sub'])
    expect(await names({ limit: 2, offset: 1 })).toEqual(['2.txt', '3.log'])
    expect(await names({ search: 'txt' })).toEqual(['1.txt', '2.txt'])
    expect(await names({ sortBy: { column: 'name', order: 'desc' } })).toEqual(['sub', '3.log', '2.txt', '1.txt'])
    const { data } = await files.list('l')
    expect(data?.[0]).toMatchObject({ metadata: { size: 7, mimetype: 'text/plain;charset=UTF-8' } })
    expect(data?.[3]).toMatchObject({ id: null, metadata: null })
  })
  test('listV2 pages by cursor', async () => {
    const first = await storage.from('files').listV2({ prefix: 'l/', limit: 2, with_delimiter: true })
    expect(first.data).toMatchObject({ hasNext: true, objects: [{ key: 'l/1.txt' }, { key: 'l/2.txt' }] })
    const cursor = first.data?.nextCursor
    const second = await storage
      .from('files')
      .listV2({ prefix: 'l/', limit: 2, with_delimiter: true, ...(cursor && { cursor }) })
    expect(second.data).toMatchObject({ hasNext: false, objects: [{ key: 'l/3.log' }], folders: [{ key: 'l/sub/' }] })
  })
  test('move, copy and remove', async () => {
    const files = storage.from('files')
    await files.upload('m/a', 'content')
    expect((await files.move('m/a', 'm/b')).data).toMatchObject({ message: 'Successfully moved' })
    expect((await files.copy('m/b', 'm/c')).data).toEqual({ path: 'files/m/c' })
    expect((await files.move('m/nope', 'm/x')).error).toMatchObject({ statusCode: '404' })
    expect((await files.remove(['m/b', 'm/c', 'm/nope'])).data?.map((entry) => entry.name)).toEqual(['m/b', 'm/c'])
    expect((await files.list('m')).data).toEqual([])
  })
  test('signed URLs read one object for a while', async () => {
    const files = storage.from('files')
    await files.upload('signed/ä b.txt', 'secret')
    const { data } = await files.createSignedUrl('signed/ä b.txt', 60, { download: 'x.txt' })
    const response = await fetch(data?.signedUrl ?? '')
    expect(await response.text()).toBe('secret')
    expect(response.headers.get('content-disposition')).toContain('attachment; filename="x.txt"')
    expect((await fetch((data?.signedUrl ?? '').replace('signed/', 'a/'))).status).toBe(404)
    expect((await fetch(`${data?.signedUrl.split('?')[0]}?token=nope`)).status).toBe(401)
    const many = await files.createSignedUrls(['signed/ä b.txt', 'nope'], 60)
    expect(many.data).toMatchObject([
      { path: 'signed/ä b.txt', error: null },
      { path: 'nope', signedUrl: null },
    ])
    expect((await files.createSignedUrl('nope', 60)).error).toMatchObject({ statusCode: '404' })
  })
  test('a signed upload URL writes one object without a key', async () => {
    const files = storage.from('files')
    const { data } = await files.createSignedUploadUrl('up/load.bin')
    const anonymous = origin.client(origin.keys.anon).storage.from('files')
    expect((await anonymous.uploadToSignedUrl('up/load.bin', data?.token ?? '', Buffer.from('bytes'))).error).toBeNull()
    expect(await (await files.download('up/load.bin')).data?.text()).toBe('bytes')
    expect(
      (await anonymous.uploadToSignedUrl('up/other.bin', data?.token ?? '', Buffer.from('x'))).error,
    ).toMatchObject({ statusCode: '404' })
    const read = await files.createSignedUrl('up/load.bin', 60)
    const readToken = new URL(read.data?.signedUrl ?? '').searchParams.get('token') ?? ''
    expect((await anonymous.uploadToSignedUrl('up/load.bin', readToken, Buffer.from('x'))).error).toMatchObject({
      statusCode: '401',
    })
  })
  test('rules of the bucket are kept', async () => {
    await storage.createBucket('small', { public: false, fileSizeLimit: 10, allowedMimeTypes: ['image/*'] })
    const small = storage.from('small')
    expect((await small.upload('a.png', Buffer.from('x'), { contentType: 'image/png' })).error).toBeNull()
    expect((await small.upload('a.txt', Buffer.from('x'), { contentType: 'text/plain' })).error).toMatchObject({
      statusCode: '415',
    })
    expect((await small.upload('b.png', Buffer.alloc(11), { contentType: 'image/png' })).error).toMatchObject({
      statusCode: '413',
    })
    expect((await small.upload('c.png', new Blob([Buffer.alloc(11)], { type: 'image/png' }))).error).toMatchObject({
      statusCode: '413',
    })
    expect((await small.list()).data?.map((entry) => entry.name)).toEqual(['a.png'])
  })
  test('an upload over the limit of the origin is refused', async () => {
    expect((await storage.from('files').upload('big', Buffer.alloc(1_000_001))).error).toMatchObject({
      statusCode: '413',
    })
    expect((await storage.from('files').exists('big')).data).toBe(false)
  })
  test.each(['../x', 'a/../../b', 'a//b', 'a/./b'])('the path %j is refused', async (path) => {
    const response = await raw(`/object/files/${encodeURIComponent(path)}`, {
      method: 'POST',
      headers: { apikey: origin.keys.service },
      body: 'x',
    })
    expect(response.status).toBe(400)
  })
})

describe('who may do what', () => {
  test('anon reads public buckets and nothing else', async () => {
    await storage.from('open').upload('p.txt', 'public', { upsert: true })
    const anon = origin.client(origin.keys.anon).storage
    expect(await (await fetch(anon.from('open').getPublicUrl('p.txt').data.publicUrl)).text()).toBe('public')
    expect(await (await anon.from('open').download('p.txt')).data?.text()).toBe('public')
    expect((await anon.from('files').list()).error).toMatchObject({ statusCode: '404' })
    expect((await anon.from('open').upload('q.txt', 'x')).error).toMatchObject({ statusCode: '403' })
    expect((await anon.from('open').remove(['p.txt'])).error).toMatchObject({ statusCode: '403' })
    expect((await anon.createBucket('mine')).error).toMatchObject({ statusCode: '403' })
    expect((await raw('/object/public/files/x.json')).status).toBe(404)
  })
  test('no key is refused, a bad key is 401, an opaque key works', async () => {
    expect((await raw('/bucket')).status).toBe(401)
    const bad = await raw('/bucket', { headers: { apikey: 'nope' } })
    expect([bad.status, bad.headers.get('content-type')]).toEqual([401, 'application/problem+json'])
    expect(await bad.json()).toMatchObject({
      status: 401,
      title: 'Unauthorized',
      code: 'InvalidJWT',
      instance: bad.headers.get('x-request-id'),
      statusCode: '401',
      error: 'Unauthorized',
      errors: [],
    })
    expect(
      (await raw('/bucket', { headers: { apikey: origin.keys.service, authorization: 'Bearer nope' } })).status,
    ).toBe(401)
    expect((await origin.client(OPAQUE_SERVICE_KEY).storage.listBuckets()).error).toBeNull()
  })
})

describe('ranged readers', () => {
  const url = () => `${origin.url}/storage/v1/object/public/open/r.bin`
  beforeAll(async () => {
    await storage
      .from('open')
      .upload('r.bin', Buffer.from('0123456789'), { contentType: 'application/octet-stream', upsert: true })
  })
  const get = async (headers: Record<string, string>) => {
    const response = await fetch(url(), { headers })
    return [response.status, response.headers.get('content-range'), await response.text()]
  }
  test.each([
    ['bytes=2-4', 206, 'bytes 2-4/10', '234'],
    ['bytes=7-', 206, 'bytes 7-9/10', '789'],
    ['bytes=-3', 206, 'bytes 7-9/10', '789'],
    ['bytes=0-99', 206, 'bytes 0-9/10', '0123456789'],
    ['bytes=10-', 416, 'bytes */10', ''],
    ['bytes=5-2', 200, null, '0123456789'],
    ['bytes=0-1,3-4', 200, null, '0123456789'],
    ['lines=1-2', 200, null, '0123456789'],
  ])('Range: %s', async (range, status, contentRange, body) => {
    expect(await get({ range })).toEqual([status, contentRange, body])
  })
  test('ETag decides', async () => {
    const etag = (await fetch(url(), { method: 'HEAD' })).headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[0-9a-f]{32}"$/)
    expect((await get({ 'if-none-match': etag }))[0]).toBe(304)
    expect((await get({ 'if-none-match': '"other"' }))[0]).toBe(200)
    expect((await get({ 'if-match': '"other"' }))[0]).toBe(412)
    expect((await get({ 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' }))[0]).toBe(412)
    expect((await get({ 'if-match': etag, 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' }))[0]).toBe(200)
    expect((await get({ 'if-unmodified-since': 'Fri, 01 Jan 2100 00:00:00 GMT' }))[0]).toBe(200)
    expect((await get({ 'if-range': etag, range: 'bytes=0-0' }))[0]).toBe(206)
    expect((await get({ 'if-range': '"other"', range: 'bytes=0-0' }))[0]).toBe(200)
    await storage.from('open').update('r.bin', Buffer.from('changed!!!'))
    expect((await get({ 'if-none-match': etag }))[0]).toBe(200)
    expect((await get({ 'if-match': etag, range: 'bytes=0-3' }))[0]).toBe(412)
  })
  test('HEAD has the length and no body; what is served cannot run as a page', async () => {
    const response = await fetch(url(), { method: 'HEAD' })
    expect(response.headers.get('content-length')).toBe('10')
    expect(response.headers.get('accept-ranges')).toBe('bytes')
    expect(response.headers.get('content-security-policy')).toContain('sandbox')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
  })
  test('the pmtiles client sees that these bytes are no archive', async () => {
    await expect(new PMTiles(url()).getHeader()).rejects.toThrow(/archive|magic|buffer/i)
  })
})

test('a preflight answers for browsers', async () => {
  const response = await raw('/object/files/a', {
    method: 'OPTIONS',
    headers: {
      origin: 'https://app.example',
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'apikey',
    },
  })
  expect(response.status).toBe(204)
  expect(response.headers.get('access-control-allow-methods')).toContain('PUT')
})

describe('the store of a remote project, as the worker uses it', () => {
  const remoteFetch: RemoteFetch = async (url, options) => {
    const { accept: _, ...init } = options
    const response = await fetch(url, { ...init, duplex: 'half' })
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: (response.body ?? []) as AsyncIterable<Uint8Array>,
      cancel: () => void response.body?.cancel(),
    }
  }
  async function* bytes(text: string) {
    yield Buffer.from(text)
  }
  test('puts, reads, moves and removes through the API', async () => {
    const store = new RemoteStore({
      url: `${origin.url}/storage/v1`,
      serviceRoleKey: origin.keys.service,
      fetch: remoteFetch,
    })
    expect(await store.getBucket('nowhere')).toBeNull()
    expect(
      await store.createBucket('remote', { public: false, fileSizeLimit: null, allowedMimeTypes: null }),
    ).toMatchObject({ id: 'remote' })
    const put = await store.put('remote', 'ä/b c.bin', bytes('content'), { contentType: 'x/y', metadata: { n: 1 } })
    expect(put).toMatchObject({ size: 7, contentType: 'x/y', metadata: { n: 1 } })
    await expect(store.put('remote', 'ä/b c.bin', bytes('again'))).rejects.toMatchObject({ code: 'OBJECT_EXISTS' })
    await expect(store.put('nowhere', 'a', bytes('x'))).rejects.toMatchObject({ code: 'BUCKET_NOT_FOUND' })
    await store.move({ bucket: 'remote', key: 'ä/b c.bin' }, { bucket: 'remote', key: 'c' })
    expect(await store.head('remote', 'ä/b c.bin')).toBeNull()
    const { body } = await store.get('remote', 'c', { range: { start: 1, end: 3 } })
    expect(Buffer.concat(await Array.fromAsync(body)).toString()).toBe('ont')
    expect((await store.remove('remote', ['c', 'nope'])).map((info) => info.key)).toEqual(['c'])
  })
})
