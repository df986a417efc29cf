import { EXPORT_FORMATS, type ExportFormat } from '@terrane/contracts'
import { Warnings } from '@terrane/core/errors'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { scan } from '@terrane/database/scan'
import { fileBytes, findTable, rowsFor, withTypes } from '@terrane/exports'
import { openStore } from '@terrane/storage'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { READ_HERE, importFile } from './import-file.ts'
import { HEADERS, openWorker, submit, until } from './harness.ts'
import { randomRoundTrip, roundTripOf, textsOfTable } from './round-trip.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(() => db[Symbol.asyncDispose]())

const roundTrip = (table: string, format: ExportFormat) => roundTripOf(db.database, table, format)
const textsOf = (table: string, columns: readonly string[], geometry: string) =>
  textsOfTable(db.database, table, columns, geometry)

const CORNERS = `
  create table corners (n int4 primary key, small int2, big int8, f8 float8, yes bool, name text, born date, at timestamptz,
    doc jsonb, list int4[], raw bytea, price numeric(12, 2), geom geometry(Geometry, 4326));
  insert into corners values
    (1, -32768, 9223372036854775807, 0.1, true, 'Žluťoučký kůň 🐎 "q", ''s'';', '1582-10-15', '2020-02-29T23:59:59.123456Z',
      '{"a": [1, null, "x"], "ü": {"b": false}}', '{1,null,3}', '\\x00ff10', 1234567890.12, 'SRID=4326;POINT(6.95 50.93)'),
    (2, 32767, -9223372036854775808, -1.7976931348623157e308, false, E'two\\nlines\\tand a tab', '9999-12-31',
      '1969-12-31T23:59:59.999999Z', '"text"', '{}', '\\x', -0.05, 'SRID=4326;LINESTRING(0 0,1 1e-7,180 -90)'),
    (3, 0, 9007199254740993, 5e-324, null, ' blanks ', '0001-01-01', '0001-01-01T00:00:00Z', '[]', null, null, 0,
      'SRID=4326;POLYGON((0 0,4 0,4 4,0 0),(2 1,3 1,3 2,2 1))'),
    (4, null, null, null, null, null, null, null, null, null, null, null, null)`

describe('what a table holds comes back from', () => {
  beforeAll(async () => {
    await db.database.query(CORNERS)
  })
  const all = ['n', 'small', 'big', 'f8', 'yes', 'name', 'born', 'at', 'doc', 'list', 'raw', 'price']
  /** Columns that a format has no words for, so that they come back as another type. */
  const changed: Partial<Record<ExportFormat, readonly string[]>> = {
    // A decimal loses zeros at its end, and times have no microseconds.
    GeoPackage: ['price', 'at'],
    GeoJSON: ['raw', 'price', 'doc'],
    GeoJSONSeq: ['raw', 'price', 'doc'],
    CSV: ['raw', 'price', 'doc', 'list', 'yes', 'name'],
    FlatGeobuf: ['doc', 'list', 'price'],
  }
  /** Warnings of the formats. */
  const said: Partial<Record<ExportFormat, readonly string[]>> = {
    CSV: ['NULL_TEXTS_EMPTY'],
    GeoPackage: ['TIMES_CUT'],
    FlatGeobuf: ['TYPES_CHANGED', 'INDEX_LEFT_OUT'],
  }
  test.each(EXPORT_FORMATS.filter((format) => format !== 'Shapefile'))('%s', async (format) => {
    const { made, exported } = await roundTrip('corners', format)
    expect(exported.map(({ code }) => code)).toEqual(said[format] ?? [])
    expect(made).toMatchObject({ rows: 4, srid: 4326 })
    const kept = all.filter((name) => !changed[format]?.includes(name))
    const shape = 'st_asewkt(geom)'
    expect(await textsOf(made.table, kept, shape)).toEqual(await textsOf('corners', kept, shape))
    const stamps = async (table: string) => textsOf(table, [], `date_trunc('milliseconds', at::timestamptz)::text`)
    expect(await stamps(made.table)).toEqual(await stamps('corners'))
  })

  test('a FlatGeobuf that is streamed, without an index', async () => {
    const warnings = new Warnings()
    const found = await findTable(db.database, { schema: 'public', table: 'corners' })
    const source = await withTypes(db.database, found, 'FlatGeobuf')
    const rows = rowsFor(source, 'FlatGeobuf', (...asked) => scan(db.database, ...asked), warnings)
    const bytes = await buffer(Readable.from(fileBytes(source, 'FlatGeobuf', rows, warnings)))
    expect(warnings.list().map(({ code }) => code)).toEqual(['TYPES_CHANGED'])
    const { tables } = await importFile(db.database, bytes, { promoteToMulti: false })
    expect(tables[0]).toMatchObject({ rows: 4, srid: 4326 })
    const kept = all.filter((name) => !['doc', 'list', 'price'].includes(name))
    expect(await textsOf(tables[0]!.table, kept, 'st_asewkt(geom)')).toEqual(
      await textsOf('corners', kept, 'st_asewkt(geom)'),
    )
  })

  test('a Shapefile, which says what it lacks', async () => {
    await expect(roundTrip('corners', 'Shapefile')).rejects.toMatchObject({ code: 'FORMAT_TAKES_ONE_KIND' })
    await db.database.query(
      `create table plain as select n, small, big::int4 as whole, f8, rpad(name, 300, 'x') as a_long_name, geom
       from (select *, 7 as seven from corners) t where n = 1 or n = 4`.replace('big::int4', 'seven'),
    )
    const { made, exported } = await roundTrip('plain', 'Shapefile')
    expect(exported.map(({ code }) => code)).toEqual(['NAMES_SHORTENED', 'TEXT_CUT'])
    expect(made).toMatchObject({ rows: 2, srid: 4326, geometry_type: 'Point' })
    expect(await textsOf(made.table, ['n', 'small', 'whole', 'f8'], 'st_asewkt(geom)')).toEqual(
      await textsOf('plain', ['n', 'small', 'whole', 'f8'], 'st_asewkt(geom)'),
    )
  })
})

