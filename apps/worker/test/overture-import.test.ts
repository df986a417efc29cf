// Slow: each theme is imported as a job.
import { createGuardedFetch } from '@terrane/service'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findRelease } from '@terrane/overture'
import { HEADERS, openWorker, submit, until, type JobRecord, type TestWorker } from './harness.ts'
import {
  features,
  indexParquet,
  overtureParquet,
  serveFiles,
  unusualParquet,
  type FileServer,
  type OvertureFeature,
} from '@terrane/testing/overture'

const TASK = 'overtureImportArea'
const LATEST = '2026-08-19.0'
const BUILDINGS = [features(6000, 'building', 1), features(3000, 'building', 2)] as const
const WATER = features(3000, 'water', 3)
const PLACES = features(3000, 'place', 4)

let worker: TestWorker
let server: FileServer
/** The files of the release, which each test begins with. */
let published: readonly (readonly [type: string, name: string, bytes: Uint8Array, bbox?: readonly number[]])[]

beforeAll(async () => {
  const shifted = BUILDINGS[1].map((feature) => ({ ...feature, id: `far-${feature.id}` }))
  published = [
    ['building', 'part-0', overtureParquet(BUILDINGS[0], 500)],
    ['building', 'part-1', overtureParquet(shifted, 500), [20, 0, 30, 10]],
    ['water', 'part-0', overtureParquet(WATER, 400)],
    ['place', 'part-0', overtureParquet(PLACES, 400)],
  ]
  server = await serveFiles()
  worker = await openWorker({
    env: {
      TERRANE_FETCH_ALLOW_HOSTS: server.host,
      TERRANE_SETTINGS: JSON.stringify({
        worker: { overtureCatalogueUrl: `${server.base}/stac/catalog.json`, maxAreaVertices: 500 },
      }),
    },
  })
})
afterAll(async () => {
  await worker[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})
beforeEach(() => {
  server.intercept = null
  server.requests.length = 0
  server.files.clear()
  for (const file of published) publish(...file)
  writeCatalogue()
})

const index: { type: string; href: string; bbox: readonly number[] }[] = []

function publish(type: string, name: string, bytes: Uint8Array, bbox: readonly number[] = [0, 0, 11, 11]): void {
  const path = `/release/${LATEST}/type=${type}/${name}.zstd.parquet`
  server.files.set(path, bytes)
  const known = index.findIndex(({ href }) => href.endsWith(path))
  if (known >= 0) index.splice(known, 1)
  index.push({ type, href: `${server.base}${path}`, bbox })
}

function writeCatalogue(): void {
  const links = [LATEST, '2026-07-22.0'].map((release) => ({ rel: 'child', href: `./${release}/catalog.json` }))
  server.files.set('/stac/catalog.json', Buffer.from(JSON.stringify({ type: 'Catalog', latest: LATEST, links })))
  server.files.set(`/stac/${LATEST}/collections.parquet`, indexParquet(index))
}

const polygon = (...ring: [number, number][]) => ({ type: 'Polygon', coordinates: [[...ring, ring[0]!]] })
const TRIANGLE = polygon([2, 2], [5, 2.3], [3, 5])

let made = 0
async function run(body: object): Promise<JobRecord> {
  const prefix = `o${++made}`
  const request = { areaName: 'Test', aoiGeoJson: TRIANGLE, tablePrefix: prefix, ...body }
  const { status, body: job } = await submit(worker, TASK, request)
  expect([status, job.code]).toEqual([202, undefined])
  return until(worker, job.links.self)
}

const query = async <Row extends object>(sql: string, values: unknown[] = []) =>
  (await worker.db.database.query<Row>(sql, values)).rows

/** Ids of the features that PostGIS finds in the area. */
async function idsWithin(all: readonly OvertureFeature[], area: object): Promise<string[]> {
  const rows = await query<{ id: string }>(
    `select id from unnest($1::text[], $2::text[]) as f (id, wkb)
     where st_intersects(st_setsrid(st_geomfromwkb(decode(wkb, 'hex')), 4326), st_setsrid(st_geomfromgeojson($3), 4326)) order by id`,
    [all.map(({ id }) => id), all.map(({ wkb }) => Buffer.from(wkb).toString('hex')), JSON.stringify(area)],
  )
  return rows.map(({ id }) => id)
}

describe('an import', () => {
  test('brings exactly the features that touch the area, of the latest release, untouched and typed', async () => {
    const done = await run({ types: ['building'] })
    const [prefix] = [`o${made}`]
    expect(done).toMatchObject({
      status: 'success',
      result: {
        tables: [{ schema: 'public', name: `${prefix}_building`, geometry_type: 'MultiPolygon', srid: 4326 }],
        source: { release: LATEST, files: 1 },
        attribution: '© OpenStreetMap contributors, Overture Maps Foundation',
      },
    })
    const rows = await query<Record<string, unknown>>(
      `select *, encode(st_asewkb(geom), 'hex') as ewkb, geometrytype(geom) as kind from ${prefix}_building order by id`,
    )
    expect(rows.map(({ id }) => id)).toEqual(await idsWithin(BUILDINGS[0], TRIANGLE))
    const source = new Map(BUILDINGS[0].map((feature) => [feature.id, feature]))
    for (const row of rows) {
      const { name, levels, wkb } = source.get(String(row['id']))!
      expect(row).toMatchObject({
        name,
        num_floors: levels,
        names: name === null ? null : { primary: name },
        sources: [{ dataset: `set of ${String(row['id'])}`, confidence: 0.5 }],
        kind: 'MULTIPOLYGON',
      })
      // The coordinates are the bytes of the file.
      expect(String(row['ewkb'])).toContain(Buffer.from(wkb.subarray(9)).toString('hex'))
    }
    const [imported] = await query<Record<string, unknown>>(
      `select i.*, obj_description(format('%I', table_name)::regclass) as comment from terrane.imports i where table_name = $1`,
      [`${prefix}_building`],
    )
    expect(imported).toMatchObject({ task: TASK, licence: 'ODbL-1.0', rows: rows.length, source: { release: LATEST } })
    expect(imported!['comment']).toContain('© OpenStreetMap contributors')
  })

  test.each(['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'BROTLI', 'ZSTD'] as const)(
    'reads %s without statistics, with maps and empty columns',
    async (codec) => {
      const places = features(200, 'place', 5)
      const within = new Set(await idsWithin(places, TRIANGLE))
      publish('place', 'part-0', unusualParquet(places, codec))
      const done = await run({ types: ['place'] })
      expect(done).toMatchObject({ status: 'success' })
      const rows = await query<Record<string, unknown>>(
        `select id, common, day, serial::text, nothing, empty from o${made}_place order by id`,
      )
      const expected = places.map(({ id }, i) => ({
        id,
        common: i % 2 ? null : { en: id, de: null },
        day: i % 2 ? null : new Date('2024-02-29T00:00:00Z'),
        serial: String(9_007_199_254_740_993n + BigInt(i)),
        nothing: null,
        empty: null,
      }))
      expect(within.size).toBeGreaterThan(2)
      expect(rows).toEqual(expected.filter(({ id }) => within.has(id)))
    },
  )

  test('splits types that mix geometries, and takes topics', async () => {
    const done = await run({ topics: ['places'], types: ['water'] })
    const prefix = `o${made}`
    const tables = done.result!['tables'] as { name: string; rows: number; geometry_type: string }[]
    expect(tables.map(({ name, geometry_type }) => [name, geometry_type])).toEqual([
      [`${prefix}_water_point`, 'Point'],
      [`${prefix}_water_line`, 'MultiLineString'],
      [`${prefix}_water_polygon`, 'MultiPolygon'],
      [`${prefix}_place`, 'Point'],
    ])
    const found = await query<{ id: string }>(
      `select id from ${prefix}_water_point union all select id from ${prefix}_water_line
       union all select id from ${prefix}_water_polygon order by id`,
    )
    expect(found.map(({ id }) => id)).toEqual(await idsWithin(WATER, TRIANGLE))
    expect(tables[3]!.rows).toBe((await idsWithin(PLACES, TRIANGLE)).length)
  })

  test('reads the selected row groups and little else', async () => {
    const large = features(60_000, 'building', 9)
    publish('building', 'part-0', overtureParquet(large, 2000))
    writeCatalogue()
    server.requests.length = 0
    const area = polygon([1, 3.05], [9, 3.05], [9, 3.4], [1, 3.4])
    const { result } = await run({ types: ['building'], aoiGeoJson: area })
    const source = result!['source'] as Record<string, number>
    const read = server.requests.filter(({ path }) => path.includes('/release/'))
    const bytes = read.reduce((sum, request) => sum + request.bytes, 0)
    const file = server.files.get(`/release/${LATEST}/type=building/part-0.zstd.parquet`)!
    const footer = new DataView(file.buffer, file.byteOffset + file.length - 8).getUint32(0, true) + 8
    expect(source['row_groups']).toBeLessThanOrEqual(4)
    expect(read.length).toBeLessThanOrEqual(8)
    expect(bytes).toBeLessThanOrEqual(1.15 * (source['selected_bytes']! + Math.max(footer, 1 << 16)))
    expect(source).toMatchObject({ requests: read.length, bytes_read: bytes })
    expect((result!['tables'] as { rows: number }[])[0]!.rows).toBe((await idsWithin(large, area)).length)
  })

  test('an area without features gives empty tables', async () => {
    const { result } = await run({
      types: ['building', 'water'],
      aoiGeoJson: polygon([-50, -50], [-49, -50], [-49, -49]),
    })
    expect((result!['tables'] as { rows: number; bbox: unknown }[]).map(({ rows, bbox }) => [rows, bbox])).toEqual(
      Array.from({ length: 4 }, () => [0, null]),
    )
    expect(await query(`select id, name, num_floors, sources, geom from o${made}_building`)).toEqual([])
  })

  test('an area over the antimeridian finds features on both sides', async () => {
    const sides = features(400, 'place', 5).flatMap((feature, i) => {
      const x = i % 2 === 0 ? 179.5 : -179.5
      const y = i / 100
      const wkb = Uint8Array.from([1, 1, 0, 0, 0, ...new Uint8Array(Float64Array.from([x, y]).buffer)])
      return [{ ...feature, wkb, box: [x, y, x, y] as const }]
    })
    publish('place', 'part-0', overtureParquet(sides, 100), [-180, -90, 180, 90])
    writeCatalogue()
    const { result } = await run({ types: ['place'], aoiGeoJson: polygon([179, 1], [181, 1], [181, 2], [179, 2]) })
    expect(result!['tables']).toMatchObject([{ rows: sides.filter(({ box }) => box[1] >= 1 && box[1] <= 2).length }])
  })

  test('faults of the server that pass are tried again', async () => {
    let failures = 2
    server.intercept = (request, response) => {
      if (!request.headers.range || failures-- <= 0) return false
      response.writeHead(503).end()
      return true
    }
    expect(await run({ types: ['place'] })).toMatchObject({ status: 'success', attempt: 1 })
  })

  test('a missing prefix is made from the name of the area', async () => {
    const { result } = await run({ types: ['place'], areaName: 'Köln & Bonn', tablePrefix: undefined })
    expect(result!['tables']).toMatchObject([{ name: 'koln_bonn_place' }])
  })
})

describe('at submit', () => {
  const ring = (count: number): [number, number][] =>
    Array.from({ length: count }, (_, i) => [Math.cos((i / count) * 6.283), Math.sin((i / count) * 6.283)])

  test.each([
    { name: 'nothing asked for', body: { types: undefined }, status: 422, code: 'NO_TYPES' },
    { name: 'a type that is none', body: { types: ['road'] }, status: 422, code: 'VALIDATION_FAILED' },
    {
      name: 'a self-crossing area',
      body: { aoiGeoJson: polygon([0, 0], [1, 1], [1, 0], [0, 1]) },
      status: 422,
      code: 'AOI_INVALID',
    },
    {
      name: 'an area of too many positions',
      body: { aoiGeoJson: polygon(...ring(5000)) },
      status: 422,
      code: 'AOI_TOO_LARGE',
    },
    {
      name: 'an area too large',
      body: { aoiGeoJson: polygon([0, 0], [90, 0], [90, 60], [0, 60]) },
      status: 422,
      code: 'AOI_TOO_LARGE',
    },
    { name: 'a prefix with a quote', body: { tablePrefix: 'a"b' }, status: 422, code: 'VALIDATION_FAILED' },
    { name: 'a prefix too long', body: { tablePrefix: 'p'.repeat(60) }, status: 422, code: 'TABLE_NAME_TOO_LONG' },
    { name: 'a release that is a path', body: { release: '../../etc' }, status: 422, code: 'VALIDATION_FAILED' },
  ])('$name is refused', async ({ body, status, code }) => {
    const request = { areaName: 'Test', aoiGeoJson: TRIANGLE, types: ['building'], tablePrefix: 'refused', ...body }
    const answer = await submit(worker, TASK, request)
    expect([answer.status, answer.body.code]).toEqual([status, code])
  })

  test('a table that exists is refused with 409, unless it is to be replaced', async () => {
    await worker.db.database.query('create table if not exists taken_building ()')
    const answer = await submit(worker, TASK, {
      areaName: 'x',
      aoiGeoJson: TRIANGLE,
      types: ['building'],
      tablePrefix: 'taken',
    })
    expect([answer.status, answer.body.code]).toEqual([409, 'TABLE_EXISTS'])
    const replaced = await run({ types: ['building'], tablePrefix: 'taken', mode: 'replace' })
    expect(replaced.status).toBe('success')
    const { tables } = replaced.result as { tables: { name: string; rows: number }[] }
    expect(await query('select count(*) as rows from taken_building')).toEqual([{ rows: tables[0]!.rows }])
  })
})

describe('what is wrong upstream ends the job, with nothing left behind', () => {
  const FILE = `/release/${LATEST}/type=place/part-0.zstd.parquet`
  const broken = (change: (bytes: Buffer) => Uint8Array) => () => {
    server.files.set(FILE, change(Buffer.from(server.files.get(FILE)!)))
  }

  /** A file whose footer claims other numbers of rows: the varints of `num_rows` are found by their value. */
  const lie = (from: number, to: number) =>
    broken((bytes) => {
      const varint = (n: number) => Buffer.from([((n * 2) & 127) | 128, (n * 2) >> 7])
      for (let at = bytes.length - 60_000; at >= 0 && at < bytes.length; at++) {
        if (bytes.subarray(at, at + 2).equals(varint(from))) varint(to).copy(bytes, at)
      }
      return bytes
    })

  test.each([
    {
      name: 'a release that is gone',
      act: () => {},
      body: { release: '2020-01-01.0' },
      code: 'OVERTURE_RELEASE_NOT_FOUND',
    },
    { name: 'a file that is not there', act: () => server.files.delete(FILE), code: 'DOWNLOAD_REFUSED' },
    { name: 'a file that is no Parquet', act: broken(() => Buffer.alloc(5000)), code: 'PARQUET_INVALID' },
    {
      name: 'a file that is cut off',
      act: broken((bytes) => bytes.subarray(0, bytes.length - 900)),
      code: 'PARQUET_INVALID',
    },
    {
      name: 'a footer that claims to be longer than the file',
      act: broken((bytes) => (bytes.writeUInt32LE(2 ** 31 - 1, bytes.length - 8), bytes)),
      code: 'PARQUET_INVALID',
    },
    { name: 'a false count of rows', act: lie(400, 900), code: 'PARQUET_INVALID' },
    {
      name: 'pages of garbage',
      act: broken((bytes) => bytes.fill(0xab, 4, bytes.length >> 1)),
      code: 'PARQUET_INVALID',
    },
  ])('$name', async ({ act, body, code }) => {
    act()
    const done = await run({ types: ['place'], ...body })
    expect(done).toMatchObject({ status: 'failed', error: { code } })
    expect(
      await query(`select 1 from pg_tables where schemaname = 'terrane_staging' or tablename like 'o${made}\\_%'`),
    ).toEqual([])
  })

  test('a file that changes between two reads is read anew, all of it', async () => {
    const renewed = features(500, 'place', 8)
    server.intercept = (request) => {
      const isSecondRead = request.headers.range?.startsWith('bytes=-') === false
      if (isSecondRead && request.url === FILE) server.files.set(FILE, overtureParquet(renewed, 300))
      return false
    }
    // The file is larger than the first read.
    publish('place', 'part-0', overtureParquet(features(20_000, 'place', 6), 4000))
    writeCatalogue()
    const done = await run({ types: ['place'] })
    expect(done).toMatchObject({ status: 'success', attempt: 2 })
    expect(done.result!['tables']).toMatchObject([{ rows: (await idsWithin(renewed, TRIANGLE)).length }])
  })

  test('an index that points to a private address', async () => {
    server.files.set(
      `/stac/${LATEST}/collections.parquet`,
      indexParquet([{ type: 'place', href: 'http://10.0.0.1/x.parquet', bbox: [0, 0, 9, 9] }]),
    )
    const done = await run({ types: ['place'] })
    expect(done).toMatchObject({ status: 'failed', error: { code: 'URL_REFUSED' } })
  })
})

test('a catalogue or an index that cannot be read is an error that names it', async () => {
  const find = () =>
    findRelease(createGuardedFetch({ allowHosts: [server.host] }), `${server.base}/stac/catalog.json`, undefined)
  expect((await find()).release).toBe(LATEST)
  server.files.set(`/stac/${LATEST}/collections.parquet`, Buffer.from('no Parquet at all'))
  await expect(find()).rejects.toMatchObject({ code: 'OVERTURE_CATALOGUE_UNREADABLE', kind: 'upstream' })
  for (const text of ['<html>', '{}', '{"latest": "../../etc"}', '{"latest": 7, "links": 3}']) {
    server.files.set('/stac/catalog.json', Buffer.from(text))
    await expect(find()).rejects.toMatchObject({ code: 'OVERTURE_CATALOGUE_UNREADABLE' })
  }
})

test('a cancelled job stops while it waits for the server, with nothing left behind', async () => {
  let asked = () => {}
  const waiting = new Promise<void>((resolve) => (asked = resolve))
  server.intercept = (request) => {
    if (!request.headers.range) return false
    asked()
    return true
  }
  const { body: job } = await submit(worker, TASK, {
    areaName: 'x',
    aoiGeoJson: TRIANGLE,
    types: ['place'],
    tablePrefix: 'gone',
  })
  await waiting
  await worker.app.inject({ method: 'DELETE', url: job.links.self, headers: HEADERS })
  expect(await until(worker, job.links.self)).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
  expect(await query(`select 1 from pg_tables where schemaname = 'terrane_staging' or tablename like 'gone%'`)).toEqual(
    [],
  )
})
