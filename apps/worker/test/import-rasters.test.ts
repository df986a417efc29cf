// Slow: each import is a job with a thread of its own.
import { Readable } from 'node:stream'
import { seededRandom } from '@terrane/core'
import { openStore, type ArtifactStore } from '@terrane/storage'
import { writeGeoTiff, type GeoTiffOptions } from '@terrane/testing/geotiff'
import { latLngToCell } from 'h3-js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorker, submit, until, type TestWorker } from './harness.ts'

const TASK = 'importEmbeddings'
let worker: TestWorker
let store: ArtifactStore
let count = 0

beforeAll(async () => {
  worker = await openWorker({ env: { TERRANE_SETTINGS: JSON.stringify({ worker: { maxPatches: 300 } }) } })
  store = openStore(worker.env['TERRANE_STORAGE']!, worker.env)
  await store.createBucket('files', { public: false, fileSizeLimit: null, allowedMimeTypes: null })
})
afterAll(() => worker[Symbol.asyncDispose]())

async function importFile(bytes: Uint8Array, body: object = {}, path = `f${count}.tif`) {
  const tableName = `r_${++count}`
  await store.put('files', path, Readable.from([bytes]), { upsert: true })
  const { body: record } = await submit(worker, TASK, { storagePath: { bucket: 'files', path }, tableName, ...body })
  return { tableName, job: await until(worker, record.links.self) }
}

async function query<Row extends Record<string, unknown>>(text: string, values: unknown[] = []): Promise<Row[]> {
  return (await worker.db.database.query<Row>(text, values)).rows
}

const [WIDTH, HEIGHT, BANDS] = [60, 45, 64]
const MASKED = (x: number, y: number) => x < 22 && y < 17
/** Corner and step of the rows: this grid is bottom-up, as the copies on Source Cooperative are. */
const AFFINE = [400_000, 10, 0, 5_000_000, 0, 10] as const
const random = seededRandom(3)
const noise = Array.from({ length: WIDTH * HEIGHT * BANDS }, () => Math.floor(random() * 60) - 30)
/** Row 0 is the southernmost: band 0 grows to the north. */
const stored = (x: number, y: number, band: number) => {
  if (MASKED(x, y)) return -128
  return band === 0 ? 2 * y - 40 : noise[(y * WIDTH + x) * BANDS + band]!
}
const valueOf = (x: number, y: number, band: number) => {
  const v = stored(x, y, band) / 127.5
  return Math.sign(v) * v * v
}
const image = {
  width: WIDTH,
  height: HEIGHT,
  bands: BANDS,
  read: (x: number, y: number, w: number, h: number) =>
    Array.from({ length: w * h * BANDS }, (_, i) => {
      const pixel = Math.floor(i / BANDS)
      return stored(x + (pixel % w), y + Math.floor(pixel / w), i % BANDS)
    }),
}
const bandItems = (names: (band: number) => string) =>
  Array.from({ length: BANDS }, (_, band) => ({ band, role: 'description', value: names(band) }))
const ALPHA_EARTH: GeoTiffOptions = {
  type: 'int8',
  planar: true,
  tileSize: 32,
  compression: 'zstd',
  nodata: '-128',
  georeference: { epsg: 32_633, affine: AFFINE },
  bandItems: bandItems((band) => `A${String(band).padStart(2, '0')}`),
}
let alphaEarth: Uint8Array
beforeAll(async () => {
  alphaEarth = await writeGeoTiff(image, ALPHA_EARTH)
})

test('a raster in a datum without a published shift keeps its positions, with a warning', async () => {
  const small = { width: 2, height: 1, bands: 2, read: (x: number, _y: number, w: number) => Array.from({ length: 2 * w }, (_, i) => 2 * x + i) } // prettier-ignore
  const file = await writeGeoTiff(small, {
    type: 'float32',
    georeference: { epsg: 25_231, affine: [156_130, 10, 0, 1_233_190, 0, -10] },
  })
  const { job, tableName } = await importFile(file, { product: 'mine', pool: { tileSize: 1 } })
  expect(job.result?.['warnings']).toMatchObject([{ code: 'DATUM_NOT_SHIFTED' }])
  const rows = await query<{ v: string; west: number; north: number }>(
    `select embedding::text as v, st_xmin(geom) as west, st_ymax(geom) as north from geoembeddings.${tableName} order by id`,
  )
  expect(rows.map(({ v }) => v)).toEqual(['[0,1]', '[2,3]'])
  // The corner by PROJ 9.6.
  expect(Math.abs(rows[0]!.west + 0.14768787)).toBeLessThan(1e-6)
  expect(Math.abs(rows[0]!.north - 11.14013889)).toBeLessThan(1e-6)
})

