// Slow: region embedders are trained on a town.
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { coverArea } from '@terrane/embeddings/srai'
import { openStore } from '@terrane/storage'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { HEADERS, openWorker, submit, until, type JobRecord, type TestWorker } from './harness.ts'
import { TOWN, boxOf, townElements, townPbf } from './osm-town.ts'

const TASK = 'createSraiEmbeddings'
const PATIENCE_MS = 120_000
vi.setConfig({ testTimeout: 2 * PATIENCE_MS })

const MAX_CELLS = 2000
const FILE = { kind: 'file', path: 'town.osm.pbf' }
/** Something of each kind: points, lines, closed ways that are areas, an area of a relation. */
const TAGS = {
  shop: true,
  natural: ['tree', 'water'],
  building: ['house'],
  highway: ['residential'],
  waterway: ['river'],
  landuse: ['meadow', 'forest'],
}
const NAMES = [
  'building_house',
  'highway_residential',
  'landuse_forest',
  'landuse_meadow',
  'natural_tree',
  'natural_water',
  'shop_bakery',
  'waterway_river',
]
const AREA = boxOf(11, 48, 11.1, 48.1)

let worker: TestWorker
let server: Server
let origin: string
type Route = (request: IncomingMessage, response: ServerResponse) => void
/** Answers of the local server by path. */
const routes = new Map<string, Route>()
const requests: IncomingMessage[] = []
let count = 0
const name = () => `cells_${++count}`

