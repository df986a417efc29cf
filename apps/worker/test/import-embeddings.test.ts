// Slow: an image is embedded and files are imported in jobs.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { seededRandom } from '@terrane/core'
import { BUILT_IN_MODEL } from '@terrane/embeddings'
import { openStore, type ArtifactStore } from '@terrane/storage'
import { textureImage, writeGeoTiff } from '@terrane/testing/geotiff'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorker, submit, until, type TestWorker } from './harness.ts'
import { vectorFile, wkbPoint, wkbSquare, type FileColumn } from './vector-files.ts'

const TASK = 'importEmbeddings'
let worker: TestWorker
let store: ArtifactStore
let count = 0
const newName = () => `v_${++count}`

beforeAll(async () => {
  worker = await openWorker({
    env: { TERRANE_MODEL_DOWNLOAD: 'false', TERRANE_SETTINGS: JSON.stringify({ worker: { maxPatches: 100 } }) },
  })
  store = openStore(worker.env['TERRANE_STORAGE']!, worker.env)
  await store.createBucket('files', { public: false, fileSizeLimit: null, allowedMimeTypes: null })
})
afterAll(() => worker[Symbol.asyncDispose]())

async function put(path: string, bytes: Uint8Array) {
  await store.put('files', path, Readable.from([bytes]), { upsert: true })
  return { storagePath: { bucket: 'files', path } }
}

async function runTask(task: string, body: object) {
  const { status, body: record } = await submit(worker, task, body)
  expect({ status, record }).toMatchObject({ status: 202 })
  return until(worker, record.links.self)
}

/** Imports a file into a table of its own. */
async function importFile(bytes: Uint8Array, body: object = {}) {
  const tableName = newName()
  const job = await runTask(TASK, { ...(await put(`${tableName}.parquet`, bytes)), tableName, ...body })
  return { tableName, job }
}

async function query<Row extends Record<string, unknown>>(text: string, values: unknown[] = []): Promise<Row[]> {
  return (await worker.db.database.query<Row>(text, values)).rows
}

async function vectorsOf(table: string): Promise<number[][]> {
  const rows = await query<{ v: string }>(`select embedding::text as v from geoembeddings.${table} order by id`)
  return rows.map(({ v }) => JSON.parse(v) as number[])
}

const random = seededRandom(7)
const vectors = (rows: number, dims: number) =>
  Array.from({ length: rows }, () => Array.from({ length: dims }, () => random() - 0.5))
const column = (name: string, type: string, data: readonly unknown[]): FileColumn => ({ name, type, data })
const squares = (rows: number) => Array.from({ length: rows }, (_, i) => wkbSquare([9 + i / 5, 47]))

function expectClose(found: readonly (readonly number[])[], wanted: readonly (readonly number[])[]) {
  const worst = Math.max(...found.flatMap((row, i) => row.map((value, k) => Math.abs(value - wanted[i]![k]!))))
  expect([found.length, worst < 1e-6]).toEqual([wanted.length, true])
}