/** The mean of pixels, brought to length 1. */
function meanOf(pixels: readonly (readonly [number, number])[]): number[] {
  const valid = pixels.filter(([x, y]) => !MASKED(x, y))
  const mean = Array.from(
    { length: BANDS },
    (_, band) => valid.reduce((sum, [x, y]) => sum + valueOf(x, y, band), 0) / valid.length,
  )
  const length = Math.hypot(...mean)
  return mean.map((value) => value / length)
}

function worstOf(found: string, wanted: readonly number[]): number {
  return Math.max(...(JSON.parse(found) as number[]).map((value, i) => Math.abs(value - wanted[i]!)))
}

const allPixels = Array.from({ length: WIDTH * HEIGHT }, (_, i) => [i % WIDTH, Math.floor(i / WIDTH)] as const)

describe('a bottom-up AlphaEarth file', () => {
  test('is pooled by tiles that lie where their pixels are', async () => {
    const { job, tableName } = await importFile(alphaEarth, { pool: { tileSize: 16 } }, 'annual/2023/33N/x086q.tiff')
    expect(job).toMatchObject({
      status: 'success',
      result: {
        rows: 11,
        dims: 64,
        skipped_nodata: 1,
        crs: 'EPSG:32633',
        model: { id: 'alphaearth@v1', licence: 'CC-BY-4.0' },
        attribution: expect.stringContaining('produced by Google and Google DeepMind') as string,
      },
    })
    const rows = await query<{ v: string; px: number; py: number; south: number; north: number; valid: number }>(
      `select embedding::text as v, px, py, valid_fraction as valid, st_ymin(st_transform(geom, 32633)) as south,
         st_ymax(st_transform(geom, 32633)) as north from geoembeddings.${tableName} order by id`,
    )
    for (const { v, px, py, south, north, valid } of rows) {
      const pixels = allPixels.filter(([x, y]) => x >= px && x < px + 16 && y >= py && y < py + 16)
      expect(worstOf(v, meanOf(pixels))).toBeLessThan(1e-6)
      expect(valid).toBeCloseTo(pixels.filter(([x, y]) => !MASKED(x, y)).length / pixels.length, 6)
      // South is up in the file: the first row lies at the foot of the map.
      expect([Math.round(south), Math.round(north)]).toEqual([
        5_000_000 + py * 10,
        5_000_000 + Math.min(HEIGHT, py + 16) * 10,
      ])
    }
    const [entry] = await query(
      `select c.normalized, c.level, c.tile_size, s.datetime, s.data_type from geoembeddings.embeddings_catalogue c
       join geoembeddings.embedding_sources s using (table_name) where table_name = $1`,
      [tableName],
    )
    expect(entry).toEqual({
      normalized: true,
      level: 'tile',
      tile_size: 16,
      datetime: new Date('2023-01-01'),
      data_type: 'int8',
    })
  })

  test('gives the same, whether bands lie in planes or side by side, or rows run down', async () => {
    const sums = new Set<string>()
    const [x0, xc, xr, y0, yc, yr] = AFFINE
    const turned = { ...image, read: (x: number, y: number, w: number, h: number) =>
      Array.from({ length: w * h * BANDS }, (_, i) => {
        const pixel = Math.floor(i / BANDS)
        return stored(x + (pixel % w), HEIGHT - 1 - y - Math.floor(pixel / w), i % BANDS)
      }) } // prettier-ignore
    const topDown = { epsg: 32_633, affine: [x0, xc, xr, y0 + HEIGHT * yr, yc, -yr] as const }
    for (const [source, options] of [
      [image, ALPHA_EARTH],
      [image, { ...ALPHA_EARTH, planar: false, compression: 'deflate' }],
      [turned, { ...ALPHA_EARTH, georeference: topDown }],
    ] as const) {
      const { tableName } = await importFile(await writeGeoTiff(source, options), { pool: { tileSize: 15 } })
      const [row] = await query<{ sum: string }>(
        `select md5(string_agg(round(st_y(st_centroid(geom))::numeric, 6) || embedding::text, '' order by st_y(st_centroid(geom)), st_x(st_centroid(geom)))) as sum
         from geoembeddings.${tableName}`,
      )
      sums.add(row!.sum)
    }
    expect(sums.size).toBe(1)
  })

  test('is pooled by H3 cells, with the pixels whose centre lies in each', async () => {
    const { job, tableName } = await importFile(alphaEarth, { pool: { h3Resolution: 10 }, minValidFraction: 0 })
    expect(job.status).toBe('success')
    const centres = await query<{ lng: number; lat: number }>(
      `select st_x(p) as lng, st_y(p) as lat from (select st_transform(st_setsrid(st_makepoint(400005 + x * 10, 5000005 + y * 10), 32633), 4326) as p
         from generate_series(0, ${HEIGHT - 1}) y, generate_series(0, ${WIDTH - 1}) x order by y, x) t`,
    )
    const cells = new Map<string, (readonly [number, number])[]>()
    for (const [i, { lng, lat }] of centres.entries()) {
      const cell = latLngToCell(lat, lng, 10)
      cells.set(cell, [...(cells.get(cell) ?? []), allPixels[i]!])
    }
    const rows = await query<{ place_id: string; v: string; valid: number }>(
      `select place_id, embedding::text as v, valid_fraction as valid from geoembeddings.${tableName}`,
    )
    const wanted = [...cells].filter(([, pixels]) => pixels.some(([x, y]) => !MASKED(x, y)))
    expect(rows.map((row) => row.place_id).toSorted()).toEqual(wanted.map(([cell]) => cell).toSorted())
    for (const { place_id: cell, v } of rows) expect(worstOf(v, meanOf(cells.get(cell)!))).toBeLessThan(1e-6)
  })

  test('is pooled by the areas of a table, whose holes are left out, by mean and deviation', async () => {
    await query(`create table fields (id text, geom geometry(Polygon, 25833))`)
    const box = (left: number, bottom: number, size: number) =>
      `(${[[0, 0], [size, 0], [size, size], [0, size], [0, 0]].map(([x, y]) => `${400_000 + (left + x!) * 10} ${5_000_000 + (bottom + y!) * 10}`).join()})` // prettier-ignore
    await query(`insert into fields select id, st_setsrid(st_geomfromtext(wkt), 25833) from (values
      ('wheat', 'POLYGON(${box(30, 20, 10)},${box(33, 23, 4)})'), ('far', 'POLYGON(${box(5000, 0, 4)})')) t(id, wkt)`)
    const body = { pool: { table: 'fields' }, statistics: ['mean', 'std'] }
    const { job, tableName } = await importFile(alphaEarth, body)
    expect(job.result).toMatchObject({ rows: 1, dims: 128, model: { id: 'alphaearth@v1+mean+std' } })
    const [row] = await query<{ v: string; place_id: string }>(
      `select place_id, embedding::text as v from geoembeddings.${tableName}`,
    )
    const within = ([x, y]: readonly [number, number], left: number, bottom: number, size: number) =>
      x >= left && x < left + size && y >= bottom && y < bottom + size
    const pixels = allPixels.filter((at) => within(at, 30, 20, 10) && !within(at, 33, 23, 4))
    const deviations = Array.from({ length: BANDS }, (_, band) => {
      const values = pixels.map(([x, y]) => valueOf(x, y, band))
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length
      return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length)
    })
    expect(row!.place_id).toBe('wheat')
    expect(worstOf(row!.v, [...meanOf(pixels), ...deviations])).toBeLessThan(1e-6)
  })

  test.each([
    ['a product that it is not', { product: 'tessera', version: '1.0' }, 'PRODUCT_MISMATCH'],
    ['a table that is not there', { pool: { table: 'nowhere' } }, 'TABLE_NOT_FOUND'],
    [
      'a table without areas there',
      { pool: { table: 'embeddings_catalogue', schema: 'geoembeddings' } },
      'AREAS_MISSING',
    ],
    ['more rows than are allowed', { pool: { tileSize: 2 } }, 'size_guard_exceeded'],
    ['more cells than are allowed', { pool: { h3Resolution: 13 } }, 'size_guard_exceeded'],
    ['a band that it has not', { bands: [64] }, 'BAND_OUT_OF_RANGE'],
  ])('is refused with %s', async (_, body, code) => {
    expect((await importFile(alphaEarth, body)).job.error).toMatchObject({ code })
  })
  test('is refused with two ways to pool, and for a schema that is closed, at submit', async () => {
    const storagePath = { bucket: 'files', path: 'f0.tif' }
    const codeOf = async (pool: object) =>
      (await submit(worker, TASK, { storagePath, tableName: 'never', pool })).body.code
    expect(await codeOf({ tileSize: 4, h3Resolution: 9 })).toBe('CONFLICTING_FIELDS')
    expect(await codeOf({ table: 'jobs', schema: 'terrane' })).toBe('SCHEMA_NOT_ALLOWED')
  })
})