beforeAll(async () => {
  server = createServer((request, response) => {
    requests.push(request)
    const route = routes.get(new URL(request.url ?? '/', origin).pathname)
    request.resume()
    if (route) route(request, response)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  worker = await openWorker({
    env: {
      TERRANE_FETCH_ALLOW_HOSTS: origin.slice('http://'.length),
      TERRANE_GEOCODER_URL: `${origin}/search?email=ops@example.org`,
      TERRANE_SETTINGS: JSON.stringify({ worker: { maxH3Cells: MAX_CELLS, maxAreaKm2: 5000 } }),
    },
  })
  await mkdir(join(worker.folder, 'data'))
  await writeFile(join(worker.folder, 'data', 'town.osm.pbf'), townPbf())
})
afterAll(async () => {
  await worker[Symbol.asyncDispose]()
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  routes.clear()
  requests.length = 0
})

const FLAT = { h3Resolution: 8, aoiGeoJson: AREA, osmTags: TAGS, source: FILE }

async function start(body: object): Promise<JobRecord> {
  const { status, body: record } = await submit(worker, TASK, { tableName: name(), ...body })
  expect({ status, record }).toMatchObject({ status: 202 })
  return record
}

async function run(body: object): Promise<JobRecord> {
  return until(worker, (await start(body)).links.self, (job) => job.terminal, PATIENCE_MS)
}

async function query<Row extends Record<string, unknown>>(text: string, values: unknown[] = []): Promise<Row[]> {
  return (await worker.db.database.query<Row>(text, values)).rows
}

/** The embedding of each cell. */
async function vectors(table: string): Promise<Map<string, number[]>> {
  const rows = await query<{ cell: string; vector: string }>(
    `select h3_index as cell, embedding::text as vector from geoembeddings.${table} order by id`,
  )
  return new Map(rows.map(({ cell, vector }) => [cell, JSON.parse(vector) as number[]]))
}

async function nothingLeft(table: string): Promise<void> {
  const tables = await query(
    `select n.nspname, c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'terrane_staging' or (n.nspname = 'geoembeddings' and c.relname = $1)`,
    [table],
  )
  const entries = await query('select table_name from geoembeddings.embeddings_catalogue where table_name = $1', [
    table,
  ])
  expect({ tables, entries, work: await readdir(join(worker.folder, 'work')) }).toEqual({
    tables: [],
    entries: [],
    work: [],
  })
}

async function importTown(prefix: string, body: object): Promise<void> {
  const sent = { areaName: 'Town', tablePrefix: prefix, aoiGeoJson: TOWN, source: FILE, ...body }
  const { body: record } = await submit(worker, 'osmImportArea', sent)
  expect(await until(worker, record.links.self, (job) => job.terminal, PATIENCE_MS)).toMatchObject({
    status: 'success',
  })
}

let counted: Promise<JobRecord> | null = null
/** The job that makes the table `counted`, which tests only read. */
const countTown = () => (counted ??= run({ ...FLAT, tableName: 'counted' }))
let whole: Promise<void> | null = null
/** Imports all of the town into tables of the prefix `whole`, which tests only read. */
const importWhole = () => (whole ??= importTown('whole', { topics: ['all'] }))

describe('a town', () => {
  test('becomes a table of cells with counts, as PostGIS counts them', async () => {
    const job = await countTown()
    const cells = coverArea({ area: [AREA.coordinates as [number, number][][]], resolution: 8 })
    expect(job).toMatchObject({
      status: 'success',
      result: {
        table: 'geoembeddings.counted',
        rows: cells.length,
        dims: NAMES.length,
        model: { id: 'srai-count-osm-v1', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
        crs: 'EPSG:4326',
        attribution: '© OpenStreetMap contributors',
        source: { kind: 'file', name: 'town.osm.pbf', timestamp: '2026-03-04T05:06:07.000Z' },
      },
    })
    const found = await vectors('counted')
    expect([...found.keys()]).toEqual(cells)

    await importWhole()
    const columns = NAMES.map((column) => {
      const [key, value] = column.split('_')
      return `(select count(*) from feature f where f.tags->>'${key}' = '${value}' and st_intersects(f.geom, t.geom))::int`
    })
    const expected = await query<{ cell: string; counts: number[] }>(
      `with feature as (select tags, geom from whole_points union all select tags, geom from whole_lines
         union all select tags, geom from whole_multipolygons)
       select h3_index as cell, array[${columns.join(', ')}] as counts from geoembeddings.counted t order by id`,
    )
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected.map(({ cell, counts }) => [cell, counts])))
    expect(expected.flatMap(({ counts }) => counts).reduce((sum, value) => sum + value, 0)).toBeGreaterThan(150)

    const zeros = expected.filter(({ counts }) => counts.every((value) => value === 0)).length
    expect(zeros).toBeGreaterThan(0)
    expect(job.result).toMatchObject({
      zero_vectors: zeros,
      warnings: [{ code: 'CELLS_WITHOUT_FEATURES', count: zeros }],
    })
    expect(
      await query(
        `select kind, model_name, dims, level, normalized, metric, rows, zero_vectors, attribution, feature_names, owner,
           metadata->'h3_resolution' as resolution, metadata->'features' as features, is_public
         from geoembeddings.embeddings_catalogue where table_name = 'counted'`,
      ),
    ).toEqual([
      {
        kind: 'srai',
        model_name: 'srai-count-osm-v1',
        dims: NAMES.length,
        level: 'cell',
        normalized: false,
        metric: 'cosine',
        rows: cells.length,
        zero_vectors: zeros,
        attribution: '© OpenStreetMap contributors',
        feature_names: NAMES,
        owner: null,
        resolution: 8,
        features: job.result?.['features'],
        is_public: true,
      },
    ])

    const place = cells.findIndex((cell) => found.get(cell)?.some((value) => value > 0))
    const similar = await query<{ id: number; similarity: number }>(
      `select id, similarity from geoembeddings.similarity_search('counted', patch_id => $1)`,
      [place],
    )
    expect(similar[0]).toEqual({ id: place, similarity: 1 })
    const ids = new Set(similar.map(({ id }) => id))
    const empty = expected.flatMap(({ counts }, id) => (counts.every((value) => value === 0) ? [id] : []))
    expect(empty.filter((id) => ids.has(id))).toEqual([])
    const [outline] = await query(
      `select geometrytype(geom) as type, st_isvalid(geom) as valid, st_srid(geom) as srid, st_npoints(geom) as points
       from geoembeddings.counted where id = 0`,
    )
    expect(outline).toEqual({ type: 'POLYGON', valid: true, srid: 4326, points: 7 })
  })

  test(
    'is the same from imported tables, in the pipeline shape, and beside a request in flat fields',
    { timeout: 120_000 },
    async () => {
      await Promise.all([importWhole(), countTown()])
      const pipeline = {
        dataLoaderArgs: { query: AREA, filter: TAGS },
        regionalizerArgs: { dgg: { kind: 'h3', resolution: 8 } },
        fitterArgs: { modelName: 'CountEmbedder' },
      }
      expect(await run({ tableName: 'piped', pipeline, source: FILE })).toMatchObject({ status: 'success' })
      const source = { kind: 'tables', prefix: 'whole' }
      const job = await run({ ...FLAT, tableName: 'from_tables', source })
      expect(job).toMatchObject({
        status: 'success',
        result: {
          source: {
            kind: 'tables',
            tables: ['whole_lines', 'whole_multilinestrings', 'whole_multipolygons', 'whole_points'],
            timestamp: '2026-03-04T05:06:07.000Z',
          },
        },
      })
      const flat = await vectors('counted')
      expect(await vectors('piped')).toEqual(flat)
      expect(await vectors('from_tables')).toEqual(flat)
      const models = await query(
        `select distinct model_sha256 from geoembeddings.embeddings_catalogue where table_name in ('counted', 'piped', 'from_tables')`,
      )
      expect(models).toHaveLength(1)
    },
  )

  test(
    'from tables of topics, each feature once, with a warning; also from clipped ones',
    { timeout: 120_000 },
    async () => {
      await importTown('topics', { topics: ['buildings', 'addresses', 'streets', 'waterways'], clip: true })
      const filter = { osmTags: { building: ['house'], highway: ['residential'], waterway: ['river'] } }
      const job = await run({
        ...FLAT,
        ...filter,
        tableName: 'of_topics',
        source: { kind: 'tables', prefix: 'topics' },
      })
      expect(job).toMatchObject({
        status: 'success',
        result: {
          warnings: [{ code: 'TOPICS_NOT_IMPORTED' }, { code: 'FEW_DIMENSIONS' }, { code: 'CELLS_WITHOUT_FEATURES' }],
        },
      })
      await run({ ...FLAT, ...filter, tableName: 'of_file' })
      expect(await vectors('of_topics')).toEqual(await vectors('of_file'))
    },
  )

  test('in one number has the metric l2 and a warning; features that no cell has are an error', async () => {
    const one = await run({ ...FLAT, tableName: 'one', osmTags: { building: ['house'] } })
    expect(one).toMatchObject({
      status: 'success',
      result: { dims: 1, warnings: [{ code: 'ONE_DIMENSION' }, { code: 'CELLS_WITHOUT_FEATURES' }] },
    })
    const [entry] = await query(`select metric, dims from geoembeddings.embeddings_catalogue where table_name = 'one'`)
    expect(entry).toEqual({ metric: 'l2', dims: 1 })
    const none = await run({ ...FLAT, osmTags: undefined, tableName: 'none', osmPreset: 'bicycle_parking' })
    expect(none).toMatchObject({ status: 'failed', error: { code: 'NO_MATCHING_FEATURES', retryable: false } })
    await nothingLeft('none')
  })

  test('by contextual counts, with options', async () => {
    const embedder = { kind: 'contextual-count', subcategories: true, distance: 2, concat: true }
    const job = await run({ ...FLAT, tableName: 'context', embedder })
    expect(job).toMatchObject({
      status: 'success',
      result: { dims: NAMES.length * 3, model: { id: 'srai-contextual-count-osm-v1' } },
    })
    await countTown()
    const own = [...(await vectors('context')).values()].map((vector) => vector.slice(0, NAMES.length))
    expect(own).toEqual([...(await vectors('counted')).values()])
  })

  test('by hex2vec is the same for the same seed, with falling loss', async () => {
    const embedder = { kind: 'hex2vec', layers: [16, 8], epochs: 4 }
    const runs = ['learned', 'again', 'other'].map((tableName) =>
      run({ ...FLAT, tableName, embedder: tableName === 'other' ? { ...embedder, seed: 1 } : embedder }),
    )
    for (const job of await Promise.all(runs)) expect(job).toMatchObject({ status: 'success', result: { dims: 8 } })
    const learned = await vectors('learned')
    expect(await vectors('again')).toEqual(learned)
    expect(await vectors('other')).not.toEqual(learned)
    const entries = await query<{ sha: string; losses: number[]; names: null }>(
      `select model_sha256 as sha, metadata->'losses' as losses, feature_names as names
       from geoembeddings.embeddings_catalogue where table_name in ('learned', 'again', 'other') order by table_name`,
    )
    const [again, first, other] = entries
    expect(again?.sha).toBe(first?.sha)
    expect(other?.sha).not.toBe(first?.sha)
    expect(first?.losses.at(-1)).toBeLessThan(first?.losses[0] ?? 0)
    expect(first?.names).toBeNull()
  })

  test('has artifacts with the rows of the table', async () => {
    const { asyncBufferFromFile, parquetReadObjects } = await import('hyparquet')
    const { compressors } = await import('hyparquet-compressors')
    const job = await run({ ...FLAT, tableName: 'with_files', uploadArtifactsToStorage: true })
    expect(job).toMatchObject({ status: 'success', result: { artifacts: [{ bucket: 'geoembeddings' }, {}] } })
    const store = openStore(`file:${join(worker.folder, 'storage')}`)
    const read = async (key: string) =>
      Buffer.concat(await Array.fromAsync((await store.get('geoembeddings', key)).body))
    const path = join(worker.folder, 'read.parquet')
    await writeFile(path, await read('with_files/with_files.parquet'))
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(path), compressors })
    const table = await vectors('with_files')
    expect(rows.map((row) => row['h3_index'])).toEqual([...table.keys()])
    expect(rows.map((row) => [...(row['embedding'] as number[])])).toEqual([...table.values()])
    const item: unknown = JSON.parse((await read('with_files/with_files.stac.json')).toString())
    expect(item).toMatchObject({
      id: 'with_files',
      properties: {
        datetime: '2026-03-04T05:06:07.000Z',
        license: 'ODbL-1.0',
        'emb:runtime_parameters': { model: 'srai-count-osm-v1', h3_resolution: 8, filter: TAGS },
      },
    })
  })

  test('may belong to a user, and then is not for others', async () => {
    const ownerUuid = 'a3bb189e-8bf9-4c4d-9b7a-0123456789ab'
    expect(await run({ ...FLAT, tableName: 'owned', ownerUuid })).toMatchObject({ status: 'success' })
    const visible = (claims: object) =>
      worker.db.database.transaction(async (session) => {
        await session.query(`select set_config('request.jwt.claims', $1, true)`, [JSON.stringify(claims)])
        await session.query('set local role authenticated')
        return (await session.query('select 1 from geoembeddings.owned limit 1')).rowCount
      })
    expect(await visible({ sub: ownerUuid })).toBe(1)
    expect(await visible({ sub: ownerUuid.replace('a', 'b') })).toBe(0)
  })
})

