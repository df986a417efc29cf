import { imageOf, writeGeoTiff } from '@terrane/testing/geotiff'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openOrigin, type TestOrigin } from './harness.ts'

let origin: TestOrigin
const SIDE = 200
const valueAt = (x: number, y: number, band: number): number => 1 + ((x * 7 + y * 13 + band * 31) % 97)

beforeAll(async () => {
  origin = await openOrigin({ TERRANE_TILE_THREADS: '1' })
  const image = imageOf({ width: SIDE, height: SIDE, bands: 3 }, valueAt)
  const georeference = { affine: [11.5, 0.001, 0, 48.2, 0, -0.001] as const, epsg: 4326, geographic: true }
  const { storage } = origin.client(origin.keys.service)
  await storage.createBucket('imagery', { public: true })
  await storage
    .from('imagery')
    .upload('a.tif', Buffer.from(await writeGeoTiff(image, { type: 'uint16', georeference })))
  const empty = imageOf({ width: SIDE, height: SIDE, bands: 2 }, () => 0)
  await storage
    .from('imagery')
    .upload('empty.tif', Buffer.from(await writeGeoTiff(empty, { type: 'uint16', georeference, nodata: '0' })))
})
afterAll(() => origin[Symbol.asyncDispose]())

const FILE = 'url=storage://imagery/a.tif'
const ask = (path: string, body?: unknown) =>
  fetch(`${origin.url}/raster/v1${path}`, {
    ...(body !== undefined && {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }),
  })
const codeOf = async (response: Response) => [response.status, ((await response.json()) as { code?: string }).code]
const plus = (expression: string) => encodeURIComponent(expression)
const square = (west: number, south: number, side = 0.02) => ({
  type: 'Feature',
  properties: { name: 'a field' },
  geometry: {
    type: 'Polygon',
    coordinates: [
      [
        [west, south],
        [west + side, south],
        [west + side, south + side],
        [west, south + side],
        [west, south],
      ],
    ],
  },
})

describe('numbers', () => {
  test('of a place', async () => {
    const found = await (await ask(`/point/11.5505,48.1495?${FILE}`)).json()
    expect(found).toEqual({
      coordinates: [11.5505, 48.1495],
      values: [0, 1, 2].map((band) => valueAt(50, 50, band)),
      band_names: ['b1', 'b2', 'b3'],
      band_descriptions: ['b1', 'b2', 'b3'],
    })
    const expression = plus('b1*100+b2')
    expect(await (await ask(`/point/11.5505,48.1495?${FILE}&expression=${expression}`)).json()).toMatchObject({
      values: [valueAt(50, 50, 0) * 100 + valueAt(50, 50, 1)],
      band_names: ['b1'],
      band_descriptions: ['b1*100+b2'],
    })
    expect(await codeOf(await ask(`/point/0,0?${FILE}`))).toEqual([404, 'TILE_OUTSIDE'])
    // The same place in meters.
    const [x, y] = [
      (11.5505 * 20_037_508.342_789_244) / 180,
      6_378_137 * Math.asinh(Math.tan((48.1495 * Math.PI) / 180)),
    ]
    const meters = 'coord_crs=EPSG:3857'
    expect(await (await ask(`/point/${x},${y}?${FILE}&${meters}`)).json()).toMatchObject({
      coordinates: [x, y],
      values: [0, 1, 2].map((band) => valueAt(50, 50, band)),
    })
    const bytesOf = async (path: string) => Buffer.from(await (await ask(path)).arrayBuffer())
    const size = '32x32.npy'
    const inMeters = await bytesOf(`/bbox/${x},${y},${x + 5000},${y + 5000}/${size}?${FILE}&${meters}`)
    const east = ((x + 5000) / 20_037_508.342_789_244) * 180
    const north = (Math.atan(Math.sinh((y + 5000) / 6_378_137)) * 180) / Math.PI
    expect(
      inMeters.equals(await bytesOf(`/bbox/11.5505,48.1495,${east},${north}/${size}?${FILE}&dst_crs=EPSG:3857`)),
    ).toBe(true)
    // The same place in UTM, by PROJ 9.6.
    const utm = 'coord_crs=http://www.opengis.net/def/crs/EPSG/0/32632'
    expect(await (await ask(`/point/689698.69,5336062.79?${FILE}&${utm}`)).json()).toMatchObject({
      values: [0, 1, 2].map((band) => valueAt(50, 50, band)),
    })
    expect(await codeOf(await ask(`/point/1,2?${FILE}&coord_crs=epsg:999999`))).toEqual([422, 'UNSUPPORTED_CRS'])
    expect(await codeOf(await ask(`/point/1,2?${FILE}&coord_crs=utm`))).toEqual([400, 'BAD_PARAMETER'])
    for (const place of ['11', '11,x', '200,0', '1,2,3'])
      expect((await ask(`/point/${place}?${FILE}`)).status).toBe(400)
  })

  test('of a whole raster, and of areas', async () => {
    const whole = (await (
      await ask(`/statistics?${FILE}&bidx=1&p=50&histogram_bins=2&histogram_range=0,100`)
    ).json()) as {
      b1: { percentile_50: number; median: number; valid_pixels: number; histogram: unknown[] }
    }
    expect(Object.keys(whole)).toEqual(['b1'])
    expect(whole.b1).toMatchObject({ min: 1, max: 97, valid_pixels: SIDE * SIDE, percentile_50: whole.b1.median })
    expect(whole.b1.histogram[1]).toEqual([0, 50, 100])
    const one = (await (await ask(`/statistics?${FILE}`, square(11.55, 48.1))).json()) as {
      properties: { name: string; statistics: { b2: { count: number } } }
    }
    expect(one.properties).toMatchObject({ name: 'a field', statistics: { b2: { min: 1, max: 97 } } })
    const features = [square(11.55, 48.1), square(100, 10)]
    const all = (await (await ask(`/statistics?${FILE}`, { type: 'FeatureCollection', features })).json()) as {
      features: { properties: { statistics: unknown } }[]
    }
    expect(all.features.map(({ properties }) => properties.statistics === null)).toEqual([false, true])
    for (const query of [
      'p=101',
      'histogram_bins=0',
      'histogram_bins=3,2',
      'histogram_range=2,1',
      'width=0',
      'c=x',
      'max_size=5000',
    ])
      expect(await codeOf(await ask(`/statistics?${FILE}&${query}`)), query).toEqual([400, 'BAD_PARAMETER'])
  })

  test('are refused for a body that is not an area', async () => {
    const geometry = (type: string, coordinates: unknown) => ({
      type: 'Feature',
      properties: null,
      geometry: { type, coordinates },
    })
    const bodies = [
      null,
      [],
      {},
      { type: 'Feature' },
      geometry('Point', [11, 48]),
      geometry('Polygon', []),
      geometry('Polygon', [[]]),
      geometry('Polygon', 7),
      geometry('Polygon', [
        [
          [0, 0],
          [1, 0],
          [1, 1],
          [0, 1],
        ],
      ]),
      geometry('Polygon', [
        [
          [0, 0],
          [1, 0],
          [1, 91],
          [0, 0],
        ],
      ]),
      geometry('Polygon', [
        [
          [0, 0],
          ['x', 0],
          [1, 1],
          [0, 0],
        ],
      ]),
      geometry('Polygon', [
        [
          [0, 0],
          [1, 0],
          [2, 0],
          [0, 0],
        ],
      ]),
      // From one side of the antimeridian to the other.
      geometry('Polygon', [
        [
          [177, -19],
          [-177, -19],
          [-177, -15],
          [177, -19],
        ],
      ]),
      { type: 'FeatureCollection', features: [] },
      { type: 'FeatureCollection', features: Array.from({ length: 101 }, () => square(11.5, 48.1)) },
    ]
    for (const body of bodies)
      expect((await ask(`/statistics?${FILE}`, body)).status, JSON.stringify(body).slice(0, 80)).toBeGreaterThanOrEqual(
        400,
      )
    for (const body of bodies.slice(2, 13))
      expect(await codeOf(await ask(`/feature.png?${FILE}`, body))).toEqual([422, 'BAD_FEATURE'])
  })
})

