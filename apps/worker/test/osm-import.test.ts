// Slow: each source of map data is imported as a job, with retries.
import { createHash } from 'node:crypto'
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { OSM_TOPICS } from '@terrane/contracts'
import { TOPICS, writePbf } from '@terrane/osm'
import { openStore } from '@terrane/storage'
import { buildCity } from '@terrane/testing/city'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openWorker, retryAtOnce, submit, until, type JobRecord, type TestWorker } from './harness.ts'
import { TOWN, TOWN_ROWS, boxOf, streetsPbf, townElements, townPbf } from './osm-town.ts'

let worker: TestWorker
let server: Server
let base: string
/** Answers of the server of extracts by path. */
const routes = new Map<string, (request: IncomingMessage, response: ServerResponse, body: string) => void>()
const requests: string[] = []

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      requests.push(`${request.method} ${request.url}`)
      const route = routes.get(request.url ?? '')
      if (route) route(request, response, Buffer.concat(chunks).toString())
      else response.writeHead(404).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  base = `http://127.0.0.1:${port}`
  worker = await openWorker({
    env: {
      TERRANE_OVERPASS_URL: `${base}/api/interpreter`,
      TERRANE_FETCH_ALLOW_HOSTS: `127.0.0.1:${port}`,
      TERRANE_OSM_MEMORY_MB: '1',
      TERRANE_SETTINGS: JSON.stringify({
        worker: { geofabrikUrl: base, maxOsmBytes: 1_000_000, maxOsmNodes: 120_000, maxAreaVertices: 1000 },
      }),
    },
  })
  const data = join(worker.folder, 'data')
  await mkdir(join(data, 'maps'), { recursive: true })
  await writeFile(join(data, 'maps', 'town.osm.pbf'), townPbf())
  await writeFile(join(worker.folder, 'outside.osm.pbf'), townPbf())
  await symlink(join(worker.folder, 'outside.osm.pbf'), join(data, 'link.osm.pbf'))
})
afterAll(async () => {
  server.close()
  await worker[Symbol.asyncDispose]()
})
beforeEach(() => {
  routes.clear()
  requests.length = 0
})

const FILE = { kind: 'file', path: 'maps/town.osm.pbf' }

async function run(body: object): Promise<JobRecord> {
  const { status, body: record } = await submit(worker, 'osmImportArea', {
    areaName: 'Town',
    aoiGeoJson: TOWN,
    ...body,
  })
  expect(record.message ?? status).toBe(202)
  return until(worker, record.links.self)
}

async function refused(body: object): Promise<{ status: number; code: string; errors: { path: string }[] }> {
  const { status, body: problem } = await submit(worker, 'osmImportArea', {
    areaName: 'Town',
    aoiGeoJson: TOWN,
    source: FILE,
    ...body,
  })
  return { status, code: problem.code, errors: (problem as unknown as { errors: { path: string }[] }).errors }
}

async function query<Row extends Record<string, unknown>>(text: string): Promise<Row[]> {
  return (await worker.db.database.query<Row>(text)).rows
}

async function leftovers(prefix: string): Promise<unknown[]> {
  return query(`select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'terrane_staging' or (n.nspname = 'public' and starts_with(c.relname, '${prefix}_'))`)
}

function tablesOf(job: JobRecord): Record<string, number> {
  const { tables } = job.result as { tables: { name: string; rows: number }[] }
  return Object.fromEntries(tables.map(({ name, rows }) => [name, rows]))
}

test('the topics of the contract are those of the importer', () => {
  expect([...OSM_TOPICS]).toEqual([...TOPICS, 'all'])
})

