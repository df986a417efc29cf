import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { imageOf, textureImage, writeGeoTiff } from '@terrane/testing/geotiff'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openOrigin, type TestOrigin } from './harness.ts'

let origin: TestOrigin
let folder: string
const TILE = { z: 15, x: 17_467, y: 11_371 }

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-raster-'))
  origin = await openOrigin({ TERRANE_DATA_ROOTS: folder, TERRANE_TILE_THREADS: '1' })
  const image = textureImage({ width: 700, height: 600, bands: 3, seed: 5, type: 'uint8', noise: 4 })
  const affine = [693_000, 2, 0, 5_336_000, 0, -2] as const
  const bandItems = [{ band: 0, role: 'description', value: 'Red &amp;amp; near infrared' }] as const
  const tif = await writeGeoTiff(image, {
    type: 'uint8',
    color: 'rgb',
    georeference: { affine, epsg: 32632 },
    bandItems,
  })
  const { storage } = origin.client(origin.keys.service)
  await storage.createBucket('imagery', { public: true })
  await storage.createBucket('secret', { public: false })
  for (const bucket of ['imagery', 'secret']) await storage.from(bucket).upload('a/scene.tif', tif)
  await storage.from('imagery').upload('notes.txt', Buffer.from('no picture'))
  await writeFile(join(folder, 'local.tif'), tif)
  for (const [table, source] of [
    ['near', 'local.tif'],
    ['stored', 'imagery/a/scene.tif'],
    ['hidden', 'secret/a/scene.tif'],
    ['gone', 'nowhere.tif'],
  ]) {
    await origin.db.database.query(
      `with entry as (
         insert into geoembeddings.embeddings_catalogue (table_name, model_name, dims, rows) values ($1, 'm', 3, 0) returning table_name
       ) insert into geoembeddings.embedding_origins (table_name, source) select table_name, $2 from entry`,
      [table, source],
    )
  }
})
afterAll(async () => {
  await origin[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const ask = (path: string, key: string | null = null, headers: Record<string, string> = {}) =>
  fetch(`${origin.url}/raster/v1${path}`, { headers: { ...(key !== null && { apikey: key }), ...headers } })
const tile = (url: string, more = '', key: string | null = null) =>
  ask(`/tiles/WebMercatorQuad/${TILE.z}/${TILE.x}/${TILE.y}.png?url=${encodeURIComponent(url)}${more}`, key)
const codeOf = async (response: Response) => [response.status, ((await response.json()) as { code?: string }).code]

describe('pictures of a stored GeoTIFF', () => {
  test('one that is asked for with a parameter twice is refused, and is not given to who asks next', async () => {
    const url = '?url=storage://imagery/a/scene.tif&bidx=1&max_size=64'
    const both = await ask(`/preview.png${url}&colormap_name=viridis&colormap_name=magma`)
    expect(await codeOf(both)).toEqual([400, 'PARAMETER_REPEATED'])
    for (const twice of ['max_size=32', 'url=storage://imagery/none.tif'])
      expect(await codeOf(await ask(`/preview.png${url}&${twice}`))).toEqual([400, 'PARAMETER_REPEATED'])
    const magma = await ask(`/preview.png${url}&colormap_name=magma`)
    const viridis = await ask(`/preview.png${url}&colormap_name=viridis`)
    expect([magma.status, viridis.status]).toEqual([200, 200])
    expect(magma.headers.get('etag')).not.toBe(viridis.headers.get('etag'))
    expect((await magma.bytes()).toString()).not.toBe((await viridis.bytes()).toString())
    // The ETag depends on the drawn picture, not on the order and spelling of parameters.
    const again = await ask('/preview.png?colormap_name=MAGMA&max_size=64&bidx=1&url=storage://imagery/a/scene.tif&x=1')
    expect(again.headers.get('etag')).toBe(magma.headers.get('etag'))
    const styles = ['nodata=nan', 'nodata=0', 'rescale=0,9', 'colormap={"1":"%23ff0000"}', 'colormap={"1":"%2300ff00"}']
    const tags = await Promise.all(
      styles.map(async (style) => (await ask(`/preview.png${url}&${style}`)).headers.get('etag')),
    )
    expect(new Set(tags).size).toBe(styles.length)
  })
  test('TileJSON names tiles that are there, within the bounds', async () => {
    const json = (await (
      await ask('/WebMercatorQuad/tilejson.json?url=storage://imagery/a/scene.tif&tile_format=webp')
    ).json()) as {
      tilejson: string
      tiles: string[]
      minzoom: number
      maxzoom: number
      bounds: number[]
      center: number[]
    }
    expect(json.tilejson).toBe('3.0.0')
    expect(json.maxzoom).toBe(16)
    const [lng = 0, lat = 0] = json.center
    const n = 2 ** json.maxzoom
    const x = Math.floor(((lng + 180) / 360) * n)
    const y = Math.floor((0.5 - Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) / (2 * Math.PI)) * n)
    const url =
      json.tiles[0]?.replace('{z}', String(json.maxzoom)).replace('{x}', String(x)).replace('{y}', String(y)) ?? ''
    const answer = await fetch(url)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/webp'])
    const far = await ask('/tiles/WebMercatorQuad/15/0/0?url=storage://imagery/a/scene.tif')
    expect(await codeOf(far)).toEqual([404, 'TILE_OUTSIDE'])
  })

  test('an ETag that the client has is answered without a picture, and changes with the style', async () => {
    const path = `/preview.png?url=storage://imagery/a/scene.tif&max_size=64`
    const first = await ask(path)
    const etag = first.headers.get('etag') ?? ''
    expect(first.status).toBe(200)
    expect((await ask(path, null, { 'if-none-match': etag })).status).toBe(304)
    const other = await ask(`${path}&bidx=2`, null, { 'if-none-match': etag })
    expect([other.status, other.headers.get('etag') === etag]).toEqual([200, false])
  })

  test('info tells size, bands, CRS and what is shown', async () => {
    const info = await (await ask('/info?url=storage://imagery/a/scene.tif')).json()
    expect(info).toMatchObject({
      width: 700,
      height: 600,
      count: 3,
      dtype: 'uint8',
      driver: 'GTiff',
      band_descriptions: [
        ['b1', 'Red & near infrared'],
        ['b2', 'b2'],
        ['b3', 'b3'],
      ],
      crs: 'http://www.opengis.net/def/crs/EPSG/0/32632',
      bounds: [693_000, 5_334_800, 694_400, 5_336_000],
      shown: {
        bidx: [1, 2, 3],
        rescale: [
          [0, 255],
          [0, 255],
          [0, 255],
        ],
      },
    })
    const feature = (await (await ask('/info.geojson?url=storage://imagery/a/scene.tif')).json()) as {
      geometry: { type: string }
    }
    expect(feature.geometry.type).toBe('Polygon')
  })

  test('info warns of a datum without a published shift', async () => {
    const image = imageOf({ width: 16, height: 16, bands: 1 }, (x, y) => x + y)
    const georeference = { epsg: 25_231, affine: [156_130, 10, 0, 1_233_190, 0, -10] } as const
    const { storage } = origin.client(origin.keys.service)
    await storage
      .from('imagery')
      .upload('togo.tif', Buffer.from(await writeGeoTiff(image, { type: 'uint8', georeference })))
    const info = await (await ask('/info?url=storage://imagery/togo.tif')).json()
    expect(info).toMatchObject({ warnings: [{ code: 'DATUM_NOT_SHIFTED' }] })
    expect(await (await ask('/info?url=storage://imagery/a/scene.tif')).json()).not.toHaveProperty('warnings')
  })

  test('a tile has twice the pixels on request, and no transparency where it is not wanted', async () => {
    const url = 'url=storage://imagery/a/scene.tif'
    const about = (await (await ask(`/WebMercatorQuad/tilejson.json?${url}`)).json()) as { center: [number, number] }
    const [lng, lat] = about.center
    const n = 2 ** 15
    const down = 0.5 - Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) / (2 * Math.PI)
    const at = `/tiles/WebMercatorQuad/15/${Math.floor(((lng + 180) / 360) * n)}/${Math.floor(down * n)}`
    /** Width and colour type of a PNG. */
    const headOf = async (path: string) => {
      const response = await ask(path)
      const bytes = Buffer.from(await response.arrayBuffer())
      return [response.status, bytes.readUInt32BE(16), bytes[25]]
    }
    expect(await headOf(`${at}.png?${url}`)).toEqual([200, 256, 6])
    expect(await headOf(`${at}@2x.png?${url}`)).toEqual([200, 512, 6])
    expect(await headOf(`${at}@2x.png?${url}&return_mask=false`)).toEqual([200, 512, 2])
    expect(await headOf(`/preview.png?${url}&max_size=64&return_mask=true`)).toEqual([200, 64, 6])
    expect(await codeOf(await ask(`${at}.png?${url}&return_mask=perhaps`))).toEqual([400, 'BAD_PARAMETER'])
    expect(await codeOf(await ask(`${at}@9x.png?${url}`))).toEqual([400, 'BAD_PARAMETER'])
    const json = (await (await ask(`/WebMercatorQuad/tilejson.json?${url}&tile_scale=2`)).json()) as { tiles: string[] }
    expect(json.tiles[0]).toContain('/{z}/{x}/{y}@2x?')
  })

  test('what cannot be read, shown or is not offered is refused by name', async () => {
    const at = '/preview?url=storage://imagery/a/scene.tif'
    expect(await codeOf(await ask(`${at}&bidx=9`))).toEqual([422, 'BAND_OUT_OF_RANGE'])
    expect(await codeOf(await ask(`${at}&bidx=1&bidx=2`))).toEqual([422, 'BANDS_NOT_SHOWN'])
    expect(await codeOf(await ask(`${at}&rescale=9,3`))).toEqual([400, 'BAD_PARAMETER'])
    expect(await codeOf(await ask(`${at}&colormap_name=mauve`))).toEqual([422, 'UNKNOWN_COLORMAP'])
    expect(await codeOf(await ask(`${at}&crs=epsg:32632`))).toEqual([501, 'PARAMETER_NOT_OFFERED'])
    expect(await codeOf(await ask(`${at}&max_size=100000`))).toEqual([400, 'BAD_PARAMETER'])
    expect(await codeOf(await ask('/preview?url=storage://imagery/notes.txt'))).toEqual([415, 'NOT_A_GEOTIFF'])
    expect(await codeOf(await ask('/preview?url=storage://imagery/none.tif'))).toEqual([404, 'RASTER_NOT_FOUND'])
    expect(await codeOf(await ask('/preview?url=https://example.org/a.tif'))).toEqual([401, 'UNAUTHORIZED'])
    expect(await codeOf(await ask('/preview?url=storage://imagery/../secret/a/scene.tif'))).toEqual([
      422,
      'INVALID_KEY',
    ])
  })
})

describe('whose pictures', () => {
  test('a private bucket is of the service role alone', async () => {
    const url = 'storage://secret/a/scene.tif'
    expect((await tile(url)).status).toBe(401)
    expect(await codeOf(await tile(url, '', origin.keys.anon))).toEqual([404, 'RASTER_NOT_FOUND'])
    expect((await ask(`/preview?url=${url}`, origin.keys.service)).status).toBe(200)
  })

  test('the source of an embeddings table follows its bucket, or is shown to the service role', async () => {
    const status = async (table: string, key: string | null) =>
      (await ask(`/preview?url=embeddings://${table}`, key)).status
    const { anon, service } = origin.keys
    expect([await status('stored', null), await status('stored', anon)]).toEqual([401, 200])
    expect([await status('near', anon), await status('near', service)]).toEqual([403, 200])
    expect([await status('hidden', anon), await status('hidden', service)]).toEqual([404, 200])
    expect([await status('gone', service), await status('unheard', service)]).toEqual([404, 404])
  })

  test('a table of many rasters shows each by its number, and says which there are', async () => {
    await origin.db.database.query(
      `insert into geoembeddings.embeddings_catalogue (table_name, model_name, dims, rows, source) values ('many', 'm', 3, 0, '3 sources');
       insert into geoembeddings.embedding_sources (table_name, source, name, datetime, bbox, status) values
         ('many', 0, 'imagery/a/scene.tif', '2024-05-01T23:30:00Z', array[11.5, 48, 11.8, 48.3], 'done'),
         ('many', 1, 'nested/local.tif', null, array[11.5, 48, 11.8, 48.3], 'done'),
         ('many', 2, 'secret/a/scene.tif', null, array[11.5, 48, 11.8, 48.3], 'done'), ('many', 3, 'lost.tif', null, null, 'failed')`,
    )
    await mkdir(join(folder, 'nested'))
    await copyFile(join(folder, 'local.tif'), join(folder, 'nested', 'local.tif'))
    const status = async (number: number, key: string) =>
      (await ask(`/preview?url=embeddings://many/${number}`, key)).status
    const { anon, service } = origin.keys
    expect([await status(0, anon), await status(1, anon), await status(2, anon)]).toEqual([200, 404, 404])
    expect([await status(0, service), await status(1, service), await status(2, service)]).toEqual([200, 200, 200])
    expect([await status(3, service), await status(9, service)]).toEqual([404, 404])
    // Together the sources are a mosaic, and anon may not read all of them.
    expect(await codeOf(await ask('/preview?url=embeddings://many', anon))).toEqual([404, 'SOURCE_NOT_FOUND'])
    expect((await ask('/preview?url=embeddings://many', service)).status).toBe(200)
    expect((await ask('/preview?url=embeddings://many&sources=0', anon)).status).toBe(200)
  })
})