/** Layouts as the published files have them. */
const LAYOUTS: readonly {
  readonly layout: string
  readonly dims: number
  readonly columns: (rows: number) => FileColumn[]
  readonly geometry: string | null
  readonly vector: string
  readonly type?: string
  readonly body?: object
  readonly model: string
  readonly first: readonly [string, string | null]
}[] = [
  {
    layout: 'Clay v1.5',
    dims: 1024,
    vector: 'embedding',
    geometry: 'geometry',
    columns: (rows) => [
      column('chips_id', 'text', Array.from({ length: rows }, (_, i) => `chip ${i}`)), // prettier-ignore
      column('cell_id', 'text', Array.from({ length: rows }, () => '0U_1R')), // prettier-ignore
      column('stac_item_id', 'text', Array.from({ length: rows }, () => 'S2A')), // prettier-ignore
      column('datetime', 'timestamp', Array.from({ length: rows }, () => new Date('2024-06-01T10:00:00Z'))), // prettier-ignore
      column('geometry', 'bytes', squares(rows)),
    ],
    model: 'clay@v1.5',
    first: ['chip 0', '2024-06-01T10:00:00.000Z'],
  },
  {
    layout: 'Clay v0',
    dims: 768,
    vector: 'embeddings',
    geometry: 'geometry',
    columns: (rows) => [
      column('index', 'int64', Array.from({ length: rows }, (_, i) => BigInt(i + 5))), // prettier-ignore
      column('source_url', 'text', Array.from({ length: rows }, () => 's3://clay-tiles-02/02/27WXN/')), // prettier-ignore
      column('date', 'text', Array.from({ length: rows }, () => '2022-06-10')), // prettier-ignore
      column('geometry', 'bytes', squares(rows)),
    ],
    model: 'clay@v0',
    first: ['5', '2022-06-10T00:00:00.000Z'],
  },
  {
    layout: 'Earth Index',
    dims: 384,
    vector: 'embedding',
    geometry: 'geometry',
    columns: (rows) => [
      column('id', 'text', Array.from({ length: rows }, (_, i) => `18SUJ_${i}`)), // prettier-ignore
      column('geometry', 'bytes', Array.from({ length: rows }, (_, i) => wkbPoint([10, i / 10]))), // prettier-ignore
    ],
    body: { product: 'earth-index', datetime: '2024-01-01T00:00:00Z' },
    model: 'earth-index@v2',
    first: ['18SUJ_0', '2024-01-01T00:00:00.000Z'],
  },
  {
    layout: 'Major TOM',
    dims: 96,
    vector: 'embedding',
    geometry: null,
    columns: (rows) => [
      column('unique_id', 'text', Array.from({ length: rows }, (_, i) => `hash${i}`)), // prettier-ignore
      column('grid_cell', 'text', Array.from({ length: rows }, () => '922D_249L')), // prettier-ignore
      column('grid_row_u', 'int64', Array.from({ length: rows }, () => 1n)), // prettier-ignore
      column('grid_col_r', 'int64', Array.from({ length: rows }, () => 1n)), // prettier-ignore
      column('timestamp', 'text', Array.from({ length: rows }, () => '20200413T212531')), // prettier-ignore
      column('centre_lat', 'double', Array.from({ length: rows }, (_, i) => i)), // prettier-ignore
      column('centre_lon', 'double', Array.from({ length: rows }, (_, i) => 100 + i)), // prettier-ignore
    ],
    body: { version: 'DINOv2', groundSizeMeters: 2240 },
    model: 'major-tom@DINOv2',
    first: ['hash0', '2020-04-13T21:25:31.000Z'],
  },
  {
    layout: 'anybody in half floats',
    dims: 16,
    vector: 'emb',
    type: 'float16',
    geometry: 'shape',
    columns: (rows) => [column('shape', 'bytes', squares(rows))],
    body: { product: 'mine', version: '3' },
    model: 'mine@3',
    first: ['0', null],
  },
  {
    layout: 'anybody in doubles',
    dims: 16,
    vector: 'whatever',
    type: 'double',
    geometry: 'shape',
    columns: (rows) => [column('shape', 'bytes', squares(rows))],
    body: { product: 'mine' },
    model: 'mine',
    first: ['0', null],
  },
]

describe.each(LAYOUTS)(
  'a file of $layout',
  ({ dims, columns, geometry, vector, type = 'float', body, model, first }) => {
    test('becomes rows with its vectors, places, names and times', async () => {
      const wanted = vectors(9, dims)
      // Eighths are exact in half floats.
      const stored = type === 'float16' ? wanted.map((row) => row.map((value) => Math.round(value * 8) / 8)) : wanted
      const file = vectorFile([...columns(9), column(vector, `list:${type}`, stored)], geometry)
      const { job, tableName } = await importFile(file, body)
      expect(job).toMatchObject({ status: 'success', result: { rows: 9, dims, model: { id: model } } })
      expectClose(await vectorsOf(tableName), stored)
      const [row] = await query(
        `select place_id, datetime, st_within(st_pointonsurface(geom), geom) as inside from geoembeddings.${tableName} where id = 0`,
      )
      expect(row).toEqual({ place_id: first[0], datetime: first[1] === null ? null : new Date(first[1]), inside: true })
      const found = await query(
        `select id from geoembeddings.similarity_search(table_name => $1, query_embedding =>
         (select embedding from geoembeddings.${tableName} where id = 4), result_limit => 1)`,
        [tableName],
      )
      expect(found).toEqual([{ id: 4 }])
    })
  },
)

