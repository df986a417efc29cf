// Slow: rasters are painted and embedded for each way of asking.
import { createHash } from 'node:crypto'
import { copyFile, mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { BUILT_IN_MODEL } from '@terrane/embeddings'
import { buildRandomVit } from '@terrane/embeddings/onnx'
import { imageOf, textureImage, writeGeoTiff, type GeoTiffOptions } from '@terrane/testing/geotiff'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HEADERS, openWorker, submit, until, type TestWorker } from './harness.ts'

const TASK = 'createGeoEmbeddings'
const UTM: GeoTiffOptions = {
  type: 'uint8',
  compression: 'deflate',
  predictor: 2,
  georeference: { epsg: 32633, affine: [400_000, 10, 0, 5_500_000, 0, -10] },
}
let worker: TestWorker
let files: string
let server: Server
let origin: string
let serve: RequestListener = (_, response) => response.writeHead(404).end()
let count = 0
const name = () => `t_${++count}`

beforeAll(async () => {
  server = createServer((request, response) => serve(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  worker = await openWorker({
    env: {
      TERRANE_FETCH_ALLOW_HOSTS: origin.slice('http://'.length),
      TERRANE_MODEL_DOWNLOAD: 'false',
      TERRANE_WORKER_CONCURRENCY: '2',
      TERRANE_PROJECT_CONCURRENCY: '2',
      GEOEMBEDDINGS_MAX_TILES: '4000',
      TERRANE_SETTINGS: JSON.stringify({ worker: { maxPatches: 150 } }),
      GEOEMBEDDINGS_MAX_GEOTIFF_BYTES: '2000000',
    },
  })
  files = join(worker.folder, 'data')
  await mkdir(files)
  await fixture('scene.tif', { width: 1000, height: 700, bands: 3 }, UTM)
})
afterAll(async () => {
  await worker[Symbol.asyncDispose]()
  server.closeAllConnections()
  server.close()
})

async function fixture(file: string, size: { width: number; height: number; bands: number }, options: GeoTiffOptions) {
  const bytes = await writeGeoTiff(
    textureImage({ ...size, seed: 7, noise: 8, type: options.type === 'uint16' ? 'uint16' : 'uint8' }),
    options,
  )
  await writeFile(join(files, file), bytes)
  return bytes
}

async function run(body: object) {
  const { status, body: record } = await submit(worker, TASK, { modelName: BUILT_IN_MODEL, tableName: name(), ...body })
  expect({ status, record }).toMatchObject({ status: 202 })
  return until(worker, record.links.self, (job) => job.terminal, 110_000)
}

async function query<Row extends Record<string, unknown>>(text: string, values: unknown[] = []): Promise<Row[]> {
  return (await worker.db.database.query<Row>(text, values)).rows
}

async function sourceOf(table: string) {
  return (await query(`select source from geoembeddings.embedding_origins where table_name = $1`, [table]))[0]?.[
    'source'
  ]
}

async function leftovers() {
  const staging = await query(`select tablename from pg_tables where schemaname = 'terrane_staging'`)
  return { staging, work: await readdir(join(worker.folder, 'work')) }
}

describe('a raster of 1000 × 700 pixels in tiles of 256', () => {
  test('becomes 4 × 3 rows of 64 dimensions with their places', async () => {
    const job = await run({ geotiffPath: 'scene.tif', tableName: 'scene' })
    expect(job).toMatchObject({
      status: 'success',
      progress: { phase: expect.any(String) as string, percent: 100 },
      result: {
        table: 'geoembeddings.scene',
        rows: 12,
        dims: 64,
        skipped_nodata: 0,
        crs: 'EPSG:32633',
        model: { id: BUILT_IN_MODEL, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
        timings: { total: expect.any(Number) as number, embed: expect.any(Number) as number },
      },
    })
    const rows =
      await query(`select id, tile_x, tile_y, px, py, valid_fraction, label_name, vector_dims(embedding) as dims,
      round(vector_norm(embedding)::numeric, 5)::float8 as norm from geoembeddings.scene order by id`)
    expect(rows).toHaveLength(12)
    expect(rows[0]).toEqual({
      id: 0,
      tile_x: 0,
      tile_y: 0,
      px: 0,
      py: 0,
      valid_fraction: 1,
      label_name: null,
      dims: 64,
      norm: 1,
    })
    expect(rows[11]).toMatchObject({ id: 11, tile_x: 3, tile_y: 2, px: 768, py: 512 })
  })

  test('is computed by the CPU where the wanted device is not there, which the record says', async () => {
    // Of another system than this one.
    const absent = process.platform === 'win32' ? 'coreml' : 'dml'
    await using other = await openWorker({ env: { TERRANE_INFERENCE_PROVIDERS: `${absent},cpu` } })
    await mkdir(join(other.folder, 'data'))
    await copyFile(join(files, 'scene.tif'), join(other.folder, 'data/scene.tif'))
    const request = { geotiffPath: 'scene.tif', tableName: 'by_device', modelName: BUILT_IN_MODEL, tileSize: 256 }
    const { body } = await submit(other, TASK, request)
    const { status, result } = await until(other, body.links.self)
    expect({ status, result }).toMatchObject({
      status: 'success',
      result: {
        rows: 12,
        warnings: [{ code: 'PROVIDER_UNAVAILABLE', message: expect.stringContaining(absent) as string }],
      },
    })
    expect(result).not.toHaveProperty('model.provider')
  })

  test('has the footprints that the projection gives', async () => {
    const [row] = await query<{ worst: number; types: string }>(`
      select max(st_hausdorffdistance(geom, st_transform(st_setsrid(st_makeenvelope(
          400000 + px * 10, 5500000 - least(py + 256, 700) * 10, 400000 + least(px + 256, 1000) * 10, 5500000 - py * 10), 32633), 4326))) as worst,
        string_agg(distinct geometrytype(geom), ',') as types
      from geoembeddings.scene`)
    expect(row?.types).toBe('POLYGON')
    // Degrees: a centimetre at most between the true edge, which is curved, and the straight one.
    expect(row?.worst).toBeLessThan(1e-7)
  })

  test('is in the catalogue', async () => {
    const rows =
      await query(`select kind, model_name, dims, level, normalized, metric, rows, zero_vectors, approximate_index,
      source_crs, tile_size, stride, bands, is_public, owner, round(bbox[1]::numeric, 3)::float8 as west from geoembeddings.embeddings_catalogue where table_name = 'scene'`)
    expect(rows).toEqual([
      {
        kind: 'geo',
        model_name: BUILT_IN_MODEL,
        dims: 64,
        level: 'tile',
        normalized: true,
        metric: 'cosine',
        rows: 12,
        zero_vectors: 0,
        approximate_index: false,
        source_crs: 'EPSG:32633',
        tile_size: 256,
        stride: 256,
        bands: [0, 1, 2],
        is_public: true,
        owner: null,
        west: 13.615,
      },
    ])
    expect(await sourceOf('scene')).toBe('scene.tif')
  })

  test('is found by similarity_search, itself first', async () => {
    const hits = await query<{ id: number; similarity: number }>(
      `select id, similarity from geoembeddings.similarity_search(table_name => 'scene', patch_id => 5, result_limit => 3)`,
    )
    expect(hits).toHaveLength(3)
    expect(hits[0]).toMatchObject({ id: 5 })
    expect(hits[0]?.similarity).toBeCloseTo(1, 5)
  })

  test('gives the same rows again, by another way', async () => {
    serve = (_, response) => void readFile(join(files, 'scene.tif')).then((bytes) => response.end(bytes))
    const job = await run({ geotiffPath: `${origin}/x/scene.tif?token=secret`, tableName: 'again' })
    expect(job.status).toBe('success')
    expect(
      await query(`select count(*)::int as n from geoembeddings.scene a join geoembeddings.again b using (id, tile_x, tile_y, px, py)
      where a.embedding = b.embedding and a.geom = b.geom`),
    ).toEqual([{ n: 12 }])
    expect(JSON.stringify(job)).not.toContain('secret')
    expect(await sourceOf('again')).toBe(`${origin}/x/scene.tif?token=[redacted]`)
  })
})

describe('options', () => {
  test('stride, edge and bands', async () => {
    expect(await run({ geotiffPath: 'scene.tif', stride: 128 })).toMatchObject({ result: { rows: 7 * 5 } })
    expect(await run({ geotiffPath: 'scene.tif', edge: 'drop' })).toMatchObject({ result: { rows: 3 * 2 } })
    const shifted = await run({ geotiffPath: 'scene.tif', edge: 'shift', bands: [2, 1, 0], tableName: 'shifted' })
    expect(shifted).toMatchObject({ result: { rows: 12 } })
    expect(await query('select max(px) as px, max(py) as py from geoembeddings.shifted')).toEqual([
      { px: 744, py: 444 },
    ])
  })
  test('vectors keep their length when they are not to be normalised', async () => {
    await run({ geotiffPath: 'scene.tif', normalizeEmbeddings: false, tableName: 'raw_length' })
    const [row] = await query<{ norm: number }>(
      'select avg(vector_norm(embedding)) as norm from geoembeddings.raw_length',
    )
    expect(Math.abs((row?.norm ?? 1) - 1)).toBeGreaterThan(0.1)
  })
  test('alignGrid makes rasters of two extents share their tiles', async () => {
    const georeference = { epsg: 32633, affine: [400_000, 10, 0, 5_500_000, 0, -10] as const }
    const shifted = { epsg: 32633, affine: [400_320, 10, 0, 5_499_360, 0, -10] as const }
    const image = (dx: number, dy: number) =>
      imageOf({ width: 700, height: 600, bands: 3 }, (x, y, band) => ((x + dx) * 7 + (y + dy) * 13 + band * 50) % 256)
    await writeFile(join(files, 'a.tif'), await writeGeoTiff(image(0, 0), { ...UTM, georeference }))
    await writeFile(join(files, 'b.tif'), await writeGeoTiff(image(32, 64), { ...UTM, georeference: shifted }))
    await run({ geotiffPath: 'a.tif', tableName: 'date_a', alignGrid: true, edge: 'drop' })
    await run({ geotiffPath: 'b.tif', tableName: 'date_b', alignGrid: true, edge: 'drop' })
    const changes = await query<{ change_score: number }>(
      `select change_score from geoembeddings.change_detection(table_name_1 => 'date_a', table_name_2 => 'date_b')`,
    )
    expect(changes.length).toBeGreaterThan(0)
    for (const { change_score } of changes) expect(change_score).toBeLessThan(1e-5)
  })
  test('nodata tiles are skipped and counted, the others keep their ids', async () => {
    const image = imageOf({ width: 768, height: 256, bands: 3 }, (x, y, band) =>
      x >= 256 && x < 512 ? 0 : 1 + ((x * 3 + y * 5 + band) % 254),
    )
    await writeFile(join(files, 'holes.tif'), await writeGeoTiff(image, { ...UTM, nodata: '0' }))
    expect(await run({ geotiffPath: 'holes.tif', tableName: 'holes' })).toMatchObject({
      result: { rows: 2, skipped_nodata: 1 },
    })
    expect(await query('select id, valid_fraction from geoembeddings.holes order by id')).toEqual([
      { id: 0, valid_fraction: 1 },
      { id: 2, valid_fraction: 1 },
    ])
  })
  test('16-bit rasters are scaled as a whole and the scale is told', async () => {
    await fixture('u16.tif', { width: 300, height: 300, bands: 4 }, { ...UTM, type: 'uint16' })
    const job = await run({ geotiffPath: 'u16.tif', bands: [2, 1, 0] })
    expect(job.result?.['scale']).toMatchObject({ origin: 'percentile' })
    expect((await run({ geotiffPath: 'u16.tif', scale: [0, 60_000] })).result?.['scale']).toMatchObject({
      origin: 'explicit',
      max: [60_000, 60_000, 60_000],
    })
  })
  test('two dates of a sensor compare by default, two percentiles do not, and scaleFrom mends that', async () => {
    const scene = (gain: number, offset: number) =>
      imageOf(
        { width: 256, height: 256, bands: 12 },
        (x, y, band) => offset + gain * (300 + 40 * band + ((x * 7 + y * 13) % 500)),
      )
    const options = { ...UTM, type: 'uint16', color: 'gray' } as const
    const write = async (file: string, gain: number, offset = 0) =>
      writeFile(join(files, file), await writeGeoTiff(scene(gain, offset), options))
    const [old, now] = ['S2A_MSIL2A_20200601T1_N0214_R1_T33UUP_1.tif', 'S2B_MSIL2A_20230601T1_N0509_R1_T33UUP_1.tif']
    await write(old, 1)
    await write(now, 1, 1000)
    await write('bright.tif', 3)
    const make = (geotiffPath: string, tableName: string, more = {}) =>
      run({ geotiffPath, tableName, tileSize: 64, ...more })
    expect((await make(old, 's2_old')).result).toMatchObject({
      scale: { origin: 'profile', profile: 'sentinel-2-l2a', channels: ['red', 'green', 'blue'], unit: 'scaled' },
    })
    await make(now, 's2_now')
    const change = (b: string) =>
      query<{ change_score: number }>(
        `select change_score from geoembeddings.change_detection(table_name_1 => 's2_old', table_name_2 => '${b}')`,
      )
    const pairs = await change('s2_now')
    expect(pairs).toHaveLength(16)
    expect(Math.max(...pairs.map((pair) => pair.change_score))).toBeLessThan(1e-4)
    const guessed = await make('bright.tif', 'own_percentiles')
    expect(guessed.result).toMatchObject({ scale: { origin: 'percentile' }, warnings: [{ code: 'BANDS_GUESSED' }] })
    await expect(change('own_percentiles')).rejects.toMatchObject({
      message: expect.stringContaining('s2_old') as string,
    })
    const taken = await make('bright.tif', 'like_old', { scaleFrom: { table: 's2_old' } })
    expect(taken.result).toMatchObject({
      scale: { origin: 'table', profile: 'sentinel-2-l2a', max: [0.35, 0.35, 0.35] },
    })
    expect(Math.min(...(await change('like_old')).map((pair) => pair.change_score))).toBeGreaterThan(0.01)
    expect(await make('bright.tif', 'strictly', { strict: true })).toMatchObject({
      status: 'failed',
      error: { code: 'WARNINGS_REFUSED' },
    })
  })
  test('a raster in the storage of the project', async () => {
    const { openStore } = await import('@terrane/storage')
    const store = openStore(`file:${join(worker.folder, 'storage')}`)
    await store.createBucket('scenes', { public: false, fileSizeLimit: null, allowedMimeTypes: null })
    const bytes = await readFile(join(files, 'scene.tif'))
    await store.put('scenes', 'a/scene.tif', Readable.from([bytes]), { contentType: 'image/tiff' })
    const storagePath = { bucket: 'scenes', path: 'a/scene.tif' }
    expect(await run({ storagePath, tableName: 'stored' })).toMatchObject({ status: 'success', result: { rows: 12 } })
    expect(await sourceOf('stored')).toBe('scenes/a/scene.tif')
  })
  test('a table is read by whom the request says, and the name of its source by its owner', async () => {
    const ownerUuid = 'a3bb189e-8bf9-4c4d-9b7a-0123456789ab'
    const readers = async (tableName: string, more: object) => {
      expect(await run({ geotiffPath: 'scene.tif', tableName, ...more })).toMatchObject({ status: 'success' })
      const counts: unknown[] = []
      for (const [role, sub] of [
        ['anon', null],
        ['authenticated', ownerUuid],
        ['authenticated', null],
        ['service_role', null],
      ])
        // prettier-ignore
        counts.push(
          await worker.db.database.transaction(async (session) => {
            await session.query(`select set_config('request.jwt.claims', $1, true)`, [JSON.stringify({ sub })])
            await session.query(`set local role ${role}`)
            const rows = await session.query(`select 1 from geoembeddings.${tableName} limit 1`)
            const names = await session.query(`select name from geoembeddings.embedding_sources where table_name = $1`, [tableName]) // prettier-ignore
            return `${rows.rowCount} ${names.rowCount}`
          }),
        )
      return counts
    }
    // Rows and names of sources for: anon, the owner, another user, the service role.
    expect(await readers('for_all', {})).toEqual(['1 0', '1 0', '1 0', '1 1'])
    expect(await readers('for_nobody', { isPublic: false })).toEqual(['0 0', '0 0', '0 0', '1 1'])
    expect(await readers('for_one', { ownerUuid })).toEqual(['0 0', '1 1', '0 0', '1 1'])
    expect(await readers('of_one', { ownerUuid, isPublic: true })).toEqual(['1 0', '1 1', '1 0', '1 1'])
  })
  test('one band stands for three', async () => {
    await fixture('gray.tif', { width: 256, height: 256, bands: 1 }, UTM)
    expect(await run({ geotiffPath: 'gray.tif' })).toMatchObject({ status: 'success', result: { rows: 1 } })
  })
})

describe("an operator's own model: a manifest and two files in the model folder", () => {
  const parts = new Map<string, Uint8Array>()
  beforeAll(async () => {
    const chunks: Uint8Array[] = []
    const external = { location: 'model.onnx_data', write: (bytes: Uint8Array) => chunks.push(bytes) }
    parts.set('model.onnx', buildRandomVit({ dim: 32, depth: 1, heads: 2, patch: 16, registers: 4 }, 7, external))
    parts.set('model.onnx_data', Buffer.concat(chunks))
    const folder = join(worker.folder, 'models', 'tiny-vit', 'r1')
    await mkdir(folder, { recursive: true })
    for (const [path, bytes] of parts) await writeFile(join(folder, path), bytes)
    const manifest = {
      id: 'tiny-vit',
      title: 'Tiny random transformer',
      description: 'Random weights, for tests.',
      kind: 'neural',
      pretrained: false,
      licence: { name: 'MIT', url: null, notice: null },
      revision: 'r1',
      files: [...parts].map(([path, bytes]) => ({
        path,
        url: null,
        size: bytes.length,
        sha256: createHash('sha256').update(bytes).digest('hex'),
      })),
      input: {
        name: 'pixel_values',
        size: null,
        bands: ['red', 'green', 'blue'],
        mean: [0.43, 0.411, 0.296],
        std: [0.213, 0.156, 0.143],
        batch: 4,
      },
      outputs: [{ name: 'pooler_output', pooling: 'none' }],
      dims: 32,
      tile: { min: 32, multiple: 16, default: 64 },
      patches: { output: 'last_hidden_state', size: 16, skip: 5 },
      patches_per_tile: 16,
    }
    await writeFile(join(worker.folder, 'models', 'tiny-vit.json'), JSON.stringify(manifest))
    await fixture('small.tif', { width: 150, height: 100, bands: 3 }, UTM)
  })

  test('embeds tiles', async () => {
    const job = await run({ geotiffPath: 'small.tif', modelName: 'tiny-vit', tileSize: 64 })
    expect(job).toMatchObject({
      status: 'success',
      result: { rows: 6, dims: 32, model: { id: 'tiny-vit', licence: 'MIT' } },
    })
  })
  test('counts patches apart from tiles, and says which of the two limits is exceeded', async () => {
    // 12 tiles of 16 patches each.
    const body = { geotiffPath: 'small.tif', modelName: 'tiny-vit', tileSize: 64, stride: 32, tableName: name() }
    const { status, body: problem } = await submit(worker, TASK, { ...body, level: 'patch' })
    expect([status, problem.code]).toEqual([413, 'size_guard_exceeded'])
    expect(problem.message).toMatch(/makes 192 patches .* worker\.maxPatches allows 150/)
    expect(await run(body)).toMatchObject({ status: 'success', result: { rows: 12 } })
  })
  test('embeds patches of many rasters, each with an id of its own', async () => {
    const small = ['small.tif', 'small-2.tif']
    await writeFile(join(files, small[1]!), await readFile(join(files, small[0]!)))
    const sources = small.map((geotiffPath) => ({ geotiffPath }))
    const request = { modelName: 'tiny-vit', tileSize: 64, level: 'patch', minValidFraction: 0 }
    expect(await run({ ...request, sources, tableName: 'many_patches' })).toMatchObject({ result: { rows: 140 } })
    const [row] = await query(
      `select count(distinct id)::int as ids, (select count(*) from geoembeddings.many_patches a join geoembeddings.many_patches b
         on b.id = a.id + (1::bigint << 32) where a.embedding = b.embedding and a.geom ~= b.geom)::int as equal
       from geoembeddings.many_patches`,
    )
    expect(row).toEqual({ ids: 140, equal: 70 })
    const again = { ...request, sources: [{ geotiffPath: 'small.tif', name: 'third' }], mode: 'append' }
    expect(await run({ ...again, tableName: 'many_patches' })).toMatchObject({
      status: 'success',
      result: { rows: 210 },
    })
  })
  test('embeds the patches that lie in the raster, in half precision, each with its place', async () => {
    const job = await run({
      geotiffPath: 'small.tif',
      modelName: 'tiny-vit',
      tileSize: 64,
      level: 'patch',
      tableName: 'patches',
      minValidFraction: 0,
      uploadArtifactsToStorage: true,
    })
    // 150 × 100 pixels touch 10 × 7 patches of 16.
    expect(job).toMatchObject({ status: 'success', result: { rows: 70, dims: 32 } })
    const [row] =
      await query(`select pg_typeof(embedding)::text as type, count(*)::int as n, min(id)::int as first, max(id)::int as last,
      round((sum(st_area(st_transform(geom, 32633))) / 1e4)::numeric)::int as hectares from geoembeddings.patches group by 1`)
    expect(row).toEqual({ type: 'halfvec', n: 70, first: 0, last: 5 * 16 + 9, hectares: 150 })
    // The table keeps half of the file's rows.
    const { parquetReadObjects } = await import('hyparquet')
    const { compressors } = await import('hyparquet-compressors')
    const { openStore } = await import('@terrane/storage')
    const stored = await openStore(worker.env['TERRANE_STORAGE']!).get('geoembeddings', 'patches/patches.parquet')
    const bytes = Buffer.concat(await Array.fromAsync(stored.body))
    const [first] = await parquetReadObjects({ file: Uint8Array.from(bytes).buffer, compressors })
    const numbers = first!['embedding'] as number[]
    expect(numbers.some((number) => number !== Math.f16round(number))).toBe(true)
    const [half] = await query(
      `select embedding = '${JSON.stringify(numbers)}'::halfvec as same, attstorage::text as storage
       from geoembeddings.patches, pg_attribute
       where id = 0 and attrelid = 'geoembeddings.patches'::regclass and attname = 'embedding'`,
    )
    expect(half).toEqual({ same: true, storage: 'p' })
    const hits = await query(
      `select id from geoembeddings.similarity_search(table_name => 'patches', patch_id => 3, result_limit => 1)`,
    )
    expect(hits).toEqual([{ id: 3 }])
  })
  test('is refused when one byte of it has changed', async () => {
    const path = join(worker.folder, 'models', 'tiny-vit', 'r1', 'model.onnx_data')
    const bytes = Buffer.from(parts.get('model.onnx_data') as Uint8Array)
    bytes.writeUInt8(bytes.readUInt8(100) ^ 1, 100)
    await writeFile(path, bytes)
    const job = await run({ geotiffPath: 'small.tif', modelName: 'tiny-vit', tileSize: 64 })
    expect(job).toMatchObject({ status: 'failed', error: { code: 'MODEL_TAMPERED', retryable: false } })
  })
})

test('of two jobs with one name the artifacts that stay are those of the table', async () => {
  const { asyncBufferFromFile, parquetReadObjects } = await import('hyparquet')
  const { compressors } = await import('hyparquet-compressors')
  const bytes = await readFile(join(files, 'scene.tif'))
  const waiting: (() => void)[] = []
  // Both jobs were accepted when the first of them gets its raster.
  serve = (_, response) => {
    waiting.push(() => response.end(bytes))
    if (waiting.length === 2) for (const answer of waiting) answer()
  }
  const body = { tableName: 'contested', modelName: BUILT_IN_MODEL, uploadArtifactsToStorage: true }
  const records = await Promise.all(
    [64, 128].map((tileSize) => submit(worker, TASK, { ...body, tileSize, geotiffPath: `${origin}/${tileSize}.tif` })),
  )
  const jobs = await Promise.all(records.map((record) => until(worker, record.body.links.self)))
  const won = jobs.filter((job) => job.status === 'success')
  expect(won).toHaveLength(1)
  expect(jobs.find((job) => job.status === 'failed')).toMatchObject({ error: { code: 'TABLE_EXISTS' } })
  const { openStore } = await import('@terrane/storage')
  const store = openStore(`file:${join(worker.folder, 'storage')}`)
  const kept = await Array.fromAsync(store.list('geoembeddings', ''))
  expect(kept.map(({ key }) => key).filter((key) => /contested|uploading/.test(key))).toEqual([
    'contested/contested.parquet',
    'contested/contested.stac.json',
  ])
  const path = join(worker.folder, 'contested.parquet')
  const parquet = await store.get('geoembeddings', 'contested/contested.parquet')
  await writeFile(path, Buffer.concat(await Array.fromAsync(parquet.body)))
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(path), compressors })
  expect(rows).toHaveLength(won[0]?.result?.['rows'] as number)
  expect(await leftovers()).toEqual({ staging: [], work: [] })
})

test('artifacts are GeoParquet and STAC with the rows of the table', async () => {
  const { asyncBufferFromFile, parquetReadObjects } = await import('hyparquet')
  const job = await run({ geotiffPath: 'scene.tif', tableName: 'with_files', uploadArtifactsToStorage: true })
  expect(job).toMatchObject({
    status: 'success',
    result: {
      artifacts: [
        { bucket: 'geoembeddings', path: 'with_files/with_files.parquet', bytes: expect.any(Number) as number },
        { bucket: 'geoembeddings', path: 'with_files/with_files.stac.json', bytes: expect.any(Number) as number },
      ],
    },
  })
  const { openStore } = await import('@terrane/storage')
  const store = openStore(`file:${join(worker.folder, 'storage')}`)
  const read = async (key: string) => Buffer.concat(await Array.fromAsync((await store.get('geoembeddings', key)).body))
  const path = join(worker.folder, 'read.parquet')
  await writeFile(path, await read('with_files/with_files.parquet'))
  const { compressors } = await import('hyparquet-compressors')
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(path), compressors })
  expect(rows).toHaveLength(12)
  const table = await query<{ id: number; embedding: string }>(
    'select id, embedding::text from geoembeddings.with_files order by id',
  )
  rows.forEach((row, i) => {
    expect(Number(row['id'])).toBe(table[i]?.id)
    expect(Float32Array.from(row['embedding'] as number[])).toEqual(
      Float32Array.from(JSON.parse(table[i]?.embedding ?? '') as number[]),
    )
  })
  const stac = JSON.parse((await read('with_files/with_files.stac.json')).toString()) as {
    type: string
    id: string
    assets: Record<string, { href: string }>
  }
  expect(stac).toMatchObject({
    type: 'Feature',
    stac_version: '1.0.0',
    id: 'with_files',
    assets: { embeddings: { href: './with_files.parquet' } },
  })
})

