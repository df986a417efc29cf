// Slow: collections of many sources are embedded, added to and searched.
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { BUILT_IN_MODEL } from '@terrane/embeddings'
import { openStore, type ObjectStore } from '@terrane/storage'
import { textureImage, writeGeoTiff } from '@terrane/testing/geotiff'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HEADERS, openWorker, submit, until, type TestWorker } from './harness.ts'

const TASK = 'createGeoEmbeddings'
const TILE = 64
const MODEL = { modelName: BUILT_IN_MODEL, tileSize: TILE }

let worker: TestWorker
let store: ObjectStore
let server: Server
let origin: string
const served = new Map<string, Uint8Array | string>()
let count = 0
const name = () => `c_${++count}`

beforeAll(async () => {
  server = createServer((request, response) => {
    const found = served.get(request.url ?? '')
    response.writeHead(found === undefined ? 404 : 200).end(found)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  worker = await openWorker({
    env: {
      TERRANE_FETCH_ALLOW_HOSTS: origin.slice('http://'.length),
      TERRANE_WORKER_CONCURRENCY: '2',
      TERRANE_PROJECT_CONCURRENCY: '2',
      GEOEMBEDDINGS_MAX_TILES: '20',
    },
  })
  await mkdir(join(worker.folder, 'data'))
  store = openStore(worker.env['TERRANE_STORAGE']!)
  await store.createBucket('scenes', { public: false, fileSizeLimit: null, allowedMimeTypes: null })
  for (let i = 0; i < 4; i++) await writeFile(at(`s${i}.tif`), await scene(i))
})
afterAll(async () => {
  await worker[Symbol.asyncDispose]()
  server.closeAllConnections()
  server.close()
})

const at = (file: string) => join(worker.folder, 'data', file)

interface Scene {
  readonly seed?: number
  readonly type?: 'uint8' | 'uint16'
  readonly side?: number
}

/** A raster of four tiles, next to the raster `i + 1`. */
async function scene(i: number, { seed = i, type = 'uint8', side = 128 }: Scene = {}) {
  const image = textureImage({ width: side, height: side, bands: 3, seed, noise: 8, type })
  return writeGeoTiff(image, {
    type,
    compression: 'deflate',
    georeference: { epsg: 32633, affine: [400_000 + i * 1280, 10, 0, 5_500_000, 0, -10] },
  })
}

async function put(path: string, bytes: Uint8Array) {
  await store.put('scenes', path, [bytes] as unknown as AsyncIterable<Uint8Array>, { upsert: true })
}

async function run(body: object) {
  const { status, body: record } = await submit(worker, TASK, { ...MODEL, tableName: name(), ...body })
  expect({ status, record }).toMatchObject({ status: 202 })
  return until(worker, record.links.self)
}

async function refused(body: object) {
  const { status, body: problem } = await submit(worker, TASK, { ...MODEL, tableName: name(), ...body })
  return { ...problem, status } as unknown as { code: string; message: string }
}

async function query<Row extends Record<string, unknown>>(text: string, values: unknown[] = []): Promise<Row[]> {
  return (await worker.db.database.query<Row>(text, values)).rows
}

const sourcesOf = (table: string) =>
  query(
    `select source, name, status, rows, first_id, datetime, error->>'code' as code
     from geoembeddings.embedding_sources where table_name = $1 order by source`,
    [table],
  )

/** Rows as text, by their source. */
const rowsOf = (table: string) =>
  query<{ source: number; rows: string[] }>(
    `select id >> 32 as source, array_agg(format('%s %s %s', id & 4294967295, st_astext(geom, 6), embedding) order by id) as rows
     from geoembeddings.${table} group by 1 order by 1`,
  )

async function nothingLeft() {
  const tables = await query(`select tablename from pg_tables where schemaname = 'terrane_staging'`)
  return { tables, work: await readdir(join(worker.folder, 'work')) }
}

const paths = (...files: string[]) => files.map((geotiffPath) => ({ geotiffPath }))

describe('a list of rasters', () => {
  let listed: string

  test('becomes one table, whose ids tell the source, with the rows that each alone has', async () => {
    const job = await run({ sources: paths('s0.tif', 's1.tif'), tableName: 'listed' })
    listed = job.id
    expect(job).toMatchObject({
      status: 'success',
      result: {
        table: 'geoembeddings.listed',
        rows: 8,
        sources: { total: 2, done: 2, unchanged: 0, failed: 0, rows: 8, failures: [] },
      },
    })
    expect(job.result).not.toHaveProperty('warnings')
    expect(await sourcesOf('listed')).toMatchObject([
      { source: 0, name: 's0.tif', status: 'done', rows: 4, first_id: 0 },
      { source: 1, name: 's1.tif', status: 'done', rows: 4, first_id: 2 ** 32 },
    ])
    const together = await rowsOf('listed')
    for (const [i, file] of ['s0.tif', 's1.tif'].entries()) {
      await run({ geotiffPath: file, tableName: `alone_${i}` })
      expect(together[i]!.rows).toEqual((await rowsOf(`alone_${i}`))[0]!.rows)
    }
    expect(await nothingLeft()).toEqual({ tables: [], work: [] })
  })

  test('has its parts left out of the list of jobs, and told of on request', async () => {
    const list = async (filter: string) =>
      (await worker.app.inject({ url: `/jobs/${TASK}?limit=100${filter}`, headers: HEADERS })).json<{
        data: { id: string; parent_id: string | null; status: string }[]
      }>().data
    expect((await list('')).every(({ parent_id }) => parent_id === null)).toBe(true)
    expect(await list(`&parent=${listed}`)).toMatchObject([
      { parent_id: listed, status: 'success' },
      { parent_id: listed, status: 'success' },
    ])
  })

  test('is refused with two rasters of one name, with one that is not there, and with other fields that name a raster', async () => {
    expect(await refused({ sources: paths('s0.tif', 's0.tif') })).toMatchObject({
      status: 422,
      code: 'SAME_SOURCE',
      errors: [{ path: '/sources/1' }],
    })
    expect(await refused({ sources: paths('s0.tif', 'no.tif') })).toMatchObject({
      status: 422,
      code: 'SOURCE_NOT_FOUND',
      errors: [{ path: '/sources/1' }],
    })
    expect(await refused({ sources: [{ datetime: '2024-01-01T00:00:00Z' }] })).toMatchObject({ code: 'SOURCE_MISSING' })
    expect(await refused({ sources: paths('s0.tif'), geotiffPath: 's1.tif' })).toMatchObject({
      code: 'CONFLICTING_FIELDS',
      errors: [{ path: '/geotiffPath' }, { path: '/sources' }],
    })
  })

  test('gives what can be read, and names what cannot', async () => {
    await writeFile(at('broken.tif'), 'no GeoTIFF at all')
    await writeFile(at('large.tif'), await scene(5, { side: 320 }))
    const job = await run({ sources: paths('broken.tif', 's0.tif', 'large.tif', 's1.tif'), tableName: 'partly' })
    expect(job).toMatchObject({
      status: 'success',
      result: {
        rows: 8,
        sources: {
          total: 4,
          done: 2,
          failed: 2,
          failures: [
            { name: 'broken.tif', code: 'NOT_A_GEOTIFF' },
            { name: 'large.tif', code: 'size_guard_exceeded' },
          ],
        },
        warnings: [{ code: 'SOURCES_FAILED', count: 2, examples: ['broken.tif', 'large.tif'] }],
      },
    })
    expect(await sourcesOf('partly')).toMatchObject([
      { name: 'broken.tif', status: 'failed', rows: 0, code: 'NOT_A_GEOTIFF' },
      { name: 's0.tif', status: 'done', rows: 4 },
      { name: 'large.tif', status: 'failed', code: 'size_guard_exceeded' },
      { name: 's1.tif', status: 'done', rows: 4 },
    ])
    const log = await worker.app.inject({ url: `/jobs/${TASK}/${job.id}/log`, headers: HEADERS })
    expect(log.body).toContain('broken.tif: ')
  })

  test('gives nothing when it is strict and one cannot be read, or when none can', async () => {
    expect(await run({ sources: paths('broken.tif', 's0.tif'), tableName: 'strictly', strict: true })).toMatchObject({
      status: 'failed',
      error: { code: 'WARNINGS_REFUSED', message: expect.stringContaining('broken.tif') as string },
    })
    expect(await run({ sources: paths('broken.tif'), tableName: 'strictly' })).toMatchObject({
      status: 'failed',
      error: { code: 'NO_SOURCE_DONE' },
    })
    expect(await query(`select from pg_tables where tablename = 'strictly'`)).toEqual([])
    expect(await nothingLeft()).toEqual({ tables: [], work: [] })
  })

  test('is seen by one stretch, and a raster that has other values is refused by its name', async () => {
    for (const i of [0, 1]) await writeFile(at(`wide${i}.tif`), await scene(i, { type: 'uint16' }))
    const job = await run({ sources: paths('wide0.tif', 's1.tif', 'wide1.tif'), tableName: 'wide' })
    expect(job).toMatchObject({
      status: 'success',
      result: { sources: { done: 2, failures: [{ name: 's1.tif', code: 'NOT_COMPARABLE' }] } },
    })
    const [entry] = await query<{ scale: { origin: string; min: number[]; max: number[] } }>(
      `select scale from geoembeddings.embeddings_catalogue where table_name = 'wide'`,
    )
    expect(entry!.scale.origin).toBe('percentile')
    // Each one by itself, with the stretch of the table.
    await run({ geotiffPath: 'wide1.tif', tableName: 'wide_alone', scaleFrom: { table: 'wide' } })
    expect((await rowsOf('wide'))[1]!.rows).toEqual((await rowsOf('wide_alone'))[0]!.rows)
    const alone = await run({ geotiffPath: 'wide0.tif', tableName: 'wide_first' })
    const { min, max } = alone.result!['scale'] as { min: number[]; max: number[] }
    // Of both together: never narrower than that of one.
    expect(entry!.scale.min.every((low, i) => low <= min[i]!)).toBe(true)
    expect(entry!.scale.max.every((high, i) => high >= max[i]!)).toBe(true)
  })

  test('of other pixels than the first has a warning that names it', async () => {
    const image = textureImage({ width: 64, height: 64, bands: 3, seed: 9, noise: 8, type: 'uint8' })
    const georeference = { epsg: 32633, affine: [410_000, 20, 0, 5_500_000, 0, -20] } as const
    await writeFile(
      at('coarse.tif'),
      await writeGeoTiff(image, { type: 'uint8', compression: 'deflate', georeference }),
    )
    expect(await run({ sources: paths('s0.tif', 'coarse.tif') })).toMatchObject({
      status: 'success',
      result: { warnings: [{ code: 'PIXELS_DIFFER', examples: ['coarse.tif'] }] },
    })
  })

  test('has a file of all rows and an item of all times when artifacts are asked for', async () => {
    const dated = ['2024-05-01T00:00:00Z', '2024-06-01T00:00:00Z'].map((datetime, i) => ({
      geotiffPath: `s${i}.tif`,
      datetime,
    }))
    const job = await run({ sources: dated, tableName: 'filed', uploadArtifactsToStorage: true })
    expect(job).toMatchObject({ status: 'success', result: { artifacts: [{ path: 'filed/filed.parquet' }, {}] } })
    const { body } = await store.get('geoembeddings', 'filed/filed.stac.json')
    const item = JSON.parse(Buffer.concat(await Array.fromAsync(body)).toString()) as { properties: object }
    expect(item.properties).toMatchObject({
      datetime: null,
      start_datetime: '2024-05-01T00:00:00.000Z',
      end_datetime: '2024-06-01T00:00:00.000Z',
    })
    expect(await sourcesOf('filed')).toMatchObject([{ datetime: new Date('2024-05-01') }, {}])
  })
})

describe('append', () => {
  const there = () => paths('s0.tif', 's1.tif', 'moving.tif', 'going.tif')
  const far = () => ({ geotiffPath: `${origin}/far.tif` })
  // The table says which model it is, and how large the tiles are.
  const decided = { modelName: undefined, tileSize: undefined }
  const append = (...sources: object[]) => run({ ...decided, sources, tableName: 'grown', mode: 'append' })

  beforeAll(async () => {
    for (const file of ['moving.tif', 'going.tif']) await writeFile(at(file), await scene(2))
    served.set('/far.tif', await scene(0))
    await run({ geotiffPath: 's0.tif', tableName: 'grown' })
  })

  test('adds sources to the table of one raster, and leaves out what it has', async () => {
    const before = await rowsOf('grown')
    expect(await append(...there(), far())).toMatchObject({
      status: 'success',
      result: { rows: 20, sources: { total: 5, done: 4, unchanged: 1, failed: 0, rows: 16 } },
    })
    expect((await rowsOf('grown'))[0]).toEqual(before[0])
    expect((await sourcesOf('grown')).map((source) => source['name'])).toEqual(
      [...there(), far()].map(({ geotiffPath }) => geotiffPath),
    )
  })

  test('adds nothing where nothing has changed; a file at an address is known by its bytes', async () => {
    const before = await rowsOf('grown')
    expect(await append(...there(), far())).toMatchObject({
      status: 'success',
      result: { rows: 20, sources: { total: 5, done: 0, unchanged: 5, rows: 0 } },
    })
    expect(await rowsOf('grown')).toEqual(before)
  })

  test('replaces what has changed, and keeps the rows of what cannot be read any more', async () => {
    const before = await rowsOf('grown')
    await writeFile(at('moving.tif'), await scene(2, { seed: 77, side: 192 }))
    await writeFile(at('going.tif'), 'gone bad')
    served.set('/far.tif', await scene(0, { seed: 5 }))
    expect(await append(...paths('moving.tif', 'going.tif', 's3.tif'), far())).toMatchObject({
      status: 'success',
      result: { rows: 29, sources: { done: 3, failed: 1, rows: 17 } },
    })
    const after = await rowsOf('grown')
    expect(after.map(({ rows }) => rows.length)).toEqual([4, 4, 9, 4, 4, 4])
    for (const kept of [0, 1, 3]) expect(after[kept]).toEqual(before[kept])
    expect(after[4]).not.toEqual(before[4])
    expect(await sourcesOf('grown')).toMatchObject([
      { source: 0, name: 's0.tif' },
      { source: 1, name: 's1.tif' },
      { source: 2, name: 'moving.tif', rows: 9 },
      { source: 3, name: 'going.tif', status: 'done', rows: 4 },
      { source: 4, name: far().geotiffPath, status: 'done' },
      { source: 5, name: 's3.tif' },
    ])
    const [entry] = await query(
      `select rows, zero_vectors, bbox from geoembeddings.embeddings_catalogue where table_name = 'grown'`,
    )
    const [box] = await query<{ box: number[] }>(
      `select array[st_xmin(b), st_ymin(b), st_xmax(b), st_ymax(b)] as box
       from (select st_extent(geom)::box3d as b from geoembeddings.grown) e`,
    )
    expect(entry).toEqual({ rows: 29, zero_vectors: 0, bbox: box!.box })
    expect(await nothingLeft()).toEqual({ tables: [], work: [] })
  })

  test('gives no source the number of one that was removed', async () => {
    await query(`select geoembeddings.remove_source('grown', 5)`)
    expect(await append(...paths('s2.tif'))).toMatchObject({ status: 'success' })
    expect((await sourcesOf('grown')).at(-1)).toMatchObject({ source: 6, name: 's2.tif' })
  })

  test('is refused where the table is not there, was made otherwise, or the stretch is to be another', async () => {
    const made = (body: object) => refused({ geotiffPath: 's1.tif', mode: 'append', tableName: 'grown', ...body })
    expect(await made({ tableName: 'nowhere' })).toMatchObject({ status: 422, code: 'TABLE_NOT_FOUND' })
    expect(await made({ tileSize: 128 })).toMatchObject({
      code: 'APPEND_DIFFERS',
      errors: [{ path: '/tileSize' }],
      message: expect.stringContaining('tileSize is 64 in the table and 128 in the request') as string,
    })
    expect(await made({ scale: [0, 100] })).toMatchObject({ code: 'CONFLICTING_FIELDS' })
    expect(await refused({ sources: paths('s1.tif'), tableName: 'grown' })).toMatchObject({
      status: 409,
      code: 'TABLE_EXISTS',
    })
  })
})

describe('a prefix of the storage', () => {
  test('stands for every GeoTIFF below it', async () => {
    await put('2024/a.tif', await scene(0))
    await put('2024/deep/b.TIFF', await scene(1))
    await put('2024/readme.txt', Buffer.from('no raster'))
    await put('2023/c.tif', await scene(2))
    const body = { storagePrefix: { bucket: 'scenes', prefix: '2024/' }, tableName: 'listed_below' }
    expect(await run(body)).toMatchObject({ status: 'success', result: { rows: 8, sources: { total: 2 } } })
    expect(await sourcesOf('listed_below')).toMatchObject([
      { name: 'scenes/2024/a.tif' },
      { name: 'scenes/2024/deep/b.TIFF' },
    ])
    await put('2024/new.tif', await scene(3))
    expect(await run({ ...body, mode: 'append' })).toMatchObject({
      result: { rows: 12, sources: { total: 3, done: 1, unchanged: 2 } },
    })
  })

  test('is refused when nothing is below it', async () => {
    expect(await refused({ storagePrefix: { bucket: 'scenes', prefix: 'none/' } })).toMatchObject({
      code: 'NO_SOURCES',
      errors: [{ path: '/storagePrefix' }],
    })
    expect(await refused({ storagePrefix: { bucket: 'nobodys', prefix: '' } })).toMatchObject({
      code: 'BUCKET_NOT_FOUND',
    })
  })
})

describe('STAC items', () => {
  const item = (id: string, assets: object, properties: object = { datetime: '2024-07-01T10:00:00Z' }) => ({
    type: 'Feature',
    stac_version: '1.0.0',
    id,
    properties,
    geometry: null,
    assets,
  })
  const tiff = (href: string, roles = ['data']) => ({ href, type: 'image/tiff; application=geotiff', roles })

  test('give their rasters, by the name or the role of an asset, with their times', async () => {
    served.set('/x.tif', await scene(0))
    served.set('/y.tif', await scene(1))
    const items = {
      type: 'FeatureCollection',
      features: [
        item('x', { visual: tiff(`${origin}/x.tif`), thumbnail: { href: 'x.png', type: 'image/png' } }),
        item('y', { visual: tiff(`${origin}/y.tif`) }, { datetime: null, start_datetime: '2024-08-01T00:00:00Z' }),
      ],
    }
    expect(await run({ stac: { items, asset: 'visual' }, tableName: 'stac_inline' })).toMatchObject({
      status: 'success',
      result: { rows: 8 },
    })
    expect(await sourcesOf('stac_inline')).toMatchObject([
      { name: 'x/visual', datetime: new Date('2024-07-01T10:00:00Z') },
      { name: 'y/visual', datetime: new Date('2024-08-01T00:00:00Z') },
    ])
    // At an address, and relative to it.
    served.set('/search.json', JSON.stringify({ ...items, features: [item('z', { b: tiff('./x.tif') })] }))
    expect(await run({ stac: { url: `${origin}/search.json`, asset: 'data' }, tableName: 'stac_far' })).toMatchObject({
      status: 'success',
      result: { rows: 4 },
    })
  })

  test.each([
    [
      'two rasters and no asset named',
      { items: item('i', { a: tiff('https://e/a'), b: tiff('https://e/b') }) },
      '2 GeoTIFFs',
    ],
    ['no such asset', { items: item('i', { a: tiff('https://e/a') }), asset: 'c' }, 'it has a'],
    ['an address that no worker can read', { items: item('i', { a: tiff('s3://bucket/a.tif') }) }, 's3://bucket/a.tif'],
    ['no items', { items: { type: 'Catalog' } }, 'neither'],
    ['nothing', {}, 'one of items and url'],
  ])('are refused with %s', async (_, stac, why) => {
    expect(await refused({ stac })).toMatchObject({
      status: 422,
      code: 'STAC_UNUSABLE',
      message: expect.stringContaining(why) as string,
    })
  })
})