describe('a raster without a valid pixel', () => {
  const EMPTY = 'url=storage://imagery/empty.tif'

  test('has facts, a TileJSON, and statistics of no pixel', async () => {
    expect(await (await ask(`/info?${EMPTY}`)).json()).toMatchObject({
      width: SIDE,
      nodata_value: 0,
      shown: { bidx: [1], rescale: [] },
    })
    expect((await ask(`/WebMercatorQuad/tilejson.json?${EMPTY}`)).status).toBe(200)
    const none = { min: null, max: null, mean: null, std: null, median: null, sum: 0, count: 0, valid_pixels: 0 }
    const b1 = { ...none, valid_percent: 0, masked_pixels: SIDE * SIDE, unique: 0 }
    expect(await (await ask(`/statistics?${EMPTY}`)).json()).toMatchObject({ b1, b2: b1 })
    expect(await (await ask(`/statistics?${EMPTY}&expression=${plus('b1+b2')}&p=5`)).json()).toMatchObject({
      b1: { ...b1, percentile_5: null, description: 'b1+b2' },
    })
    const area = { ...none, valid_percent: 0, masked_pixels: 400 }
    expect(await (await ask(`/statistics?${EMPTY}`, square(11.55, 48.1))).json()).toMatchObject({
      properties: { statistics: { b1: area, b2: area } },
    })
    expect(await (await ask(`/statistics?${EMPTY}`, square(1, 2))).json()).toMatchObject({
      properties: { statistics: null },
    })
    expect(await codeOf(await ask(`/preview.png?${EMPTY}`))).toEqual([404, 'TILE_OUTSIDE'])
    expect(await codeOf(await ask(`/preview.npy?${EMPTY}`))).toEqual([404, 'TILE_OUTSIDE'])
  })
})

