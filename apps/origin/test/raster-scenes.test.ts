import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodePicture, imageOf, writeGeoTiff, type ImageSource } from '@terrane/testing/geotiff'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bufferSource, openGeoTiff } from '@terrane/tiling/raster'
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
    assets: Object.fromEntries([
      ['thumbnail', { href: 'small.jpg', type: 'image/jpeg' }],
      ...Object.entries(hrefs).map(([name, href]) => [
        name,
        { href, type: 'image/tiff; application=geotiff', 'eo:bands': [{ name, common_name: name }] },
      ]),
    ]),
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
  await put('s/many.json', item(Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`a${i}`, 'red.tif']))))
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
    `insert into geoembeddings.embeddings_catalogue (table_name, model_name, dims, rows, source) values ('dates', 'm', 3, 0, '3'), ('scene', 'm', 3, 0, '1'), ('closed', 'm', 3, 0, '1'), ('fine', 'm', 3, 0, '2')`,
  )
  const sources = [
    ['dates', 0, 'imagery/m/old.tif', '2024-05-01', [11.5, 48.1, 11.7, 48.2], { 'eo:cloud_cover': 1 }],
    ['dates', 1, 'imagery/m/new.tif', '2025-05-01', [11.5, 48.1, 11.7, 48.2], { 'eo:cloud_cover': 40 }],
    ['dates', 2, 'imagery/m/far.tif', '2023-05-01', [11.63, 48.1, 11.8, 48.2], null],
    ['fine', 0, 'imagery/m/old.tif', '2024-05-01T10:00:00.123456Z', [11.5, 48.1, 11.7, 48.2], null],
    ['fine', 1, 'imagery/m/new.tif', '2025-05-01T10:00:00.9Z', [11.5, 48.1, 11.7, 48.2], null],
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

  test('has names of its assets, and statistics of each', async () => {
    const at = 'url=storage://imagery/s/item.json'
    expect(await (await ask(`/assets?${at}`)).json()).toEqual(['red', 'green', 'blue', 'swir'])
    expect(await (await ask(`/asset_statistics?${at}&assets=swir&assets=red`)).json()).toMatchObject({
      swir: { b1: { min: 77, max: 77, description: 'swir' } },
      red: { b1: { description: 'B04' } },
    })
    for (const asset of ['__proto__', 'constructor', 'none'])
      expect(await codeOf(await ask(`/asset_statistics?${at}&assets=${asset}`)), asset).toEqual([422, 'SCENE_UNUSABLE'])
    const all = (await (await ask(`/asset_statistics?${at}`)).json()) as object
    expect(Object.keys(all)).toEqual(['red', 'green', 'blue', 'swir'])
    expect(await codeOf(await ask('/asset_statistics?url=storage://imagery/s/many.json'))).toEqual([
      413,
      'TOO_MANY_FILES',
    ])
    for (const more of ['', '&assets=swir'])
      expect(await codeOf(await ask(`/asset_statistics?url=embeddings://dates${more}`, origin.keys.anon))).toEqual([400, 'BAD_PARAMETER']) // prettier-ignore
    const tiles = (await (await ask('/tiles/WebMercatorQuad?url=storage://imagery/s/visual.json')).json()) as object
    expect(tiles).toMatchObject({ dataType: 'map', tileMatrixSetLimits: expect.any(Array) })
    expect(await codeOf(await ask('/assets?url=storage://imagery/s/rgb.tif'))).toEqual([422, 'ITEM_UNREADABLE'])
    expect(await codeOf(await ask('/assets?url=storage://imagery/none.json'))).toEqual([404, 'RASTER_NOT_FOUND'])
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

describe('the sources of a mosaic', () => {
  const list = async (path: string) => (await ask(path, origin.keys.anon)).json()
  const sources = (...numbers: number[]) => numbers.map((number) => `embeddings://dates/${number}`)

  test('are those at a place, in the order in which they are shown', async () => {
    const at = 'url=embeddings://dates'
    expect(await list(`/assets?${at}`)).toEqual(sources(1, 0, 2))
    expect(await list(`/assets?${at}&reverse=true`)).toEqual(sources(2, 0, 1))
    expect(await list(`/assets?${at}&order=cloud&limit=1`)).toEqual(sources(0))
    expect(await list(`/point/11.55,48.15/assets?${at}&order=oldest`)).toEqual(sources(0, 1))
    expect(await list(`/bbox/11.6,48.1,11.75,48.15/assets?${at}&until=2024-12-31`)).toEqual(sources(0, 2))
    expect(await list(`/bbox/10,10,11,11/assets?${at}`)).toEqual([])
    expect(await list(`/tiles/WebMercatorQuad/13/4359/2842/assets?${at}&sources=1,2`)).toEqual(sources(1))
    expect(await codeOf(await ask(`/assets?${at}`))).toEqual([401, 'UNAUTHORIZED'])
    expect(await codeOf(await ask(`/assets?${at}&limit=0`, origin.keys.anon))).toEqual([400, 'BAD_PARAMETER'])
  })

  test('reverse turns the picture around, too', async () => {
    const at = (more: string) => pixelsOf(`/bbox/11.62,48.14,11.625,48.145/4x4.png?url=embeddings://dates&rescale=0,255&${more}`, origin.keys.anon) // prettier-ignore
    const [newest, reversed, oldest] = [
      await at(''),
      await at('reverse=true&until=2025-12-31'),
      await at('order=oldest'),
    ]
    expect([newest[0], reversed[0], oldest[0]]).toEqual([200, 50, 50])
  })

  test('of a WMS have times, and TIME chooses among them', async () => {
    const at = 'LAYERS=embeddings://dates'
    const text = await (await ask(`/wms?SERVICE=WMS&REQUEST=GetCapabilities&${at}`, origin.keys.service)).text()
    const times = ['2023', '2024', '2025'].map((year) => `${year}-05-01T00:00:00.000000Z`)
    expect(text).toContain(`<Dimension name="time" default="${times[0]}/${times[2]}" units="ISO8601">${times.join()}<`)
    const map = 'SERVICE=WMS&REQUEST=GetMap&VERSION=1.1.1&SRS=EPSG:4326&BBOX=11.62,48.14,11.625,48.145&WIDTH=4&HEIGHT=4&STYLES=&FORMAT=image/png&rescale=0,255' // prettier-ignore
    const grayAt = async (time: string) => (await pixelsOf(`/wms?${map}&${at}&TIME=${time}`, origin.keys.service))[0]
    expect([await grayAt(''), await grayAt('current'), await grayAt(times[2]!)]).toEqual([200, 200, 200])
    expect([await grayAt(times[1]!), await grayAt('2024-05-01'), await grayAt('2024-01-01/2024-12-31')]).toEqual([
      50, 50, 50,
    ])
    for (const time of ['2024-05-01,2025-05-01', '2024', '/', '2024-05-01/2025', 'now', '2024-13-01']) {
      const refused = await ask(`/wms?${map}&${at}&TIME=${time}`, origin.keys.service)
      expect([refused.status, await refused.text()], time).toEqual([400, expect.stringContaining('locator="TIME"')])
    }
  })

  test('of a WMS have only the times of chosen sources, and each shows its source', async () => {
    const timesOf = async (layer: string) => {
      const path = `/wms?SERVICE=WMS&REQUEST=GetCapabilities&VERSION=1.1.1&url=${layer}`
      return /<Extent name="time"[^>]*>([^<]*)</.exec(await (await ask(path, origin.keys.service)).text())?.[1]
    }
    const times = ['2024-05-01T10:00:00.123456Z', '2025-05-01T10:00:00.900000Z'] as const
    expect(await timesOf('embeddings://fine')).toBe(times.join())
    expect(await timesOf('embeddings://fine/0')).toBe(times[0])
    expect(await timesOf('embeddings://fine&sources=1')).toBe(times[1])
    expect(await timesOf('embeddings://fine&until=2025-01-01')).toBe(times[0])
    const at = '/bbox/11.62,48.14,11.625,48.145/4x4.png?url=embeddings://fine&rescale=0,255'
    const grayAt = async (time: string) => (await pixelsOf(`${at}&since=${time}&until=${time}`, origin.keys.service))[0]
    expect([await grayAt(times[0]), await grayAt(times[1]), await grayAt('2024-05-01')]).toEqual([50, 200, 50])
  })

  test('have one extent in the CRS of the first source', async () => {
    const at = 'url=embeddings://dates'
    const text = await (await ask(`/wms?SERVICE=WMS&REQUEST=GetCapabilities&${at}`, origin.keys.service)).text()
    const [, minx, maxx] = /<BoundingBox CRS="EPSG:32632" minx="([^"]+)".*?maxx="([^"]+)"/.exec(text) ?? []
    expect([Number(minx) < 693_000, Number(maxx) > 698_000]).toEqual([true, true])
    const { bounds } = (await list(`/info?${at}`)) as { bounds: number[] }
    expect(bounds[2]).toBe(Number(maxx))
    const map = await ask(`/map?${at}&width=100&f=tif`, origin.keys.anon)
    const { affine, epsg, width } = openGeoTiff(bufferSource(Buffer.from(await map.arrayBuffer())))
    expect([epsg, map.headers.get('content-crs')]).toEqual([32632, expect.stringContaining('/32632>')])
    const box = map.headers.get('content-bbox')!.split(',').map(Number)
    expect([affine![0], affine![3], affine![0] + width * affine![1]]).toEqual([box[0], box[3], box[2]].map((value) => expect.closeTo(value!, 3))) // prettier-ignore
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