test('a TESSERA file says its version and year, and one of another version is not compared with it', async () => {
  const floats = { width: 8, height: 8, bands: 128, read: (_x: number, _y: number, w: number, h: number) => Array.from({ length: w * h * 128 }, (__, i) => Math.sin(i)) } // prettier-ignore
  const file = (version: string) =>
    writeGeoTiff(floats, {
      type: 'float32',
      compression: 'lzw',
      georeference: { epsg: 32_633, affine: [400_000, 10, 0, 5_000_000, 0, -10] },
      fileItems: { TESSERA_DATASET_VERSION: version, TESSERA_YEAR: '2024' },
    })
  const old = await importFile(await file('v1'), { pool: { tileSize: 1 } })
  const recent = await importFile(await file('v1.1'), { pool: { tileSize: 1 } })
  expect([old.job.result, recent.job.result]).toMatchObject([
    { rows: 64, dims: 128, model: { id: 'tessera@1.0' } },
    { rows: 64, dims: 128, model: { id: 'tessera@1.1' } },
  ])
  // Pixels are as they are stored.
  const rows = await query<{ v: string }>(`select embedding::text as v from geoembeddings.${old.tableName} order by id`)
  for (const [pixel, { v }] of rows.entries()) {
    expect(
      worstOf(
        v,
        Array.from({ length: 128 }, (_, band) => Math.sin(pixel * 128 + band)),
      ),
    ).toBeLessThan(1e-6)
  }
  const change = `select * from geoembeddings.change_detection($1, $2)`
  await expect(query(change, [old.tableName, recent.tableName])).rejects.toThrow(/tessera@1\.0.*tessera@1\.1/)
})