test('info.geojson has its area in degrees, or in the coordinates of a code', async () => {
  const at = async (more: string) =>
    (await ask(`/info.geojson?${FILE}${more}`)).json() as Promise<{
      bbox: number[]
      geometry: { coordinates: number[][][] }
    }>
  const plain = await at('')
  expect(plain.bbox.map((value) => Number(value.toFixed(6)))).toEqual([11.5, 48, 11.7, 48.2])
  // By TransformBounds of GDAL 3.10.
  const utm = await at('&crs=EPSG:32632')
  expect(utm.bbox.map(Math.round)).toEqual([685_760, 5_319_325, 701_400, 5_342_055])
  expect(utm.geometry.coordinates[0]?.[2]).toEqual([utm.bbox[2], utm.bbox[3]])
  expect(await codeOf(await ask(`/info.geojson?${FILE}&crs=utm`))).toEqual([400, 'BAD_PARAMETER'])
  expect(await codeOf(await ask(`/info.geojson?${FILE}&crs=epsg:999999`))).toEqual([422, 'UNSUPPORTED_CRS'])
})

describe('boxes that cannot be drawn are refused by name', () => {
  test.each([
    ['170,48,-170,49', 400, 'BAD_PARAMETER'],
    ['11,48,11,49', 400, 'BAD_PARAMETER'],
    ['11,nan,12,49', 400, 'BAD_PARAMETER'],
    ['11,48,Infinity,49', 400, 'BAD_PARAMETER'],
    ['11,48,12,', 400, 'BAD_PARAMETER'],
    ['11,48,12,49,50', 400, 'BAD_PARAMETER'],
    ['11,-91,12,49', 400, 'BAD_PARAMETER'],
    ['-1000,48,1000,49', 400, 'BAD_PARAMETER'],
    ['1e-320,48,2e-320,49', 404, 'TILE_OUTSIDE'],
    ['170,48,190,49', 404, 'TILE_OUTSIDE'],
    ['11,89,12,90', 404, 'TILE_OUTSIDE'],
    ['11,48,12,90.png?dst_crs=epsg:3857', 422, 'AREA_OUTSIDE_CRS'],
    ['11,48,12,90.png?dst_crs=epsg:32632', 200, null],
    // The pixels of a third of a degree have no centre in a raster that covers a fifth of a degree.
    ['-180,-90,180,90', 404, 'TILE_OUTSIDE'],
    ['-180,-90,180,90.png?dst_crs=epsg:32632', 404, 'TILE_OUTSIDE'],
    ['-1e300,-1e300,1e300,1e300.png?coord_crs=epsg:3857', 400, 'BAD_PARAMETER'],
  ])('%s', async (text, status, code) => {
    const [box = '', more = ''] = text.split('?')
    const answers = [
      await ask(`/bbox/${box.includes('.png') ? box : `${box}.png`}?${FILE}&${more}`),
      await ask(
        `/map?bbox=${box.replace('.png', '')}&${FILE}&${more.replace('dst_crs', 'crs').replace('coord_crs', 'bbox-crs')}`,
      ),
    ]
    for (const found of answers) {
      const body = Buffer.from(await found.arrayBuffer())
      const named = found.status === 200 ? null : (JSON.parse(body.toString()) as { code: string }).code
      expect([found.status, named], found.url).toEqual([status, code])
    }
  })
})

