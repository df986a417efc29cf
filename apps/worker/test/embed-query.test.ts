import { createHash } from 'node:crypto'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32, deflateSync } from 'node:zlib'
import { buildColorClip } from '@terrane/embeddings/onnx'
import { imageOf, writeGeoTiff } from '@terrane/testing/geotiff'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HEADERS, openWorker, submit, until, type TestWorker } from './harness.ts'

const TILE = 64
const COLUMNS = 3
/** The colour of each tile, row by row. */
const COLORS = [
  [220, 30, 30],
  [30, 200, 40],
  [20, 30, 210],
  [200, 190, 30],
  [30, 180, 190],
  [200, 40, 180],
] as const
const clip = buildColorClip()
let worker: TestWorker

beforeAll(async () => {
  worker = await openWorker({ env: { TERRANE_MODEL_DOWNLOAD: 'false' } })
  const [files, models] = [join(worker.folder, 'data'), join(worker.folder, 'models')]
  await mkdir(files)
  await mkdir(join(models, 'clip', 'r1'), { recursive: true })
  await writeFile(join(files, 'scene.tif'), await scene(TILE))
  const text = JSON.stringify(clip.tokenizer)
  const parts = { 'image.onnx': clip.image, 'text.onnx': clip.text, 'tokenizer.json': new TextEncoder().encode(text) }
  for (const [name, content] of Object.entries(parts)) await writeFile(join(models, 'clip', 'r1', name), content)
  const file = (path: keyof typeof parts) => ({
    path,
    url: null,
    size: parts[path].length,
    sha256: createHash('sha256').update(parts[path]).digest('hex'),
  })
  await writeFile(join(models, 'clip.json'), JSON.stringify(manifest(file)))
  await embed('colors', 'clip')
  await embed('textures')
})
afterAll(async () => {
  await worker[Symbol.asyncDispose]()
})

function manifest(file: (path: 'image.onnx' | 'text.onnx' | 'tokenizer.json') => object): object {
  return {
    id: 'clip',
    title: 'Clip',
    description: 'Knows three colours.',
    kind: 'neural',
    pretrained: false,
    licence: { name: 'MIT', url: null, notice: null },
    revision: 'r1',
    files: [file('image.onnx')],
    input: {
      name: 'pixel_values',
      size: null,
      bands: ['red', 'green', 'blue'],
      mean: [0, 0, 0],
      std: [1, 1, 1],
      batch: 1,
    },
    outputs: [{ name: 'image_embeds', pooling: 'none' }],
    dims: 3,
    tile: { min: 16, multiple: 16, default: TILE },
    patches: null,
    patches_per_tile: 1,
    text: {
      files: [file('text.onnx'), file('tokenizer.json')],
      tokenizer: 'tokenizer.json',
      ids: 'input_ids',
      mask: 'attention_mask',
      output: 'text_embeds',
      length: 8,
    },
  }
}

/** Squares of the colours. */
function scene(side: number): Promise<Uint8Array> {
  const [width, height] = [COLUMNS * side, (COLORS.length / COLUMNS) * side]
  const image = imageOf({ width, height, bands: 3 }, (x, y, band) => colorAt(x, y, side)[band]!)
  const georeference = { epsg: 32633, affine: [400_000, 10, 0, 5_500_000, 0, -10] as const }
  return writeGeoTiff(image, { type: 'uint8', compression: 'deflate', georeference })
}

function colorAt(x: number, y: number, side: number): readonly number[] {
  return COLORS[Math.floor(y / side) * COLUMNS + Math.floor(x / side)]!
}

async function embed(tableName: string, modelName?: string): Promise<void> {
  const body = {
    geotiffPath: join(worker.folder, 'data', 'scene.tif'),
    tableName,
    tileSize: TILE,
    scale: [0, 255],
    ...(modelName && { modelName }),
    ...(!modelName && { modelName: 'builtin-texture-spectral-v2' }),
  }
  const { status, body: record } = await submit(worker, 'createGeoEmbeddings', body)
  expect([status, JSON.stringify(record)]).toEqual([202, expect.any(String)])
  const ended = await until(worker, record.links.self, (job) => job.terminal, 110_000)
  expect(ended).toMatchObject({ status: 'success' })
}

interface Answer {
  status: number
  body: {
    embedding: number[]
    rows: { id: string; similarity: number }[]
    code?: string
    message?: string
    errors?: unknown
  }
}