const inStorage = (bucket: string, path: string) => ({ geotiffPath: undefined, storagePath: { bucket, path } })

describe('refused at submit', () => {
  const post = (body: object) =>
    submit(worker, TASK, { geotiffPath: 'scene.tif', tableName: name(), modelName: BUILT_IN_MODEL, ...body })
  test.each([
    ['a table that exists', { tableName: 'scene' }, 409, 'TABLE_EXISTS'],
    ['a reserved name', { tableName: 'embeddings_catalogue' }, 422, 'RESERVED_NAME'],
    ['a name with capitals', { tableName: 'Scene' }, 422, 'VALIDATION_FAILED'],
    ['a name of 64 characters', { tableName: 'a'.repeat(64) }, 422, 'VALIDATION_FAILED'],
    ['an unknown model', { modelName: 'resnet' }, 422, 'MODEL_UNKNOWN'],
    [
      'a tile size the model cannot take',
      { tileSize: 100, modelName: 'dinov3-vitl16-pretrain-sat493m' },
      422,
      'TILE_SIZE_UNSUPPORTED',
    ],
    ['patches of a model without patches', { level: 'patch' }, 422, 'LEVEL_UNSUPPORTED'],
    ['a file that is not there', { geotiffPath: 'nowhere.tif' }, 422, 'SOURCE_NOT_FOUND'],
    ['a path out of the data roots', { geotiffPath: '../work' }, 422, 'SOURCE_NOT_FOUND'],
    ['an absolute path elsewhere', { geotiffPath: '/etc/passwd' }, 422, 'SOURCE_NOT_FOUND'],
    ['a band as text', { bands: ['red'] }, 422, 'VALIDATION_FAILED'],
    ['a negative band', { bands: [-1] }, 422, 'VALIDATION_FAILED'],
    ['no source', { geotiffPath: undefined }, 422, 'SOURCE_MISSING'],
    ['two sources', { storagePath: { bucket: 'scenes', path: 'a' } }, 422, 'SOURCE_MISSING'],
    ['a bucket that is not there', inStorage('nowhere', 'a.tif'), 404, 'BUCKET_NOT_FOUND'],
    ['an object that is not there', inStorage('scenes', 'b.tif'), 404, 'OBJECT_NOT_FOUND'],
    ['a profile that is none', { profile: 'spot' }, 422, 'UNKNOWN_PROFILE'],
    ['two ranges for three channels', { scale: [[0, 1], [0, 1]] }, 422, 'SCALE_COUNT'], // prettier-ignore
    ['scale and scaleFrom', { scale: [0, 1], scaleFrom: { table: 'scene' } }, 422, 'CONFLICTING_FIELDS'],
    ['the stretch of a table that is not there', { scaleFrom: { table: 'nope' } }, 422, 'SCALE_FROM_UNUSABLE'],
    ['more tiles than the guard allows', { stride: 1 }, 413, 'size_guard_exceeded'],
  ])('%s', async (_, body, status, code) => {
    expect(await post(body)).toMatchObject({ status, body: { code } })
  })
  test('the default model without its weights: the models that are here are told, and no place on the server', async () => {
    const { status, body } = await post({ modelName: undefined })
    expect({ status, body }).toMatchObject({
      status: 422,
      body: { code: 'MODEL_UNAVAILABLE', errors: [{ path: '/modelName' }] },
    })
    const said = JSON.stringify(body)
    expect(said).toContain('dinov3-vitl16-pretrain-sat493m')
    expect(said).toMatch(new RegExp(`Available are .*${BUILT_IN_MODEL}`))
    expect(said).not.toContain(worker.folder)
  })
  test('a file over the limit, by its size', async () => {
    await writeFile(join(files, 'big.tif'), Buffer.alloc(2_000_001))
    expect(await post({ geotiffPath: 'big.tif' })).toMatchObject({
      status: 413,
      body: {
        code: 'size_guard_exceeded',
        message: expect.stringContaining('GEOEMBEDDINGS_MAX_GEOTIFF_BYTES allows 2000000') as string,
      },
    })
  })
  test('a symbolic link out of the data roots', async () => {
    await symlink('/etc/hostname', join(files, 'link.tif'))
    expect(await post({ geotiffPath: 'link.tif' })).toMatchObject({ status: 422, body: { code: 'SOURCE_NOT_FOUND' } })
  })
})

