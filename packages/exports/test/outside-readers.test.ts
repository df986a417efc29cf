import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { zstdDecompressSync } from 'node:zlib'
import { seededRandom } from '@terrane/core'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { generic, geojson, type Feature } from 'flatgeobuf'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { WRITTEN, exportFile, type Written } from './export-file.ts'

// Files are read only by third-party libraries: our own reader could repeat the faults of our writer.

let db: TestDatabase
let folder: string
let files = 0
beforeAll(async () => {
  db = await openTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'terrane-outside-'))
  await db.database.query(`
    create table heights (id int4, geom geometry);
    insert into heights values (1, 'SRID=4326;POINT(1 2)'), (2, 'SRID=4326;POINT Z(3 4 5)'), (3, 'SRID=4326;POINT M(5 6 7)'),
      (4, 'SRID=4326;LINESTRING ZM(0 0 1 2,1 1 3 4)'), (5, 'SRID=4326;MULTIPOLYGON(((0 0,1 0,1 1,0 0)),((5 5,6 5,6 6,5 5)))'),
      (6, 'SRID=4326;GEOMETRYCOLLECTION Z(POINT Z(1 2 3),LINESTRING Z(0 0 1,1 1 2))');
    create table peaks (id int4, name text, geom geometry(PointZ, 4326));
    insert into peaks select n, repeat('p', n), st_setsrid(st_makepoint(n, n / 2.0, 100 + n), 4326) from generate_series(1, 9) n;
    insert into peaks values (10, null, null), (11, 'last', 'SRID=4326;POINT Z(11 5.5 111)');
    create table times (id int4, at timestamp, instant timestamptz, day date, hour time, geom geometry(Point, 4326));
    insert into times values (1, '2024-02-29T13:45:10.123456', '2024-02-29T13:45:10.123456+05:45', '2024-02-29', '13:45:10.123456', 'SRID=4326;POINT(0 0)'),
      (2, '0044-03-15T12:00:00 BC', '0044-03-15T12:00:00Z BC', '0044-03-15 BC', '00:00', 'SRID=4326;POINT(0 0)'),
      (3, 'infinity', '-infinity', 'infinity', null, 'SRID=4326;POINT(0 0)'),
      (4, '1969-12-31T23:59:59', '1969-12-31T23:59:59Z', '1969-12-31', '23:59:59', 'SRID=4326;POINT(0 0)');
    create table numbers (id int4, single float4, double float8, exact numeric(10, 2), odd numeric(3, 5), doc jsonb);
    insert into numbers values (1, 1.1, 'NaN', 'NaN', 0.00123, '{"n": 12345678901234567890, "t": "\\u00e4"}'),
      (2, 3.4028235e38, 'Infinity', 1.5, null, 'null'), (3, 'NaN', 0.1, null, null, '[1.10]');
    create table two (id int4, wkt text, place geometry(Point, 3857), geom geometry(Polygon, 4326), doc json);
    insert into two values (1, 'a', 'SRID=3857;POINT(0 5)', 'SRID=4326;POLYGON((0.1 0,1 0,1 1,0.1 0))', E'{"a":\\n1}');
    create table mixed (id int4, geom geometry);
    insert into mixed values (1, 'SRID=3857;POINT(111319.49079327357 0)'), (2, 'SRID=4326;POINT(1 0)'), (3, 'POINT(2 0)'),
      (4, 'SRID=4326;MULTIPOINT(EMPTY,(3 0))');
    create table lost (id int4, geom geometry(Point, 4326));
    insert into lost values (1, st_setsrid(st_makepoint('NaN', 1), 4326)), (2, 'SRID=4326;POINT(1 2)')`)
})
afterAll(async () => {
  await db[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const written = async (table: string, format: Written) => {
  const path = join(folder, `${files++}`)
  const losses = await exportFile(db.database, table, format, path)
  return { path, bytes: await readFile(path), said: losses.map(({ code, count = 0 }) => `${code}=${count}`) }
}
const features = async (bytes: Uint8Array) => {
  const list = await Array.fromAsync(geojson.deserialize(new Uint8Array(bytes)))
  return list.toSorted((a, b) => Number(a.properties!['id']) - Number(b.properties!['id']))
}
const footerOf = (bytes: Buffer) => parquetMetadata(new Uint8Array(bytes).buffer)
const COMPRESSORS = { ZSTD: (bytes: Uint8Array) => new Uint8Array(zstdDecompressSync(bytes)) }
const parquetRows = async (bytes: Buffer) => {
  const file = Uint8Array.from(bytes).buffer
  const rows = await parquetReadObjects({ file, compressors: COMPRESSORS, utf8: false, geoparquet: false })
  return { metadata: parquetMetadata(file), rows }
}

describe.each(['FlatGeobuf', 'FlatGeobuf with an index'] as const)('the library of FlatGeobuf reads %s', (format) => {
  test('with the same dimensions in each row, which is said of rows that lack one', async () => {
    const { bytes, said } = await written('heights', format)
    expect(said).toEqual(['DIMENSIONS_FILLED=5'])
    const read = await features(bytes)
    expect(read.map(({ geometry }) => geometry)).toMatchObject([
      { type: 'Point', coordinates: [1, 2, 0] },
      { type: 'Point', coordinates: [3, 4, 5] },
      { type: 'Point', coordinates: [5, 6, 0] },
      {
        type: 'LineString',
        coordinates: [
          [0, 0, 1],
          [1, 1, 3],
        ],
      },
      { type: 'MultiPolygon' },
      { type: 'GeometryCollection', geometries: [{ coordinates: [1, 2, 3] }, { type: 'LineString' }] },
    ])
  })

  test('of heights, beside a row without a geometry', async () => {
    const { bytes, said } = await written('peaks', format)
    expect(said).toEqual(format === 'FlatGeobuf' ? [] : ['INDEX_LEFT_OUT=0'])
    // Its GeoJSON has no features without a geometry.
    const heights: (number | null)[] = []
    const fromFeature = (_: number, feature: Feature) => {
      heights.push(feature.geometry()?.zArray()?.[0] ?? null)
      return {}
    }
    await Array.fromAsync(generic.deserialize(new Uint8Array(bytes), { fromFeature }))
    expect(heights).toEqual([101, 102, 103, 104, 105, 106, 107, 108, 109, null, 111])
  })

  test('with local times that have no zone, and says which times it lacks', async () => {
    const { bytes, said } = await written('times', format)
    expect(said).toEqual(['TYPES_CHANGED=2', 'TIMES_LEFT_OUT=4'])
    expect((await features(bytes)).map(({ properties }) => properties)).toMatchObject([
      { at: '2024-02-29T13:45:10.123456', instant: '2024-02-29T08:00:10.123456Z', day: '2024-02-29' },
      { day: '0044-03-15 BC', hour: '00:00:00' },
      { day: 'infinity' },
      { at: '1969-12-31T23:59:59.000000', instant: '1969-12-31T23:59:59.000000Z' },
    ])
  })
})

test('the index of a FlatGeobuf finds the features of a box, and no others', async () => {
  const random = seededRandom(7)
  const boxes = Array.from({ length: 3000 }, () => [random() * 100, random() * 50, random(), random()] as const)
  const rows = boxes.map(([x, y, w, h], i) => `(${i}, st_makeenvelope(${x}, ${y}, ${x + w}, ${y + h}, 4326))`)
  await db.database.query(
    `create table boxes (id int4, geom geometry(Polygon, 4326)); insert into boxes values ${rows.join()}`,
  )
  const { bytes, said } = await written('boxes', 'FlatGeobuf with an index')
  expect(said).toEqual([])
  vi.spyOn(console, 'debug').mockImplementation(() => {})
  const rect = { minX: 40, minY: 20, maxX: 55, maxY: 23 }
  const found = await Array.fromAsync(geojson.deserialize(new Uint8Array(bytes), { rect }))
  vi.restoreAllMocks()
  const wanted = boxes.flatMap(([x, y, w, h], i) =>
    x <= rect.maxX && x + w >= rect.minX && y <= rect.maxY && y + h >= rect.minY ? [i] : [],
  )
  expect(wanted.length).toBeGreaterThan(20)
  expect(found.map(({ properties }) => Number(properties!['id'])).toSorted((a, b) => a - b)).toEqual(wanted)
})

test('rows of several reference systems are written in one, and rows of others or without a system are counted', async () => {
  for (const format of ['FlatGeobuf', 'GeoJSON'] as const) {
    const { bytes, said } = await written('mixed', format)
    expect(said).toContain('SYSTEM_UNKNOWN=1')
    expect(said).toContain('SYSTEMS_MIXED=1')
    expect(said).toContain('EMPTY_PARTS_LEFT_OUT=1')
    const read =
      format === 'GeoJSON'
        ? (JSON.parse(bytes.toString()).features as Awaited<ReturnType<typeof features>>)
        : await features(bytes)
    const places = read.map(({ geometry }) => (geometry as { coordinates: number[] | number[][] }).coordinates.flat())
    expect(places.map(([x, y]) => [Math.round(x! * 1e9) / 1e9, y])).toEqual([
      [1, 0],
      [1, 0],
      [2, 0],
      [3, 0],
    ])
  }
})

describe('hyparquet reads GeoParquet', () => {
  test('with local times as such, and times before Christ', async () => {
    const { bytes, said } = await written('times', 'GeoParquet')
    expect(said).toEqual(['TIMES_LEFT_OUT=3'])
    const { metadata, rows } = await parquetRows(bytes)
    const types = Object.fromEntries(metadata.schema.map((element) => [element.name, element]))
    expect(types['at']!.logical_type).toEqual({ type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'MICROS' })
    expect(types['at']!.converted_type).toBeUndefined()
    expect(types['instant']!.logical_type).toMatchObject({ isAdjustedToUTC: true })
    expect(types['hour']!.logical_type).toMatchObject({ type: 'TIME', isAdjustedToUTC: false })
    expect(rows.map((row) => (row['at'] as Date | null)?.toISOString())).toEqual([
      '2024-02-29T13:45:10.123Z',
      '-000043-03-15T12:00:00.000Z',
      undefined,
      '1969-12-31T23:59:59.000Z',
    ])
    expect((rows[1]!['day'] as Date).toISOString()).toBe('-000043-03-15T00:00:00.000Z')
  })

  test('with numbers to the last digit, also within JSON, and says what is not one', async () => {
    const { bytes, said } = await written('numbers', 'GeoParquet')
    expect(said).toEqual(['DECIMALS_AS_TEXT=1', 'NUMBERS_NOT_FINITE=1'])
    const { metadata, rows } = await parquetRows(bytes)
    expect(metadata.schema.find(({ name }) => name === 'doc')!.converted_type).toBe('JSON')
    expect(rows[0]).toMatchObject({ double: NaN, exact: null, odd: '0.00123' })
    expect(rows.map((row) => row['single'])).toEqual([Math.fround(1.1), Math.fround(3.4028235e38), NaN])
    const plain = await parquetReadObjects({
      file: Uint8Array.from(bytes).buffer,
      compressors: COMPRESSORS,
      parsers: { jsonFromBytes: (text: Uint8Array) => Buffer.from(text).toString() },
    })
    expect(plain.map((row) => row['doc'])).toEqual(['{"n": 12345678901234567890, "t": "ä"}', 'null', '[1.10]'])
  })

  test('with the boxes of its geometries, and a further geometry as text', async () => {
    const { bytes, said } = await written('two', 'GeoParquet')
    expect(said).toEqual(['GEOMETRIES_AS_TEXT=1'])
    const { metadata, rows } = await parquetRows(bytes)
    const geo = JSON.parse(metadata.key_value_metadata!.find(({ key }) => key === 'geo')!.value!) as {
      columns: Record<string, { covering: unknown }>
    }
    expect(geo.columns['geom']!.covering).toEqual({
      bbox: { xmin: ['bbox', 'xmin'], ymin: ['bbox', 'ymin'], xmax: ['bbox', 'xmax'], ymax: ['bbox', 'ymax'] },
    })
    expect(rows[0]).toMatchObject({ place: 'SRID=3857;POINT(0 5)', bbox: { ymin: 0, xmax: 1, ymax: 1 } })
    const { xmin } = rows[0]!['bbox'] as { xmin: number }
    expect([xmin <= 0.1, xmin > 0.0999999]).toEqual([true, true])
  })
})

describe('JSON.parse reads GeoJSON', () => {
  const parsed = async (table: string, format: 'GeoJSON' | 'GeoJSONSeq') => {
    const { bytes, said } = await written(table, format)
    const text = bytes.toString()
    const list = format === 'GeoJSON' ? undefined : text.trimEnd().split('\n')
    const read = list ? list.map((line) => JSON.parse(line) as unknown) : JSON.parse(text).features
    return { said, read: read as { properties: Record<string, unknown>; geometry: unknown }[] }
  }
  test('with local times, and numbers of single precision as they are written', async () => {
    const { read } = await parsed('times', 'GeoJSON')
    expect(read.map(({ properties }) => [properties['at'], properties['instant'], properties['day']])).toEqual([
      ['2024-02-29T13:45:10.123456', '2024-02-29T08:00:10.123456Z', '2024-02-29'],
      ['0044-03-15T12:00:00.000000 BC', '0044-03-15T12:00:00.000000Z BC', '0044-03-15 BC'],
      ['infinity', '-infinity', 'infinity'],
      ['1969-12-31T23:59:59.000000', '1969-12-31T23:59:59.000000Z', '1969-12-31'],
    ])
    const numbers = await parsed('numbers', 'GeoJSON')
    expect(numbers.read.map(({ properties }) => properties['single'])).toEqual([1.1, 3.4028235e38, null])
    expect(numbers.said).toEqual(['NUMBERS_NOT_FINITE=4'])
  })

  test('where a point has no number, which is said, and line by line where a document has line breaks', async () => {
    const { said, read } = await parsed('lost', 'GeoJSON')
    expect(said).toEqual(['GEOMETRY_NOT_FINITE=1'])
    expect(read.map(({ geometry }) => geometry)).toEqual([null, { type: 'Point', coordinates: [1, 2] }])
    const two = await parsed('two', 'GeoJSONSeq')
    expect(two.read).toMatchObject([{ properties: { doc: { a: 1 }, place: 'SRID=3857;POINT(0 5)' } }])
    expect(two.said).toEqual(['GEOMETRIES_AS_TEXT=1'])
  })
})

describe('SQLite reads a GeoPackage', () => {
  const rows = async (table: string) => {
    const { path, said } = await written(table, 'GeoPackage')
    using file = new DatabaseSync(path, { readOnly: true })
    return { said, read: file.prepare(`select * from ${table} order by id`).all() }
  }
  test('with local times without a zone, to the millisecond, and says which are cut or lacking', async () => {
    const { said, read } = await rows('times')
    expect(said).toEqual(['TIMES_CUT=2', 'TIMES_LEFT_OUT=6'])
    expect(read).toMatchObject([
      { at: '2024-02-29T13:45:10.123', instant: '2024-02-29T08:00:10.123Z', day: '2024-02-29' },
      { at: null, instant: null, day: null },
      { at: null, instant: null, day: null },
      { at: '1969-12-31T23:59:59.000', instant: '1969-12-31T23:59:59.000Z', day: '1969-12-31' },
    ])
  })

  test('with numbers as they are, and says where NaN became null', async () => {
    const { said, read } = await rows('numbers')
    expect(said).toEqual(['NUMBERS_NOT_FINITE=3'])
    expect(read).toMatchObject([
      { single: 1.1, double: null, exact: null },
      { single: 3.4028235e38, double: Infinity },
      { single: null, double: 0.1 },
    ])
  })
})

test('a column of one reference system is said to have several by no format, and one of several by all', async () => {
  await db.database.query(`
    create table metres (id int4, geom geometry);
    insert into metres values (1, 'SRID=3857;POINT(1 2)'), (2, 'POINT(3 4)'), (3, null);
    create table places (id int4, geom geometry);
    insert into places values (1, 'SRID=3857;POINT(1 2)'), (2, 'SRID=32632;POINT(500000 0)'), (3, 'SRID=3857;POINT(5 6)')`)
  for (const format of WRITTEN) {
    const [one, several] = [await written('metres', format), await written('places', format)]
    expect(one.said.join(), format).not.toContain('SYSTEMS_MIXED')
    expect(several.said, format).toEqual(['SYSTEMS_MIXED=3'])
  }
})

test('a GeoPackage flags empty geometries and declares curves, as OGC 12-128r19 has it (2.1.3, annex F.1)', async () => {
  await db.database.query(`create table round (id int4, geom geometry);
    insert into round values (1, 'SRID=4326;POINT EMPTY'), (2, 'SRID=4326;CIRCULARSTRING(0 0,1 1,2 0)')`)
  const { path } = await written('round', 'GeoPackage')
  using file = new DatabaseSync(path, { readOnly: true })
  const blobs = file.prepare('select geom from round order by id').all() as { geom: Uint8Array }[]
  expect(blobs.map(({ geom }) => geom[3])).toEqual([0b10001, 0b00001])
  const names = file.prepare('select table_name, extension_name from gpkg_extensions order by 1').all()
  expect(names).toEqual([
    { table_name: 'gpkg_data_column_constraints', extension_name: 'gpkg_schema' },
    { table_name: 'gpkg_data_columns', extension_name: 'gpkg_schema' },
    { table_name: 'round', extension_name: 'gpkg_geom_CIRCULARSTRING' },
  ])
})

test('a CSV has its geometry in wkt, a column of that name in another, and says so', async () => {
  const { bytes, said } = await written('two', 'CSV')
  const [head, ...lines] = bytes.toString().split('\n')
  expect(head).toBe('id,wkt_1,place,doc,wkt')
  expect(said).toEqual(['NAMES_CHANGED=1', 'GEOMETRIES_AS_TEXT=1'])
  expect(lines.join('\n')).toContain('SRID=3857;POINT(0 5)')
})

test('Parquet without a geometry has no empty list of metadata, which readers in Rust refuse', async () => {
  expect(footerOf((await written('numbers', 'GeoParquet')).bytes).key_value_metadata).toBeUndefined()
  expect(footerOf((await written('peaks', 'GeoParquet')).bytes).key_value_metadata).toMatchObject([{ key: 'geo' }])
})

test('Parquet without rows says that its empty list is one of groups, which readers in Rust need', async () => {
  await db.database.query(`create table none (id int4, name text, geom geometry(Point, 4326))`)
  const { bytes } = await written('none', 'GeoParquet')
  expect(footerOf(bytes)).toMatchObject({ num_rows: 0n, row_groups: [], key_value_metadata: [{ key: 'geo' }] })
  // Thrift's compact protocol: field 3 is a number, 0; field 4 is a list, of no structs.
  expect(bytes.includes(Buffer.from([0x16, 0, 0x19, 0x0c]))).toBe(true)
})