async function ask(url: string, payload: object | Uint8Array, type = 'application/json'): Promise<Answer> {
  const response = await worker.app.inject({
    method: 'POST',
    url,
    headers: { ...HEADERS, 'content-type': type },
    payload: payload instanceof Uint8Array ? Buffer.from(payload) : JSON.stringify(payload),
  })
  return { status: response.statusCode, body: response.json() }
}
const askText = (text: string, more: object = {}) => ask('/embed', { tableName: 'colors', text, ...more })
const askChip = (bytes: Uint8Array, type = 'image/png', query = 'tableName=colors') =>
  ask(`/embed/chip?${query}`, bytes, type)

/** A PNG of 8 bits without filters: colour type 2 (RGB), 6 (RGBA) or 0 (grey). */
function png(side: number, type: 0 | 2 | 6, pixel: (x: number, y: number) => readonly number[]): Uint8Array {
  const rows = Array.from({ length: side }, (_, y) => [
    0,
    ...Array.from({ length: side }, (_x, x) => pixel(x, y)).flat(),
  ])
  const chunk = (name: string, data: Uint8Array): Buffer => {
    const body = Buffer.concat([Buffer.from(name), data])
    const frame = Buffer.alloc(8)
    frame.writeUInt32BE(data.length, 0)
    frame.writeUInt32BE(crc32(body), 4)
    return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(side, 0)
  header.writeUInt32BE(side, 4)
  header.set([8, type, 0, 0, 0], 8)
  const parts = [
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.from(rows.flat()))),
    chunk('IEND', Buffer.of()),
  ]
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...parts])
}

describe('words', () => {
  test('find the tiles that they say', async () => {
    for (const [word, id] of [
      ['red', '0'],
      ['green', '1'],
      ['Blue', '2'],
      ['red green', '3'],
    ] as const) {
      const { status, body } = await askText(word, { limit: 2 })
      expect({ status, body }).toMatchObject({ status: 200, body: { table: 'colors', model: 'clip', dims: 3 } })
      expect(body.rows).toHaveLength(2)
      expect(body.rows[0]!.id).toBe(id)
      expect(Math.hypot(...body.embedding)).toBeCloseTo(1, 5)
    }
  })

  test('come back as a vector alone where no rows are wanted, and as many rows as there are at most', async () => {
    expect((await askText('red', { limit: 0 })).body.rows).toEqual([])
    expect((await askText('red')).body.rows).toHaveLength(COLORS.length)
    expect((await askText('red', { label: 'nobody' })).body.rows).toEqual([])
  })

  test.each([
    [{ tableName: 'textures' }, 422, 'TEXT_UNSUPPORTED'],
    [{ tableName: 'nowhere' }, 404, 'EMBEDDING_TABLE_NOT_FOUND'],
    [{ text: 'red '.repeat(20) }, 422, 'TEXT_TOO_LONG'],
    [{ tableName: '\u0000' }, 422, 'VALIDATION_FAILED'],
    [{ label: 'a\u0000' }, 422, 'VALIDATION_FAILED'],
  ])('that cannot be embedded are refused: %j', async (more, status, code) => {
    expect(await askText('red', more)).toMatchObject({ status, body: { code } })
    // The others are answered all the same.
    expect(await askText('red')).toMatchObject({ status: 200 })
  })
})

describe('a text and a model', () => {
  test('give a vector of unit length, the same as a search by the table has', async () => {
    const { status, body } = await ask('/embed/text', { modelName: 'clip', text: 'red green' })
    expect({ status, body }).toMatchObject({ status: 200, body: { model: 'clip', dims: 3 } })
    expect(body).not.toHaveProperty('rows')
    expect(body.embedding).toEqual((await askText('red green')).body.embedding)
  })

  test.each([
    [{ modelName: 'builtin-texture-spectral-v2' }, 422, 'TEXT_UNSUPPORTED'],
    [{ modelName: '../clip' }, 422, 'MODEL_UNKNOWN'],
    [{ text: 'red '.repeat(20) }, 422, 'TEXT_TOO_LONG'],
    [{ tableName: 'colors' }, 422, 'VALIDATION_FAILED'],
  ])('are refused: %j', async (more, status, code) => {
    expect(await ask('/embed/text', { modelName: 'clip', text: 'red', ...more })).toMatchObject({
      status,
      body: { code },
    })
  })
})

