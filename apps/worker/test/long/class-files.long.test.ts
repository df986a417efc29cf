import { spawnSync } from 'node:child_process'
import type { TaskResults } from '@terrane/contracts'
import { seededRandom } from '@terrane/core'
import { openStore } from '@terrane/storage'
import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorker, submit, until, type TestWorker } from '../harness.ts'
import { StoredTiles } from '../read-tiles.ts'
import { SIZE, gridId, makeGridTable, type GridRow } from '../vector-tables.ts'

// oxlint-disable-next-line node/no-process-env -- The command that runs Python with GDAL's bindings.
const oracle = [process.env['GDAL_PYTHON'] ?? 'python3', 'python3', '/usr/bin/python3']
  .map((command) => command.split(' '))
  .find(([command, ...more]) => spawnSync(command!, [...more, '-c', 'from osgeo import gdal']).status === 0)
const there = oracle !== undefined

test.skipIf(there)('SKIPPED: no Python with GDAL (GDAL_PYTHON)', () => {
  expect(there).toBe(false)
})

const READ = `
import base64, json, sys
from osgeo import gdal
gdal.UseExceptions()
gdal.FileFromMemBuffer('/vsimem/a.tif', base64.b64decode(sys.stdin.read()))
data = gdal.Open('/vsimem/a.tif')
band = data.GetRasterBand(1)
levels = [band] + [band.GetOverview(i) for i in range(band.GetOverviewCount())]
read = lambda one: list(one.ReadRaster(buf_type=gdal.GDT_Byte))
table = band.GetColorTable()
offsets = [int(one.GetMetadataItem('BLOCK_OFFSET_0_0', 'TIFF')) for one in levels]
print(json.dumps({
  'transform': data.GetGeoTransform(), 'epsg': data.GetSpatialRef().GetAuthorityCode(None),
  'type': gdal.GetDataTypeName(band.DataType), 'nodata': band.GetNoDataValue(), 'block': band.GetBlockSize(),
  'color': gdal.GetColorInterpretationName(band.GetColorInterpretation()),
  'colors': [table.GetColorEntry(i) for i in range(4)], 'description': band.GetDescription(),
  'metadata': band.GetMetadata(), 'tags': data.GetMetadata(), 'structure': data.GetMetadata('IMAGE_STRUCTURE'),
  'sizes': [[one.XSize, one.YSize] for one in levels], 'values': read(band), 'first': read(levels[1]), 'offsets': offsets}))
`

const [DIMS, WIDTH, HEIGHT] = [4, 700, 530]
const CLASSES = ['field & wood', 'forest', 'water']

