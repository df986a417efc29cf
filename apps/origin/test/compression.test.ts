import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openOrigin, type TestOrigin } from './harness.ts'

let origin: TestOrigin
beforeAll(async () => {
  origin = await openOrigin()
  await origin.db.database.query(`
    create table public.places (id int primary key, name text, geom geometry(Point, 4326));
    insert into public.places select n, 'a place that is called ' || n, st_setsrid(st_point(11 + n * 1e-4, 48 + n * 1e-4), 4326)
      from generate_series(1, 900) n;
    grant select on public.places to anon`)
})
afterAll(() => origin[Symbol.asyncDispose]())

const UNPACK = { br: brotliDecompressSync, gzip: gunzipSync }
const TILE = '/vector/v1/places/8/135/88'

/** The raw answer, which `fetch` would decompress. */
async function ask(path: string, headers: Record<string, string> = {}) {
  const request = get(`${origin.url}${path}`, { headers: { apikey: origin.keys.anon, ...headers } })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const bytes = await buffer(response)
  return { status: response.statusCode, headers: response.headers, trailers: response.trailers, bytes }
}

describe.each(['br', 'gzip'] as const)('%s is sent to clients that accept it, for', (encoding) => {
  test.each([
    '/rest/v1/places?select=id,name&order=id',
    '/rest/v1/?openapi=3.1',
    TILE,
    '/export/v1/places',
    '/export/v1/places?format=GeoJSONSeq',
    '/export/v1/places?format=CSV',
    '/export/v1/places?format=FlatGeobuf',
  ])('%s', async (path) => {
    const plain = await ask(path)
    expect([plain.status, plain.headers['content-encoding']]).toEqual([200, undefined])
    const packed = await ask(path, { 'accept-encoding': encoding })
    expect([packed.status, packed.headers['content-encoding']]).toEqual([200, encoding])
    expect(packed.headers['content-type']).toBe(plain.headers['content-type'])
    expect(packed.bytes.length).toBeLessThan(plain.bytes.length * 0.8)
    expect(UNPACK[encoding](packed.bytes).equals(plain.bytes)).toBe(true)
    for (const { headers } of [plain, packed]) expect(headers.vary?.toLowerCase()).toContain('accept-encoding')
  })

  test('a GeoPackage', async () => {
    const { headers, bytes } = await ask('/export/v1/places?format=GeoPackage', { 'accept-encoding': encoding })
    expect(headers['content-encoding']).toBe(encoding)
    expect(UNPACK[encoding](bytes).toString('latin1', 0, 15)).toBe('SQLite format 3')
  })
})

test.each([
  ['identity', undefined],
  ['gzip;q=0', undefined],
  ['deflate', undefined],
  ['gzip, br', 'br'],
  ['br;q=0.5, gzip', 'gzip'],
  ['*', 'br'],
  ['identity, gzip;q=0.5', undefined],
])('of "%s" the best that is offered is taken: %s', async (accept, encoding) => {
  const { headers } = await ask('/rest/v1/places', { 'accept-encoding': accept })
  expect(headers['content-encoding']).toBe(encoding)
})

test('short answers, parts, and what is compressed within are left as they are', async () => {
  const gzip = { 'accept-encoding': 'gzip' }
  expect((await ask('/rest/v1/places?limit=1', gzip)).headers['content-encoding']).toBeUndefined()
  expect((await ask('/rest/v1/places?id=eq.x', gzip)).headers['content-encoding']).toBeUndefined()
  const part = await ask('/rest/v1/places?limit=800', { ...gzip, prefer: 'count=exact' })
  expect([part.status, part.headers['content-encoding']]).toEqual([206, undefined])
  const parquet = await ask('/export/v1/places?format=GeoParquet', gzip)
  expect([parquet.bytes.toString('latin1', 0, 4), parquet.headers['content-encoding']]).toEqual(['PAR1', undefined])
})

test('a tile has a tag for each encoding, and is unchanged by its own alone', async () => {
  const tagOf = async (accept: string) => (await ask(TILE, { 'accept-encoding': accept })).headers.etag!
  const tags = { identity: await tagOf('identity'), br: await tagOf('br'), gzip: await tagOf('gzip') }
  expect(new Set(Object.values(tags)).size).toBe(3)
  for (const [accept, tag] of Object.entries(tags)) {
    for (const [other, held] of Object.entries(tags)) {
      const answer = await ask(TILE, { 'accept-encoding': accept, 'if-none-match': held })
      expect([accept, other, answer.status]).toEqual([accept, other, accept === other ? 304 : 200])
      expect(answer.headers.etag).toBe(tag)
      expect(answer.headers.vary?.toLowerCase()).toContain('accept-encoding')
    }
  }
})

test('warnings of an export arrive behind a compressed body, too', async () => {
  await origin.db.database.query(`create table public.two as select id, name, geom, geom as other from public.places;
    grant select on public.two to anon`)
  const { headers, trailers, bytes } = await ask('/export/v1/two', { 'accept-encoding': 'gzip' })
  expect(JSON.parse(gunzipSync(bytes).toString()).features).toHaveLength(900)
  // The embedded database sends a file, so the losses are known before the answer begins.
  expect(headers['x-export-warnings'] ?? trailers['x-export-warnings']).toBe('GEOMETRIES_AS_TEXT=1')
})