describe('a picture', () => {
  test('finds the tile that it was cut from, as a GeoTIFF or as a PNG, with transparency or without', async () => {
    const wanted = (id: number) => ({
      status: 200,
      body: { rows: [{ id: String(id), similarity: expect.closeTo(1, 4) }] },
    })
    for (const [id, color] of COLORS.entries()) {
      expect(
        await askChip(
          png(TILE, 2, () => color),
          'image/png',
          'tableName=colors&limit=1',
        ),
      ).toMatchObject(wanted(id))
      // Transparent pixels have another colour, which does not count.
      const masked = png(TILE, 6, (x) => (x < 48 ? [...color, 255] : [0, 0, 0, 0]))
      expect(await askChip(masked, 'image/png', 'tableName=colors&limit=1')).toMatchObject(wanted(id))
    }
    const image = imageOf({ width: TILE, height: TILE, bands: 3 }, (_x, _y, band) => COLORS[4][band]!)
    const georeference = { epsg: 4326, affine: [10, 0.001, 0, 50, 0, -0.001] as const }
    const tiff = await writeGeoTiff(image, { type: 'uint8', compression: 'deflate', georeference })
    expect(await askChip(tiff, 'image/tiff', 'tableName=colors&limit=1')).toMatchObject(wanted(4))
  })

  test('larger than a tile is the mean direction of its tiles, smaller than one is filled up', async () => {
    const halves = png(2 * TILE, 2, (x) => (x < TILE ? COLORS[0] : COLORS[1]))
    const { body } = await askChip(halves)
    const unit = (v: readonly number[]) => v.map((x) => x / Math.hypot(...v))
    const sum = unit(COLORS[0]).map((x, i) => x + unit(COLORS[1])[i]!)
    expect(body.embedding).toEqual(unit(sum).map((x) => expect.closeTo(x, 4)))
    const small = await askChip(png(9, 2, () => COLORS[5]))
    expect(small.body.rows[0]).toMatchObject({ id: '5', similarity: expect.closeTo(1, 4) })
  })

  test('is embedded by the model of the table', async () => {
    const { status, body } = await askChip(await scene(TILE), 'image/tiff', 'tableName=textures&limit=3')
    expect({ status, body }).toMatchObject({ status: 200, body: { dims: 64, rows: { length: 3 } } })
  })

  test.each([
    ['that is none', Buffer.from('no picture'), 'image/tiff', 415, 'NOT_A_GEOTIFF'],
    ['that is cut off', png(TILE, 2, () => COLORS[0]).subarray(0, 60), 'image/png', 422, 'PNG_UNREADABLE'],
    ['of another type', Buffer.from('{}'), 'application/json', 415, undefined],
    ['of more tiles than a query may have', png(TILE * 9, 2, () => COLORS[0]), 'image/png', 413, 'CHIP_TOO_LARGE'],
    ['of more pixels than a query may have', png(2100, 0, () => [7]), 'image/png', 422, 'PNG_UNREADABLE'],
    ['of more bytes than a query may have', Buffer.alloc((8 << 20) + 1), 'image/png', 413, undefined],
    ['that is transparent', png(TILE, 6, () => [9, 9, 9, 0]), 'image/png', 422, 'NO_VALID_PIXELS'],
  ])('%s is refused, and leaves nothing', async (_, bytes, type, status, code) => {
    const answer = await askChip(bytes, type)
    expect({ ...answer, code: answer.body.code }).toMatchObject({ status, ...(code && { code }) })
    const left = await readdir(join(worker.folder, 'work')).catch(() => [])
    expect(left.filter((name) => name.startsWith('chip-'))).toEqual([])
  })

  test('of a table whose model has other files now is refused', async () => {
    await worker.db.database.query(
      `update geoembeddings.embeddings_catalogue set model_sha256 = 'another' where table_name = 'textures'`,
    )
    const answer = await askChip(
      png(TILE, 2, () => COLORS[0]),
      'image/png',
      'tableName=textures',
    )
    expect(answer).toMatchObject({ status: 409, body: { code: 'MODEL_REPLACED' } })
  })
})

test('two queries of a project are taken at once, and places come back', async () => {
  const answers = await Promise.all(Array.from({ length: 12 }, () => askText('red', { limit: 1 })))
  const refused = answers.filter(({ status }) => status === 429)
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(2)
  expect(refused.every(({ body }) => body.code === 'QUERIES_BUSY')).toBe(true)
  expect(refused.length).toBeGreaterThan(0)
  expect(await askText('red')).toMatchObject({ status: 200 })
})

test.each([
  [{ text: '' }, '/text'],
  [{ text: 'x'.repeat(2001) }, '/text'],
  [{ limit: 1001 }, '/limit'],
  [{ tableName: 'nowhere' }, '/tableName'],
])('an error names the field: %#', async (more, path) => {
  const { body } = await askText('red', more)
  expect(body.errors).toEqual([expect.objectContaining({ path })])
})

test.each(['/embed', '/embed/text', '/embed/chip?tableName=colors'])('%s needs the key of the project', async (url) => {
  const response = await worker.app.inject({ method: 'POST', url, payload: { tableName: 'colors', text: 'red' } })
  expect(response.statusCode).toBe(401)
})
