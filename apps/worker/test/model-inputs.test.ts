import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BUILT_IN_MODEL } from '@terrane/embeddings'
import { OnnxGraph } from '@terrane/embeddings/onnx'
import { openStore } from '@terrane/storage'
import { textureImage, writeGeoTiff } from '@terrane/testing/geotiff'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWorker, submit, until, type JobRecord, type TestWorker } from './harness.ts'

const PRODUCT = 'S2B_MSIL2A_20240601T101031_N0510_R022_T33UUP_20240601T131500.tif'
const MODEL = 'asks-for-everything'
let worker: TestWorker

beforeAll(async () => {
  worker = await openWorker({ env: { TERRANE_MODEL_DOWNLOAD: 'false' } })
  const [files, models] = [join(worker.folder, 'data'), join(worker.folder, 'models', MODEL, 'r1')]
  await mkdir(files)
  await mkdir(models, { recursive: true })
  const texture = textureImage({ width: 256, height: 128, bands: 12, seed: 7, noise: 8, type: 'uint16' })
  // Reflectances as the product stores them.
  const image: typeof texture = {
    ...texture,
    read: (...rect) => Array.from(texture.read(...rect), (value) => 1500 + value / 40),
  }
  const georeference = { epsg: 32633, affine: [400_000, 10, 0, 5_500_000, 0, -10] as const }
  const bytes = await writeGeoTiff(image, { type: 'uint16', compression: 'deflate', color: 'gray', georeference })
  for (const file of [PRODUCT, 'scene.tif']) await writeFile(join(files, file), bytes)
  const graph = echo()
  await writeFile(join(models, 'model.onnx'), graph)
  await writeFile(join(models, '..', '..', `${MODEL}.json`), JSON.stringify(manifestFor(graph)))
})
afterAll(async () => {
  await worker[Symbol.asyncDispose]()
})

/** A graph whose embedding is its extra inputs: time, place, pixel size and wavelengths, without the pixels. */
function echo(): Uint8Array {
  const graph = new OnnxGraph('echo')
  const pixels = graph.input('pixels', ['batch', 3, 'height', 'width'])
  const nothing = graph.op('Mul', [graph.op('GlobalAveragePool', [pixels]), graph.floats([], [0])])
  const zero = graph.op('Reshape', [nothing, graph.ints([-1, 3])])
  const day = graph.input('day', ['batch', 2])
  const place = graph.input('place', ['batch', 2])
  const one = graph.op('Reshape', [graph.input('gsd', []), graph.ints([1, 1])])
  const waves = graph.op('Add', [zero, graph.input('waves', ['channels'])])
  const single = graph.op('Slice', [zero, graph.ints([0]), graph.ints([1]), graph.ints([1])])
  const parts = [day, place, graph.op('Add', [single, one]), waves]
  graph.output('embedding', ['batch', 8], graph.op('Concat', parts, { axis: 1 }))
  return graph.encode()
}

function manifestFor(graph: Uint8Array): object {
  return {
    id: MODEL,
    title: 'Asks for everything',
    description: 'Tells what it was told.',
    kind: 'neural',
    pretrained: false,
    licence: { name: 'MIT', url: null, notice: null },
    revision: 'r1',
    files: [
      { path: 'model.onnx', url: null, size: graph.length, sha256: createHash('sha256').update(graph).digest('hex') },
    ],
    input: { name: 'pixels', size: null, bands: ['red', 'green', 'blue'], mean: [0, 0, 0], std: [1, 1, 1], batch: 2 },
    extra_inputs: [
      { name: 'day', is: 'year-day' },
      { name: 'place', is: 'latitude-longitude' },
      { name: 'gsd', is: 'gsd' },
      { name: 'waves', is: 'wavelengths' },
    ],
    outputs: [{ name: 'embedding', pooling: 'none' }],
    dims: 8,
    tile: { min: 64, multiple: 16, default: 128 },
    patches: null,
    patches_per_tile: 1,
  }
}

