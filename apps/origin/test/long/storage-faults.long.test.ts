// Waits: until the timeouts of a storage that does not answer.
import { textureImage, writeGeoTiff } from '@terrane/testing/geotiff'
import { shareOfRun } from '@terrane/testing/property'
import { awsAt, startFaultProxy, startFaux, type Fault, type FaultProxy } from '@terrane/testing/s3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openOrigin, type TestOrigin } from '../harness.ts'

/** An operation with a small answer has a timeout of 20 s; a part of an upload has three attempts of 10 s each. */
const LONGEST_MS = 45_000
const CONTENT = 'old '.repeat(30_000)
const TUS = { 'tus-resumable': '1.0.0' }

const AWAY = shareOfRun('origin: a storage that is away', ['503', 'reset', 'cut', 'stall', 'hang'] satisfies Fault[], 3)
const ONCE = shareOfRun('origin: one connection with a fault', ['503', 'reset', 'cut', 'drip'] satisfies Fault[], 2)

const opened = new AsyncDisposableStack()
let proxy: FaultProxy
let origin: TestOrigin
let raster: Uint8Array
beforeAll(async () => {
  const emulator = opened.use(await startFaux())
  proxy = opened.use(await startFaultProxy(emulator.port))
  origin = opened.use(await openOrigin({ TERRANE_STORAGE: 's3://bucket/p', ...awsAt(proxy.port) }))
  const image = textureImage({ width: 300, height: 300, bands: 3, seed: 7, noise: 8, type: 'uint8' })
  const georeference = { epsg: 32633, affine: [400_000, 10, 0, 5_500_000, 0, -10] as const }
  raster = await writeGeoTiff(image, { type: 'uint8', georeference })
})
afterAll(() => opened.disposeAsync())

interface Asked {
  readonly path: string
  readonly body?: object | string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

async function ask(route: string, { path, body, headers = {} }: Asked) {
  const isJson = body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array)
  const began = performance.now()
  const response = await fetch(`${origin.url}${path}`, {
    method: route.split(' ')[0]!,
    headers: {
      apikey: origin.keys.service,
      authorization: `Bearer ${origin.keys.service}`,
      ...(isJson && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: isJson ? JSON.stringify(body) : (body as string | Uint8Array<ArrayBuffer>) }),
  })
  const text = await response.text()
  return { status: response.status, text, ms: performance.now() - began, headers: response.headers }
}

const call = async (route: string, asked: Asked) => {
  const answer = await ask(route, asked)
  expect([answer.status, answer.text.slice(0, 200)], `${route} ${asked.path}`).toEqual([
    expect.toSatisfy((status: number) => status < 300),
    expect.anything(),
  ])
  return answer
}

const S = '/storage/v1'
const RASTER = (bucket: string) => `url=${encodeURIComponent(`storage://${bucket}/scene.tif`)}`

/** Address of a resumable upload whose last part is missing. */
async function begun(bucket: string): Promise<string> {
  const names = { bucketName: bucket, objectName: 'resumed' }
  const metadata = Object.entries(names).map(([name, value]) => `${name} ${Buffer.from(value).toString('base64')}`)
  const headers = { ...TUS, 'upload-length': '5', 'upload-metadata': metadata.join(',') }
  const { headers: answered } = await call(`POST`, { path: `${S}/upload/resumable`, headers })
  return new URL(answered.get('location')!, origin.url).pathname
}

