// Slow: scenes of several files are stacked and embedded.
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { BUILT_IN_MODEL } from '@terrane/embeddings'
import { openStore, type ObjectStore } from '@terrane/storage'
import { imageOf, textureImage, writeGeoTiff } from '@terrane/testing/geotiff'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorker, submit, until, type TestWorker } from './harness.ts'

const SIDE = 128
const MODEL = { modelName: BUILT_IN_MODEL, tileSize: 64 }
const BANDS = ['blue', 'green', 'red']

let worker: TestWorker
let store: ObjectStore
let server: Server
let origin: string
const served = new Map<string, Uint8Array | string>()
const asked: { path: string; body: unknown }[] = []
let count = 0
const name = () => `scene_${++count}`

beforeAll(async () => {
  server = createServer(
    (request, response) =>
      void answer(request).then((found) => response.writeHead(found === null ? 404 : 200).end(found)),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  worker = await openWorker({
    env: { TERRANE_FETCH_ALLOW_HOSTS: origin.slice('http://'.length), GEOEMBEDDINGS_MAX_TILES: '20' },
  })
  await mkdir(join(worker.folder, 'data', 'set'), { recursive: true })
  store = openStore(worker.env['TERRANE_STORAGE']!)
  await store.createBucket('scenes', { public: false, fileSizeLimit: null, allowedMimeTypes: null })
  for (const [i, band] of BANDS.entries()) {
    const bytes = await bandFile(i)
    served.set(`/${band}.tif`, bytes)
    await put(`a/${band}.tif`, bytes)
    await writeFile(join(worker.folder, 'data', 'set', `${band}.tif`), bytes)
  }
  served.set('/scl.tif', await maskFile())
  await writeFile(join(worker.folder, 'data', 'whole.tif'), await wholeFile())
  await writeFile(join(worker.folder, 'secret.tif'), await bandFile(0))
})
afterAll(async () => {
  await worker[Symbol.asyncDispose]()
  server.closeAllConnections()
  server.close()
})

async function answer(request: IncomingMessage): Promise<Uint8Array | string | null> {
  const path = request.url ?? ''
  const text = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Uint8Array>)).toString('utf8')
  if (request.method !== 'POST') return served.get(path) ?? null
  const body = JSON.parse(text) as { token?: string; limit?: number }
  asked.push({ path, body })
  return path === '/search' ? JSON.stringify(page(body.token === undefined ? 0 : Number(body.token))) : null
}

const GEOREFERENCE = { epsg: 32633, affine: [400_000, 10, 0, 5_500_000, 0, -10] } as const
const texture = textureImage({ width: SIDE, height: SIDE, bands: 3, seed: 5, noise: 8, type: 'uint16' })
const pixels = texture.read(0, 0, SIDE, SIDE)
const at = (x: number, y: number, band: number): number => Math.max(1, pixels[(y * SIDE + x) * 3 + band]! / 20)
const LAYOUT = { type: 'uint16', compression: 'deflate', georeference: GEOREFERENCE, nodata: '0' } as const
const described = (band: number, value: string) => ({ band, role: 'description', value })

const bandFile = (i: number) =>
  writeGeoTiff(
    imageOf({ width: SIDE, height: SIDE, bands: 1 }, (x, y) => at(x, y, i)),
    LAYOUT,
  )
/** The same pixels in one file. */
const wholeFile = () =>
  writeGeoTiff(imageOf({ width: SIDE, height: SIDE, bands: 3 }, at), {
    ...LAYOUT,
    bandItems: BANDS.map((value, band) => described(band, value)),
  })
/** 20 m: clouds in the west, of the tiles of the first column. */
const maskFile = () =>
  writeGeoTiff(
    imageOf({ width: SIDE / 2, height: SIDE / 2, bands: 1 }, (x) => (x < SIDE / 4 ? 9 : 4)),
    {
      type: 'uint8',
      compression: 'deflate',
      georeference: { epsg: 32633, affine: [400_000, 20, 0, 5_500_000, 0, -20] },
    },
  )