describe('a place', () => {
  const results = [
    {
      display_name: 'Gridham, a point',
      osm_type: 'node',
      osm_id: 1,
      geojson: { type: 'Point', coordinates: [11, 48] },
    },
    { display_name: 'Gridham', osm_type: 'relation', osm_id: 2, geojson: AREA },
  ]
  const answers = (body: unknown, status = 200): Route => {
    return (_, response) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  const place = { h3Resolution: 8, osmTags: TAGS, source: FILE }

  test('is looked up once, by name, and its outline is the area', async () => {
    routes.set('/search', answers(results))
    const job = await run({ ...place, tableName: 'placed', placeQuery: ' Gridham,  Land ' })
    expect(job).toMatchObject({ status: 'success' })
    const [request] = requests
    const { searchParams } = new URL(request?.url ?? '', origin)
    expect(Object.fromEntries(searchParams)).toEqual({
      email: 'ops@example.org',
      q: 'Gridham, Land',
      format: 'jsonv2',
      polygon_geojson: '1',
      limit: '10',
    })
    expect(request?.headers['user-agent']).toMatch(/^Terrane/)
    const [entry] = await query<{ area: object }>(
      `select metadata->'area' as area from geoembeddings.embeddings_catalogue where table_name = 'placed'`,
    )
    expect(entry?.area).toMatchObject({ place: 'Gridham', element: 'relation/2' })

    routes.set('/search', answers({}, 500))
    const { osmTags: filter } = place
    const dgg = { kind: 'h3', resolution: 8 }
    const pipeline = { dataLoaderArgs: { query: 'Gridham, Land', filter }, regionalizerArgs: { dgg } }
    expect(await run({ tableName: 'kept', pipeline, source: FILE })).toMatchObject({ status: 'success' })
    expect(requests).toHaveLength(1)
    expect(await vectors('kept')).toEqual(await vectors('placed'))
  })

  test.for<[string, Route, string]>([
    ['is not known', answers([]), 'PLACE_NOT_FOUND'],
    ['has no outline', answers(results.slice(0, 1)), 'PLACE_NOT_FOUND'],
    ['comes from a geocoder that is down', answers({}, 503), 'GEOCODER_FAILED'],
    ['is too large', answers([{ geojson: boxOf(0, 0, 10, 10) }]), 'AOI_TOO_LARGE'],
    ['has an outline that crosses itself', answers([{ geojson: { type: 'Polygon', coordinates: [[[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]] } }]), 'AOI_INVALID'],
    ['makes too many cells', answers([{ geojson: boxOf(11, 48, 11.4, 48.4) }]), 'size_guard_exceeded'],
  ])('that %s is an error and leaves nothing', async ([why, route, code]) => {
    routes.set('/search', route)
    const table = name()
    const job = await run({ ...place, h3Resolution: 9, tableName: table, placeQuery: `a place that ${why}` })
    expect(job).toMatchObject({ status: 'failed', error: { code } })
    await nothingLeft(table)
  }) // prettier-ignore

  test('gives its outline over HTTP, to be used in any task', async () => {
    routes.set('/search', answers(results))
    const ask = (wanted: string, from = worker) =>
      from.app.inject({ url: `/places?name=${encodeURIComponent(wanted)}`, headers: HEADERS })
    const found = await ask('Gridham upon Land')
    expect(found.json()).toEqual({ name: 'Gridham', element: 'relation/2', geojson: AREA })
    routes.set('/search', answers([]))
    expect((await ask('Nowhere')).json()).toMatchObject({ code: 'PLACE_NOT_FOUND' })
    expect((await ask('')).statusCode).toBe(422)
    expect((await worker.app.inject({ url: '/places?name=Gridham' })).statusCode).toBe(401)
    await using other = await openWorker({ beside: worker, env: { TERRANE_WORKER_CONCURRENCY: '0' } })
    expect((await ask('Gridham', other)).json()).toMatchObject({ code: 'GEOCODER_OFF' })
  })

  test('cannot be named where no geocoder is set', async () => {
    await using other = await openWorker({ beside: worker, env: { TERRANE_WORKER_CONCURRENCY: '0' } })
    const sent = { ...place, tableName: name(), placeQuery: 'Gridham' }
    const { status, body } = await submit(other, TASK, sent)
    expect(status).toBe(422)
    expect(body).toMatchObject({
      code: 'GEOCODER_OFF',
      hint: expect.stringContaining('TERRANE_GEOCODER_URL') as string,
      errors: [{ path: '/placeQuery' }],
    })
  })
})

describe('is refused at once', () => {
  const dgg = { kind: 'h3', resolution: 8 }
  const loader = { query: 'Gridham' }
  test.for<[string, object, string, ...string[]]>([
    ['resolution 16', { h3Resolution: 16 }, 'VALIDATION_FAILED', '/h3Resolution'],
    ['half a resolution', { h3Resolution: 8.5 }, 'VALIDATION_FAILED', '/h3Resolution'],
    ['no resolution', { h3Resolution: undefined }, 'MISSING_FIELD', '/h3Resolution'],
    ['no area', { aoiGeoJson: undefined }, 'MISSING_FIELD', '/aoiGeoJson'],
    ['neither area nor resolution', { aoiGeoJson: undefined, h3Resolution: undefined }, 'MISSING_FIELD', '/aoiGeoJson', '/h3Resolution'],
    ['a private address', { source: { kind: 'url', url: 'https://10.0.0.1/a.pbf' } }, 'URL_REFUSED', '/source/url'],
    ['an area without extent', { aoiGeoJson: boxOf(11, 48, 11, 48) }, 'AOI_INVALID', '/aoiGeoJson/coordinates/0'],
    ['an empty collection', { aoiGeoJson: { type: 'FeatureCollection', features: [] } }, 'AOI_INVALID', '/aoiGeoJson'],
    ['two areas', { placeQuery: 'Gridham' }, 'CONFLICTING_FIELDS', '/aoiGeoJson'],
    ['an area over the limit', { aoiGeoJson: boxOf(0, 0, 10, 10) }, 'AOI_TOO_LARGE', '/aoiGeoJson'],
    ['an area over the guard', { h3Resolution: 11 }, 'size_guard_exceeded', '/h3Resolution'],
    ['tags and a preset', { osmPreset: 'hex2vec' }, 'CONFLICTING_FIELDS', '/osmTags'],
    ['an unknown preset', { osmTags: undefined, osmPreset: 'everything' }, 'OSM_PRESET_UNKNOWN', '/osmPreset'],
    ['a tag that is a number', { osmTags: { shop: 3 } }, 'INVALID_OSM_FILTER', '/osmTags/shop'],
    ['no tags', { osmTags: {} }, 'INVALID_OSM_FILTER', '/osmTags'],
    ['an embedder that is not built', { embedder: 'GeoVexEmbedder' }, 'EMBEDDER_UNKNOWN', '/embedder'],
    ['an option of another embedder', { embedder: { kind: 'count', epochs: 3 } }, 'INVALID_EMBEDDER_OPTION', '/embedder/epochs'],
    ['a distance of 99', { embedder: { kind: 'contextual-count', distance: 99 } }, 'INVALID_EMBEDDER_OPTION', '/embedder/distance'],
    ['a pretrained model', { pretrainedModelRunId: 'run-7' }, 'PRETRAINED_MODEL_UNAVAILABLE', '/pretrainedModelRunId'],
    ['an owner that is no UUID', { ownerUuid: 'me' }, 'VALIDATION_FAILED', '/ownerUuid'],
    ['a file that is not there', { source: { kind: 'file', path: 'none.pbf' } }, 'FILE_NOT_REACHABLE', '/source/path'],
    ['tables that are not there', { source: { kind: 'tables', prefix: 'none' } }, 'IMPORTED_TABLES_MISSING', '/source/prefix'],
    ['an unknown field', { model: 'x' }, 'VALIDATION_FAILED', '/model'],
    ['a reserved name', { tableName: 'embeddings_catalogue' }, 'RESERVED_NAME', '/tableName'],
    ['a name in capitals', { tableName: 'Cells' }, 'VALIDATION_FAILED', '/tableName'],
    ['flat fields beside a pipeline', { pipeline: { dataLoaderArgs: loader, regionalizerArgs: { dgg } } }, 'CONFLICTING_FIELDS', '/aoiGeoJson'],
    ['another grid', { pipeline: { dataLoaderArgs: loader, regionalizerArgs: { dgg: { ...dgg, kind: 's2' } } } }, 'VALIDATION_FAILED', '/pipeline/regionalizerArgs/dgg/kind'],
    ['an unknown part of a pipeline', { pipeline: { dataLoaderArgs: loader, regionalizerArgs: { dgg }, joinerArgs: {} } }, 'VALIDATION_FAILED', '/pipeline/joinerArgs'],
  ])('%s', async ([, body, code, ...paths]) => {
    const sent = { tableName: name(), ...FLAT, ...body }
    const { status, body: problem } = await submit(worker, TASK, sent)
    const { errors } = problem as unknown as { errors: { path: string; message: string }[] }
    expect({ status, code: problem.code, paths: errors.map((error) => error.path) }).toEqual({
      status: code === 'size_guard_exceeded' ? 413 : 422,
      code,
      paths: expect.arrayContaining(paths) as string[],
    })
    expect(requests).toEqual([])
  }) // prettier-ignore

  test('a table that exists', async () => {
    await countTown()
    const { status, body } = await submit(worker, TASK, { ...FLAT, tableName: 'counted' })
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'TABLE_EXISTS' })
  })
})