test('bytes of an unknown product need a quantization, and stated scales are one', async () => {
  const bytes = await writeGeoTiff(image, { ...ALPHA_EARTH, bandItems: [] })
  expect((await importFile(bytes, { product: 'mine' })).job.error).toMatchObject({ code: 'QUANTIZATION_NEEDED' })
  const { job, tableName } = await importFile(bytes, { product: 'mine', quantization: { method: 'linear', scale: 0.5, offset: 1 }, pool: { tileSize: 45 }, bands: [3, 0] }) // prettier-ignore
  expect(job.result).toMatchObject({ rows: 2, dims: 2, model: { id: 'mine' } })
  const [row] = await query<{ v: string }>(`select embedding::text as v from geoembeddings.${tableName} order by id`)
  const pixels = allPixels.filter(([x, y]) => x < 45 && !MASKED(x, y))
  const wanted = [3, 0].map(
    (band) => pixels.reduce((sum, [x, y]) => sum + stored(x, y, band) * 0.5 + 1, 0) / pixels.length,
  )
  expect(worstOf(row!.v, wanted)).toBeLessThan(1e-4)
})

test('scales by which values are no finite vectors are an error that names them, of the request or of the file', async () => {
  const georeference = { epsg: 32_633, affine: [400_000, 10, 0, 5_000_000, 0, -10] } as const
  const small = { width: 4, height: 4, bands: 1, read: (_x: number, _y: number, w: number, h: number) => Array.from({ length: w * h }, (__, i) => i % 3) } // prettier-ignore
  const scales = [{ band: 0, role: 'scale', value: '1e308' }]
  const said = await writeGeoTiff(small, { type: 'int16', georeference, bandItems: scales })
  const plain = await writeGeoTiff(small, { type: 'uint8', georeference })
  const body = { product: 'mine', pool: { tileSize: 4 } }
  const asked = { ...body, quantization: { method: 'linear', scale: 1e40 } }
  for (const [bytes, request, scale] of [
    [said, body, '1e+308'],
    [plain, asked, '1e+40'],
    [said, { ...asked, normalizeEmbeddings: true, quantization: { method: 'linear', scale: 1e200 } }, '1e+200'],
  ] as const) {
    expect((await importFile(bytes, request)).job.error).toMatchObject({
      code: 'VALUES_NOT_FINITE',
      message: expect.stringContaining(`scaling by ${scale} `) as string,
    })
  }
})

