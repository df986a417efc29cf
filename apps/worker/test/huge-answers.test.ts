import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readAoi } from '@terrane/core'
import { RemoteFile, findRelease } from '@terrane/overture'
import { createGuardedFetch } from '@terrane/service'
import { RemoteStore, openStore } from '@terrane/storage'
import { startEndless, type EndlessServer } from '@terrane/testing/endless'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { Geocoder, RequestInterval } from '../src/places/geocoder.ts'
import { cachedDownload } from '../src/jobs/osm/cached-download.ts'
import { findExtract } from '../src/jobs/osm/geofabrik.ts'

/** Maximum bytes that one answer may transfer, with the buffers of the system. */
const MOST_BYTES = 64 * 1024 * 1024

let server: EndlessServer
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-huge-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))
beforeEach(async () => {
  server = await startEndless(({ headers, url }) => {
    if (url?.startsWith('/refused')) return { status: 403, headers: { 'content-type': 'application/xml' } }
    const isRange = headers.range !== undefined
    return isRange ? { status: 206, headers: { 'content-range': 'bytes 0-999/1000000000' } } : {}
  })
})
afterEach(() => server[Symbol.asyncDispose]())

const fetch = createGuardedFetch({ allowHosts: ['127.0.0.1'] })
const { signal } = new AbortController()
const square = { type: 'Polygon', coordinates: [[[9, 47], [9.1, 47], [9.1, 47.1], [9, 47]]] } // prettier-ignore
const cache = () => ({ fetch, folder, signal, maxBytes: 32 << 20, maxCacheBytes: 1 << 30, maxAgeMs: 0 })
const store = () => new RemoteStore({ url: `${server.url}/storage/v1`, serviceRoleKey: 'key', fetch })
const s3 = (bucket: string) =>
  openStore(`s3://${bucket}`, { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', AWS_ENDPOINT_URL: server.url })
const traffic = () => ({ requests: 0, bytes: 0 })

test.each([
  ['the storage of a tenant: an object’s facts', () => store().head('bucket', 'a.txt')],
  ['the storage of a tenant: a bucket', () => store().getBucket('bucket')],
  ['the storage of a tenant: an upload', () => store().put('bucket', 'a.txt', bytes())],
  ['the storage of a tenant: a deletion', () => store().remove('bucket', ['a.txt'])],
  ['an S3 service: a listing', () => s3('bucket').listBuckets()],
  ['an S3 service: a bucket', () => s3('bucket').getBucket('bucket')],
  ['an S3 service: an error', () => s3('refused').getBucket('bucket')],
  ['a geocoder', () => geocoder().find({ query: 'Vaduz', path: '/placeQuery', fetch, signal })],
  [
    'a list of extracts',
    () => findExtract(server.url, readAoi(square, { maxVertices: 100, maxAreaKm2: 1e6 }), folder, cache()),
  ],
  ['an extract', () => cachedDownload(`${server.url}/a.osm.pbf`, join(folder, 'a'), cache())],
  ['a catalogue', () => findRelease(fetch, `${server.url}/catalog.json`, undefined, signal)],
  [
    'a file that is read by ranges',
    () => RemoteFile.open({ fetch, traffic: traffic(), signal }, `${server.url}/a.parquet`, 1000),
  ],
])('%s that has no end costs 64 MB at most and one clear error', async (_, ask) => {
  const error = await ask().then(
    () => null,
    (thrown: unknown) => thrown as { code?: string; message: string },
  )
  expect(error?.code).toMatch(/^[A-Z_]+$/)
  expect(error?.code).not.toBe('INTERNAL')
  await server.quiet()
  expect(server.sent()).toBeLessThanOrEqual(MOST_BYTES)
})

const geocoder = () => new Geocoder({ url: `${server.url}/search`, cacheFolder: folder }, new RequestInterval(0))

async function* bytes(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('a')
}