test('squares around points have the size of the product, and lie on both sides of the antimeridian', async () => {
  const places = [wkbPoint([10, 60]), wkbPoint([179.9999, 0])]
  const file = vectorFile(
    [column('geometry', 'bytes', places), column('embedding', 'list:float', vectors(2, 384))],
    'geometry',
  )
  const { tableName } = await importFile(file, { product: 'earth-index' })
  const rows = await query<{ area: number; parts: number; is_valid: boolean }>(
    `select st_area(geom::geography) / 320^2 as area, st_numgeometries(geom) as parts, st_isvalid(geom) as is_valid
     from geoembeddings.${tableName} order by id`,
  )
  expect(rows.map(({ parts, is_valid: isValid }) => [parts, isValid])).toEqual([
    [1, true],
    [2, true],
  ])
  for (const { area } of rows) expect(Math.abs(area - 1)).toBeLessThan(0.01)
})

describe('whole numbers', () => {
  const stored = [[-127, -64, 0, 64, 127, 1, 2, 3]]
  const file = vectorFile([column('g', 'bytes', squares(1)), column('v', 'list:int8', stored)], 'g')

  test('need a quantization', async () => {
    const { job } = await importFile(file, { product: 'mine' })
    expect(job.error).toMatchObject({ code: 'QUANTIZATION_NEEDED' })
  })
  test.each([
    ['linear', { method: 'linear', scale: 0.5, offset: 1 }, (v: number) => v * 0.5 + 1],
    ['signed square', { method: 'signed-square', scale: 1 / 127.5 }, (v: number) => Math.sign(v) * (v / 127.5) ** 2],
  ] as const)('become values by a %s one', async (_, quantization, value) => {
    const { tableName } = await importFile(file, { product: 'mine', quantization })
    expectClose(await vectorsOf(tableName), [stored[0]!.map(value)])
  })
})

test('vectors of 16,001 numbers are refused, which no table takes', async () => {
  const file = vectorFile([column('g', 'bytes', squares(1)), column('v', 'list:float', vectors(1, 16_001))], 'g')
  const { job } = await importFile(file, { product: 'mine' })
  expect(job.error).toMatchObject({ code: 'TOO_MANY_DIMENSIONS', message: expect.stringContaining('16001') as string })
})

describe('vectors that tell nothing', () => {
  const rows = (bad: readonly (readonly number[] | null)[], good: number) => {
    const all = [...bad, ...vectors(good, 16)]
    return vectorFile([column('g', 'bytes', squares(all.length)), column('v', 'list:float', all)], 'g')
  }
  const zero = Array.from({ length: 16 }, () => 0)
  const nan = zero.map(() => Number.NaN)

  test('are counted up to a half', async () => {
    const { job, tableName } = await importFile(rows([zero, nan, null], 5), { product: 'mine' })
    expect(job.result).toMatchObject({
      rows: 6,
      skipped_nodata: 2,
      warnings: [
        { code: 'VECTORS_INVALID', count: 2, examples: [2, 3] },
        { code: 'VECTORS_ZERO', count: 1 },
      ],
    })
    const ids = await query<{ place_id: string }>(`select place_id from geoembeddings.${tableName} order by id`)
    expect(ids.map(({ place_id: id }) => id)).toEqual(['0', '3', '4', '5', '6', '7'])
  })
  test.each([
    ['zeros', [zero, zero, zero]],
    ['no numbers', [nan, nan, nan]],
    ['ones', [zero.map(() => 1), zero, nan]],
  ])('are refused beyond it: %s', async (_, bad) => {
    const { job } = await importFile(rows(bad, 2), { product: 'mine' })
    expect(job.error).toMatchObject({ code: 'VECTORS_EMPTY', message: expect.stringContaining('3 of 5') as string })
  })
  test('and holes of areas are said to be filled', async () => {
    const places = [wkbSquare([1, 1], true), wkbSquare([2, 2])]
    const file = vectorFile([column('g', 'bytes', places), column('v', 'list:float', vectors(2, 16))], 'g')
    const { job } = await importFile(file, { product: 'mine' })
    expect(job.result).toMatchObject({ warnings: [{ code: 'HOLES_FILLED', examples: [1] }] })
    expect((await importFile(file, { product: 'mine', strict: true })).job.error).toMatchObject({
      code: 'WARNINGS_REFUSED',
    })
  })
})