function item(id: string, day: number): object {
  const asset = (file: string, more: object = {}) => ({
    href: `./${file}.tif`,
    type: 'image/tiff; application=geotiff',
    roles: ['data'],
    ...more,
  })
  const band = (common: string) =>
    asset(common, {
      'eo:bands': [{ name: common, common_name: common }],
      'raster:bands': [{ scale: 0.0001, offset: -0.1, nodata: 0 }],
    })
  return {
    type: 'Feature',
    stac_version: '1.0.0',
    id,
    collection: 'sentinel-2-l2a',
    properties: {
      datetime: `2025-03-0${day}T10:00:00Z`,
      platform: 'sentinel-2b',
      'eo:cloud_cover': 12.5,
      'earthsearch:boa_offset_applied': true,
    },
    assets: { ...Object.fromEntries(BANDS.map((one) => [one, band(one)])), scl: asset('scl') },
    links: [{ rel: 'self', href: `${origin}/${id}.json` }],
  }
}

/** Three pages of one item; the first link says all of the search, the second merges. */
function page(number: number): object {
  const next = { rel: 'next', href: `${origin}/search`, method: 'POST' }
  const links = [
    { ...next, body: { collections: ['sentinel-2-l2a'], limit: 1, token: '1' } },
    { ...next, merge: true, body: { token: '2' } },
  ]
  return {
    type: 'FeatureCollection',
    features: [item(`i${number}`, number + 1)],
    links: links.slice(number, number + 1),
  }
}

async function put(path: string, bytes: Uint8Array | string) {
  const body = [typeof bytes === 'string' ? Buffer.from(bytes) : bytes] as unknown as AsyncIterable<Uint8Array>
  await store.put('scenes', path, body, { upsert: true })
}

async function run(body: object) {
  const { status, body: record } = await submit(worker, 'createGeoEmbeddings', { ...MODEL, tableName: name(), ...body })
  expect({ status, record }).toMatchObject({ status: 202 })
  return until(worker, record.links.self)
}

async function refused(body: object) {
  const { status, body: problem } = await submit(worker, 'createGeoEmbeddings', {
    ...MODEL,
    tableName: name(),
    ...body,
  })
  return { ...problem, status } as unknown as { code: string; message: string }
}

async function query<Row extends Record<string, unknown>>(text: string, values: unknown[] = []): Promise<Row[]> {
  return (await worker.db.database.query<Row>(text, values)).rows
}

const vectorsOf = (table: string) =>
  query(
    `select id & 4294967295 as id, st_astext(geom, 6) as place, embedding::text from geoembeddings.${table} order by 1`,
  )
const sourcesOf = (table: string) =>
  query(
    'select name, datetime, profile, rows, properties from geoembeddings.embedding_sources where table_name = $1 order by source',
    [table],
  )

const STATED = { profile: 'sentinel-2-l2a' }
const ASSETS = [2, 1, 0].map((i) => ({ geotiffPath: `set/${BANDS[i]!}.tif`, name: BANDS[i]! }))

let hasWhole = false
/** The vectors of the file that has all bands. */
async function whole() {
  if (!hasWhole) await run({ geotiffPath: 'whole.tif', tableName: 'whole', ...STATED })
  hasWhole = true
  return vectorsOf('whole')
}