/** Kinds of geometries, with numbers that identify rows. */
const SHAPES = [
  'POINT EMPTY',
  'LINESTRING EMPTY',
  'POLYGON EMPTY',
  'MULTIPOINT EMPTY',
  'MULTILINESTRING EMPTY',
  'MULTIPOLYGON EMPTY',
  'GEOMETRYCOLLECTION EMPTY',
  'MULTIPOINT(EMPTY,(1 2))',
  'MULTIPOLYGON(EMPTY,((0 0,1 0,1 1,0 0)))',
  'GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(0 0,1 1))',
  'GEOMETRYCOLLECTION(GEOMETRYCOLLECTION(POINT(1 2)),POLYGON((0 0,1 0,1 1,0 0)))',
  'CURVEPOLYGON(CIRCULARSTRING(0 0,1 1,2 0,1 -1,0 0))',
  'MULTICURVE((0 0,1 1),CIRCULARSTRING(0 0,1 1,2 0))',
  'TRIANGLE((0 0,1 0,1 1,0 0))',
  'TIN(((0 0,1 0,1 1,0 0)),((0 0,1 1,0 1,0 0)))',
  'POLYHEDRALSURFACE(((0 0,1 0,1 1,0 0)))',
] as const
const FLAT = {
  'TRIANGLE((0 0,1 0,1 1,0 0))': 'POLYGON((0 0,1 0,1 1,0 0))',
  'TIN(((0 0,1 0,1 1,0 0)),((0 0,1 1,0 1,0 0)))': 'MULTIPOLYGON(((0 0,1 0,1 1,0 0)),((0 0,1 1,0 1,0 0)))',
  'POLYHEDRALSURFACE(((0 0,1 0,1 1,0 0)))': 'MULTIPOLYGON(((0 0,1 0,1 1,0 0)))',
}
const NONE = Object.fromEntries(SHAPES.filter((shape) => shape.endsWith(' EMPTY')).map((shape) => [shape, null]))
const WHOLE = {
  'MULTIPOINT(EMPTY,(1 2))': 'MULTIPOINT((1 2))',
  'MULTIPOLYGON(EMPTY,((0 0,1 0,1 1,0 0)))': 'MULTIPOLYGON(((0 0,1 0,1 1,0 0)))',
}
const FLATTENED = {
  'GEOMETRYCOLLECTION(GEOMETRYCOLLECTION(POINT(1 2)),POLYGON((0 0,1 0,1 1,0 0)))':
    'GEOMETRYCOLLECTION(POINT(1 2),POLYGON((0 0,1 0,1 1,0 0)))',
}