describe('a town from a file', () => {
  test('becomes a table per topic, with rows, keys, indexes, comment and provenance', async () => {
    const job = await run({ tablePrefix: 'whole', source: FILE })
    expect(job).toMatchObject({ status: 'success', error: null })
    expect(job.result).toMatchObject({
      attribution: '© OpenStreetMap contributors',
      source: { kind: 'file', name: 'town.osm.pbf', timestamp: '2026-03-04T05:06:07.000Z' },
      counts: { outside: 0, openAreas: 0, invalidAreas: 0 },
    })
    const expected = Object.entries(TOWN_ROWS).map(([suffix, rows]) => [`whole_${suffix}`, rows])
    expect(tablesOf(job)).toEqual(Object.fromEntries(expected))
    const { tables } = job.result as { tables: { name: string; geometry_type: string; bbox: number[] | null }[] }
    for (const { name, geometry_type: type, bbox } of tables) {
      const [row] = await query<{ rows: number; valid: number; types: string[]; box: string | null }>(
        `select count(*)::int as rows, count(*) filter (where st_isvalid(geom))::int as valid,
         array_agg(distinct geometrytype(geom)) as types, st_extent(geom)::text as box from public.${name}`,
      )
      expect(row).toMatchObject({ rows: TOWN_ROWS[name.slice(6)], valid: row?.rows })
      expect(row?.types ?? [type.toUpperCase()]).toEqual([type.toUpperCase()])
      expect(row?.box ?? null).toBe(bbox && `BOX(${bbox[0]} ${bbox[1]},${bbox[2]} ${bbox[3]})`)
    }
    const [lake] = await query(
      `select osm_type, osm_id, name, category, kind, tags, st_numinteriorrings(st_geometryn(geom, 1)) as holes from whole_water`,
    )
    expect(lake).toEqual({
      osm_type: 'R',
      osm_id: 1,
      name: 'Lake',
      category: 'natural',
      kind: 'water',
      tags: { type: 'multipolygon', natural: 'water', name: 'Lake' },
      holes: 1,
    })
    const indexes = await query<{ name: string }>(
      `select indexname as name from pg_indexes where tablename = 'whole_streets' order by 1`,
    )
    expect(indexes.map(({ name }) => name)).toEqual([
      'whole_streets_geom_idx',
      'whole_streets_key',
      'whole_streets_pkey',
    ])
    await worker.db.database.query(
      `insert into whole_places (osm_type, osm_id, geom) values ('N', 99, st_setsrid(st_point(1, 1), 4326))`,
    )
    expect(await query(`select max(id)::int as id from whole_places`)).toEqual([{ id: 2 }])
    const [comment] = await query<{ text: string }>(`select obj_description('public.whole_places'::regclass) as text`)
    expect(comment?.text).toBe(
      'OpenStreetMap data of Town. © OpenStreetMap contributors, ODbL-1.0: https://www.openstreetmap.org/copyright',
    )
    const imports = await query(
      `select table_name, rows::int as rows, licence, source->>'kind' as kind from terrane.imports where table_name = 'whole_pois'`,
    )
    expect(imports).toEqual([{ table_name: 'whole_pois', rows: 1, licence: 'ODbL-1.0', kind: 'file' }])
    const [grant] = await query<{ may: boolean }>(
      `select has_table_privilege('service_role', 'public.whole_pois', 'select') as may`,
    )
    expect(grant?.may).toBe(true)
    expect((await leftovers('whole')).length).toBeGreaterThan(15)
    expect(await query(`select * from pg_tables where schemaname = 'terrane_staging'`)).toEqual([])
  })

  test('of some topics, named after the area, with names of up to 63 bytes', async () => {
    const job = await run({ areaName: '  Überseestadt & Ößt, 2. Teil ', topics: ['places', 'all'], source: FILE })
    expect(tablesOf(job)).toEqual({
      uberseestadt_osst_2_teil_places: 1,
      uberseestadt_osst_2_teil_points: 4,
      uberseestadt_osst_2_teil_lines: 11,
      uberseestadt_osst_2_teil_multipolygons: 84,
      uberseestadt_osst_2_teil_multilinestrings: 1,
    })
    const prefix = 'p'.repeat(47)
    const long = await run({ tablePrefix: prefix, topics: ['natural'], source: FILE })
    expect(Object.keys(tablesOf(long)).map((name) => name.length)).toEqual([61, 60, 63])
  })

  test('of a part of it, whole features or cut ones', async () => {
    const part = { type: 'Polygon', coordinates: [[[11.018, 48.005], [11.042, 48.005], [11.042, 48.015], [11.03, 48.005], [11.018, 48.015], [11.018, 48.005]]] } // prettier-ignore
    const whole = await run({
      tablePrefix: 'touching',
      aoiGeoJson: part,
      topics: ['streets', 'buildings'],
      source: FILE,
    })
    expect(tablesOf(whole)).toEqual({ touching_buildings: 2, touching_streets: 1 })
    const cut = await run({
      tablePrefix: 'cut',
      aoiGeoJson: part,
      topics: ['streets', 'buildings', 'addresses'],
      clip: true,
      source: FILE,
    })
    expect(tablesOf(cut)).toMatchObject({ cut_streets: 2 })
    const pieces = await query(
      `select osm_id::int as osm_id, part, round(st_xmin(geom)::numeric, 4)::float as w, round(st_xmax(geom)::numeric, 4)::float as e from cut_streets order by part`,
    )
    expect(pieces).toEqual([
      { osm_id: 100, part: 0, w: 11.018, e: 11.024 },
      { osm_id: 100, part: 1, w: 11.036, e: 11.042 },
    ])
    const area = JSON.stringify(part)
    const [outside] = await query<{ count: number }>(
      `select count(*)::int as count from cut_buildings where not st_coveredby(geom, st_buffer(st_geomfromgeojson('${area}'), 1e-9)) or not st_isvalid(geom)`,
    )
    expect(outside?.count).toBe(0)
    const { tables } = cut.result as { tables: { name: string; rows: number }[] }
    for (const { name, rows } of tables)
      expect(await query(`select count(*)::int as rows from ${name}`)).toEqual([{ rows }])
  })

  test('of polygons that overlap: what lies in both is there once', async () => {
    const overlapping = [boxOf(11.01, 48.005, 11.03, 48.035), boxOf(11.02, 48.015, 11.05, 48.045)]
    const united = { type: 'Polygon', coordinates: [[[11.01, 48.005], [11.03, 48.005], [11.03, 48.015], [11.05, 48.015], [11.05, 48.045], [11.02, 48.045], [11.02, 48.035], [11.01, 48.035], [11.01, 48.005]]] } // prettier-ignore
    const both = { type: 'FeatureCollection', features: overlapping.map((geometry) => ({ type: 'Feature', geometry })) }
    for (const clip of [true, false]) {
      const results = []
      for (const aoiGeoJson of [both, united]) {
        const tablePrefix = `${aoiGeoJson === both ? 'both' : 'united'}_${clip ? 'cut' : 'whole'}`
        await run({ tablePrefix, aoiGeoJson, clip, topics: ['streets', 'addresses', 'buildings'], source: FILE })
        const union = ['streets', 'addresses', 'buildings'].map(
          (topic) =>
            `select osm_type, osm_id, st_area(geom) as area, st_length(geom) as length from ${tablePrefix}_${topic}`,
        )
        results.push(
          await query(
            `select osm_type, osm_id::int as osm_id, round(sum(area)::numeric, 9)::float as area, round(sum(length)::numeric, 9)::float as length
             from (${union.join(' union all ')}) t group by 1, 2 order by 1, 2`,
          ),
        )
      }
      expect(results[0]?.length).toBeGreaterThan(8)
      expect(results[0]).toEqual(results[1])
    }
  })

  test('over the antimeridian', async () => {
    const nodes = [179.5, -179.5, 178.5].map(
      (lon, i) => ({ type: 'node', id: i + 1, lon, lat: -17, tags: { place: 'islet' } }) as const,
    )
    await writeFile(join(worker.folder, 'data', 'fiji.osm.pbf'), townPbf(nodes))
    const aoiGeoJson = boxOf(179, -18, -179, -16)
    const job = await run({
      areaName: 'Fiji',
      aoiGeoJson,
      topics: ['places'],
      source: { kind: 'file', path: 'fiji.osm.pbf' },
    })
    expect(await query('select osm_id::int as id from fiji_places order by 1')).toEqual([{ id: 1 }, { id: 2 }])
    expect(job.result).toMatchObject({ counts: { outside: 1 } })
    const clipped = await run({
      areaName: 'Fiji cut',
      aoiGeoJson,
      clip: true,
      topics: ['places'],
      source: { kind: 'file', path: 'fiji.osm.pbf' },
    })
    expect(tablesOf(clipped)).toEqual({ fiji_cut_places: 2 })
  })
})