describe('fails with a clear error and leaves nothing', () => {
  const failing = async (body: object) => {
    const tableName = name()
    const job = await run({ ...body, tableName })
    expect(job).toMatchObject({ status: 'failed', result: null })
    expect(await leftovers()).toEqual({ staging: [], work: [] })
    expect(await query(`select to_regclass($1) as t`, [`geoembeddings.${tableName}`])).toEqual([{ t: null }])
    expect(await query(`select 1 from geoembeddings.embeddings_catalogue where table_name = $1`, [tableName])).toEqual(
      [],
    )
    return job.error
  }

  test.each<[string, () => Promise<Uint8Array | string>, string]>([
    [
      'a truncated file',
      async () => (await readFile(join(files, 'scene.tif'))).subarray(0, -1000),
      'GEOTIFF_TRUNCATED',
    ],
    [
      'a PNG by the name of a TIFF',
      async () => Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
      'NOT_A_GEOTIFF',
    ],
    ['an empty file', async () => '', 'NOT_A_GEOTIFF'],
    ['a web page', async () => '<!doctype html><title>Sign in</title>', 'NOT_A_GEOTIFF'],
    [
      'a raster without georeference',
      () =>
        writeGeoTiff(textureImage({ width: 64, height: 64, bands: 3, seed: 1, noise: 8, type: 'uint8' }), {
          type: 'uint8',
        }),
      'NO_GEOREFERENCE',
    ],
    [
      'a CRS that only a grid transforms exactly',
      () =>
        writeGeoTiff(textureImage({ width: 64, height: 64, bands: 3, seed: 1, noise: 8, type: 'uint8' }), {
          ...UTM,
          georeference: { epsg: 29101, affine: [5_000_000, 1, 0, 9_000_000, 0, -1] },
        }),
      'CRS_NEEDS_GRID',
    ],
    [
      'nothing but nodata',
      () =>
        writeGeoTiff(
          imageOf({ width: 300, height: 300, bands: 3 }, () => 0),
          { ...UTM, nodata: '0' },
        ),
      'NO_VALID_PIXELS',
    ],
  ])('%s', async (_, make, code) => {
    await writeFile(join(files, 'bad.tif'), await make())
    expect(await failing({ geotiffPath: 'bad.tif' })).toMatchObject({
      code,
      hint: expect.any(String) as string,
      retryable: false,
    })
  })

  test('bands out of range, and too few or too many', async () => {
    expect(await failing({ geotiffPath: 'scene.tif', bands: [0, 1, 3] })).toMatchObject({ code: 'BAND_OUT_OF_RANGE' })
    expect(await failing({ geotiffPath: 'scene.tif', bands: [0, 1] })).toMatchObject({ code: 'BAND_COUNT' })
  })
  test('too many tiles of a raster that only the job sees: the figure, the limit and the variable are told', async () => {
    const bytes = await readFile(join(files, 'scene.tif'))
    serve = (_, response) => void response.end(bytes)
    expect(await failing({ geotiffPath: `${origin}/scene.tif`, stride: 8 })).toMatchObject({
      code: 'size_guard_exceeded',
      message: expect.stringMatching(/\d+ tiles; GEOEMBEDDINGS_MAX_TILES allows 4000/) as string,
    })
  })
  test.each<[string, RequestListener]>([
    [
      'that is announced as too large',
      (_, response) => void response.writeHead(200, { 'content-length': '99999999' }).end('x'),
    ],
    [
      'whose length is not told',
      (_, response) => {
        const chunk = Buffer.alloc(100_000)
        const send = () => {
          while (!response.destroyed && response.write(chunk));
        }
        response.on('drain', send)
        send()
      },
    ],
  ])('a download %s', async (_, listener) => {
    serve = listener
    expect(await failing({ geotiffPath: `${origin}/big.tif` })).toMatchObject({
      code: 'size_guard_exceeded',
      message: expect.stringContaining('GEOEMBEDDINGS_MAX_GEOTIFF_BYTES allows 2000000') as string,
    })
  })
  test.each([
    ['a missing file', 404, 'DOWNLOAD_REFUSED'],
    ['a page that wants a sign-in', 403, 'DOWNLOAD_REFUSED'],
  ])('%s on the web', async (_, status, code) => {
    serve = (__, response) => void response.writeHead(status).end()
    expect(await failing({ geotiffPath: `${origin}/x.tif` })).toMatchObject({ code, retryable: false })
  })
  test.each([
    'http://169.254.169.254/latest',
    'http://10.0.0.1/a.tif',
    'https://127.0.0.1:1/a.tif',
    'https://[::1]/a.tif',
    'file:///etc/passwd',
    's3://bucket/a.tif',
  ])('the address %s, before a job is queued', async (geotiffPath) => {
    const { status, body } = await submit(worker, TASK, {
      geotiffPath,
      tableName: 'refused',
      modelName: BUILT_IN_MODEL,
    })
    expect({ status, body }).toMatchObject({
      status: 422,
      body: { code: 'URL_REFUSED', errors: [{ path: '/geotiffPath' }] },
    })
  })
  test('a scale that is no range, before a job is queued', async () => {
    const body = { geotiffPath: 'scene.tif', tableName: 'refused', modelName: BUILT_IN_MODEL, scale: [5, 1] }
    expect(await submit(worker, TASK, body)).toMatchObject({
      status: 422,
      body: { code: 'INVALID_SCALE', errors: [{ path: '/scale' }] },
    })
  })
  test('a redirect to an address inside', async () => {
    serve = (_, response) => void response.writeHead(302, { location: 'http://192.168.0.1/a.tif' }).end()
    expect(await failing({ geotiffPath: `${origin}/x.tif` })).toMatchObject({ code: 'URL_REFUSED' })
  })
})

test('a running job that is cancelled stops before its end and leaves nothing', async () => {
  await fixture(
    'long.tif',
    { width: 1100, height: 1100, bands: 3 },
    { ...UTM, compression: 'jpeg', color: 'ycbcr', predictor: 1 },
  )
  const tableName = name()
  const { body } = await submit(worker, TASK, {
    geotiffPath: 'long.tif',
    tableName,
    modelName: BUILT_IN_MODEL,
    // 3844 tiles.
    stride: 14,
  })
  await until(worker, body.links.self, (job) => job.progress?.phase === 'embed' && job.progress.done > 0)
  await worker.app.inject({ method: 'DELETE', url: body.links.self, headers: HEADERS })
  const job = await until(worker, body.links.self)
  expect(job).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
  expect(job.progress!.done).toBeLessThan(job.progress!.total!)
  expect(await leftovers()).toEqual({ staging: [], work: [] })
})
