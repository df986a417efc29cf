import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodePicture, imageOf, writeGeoTiff, type ImageSource } from '@terrane/testing/geotiff'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openOrigin, type TestOrigin } from './harness.ts'

let origin: TestOrigin
let folder: string
const SIDE = 256
const AFFINE = [693_000, 10, 0, 5_336_000, 0, -10] as const

const flat = (value: number, width = SIDE, height = SIDE): ImageSource => ({
  width,
  height,
  bands: 1,
  read: (_x, _y, w, h) => Array.from({ length: w * h }, () => value),
})
const tiff = (image: ImageSource, more: { step?: number; left?: number; nodata?: number } = {}) =>
  writeGeoTiff(image, {
    type: 'uint8',
    georeference: {
      affine: [more.left ?? AFFINE[0], more.step ?? 10, 0, AFFINE[3], 0, -(more.step ?? 10)],
      epsg: 32632,
    },
    ...(more.nodata !== undefined && { nodata: String(more.nodata) }),
  })

/** One band of an image as an image. */
function bandOf(image: ImageSource, band: number): ImageSource {
  const { width, height, bands } = image
  const read: ImageSource['read'] = (x, y, w, h) => {
    const all = image.read(x, y, w, h)
    return Array.from({ length: w * h }, (_, i) => all[i * bands + band] as number)
  }
  return { width, height, bands: 1, read }
}

const item = (hrefs: Readonly<Record<string, string>>) =>
  JSON.stringify({
    type: 'Feature',
    id: 'S2A_X',
    collection: 'other',
    properties: { datetime: '2025-05-01T10:00:00Z' },
    links: [],
    assets: Object.fromEntries(
      Object.entries(hrefs).map(([name, href]) => [
        name,
        { href, type: 'image/tiff; application=geotiff', 'eo:bands': [{ name, common_name: name }] },
      ]),
    ),
  })