describe('a product or version', () => {
  const files = [0, 1].map((i) => {
    const { dims, vector, columns } = LAYOUTS[i]!
    return vectorFile([...columns(3), column(vector, 'list:float', vectors(3, dims))], 'geometry')
  })
  test.each([
    ['another product', 0, { product: 'tessera' }, /tessera.*clay/],
    ['another version', 1, { product: 'clay', version: '1.5' }, /clay@v1\.5.*clay@v0/],
  ])('that is not that of the file is refused, and both are named: %s', async (_, file, body, message) => {
    const { job } = await importFile(files[file]!, body)
    expect(job.error).toMatchObject({ code: 'PRODUCT_MISMATCH', message: expect.stringMatching(message) as string })
  })
  test('of the request counts more than names of columns that many files have, and what does nothing is told', async () => {
    const { job } = await importFile(files[1]!, { product: 'mine', bands: [1], statistics: ['max'] })
    expect(job.result).toMatchObject({
      model: { id: 'mine' },
      warnings: [{ code: 'MEMBERS_UNUSED', examples: ['statistics', 'bands'] }],
    })
  })
  test('has to be sent where the file says none', async () => {
    const file = vectorFile([column('g', 'bytes', squares(1)), column('v', 'list:float', vectors(1, 8))], 'g')
    expect((await importFile(file)).job.error).toMatchObject({ code: 'PRODUCT_NEEDED' })
    expect((await importFile(file, { product: 'tessera' })).job.error).toMatchObject({ code: 'PRODUCT_NEEDED' })
  })
  const change = (one: string, other: string) =>
    query(`select * from geoembeddings.change_detection($1, $2)`, [one, other])
  /** All rows of a table, by their likeness to the first row of another. */
  const like = (table: string, other: string) =>
    query(
      `select id from geoembeddings.similarity_search(table_name => $1, positive => $2, similarity_threshold => -1)`,
      [table, JSON.stringify({ [other]: [0] })],
    )
  const importAs = async (dims: number, body: object) => {
    const columns = [column('g', 'bytes', squares(4)), column('v', 'list:float', vectors(4, dims))]
    return (await importFile(vectorFile(columns, 'g'), body)).tableName
  }
  test.each([
    ['versions of TESSERA', ['tessera', 'v1', 128], ['tessera', '1.1', 128], /tessera@1\.0.*tessera@1\.1/],
    ['versions of Clay', ['clay', 'v0', 768], ['clay', 'v1.5', 1024], /clay@v0.*clay@v1\.5/],
    ['models of Major TOM', ['major-tom', 'DINOv2', 96], ['major-tom', 'SigLIP', 96], /DINOv2.*SigLIP/],
    ['products', ['mine', undefined, 16], ['yours', undefined, 16], /mine.*yours/],
    ['versions of a product that is not known here', ['mine', '1', 16], ['mine', '2', 16], /mine@1.*mine@2/],
  ] as const)('keeps tables of two %s apart, in change and in searches by rows', async (_, first, second, message) => {
    const [one = '', other = ''] = await Promise.all(
      [first, second].map(([product, version, dims]) =>
        importAs(dims, { product, ...(version !== undefined && { version }) }),
      ),
    )
    await expect(change(one, other)).rejects.toThrow(message)
    await expect(like(one, other)).rejects.toThrow(/vectors|model|compare/i)
  })
  test.each([
    ['a version of TESSERA', 128, { product: 'tessera', version: 'v1' }, {}],
    ['a model of Major TOM', 96, { product: 'major-tom', version: 'SigLIP' }, {}],
    ['a version of a product that is not known here', 16, { product: 'mine', version: '1' }, {}],
    ['two years of AlphaEarth', 64, { product: 'alphaearth' }, { datetime: '2024-01-01T00:00:00Z' }],
  ])('of %s is one, whose tables are compared', async (_, dims, body, more) => {
    const before = await importAs(dims, { ...body, datetime: '2023-01-01T00:00:00Z' })
    const after = await importAs(dims, { ...body, ...more })
    expect(await change(before, after)).toHaveLength(4)
    expect(await like(before, after)).toHaveLength(4)
  })
})