describe('a raster of many files', () => {
  test('is that of one file with all bands: by addresses and by a list', async () => {
    const record = Object.fromEntries(BANDS.map((band) => [band, `${origin}/${band}.tif`]))
    expect(await run({ assets: record, tableName: 'by_name', ...STATED })).toMatchObject({
      status: 'success',
      result: { rows: 4 },
    })
    expect(await vectorsOf('by_name')).toEqual(await whole())
    expect(await run({ sources: [{ assets: ASSETS, name: 'x' }], tableName: 'listed', ...STATED })).toMatchObject({
      status: 'success',
    })
    expect(await vectorsOf('listed')).toEqual(await whole())
    expect(await sourcesOf('listed')).toMatchObject([
      {
        name: 'x',
        profile: 'sentinel-2-l2a',
        properties: {
          resampling: 'bilinear',
          files: [{ name: 'red', file: 'set/red.tif', band: null }, { name: 'green' }, { name: 'blue' }],
        },
      },
    ])
    // Nothing has changed.
    expect(
      await run({ sources: [{ assets: ASSETS, name: 'x' }], tableName: 'listed', mode: 'append', ...STATED }),
    ).toMatchObject({
      result: { sources: { unchanged: 1, done: 0 } },
    })
  })

  test.each([
    ['a mask alone', { mask: { geotiffPath: 'set/red.tif' } }, 422, 'SOURCE_MISSING'],
    ['a file beside it', { assets: ASSETS, geotiffPath: 'whole.tif' }, 422, 'SOURCE_MISSING'],
    ['an asset without a file', { assets: [{ name: 'red' }] }, 422, 'SOURCE_MISSING'],
    ['a file that is not there', { assets: { red: 'none.tif' } }, 422, 'SOURCE_NOT_FOUND'],
    ['a private address', { assets: { red: 'http://169.254.169.254/x.tif' } }, 422, 'URL_REFUSED'],
  ])('is refused with %s', async (_, body, status, code) => {
    expect(await refused(body)).toMatchObject({ status, code })
  })
})

describe('STAC', () => {
  test('items of a search come page by page, each with its bands, mask, time and properties', async () => {
    const search = { collections: ['sentinel-2-l2a'], limit: 1 }
    const stac = { url: `${origin}/search`, search, maskAsset: 'scl' }
    expect(await run({ stac, tableName: 'searched' })).toMatchObject({
      status: 'success',
      result: { rows: 6, sources: { done: 3 } },
    })
    // Once for the plan; an end without new sources would ask again.
    expect(asked.slice(0, 3).map(({ body }) => body)).toEqual([
      search,
      { ...search, token: '1' },
      { ...search, token: '2' },
    ])
    expect(await sourcesOf('searched')).toMatchObject([
      {
        name: 'i0/red+green+blue',
        datetime: new Date('2025-03-01T10:00:00Z'),
        profile: 'sentinel-2-l2a',
        rows: 2,
        properties: {
          id: 'i0',
          collection: 'sentinel-2-l2a',
          platform: 'sentinel-2b',
          'eo:cloud_cover': 12.5,
          assets: ['red', 'green', 'blue'],
          mask: { values: [0, 1, 3, 8, 9, 10], bits: [] },
        },
      },
      { name: 'i1/red+green+blue' },
      { name: 'i2/red+green+blue' },
    ])
    // The east is not masked.
    const all = (await whole()) as { id: number | string }[]
    const east = all.filter(({ id }) => Number(id) % 2 === 1)
    const first = await query(
      `select id & 4294967295 as id, st_astext(geom, 6) as place, embedding::text from geoembeddings.searched where id < 4294967296 order by 1`,
    )
    expect(first).toEqual(east)
  })

  test('maxItems ends a search', async () => {
    const stac = { url: `${origin}/search`, search: {}, maxItems: 2, assets: ['red', 'B03', '2'] }
    expect(await run({ stac })).toMatchObject({ status: 'success', result: { rows: 8, sources: { total: 2 } } })
  })

  test('an item of the storage or of a data folder names files beside it', async () => {
    const { links: _, ...alone } = item('near', 1) as { links: unknown }
    await put('a/item.json', JSON.stringify(alone))
    expect(
      await run({ stac: { storagePath: { bucket: 'scenes', path: 'a/item.json' } }, tableName: 'stored_item' }),
    ).toMatchObject({ status: 'success' })
    expect(await vectorsOf('stored_item')).toEqual(await whole())
    await writeFile(join(worker.folder, 'data', 'set', 'item.json'), JSON.stringify(alone))
    expect(await run({ stac: { url: 'set/item.json' }, tableName: 'local_item' })).toMatchObject({ status: 'success' })
    expect(await vectorsOf('local_item')).toEqual(await whole())
  })

  test('a page that names itself as the next ends with an error', async () => {
    served.set(
      '/loop.json',
      JSON.stringify({ type: 'FeatureCollection', features: [], links: [{ rel: 'next', href: './loop.json' }] }),
    )
    expect(await run({ stac: { url: `${origin}/loop.json` } })).toMatchObject({
      status: 'failed',
      error: { code: 'STAC_UNUSABLE' },
    })
  })
})