/** A request for every route that uses the storage; each with its own bucket, which has some objects. */
const ROUTES: Readonly<Record<string, (bucket: string) => Asked | Promise<Asked>>> = {
  'GET /health/ready': () => ({ path: '/health/ready' }),
  'GET /storage/v1/bucket': () => ({ path: `${S}/bucket` }),
  'GET /storage/v1/bucket/:id': (b) => ({ path: `${S}/bucket/${b}` }),
  'POST /storage/v1/bucket': (b) => ({ path: `${S}/bucket`, body: { id: `${b}-new`, name: 'x' } }),
  'PUT /storage/v1/bucket/:id': (b) => ({ path: `${S}/bucket/${b}`, body: { public: true } }),
  'POST /storage/v1/bucket/:id/empty': (b) => ({ path: `${S}/bucket/${b}/empty` }),
  'DELETE /storage/v1/bucket/:id': (b) => ({ path: `${S}/bucket/${b}-empty` }),
  'POST /storage/v1/object/list/:bucket': (b) => ({ path: `${S}/object/list/${b}`, body: { prefix: '' } }),
  'POST /storage/v1/object/list-v2/:bucket': (b) => ({ path: `${S}/object/list-v2/${b}`, body: { prefix: '' } }),
  'POST /storage/v1/object/sign/:bucket/*': (b) => ({ path: `${S}/object/sign/${b}/old`, body: { expiresIn: 60 } }),
  'POST /storage/v1/object/sign/:bucket': (b) => {
    return { path: `${S}/object/sign/${b}`, body: { expiresIn: 60, paths: ['old'] } }
  },
  'GET /storage/v1/object/sign/:bucket/*': async (b) => {
    const { text } = await call('POST', { path: `${S}/object/sign/${b}/old`, body: { expiresIn: 600 } })
    return { path: `${S}${(JSON.parse(text) as { signedURL: string }).signedURL}` }
  },
  'PUT /storage/v1/object/upload/sign/:bucket/*': async (b) => {
    const { text } = await call('POST', { path: `${S}/object/upload/sign/${b}/signed` })
    return { path: `${S}${(JSON.parse(text) as { url: string }).url}`, body: 'new' }
  },
  'POST /storage/v1/object/move': (b) => {
    return { path: `${S}/object/move`, body: { bucketId: b, sourceKey: 'moved', destinationKey: 'there' } }
  },
  'POST /storage/v1/object/copy': (b) => {
    return { path: `${S}/object/copy`, body: { bucketId: b, sourceKey: 'old', destinationKey: 'copied' } }
  },
  'DELETE /storage/v1/object/:bucket': (b) => ({ path: `${S}/object/${b}`, body: { prefixes: ['gone'] } }),
  'DELETE /storage/v1/object/:bucket/*': (b) => ({ path: `${S}/object/${b}/gone` }),
  'GET /storage/v1/object/info/:bucket/*': (b) => ({ path: `${S}/object/info/${b}/old` }),
  'GET /storage/v1/object/info/authenticated/:bucket/*': (b) => ({ path: `${S}/object/info/authenticated/${b}/old` }),
  'GET /storage/v1/object/info/public/:bucket/*': (b) => ({ path: `${S}/object/info/public/${b}/old` }),
  'GET /storage/v1/object/public/:bucket/*': (b) => ({ path: `${S}/object/public/${b}/old` }),
  'GET /storage/v1/object/authenticated/:bucket/*': (b) => ({ path: `${S}/object/authenticated/${b}/old` }),
  'GET /storage/v1/object/:bucket/*': (b) => ({ path: `${S}/object/${b}/old`, headers: { range: 'bytes=5-90' } }),
  'POST /storage/v1/object/:bucket/*': (b) => ({ path: `${S}/object/${b}/new`, body: CONTENT }),
  'PUT /storage/v1/object/:bucket/*': (b) => ({ path: `${S}/object/${b}/replaced`, body: 'new' }),
  'POST /storage/v1/upload/resumable': (b) => {
    const metadata = `bucketName ${Buffer.from(b).toString('base64')},objectName ${Buffer.from('x').toString('base64')}`
    return { path: `${S}/upload/resumable`, headers: { ...TUS, 'upload-length': '5', 'upload-metadata': metadata } }
  },
  'DELETE /storage/v1/upload/resumable/:id': async (b) => ({ path: await begun(b), headers: TUS }),
  'PATCH /storage/v1/upload/resumable/:id': async (b) => {
    const headers = { ...TUS, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' }
    return { path: await begun(b), headers, body: 'whole' }
  },
  'GET /raster/v1/info': (b) => ({ path: `/raster/v1/info?${RASTER(b)}` }),
  'GET /raster/v1/preview.:format': (b) => ({ path: `/raster/v1/preview.png?${RASTER(b)}` }),
}

/** Makes a bucket with the objects that the routes need. */
async function fill(bucket: string): Promise<void> {
  for (const id of [bucket, `${bucket}-empty`]) {
    await call('POST', { path: `${S}/bucket`, body: { id, name: id, public: true } })
  }
  for (const key of ['old', 'moved', 'gone', 'replaced']) {
    await call('POST', { path: `${S}/object/${bucket}/${key}`, body: CONTENT })
  }
  await call('POST', {
    path: `${S}/object/${bucket}/scene.tif`,
    body: raster,
    headers: { 'content-type': 'image/tiff' },
  })
}

/** Calls all routes concurrently while the fault is active, each with its own bucket. */
async function askAll(prefix: string, harm: () => void) {
  const asked = await Promise.all(
    Object.entries(ROUTES).map(async ([route, requestOf], i) => {
      const bucket = `${prefix}-${i}`
      await fill(bucket)
      return { route, bucket, request: await requestOf(bucket) }
    }),
  )
  harm()
  const answers = await Promise.all(asked.map(async (one) => ({ ...one, answer: await ask(one.route, one.request) })))
  proxy.heal()
  return answers
}

test('the table has every route that asks the storage', () => {
  const asks = /^(GET|POST|PUT|PATCH|DELETE) \/storage\/v1\//
  // Signing a URL needs only the key.
  const without = new Set(['POST /storage/v1/object/upload/sign/:bucket/*'])
  const routes = origin.routes.map(({ method, url }) => `${method} ${url}`)
  expect(routes.length).toBeGreaterThan(Object.keys(ROUTES).length)
  expect(Object.keys(ROUTES).filter((route) => !routes.includes(route))).toEqual([])
  const asking = routes.filter((route) => asks.test(route) && !without.has(route))
  expect(asking.filter((route) => !(route in ROUTES))).toEqual([])
})

describe('while the storage is away', () => {
  test.each(AWAY)(
    'every route says so in its time, does nothing by halves, and works when it is back: %s',
    async (fault) => {
      const answers = await askAll(fault.replace(' ', '-'), () => proxy.fail(fault))
      // Routes without storage work, so the origin is ready, and reports the storage as missing.
      const ready = answers.find(({ route }) => route === 'GET /health/ready')!.answer
      expect([ready.status, JSON.parse(ready.text)]).toMatchObject([200, { status: 'degraded' }])
      const asking = answers.filter(({ answer }) => answer !== ready)
      const wrong = asking.filter(({ answer }) => answer.status !== 503 || answer.ms > LONGEST_MS)
      expect(wrong.map(({ route, answer }) => [route, answer.status, answer.ms, answer.text])).toEqual([])
      for (const { route, bucket, request } of answers) {
        for (const key of ['old', 'replaced']) {
          expect((await call('GET', { path: `${S}/object/${bucket}/${key}` })).text, route).toBe(CONTENT)
        }
        if (route.startsWith('PATCH')) continue
        // A request whose answer was lost may have been executed.
        const { status, text } = await ask(route, request)
        expect([status < 300 || status === 409 || status === 404, text.slice(0, 300)], route).toEqual([
          true,
          expect.anything(),
        ])
      }
    },
  )
})

test.each(ONCE)('one connection with a fault harms no request: %s', async (fault) => {
  for (let times = 1; times <= 3; times++) {
    const answers = await askAll(`once-${fault}-${times}`, () => proxy.fail(fault, times))
    const wrong = answers.filter(({ answer }) => answer.status >= 300)
    expect(wrong.map(({ route, answer }) => [route, answer.status, answer.text])).toEqual([])
  }
})

test('a resumable upload whose part met a storage that was away is told so, and goes on from what was kept', async () => {
  await fill('again')
  const path = await begun('again')
  const headers = { ...TUS, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' }
  proxy.fail('503')
  expect((await ask('PATCH', { path, headers, body: 'whole' })).status).toBe(503)
  expect((await ask('HEAD', { path, headers: TUS })).status).toBe(503)
  proxy.heal()
  const told = await ask('HEAD', { path, headers: TUS })
  expect([told.status, told.headers.get('upload-offset')]).toEqual([200, '0'])
  expect((await ask('PATCH', { path, headers, body: 'whole' })).status).toBe(204)
  expect((await call('GET', { path: `${S}/object/again/resumed` })).text).toBe('whole')
})
