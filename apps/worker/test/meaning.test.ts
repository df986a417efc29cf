// Meaning of a raster's numbers: units, clamped samples, pictures of rasters that are not 8 bits deep.
import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BUILT_IN_MODEL } from '@terrane/embeddings'
import { OnnxGraph } from '@terrane/embeddings/onnx'
import { imageOf, textureImage, writeGeoTiff, type GeoTiffOptions } from '@terrane/testing/geotiff'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RenderPool, imageOfFile, namedColormap, type RenderStyle } from '@terrane/tiling/raster'
import { HEADERS, openWorker, submit, until, type TestWorker } from './harness.ts'

const TILE = 64
const SIDE = 4 * TILE
const UTM = { epsg: 32633, affine: [400_000, 10, 0, 5_500_000, 0, -10] as const }
let worker: TestWorker

beforeAll(async () => {
  worker = await openWorker({ env: { TERRANE_MODEL_DOWNLOAD: 'false' } })
  await mkdir(join(worker.folder, 'data'))
})
afterAll(async () => {
  await worker[Symbol.asyncDispose]()
})

const ground = textureImage({ width: SIDE, height: SIDE, bands: 1, seed: 5, noise: 8, type: 'uint16' }).read(
  0,
  0,
  SIDE,
  SIDE,
)

/** The ground as one band, each value as `stored` says. */
async function raster(file: string, options: Partial<GeoTiffOptions>, stored = (value: number) => value) {
  const image = imageOf({ width: SIDE, height: SIDE, bands: 1 }, (x, y) => stored(ground[y * SIDE + x] as number))
  const bytes = await writeGeoTiff(image, {
    type: 'uint16',
    compression: 'deflate',
    georeference: UTM,
    color: 'gray',
    ...options,
  })
  await writeFile(join(worker.folder, 'data', file), bytes)
}

async function embed(geotiffPath: string, tableName: string, more: object = {}) {
  const body = { geotiffPath, tableName, modelName: BUILT_IN_MODEL, tileSize: TILE, ...more }
  const { status, body: record } = await submit(worker, 'createGeoEmbeddings', body)
  expect({ status, record }).toMatchObject({ status: 202 })
  return until(worker, record.links.self, (job) => job.terminal, 110_000)
}

/** A PNG without the chunk after its header, which states the content. */
function withoutText(png: Uint8Array): Uint8Array {
  const chunk = 12 + Buffer.from(png).readUInt32BE(33)
  return Buffer.concat([png.subarray(0, 33), png.subarray(33 + chunk)])
}

const scaleTags = (scale: string): Partial<GeoTiffOptions> => ({
  bandItems: [
    { band: 0, role: 'scale', value: scale },
    { band: 0, role: 'offset', value: '0' },
  ],
})

describe('scaleFrom', () => {
  beforeAll(async () => {
    await raster('stored.tif', {})
    await embed('stored.tif', 'stored')
  })

  test('is of a table that states its units', async () => {
    const { rows } = await worker.db.database.query(
      `select scale ->> 'values' as values, scale ->> 'clamped' as clamped, scale ->> 'pixel_meters' as meters
       from geoembeddings.embeddings_catalogue where table_name = 'stored'`,
    )
    expect(rows).toEqual([{ values: 'uint16', clamped: '0', meters: '10' }])
  })

  test.each<[string, Partial<GeoTiffOptions>, (value: number) => number, string]>([
    ['the same as reflectance', { type: 'float32' }, (value) => value / 10_000, 'float32 as stored'],
    ['floats of the same size', { type: 'float32' }, (value) => value, 'float32 as stored'],
    ['values by scale tags', scaleTags('0.0001'), (value) => value, 'physical by scale tags'],
    ['signed numbers', { type: 'int16' }, (value) => Math.min(32_767, value), 'int16 as stored'],
  ])('refuses %s, and names both sides', async (_, options, stored, values) => {
    await raster('other.tif', options, stored)
    expect(await embed('other.tif', 'other', { scaleFrom: { table: 'stored' } })).toMatchObject({
      status: 'failed',
      error: {
        code: 'SCALE_FROM_UNUSABLE',
        message: expect.stringMatching(`"stored" .* values are ${values}, .* uint16 as stored`) as string,
      },
    })
  })

  test('takes another date in the same units', async () => {
    await raster('later.tif', {}, (value) => value * 0.9 + 100)
    const later = await embed('later.tif', 'later', { scaleFrom: { table: 'stored' }, strict: true })
    expect(later).toMatchObject({ status: 'success', result: { scale: { origin: 'table', values: 'uint16' } } })
  })
})