test.each([
  ['no vectors', [column('g', 'bytes', squares(1)), column('n', 'text', ['a'])], 'g', {}, 'VECTORS_NOT_FOUND'],
  [
    'two lengths',
    [column('g', 'bytes', squares(2)), column('v', 'list:float', [[1, 2], [1]])],
    'g',
    {},
    'VECTOR_LENGTHS',
  ],
  ['no places', [column('v', 'list:float', [[1, 2]])], null, {}, 'PLACES_NOT_FOUND'],
  ['an unknown column', [column('v', 'list:float', [[1, 2]])], null, { columns: { vector: 'w' } }, 'COLUMN_MISSING'],
  ['points of unknown size', [column('lon', 'double', [1]), column('lat', 'double', [1]), column('v', 'list:float', [[1, 2]])], null, {}, 'GROUND_SIZE_NEEDED'], // prettier-ignore
  ['too many rows', [column('g', 'bytes', squares(101)), column('v', 'list:float', vectors(101, 2))], 'g', {}, 'size_guard_exceeded'], // prettier-ignore
  ['places far from the Earth', [column('g', 'bytes', [wkbSquare([400_000, 5_000_000])]), column('v', 'list:float', [[1, 2]])], 'g', {}, 'NOTHING_IMPORTED'], // prettier-ignore
] as const)('a file with %s is refused', async (...[, columns, geometry, body, code]) => {
  const { job, tableName } = await importFile(vectorFile(columns, geometry), { product: 'mine', ...body })
  expect(job).toMatchObject({ status: 'failed', error: { code } })
  expect(await query(`select from geoembeddings.embeddings_catalogue where table_name = $1`, [tableName])).toEqual([])
})

test('texts that hold no number in a place are no vectors, and rows that are missing are an error', async () => {
  const texts = ['[1,2,3]', '[1,,3]', '[4,5,6]', '[6,5,4]']
  const file = vectorFile([column('g', 'bytes', squares(4)), column('v', 'text', texts)], 'g')
  const { job } = await importFile(file, { product: 'mine', columns: { vector: 'v' } })
  expect(job.result).toMatchObject({ rows: 3, warnings: [{ code: 'VECTORS_INVALID', count: 1, examples: [2] }] })
  // The number of rows in the footer, before the list of its only row group.
  const cut = Buffer.from(file)
  const at = cut.lastIndexOf(Buffer.from([0x16, 2 * 4, 0x19, 0x1c]))
  expect(at).toBeGreaterThan(0)
  cut[at + 1] = 2 * 5
  const { job: refused } = await importFile(cut, { product: 'mine', columns: { vector: 'v' } })
  expect(refused.error).toMatchObject({ message: expect.stringContaining('5 rows') as string })
})