/** Tables of features that the demo town lacks. */
const NOT_IN_TOWN = /_(waterway_routes|routes|barriers_\w+|power_\w+|traffic|entrances|man_made_\w+)$/

test('the demo town fills every other topic, with areas that are all valid', async () => {
  const { elements, header } = buildCity()
  await writeFile(join(worker.folder, 'data', 'city.osm.pbf'), Buffer.concat([...writePbf(elements, header)]))
  const job = await run({
    areaName: 'Auenstadt',
    aoiGeoJson: boxOf(11.5, 48, 11.7, 48.2),
    source: { kind: 'file', path: 'city.osm.pbf' },
  })
  expect(job.result).toMatchObject({
    counts: { openAreas: 0, invalidAreas: 0, withoutGeometry: 0, missingNodes: 0, repeated: 0, outside: 0 },
  })
  for (const [name, rows] of Object.entries(tablesOf(job))) {
    if (!NOT_IN_TOWN.test(name)) expect([name, rows]).not.toEqual([name, 0])
    expect(await query(`select count(*)::int as rows from ${name} where st_isvalid(geom)`)).toEqual([{ rows }])
  }
})

test('what touches an odd area of the demo town is what PostGIS says', async () => {
  const corners = Array.from({ length: 15 }, (_, i) => {
    const [angle, radius] = [(i / 15) * 2 * Math.PI, i % 2 === 0 ? 0.013 : 0.003]
    return [11.601 + Math.cos(angle) * radius, 48.101 + Math.sin(angle) * radius * 0.7]
  })
  const hole = [[11.6005, 48.1005], [11.6025, 48.1005], [11.6015, 48.1025], [11.6005, 48.1005]] // prettier-ignore
  const aoiGeoJson = { type: 'Polygon', coordinates: [[...corners, corners[0]], hole] }
  const topics = [
    'buildings',
    'streets',
    'water',
    'landuse',
    'natural',
    'boundaries',
    'railways',
    'waterways',
    'transit',
  ]
  const part = await run({ areaName: 'Star', topics, aoiGeoJson, source: { kind: 'file', path: 'city.osm.pbf' } })
  const counts = tablesOf(part)
  expect(counts['star_buildings']).toBeGreaterThan(100)
  for (const name of Object.keys(counts).filter((table) => table !== 'star_transit_point')) {
    const whole = name.replace('star', 'auenstadt')
    const different = await query(
      `select coalesce(p.osm_id, w.osm_id)::int as id from ${name} p full join
       (select osm_type, osm_id from ${whole} where st_intersects(geom, st_geomfromgeojson('${JSON.stringify(aoiGeoJson)}'))) w
       using (osm_type, osm_id) where p.osm_id is null or w.osm_id is null`,
    )
    expect([name, different]).toEqual([name, []])
  }
})