describe('geometries of every kind come back, or what became of them is said, from', () => {
  test.each<[ExportFormat, Readonly<Record<string, string | null>>, readonly string[]]>([
    ['GeoPackage', {}, []],
    ['CSV', {}, []],
    ['GeoParquet', FLAT, ['CURVES_LINEARIZED', 'SURFACES_AS_POLYGONS']],
    [
      'GeoJSON',
      { ...FLAT, ...FLATTENED, 'MULTIPOINT(EMPTY,(1 2))': 'MULTIPOINT((1 2))' },
      ['CURVES_LINEARIZED', 'SURFACES_AS_POLYGONS', 'COLLECTIONS_FLATTENED', 'EMPTY_PARTS_LEFT_OUT'],
    ],
    [
      'FlatGeobuf',
      { ...FLAT, ...NONE, ...WHOLE },
      ['CURVES_LINEARIZED', 'SURFACES_AS_POLYGONS', 'EMPTY_GEOMETRIES', 'EMPTY_PARTS_LEFT_OUT', 'INDEX_LEFT_OUT'],
    ],
  ])('%s', async (format, changes, said) => {
    const table = `shapes_${format.toLowerCase()}`
    const rows = SHAPES.map((shape, n) => `(${n}, 'SRID=4326;${shape}'::geometry)`)
    await db.database.query(`create table ${table} (n int4, geom geometry); insert into ${table} values ${rows.join()}`)
    const { made, exported } = await roundTrip(table, format)
    expect(exported.map(({ code }) => code)).toEqual(said)
    // An import linearizes arcs, too.
    const wanted = SHAPES.map((shape, n) => {
      const text = shape in changes ? changes[shape] : shape
      return `(${n}, ${text === null ? 'null' : `st_curvetoline('SRID=4326;${text}'::geometry, radians(4), 2, 0)`})`
    })
    const { rows: others } = await db.database.query(
      `select n, st_asewkt(geom) as is, st_asewkt(shape) as wanted from (values ${wanted.join()}) w (n, shape)
       full join ${made.table} using (n) where geom is distinct from shape or st_asbinary(geom) <> st_asbinary(shape)`,
    )
    expect(others).toEqual([])
  })

  test('a Shapefile', async () => {
    const shape = "'SRID=4326;CURVEPOLYGON(CIRCULARSTRING(0 0,1 1,2 0,1 -1,0 0))'::geometry"
    await db.database.query(`create table rounds (n int4, geom geometry);
      insert into rounds values (1, ${shape}), (2, 'SRID=4326;POLYGON EMPTY'), (3, 'SRID=4326;TRIANGLE((0 0,1 1,1 0,0 0))')`)
    const { made, exported } = await roundTrip('rounds', 'Shapefile')
    expect(exported.map(({ code }) => code)).toEqual(['CURVES_LINEARIZED', 'SURFACES_AS_POLYGONS', 'EMPTY_GEOMETRIES'])
    const { rows } = await db.database.query(
      `select n, geometrytype(geom) as type, st_area(geom) as area from ${made.table} order by n`,
    )
    expect(rows).toEqual([
      { n: 1, type: expect.stringMatching(/POLYGON$/), area: expect.closeTo(Math.PI, 2) },
      { n: 2, type: null, area: null },
      { n: 3, type: expect.stringMatching(/POLYGON$/), area: 0.5 },
    ])
    // An empty one becomes null, whatever its kind.
    await db.database.query(`insert into rounds values (4, 'SRID=4326;GEOMETRYCOLLECTION EMPTY')`)
    expect((await roundTrip('rounds', 'Shapefile')).exported).toContainEqual(
      expect.objectContaining({ code: 'EMPTY_GEOMETRIES', count: 2 }),
    )
    await db.database.query(`insert into rounds values (5, 'SRID=4326;GEOMETRYCOLLECTION(POINT(1 2))')`)
    await expect(roundTrip('rounds', 'Shapefile')).rejects.toThrow('the table has collections, polygons')
  })
})