async function run(body: object): Promise<JobRecord> {
  const { status, body: record } = await submit(worker, 'createGeoEmbeddings', body)
  expect({ status, record }).toMatchObject({ status: 202 })
  return until(worker, record.links.self, (job) => job.terminal, 110_000)
}

test('a model gets time, place, pixel size and wavelengths from the product', async () => {
  const body = { geotiffPath: PRODUCT, tableName: 'told', modelName: MODEL, tileSize: 128, normalizeEmbeddings: false }
  expect(await run({ ...body, scale: [0, 10_000] })).toMatchObject({ status: 'success', error: null })
  const { rows } = await worker.db.database.query<{ embedding: string; lng: number; lat: number }>(
    `select embedding::text, st_x(st_centroid(geom)) as lng, st_y(st_centroid(geom)) as lat
     from geoembeddings.told order by id`,
  )
  expect(rows).toHaveLength(2)
  for (const { embedding, lng, lat } of rows) {
    const [year, day, ...told] = JSON.parse(embedding) as number[]
    // The first of June of a leap year.
    expect([year, day]).toEqual([2024, 153])
    for (const [i, value] of [lat, lng, 10, 0.665, 0.56, 0.492].entries()) {
      expect(Math.abs(told[i]! - value), `number ${i}`).toBeLessThan(i === 2 ? 1e-6 : 2e-4)
    }
  }
})

test('what is not known is told at submit, or by the job that finds out', async () => {
  const body = { geotiffPath: 'scene.tif', tableName: 'untold', modelName: MODEL, tileSize: 128 }
  const { status, body: problem } = await submit(worker, 'createGeoEmbeddings', body)
  expect({ status, code: problem.code }).toEqual({ status: 422, code: 'MODEL_INPUT_MISSING' })
  const job = await run({ ...body, datetime: '2024-06-01T10:00:00Z' })
  expect(job).toMatchObject({ status: 'failed', error: { code: 'MODEL_INPUT_MISSING' } })
  expect(job.error?.hint).toContain('profile')
})

test.for(['2024-02-30T10:00:00Z', '2024-13-01T10:00:00Z', 'yesterday'])('%s is no time', async (datetime) => {
  const body = { geotiffPath: 'scene.tif', tableName: 'never', modelName: BUILT_IN_MODEL, datetime }
  const { status } = await submit(worker, 'createGeoEmbeddings', body)
  expect([400, 422]).toContain(status)
})

test('the time of the imagery is that of the STAC item and the catalogue', async () => {
  const made = async (tableName: string, more: object): Promise<{ item: string; metadata: string | null }> => {
    const body = { tableName, modelName: BUILT_IN_MODEL, tileSize: 64, uploadArtifactsToStorage: true, ...more }
    expect(await run(body)).toMatchObject({ status: 'success', error: null })
    const { rows } = await worker.db.database.query<{ time: string | null }>(
      `select metadata ->> 'datetime' as time from geoembeddings.embeddings_catalogue where table_name = $1`,
      [tableName],
    )
    const store = openStore(`file:${join(worker.folder, 'storage')}`)
    const object = await store.get('geoembeddings', `${tableName}/${tableName}.stac.json`)
    const chunks = await Array.fromAsync(object.body)
    const { properties } = JSON.parse(Buffer.concat(chunks).toString()) as { properties: { datetime: string } }
    return { item: properties.datetime, metadata: rows[0]!.time }
  }
  const named = '2024-06-01T10:10:31.000Z'
  expect(await made('by_name', { geotiffPath: PRODUCT })).toEqual({ item: named, metadata: named })
  const asked = { geotiffPath: PRODUCT, datetime: '2020-01-02T03:04:05+01:00' }
  expect(await made('by_request', asked)).toEqual({
    item: '2020-01-02T02:04:05.000Z',
    metadata: '2020-01-02T02:04:05.000Z',
  })
  const before = Date.now()
  const { item, metadata } = await made('unknown', { geotiffPath: 'scene.tif' })
  expect(metadata).toBeNull()
  expect(Date.parse(item)).toBeGreaterThanOrEqual(before)
})