describe.runIf(there)('files of a table of classes, read by GDAL and the PMTiles library', () => {
  let worker: TestWorker
  const random = seededRandom(3)
  const classAt = (column: number, row: number) => (Math.floor(column / 5) + Math.floor(row / 7)) % 3
  const isGap = (column: number, row: number) => (column * 31 + row * 17) % 41 === 0
  function* rows(): Generator<GridRow> {
    for (let i = 0; i < WIDTH * HEIGHT; i++) {
      const [column, row] = [i % WIDTH, Math.floor(i / WIDTH)]
      if (isGap(column, row)) continue
      const kind = classAt(column, row)
      yield { column, row, embedding: Float32Array.from({ length: DIMS }, (_, k) => (k === kind ? 1 : 0.1 * random())) }
    }
  }

  beforeAll(async () => {
    worker = await openWorker()
    await makeGridTable(worker.db.database, { name: 'scene', rows: rows(), dims: DIMS })
    const places = Array.from({ length: 600 }, (_, i) => [(i * 37) % WIDTH, (i * 53) % HEIGHT] as const)
    const of = (c: number) =>
      places.filter(([x, y]) => classAt(x, y) === c && !isGap(x, y)).map(([x, y]) => gridId(x, y))
    const ids = Object.fromEntries(CLASSES.map((name, c) => [name, of(c).slice(0, 30)]))
    await done('trainClassifier', { table: 'scene', classifier: 'cover', ids })
    await done('classifyEmbeddings', { table: 'scene', classifier: 'cover', tableName: 'cover' })
  })
  afterAll(() => worker[Symbol.asyncDispose]())

  async function done<Name extends keyof TaskResults>(task: Name, body: object): Promise<TaskResults[Name]> {
    const { status, body: record } = await submit(worker, task, body)
    expect({ status, record }).toMatchObject({ status: 202 })
    const { result, error } = await until(worker, record.links.self)
    expect(error).toBeNull()
    return result as TaskResults[Name]
  }

  async function openBucket(name: string) {
    const store = openStore(worker.env['TERRANE_STORAGE']!)
    await store.createBucket(name, { public: false, fileSizeLimit: null, allowedMimeTypes: null })
    return store
  }

  test('GDAL reads values, place, colours, names and overviews of the COG', async () => {
    const store = await openBucket('exports')
    await done('exportTable', { table: 'cover', format: 'COG', storagePath: { bucket: 'exports', path: 'a.tif' } })
    const bytes = await buffer(Readable.from((await store.get('exports', 'a.tif')).body))
    const [command, ...more] = oracle!
    const { stdout, stderr, status } = spawnSync(command!, [...more, '-c', READ], {
      input: bytes.toString('base64'),
      encoding: 'utf8',
      maxBuffer: 2 ** 30,
    })
    expect({ status, stderr }).toMatchObject({ status: 0 })
    const read = JSON.parse(stdout) as Record<string, never> & { values: number[]; first: number[]; offsets: number[] }
    expect(read).toMatchObject({
      epsg: '4326',
      type: 'Byte',
      nodata: 0,
      block: [512, 512],
      color: 'Palette',
      description: 'class',
      metadata: { CLASS_1: CLASSES[0], CLASS_2: CLASSES[1], CLASS_3: CLASSES[2] },
      tags: { EMBEDDINGS: 'scene', CLASSIFIER: 'cover', CLASSIFIER_VERSION: '1' },
      structure: { LAYOUT: 'COG', COMPRESSION: 'DEFLATE' },
      sizes: [[WIDTH, HEIGHT], [350, 265]], // prettier-ignore
    })
    const { transform, colors } = read as unknown as { transform: number[]; colors: number[][] }
    for (const [i, number] of [10, SIZE, 0, 50, 0, -SIZE].entries()) expect(transform[i]).toBeCloseTo(number, 9)
    expect(new Set(colors.map((color) => color.join())).size).toBe(4)
    const wanted = Array.from({ length: WIDTH * HEIGHT }, (_, i) => {
      const [column, row] = [i % WIDTH, Math.floor(i / WIDTH)]
      return isGap(column, row) ? 0 : classAt(column, row) + 1
    })
    expect(read.values.filter((value, i) => value !== wanted[i])).toEqual([])
    // Every pixel of the overview is one of the most frequent classes of its four.
    const wrong = read.first.filter((value, i) => {
      const [x, y] = [2 * (i % 350), 2 * Math.floor(i / 350)]
      const four = [0, 1, WIDTH, WIDTH + 1].map((step) => wanted[y * WIDTH + x + step]!).filter((code) => code !== 0)
      const count = (code: number) => four.filter((one) => one === code).length
      return four.length === 0 ? value !== 0 : count(value) < Math.max(...four.map(count))
    })
    expect(wrong).toEqual([])
    expect(read.offsets[1]!).toBeLessThan(read.offsets[0]!)
  })

  test('the PMTiles library reads class and probability of every tile', async () => {
    const store = await openBucket('pmtiles')
    await done('archiveToPmtiles', { table: 'cover', zooms: [12, 14] })
    const tiles = new StoredTiles(store, 'cover.pmtiles')
    expect(await tiles.header()).toMatchObject({ minZoom: 12, maxZoom: 14 })
    const { rows: kept } = await worker.db.database.query<{ id: number; class: string; probability: number }>(
      'select id, class, probability from public.cover where id % 997 = 0',
    )
    expect(kept.length).toBeGreaterThan(100)
    for (const { id, class: name, probability } of kept) {
      const [lng, lat] = [10 + ((id % 1000) + 0.5) * SIZE, 50 - (Math.floor(id / 1000) + 0.5) * SIZE]
      const y = (1 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / Math.PI) / 2
      const features = await tiles.features(14, Math.floor(((lng + 180) / 360) * 2 ** 14), Math.floor(y * 2 ** 14))
      expect(features.get(id)).toEqual({ class: name, probability: expect.closeTo(probability, 5) as number })
    }
  })
})