describe('a Shapefile, which GDAL reads,', () => {
  const asCsv = async (table: string) => {
    const { bytes, exported } = await roundTrip(table, 'Shapefile')
    const workdir = await mkdtemp(join(tmpdir(), 'terrane-shapefile-'))
    try {
      const [folder, target] = [join(workdir, 'in'), join(workdir, 'out', 'export.csv')]
      for (const path of [folder, join(workdir, 'out')]) await mkdir(path)
      await writeFile(join(folder, 'export.shz'), bytes)
      const options = ['-f', 'CSV', '-lco', 'GEOMETRY=AS_WKT']
      const conversion = {
        folder,
        file: 'export.shz',
        driver: 'ESRI Shapefile' as const,
        openOptions: [],
        layer: null,
        options,
        target,
      }
      await READ_HERE.engine.convert(conversion, workdir, new AbortController().signal)
      const lines = (await readFile(target, 'utf8')).trimEnd().split('\n')
      return { lines, said: exported.map(({ code, count }) => `${code}=${count}`) }
    } finally {
      await rm(workdir, { recursive: true, force: true })
    }
  }

  test('has the dimensions of any row, and warns of rows that lacked them', async () => {
    await db.database
      .query(`create table deep (n int4, geom geometry); insert into deep values (1, 'SRID=4326;POINT(1 2)'),
      (2, 'SRID=4326;POINT Z(1 2 3)'), (3, 'SRID=4326;POINT M(1 2 4)'), (4, null)`)
    const { lines, said } = await asCsv('deep')
    expect(said).toEqual(['DIMENSIONS_FILLED=3'])
    expect(lines.slice(1)).toEqual(['"POINT ZM (1 2 0 0)",1', '"POINT ZM (1 2 3 0)",2', '"POINT ZM (1 2 0 4)",3', ',4'])
  })

  test('has whole times, and no number that is another', async () => {
    await db.database
      .query(`create table stamps (n int4, at timestamp, instant timestamptz, f8 float8, t text, geom geometry(Point, 4326));
      insert into stamps values (1, '2024-02-29T13:45:10.123456', '2024-02-29T13:45:10Z', 3.4028235e38, ' a ', 'SRID=4326;POINT(1 2)'),
        (2, null, null, 1e-9, '', 'SRID=4326;POINT(1 2)'), (3, 'infinity', null, 'Infinity', 'b', 'SRID=4326;POINT(1 2)'),
        (4, null, null, 0.1, 'b', 'SRID=4326;POINT(1 2)'), (5, null, null, 1.234567890123456e-9, 'b', 'SRID=4326;POINT(1 2)')`)
    const { lines, said } = await asCsv('stamps')
    expect(said.toSorted()).toEqual(['BLANKS_LEFT_OUT=2', 'NUMBERS_LEFT_OUT=2', 'NUMBERS_ROUNDED=1', 'TYPES_CHANGED=2'])
    expect(lines.slice(1).map((line) => line.replace('"POINT (1 2)",', ''))).toEqual([
      '1,2024-02-29T13:45:10.123456,2024-02-29T13:45:10.000000Z,,a',
      '2,,,0.000000001000000,',
      '3,infinity,,,b',
      '4,,,0.100000000000000,b',
      '5,,,0.000000001234568,b',
    ])
  })
})

// The long suite has more of them, in every format.
describe('random layers come back equal from', () => {
  test.each(['GeoPackage', 'GeoParquet', 'GeoJSON', 'CSV'] as const)('%s', async (format) => {
    expect(await randomRoundTrip(db.database, format, 1)).toEqual([])
  })
})

test('the task puts the file into its bucket, and refuses what is not there', async () => {
  await using worker = await openWorker()
  await worker.db.database.query(
    `create table towns (id int4 primary key, name text, geom geometry(Point, 4326));
     insert into towns values (1, 'Köln', 'SRID=4326;POINT(6.95 50.93)')`,
  )
  const body = { table: 'towns', format: 'GeoJSON', storagePath: { bucket: 'files', path: 'out/towns.geojson' } }
  expect((await submit(worker, 'exportTable', body)).body.code).toBe('BUCKET_NOT_FOUND')
  const store = openStore(worker.env['TERRANE_STORAGE']!)
  await store.createBucket('files', { public: false, fileSizeLimit: null, allowedMimeTypes: null })
  const missing = await submit(worker, 'exportTable', { ...body, table: 'cities' }, HEADERS)
  expect([missing.status, missing.body.code]).toEqual([404, 'TABLE_NOT_FOUND'])
  const { body: job } = await submit(worker, 'exportTable', body)
  const done = await until(worker, job.links.self)
  expect(done.result).toMatchObject({ format: 'GeoJSON', rows: 1, path: 'out/towns.geojson', warnings: [] })
  const { body: stream } = await store.get('files', 'out/towns.geojson', {})
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  expect(JSON.parse(Buffer.concat(chunks).toString())).toMatchObject({
    features: [{ properties: { id: 1, name: 'Köln' }, geometry: { type: 'Point', coordinates: [6.95, 50.93] } }],
  })
})