describe('samples that a stretch clamps', () => {
  // Values 1 to 100 of equal share.
  const even = async (file: string) => {
    const image = imageOf({ width: SIDE, height: SIDE, bands: 1 }, (x, y) => 1 + ((x * 7 + y * 13) % 100))
    const options = { type: 'uint16', compression: 'deflate', georeference: UTM, color: 'gray' } as const
    await writeFile(join(worker.folder, 'data', file), await writeGeoTiff(image, options))
  }
  const warning = (percent: string) => [
    { code: 'SAMPLES_CLAMPED', message: expect.stringMatching(`^${percent} % of the samples of band 0 `) as string },
  ]

  test.each([
    [[0, 85], []],
    [[0, 75], warning('25')],
    [[50, 85], warning('6[34]')],
    [[80, 91], warning('8[89]')],
  ])('are counted: %j', async (scale, warnings) => {
    await even('even.tif')
    const table = `even_${scale.join('_')}`
    const { status, result } = await embed('even.tif', table, { scale })
    expect({ status, warnings: result?.['warnings'] ?? [] }).toEqual({ status: 'success', warnings })
  })

  test('are refused from 90 % on', async () => {
    await even('even.tif')
    expect(await embed('even.tif', 'out', { scale: [1000, 2000] })).toMatchObject({
      status: 'failed',
      error: { code: 'SAMPLES_CLAMPED', message: expect.stringContaining('100 %') as string },
    })
    expect(await embed('even.tif', 'nearly_out', { scale: [96, 101] })).toMatchObject({
      status: 'failed',
      error: { code: 'SAMPLES_CLAMPED' },
    })
  })

  test('fail a strict request', async () => {
    await even('even.tif')
    expect(await embed('even.tif', 'strict', { scale: [50, 85], strict: true })).toMatchObject({
      status: 'failed',
      error: { code: 'WARNINGS_REFUSED' },
    })
  })
})

describe('a picture of a table that is not 8 bits deep', () => {
  let pool: RenderPool
  beforeAll(async () => {
    pool = new RenderPool(1)
    await raster('deep.tif', {})
    await raster('tagged.tif', scaleTags('0.0001'))
    await raster('named_N0214_S2A_MSIL2A_20200601T100031_N0214_R122_B04.tif', {}, (value) => 300 + value / 30)
    for (const [file, table] of [
      ['deep.tif', 'deep'],
      ['tagged.tif', 'tagged'],
      ['named_N0214_S2A_MSIL2A_20200601T100031_N0214_R122_B04.tif', 'profiled'],
    ] as const)
      await embed(file, table)
  })
  afterAll(async () => {
    await pool[Symbol.asyncDispose]()
  })

  /** A tile of a raster as /raster/v1 draws it. */
  async function draw(file: string, tile: number, style: RenderStyle = {}): Promise<Uint8Array> {
    const bytes = await readFile(join(worker.folder, 'data', file))
    const read = (spans: readonly { offset: number; length: number }[]) =>
      Promise.resolve(spans.map(({ offset, length }) => new Uint8Array(bytes.subarray(offset, offset + length))))
    const { rows } = await worker.db.database.query<{ box: [number, number, number, number] }>(
      `select array[st_xmin(geom), st_ymin(geom), st_xmax(geom), st_ymax(geom)] as box from geoembeddings.deep where id = $1`,
      [tile],
    )
    const area = {
      type: 'box',
      bounds: rows[0]!.box,
      boundsCrs: 4326,
      crs: 3857,
      size: [TILE, TILE],
      maxSize: TILE,
      shape: null,
    } as const
    const request = { kind: 'picture', area, style, format: 'png', mask: true } as const
    const picture = await pool.render(
      imageOfFile({ key: file, bytes: bytes.length, read }),
      request,
      new AbortController().signal,
    )
    return picture!
  }

  async function ask(query: string, payload: Uint8Array, type = 'image/png') {
    const response = await worker.app.inject({
      method: 'POST',
      url: `/embed/chip?limit=1&tableName=${query}`,
      headers: { ...HEADERS, 'content-type': type },
      payload: Buffer.from(payload),
    })
    const body = response.json<{ rows?: { id: string; similarity: number }[]; code?: string; message?: string }>()
    return { status: response.statusCode, code: body.code, message: body.message, first: body.rows?.[0] }
  }

  test.each([
    ['deep', 'deep.tif'],
    ['tagged', 'tagged.tif'],
    ['profiled', 'named_N0214_S2A_MSIL2A_20200601T100031_N0214_R122_B04.tif'],
  ])('finds the tile that it was drawn of: %s', async (table, file) => {
    for (const tile of [0, 5, 10, 15]) {
      const { status, first } = await ask(table, await draw(file, tile))
      expect({ status, id: first?.id }).toEqual({ status: 200, id: String(tile) })
      expect(first!.similarity).toBeGreaterThan(0.9)
    }
  })

  test('finds it by a stretch of its own, and by what the caller says of a picture that another program wrote', async () => {
    const rescale = [[2000, 60_000]] as const
    const own = await draw('deep.tif', 6, { rescale })
    expect((await ask('deep', own)).first?.id).toBe('6')
    const bare = withoutText(own)
    expect((await ask('deep&rescale=2000,60000', bare)).first?.id).toBe('6')
    expect(await ask('deep', bare)).toMatchObject({
      status: 422,
      code: 'CHIP_UNITS_UNKNOWN',
      message: expect.stringMatching(/uint8 as stored.*uint16 as stored/) as string,
    })
  })

  test.each([
    ['rescale=9,3', 'INVALID_SCALE'],
    ['rescale=1,2,3,4', 'INVALID_SCALE'],
    ['rescale=1e9,2e9', 'SAMPLES_CLAMPED'],
  ])('is refused with %s', async (query, code) => {
    expect(await ask(`deep&${query}`, await draw('deep.tif', 6))).toMatchObject({ status: 422, code })
  })

  test('is refused where a colormap drew it, and as a GeoTIFF in other units', async () => {
    const magma = await draw('deep.tif', 6, { colormap: namedColormap('magma') })
    expect(await ask('deep', magma)).toMatchObject({ status: 422, code: 'CHIP_UNITS_UNKNOWN' })
    await raster('floats.tif', { type: 'float32' }, (value) => value / 10_000)
    const floats = await readFile(join(worker.folder, 'data', 'floats.tif'))
    expect(await ask('deep', floats, 'image/tiff')).toMatchObject({ status: 422, code: 'CHIP_UNITS_UNKNOWN' })
    const own = await readFile(join(worker.folder, 'data', 'deep.tif'))
    expect(await ask('deep', own, 'image/tiff')).toMatchObject({ status: 200 })
    expect(await ask('deep&rescale=1,2', own, 'image/tiff')).toMatchObject({ status: 422, code: 'INVALID_SCALE' })
  })
})