describe('computed pictures and values', () => {
  const kind = async (path: string, body?: unknown) => {
    const response = await ask(path, body)
    return [response.status, response.headers.get('content-type'), (await response.arrayBuffer()).byteLength > 60]
  }

  test('of expressions, algorithms and formulas, in each format', async () => {
    const ndvi = `expression=${plus('(b2-b1)/(b2+b1)')}`
    expect(await kind(`/preview.png?${FILE}&${ndvi}&rescale=-1,1&colormap_name=rdylgn`)).toEqual([
      200,
      'image/png',
      true,
    ])
    expect(await kind(`/preview.png?${FILE}&${ndvi}`)).toEqual([200, 'image/png', true])
    expect(
      await kind(`/preview.webp?${FILE}&bidx=1&algorithm=hillshade&algorithm_params=${plus('{"azimuth":90}')}`),
    ).toEqual([200, 'image/webp', true])
    for (const name of ['slope', 'contours', 'terrarium', 'terrainrgb']) {
      expect(await kind(`/preview.png?${FILE}&bidx=1&algorithm=${name}`)).toEqual([200, 'image/png', true])
    }
    for (const name of ['mean', 'std', 'median'])
      expect(await kind(`/preview.png?${FILE}&bidx=1&bidx=2&algorithm=${name}`)).toEqual([200, 'image/png', true])
    expect(await kind(`/preview.jpg?${FILE}&color_formula=${plus('gamma RGB 1.5 saturation 1.2')}`)).toEqual([
      200,
      'image/jpeg',
      true,
    ])
    expect(await kind(`/preview.npy?${FILE}`)).toEqual([200, 'application/x-binary', true])
    expect(await kind(`/preview/32x32.tif?${FILE}&${ndvi}`)).toEqual([200, 'image/tiff; application=geotiff', true])
    expect(await kind(`/bbox/11.5,48.1,11.6,48.2.tif?${FILE}`)).toEqual([200, 'image/tiff; application=geotiff', true])
    expect(await kind(`/feature/64x64.png?${FILE}`, square(11.55, 48.1))).toEqual([200, 'image/png', true])
    expect(await kind(`/feature.npy?${FILE}`, square(11.55, 48.1))).toEqual([200, 'application/x-binary', true])
  })

  test('of a size and a plane that the query names', async () => {
    const npy = async (path: string) => Buffer.from(await (await ask(path)).arrayBuffer()).toString('latin1', 10, 100)
    expect(await npy(`/preview?${FILE}&width=20&height=30&format=npy`)).toContain('(4, 30, 20)')
    const box = `/bbox/11.5,48.1,11.6,48.2.npy?${FILE}&return_mask=false&max_size=100&padding=2`
    // Shapes by rasterio's rules: square pixels in dst_crs (by default the CRS of the coordinates), in the resolution
    // of the raster.
    expect(await npy(`${box}&dst_crs=epsg:4326`)).toContain('(3, 100, 100)')
    expect(await npy(box)).toContain('(3, 100, 100)')
    expect(await npy(`${box}&dst_crs=epsg:3857`)).toContain('(3, 100, 67)')
    expect(await npy(`${box}&dst_crs=[EPSG:32632]`)).toContain('(3, 100, 69)')
    expect(await npy(`/bbox/11.55,48.15,11.57,48.16.npy?${FILE}`)).toContain('(4, 10, 20)')
    expect(await npy(`/preview.npy?${FILE}&width=20`)).toContain('(4, 20, 20)')
    expect(await npy(`/preview.npy?${FILE}&dst_crs=epsg:3857&height=30`)).toContain('(4, 30, 21)')
    for (const format of ['webp', 'jpeg', 'png'])
      expect(await codeOf(await ask(`/bbox/11.5,48.1,11.50001,48.2.${format}?${FILE}&width=20`)), format).toEqual([
        413,
        'PICTURE_TOO_LARGE',
      ])
    expect(await codeOf(await ask(`/bbox/11.5,48.1,11.6,48.100001.npy?${FILE}&height=2048`))).toEqual([
      413,
      'PICTURE_TOO_LARGE',
    ])
  })

  test('of a map by the parameters of OGC API Maps', async () => {
    const at = `/map?${FILE}&bbox=11.55,48.15,11.57,48.16`
    const map = await ask(`${at}&f=npy`)
    expect(map.headers.get('content-crs')).toBe('<http://www.opengis.net/def/crs/EPSG/0/4326>')
    expect(map.headers.get('content-bbox')).toBe('11.55,48.15,11.57,48.16')
    const bytes = async (response: Response) => Buffer.from(await response.arrayBuffer())
    const box = await bytes(await ask(`/bbox/11.55,48.15,11.57,48.16.npy?${FILE}`))
    expect((await bytes(map)).equals(box)).toBe(true)
    const heights = await ask(`/map?${FILE}&bbox=11.55,48.15,0,11.57,48.16,9&f=npy&bbox-crs=OGC:CRS84`)
    expect((await bytes(heights)).equals(box)).toBe(true)
    const meters = await ask(`/map?${FILE}&crs=EPSG:3857&width=50&f=tif`)
    expect(meters.headers.get('content-crs')).toBe('<http://www.opengis.net/def/crs/EPSG/0/3857>')
    expect(meters.headers.get('content-bbox')).toMatch(/^1280174\.\d+,6106\d{3}\.\d+,1302438\.\d+,/)
    const type = async (accept: string) =>
      (await fetch(`${origin.url}/raster/v1${at}`, { headers: { accept } })).headers.get('content-type')
    expect(await type('image/jpeg, image/png;q=0.5')).toBe('image/jpeg')
    expect(await type('image/avif, image/webp;q=0')).toBe('image/png')
    expect(await codeOf(await ask(`/preview?${FILE}&f=png`))).toEqual([501, 'PARAMETER_NOT_OFFERED'])
  })

  test('that cannot be computed are refused by name', async () => {
    const at = `/preview.png?${FILE}`
    expect(await codeOf(await ask(`${at}&expression=b1/`))).toEqual([422, 'EXPRESSION_UNREADABLE'])
    expect(await codeOf(await ask(`${at}&expression=b9`))).toEqual([422, 'BAND_OUT_OF_RANGE'])
    expect(await codeOf(await ask(`${at}&expression=b1;b2`))).toEqual([422, 'BANDS_NOT_SHOWN'])
    expect(await codeOf(await ask(`${at}&expression=b1&bidx=1`))).toEqual([400, 'BAD_PARAMETER'])
    expect(await codeOf(await ask(`${at}&algorithm=sharpen`))).toEqual([422, 'ALGORITHM_UNREADABLE'])
    expect(await codeOf(await ask(`${at}&bidx=1&algorithm=slope&algorithm_params=${plus('{"x":1}')}`))).toEqual([
      422,
      'ALGORITHM_UNREADABLE',
    ])
    expect(await codeOf(await ask(`${at}&bidx=1&bidx=2&algorithm=hillshade`))).toEqual([422, 'ALGORITHM_UNREADABLE'])
    for (const text of ['[]', 'null', '{"a":"b"}', '{', '7'])
      expect(await codeOf(await ask(`${at}&algorithm=slope&algorithm_params=${plus(text)}`))).toEqual([
        400,
        'BAD_PARAMETER',
      ])
    expect(await codeOf(await ask(`${at}&algorithm_params={}`))).toEqual([400, 'BAD_PARAMETER'])
    expect(await codeOf(await ask(`${at}&color_formula=blur`))).toEqual([422, 'FORMULA_UNREADABLE'])
    const many = Array.from({ length: 16 }, () => 'b1').join(';')
    expect(await codeOf(await ask(`/preview/2048x2048.npy?${FILE}&expression=${plus(many)}`))).toEqual([
      413,
      'PICTURE_TOO_LARGE',
    ])
  })
})