test('the guard counts the cells before any data are asked for, and the capacity tells it', async () => {
  routes.set('/town.osm.pbf', (_, response) => response.end(townPbf()))
  const source = { kind: 'url', url: `${origin}/town.osm.pbf` }
  const table = name()
  // More cells than allowed, and fewer than twice as many, which the estimate at submission lets through.
  const job = await run({ ...FLAT, tableName: table, source, h3Resolution: 9, aoiGeoJson: boxOf(11, 48, 11.2, 48.2) })
  expect(job).toMatchObject({ status: 'failed', error: { code: 'size_guard_exceeded', retryable: false } })
  expect(job.error?.message).toMatch(/ \d+ H3 cells of resolution 9; worker\.maxH3Cells allows 2000/)
  expect(requests).toEqual([])
  await nothingLeft(table)
  const capacity = await worker.app.inject({ url: '/capacity', headers: HEADERS })
  expect(capacity.json()).toMatchObject({ maxH3Cells: MAX_CELLS })

  const fits = await run({ ...FLAT, source })
  expect(fits).toMatchObject({ status: 'success', result: { source: { kind: 'url' } } })
  expect(requests).toHaveLength(1)
})

describe('a cancelled job leaves nothing', () => {
  const cancel = (job: JobRecord) => worker.app.inject({ method: 'DELETE', url: job.links.self, headers: HEADERS })

  test('while data are on their way', async () => {
    routes.set('/slow.osm.pbf', (_, response) => void response.writeHead(200).write(townPbf().subarray(0, 100)))
    const table = name()
    const job = await start({ ...FLAT, tableName: table, source: { kind: 'url', url: `${origin}/slow.osm.pbf` } })
    await until(worker, job.links.self, ({ progress }) => progress?.phase === 'download', PATIENCE_MS)
    expect((await cancel(job)).statusCode).toBe(202)
    const ended = await until(worker, job.links.self, ({ terminal }) => terminal, PATIENCE_MS)
    expect(ended).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
    await nothingLeft(table)
  })

  test('while hex2vec learns', async () => {
    const table = name()
    const embedder = { kind: 'hex2vec', layers: [2000, 2000], epochs: 100 }
    const job = await start({ ...FLAT, tableName: table, h3Resolution: 9, embedder })
    await until(worker, job.links.self, ({ progress }) => progress?.phase === 'train', PATIENCE_MS)
    expect((await cancel(job)).statusCode).toBe(202)
    const ended = await until(worker, job.links.self, ({ terminal }) => terminal, PATIENCE_MS)
    expect(ended).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
    await nothingLeft(table)
  })
})

test('a feature is what its tags say: closed ways, keys of every object, relations that are no areas', async () => {
  const elements = townElements()
  const lone = { type: 'node', id: 90_001, lon: 11.05, lat: 48.05, tags: { constructor: 'x' } } as const
  const at = elements.findIndex(({ type }) => type === 'way')
  await writeFile(join(worker.folder, 'data', 'odd.osm.pbf'), townPbf(elements.toSpliced(at, 0, lone)))
  const source = { kind: 'file', path: 'odd.osm.pbf' }
  const job = await run({
    ...FLAT,
    tableName: 'odd',
    source,
    osmTags: { constructor: true, route: true, boundary: true },
  })
  expect(job).toMatchObject({ status: 'success', result: { dims: 2, features: 2 } })
  const [entry] = await query(`select feature_names from geoembeddings.embeddings_catalogue where table_name = 'odd'`)
  expect(entry).toEqual({ feature_names: ['boundary_administrative', 'constructor_x'] })
})