test('a picture of other bands than the table is made of is refused by their numbers', async () => {
  const image = textureImage({ width: SIDE, height: SIDE, bands: 4, seed: 9, noise: 8, type: 'uint16' })
  const options = { type: 'uint16', compression: 'deflate', georeference: UTM, color: 'gray' } as const
  const bytes = await writeGeoTiff(image, options)
  await writeFile(join(worker.folder, 'data', 'four.tif'), bytes)
  expect(await embed('four.tif', 'four', { bands: [3, 2, 1] })).toMatchObject({ status: 'success' })
  await using pool = new RenderPool(1)
  const read = (spans: readonly { offset: number; length: number }[]) =>
    Promise.resolve(spans.map(({ offset, length }) => bytes.slice(offset, offset + length)))
  const ask = async (style: RenderStyle) => {
    const area = { type: 'preview', maxSize: SIDE, size: null } as const
    const request = { kind: 'picture', area, style, format: 'png', mask: true } as const
    const picture = await pool.render(
      imageOfFile({ key: 'four', bytes: bytes.length, read }),
      request,
      new AbortController().signal,
    )
    const response = await worker.app.inject({
      method: 'POST',
      url: '/embed/chip?tableName=four&limit=0',
      headers: { ...HEADERS, 'content-type': 'image/png' },
      payload: Buffer.from(picture!),
    })
    return { status: response.statusCode, ...response.json<{ code?: string; hint?: string }>() }
  }
  expect(await ask({})).toMatchObject({
    code: 'CHIP_BANDS_DIFFER',
    hint: expect.stringContaining('bidx=4&bidx=3&bidx=2') as string,
  })
  expect(await ask({ bidx: [2, 3, 4] })).toMatchObject({ status: 200 })
})

test('a model that gives vectors of zeros makes no table', async () => {
  const graph = new OnnxGraph('nothing')
  const pixels = graph.input('pixels', ['batch', 3, 'height', 'width'])
  const nothing = graph.op('Mul', [graph.op('GlobalAveragePool', [pixels]), graph.floats([], [0])])
  graph.output('embedding', ['batch', 3], graph.op('Reshape', [nothing, graph.ints([-1, 3])]))
  const bytes = graph.encode()
  const folder = join(worker.folder, 'models')
  await mkdir(join(folder, 'nothing', 'r1'), { recursive: true })
  await writeFile(join(folder, 'nothing', 'r1', 'model.onnx'), bytes)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const manifest = {
    id: 'nothing',
    title: 'Nothing',
    description: 'Zeros.',
    kind: 'neural',
    pretrained: false,
    licence: { name: 'MIT', url: null, notice: null },
    revision: 'r1',
    files: [{ path: 'model.onnx', url: null, size: bytes.length, sha256 }],
    input: {
      name: 'pixels',
      size: null,
      bands: ['red', 'green', 'blue'],
      mean: [0, 0, 0],
      std: [1, 1, 1],
      batch: 4,
    },
    outputs: [{ name: 'embedding', pooling: 'none' }],
    dims: 3,
    tile: { min: 16, multiple: 16, default: TILE },
    patches: null,
    patches_per_tile: 1,
  }
  await writeFile(join(folder, 'nothing.json'), JSON.stringify(manifest))
  await raster('any.tif', {})
  expect(await embed('any.tif', 'nothing', { modelName: 'nothing' })).toMatchObject({
    status: 'failed',
    error: { code: 'VECTORS_EMPTY', message: expect.stringContaining('16 of 16 vectors') as string },
  })
})
