// Slow: stores are imported in jobs.
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { openStore, type ArtifactStore } from '@terrane/storage'
import { writeZarr, writeZarrGroup, type ZarrFixture, type ZarrObjects } from '@terrane/testing/zarr'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorker, submit, until, type TestWorker } from './harness.ts'

const TASK = 'importEmbeddings'
const [WIDTH, HEIGHT, BANDS] = [7, 5, 4] as const
let worker: TestWorker
let store: ArtifactStore
let server: Server
let serve: RequestListener
let count = 0

beforeAll(async () => {
  server = createServer((request, response) => serve(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const settings = { worker: { maxPatches: 100 } }
  worker = await openWorker({
    env: {
      TERRANE_FETCH_ALLOW_HOSTS: host,
      TERRANE_SETTINGS: JSON.stringify(settings),
      GEOEMBEDDINGS_MAX_GEOTIFF_BYTES: '100000',
    },
  })
  store = openStore(worker.env['TERRANE_STORAGE']!, worker.env)
  await store.createBucket('files', { public: false, fileSizeLimit: null, allowedMimeTypes: null })
})
afterAll(async () => {
  await worker[Symbol.asyncDispose]()
  server.close()
})

const originOf = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

async function run(body: object) {
  const tableName = `z_${++count}`
  const { status, body: record } = await submit(worker, TASK, { tableName, ...body })
  expect({ status, record }).toMatchObject({ status: 202 })
  return { tableName, job: await until(worker, record.links.self) }
}

/** Puts a store into the storage, and imports it. */
async function importStore(objects: ZarrObjects, body: object = {}, path = '') {
  const root = `s${++count}/2024.zarr`
  for (const [key, bytes] of objects) await store.put('files', `${root}/${key}`, Readable.from([bytes]))
  const storagePath = { bucket: 'files', path: `${root}${path}` }
  return run({ storagePath, product: 'mine', pool: { tileSize: 1 }, ...body })
}

async function rowsOf(table: string) {
  const { rows } = await worker.db.database.query<{ id: string; v: string; west: number; south: number }>(
    `select id, embedding::text as v, st_xmin(geom) as west, st_ymin(geom) as south from geoembeddings.${table} order by id`,
  )
  return rows.map(({ id, v, west, south }) => ({ id: Number(id), v: JSON.parse(v) as number[], west, south }))
}

/** A stored number that no other pixel and band nearby has. */
const stored = (x: number, y: number, band: number) => ((x * 31 + y * 17 + band * 7) % 120) - 60
const axis = (version: 2 | 3, name: string, [size, start, step]: readonly [number, number, number]): ZarrObjects =>
  writeZarr({
    version,
    path: name,
    names: [name],
    shape: [size],
    chunk: [size],
    type: 'float64',
    valueAt: ([i]) => start + step * i!,
  })

/** A store with coordinates of the centres of its pixels: 0.01 degrees, from 10° east and 50° north. */
function lngLatStore(array: Omit<ZarrFixture, 'path'>, { north = true } = {}): ZarrObjects {
  const { version } = array
  return new Map([
    ...writeZarrGroup(version, ''),
    ...axis(version, 'lon', [WIDTH, 10.005, 0.01]),
    ...axis(version, 'lat', north ? [HEIGHT, 49.995, -0.01] : [HEIGHT, 49.955, 0.01]),
    ...writeZarr({ ...array, path: 'embeddings' }),
  ])
}

const pixelsFirst = { names: ['lat', 'lon', 'band'], shape: [HEIGHT, WIDTH, BANDS] } as const
const plain = {
  ...pixelsFirst,
  version: 3,
  chunk: [3, 4, BANDS],
  type: 'int8',
  codec: 'gzip',
  valueAt: ([y, x, b]: readonly number[]) => stored(x!, y!, b!),
} satisfies Omit<ZarrFixture, 'path'>
const asStored = { quantization: { method: 'linear', scale: 1 } }

const LAYOUTS: readonly {
  readonly layout: string
  readonly array: Omit<ZarrFixture, 'path'>
  readonly body?: object
}[] = [
  { layout: 'version 3, rows first, gzip', array: plain, body: asStored },
  {
    layout: 'version 2, bands first and each in chunks of its own, raw',
    array: {
      version: 2,
      names: ['band', 'lat', 'lon'],
      shape: [BANDS, HEIGHT, WIDTH],
      chunk: [1, 2, 7],
      type: 'float32',
      fill: Number.NaN,
      separator: '/',
      valueAt: ([b, y, x]) => stored(x!, y!, b!),
    },
  },
  {
    layout: 'version 3 of half floats in shards, with one date, zstd',
    array: {
      version: 3,
      names: ['time', 'band', 'lat', 'lon'],
      shape: [1, BANDS, HEIGHT, WIDTH],
      type: 'float16',
      chunk: [1, 2, 2, 2],
      shard: [1, 4, 4, 4],
      codec: 'zstd',
      valueAt: ([, b, y, x]) => stored(x!, y!, b!),
    },
  },
  {
    layout: 'version 2, columns in Fortran order, big-endian, zlib, with scale and offset',
    array: {
      ...pixelsFirst,
      version: 2,
      chunk: [4, 3, 3],
      type: 'int16',
      codec: 'zlib',
      order: 'F',
      bigEndian: true,
      attributes: { scale_factor: 0.5, add_offset: 1 },
      valueAt: ([y, x, b]) => (stored(x!, y!, b!) - 1) * 2,
    },
  },
  {
    layout: 'version 3, transposed',
    array: { ...plain, order: 'F', type: 'float64', codec: 'zstd' },
  },
]

describe.each(LAYOUTS)('a store of $layout', ({ array, body }) => {
  test('becomes rows with the vectors of its pixels, at their places', async () => {
    const { job, tableName } = await importStore(lngLatStore(array), body)
    expect(job.error).toBeNull()
    const rows = await rowsOf(tableName)
    expect(rows).toHaveLength(WIDTH * HEIGHT)
    for (const { id, v, west, south } of rows) {
      const [x, y] = [id % WIDTH, Math.floor(id / WIDTH)]
      expect(v).toEqual(Array.from({ length: BANDS }, (_, band) => stored(x, y, band)))
      expect([west, south].map((degrees) => Math.round(degrees * 1e6))).toEqual([10e6 + x * 1e4, 50e6 - (y + 1) * 1e4])
    }
  })
})

test('rows from south to north are placed as their coordinates say', async () => {
  const { tableName } = await importStore(lngLatStore(plain, { north: false }), asStored)
  const [first] = await rowsOf(tableName)
  expect(first).toMatchObject({ id: 0, v: [0, 1, 2, 3].map((band) => stored(0, 0, band)) })
  expect(first!.south).toBeCloseTo(49.95, 6)
})

test('transform and code of the conventions, of the grid mapping of CF and of GDAL place pixels alike', async () => {
  const affine = [20, 0, 400_000, 0, -20, 5_600_000]
  const utm = { ...plain, names: ['y', 'x', 'band'], path: 'embeddings' } as const
  const mapping = { spatial_ref: 'PROJCS["WGS 84 / UTM zone 33N",AUTHORITY["EPSG","32633"]]' }
  const scalar = { version: 3, path: 'spatial_ref', names: ['one'], shape: [1], chunk: [1], type: 'uint8' } as const
  const stores: ZarrObjects[] = [
    new Map([...writeZarrGroup(3, '', { 'proj:code': 'EPSG:32633', 'spatial:transform': affine }), ...writeZarr(utm)]),
    new Map([
      ...writeZarrGroup(3, ''),
      ...writeZarr({ ...utm, attributes: { grid_mapping: 'spatial_ref' } }),
      ...writeZarr({
        ...scalar,
        valueAt: () => 0,
        attributes: { ...mapping, GeoTransform: '400000 20 0 5600000 0 -20' },
      }),
    ]),
    new Map([
      ...writeZarrGroup(3, ''),
      ...axis(3, 'x', [WIDTH, 400_010, 20]),
      ...axis(3, 'y', [HEIGHT, 5_599_990, -20]),
      ...writeZarr({ ...utm, attributes: { _CRS: { url: 'http://www.opengis.net/def/crs/EPSG/0/32633' } } }),
    ]),
  ]
  const places = []
  for (const objects of stores) {
    const { job, tableName } = await importStore(objects, asStored)
    expect(job.error).toBeNull()
    expect(job.result).toMatchObject({ crs: 'EPSG:32633' })
    places.push((await rowsOf(tableName)).map(({ west, south }) => [west, south].map((at) => Math.round(at * 1e9))))
  }
  expect(places[1]).toEqual(places[0])
  expect(places[2]).toEqual(places[0])
})

test('chunks that were never written, and nodata, have no vectors', async () => {
  const isMissing = ([y, x]: readonly number[]) => y === 0 && x === 0
  const valueAt = ([y, x, b]: readonly number[]) => (y === 4 && x === 6 ? -128 : stored(x!, y!, b!))
  const { tableName } = await importStore(lngLatStore({ ...plain, fill: -128, isMissing, valueAt }), asStored)
  const ids = (await rowsOf(tableName)).map(({ id }) => id)
  const isThere = (x: number, y: number) => !(y < 3 && x < 4) && !(y === 4 && x === 6)
  const wanted = Array.from({ length: WIDTH * HEIGHT }, (_, id) => id)
  expect(ids).toEqual(wanted.filter((id) => isThere(id % WIDTH, Math.floor(id / WIDTH))))
})

test('TESSERA has a scale for each pixel, its version and its year; a scale that is no number leaves out', async () => {
  const version = 3
  const attributes = { 'tessera:model_version': '1.0', 'tessera:year': 2023, 'proj:code': 'EPSG:32633' }
  const scaleAt = (x: number, y: number) => (x === 0 && y === 0 ? Number.NaN : (x + 1) / 8 + y)
  const objects: ZarrObjects = new Map([
    ...writeZarrGroup(version, ''),
    ...writeZarrGroup(version, 'utm33', { ...attributes, 'spatial:transform': [10, 0, 4e5, 0, -10, 56e5] }),
    ...writeZarr({
      version,
      path: 'utm33/embeddings',
      names: ['northing', 'easting', 'band'],
      type: 'int8',
      shape: [HEIGHT, WIDTH, 128],
      chunk: [2, 2, 128],
      shard: [4, 4, 128],
      codec: 'zstd',
      valueAt: ([y, x, b]) => stored(x!, y!, b!),
    }),
    ...writeZarr({
      version,
      path: 'utm33/scales',
      names: ['northing', 'easting'],
      shape: [HEIGHT, WIDTH],
      type: 'float32',
      chunk: [2, 2],
      shard: [4, 4],
      codec: 'zstd',
      fill: Number.NaN,
      valueAt: ([y, x]) => scaleAt(x!, y!),
    }),
  ])
  const { job, tableName } = await importStore(objects, { product: 'tessera' }, '/utm33')
  expect(job.error).toBeNull()
  expect(job.result).toMatchObject({ model: { id: 'tessera@1.0' } })
  const rows = await rowsOf(tableName)
  expect(rows.map(({ id }) => id)).toEqual(Array.from({ length: WIDTH * HEIGHT - 1 }, (_, i) => i + 1))
  for (const { id, v } of rows) {
    const [x, y] = [id % WIDTH, Math.floor(id / WIDTH)]
    const wanted = Array.from({ length: 128 }, (_, band) => Math.fround(stored(x, y, band) * scaleAt(x, y)))
    expect(v).toEqual(wanted)
  }
  const { job: other } = await importStore(objects, { product: 'tessera', version: '1.1' }, '/utm33')
  expect(other.error?.code).toBe('PRODUCT_MISMATCH')
})

test('of an array of several years that of datetime is read', async () => {
  const objects = (units: string | null, values: readonly number[]): ZarrObjects =>
    new Map([
      ...lngLatStore({
        ...plain,
        names: ['time', ...plain.names],
        shape: [3, ...plain.shape],
        chunk: [1, ...plain.chunk],
        shard: [2, 3, 4, BANDS],
        valueAt: ([t, y, x, b]) => stored(x!, y!, b!) + t!,
      }),
      ...writeZarr({
        version: 3,
        path: 'time',
        names: ['time'],
        shape: [3],
        chunk: [3],
        type: 'float64',
        attributes: units === null ? {} : { units },
        valueAt: ([t]) => values[t!]!,
      }),
    ])
  for (const [t, units, values] of [
    [0, null, [2022, 2023, 2024]],
    [2, null, [2022, 2023, 2024]],
    [1, 'days since 2022-01-01 00:00:00', [0, 365, 730]],
  ] as const) {
    const datetime = `${2022 + t}-01-01T00:00:00Z`
    const { tableName } = await importStore(objects(units, values), { ...asStored, datetime })
    expect((await rowsOf(tableName))[9]?.v).toEqual([0, 1, 2, 3].map((band) => stored(2, 1, band) + t))
  }
  const { job } = await importStore(objects(null, [2022, 2022, 2024]), {
    ...asStored,
    datetime: '2022-01-01T00:00:00Z',
  })
  expect(job.error?.message).toContain('2022 is not there once')
})

test('of a store behind a URL only the chunks of the areas are fetched', async () => {
  const objects = lngLatStore({ ...plain, chunk: [1, 1, BANDS] })
  const asked: string[] = []
  serve = (request, response) => {
    const { pathname, search } = new URL(request.url!, originOf())
    expect([pathname.startsWith('/a/b.zarr/'), search]).toEqual([true, '?token=1'])
    const key = pathname.slice('/a/b.zarr/'.length)
    asked.push(key)
    const bytes = objects.get(key)
    response.writeHead(bytes === undefined ? 404 : 200).end(bytes)
  }
  await worker.db.database.query(
    `create table public.plots as select 'one' as id,
       st_setsrid(st_makeenvelope(10.0101, 49.9801, 10.0299, 49.9899), 4326) as geom`,
  )
  const url = `${originOf()}/a/b.zarr?token=1`
  const { job, tableName } = await run({ url, product: 'mine', ...asStored, pool: { table: 'plots' } })
  expect(job.error).toBeNull()
  expect(asked.filter((key) => key.startsWith('embeddings/c/')).toSorted()).toEqual([
    'embeddings/c/1/1/0',
    'embeddings/c/1/2/0',
  ])
  const [row] = await rowsOf(tableName)
  expect(row!.v).toEqual([0, 1, 2, 3].map((band) => (stored(1, 1, band) + stored(2, 1, band)) / 2))
})

describe('a server that answers 403', () => {
  /** Serves a store, with a status for objects that are missing and one for objects of a closed part. */
  const serveStore = (objects: ZarrObjects, missing: number, isClosed: (key: string) => boolean = () => false) => {
    serve = (request, response) => {
      const key = new URL(request.url!, originOf()).pathname.slice('/a/b.zarr/'.length)
      const closed = isClosed(key)
      const bytes = closed ? undefined : objects.get(key)
      response.writeHead(bytes === undefined ? (closed ? 403 : missing) : 200).end(bytes)
    }
    return run({ url: `${originOf()}/a/b.zarr`, product: 'mine', pool: { tileSize: 1 }, ...asStored })
  }
  const holes = lngLatStore({ ...plain, fill: -128, isMissing: ([y, x]) => y === 0 && x === 0 })

  test('for what does not exist gives the rows that one gives that answers 404, and a warning', async () => {
    const [plainly, closed] = [await serveStore(holes, 404), await serveStore(holes, 403)]
    expect([plainly.job.error, closed.job.error]).toEqual([null, null])
    expect(await rowsOf(closed.tableName)).toEqual(await rowsOf(plainly.tableName))
    expect(plainly.job.result).not.toHaveProperty('warnings')
    expect(closed.job.result!.warnings).toEqual([
      expect.objectContaining({ code: 'OBJECTS_FORBIDDEN', count: 1, examples: ['embeddings/c/0/0/0'] }),
    ])
  })

  test('for chunks that exist ends the job where what does not exist is 404, or where no chunk can be read', async () => {
    const isChunk = (key: string) => key.startsWith('embeddings/c/')
    const one = await serveStore(holes, 404, (key) => key === 'embeddings/c/1/1/0')
    expect(one.job.error).toMatchObject({
      code: 'ZARR_UNUSABLE',
      message: expect.stringContaining('403 for embeddings/c/1/1/0') as string,
    })
    let served = 0
    const ended = await serveStore(holes, 403, (key) => (isChunk(key) ? ++served > 1 : served > 1))
    expect(ended.job.error).toMatchObject({
      code: 'ZARR_UNUSABLE',
      message: expect.stringContaining('gives no more of it') as string,
    })
    const none = await serveStore(holes, 403, isChunk)
    expect(none.job.error).toMatchObject({
      code: 'ZARR_UNUSABLE',
      message: expect.stringContaining('403 for all of its') as string,
    })
  })

  test('for all metadata or for coordinates ends the job with what is closed', async () => {
    const all = await serveStore(holes, 403, () => true)
    expect(all.job.error).toMatchObject({
      code: 'ZARR_UNUSABLE',
      message: expect.stringContaining('403 for all of its metadata') as string,
    })
    const one = await serveStore(holes, 403, (key) => key === 'lat/c/0')
    expect(one.job.error).toMatchObject({
      code: 'ZARR_UNUSABLE',
      message: expect.stringContaining('403 for lat/c/0') as string,
    })
  })
})

test('a store whose bands are in chunks of their own has no vectors where none of them was written', async () => {
  const layered = { ...plain, chunk: [3, 4, 2], fill: 7 }
  const isMissing = ([y, x, b]: readonly number[]) => x === 0 && (y === 0 || b === 0)
  const { tableName } = await importStore(
    lngLatStore({ ...layered, isMissing, attributes: { _FillValue: -128 } }),
    asStored,
  )
  const rows = await rowsOf(tableName)
  expect(rows.map(({ id }) => id)).toEqual(
    Array.from({ length: WIDTH * HEIGHT }, (_, id) => id).filter((id) => id % WIDTH >= 4 || id >= 3 * WIDTH),
  )
  // The first bands of these pixels were never written.
  expect(rows.find(({ id }) => id === 3 * WIDTH)!.v).toEqual([7, 7, stored(0, 3, 2), stored(0, 3, 3)])
})

describe('a store is refused', () => {
  const refusal = async (objects: ZarrObjects, body: object = asStored) => {
    const { job } = await importStore(objects, body)
    return { code: job.error?.code, message: job.error?.message }
  }
  const unusable = (text: string) => ({ code: 'ZARR_UNUSABLE', message: expect.stringContaining(text) as string })

  test('when a chunk decodes to more bytes than it has', async () => {
    const zeros = new Uint8Array(1 << 24)
    for (const [codec, bomb] of [
      ['gzip', gzipSync(zeros)],
      ['zstd', zstdCompressSync(zeros)],
    ] as const) {
      const objects = lngLatStore({ ...plain, codec })
      const key = 'embeddings/c/0/0/0'
      objects.set(key, bomb)
      expect(await refusal(objects)).toEqual(unusable(key))
    }
  })

  test('when a header of blosc announces more bytes than a chunk has', async () => {
    const objects = lngLatStore(plain)
    const meta = JSON.parse(Buffer.from(objects.get('embeddings/zarr.json')!).toString()) as { codecs: object[] }
    meta.codecs[1] = { name: 'blosc', configuration: {} }
    objects.set('embeddings/zarr.json', Buffer.from(JSON.stringify(meta)))
    const header = Buffer.alloc(64)
    header.writeUInt32LE(0xff_ff_ff_00, 4)
    for (const key of objects.keys()) if (key.startsWith('embeddings/c/')) objects.set(key, header)
    expect(await refusal(objects)).toEqual(unusable('decodes to 4294967040 bytes'))
  })

  test('when a chunk is cut off, or has samples of another shape', async () => {
    const objects = lngLatStore(plain)
    const [key, other] = [...objects.keys()].filter((name) => name.startsWith('embeddings/c/'))
    objects.set(key!, objects.get(key!)!.subarray(0, 20))
    expect(await refusal(objects)).toEqual(unusable(key!))
    const short = lngLatStore(plain)
    short.set(other!, gzipSync(new Uint8Array(5)))
    expect(await refusal(short)).toEqual(unusable('5 samples'))
  })

  test('when chunks would be larger than memory allows', async () => {
    const objects = lngLatStore(plain)
    const meta = JSON.parse(Buffer.from(objects.get('embeddings/zarr.json')!).toString()) as Record<string, object>
    meta['chunk_grid'] = { name: 'regular', configuration: { chunk_shape: [1 << 20, 1 << 20, BANDS] } }
    objects.set('embeddings/zarr.json', Buffer.from(JSON.stringify(meta)))
    expect(await refusal(objects)).toEqual(unusable('the limit is'))
  })

  test('when its transform and its coordinates differ, coordinates are uneven, or several dates are there', async () => {
    const off = { 'spatial:transform': [0.01, 0, 10.01, 0, -0.01, 50], 'proj:code': 'EPSG:4326' }
    expect(await refusal(lngLatStore({ ...plain, attributes: off }))).toEqual(unusable('its transform puts'))
    const uneven = new Map([...lngLatStore(plain), ...axis(3, 'lon', [WIDTH, 10.005, 0.01])])
    uneven.set('lon/c/0', new Uint8Array(Float64Array.of(10, 11, 12, 15, 16, 17, 18).buffer))
    expect(await refusal(uneven)).toEqual(unusable('not evenly spaced'))
    const dates = lngLatStore({
      ...plain,
      names: ['time', ...plain.names],
      shape: [2, ...plain.shape],
      chunk: [1, ...plain.chunk],
      valueAt: () => 1,
    })
    expect(await refusal(dates)).toEqual(unusable('no coordinates that are years'))
  })

  test('without names of dimensions, without a reference system, and by a name that leads out of it', async () => {
    expect(await refusal(lngLatStore({ ...plain, names: [] }))).toEqual(unusable('have no names'))
    const bare = new Map([
      ...writeZarrGroup(3, ''),
      ...writeZarr({ ...plain, names: ['y', 'x', 'band'], path: 'embeddings' }),
    ])
    expect(await refusal(bare)).toMatchObject({ code: 'NO_GEOREFERENCE' })
    expect(await refusal(lngLatStore(plain), { columns: { vector: '..' } })).toEqual(unusable('is not a name'))
  })

  test('when its server redirects', async () => {
    serve = (_, response) => response.writeHead(302, { location: 'https://example.org/' }).end()
    const { job } = await run({ url: `${originOf()}/a.zarr`, product: 'mine' })
    expect(job.error).toMatchObject(unusable('redirects are not followed'))
  })

  test('when its objects together have more bytes than an import may have', async () => {
    const { codec: _, ...raw } = plain
    const large = { ...raw, chunk: [3, 4, 3000], shape: [HEIGHT, WIDTH, 6000] }
    expect(await refusal(lngLatStore(large))).toMatchObject({ code: 'OBJECT_TOO_LARGE' })
  })

  test('at submit, when the storage has none', async () => {
    const storagePath = { bucket: 'files', path: 'none.zarr' }
    expect((await submit(worker, TASK, { tableName: 'never', storagePath })).body.code).toBe('OBJECT_NOT_FOUND')
  })
})
