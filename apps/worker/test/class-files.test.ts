// Slow: classifiers are trained, and maps are written and exported in jobs.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import type { TaskResults } from '@terrane/contracts'
import { openStore, type ObjectStore } from '@terrane/storage'
import { BUILT_IN_MODEL } from '@terrane/embeddings'
import { textureImage, writeGeoTiff } from '@terrane/testing/geotiff'
import { bufferSource, openGeoTiff, readWindow } from '@terrane/tiling/raster'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWorker, submit, until, type TestWorker } from './harness.ts'
import { StoredTiles } from './read-tiles.ts'
import { SIZE, gridId, makeGridTable, type GridRow } from './vector-tables.ts'

const [DIMS, WIDTH, HEIGHT] = [3, 9, 6]
const CLASSES = ['field', 'forest', 'water']
let worker: TestWorker
let store: ObjectStore

/** Stripes of a column. */
const classAt = (column: number) => column % 3
/** A place without a row. */
const isGap = (column: number, row: number) => column === 4 && row === 2
/** A place whose vector is zero. */
const isZero = (column: number, row: number) => column === 7 && row === 5
const rowsOf = (source = 0): GridRow[] =>
  Array.from({ length: WIDTH * HEIGHT }, (_, i) => ({ column: i % WIDTH, row: Math.floor(i / WIDTH), source }))
    .filter(({ column, row }) => !isGap(column, row))
    .map((place) => ({
      ...place,
      embedding: Float32Array.from({ length: DIMS }, (_, k) =>
        isZero(place.column, place.row) ? 0 : k === classAt(place.column) ? 1 : 0.05 * (place.row % 2),
      ),
    }))

beforeAll(async () => {
  worker = await openWorker({ env: { TERRANE_MODEL_DOWNLOAD: 'false' } })
  const { database } = worker.db
  store = openStore(worker.env['TERRANE_STORAGE']!)
  for (const bucket of ['exports', 'pmtiles'])
    await store.createBucket(bucket, { public: false, fileSizeLimit: null, allowedMimeTypes: null })
  await makeGridTable(database, { name: 'scene', rows: rowsOf(), dims: DIMS })
  await makeGridTable(database, { name: 'dates', rows: [...rowsOf(0), ...rowsOf(1)], dims: DIMS })
  const ids = Object.fromEntries(CLASSES.map((name, c) => [name, [0, 1, 3, 4].map((row) => gridId(c, row))]))
  await done('trainClassifier', { table: 'scene', classifier: 'cover', ids })
  await done('classifyEmbeddings', { table: 'scene', classifier: 'cover', tableName: 'cover' })
  await done('classifyEmbeddings', { table: 'dates', classifier: 'cover', tableName: 'both' })
  await done('classifyEmbeddings', { table: 'dates', classifier: 'cover', tableName: 'second', sourceNumbers: [1] })
})
afterAll(() => worker[Symbol.asyncDispose]())

async function run(task: string, body: object) {
  const { status, body: record } = await submit(worker, task, body)
  return status === 202 ? await until(worker, record.links.self) : { result: null, error: record }
}

async function done<Name extends keyof TaskResults>(task: Name, body: object): Promise<TaskResults[Name]> {
  const { result, error } = await run(task, body)
  expect(error).toBeNull()
  return result as TaskResults[Name]
}

const storagePath = { bucket: 'exports', path: 'cover.tif' }
const cog = (table: string) => ({ table, format: 'COG', storagePath })

async function read() {
  const { body } = await store.get('exports', 'cover.tif')
  const source = bufferSource(await buffer(Readable.from(body)))
  const info = openGeoTiff(source)
  const { width, height } = info
  return { info, codes: Array.from(await readWindow(source, info, { band: 0, x: 0, y: 0, width, height })) }
}

/** Codes in the order of the classifier: 0 where there is no row or no class. */
const CODES = Array.from({ length: WIDTH * HEIGHT }, (_, i) => {
  const [column, row] = [i % WIDTH, Math.floor(i / WIDTH)]
  return isGap(column, row) || isZero(column, row) ? 0 : classAt(column) + 1
})

test('a table of classes becomes a raster of its codes, on the grid of its tiles', async () => {
  const result = await done('exportTable', cog('cover'))
  expect(result).toMatchObject({ format: 'COG', rows: WIDTH * HEIGHT - 1, ...storagePath, warnings: [] })
  expect(await store.head('exports', 'cover.tif')).toMatchObject({
    contentType: 'image/tiff; application=geotiff; profile=cloud-optimized',
    size: result.bytes,
  })
  const { info, codes } = await read()
  expect(info).toMatchObject({ width: WIDTH, height: HEIGHT, epsg: 4326, nodata: 0, sampleType: 'uint8' })
  for (const [i, number] of [10, SIZE, 0, 50, 0, -SIZE].entries()) expect(info.affine![i]).toBeCloseTo(number, 9)
  expect(info.tags).toEqual({ EMBEDDINGS: 'scene', CLASSIFIER: 'cover', CLASSIFIER_VERSION: '1' })
  expect(codes).toEqual(CODES)
})

test('one source of a table of several dates becomes a raster, and all of them are refused', async () => {
  await done('exportTable', cog('second'))
  expect((await read()).codes).toEqual(CODES)
  const { error } = await run('exportTable', cog('both'))
  expect(error).toMatchObject({
    code: 'CLASSES_NOT_ON_A_GRID',
    message: expect.stringContaining('of one place') as string,
  })
})