describe('places', () => {
  const stored = vectors(2, 8)
  const at = (place: readonly [number, number][]) => [
    column('g', 'bytes', place.map(wkbPoint)), // prettier-ignore
    column('v', 'list:float', stored),
  ]
  const degrees = [[9, 47], [-170, -60]] as [number, number][] // prettier-ignore
  const meters = [[500_000, 5_200_000], [600_000, 5_300_000]] as [number, number][] // prettier-ignore
  const utm = { id: { authority: 'EPSG', code: 32_632 } }
  // By PROJ 9.6.
  const inUtm = [[9, 46.9535292], [10.33659097, 47.84556125]] // prettier-ignore
  const body = { product: 'mine', groundSizeMeters: 10 }
  async function centres(table: string): Promise<number[][]> {
    const rows = await query<{ x: number; y: number }>(
      `select st_x(st_centroid(geom)) as x, st_y(st_centroid(geom)) as y from geoembeddings.${table} order by id`,
    )
    return rows.map(({ x, y }) => [x, y])
  }

  test('of a file that states no reference system are degrees, with a warning', async () => {
    const { job, tableName } = await importFile(vectorFile(at(degrees), 'g', null), body)
    expect(job.result?.['warnings']).toMatchObject([{ code: 'SYSTEM_ASSUMED', examples: ['g'] }])
    expectClose(await vectorsOf(tableName), stored)
    expectClose(await centres(tableName), degrees)
  })

  test.each([
    ['that the file names', vectorFile(at(meters), 'g', utm), {}],
    ['of the request', vectorFile(at(meters), 'g', null), { sourceSrs: 'EPSG:32632' }],
    ['of the request in place of another', vectorFile(at(meters), 'g', { id: { authority: 'EPSG', code: 3857 } }), { sourceSrs: 'EPSG:32632' }], // prettier-ignore
    ['of columns', vectorFile([column('x', 'double', meters.map(([x]) => x)), column('y', 'double', meters.map(([, y]) => y)), column('v', 'list:float', stored)]), { sourceSrs: 'EPSG:32632' }], // prettier-ignore
  ])('in the reference system %s are converted', async (_, file, more) => {
    const { job, tableName } = await importFile(file, { ...body, ...more })
    expect(job).toMatchObject({ status: 'success', result: { rows: 2 } })
    expect(job.result).not.toHaveProperty('warnings')
    expectClose(await centres(tableName), inUtm)
  })

  test.each([
    ['meters without a reference system', at(meters), null],
    ['an unknown reference system', at(degrees), 'LOCAL_CS["mine"]'],
  ])('in %s need sourceSrs', async (_, columns, crs) => {
    const { job } = await importFile(vectorFile(columns, 'g', crs), body)
    expect(job.error).toMatchObject({ code: 'SOURCE_SRS_NEEDED', hint: expect.stringContaining('sourceSrs') as string })
  })

  test('in whole degrees may be 64-bit integers', async () => {
    const columns = [
      column('centre_lon', 'int64', [9n, -170n]),
      column('centre_lat', 'int64', [47n, -60n]),
      column('v', 'list:float', stored),
    ]
    const { tableName } = await importFile(vectorFile(columns), body)
    expectClose(await centres(tableName), degrees)
  })
})

test('a damaged file is refused', async () => {
  const columns = [column('g', 'bytes', squares(1)), column('v', 'list:float', vectors(1, 8))]
  const whole = vectorFile(columns, 'g')
  for (const bytes of [whole.subarray(0, 100), new Uint8Array(0), Buffer.from('PAR1 is no file')]) {
    expect((await importFile(bytes, { product: 'mine' })).job).toMatchObject({
      status: 'failed',
      error: { code: 'FILE_UNREADABLE', retryable: false },
    })
  }
})

test('a request without a file, with two, or of an object that is not there is refused at submit', async () => {
  const storagePath = { bucket: 'files', path: 'absent.parquet' }
  const codeOf = async (body: object) => (await submit(worker, TASK, { tableName: 'never', ...body })).body.code
  expect(await codeOf({})).toBe('FILE_REQUIRED')
  expect(await codeOf({ storagePath, url: 'https://example.org/a.parquet' })).toBe('FILE_REQUIRED')
  expect(await codeOf({ storagePath })).toBe('OBJECT_NOT_FOUND')
  expect(await codeOf({ url: 'http://169.254.169.254/latest' })).toBe('URL_REFUSED')
  expect(await codeOf({ storagePath, tableName: 'embedding_sources' })).toBe('OBJECT_NOT_FOUND')
})