describe('what can be refused at once is', () => {
  test('a table that exists', async () => {
    await worker.db.database.query('create table public.taken_streets ()')
    expect(await refused({ tablePrefix: 'taken' })).toMatchObject({ status: 409, code: 'TABLE_EXISTS' })
  })

  test.for<[string, object, number, string, string]>([
    ['an area that crosses itself', { aoiGeoJson: { type: 'Polygon', coordinates: [[[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]] } }, 422, 'AOI_INVALID', '/aoiGeoJson/coordinates/0'], // prettier-ignore
    [
      'an area of 150,000 vertices',
      { aoiGeoJson: { type: 'Polygon', coordinates: [Array.from({ length: 150_000 }, (_, i) => [i % 7, i % 5])] } },
      422,
      'AOI_TOO_LARGE',
      '/aoiGeoJson',
    ],
    ['an area that is too large', { aoiGeoJson: boxOf(0, 0, 20, 20) }, 422, 'AOI_TOO_LARGE', '/aoiGeoJson'],
    ['a point', { aoiGeoJson: { type: 'Point', coordinates: [1, 2] } }, 422, 'VALIDATION_FAILED', '/aoiGeoJson/type'],
    ['an unknown topic', { topics: ['roads'] }, 422, 'VALIDATION_FAILED', '/topics/0'],
    ['a prefix with a quote', { tablePrefix: 'a"; drop table x; --' }, 422, 'VALIDATION_FAILED', '/tablePrefix'],
    ['a prefix that is too long', { tablePrefix: 'p'.repeat(60) }, 422, 'TABLE_NAME_TOO_LONG', '/tablePrefix'],
    [
      'a path out of the data roots',
      { source: { kind: 'file', path: '../outside.osm.pbf' } },
      422,
      'FILE_NOT_REACHABLE',
      '/source/path',
    ],
    ['an absolute path', { source: { kind: 'file', path: '/etc/passwd' } }, 422, 'FILE_NOT_REACHABLE', '/source/path'],
    [
      'a link out of the data roots',
      { source: { kind: 'file', path: 'link.osm.pbf' } },
      422,
      'FILE_NOT_REACHABLE',
      '/source/path',
    ],
    ['a folder', { source: { kind: 'file', path: 'maps' } }, 422, 'FILE_NOT_REACHABLE', '/source/path'],
    [
      'an area too large for Overpass',
      { source: { kind: 'overpass' } },
      422,
      'AOI_TOO_LARGE_FOR_OVERPASS',
      '/aoiGeoJson',
    ],
    ['a source of two kinds', { source: { kind: 'file', path: 'a', url: 'b' } }, 422, 'VALIDATION_FAILED', '/source'],
  ])('%s', async ([, body, status, code, path]) => {
    const problem = await refused(body)
    expect(problem).toMatchObject({ status, code })
    expect(problem.errors[0]?.path.startsWith(path)).toBe(true)
  })
})

test('the extract of the operator is used without a source, and missed at once', async () => {
  const settings = { TERRANE_WORKER_CONCURRENCY: '0', TERRANE_OSM_SOURCE: join(worker.folder, 'outside.osm.pbf') }
  await using there = await openWorker({ beside: worker, env: { ...worker.env, ...settings } })
  const taken = await submit(there, 'osmImportArea', { areaName: 'Ours', aoiGeoJson: TOWN, topics: ['places'] })
  expect(taken.status).toBe(202)
  // The worker that runs the job has another default source, which nothing serves now.
  expect(await until(worker, taken.body.links.self)).toMatchObject({ error: { code: 'DOWNLOAD_REFUSED' } })
  const missing = { ...settings, TERRANE_OSM_SOURCE: '/nowhere.osm.pbf' }
  await using gone = await openWorker({ beside: worker, env: { ...worker.env, ...missing } })
  const refusal = await submit(gone, 'osmImportArea', { areaName: 'Theirs', aoiGeoJson: TOWN })
  expect(refusal).toMatchObject({ status: 503, body: { code: 'OSM_SOURCE_MISSING' } })
})

describe('a source that does not meet the area', () => {
  const box = (west: number) => boxOf(west, 41, west + 1, 42)
  const stated = Buffer.concat([...writePbf(townElements(), { bbox: [11, 48, 11.1, 48.1] })])

  test('is refused at submit, with what would do, and a list of defaults passes it over', async () => {
    const path = join(worker.folder, 'data', 'stated.osm.pbf')
    await writeFile(path, stated)
    const source = { kind: 'file', path: 'stated.osm.pbf' }
    const { status, body } = await submit(worker, 'osmImportArea', { areaName: 'Porto', aoiGeoJson: box(-9), source })
    expect([status, body.code]).toEqual([422, 'SOURCE_OUTSIDE_AREA'])
    expect(body.message).toContain('[11, 48, 11.1, 48.1]')
    expect((body as unknown as { hint: string }).hint).toContain('geofabrik')
    const settings = { TERRANE_WORKER_CONCURRENCY: '0', TERRANE_OSM_SOURCE: path }
    await using alone = await openWorker({ beside: worker, env: { ...worker.env, ...settings } })
    const porto = { areaName: 'Porto', aoiGeoJson: box(-9) }
    expect(await submit(alone, 'osmImportArea', porto)).toMatchObject({ body: { code: 'SOURCE_OUTSIDE_AREA' } })
    const two = { ...settings, TERRANE_OSM_SOURCE: `${path}, geofabrik` }
    await using both = await openWorker({ beside: worker, env: { ...worker.env, ...two } })
    const { status: taken, body: queued } = await submit(both, 'osmImportArea', { ...porto, tablePrefix: 'porto' })
    expect(taken).toBe(202)
    await until(worker, queued.links.self)
    const cells = { tableName: 'cells', h3Resolution: 4, aoiGeoJson: box(-9), source }
    expect(await submit(worker, 'createSraiEmbeddings', cells)).toMatchObject({ body: { code: 'SOURCE_OUTSIDE_AREA' } })
  })

  test('may lie in the storage of the project', async () => {
    const store = openStore(worker.env['TERRANE_STORAGE']!)
    await store.createBucket('maps', { public: false, fileSizeLimit: null, allowedMimeTypes: null })
    await store.put('maps', 'in/town.pbf', [stated] as never)
    const source = { kind: 'storage', bucket: 'maps', path: 'in/town.pbf' }
    const done = await run({ tablePrefix: 'stored', source, topics: ['places'] })
    expect(done).toMatchObject({ status: 'success', result: { source } })
    expect(await refused({ source: { ...source, path: 'nope' } })).toMatchObject({
      status: 404,
      code: 'OBJECT_NOT_FOUND',
    })
    expect(await refused({ source: { ...source, bucket: 'nope' } })).toMatchObject({ code: 'BUCKET_NOT_FOUND' })
  })

  test('is refused by the job where it is known only then, and warned of where it covers a part', async () => {
    routes.set('/stated.pbf', (_, response) => response.end(stated))
    const source = { kind: 'url', url: `${base}/stated.pbf` }
    const away = await run({ aoiGeoJson: box(-9), tablePrefix: 'away', source })
    expect(away).toMatchObject({ status: 'failed', error: { code: 'SOURCE_OUTSIDE_AREA' } })
    expect(await leftovers('away')).toEqual([])
    const wide = boxOf(10.9, 47.9, 11.2, 48.2)
    const part = await run({ aoiGeoJson: wide, tablePrefix: 'part', topics: ['places'], source })
    expect(part).toMatchObject({ status: 'success', result: { warnings: [{ code: 'SOURCE_COVERS_PART' }] } })
  })

  test('and tables without a row are warnings, and failures where the request is strict', async () => {
    const nowhere = { aoiGeoJson: box(-9), source: FILE }
    const none = await run({ ...nowhere, tablePrefix: 'none' })
    expect(none).toMatchObject({ status: 'success', result: { warnings: [{ code: 'NOTHING_FOUND', count: 28 }] } })
    const some = await run({
      tablePrefix: 'some',
      source: FILE,
      topics: ['places', 'transit'],
      aoiGeoJson: boxOf(11.045, 48.045, 11.055, 48.055),
    })
    expect(some).toMatchObject({ status: 'success', result: { warnings: [{ code: 'TABLES_EMPTY' }] } })
    const strict = await run({ ...nowhere, tablePrefix: 'strict', topics: ['places'], strict: true })
    expect(strict).toMatchObject({ status: 'failed', error: { code: 'WARNINGS_REFUSED', retryable: false } })
    expect(await leftovers('strict')).toEqual([])
  })
})

describe('an extract with more nodes', () => {
  const streets = async (side: number): Promise<object> => {
    const path = `streets-${side}.osm.pbf`
    await writeFile(join(worker.folder, 'data', path), streetsPbf(side))
    return { topics: ['streets'], source: { kind: 'file', path } }
  }

  test('than memory may hold is imported by way of the job folder', async () => {
    const job = await run({ tablePrefix: 'many', ...(await streets(330)) })
    expect(job).toMatchObject({ status: 'success', error: null })
    expect(await query(`select sum(st_npoints(geom))::int as points, count(*)::int as rows from many_streets`)).toEqual(
      [{ points: 330 * 330, rows: 330 }],
    )
    expect(await readdir(join(worker.folder, 'work'))).toEqual([])
  })

  test('than the operator allows is refused with figures, before anything is written', async () => {
    const job = await run({ tablePrefix: 'more', ...(await streets(360)) })
    expect(job).toMatchObject({ status: 'failed', error: { code: 'OSM_TOO_LARGE' } })
    expect(job.error?.message).toMatch(/about 129600 nodes, more than the limit of 120000/)
    expect(await leftovers('more')).toEqual([])
  })
})

describe('files that are not what they should be leave nothing behind', () => {
  test.for<[string, Buffer, string]>([
    ['cut short', townPbf().subarray(0, -50), 'OSM_TRUNCATED'],
    ['garbled', Buffer.concat([townPbf().subarray(0, 300), Buffer.alloc(2000, 7)]), 'OSM_MALFORMED'],
    ['text', Buffer.from('{"type":"FeatureCollection"}'), 'OSM_UNSUPPORTED'],
    ['empty', Buffer.alloc(0), 'OSM_MALFORMED'],
    ['lying', lyingPbf(), 'OSM_MALFORMED'],
  ])('%s', async ([name, bytes, code]) => {
    const path = `bad-${name.replace(' ', '-')}.osm.pbf`
    await writeFile(join(worker.folder, 'data', path), bytes)
    const job = await run({ tablePrefix: 'bad', source: { kind: 'file', path } })
    expect(job).toMatchObject({ status: 'failed', error: { code, retryable: false }, result: null, attempt: 1 })
    expect(await leftovers('bad')).toEqual([])
    expect(await readdir(join(worker.folder, 'work'))).toEqual([])
  })

  test('a table that appears meanwhile is not overwritten', async () => {
    const { body } = await submit(worker, 'osmImportArea', {
      areaName: 'Town',
      aoiGeoJson: TOWN,
      tablePrefix: 'late',
      topics: ['places', 'water'],
      source: FILE,
    })
    await worker.db.database.query('create table public.late_water (mine int)')
    const job = await until(worker, body.links.self)
    expect(job).toMatchObject({ status: 'failed', error: { code: 'TABLE_EXISTS' } })
    expect(await leftovers('late')).toEqual([{ relname: 'late_water' }])
  })
})

describe('sources on servers', () => {
  beforeAll(() => retryAtOnce(worker))
  const pbf = townPbf()
  const md5 = createHash('md5').update(pbf).digest('hex')
  const serve = (path: string, body: string | Buffer, headers: Record<string, string> = {}): void => {
    routes.set(path, (request, response) => {
      if (headers['last-modified'] && request.headers['if-modified-since'] === headers['last-modified'])
        response.writeHead(304).end()
      else response.writeHead(200, headers).end(body)
    })
  }
  const index = (): string => {
    const extracts = {
      world: boxOf(-180, -90, 0, 90),
      land: boxOf(10, 47, 12, 49),
      tiny: boxOf(11, 48, 11.05, 48.2),
      odd: boxOf(20, 47, 22, 49),
      broken: {},
    }
    const features = Object.entries(extracts).map(([id, geometry]) => ({
      type: 'Feature',
      properties: { id, name: id, urls: { pbf: `${base}/${id}-latest.osm.pbf` } },
      geometry,
    }))
    return JSON.stringify({ type: 'FeatureCollection', features })
  }

  test('a URL', async () => {
    serve('/t.osm.pbf', pbf)
    const job = await run({
      tablePrefix: 'url',
      topics: ['places'],
      source: { kind: 'url', url: `${base}/t.osm.pbf?signature=secret` },
    })
    expect(job.error).toMatchObject({ code: 'DOWNLOAD_REFUSED' })
    routes.set('/t.osm.pbf?signature=secret', (_, response) => response.end(pbf))
    const again = await run({
      tablePrefix: 'url',
      topics: ['places'],
      source: { kind: 'url', url: `${base}/t.osm.pbf?signature=secret` },
    })
    expect(again).toMatchObject({
      status: 'success',
      result: { source: { kind: 'url', url: `${base}/t.osm.pbf`, bytes: pbf.length } },
    })
    expect(JSON.stringify(again)).not.toContain('secret')
  })

  test.for([
    'file:///etc/passwd',
    'http://127.0.0.1:1/x.osm.pbf',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/x.osm.pbf',
    'not a url',
  ])('the forbidden URL %s, before a job is queued', async (url) => {
    const sent = { areaName: 'forbidden', aoiGeoJson: TOWN, source: { kind: 'url', url } }
    expect(await submit(worker, 'osmImportArea', sent)).toMatchObject({
      status: 422,
      body: { code: 'URL_REFUSED', errors: [{ path: '/source/url' }] },
    })
  })

  test('a file over the limit', async () => {
    serve('/large.osm.pbf', Buffer.alloc(1_000_001))
    const job = await run({ tablePrefix: 'large', source: { kind: 'url', url: `${base}/large.osm.pbf` } })
    expect(job).toMatchObject({ status: 'failed', error: { code: 'DOWNLOAD_TOO_LARGE' } })
  })

  test('the smallest extract that contains the area, kept until the server has a newer one', async () => {
    const headers = { 'last-modified': 'Wed, 04 Mar 2026 05:06:07 GMT' }
    serve('/index-v1.json', index())
    serve('/land-latest.osm.pbf', pbf, headers)
    serve('/land-latest.osm.pbf.md5', `${md5}  land-latest.osm.pbf\n`)
    const first = await run({ tablePrefix: 'geo_a', topics: ['places'] })
    expect(first).toMatchObject({
      status: 'success',
      result: {
        source: { kind: 'geofabrik', extract: 'land', last_modified: headers['last-modified'], up_to_date: true },
      },
    })
    expect(requests).toEqual(['GET /index-v1.json', 'GET /land-latest.osm.pbf', 'GET /land-latest.osm.pbf.md5'])
    requests.length = 0
    await run({ tablePrefix: 'geo_b', topics: ['places'] })
    expect(requests).toEqual([])
  })

  test('an extract with another checksum, and an area that no extract contains', async () => {
    serve('/index-v1.json', index())
    serve('/odd-latest.osm.pbf', pbf)
    serve('/odd-latest.osm.pbf.md5', 'd41d8cd98f00b204e9800998ecf8427e')
    const odd = await run({ tablePrefix: 'odd', aoiGeoJson: boxOf(20.5, 47.5, 20.6, 47.6) })
    expect(odd).toMatchObject({ status: 'failed', error: { code: 'CHECKSUM_DIFFERS', retryable: true }, attempt: 3 })
    expect((await readdir(join(worker.folder, 'cache', 'osm'))).filter((name) => name.includes('odd'))).toEqual([])
    const sea = await run({ tablePrefix: 'sea', aoiGeoJson: boxOf(30, 0, 30.1, 0.1) })
    expect(sea).toMatchObject({ status: 'failed', error: { code: 'NO_EXTRACT_COVERS_AREA' } })
  })

  test('Overpass, whose errors come with status 200', async () => {
    const small = boxOf(11.015, 48.015, 11.06, 48.06)
    let asked = ''
    routes.set('/api/interpreter', (_, response, body) => {
      asked = decodeURIComponent(new URLSearchParams(body).get('data') ?? '')
      response.end(toXml())
    })
    const job = await run({
      tablePrefix: 'over',
      aoiGeoJson: small,
      topics: ['places', 'pois'],
      source: { kind: 'overpass' },
    })
    expect(job).toMatchObject({
      status: 'success',
      result: { source: { kind: 'overpass', timestamp: '2026-03-04T05:06:07.000Z' } },
    })
    expect(tablesOf(job)).toEqual({ over_places: 1, over_pois: 1 })
    expect(asked).toBe(
      '[out:xml][timeout:180][maxsize:536870912];(nwr(poly:"48.015 11.015 48.015 11.06 48.06 11.06 48.06 11.015"););(._;>;);out body;',
    )
    routes.set('/api/interpreter', (_, response) =>
      response.end('<osm version="0.6"><remark>runtime error: Query timed out</remark></osm>'),
    )
    const failed = await run({ tablePrefix: 'under', aoiGeoJson: small, source: { kind: 'overpass' } })
    expect(failed).toMatchObject({
      status: 'failed',
      error: { code: 'OVERPASS_FAILED', message: expect.stringContaining('Query timed out') as string },
    })
  })
})

/** The nodes of the town as Overpass would send them. */
function toXml(): string {
  const nodes = townElements().flatMap((element) => {
    if (element.type !== 'node') return []
    const tags = Object.entries(element.tags ?? {}).map(([k, v]) => `<tag k="${k}" v="${v.replace('&', '&amp;')}"/>`)
    return [`<node id="${element.id}" lat="${element.lat}" lon="${element.lon}">${tags.join('')}</node>`]
  })
  return `<?xml version="1.0" encoding="UTF-8"?><osm version="0.6" generator="Overpass API"><meta osm_base="2026-03-04T05:06:07Z"/>${nodes.join('\n')}</osm>`
}

/** A data block of 30 MB that claims to be 100 bytes. */
function lyingPbf(): Buffer {
  const town = townPbf()
  const header = town.subarray(0, 4 + town.readUInt32BE(0) + headerBlobLength(town))
  const packed = deflateSync(Buffer.alloc(30_000_000))
  const blob = Buffer.concat([Buffer.from([0x10, 100, 0x1a]), varint(packed.length), packed])
  const blobHeader = Buffer.concat([
    Buffer.from([0x0a, 7]),
    Buffer.from('OSMData'),
    Buffer.from([0x18]),
    varint(blob.length),
  ])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(blobHeader.length)
  return Buffer.concat([header, length, blobHeader, blob])
}

/** The blob's length is the last field of its header, in one or two bytes. */
function headerBlobLength(file: Buffer): number {
  const end = 4 + file.readUInt32BE(0)
  const [before = 0, last = 0] = file.subarray(end - 2, end)
  return before >= 128 ? (last << 7) | (before & 127) : last
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 128) return Buffer.from([...bytes, rest])
    bytes.push((rest & 127) | 128)
  }
}