test('clusters become a raster, too', async () => {
  await done('clusterEmbeddings', { table: 'scene', clusters: 3, tableName: 'groups' })
  await done('exportTable', cog('groups'))
  const { codes } = await read()
  const pairs = new Set(codes.map((code, i) => `${CODES[i]} ${code}`))
  expect(pairs.size).toBe(4)
})

/** A raster of 1000 × 700 pixels of 10 m in UTM, embedded and grouped. */
async function clustersOf(tableName: string, tiling: object): Promise<string> {
  const image = textureImage({ width: 1000, height: 700, bands: 3, seed: 7, noise: 8, type: 'uint8' })
  const georeference = { epsg: 32633, affine: [400_000, 10, 0, 5_500_000, 0, -10] as const }
  await mkdir(join(worker.folder, 'data'), { recursive: true })
  await writeFile(join(worker.folder, 'data', 'utm.tif'), await writeGeoTiff(image, { type: 'uint8', georeference }))
  await done('createGeoEmbeddings', { geotiffPath: 'utm.tif', modelName: BUILT_IN_MODEL, tableName, ...tiling })
  await done('clusterEmbeddings', { table: tableName, clusters: 2, tableName: `${tableName}_groups` })
  return `${tableName}_groups`
}

test.each([
  ['from its corner', {}, { width: 4, height: 3, left: 400_000, top: 5_500_000 }],
  ['on multiples of the tile', { alignGrid: true, minValidFraction: 0 }, { width: 5, height: 4, left: 399_360, top: 5_501_440 }], // prettier-ignore
] as const)('tiles of a raster in UTM, %s, are pixels of its grid', async (_, tiling, { left, top, ...size }) => {
  const table = await clustersOf(`utm_${size.width}`, tiling)
  await done('exportTable', cog(table))
  const { info, codes } = await read()
  expect(info).toMatchObject({ epsg: 32633, ...size })
  for (const [i, number] of [left, 2560, 0, top, 0, -2560].entries()) expect(info.affine![i]).toBeCloseTo(number, 2)
  const { rows } = await worker.db.database.query<{ class: string; tile_x: number; tile_y: number }>(
    `select class, tile_x, tile_y from public.${table} join geoembeddings.utm_${size.width} using (id)`,
  )
  const wanted = Array.from({ length: size.width * size.height }, () => 0)
  for (const row of rows) wanted[row.tile_y * size.width + row.tile_x] = Number(row.class.slice('cluster '.length))
  expect(wanted).not.toContain(0)
  expect(codes).toEqual(wanted)
})

test('tiles that overlap are refused', async () => {
  const { error } = await run('exportTable', cog(await clustersOf('overlapping', { stride: 128 })))
  expect(error).toMatchObject({ code: 'CLASSES_NOT_ON_A_GRID', message: expect.stringContaining('overlap') as string })
})

test('a table without classes, or without a grid, is refused with the reason', async () => {
  const { database } = worker.db
  const refused = async (body: object) => (await run('exportTable', body)).error
  await database.query('create table public.plain as select * from public.cover')
  expect(await refused(cog('plain'))).toMatchObject({ code: 'FORMAT_TAKES_CLASSES' })
  expect(await refused({ ...cog('cover'), columns: ['class'] })).toMatchObject({ code: 'FORMAT_TAKES_CLASSES' })
  const query = 'select * from public.cover'
  expect(await refused({ query, format: 'COG', storagePath })).toMatchObject({ code: 'FORMAT_TAKES_CLASSES' })
  await done('classifyEmbeddings', { table: 'scene', classifier: 'cover', tableName: 'moved' })
  const turned = `update public.moved set geom = st_multi(st_rotate(geom, 0.3, st_centroid(geom))) where id = ${gridId(0, 0)}`
  await database.query(turned)
  const shape = { code: 'CLASSES_NOT_ON_A_GRID', message: expect.stringContaining('rectangle') as string }
  expect(await refused(cog('moved'))).toMatchObject(shape)
  await done('classifyEmbeddings', { table: 'scene', classifier: 'cover', tableName: 'moved', mode: 'replace' })
  await database.query(`update public.moved set geom = st_translate(geom, 0.0004, 0) where id = ${gridId(8, 0)}`)
  const grid = { code: 'CLASSES_NOT_ON_A_GRID', message: expect.stringContaining('different grids') as string }
  expect(await refused(cog('moved'))).toMatchObject(grid)
})

test('a table of classes becomes PMTiles with class and probability', async () => {
  const { layers } = await done('archiveToPmtiles', { table: 'cover', zooms: [10, 14] })
  expect(layers).toMatchObject([{ id: 'cover', fields: { class: 'String', probability: 'Number' } }])
  const at = (lng: number, lat: number, zoom: number) => {
    const y = (1 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / Math.PI) / 2
    return [Math.floor(((lng + 180) / 360) * 2 ** zoom), Math.floor(y * 2 ** zoom)] as const
  }
  const tiles = new StoredTiles(store, 'cover.pmtiles')
  const features = await tiles.features(14, ...at(10 + 1.5 * SIZE, 50 - 1.5 * SIZE, 14))
  const found = features.get(gridId(1, 1))
  const { rows } = await worker.db.database.query<{ class: string; probability: number }>(
    'select class, probability from public.cover where id = $1',
    [gridId(1, 1)],
  )
  expect(found).toEqual({ class: 'forest', probability: expect.closeTo(rows[0]!.probability, 5) as number })
})