test('scales of bands that differ are refused, and those of bands that are taken count', async () => {
  const scales = [0.5, 0.5, 2].map((value, band) => ({ band, role: 'scale', value: String(value) }))
  const georeference = { epsg: 32_633, affine: [400_000, 10, 0, 5_000_000, 0, -10] } as const
  const three = { width: 4, height: 4, bands: 3, read: (_x: number, _y: number, w: number, h: number) => Array.from({ length: w * h * 3 }, () => 3) } // prettier-ignore
  const bytes = await writeGeoTiff(three, { type: 'int16', georeference, bandItems: scales })
  const body = { product: 'mine', pool: { tileSize: 4 } }
  expect((await importFile(bytes, body)).job.error).toMatchObject({ code: 'BAND_SCALES_DIFFER' })
  for (const [bands, wanted] of [
    [[0, 1], '[1.5,1.5]'],
    [[2], '[6]'],
  ] as const) {
    const { tableName } = await importFile(bytes, { ...body, bands })
    expect(await query(`select embedding::text as v from geoembeddings.${tableName}`)).toEqual([{ v: wanted }])
  }
  const { job } = await importFile(bytes, { ...body, bands: [0], groundSizeMeters: 10, columns: { id: 'a' } })
  expect(job.result).toMatchObject({
    warnings: [{ code: 'MEMBERS_UNUSED', examples: ['columns', 'groundSizeMeters'] }],
  })
  const wide = { ...body, bands: Array.from({ length: 6000 }, () => 0), statistics: ['mean', 'max', 'std'] }
  expect((await importFile(bytes, wide)).job.error).toMatchObject({ code: 'TOO_MANY_DIMENSIONS' })
})

test('a raster over the antimeridian is pooled by cells and areas on both sides, whose time is that of the request', async () => {
  const [width, height] = [40, 30]
  const read = (x: number, y: number, w: number, h: number) =>
    Array.from({ length: w * h }, (_, i) => x + (i % w) + 100 * (y + Math.floor(i / w)))
  const georeference = { epsg: 4326, affine: [178, 0.1, 0, 1.5, 0, -0.1] } as const
  const bytes = await writeGeoTiff({ width, height, bands: 1, read }, { type: 'float32', georeference })
  const body = { product: 'mine', datetime: '2024-05-06T00:00:00Z', minValidFraction: 0 }
  const rowsOf = (table: string) =>
    query<{ id: string; v: string; datetime: Date }>(
      `select place_id as id, embedding::text as v, datetime from geoembeddings.${table} order by 1`,
    )
  const pixels = Array.from({ length: width * height }, (_, i) => {
    const [x, y] = [i % width, Math.floor(i / width)]
    return { lng: 178 + (x + 0.5) / 10, lat: 1.5 - (y + 0.5) / 10, value: x + 100 * y }
  })
  const groups = Map.groupBy(pixels, ({ lng, lat }) => latLngToCell(lat, lng > 180 ? lng - 360 : lng, 3))
  const cells = await rowsOf((await importFile(bytes, { ...body, pool: { h3Resolution: 3 } })).tableName)
  expect(cells.map(({ id }) => id)).toEqual([...groups.keys()].toSorted())
  for (const { id, v, datetime } of cells) {
    const values = groups.get(id)!.map(({ value }) => value)
    expect(worstOf(v, [values.reduce((sum, value) => sum + value, 0) / values.length])).toBeLessThan(1e-3)
    expect(datetime).toEqual(new Date(body.datetime))
  }
  await query(`create table seas (id text, geom geometry(MultiPolygon, 4326))`)
  await query(`insert into seas values ('wide', st_multi(st_makeenvelope(-179.5, -80, 100, 80, 4326))),
    ('both', st_union(st_makeenvelope(179, -1, 180, 1, 4326), st_makeenvelope(-180, -1, -179, 1, 4326)))`)
  const seas = await rowsOf((await importFile(bytes, { ...body, pool: { table: 'seas' } })).tableName)
  const mean = (isIn: (lng: number, lat: number) => boolean) => {
    const values = pixels.filter(({ lng, lat }) => isIn(lng, lat)).map(({ value }) => value)
    return [values.reduce((sum, value) => sum + value, 0) / values.length]
  }
  expect(seas.map(({ id }) => id)).toEqual(['both', 'wide'])
  expect(
    worstOf(
      seas[0]!.v,
      mean((lng, lat) => Math.abs(lng - 180) < 1 && Math.abs(lat) < 1),
    ),
  ).toBeLessThan(1e-3)
  expect(
    worstOf(
      seas[1]!.v,
      mean((lng) => lng > 180.5),
    ),
  ).toBeLessThan(1e-3)
  expect(seas[0]!.datetime).toEqual(new Date(body.datetime))
})