describe('a VRT', () => {
  const vrt = (file: (band: string) => string) => `<VRTDataset rasterXSize="${SIDE}" rasterYSize="${SIDE}">
    <GeoTransform>400000, 10, 0, 5500000, 0, -10</GeoTransform>
    ${BANDS.map(
      (
        band,
        i,
      ) => `<VRTRasterBand dataType="UInt16" band="${i + 1}"><Description>${band}</Description><NoDataValue>0</NoDataValue>
      <SimpleSource>${file(band)}<SourceBand>1</SourceBand>
      <SrcRect xOff="0" yOff="0" xSize="${SIDE}" ySize="${SIDE}"/><DstRect xOff="0" yOff="0" xSize="${SIDE}" ySize="${SIDE}"/></SimpleSource></VRTRasterBand>`,
    ).join('')}
  </VRTDataset>`
  const named = (text: string, relative = 1) => `<SourceFilename relativeToVRT="${relative}">${text}</SourceFilename>`

  test('is read with the files that it names: in storage, at an address and in a data folder', async () => {
    const text = vrt((band) => named(`${band}.tif`))
    await put('a/all.vrt', text)
    served.set('/all.vrt', text)
    await writeFile(join(worker.folder, 'data', 'set', 'all.vrt'), text)
    for (const [table, body] of [
      ['vrt_stored', { storagePath: { bucket: 'scenes', path: 'a/all.vrt' } }],
      ['vrt_far', { geotiffPath: `${origin}/all.vrt` }],
      ['vrt_local', { geotiffPath: 'set/all.vrt' }],
    ] as const) {
      expect(await run({ ...body, tableName: table, ...STATED })).toMatchObject({ status: 'success' })
      expect(await vectorsOf(table)).toEqual(await whole())
      const files = BANDS.map((band) => ({ file: expect.stringContaining(`${band}.tif`) as string }))
      expect(await sourcesOf(table)).toMatchObject([{ properties: { files } }])
    }
  })

  test.each([
    ['a file of the machine', 'a/', named('/etc/passwd', 0), 'SOURCE_NOT_FOUND'],
    ['a file outside of its bucket', 'a/', named('../../x.tif'), 'SOURCE_NOT_FOUND'],
    ['a private address', 'a/', named('/vsicurl/http://169.254.169.254/x.tif', 0), 'URL_REFUSED'],
    ['another file system of GDAL', 'a/', named('/vsizip/x.zip/a.tif', 0), 'SOURCE_NOT_FOUND'],
    ['a file outside of the data folders', null, named('../../secret.tif'), 'SOURCE_NOT_FOUND'],
    ['itself', 'a/', named('bad.vrt'), 'NOT_A_GEOTIFF'],
  ])('is refused when it names %s', async (_, folder, file, code) => {
    const text = vrt(() => file)
    await put('a/bad.vrt', text)
    await writeFile(join(worker.folder, 'data', 'set', 'bad.vrt'), text)
    const body =
      folder === null ? { geotiffPath: 'set/bad.vrt' } : { storagePath: { bucket: 'scenes', path: 'a/bad.vrt' } }
    expect(await run(body)).toMatchObject({ status: 'failed', error: { code } })
  })
})