describe('other sets of tiles', () => {
  test('have tiles where their TileJSON and WMTS capabilities say', async () => {
    for (const set of ['WebMercatorQuad', 'WorldCRS84Quad', 'WGS1984Quad']) {
      const json = (await (await ask(`/${set}/tilejson.json?${FILE}&tile_format=png`)).json()) as {
        tiles: string[]
        center: [number, number]
        maxzoom: number
      }
      const [lng, lat] = json.center
      const z = json.maxzoom
      const n = 2 ** z
      const down =
        set === 'WebMercatorQuad'
          ? (0.5 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / (2 * Math.PI)) * n
          : ((90 - lat) / 180) * n
      const across = ((lng + 180) / (set === 'WebMercatorQuad' ? 360 : 180)) * n
      const address = json.tiles[0]!.replace('{z}', `${z}`)
        .replace('{x}', `${Math.floor(across)}`)
        .replace('{y}', `${Math.floor(down)}`)
      expect((await fetch(address)).status, set).toBe(200)
      const xml = await (await ask(`/${set}/WMTSCapabilities.xml?${FILE}&bidx=1&rescale=0,100`)).text()
      expect(xml).toContain(`<TileMatrixSet>${set}</TileMatrixSet>`)
      const [, template = ''] = /template="([^"]*)"/.exec(xml) ?? []
      const tile = template
        .replaceAll('&amp;', '&')
        .replace('{TileMatrix}', `${z}`)
        .replace('{TileCol}', `${Math.floor(across)}`)
        .replace('{TileRow}', `${Math.floor(down)}`)
      expect((await fetch(tile)).status, set).toBe(200)
    }
    expect(await codeOf(await ask(`/tiles/NZTM2000Quad/1/0/0?${FILE}`))).toEqual([400, 'BAD_PARAMETER'])
    expect(await codeOf(await ask(`/tiles/WorldCRS84Quad/0/2/0?${FILE}`))).toEqual([400, 'BAD_PARAMETER'])
  })
})