describe('a table of our own', () => {
  const ALL = `select md5(string_agg(t::text, E'\\n' order by id)) as sum from geoembeddings.`
  const CATALOGUE = `select to_jsonb(c) - '{table_name,job_id,created_at,updated_at,metadata}'::text[] as about
    from geoembeddings.embeddings_catalogue c where table_name = $1`
  beforeAll(async () => {
    await mkdir(join(worker.folder, 'data'), { recursive: true })
    const georeference = { epsg: 32_633, affine: [400_000, 10, 0, 5_500_000, 0, -10] } as const
    const image = textureImage({ width: 300, height: 200, bands: 3, seed: 7, noise: 8, type: 'uint8' })
    const bytes = await writeGeoTiff(image, { type: 'uint8', georeference })
    for (const file of ['a.tif', 'b.tif']) await writeFile(join(worker.folder, 'data', file), bytes)
  })
  const embed = (tableName: string, body: object) =>
    runTask('createGeoEmbeddings', { tableName, modelName: BUILT_IN_MODEL, tileSize: 64, ...body })

  test('comes back from exportTable row by row, with its catalogue, labels and sources', async () => {
    const both = [
      { geotiffPath: 'a.tif', datetime: '2024-01-01T00:00:00Z' },
      { geotiffPath: 'b.tif', datetime: '2025-01-01T00:00:00Z' },
    ]
    expect(await embed('whole', { sources: both })).toMatchObject({ status: 'success' })
    await query(`update geoembeddings.whole set label_name = 'field "é"' where id % 3 = 0`)
    const storagePath = { bucket: 'files', path: 'whole.parquet' }
    const body = { table: 'whole', schema: 'geoembeddings', format: 'GeoParquet', storagePath }
    expect(await runTask('exportTable', body)).toMatchObject({ status: 'success' })
    expect(await runTask(TASK, { storagePath, tableName: 'again' })).toMatchObject({ status: 'success' })
    const sums = await Promise.all(['whole t', 'again t'].map(async (table) => (await query(ALL + table))[0]))
    expect(sums[1]).toEqual(sums[0])
    const [was, is] = await Promise.all(['whole', 'again'].map(async (table) => (await query(CATALOGUE, [table]))[0]))
    expect(is).toEqual(was)
    const dates = `select source, datetime from geoembeddings.embedding_sources where table_name = $1 order by source`
    expect(await query(dates, ['again'])).toEqual(await query(dates, ['whole']))
    const like = `select id from geoembeddings.similarity_search(table_name => 'again', positive => '{"whole": [0]}')`
    expect((await query(like)).length).toBeGreaterThan(0)
  })

  test('comes back from its artifact row by row', async () => {
    await embed('made', { geotiffPath: 'a.tif', uploadArtifactsToStorage: true })
    const storagePath = { bucket: 'geoembeddings', path: 'made/made.parquet' }
    const { result } = await runTask(TASK, { storagePath, tableName: 'remade', uploadArtifactsToStorage: true })
    expect(result).toMatchObject({
      model: { id: BUILT_IN_MODEL, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
    })
    const second = { bucket: 'geoembeddings', path: 'remade/remade.parquet' }
    await runTask(TASK, { storagePath: second, tableName: 'remade_again' })
    const sums = await Promise.all(['made t', 'remade t', 'remade_again t'].map(async (t) => (await query(ALL + t))[0]))
    expect(new Set(sums.map((row) => row!['sum'])).size).toBe(1)
  })

  test('that was imported comes back from its artifact with names and times', async () => {
    const file = vectorFile(
      [
        column('id', 'text', ['a', 'b']),
        column('date', 'text', ['2024-02-03', null]),
        column('g', 'bytes', squares(2)),
        column('v', 'list:float', vectors(2, 12)),
      ],
      'g',
    )
    const { tableName } = await importFile(file, { product: 'mine', uploadArtifactsToStorage: true })
    const storagePath = { bucket: 'geoembeddings', path: `${tableName}/${tableName}.parquet` }
    await runTask(TASK, { storagePath, tableName: 'mine_again' })
    const sums = await Promise.all([`${tableName} t`, 'mine_again t'].map(async (t) => (await query(ALL + t))[0]))
    expect(sums[1]).toEqual(sums[0])
  })
})