const vrt = (files: readonly string[]) =>
  `<VRTDataset rasterXSize="${SIDE}" rasterYSize="${SIDE}"><SRS>EPSG:32632</SRS>
   <GeoTransform>${[AFFINE[0], 10, 0, AFFINE[3], 0, -10].join(', ')}</GeoTransform>${files
     .map(
       (file, i) => `<VRTRasterBand dataType="Byte" band="${i + 1}"><SimpleSource>
       <SourceFilename relativeToVRT="1">${file}</SourceFilename><SourceBand>1</SourceBand>
       <SrcRect xOff="0" yOff="0" xSize="${SIDE}" ySize="${SIDE}"/><DstRect xOff="0" yOff="0" xSize="${SIDE}" ySize="${SIDE}"/>
     </SimpleSource></VRTRasterBand>`,
     )
     .join('')}</VRTDataset>`

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-scenes-'))
  origin = await openOrigin({ TERRANE_DATA_ROOTS: folder, TERRANE_TILE_THREADS: '1' })
  const { storage } = origin.client(origin.keys.service)
  await storage.createBucket('imagery', { public: true })
  await storage.createBucket('secret', { public: false })
  const put = async (path: string, bytes: Uint8Array | string, bucket = 'imagery') => {
    const { error } = await storage.from(bucket).upload(path, Buffer.from(bytes))
    expect(error).toBeNull()
  }
  const image = imageOf(
    { width: SIDE, height: SIDE, bands: 3 },
    (x, y, band) => 20 + ((x * 37 + y * 101 + band * 71) % 200),
  )
  const georeference = { affine: AFFINE, epsg: 32632 }
  await put('s/rgb.tif', await writeGeoTiff(image, { type: 'uint8', color: 'rgb', georeference }))
  for (const [i, name] of ['red', 'green', 'blue'].entries()) await put(`s/${name}.tif`, await tiff(bandOf(image, i)))
  await put('s/coarse.tif', await tiff(flat(77, SIDE / 2, SIDE / 2), { step: 20 }))
  await put('s/hidden.tif', await tiff(flat(9)), 'secret')
  await writeFile(join(folder, 'local.tif'), await tiff(flat(9)))
  const colors = { red: 'red.tif', green: 'green.tif', blue: 'blue.tif', swir: 'coarse.tif' }
  await put('s/item.json', item(colors))
  await put('s/visual.json', item({ visual: 'rgb.tif', swir: 'coarse.tif' }))
  await put('s/away.json', item({ red: 'https://127.0.0.1:1/red.tif' }))
  await put('s/gone.json', item({ red: 'none.tif' }))
  await put('s/all.vrt', vrt(['red.tif', 'green.tif', 'blue.tif']))
  await put('s/many.vrt', vrt(Array.from({ length: 64 }, (_, i) => `m${i}.tif`)).replace('m0.tif', 'm65.tif'))
  // Two dates: the left half of the newer one has no data.
  const half: ImageSource = {
    ...flat(0),
    read: (x, _y, w, h) => Array.from({ length: w * h }, (_, i) => (x + (i % w) < SIDE / 2 ? 0 : 200)),
  }
  await put('m/new.tif', await tiff(half, { nodata: 0 }))
  await put('m/old.tif', await tiff(flat(50), { nodata: 0 }))
  await put('m/far.tif', await tiff(flat(120), { left: AFFINE[0] + SIDE * 10, nodata: 0 }))
  await origin.db.database.query(
    `insert into geoembeddings.embeddings_catalogue (table_name, model_name, dims, rows, source) values ('dates', 'm', 3, 0, '3'), ('scene', 'm', 3, 0, '1'), ('closed', 'm', 3, 0, '1')`,
  )
  const sources = [
    ['dates', 0, 'imagery/m/old.tif', '2024-05-01', [11.5, 48.1, 11.7, 48.2], { 'eo:cloud_cover': 1 }],
    ['dates', 1, 'imagery/m/new.tif', '2025-05-01', [11.5, 48.1, 11.7, 48.2], { 'eo:cloud_cover': 40 }],
    ['dates', 2, 'imagery/m/far.tif', '2023-05-01', [11.63, 48.1, 11.8, 48.2], null],
    [
      'scene',
      0,
      'a scene',
      '2025-05-01',
      null,
      { files: ['red', 'green', 'blue'].map((name) => ({ name, file: `imagery/s/${name}.tif`, band: null })) },
    ],
    [
      'closed',
      0,
      'a scene',
      null,
      null,
      {
        files: [
          { name: 'a', file: 'imagery/s/red.tif', band: 1 },
          { name: 'b', file: 'secret/s/hidden.tif', band: 1 },
        ],
      },
    ],
  ]
  for (const source of sources) {
    await origin.db.database.query(
      `insert into geoembeddings.embedding_sources (table_name, source, name, datetime, bbox, properties, status) values ($1, $2, $3, $4, $5, $6, 'done')`,
      source,
    )
  }
})
afterAll(async () => {
  await origin[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const ask = (path: string, key: string | null = null) =>
  fetch(`${origin.url}/raster/v1${path}`, { headers: key === null ? {} : { apikey: key } })
const codeOf = async (response: Response) => [response.status, ((await response.json()) as { code?: string }).code]

/** Red, green, blue and alpha of a picture. */
async function pixelsOf(path: string, key: string | null = null): Promise<Uint8Array> {
  const response = await ask(path, key)
  const bytes = Buffer.from(await response.arrayBuffer())
  expect(response.status, bytes.toString().slice(0, 300)).toBe(200)
  return decodePicture(bytes)
}

describe('a scene of a file for each band', () => {
  const whole = () => pixelsOf('/preview/64x64.png?url=storage://imagery/s/rgb.tif')

  test.each([
    ['a STAC item', 'storage://imagery/s/item.json'],
    ['a VRT', 'storage://imagery/s/all.vrt'],
  ])('is drawn as one file of the same bands: %s', async (_, url) => {
    expect(Buffer.from(await pixelsOf(`/preview/64x64.png?url=${url}`)).equals(Buffer.from(await whole()))).toBe(true)
    const tile = (source: string) => pixelsOf(`/bbox/11.6,48.13,11.62,48.15/256x256.png?url=${source}`)
    expect(Buffer.from(await tile(url)).equals(Buffer.from(await tile('storage://imagery/s/rgb.tif')))).toBe(true)
  })

  test('of a table is drawn from what its catalogue keeps', async () => {
    const kept = await pixelsOf('/preview/64x64.png?url=embeddings://scene', origin.keys.anon)
    expect(Buffer.from(kept).equals(Buffer.from(await whole()))).toBe(true)
  })

  test('assets choose the bands, of other grids too; info and TileJSON tell them', async () => {
    const url = 'url=storage://imagery/s/item.json&assets=swir&assets=red'
    const info = (await (await ask(`/info?${url}`)).json()) as { band_descriptions: unknown; width: number }
    expect(info).toMatchObject({
      band_descriptions: [
        ['b1', 'swir'],
        ['b2', 'red'],
      ],
      width: SIDE,
    })
    const json = (await (await ask(`/WebMercatorQuad/tilejson.json?${url}`)).json()) as { tiles: string[] }
    expect(json.tiles[0]).toContain('assets=swir&assets=red')
    const pixels = await pixelsOf(`/preview/8x8.png?${url}&bidx=1`)
    expect([...pixels.subarray(0, 4)]).toEqual([77, 77, 77, 255])
  })

  test('asset_bidx chooses the bands of an asset, in both spellings', async () => {
    const at = 'url=storage://imagery/s/visual.json'
    for (const choice of [
      'assets=visual,swir&asset_bidx=visual|3,1',
      'assets=visual%7Cbidx=3,1&assets=swir',
      'assets=:all:&asset_bidx=visual|3,1',
    ]) {
      expect(await (await ask(`/info?${at}&${choice}`)).json(), choice).toMatchObject({
        band_descriptions: [
          ['b1', 'visual_b3'],
          ['b2', 'visual_b1'],
          ['b3', 'swir'],
        ],
      })
      const picked = await pixelsOf(`/preview/64x64.png?${at}&${choice}&bidx=1&bidx=2&bidx=1`)
      const own = await pixelsOf('/preview/64x64.png?url=storage://imagery/s/rgb.tif&bidx=3&bidx=1&bidx=3')
      expect(Buffer.from(picked).equals(Buffer.from(own)), choice).toBe(true)
    }
    const refused = async (more: string) => codeOf(await ask(`/preview?${at}&${more}`))
    expect(await refused('assets=swir&asset_bidx=visual|1')).toEqual([422, 'ITEM_UNREADABLE'])
    expect(await refused('assets=visual&asset_bidx=visual')).toEqual([400, 'BAD_PARAMETER'])
    expect(await refused('assets=visual&asset_bidx=visual|0')).toEqual([400, 'BAD_PARAMETER'])
    expect((await refused('assets=visual&asset_bidx=visual|4'))[0]).toBe(422)
    // A GeoTIFF has no assets.
    expect(await codeOf(await ask('/preview?url=storage://imagery/s/rgb.tif&asset_bidx=visual|1'))).toEqual([
      422,
      'ITEM_UNREADABLE',
    ])
  })

  test('is refused where a file is away, not the caller’s, or not there', async () => {
    const at = '/preview?url=storage://imagery/s'
    expect(await codeOf(await ask(`${at}/away.json&assets=red`))).toEqual([401, 'UNAUTHORIZED'])
    expect(await codeOf(await ask(`${at}/away.json&assets=red`, origin.keys.anon))).toEqual([403, 'FORBIDDEN'])
    expect((await codeOf(await ask(`${at}/away.json&assets=red`, origin.keys.service)))[1]).toBe('URL_REFUSED')
    expect(await codeOf(await ask(`${at}/gone.json&assets=red`))).toEqual([404, 'SCENE_FILE_NOT_FOUND'])
    expect(await codeOf(await ask(`${at}/item.json&assets=nir`))).toEqual([422, 'SCENE_UNUSABLE'])
    expect(await codeOf(await ask(`${at}/red.tif&assets=red`))).toEqual([422, 'ITEM_UNREADABLE'])
    expect(await codeOf(await ask(`${at}/item.json&assets=`))).toEqual([400, 'BAD_PARAMETER'])
    expect(await codeOf(await ask('/preview?url=embeddings://closed', origin.keys.anon))).toEqual([
      404,
      'SCENE_FILE_NOT_FOUND',
    ])
    expect((await ask('/preview?url=embeddings://closed&bidx=1', origin.keys.service)).status).toBe(200)
    const away = '/preview?url=https://127.0.0.1:1/x.tif'
    expect(await codeOf(await ask(away))).toEqual([401, 'UNAUTHORIZED'])
    expect(await codeOf(await ask(away, origin.keys.anon))).toEqual([403, 'FORBIDDEN'])
    expect((await codeOf(await ask(away, origin.keys.service)))[1]).toBe('URL_REFUSED')
  })
})

describe('a table of many sources is a mosaic', () => {
  const at = async (more = '', key = origin.keys.anon) => {
    const pixels = await pixelsOf(
      `/bbox/11.595,48.13,11.625,48.145/64x64.png?url=embeddings://dates&rescale=0,255${more}`,
      key,
    )
    const row = 32 * 64
    return [8, 56].map((column) => pixels[4 * (row + column)])
  }

  test('the newest lies on top, and others fill what it lacks', async () => {
    expect(await at()).toEqual([50, 200])
    expect(await at('&order=oldest')).toEqual([50, 50])
    expect(await at('&order=cloud')).toEqual([50, 50])
    expect(await at('&order=number&pixel_selection=highest')).toEqual([50, 200])
    expect(await at('&pixel_selection=lowest')).toEqual([50, 50])
    expect(await at('&pixel_selection=mean')).toEqual([50, 125])
    expect(await at('&since=2025-01-01')).toEqual([0, 200])
    expect(await at('&until=2024-12-31')).toEqual([50, 50])
    expect(await at('&sources=1')).toEqual([0, 200])
  })

  test('its TileJSON covers all of them; what is not chosen or not known is refused', async () => {
    const key = origin.keys.anon
    const json = (await (await ask('/WebMercatorQuad/tilejson.json?url=embeddings://dates', key)).json()) as {
      bounds: number[]
    }
    expect(json.bounds).toEqual([11.5, 48.1, 11.8, 48.2])
    expect((await ask('/preview?url=embeddings://dates', key)).status).toBe(200)
    expect(await codeOf(await ask('/preview?url=embeddings://dates&since=2030-01-01', key))).toEqual([
      404,
      'NO_SOURCES_CHOSEN',
    ])
    expect(await codeOf(await ask('/preview?url=embeddings://dates&order=best', key))).toEqual([400, 'BAD_PARAMETER'])
    expect(await codeOf(await ask('/preview?url=embeddings://dates&since=may', key))).toEqual([400, 'BAD_PARAMETER'])
    expect(await codeOf(await ask('/preview?url=embeddings://dates&sources=1,x', key))).toEqual([400, 'BAD_PARAMETER'])
  })

  test('a source that is gone is an error, and more than are read for a view are refused', async () => {
    const add = (name: string, from: number, to: number) =>
      origin.db.database.query(
        `insert into geoembeddings.embedding_sources (table_name, source, name, datetime, bbox, status)
         select 'dates', n, $1 || n, '2026-01-01', array[11.5, 48.1, 11.7, 48.2], 'done' from generate_series($2::integer, $3::integer) n`,
        [name, from, to],
      )
    const { storage } = origin.client(origin.keys.service)
    for (let n = 10; n < 28; n++) await storage.from('imagery').copy('m/new.tif', `m/copy${n}`)
    await add('imagery/m/copy', 10, 27)
    expect(await codeOf(await ask('/preview?url=embeddings://dates', origin.keys.anon))).toEqual([
      413,
      'MOSAIC_TOO_DENSE',
    ])
    expect(await at('&until=2025-12-31')).toEqual([50, 200])
    await add('imagery/m/gone', 30, 30)
    expect(await codeOf(await ask('/preview?url=embeddings://dates&sources=0,30', origin.keys.anon))).toEqual([
      404,
      'SOURCE_NOT_FOUND',
    ])
  })
})
