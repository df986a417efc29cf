import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { decodePicture, imageOf, writeGeoTiff, type FixtureType } from '@terrane/testing/geotiff'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openOrigin, type TestOrigin } from './harness.ts'

/** An address outside of this machine's network, which a guard refuses before any connection. */
const PRIVATE = 'http://169.254.169.254'
const SIDE = 64
const AFFINE = [693_000, 10, 0, 5_336_000, 0, -10] as const

let origin: TestOrigin
let away: string
let picture: Uint8Array

const flat = (value: number, type: FixtureType = 'uint8', names?: readonly string[]) =>
  writeGeoTiff(
    imageOf({ width: SIDE, height: SIDE, bands: 3 }, () => value),
    {
      type,
      georeference: { affine: AFFINE, epsg: 32632 },
      ...(names && { bandItems: names.map((name, band) => ({ band, role: 'description', value: name })) }),
    },
  )
const item = (href: string) =>
  JSON.stringify({
    type: 'Feature',
    id: 'x',
    properties: { datetime: '2025-05-01T10:00:00Z' },
    links: [],
    assets: { red: { href, type: 'image/tiff; application=geotiff' } },
  })

const server = createServer((request: IncomingMessage, response: ServerResponse) => {
  const { pathname } = new URL(request.url ?? '', 'http://x')
  const redirect = (to: string) => response.writeHead(302, { location: to }).end()
  const [, from, to] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? []
  const partOf = (bytes: Uint8Array, size: number | bigint) =>
    response
      .writeHead(206, { 'content-range': `bytes ${from}-${to}/${size}`, etag: '"1"' })
      .end(bytes.subarray(Number(from), Number(to) + 1))
  const answers: Readonly<Record<string, () => unknown>> = {
    '/red.tif': () => partOf(picture, picture.length),
    '/hop.tif': () => redirect('/red.tif'),
    '/leaves.tif': () => redirect(`${PRIVATE}/red.tif`),
    '/leaves.json': () => redirect(`${PRIVATE}/item.json`),
    '/item.json': () => response.end(item('hop.tif')),
    '/inward.json': () => response.end(item(`${PRIVATE}/red.tif`)),
    '/asset-leaves.json': () => response.end(item('leaves.tif')),
    '/ignores-ranges.tif': () => response.end(picture),
    '/claims.tif': () => partOf(picture, 9_007_199_254_740_991n),
    '/endless.json': () => {
      const more = (): void => {
        while (!response.destroyed && response.write(' '.repeat(65_536)));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    },
  }
  if (answers[pathname]) answers[pathname]()
  else response.writeHead(404).end()
})

beforeAll(async () => {
  picture = await flat(90)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  away = `http://${host}`
  origin = await openOrigin({ TERRANE_TILE_THREADS: '1', TERRANE_FETCH_ALLOW_HOSTS: host })
  const { storage } = origin.client(origin.keys.service)
  await storage.createBucket('imagery', { public: true })
  await storage.createBucket('secret', { public: false })
  const put = async (path: string, bytes: Uint8Array | string, bucket = 'imagery') => {
    const { error } = await storage.from(bucket).upload(path, Buffer.from(bytes))
    expect(error).toBeNull()
  }
  await put('items/a.tif', picture)
  await put('b.tif', await flat(30))
  for (const name of ['c.tif', 'd.tif']) await put(name, picture)
  await put('float.tif', await flat(0.5, 'float32'))
  await put('rgb.tif', await flat(50, 'uint8', ['red', 'green', 'blue']))
  await put('bgr.tif', await flat(60, 'uint8', ['blue', 'green', 'red']))
  await put('c.tif', picture, 'secret')
  await put('outward.json', item(`${away}/red.tif`))
  await put('secret.json', item('../secret/c.tif'))
  const { database } = origin.db
  const tables = ['open', 'nowhere', 'types', 'orders', 'baselines', 'hidden']
  for (const table of tables) {
    await database.query(
      `insert into geoembeddings.embeddings_catalogue (table_name, model_name, dims, rows, source, is_public, owner) values ($1, 'm', 3, 0, '2', $2, $3)`,
      [table, table !== 'hidden', table === 'hidden' ? '99999999-9999-4999-8999-999999999999' : null],
    )
  }
  const near = [11.5, 48.1, 11.7, 48.2]
  const sources: (readonly [string, number, string, readonly number[] | null, string?])[] = [
    ['nowhere', 0, 'imagery/items/a.tif', null],
    ['nowhere', 1, 'imagery/b.tif', null],
    ['types', 0, 'imagery/b.tif', near],
    ['types', 1, 'imagery/float.tif', near],
    ['orders', 0, 'imagery/rgb.tif', near],
    ['orders', 1, 'imagery/bgr.tif', near],
    ['baselines', 0, 'imagery/items/a.tif', near, 'sentinel-2-l2a'],
    ['baselines', 1, 'imagery/b.tif', near, 'sentinel-2-l2a-offset'],
    ['baselines', 2, 'imagery/c.tif', near, 'sentinel-2-l1c'],
    ['baselines', 3, 'imagery/d.tif', near],
    ['hidden', 0, 'imagery/b.tif', near],
    ['open', 0, 'secret/c.tif', near],
    ['open', 1, 'imagery/b.tif', near],
  ]
  for (const source of sources) {
    await origin.db.database.query(
      `insert into geoembeddings.embedding_sources (table_name, source, name, bbox, profile, status) values ($1, $2, $3, $4, $5, 'done')`,
      [...source, null].slice(0, 5),
    )
  }
})
afterAll(async () => {
  await origin[Symbol.asyncDispose]()
  server.closeAllConnections()
  server.close()
})

const ask = (path: string, key: string | null = null, body?: string) =>
  fetch(`${origin.url}/raster/v1${path}`, {
    headers: {
      ...(key !== null && { apikey: key }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { method: 'POST', body }),
  })
const codeOf = async (response: Response) => {
  const text = await response.text()
  return [response.status, text.startsWith('{') ? (JSON.parse(text) as { code?: string }).code : null]
}

describe('a source at an address', () => {
  const answerTo = (path: string, key: string | null = origin.keys.service) => ask(`/info?url=${away}${path}`, key)

  test('is read for the service role, through a redirect too, itself and what an item names', async () => {
    expect((await answerTo('/hop.tif')).status).toBe(200)
    expect((await answerTo('/item.json')).status).toBe(200)
    for (const path of ['/red.tif', '/item.json']) {
      expect(await codeOf(await answerTo(path, null))).toEqual([401, 'UNAUTHORIZED'])
      expect(await codeOf(await answerTo(path, origin.keys.anon))).toEqual([403, 'FORBIDDEN'])
      expect(await codeOf(await answerTo(path, origin.keys.user))).toEqual([403, 'FORBIDDEN'])
    }
  })

  test.each(['/leaves.tif', '/leaves.json', '/inward.json', '/asset-leaves.json'])(
    'leads to no private address: %s',
    async (path) => {
      expect(await codeOf(await answerTo(path))).toEqual([422, 'URL_REFUSED'])
    },
  )

  test('may not answer for ever, nor without ranges, nor claim what it has not', async () => {
    expect(await codeOf(await answerTo('/endless.json'))).toEqual([413, 'DOWNLOAD_TOO_LARGE'])
    expect((await answerTo('/ignores-ranges.tif')).status).toBeGreaterThanOrEqual(400)
    expect((await answerTo('/claims.tif')).status).toBeLessThan(500)
  })
})

describe('an item or a table', () => {
  test('opens nothing that its reader may not: addresses, private buckets, private tables', async () => {
    const { anon, user, service } = origin.keys
    const outward = '/preview?url=storage://imagery/outward.json&assets=red'
    expect((await ask(outward, service)).status).toBe(200)
    // Pictures drawn for the service role are not served to others.
    expect(await codeOf(await ask(outward, anon))).toEqual([403, 'FORBIDDEN'])
    expect(await codeOf(await ask(outward))).toEqual([401, 'UNAUTHORIZED'])
    expect(await codeOf(await ask('/preview?url=storage://imagery/secret.json&assets=red', service))).toEqual([
      404,
      'SCENE_FILE_NOT_FOUND',
    ])
    expect((await ask('/preview?url=embeddings://hidden', service)).status).toBe(200)
    for (const key of [anon, user]) {
      expect(await codeOf(await ask('/preview?url=embeddings://hidden', key))).toEqual([404, 'RASTER_NOT_FOUND'])
      expect(await codeOf(await ask('/preview?url=embeddings://open', key))).toEqual([404, 'SOURCE_NOT_FOUND'])
      expect((await ask('/preview?url=embeddings://open&sources=1', key)).status).toBe(200)
    }
    const drawn = await ask('/preview?url=embeddings://open&order=number', service)
    expect([drawn.status, drawn.headers.get('cache-control')]).toEqual([200, 'private, no-cache'])
  })

  test('whose sources have no place is looked for by its files', async () => {
    const url = 'url=embeddings://nowhere&order=number&rescale=0,255'
    const response = await ask(`/preview/8x8.png?${url}`, origin.keys.anon)
    expect(response.status).toBe(200)
    const pixels = await decodePicture(Buffer.from(await response.arrayBuffer()))
    expect([...pixels.subarray(4 * 36, 4 * 37)]).toEqual([90, 90, 90, 255])
    const { bounds } = (await (await ask(`/WebMercatorQuad/tilejson.json?${url}`, origin.keys.anon)).json()) as {
      bounds: number[]
    }
    expect(bounds[2]! - bounds[0]!).toBeLessThan(0.1)
  })

  test('of different types, or of bands in another order, is refused', async () => {
    for (const table of ['types', 'orders']) {
      const path = `/preview?url=embeddings://${table}&pixel_selection=mean`
      expect(await codeOf(await ask(path, origin.keys.anon)), table).toEqual([422, 'MOSAIC_MIXED'])
    }
  })

  test('whose profiles read the same number otherwise is refused, where both are known', async () => {
    const path = '/preview?url=embeddings://baselines&pixel_selection=mean&sources='
    expect(await codeOf(await ask(`${path}0,1`, origin.keys.anon))).toEqual([422, 'MOSAIC_MIXED'])
    for (const alike of ['0,2', '0,3', '1,3']) {
      expect((await ask(`${path}${alike}`, origin.keys.anon)).status, alike).toBe(200)
    }
  })
})

describe('what is too much is refused before it is drawn', () => {
  const file = 'url=storage://imagery/items/a.tif'

  test('expressions', async () => {
    const texts = [
      `${'('.repeat(450)}b1${')'.repeat(450)}`,
      `${'-'.repeat(900)}b1`,
      'b1**'.repeat(200) + 'b1',
      Array.from({ length: 17 }, () => 'b1').join(';'),
      `${'('.repeat(5000)}b1`,
    ]
    for (const text of texts) {
      expect(
        await codeOf(await ask(`/preview?${file}&expression=${encodeURIComponent(text)}`)),
        text.slice(0, 20),
      ).toEqual([422, 'EXPRESSION_UNREADABLE'])
    }
    expect((await ask(`/preview?${file}&expression=${'('.repeat(10_000)}`)).status).toBeGreaterThanOrEqual(400)
  })

  test.each([
    'width=1000000000&height=1000000000',
    'width=1e9&height=1e9',
    'max_size=100000',
    'padding=1000000000',
    'return_mask=maybe',
    'histogram_bins=1000000000',
    'nodata=x',
    'algorithm=hillshade&algorithm_params=[1]',
    'algorithm_params={}',
    'sources=-1',
    'bidx=99999999',
  ])('%s', async (query) => {
    for (const path of ['/preview.tif', '/statistics']) {
      const isOther = path === '/statistics' ? /padding|return_mask/ : /histogram_bins/
      if (isOther.test(query)) continue
      expect(await codeOf(await ask(`${path}?${file}&${query}`)), path).toEqual([400, 'BAD_PARAMETER'])
    }
  })

  test('parameters that are given twice, and files of any size', async () => {
    for (const name of ['url', 'expression', 'algorithm', 'order', 'nodata', 'width', 'color_formula', 'sources']) {
      const query = `${name}=1&${name}=2`
      expect((await ask(`/preview?${file}&${query}`)).status, name).toBe(400)
    }
    expect(await codeOf(await ask(`/bbox/11,48,12,49.png?${file}&dst_crs=epsg:999999`))).toEqual([
      422,
      'UNSUPPORTED_CRS',
    ])
    expect(await codeOf(await ask(`/preview/100000x100000.tif?${file}`))).toEqual([400, 'BAD_PARAMETER'])
    expect(await codeOf(await ask(`/tiles/WebMercatorQuad/0/0/0.npy?${file}&tilesize=4096`))).toEqual([
      400,
      'BAD_PARAMETER',
    ])
    const parts = Array.from({ length: 16 }, (_, i) => `b1*${i}`).join(';')
    const size = 'width=2048&height=2048'
    expect(await codeOf(await ask(`/preview.npy?${file}&${size}&expression=${encodeURIComponent(parts)}`))).toEqual([
      413,
      'PICTURE_TOO_LARGE',
    ])
  })

  test('areas of too many vertices', async () => {
    const ring = (vertices: number) => {
      const around = Array.from({ length: vertices }, (_, i) => {
        const angle = (i / vertices) * 2 * Math.PI
        return [11.61 + 0.001 * Math.cos(angle), 48.14 + 0.001 * Math.sin(angle)]
      })
      return [...around, around[0]!]
    }
    const feature = (vertices: number) =>
      JSON.stringify({ type: 'Feature', properties: {}, geometry: { type: 'Polygon', coordinates: [ring(vertices)] } })
    expect(await codeOf(await ask(`/feature?${file}`, null, feature(60_000)))).toEqual([422, 'BAD_FEATURE'])
    expect((await ask(`/statistics?${file}`, null, feature(200_000))).status).toBe(413)
    const nested = `{"type":"Feature","geometry":{"type":"Polygon","coordinates":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`
    expect(await codeOf(await ask(`/feature?${file}`, null, nested))).toEqual([400, 'BODY_TOO_DEEP'])
  })
})