test('a WMTS without a set of tiles has Web Mercator; the order of a mosaic is not turned around in silence', async () => {
  const text = await (await ask(`/WMTSCapabilities.xml?${FILE}`)).text()
  expect(text).toContain('<TileMatrixSet>WebMercatorQuad</TileMatrixSet>')
  expect(text).toMatch(/template="http:\/\/[^/]+\/raster\/v1\/tiles\/WebMercatorQuad\/\{TileMatrix\}/)
  const zoomed = await (await ask(`/WMTSCapabilities.xml?${FILE}&zooms=*::0,1&zooms=WebMercatorQuad::2,4`)).text()
  expect([...zoomed.matchAll(/<TileMatrix><ows:Identifier>(\d+)/g)].map(([, zoom]) => zoom)).toEqual(['2', '3', '4'])
  for (const zooms of ['0,1', 'Mars::0,1', 'WebMercatorQuad::0', '*::0,99'])
    expect(await codeOf(await ask(`/WMTSCapabilities.xml?${FILE}&zooms=${zooms}`)), zooms).toEqual([
      400,
      'BAD_PARAMETER',
    ])
})

describe('lists', () => {
  test('of tile matrix sets have the sizes of OGC 17-083r4', async () => {
    const { tileMatrixSets } = (await (await ask('/tileMatrixSets')).json()) as { tileMatrixSets: { id: string }[] }
    expect(tileMatrixSets.map(({ id }) => id)).toEqual(['WebMercatorQuad', 'WorldCRS84Quad', 'WGS1984Quad'])
    expect(await (await ask('/tileMatrixSets/WorldCRS84Quad')).json()).toMatchObject({
      crs: 'http://www.opengis.net/def/crs/OGC/1.3/CRS84',
      tileMatrices: expect.arrayContaining([
        { id: '1', scaleDenominator: expect.closeTo(139_770_566.007_179, 3), cellSize: 0.3515625, cornerOfOrigin: 'topLeft', pointOfOrigin: [-180, 90], tileWidth: 256, tileHeight: 256, matrixWidth: 4, matrixHeight: 2 },
      ]),
    }) // prettier-ignore
    expect(await codeOf(await ask('/tileMatrixSets/Mars'))).toEqual([400, 'BAD_PARAMETER'])
    const limits = (await (await ask(`/tiles/WebMercatorQuad?${FILE}&minzoom=26&maxzoom=26`)).json()) as object
    const mercator = (await (await ask('/tileMatrixSets/WebMercatorQuad')).json()) as { tileMatrices: { id: string }[] }
    expect(limits).toMatchObject({ tileMatrixSetLimits: [{ tileMatrix: mercator.tileMatrices.at(-1)!.id }] })
  })

  test('of the tiles of a raster name the tiles that show it', async () => {
    const { tilesets } = (await (await ask(`/tiles?${FILE}`)).json()) as { tilesets: unknown[] }
    expect(tilesets).toHaveLength(3)
    // By morecantile: tiles(11.5, 48, 11.7, 48.2, zooms=9).
    for (const [set, limits] of [
      ['WebMercatorQuad', { tileMatrix: '9', minTileRow: 177, maxTileRow: 177, minTileCol: 272, maxTileCol: 272 }],
      ['WorldCRS84Quad', { tileMatrix: '9', minTileRow: 118, maxTileRow: 119, minTileCol: 544, maxTileCol: 545 }],
    ] as const) {
      const found = (await (await ask(`/tiles/${set}?${FILE}&minzoom=9&maxzoom=9&bidx=1`)).json()) as {
        links: { href: string }[]
      }
      expect(found).toMatchObject({
        tileMatrixSetLimits: [limits],
        boundingBox: { lowerLeft: [11.5, expect.closeTo(48)] },
      })
      expect(found.links[0]!.href).toMatch(/tiles\/\w+\/\{tileMatrix\}\/\{tileCol\}\/\{tileRow\}\?url=.*&bidx=1$/)
    }
  })

  test('of algorithms and colormaps name what pictures take', async () => {
    const algorithms = (await (await ask('/algorithms')).json()) as Record<string, object>
    expect(algorithms['hillshade']).toEqual(await (await ask('/algorithms/hillshade')).json())
    expect(algorithms['hillshade']).toMatchObject({ inputs: { nbands: 1 }, parameters: { azimuth: { default: 315 } } })
    const { colormaps } = (await (await ask('/colorMaps')).json()) as { colormaps: { id: string }[] }
    expect(colormaps.map(({ id }) => id)).toContain('viridis')
    const viridis = (await (await ask('/colorMaps/viridis')).json()) as Record<string, number[]>
    // By Matplotlib, whose colours are truncated rather than rounded.
    expect(viridis['0']!.map((value, i) => Math.abs(value - [68, 1, 84, 255][i]!) <= 1)).not.toContain(false)
    const legend = async (more: string) => {
      const response = await ask(`/colorMaps/viridis_r?f=png${more}`)
      const { data, info } = await sharp(Buffer.from(await response.arrayBuffer())).raw().toBuffer({ resolveWithObject: true }) // prettier-ignore
      return [info.width, info.height, [...data.subarray(-4)]]
    }
    expect(await legend('')).toEqual([256, 20, viridis['0']])
    expect(await legend('&orientation=vertical&width=5')).toEqual([5, 256, viridis['0']])
    expect(await codeOf(await ask('/colorMaps/none'))).toEqual([422, 'UNKNOWN_COLORMAP'])
    for (const path of ['algorithms', 'algorithms/slope', 'colorMaps', 'tileMatrixSets', 'tileMatrixSets/WGS1984Quad'])
      expect(await codeOf(await ask(`/${path}?f=html`)), path).toEqual([400, 'BAD_PARAMETER'])
    for (const query of ['f=html', 'f=png&width=9999', 'f=png&orientation=up'])
      expect(await codeOf(await ask(`/colorMaps/viridis?${query}`)), query).toEqual([400, 'BAD_PARAMETER'])
  })
})

test('an area counts the share of its own pixels that are valid, not of the box around it', async () => {
  const [west, south] = [11.55, 48.1]
  const triangle = square(west, south)
  triangle.geometry.coordinates = [[[west, south], [west + 0.02, south], [west, south + 0.02], [west, south]]] // prettier-ignore
  const { properties } = (await (await ask(`/statistics?${FILE}&bidx=1`, triangle)).json()) as {
    properties: { statistics: { b1: { valid_pixels: number } } }
  }
  expect(properties.statistics.b1).toMatchObject({ valid_percent: 100, masked_pixels: 0 })
  expect(Math.abs(properties.statistics.b1.valid_pixels - 200)).toBeLessThan(20)
})

describe('a Web Map Service', () => {
  const CRS84 = { type: 'name', properties: { name: 'urn:ogc:def:crs:OGC:1.3:CRS84' } }
  const FILE_LAYER = 'LAYERS=storage://imagery/a.tif'
  const map = (more: string) =>
    ask(`/wms?SERVICE=WMS&REQUEST=GetMap&${FILE_LAYER}&STYLES=&FORMAT=image/png&TRANSPARENT=TRUE&${more}`)
  const bytesOf = async (response: Response) => {
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png'])
    return Buffer.from(await response.arrayBuffer())
  }

  test.each(['1.1.1', '1.3.0'])(
    'has capabilities of version %s with the address and the extent of the raster',
    async (version) => {
      const response = await ask(
        `/wms?service=wms&request=GetCapabilities&VERSION=${version}&${FILE_LAYER}&rescale=0,99&bidx=1`,
      )
      expect(response.headers.get('content-type')).toMatch('text/xml')
      const text = await response.text()
      expect(text).toContain(`version="${version}"`)
      expect(text).toContain('<Name>storage://imagery/a.tif</Name>')
      expect(text).toContain('/raster/v1/wms?rescale=0%2C99&amp;bidx=1&amp;url=storage%3A%2F%2Fimagery%2Fa.tif&amp;"')
      const box =
        version === '1.3.0' ? 'CRS="EPSG:4326" minx="48" miny="11.5"' : 'SRS="EPSG:4326" minx="11.5" miny="48"'
      expect(text).toMatch(new RegExp(`<BoundingBox ${box.replaceAll('48"', '4[\\d.]+"')}`))
      const byUrl = `/wms?service=wms&request=GetCapabilities&VERSION=${version}&${FILE}&rescale=0,99&bidx=1`
      expect((await (await ask(byUrl)).text()).replace('url=storage%3A%2F%2Fimagery%2Fa.tif&amp;', '')).toContain(
        '<Name>storage://imagery/a.tif</Name>',
      )
      expect(text).toMatch(version === '1.3.0' ? /<northBoundLatitude>48\.2</ : /maxy="48\.2"/)
    },
  )

  test('draws the same map for each order of axes, as bbox draws it', async () => {
    const style = 'bidx=1&rescale=0,99&WIDTH=40&HEIGHT=20'
    const wanted = await bytesOf(await ask(`/bbox/11.52,48.1,11.6,48.14/40x20.png?${FILE}&bidx=1&rescale=0,99`))
    const maps = [
      `VERSION=1.1.1&SRS=EPSG:4326&BBOX=11.52,48.1,11.6,48.14`,
      `VERSION=1.3.0&CRS=EPSG:4326&BBOX=48.1,11.52,48.14,11.6`,
      `VERSION=1.3.0&CRS=CRS:84&BBOX=11.52,48.1,11.6,48.14`,
    ]
    for (const query of maps) expect(await bytesOf(await map(`${query}&${style}`))).toEqual(wanted)
    const mercator = await map(`VERSION=1.3.0&CRS=EPSG:3857&BBOX=1282400,6124000,1291300,6130000&${style}`)
    expect((await bytesOf(mercator)).length).toBeGreaterThan(100)
  })

  test('is blank outside of the raster, in the background where it is not transparent', async () => {
    const outside = 'VERSION=1.1.1&SRS=EPSG:4326&BBOX=-50,-10,-40,0&WIDTH=4&HEIGHT=3'
    const pixelsOf = async (more: string) => {
      const { data, info } = await sharp(await bytesOf(await map(`${outside}${more}`))).raw().toBuffer({ resolveWithObject: true }) // prettier-ignore
      expect([info.width, info.height]).toEqual([4, 3])
      return [info.channels, ...new Set(data)]
    }
    expect(await pixelsOf('')).toEqual([4, 0])
    const opaque = (more: string) =>
      ask(`/wms?SERVICE=WMS&REQUEST=GetMap&${FILE_LAYER}&FORMAT=image/png&${outside}${more}`)
    const colorsOf = async (more: string) =>
      (await sharp(await bytesOf(await opaque(more))).raw().toBuffer()).subarray(0, 3).toString('hex') // prettier-ignore
    expect([await colorsOf(''), await colorsOf('&BGCOLOR=0x102030')]).toEqual(['ffffff', '102030'])
  })

  test('tells the values of a pixel', async () => {
    const where = 'VERSION=1.3.0&CRS=EPSG:4326&BBOX=48.1,11.5,48.2,11.6&WIDTH=100&HEIGHT=100&I=50&J=49'
    const info = `/wms?REQUEST=GetFeatureInfo&${FILE_LAYER}&QUERY_LAYERS=storage://imagery/a.tif&${where}`
    const values = [0, 1, 2].map((band) => valueAt(50, 49, band))
    expect(await (await ask(info)).text()).toBe(values.join())
    const json = await (await ask(`${info}&INFO_FORMAT=application/json`)).json()
    const properties = { b1: values[0], b2: values[1], b3: values[2] }
    const features = [{ type: 'Feature', geometry: { type: 'Point', coordinates: expect.any(Array) }, properties }]
    expect(json).toEqual({ type: 'FeatureCollection', crs: CRS84, features, values, band_names: ['b1', 'b2', 'b3'] })
    const html = await (await ask(`${info}&INFO_FORMAT=text/html`)).text()
    expect(html).toContain(`<tr><th>b2</th><td>${values[1]}</td></tr>`)
  })

  test('links the legend of a colormap', async () => {
    const query = `/wms?SERVICE=WMS&REQUEST=GetCapabilities&${FILE_LAYER}&bidx=1&colormap_name=Viridis`
    const [, address = ''] = /<LegendURL.*?xlink:href="([^"]+)"/.exec(await (await ask(query)).text()) ?? []
    const response = await fetch(address)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png'])
  })

  test.each([
    ['REQUEST=GetMap&VERSION=1.3.0', 'LAYERS'],
    [`REQUEST=GetSomething&${FILE_LAYER}`, 'REQUEST'],
    [`REQUEST=GetCapabilities&SERVICE=wms&${FILE_LAYER}&url=storage://imagery/b.tif`, 'url'],
    [
      `REQUEST=GetFeatureInfo&VERSION=1.3.0&CRS=CRS:84&BBOX=1,1,2,2&WIDTH=9&HEIGHT=9&I=1&J=1&QUERY_LAYERS=x&${FILE_LAYER}`,
      'QUERY_LAYERS',
    ],
    [
      `REQUEST=GetMap&VERSION=1.3.0&CRS=CRS:84&BBOX=1,1,2,2&WIDTH=9&HEIGHT=9&FORMAT=image/png&BGCOLOR=red&${FILE_LAYER}`,
      'BGCOLOR',
    ],
    [`REQUEST=GetCapabilities&${FILE_LAYER}`, 'SERVICE'],
    [`REQUEST=GetCapabilities&SERVICE=wms&VERSION=9&${FILE_LAYER}`, 'VERSION'],
    ['REQUEST=GetCapabilities&SERVICE=wms&LAYERS=storage://a/b.tif,storage://a/c.tif', 'LAYERS'],
    [`REQUEST=GetMap&VERSION=1.3.0&CRS=EPSG:3035&BBOX=1,1,2,2&WIDTH=9&HEIGHT=9&FORMAT=image/png&${FILE_LAYER}`, 'CRS'],
    [`REQUEST=GetMap&VERSION=1.3.0&CRS=CRS:84&BBOX=1,1,2,2&HEIGHT=9&FORMAT=image/png&${FILE_LAYER}`, 'WIDTH'],
    [`REQUEST=GetMap&VERSION=1.3.0&CRS=CRS:84&BBOX=1,1,2,2&WIDTH=9&HEIGHT=9&FORMAT=image/jp2&${FILE_LAYER}`, 'FORMAT'],
    [
      `REQUEST=GetFeatureInfo&VERSION=1.3.0&CRS=CRS:84&BBOX=1,1,2,2&WIDTH=9&HEIGHT=9&I=9&J=1&QUERY_LAYERS=storage://imagery/a.tif&${FILE_LAYER}`,
      'I',
    ],
  ])('refuses %s by the name of the parameter', async (query, name) => {
    const response = await ask(`/wms?${query}`)
    expect([response.status, response.headers.get('content-type')]).toEqual([400, expect.stringMatching('text/xml')])
    expect(await response.text()).toMatch(
      new RegExp(`<ServiceExceptionReport version="1.3.0"[^>]*>\\s*<ServiceException[^>]* locator="${name}">`),
    )
    const problem = await ask(`/wms?EXCEPTIONS=application/json&${query}`)
    expect(await problem.json()).toMatchObject({ code: 'BAD_PARAMETER', errors: [{ path: `/${name}` }] })
  })

  test.each([
    ['REQUEST=GetMap&VERSION=1.1.1&SRS=EPSG:1&BBOX=1,1,2,2&WIDTH=9&HEIGHT=9&FORMAT=image/png', 'InvalidSRS'],
    ['REQUEST=GetMap&VERSION=1.3.0&CRS=CRS:84&BBOX=1,1,2,2&WIDTH=9&HEIGHT=9&FORMAT=image/gif', 'InvalidFormat'],
    ['REQUEST=GetLegend&VERSION=1.3.0', 'OperationNotSupported'],
  ])('has the code of WMS for %s', async (query, code) => {
    const text = await (await ask(`/wms?${query}&${FILE_LAYER}`)).text()
    expect(text).toContain(`code="${code}"`)
  })

  test('has no code in 1.1.1 that only 1.3.0 defines', async () => {
    const text = await (await ask(`/wms?REQUEST=GetLegend&VERSION=1.1.1&${FILE_LAYER}`)).text()
    expect(text).toMatch(/<ServiceExceptionReport version="1.1.1">\s*<ServiceException locator="REQUEST">/)
  })

  test('has no values outside of the raster', async () => {
    const where = 'VERSION=1.3.0&CRS=CRS:84&BBOX=-50,-10,-40,0&WIDTH=9&HEIGHT=9&I=1&J=1'
    const info = `/wms?REQUEST=GetFeatureInfo&${FILE_LAYER}&QUERY_LAYERS=storage://imagery/a.tif&${where}`
    const response = await ask(info)
    expect([response.status, await response.text()]).toEqual([200, ''])
    const json = await (await ask(`${info}&INFO_FORMAT=application/json`)).json()
    expect(json).toEqual({ type: 'FeatureCollection', crs: CRS84, features: [], values: [], band_names: [] })
  })

  test('refuses a time, which no raster has', async () => {
    const response = await ask(`/wms?REQUEST=GetMap&TIME=2024-01-01&EXCEPTIONS=application/json&${FILE_LAYER}`)
    expect(await codeOf(response)).toEqual([501, 'PARAMETER_NOT_OFFERED'])
  })
})
