import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { wkbOfGeoJson, type GeoJsonGeometry } from '@terrane/core'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { importFile } from './import-file.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(() => db[Symbol.asyncDispose]())

/** A database of SQLite as the bytes of its file. */
async function written(fill: (database: DatabaseSync) => void): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-sqlite-'))
  const path = join(folder, 'a.sqlite')
  const database = new DatabaseSync(path)
  database.exec(`create table spatial_ref_sys (srid integer, auth_name text, auth_srid integer);
    insert into spatial_ref_sys values (4326, 'epsg', 4326)`)
  fill(database)
  database.close()
  const bytes = await readFile(path)
  await rm(folder, { recursive: true })
  return bytes
}

/** A geometry in SpatiaLite's form, little-endian: 38 bytes of head, the mark, type and body, the end. */
function blobOf(...parts: readonly (Buffer | number)[]): Buffer {
  const head = Buffer.alloc(39)
  head[1] = 1
  head.writeInt32LE(4326, 2)
  head[38] = 0x7c
  const body = parts.map((part) => (typeof part === 'number' ? uint(part) : part))
  return Buffer.concat([head, ...body, Buffer.from([0xfe])])
}
function uint(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
const doubles = (...values: readonly number[]) => Buffer.from(Float64Array.from(values).buffer)
const floats = (...values: readonly number[]) => Buffer.from(Float32Array.from(values).buffer)
const MEMBER = Buffer.from([0x69])

test('a database of SpatiaLite becomes its tables, whatever its geometries are', async () => {
  const file = await written((database) => {
    database.exec(`create table geometry_columns (f_table_name text, f_geometry_column text, geometry_type integer, srid integer);
      insert into geometry_columns values ('places', 'GEOM', 0, 4326);
      create table spatialite_history (event text);
      insert into spatialite_history values ('made');
      create table places (pk integer primary key, name varchar(20), big bigint, x float, day date, at timestamp, geom blob);
      create table list (n integer);
      insert into list values (1), (2);
      create view seen as select * from places`)
    const insert = database.prepare(
      `insert into places (name, big, x, day, at, geom) values (?, 9007199254740993, 0.1, '2024-02-29', '2024-02-29T10:00:00Z', ?)`,
    )
    insert.run('point', blobOf(1, doubles(1, 2)))
    insert.run('line with heights', blobOf(1002, 2, doubles(0, 0, 5, 1, 1, 6)))
    insert.run('several', blobOf(4, 2, MEMBER, 1, doubles(3, 4), MEMBER, 1, doubles(5, 6)))
    insert.run('area', blobOf(3, 1, 4, doubles(0, 0, 1, 0, 1, 1, 0, 0)))
    insert.run('compressed', blobOf(1_000_002, 3, doubles(10, 10), floats(0.5, 0.25), doubles(12, 12)))
    insert.run('none', null)
    insert.run('cut off', blobOf(1002, 9, doubles(0, 0)))
  })
  const { tables, warnings } = await importFile(db.database, file, { promoteToMulti: false })
  expect(tables.map(({ layer, rows }) => [layer, rows])).toEqual([
    ['places', 7],
    ['list', 2],
  ])
  const columns = `name, big::text, x, day::text, at = '2024-02-29T10:00:00Z' as at, st_astext(geom) as geom`
  const { rows } = await db.database.query(`select ${columns} from ${tables[0]!.table} order by id`)
  expect(rows[0]).toMatchObject({ big: '9007199254740993', x: 0.1, day: '2024-02-29', at: true })
  expect(rows.map(({ name, geom }) => [name, geom])).toEqual([
    ['point', 'POINT Z (1 2 0)'],
    ['line with heights', 'LINESTRING Z (0 0 5,1 1 6)'],
    ['several', 'MULTIPOINT Z ((3 4 0),(5 6 0))'],
    ['area', 'POLYGON Z ((0 0 0,1 0 0,1 1 0,0 0 0))'],
    ['compressed', 'LINESTRING Z (10 10 0,10.5 10.25 0,12 12 0)'],
    ['none', null],
    ['cut off', null],
  ])
  expect(warnings).toMatchObject([
    { code: 'VIEWS_LEFT_OUT', examples: ['seen'] },
    { code: 'GEOMETRY_UNREADABLE', count: 1, examples: [7] },
    { code: 'DIMENSIONS_FILLED' },
  ])
})

test.each([
  ['WKB', (geometry: GeoJsonGeometry) => wkbOfGeoJson(geometry)],
  ['WKT', () => 'POINT(1 2)'],
])('a database of SQLite with geometries in %s is read', async (format, valueOf) => {
  const file = await written((database) => {
    database.exec(`create table geometry_columns (f_table_name text, f_geometry_column text, geometry_type integer, srid integer, geometry_format text);
      create table a (ogc_fid integer primary key, geometry, name varchar)`)
    database.prepare(`insert into geometry_columns values ('a', 'geometry', 1, 4326, ?)`).run(format)
    database
      .prepare(`insert into a (geometry, name) values (?, 'x')`)
      .run(valueOf({ type: 'Point', coordinates: [1, 2] }))
  })
  const { tables } = await importFile(db.database, file)
  const { rows } = await db.database.query(`select name, st_astext(geom) as geom from ${tables[0]!.table}`)
  expect(rows).toEqual([{ name: 'x', geom: 'POINT(1 2)' }])
})

test('a database without geometries says how to go on', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-sqlite-'))
  const path = join(folder, 'a.sqlite')
  const database = new DatabaseSync(path)
  database.exec('create table a (n integer)')
  database.close()
  const file = await readFile(path)
  await rm(folder, { recursive: true })
  await expect(importFile(db.database, file)).rejects.toMatchObject({
    code: 'FORMAT_UNKNOWN',
    message: expect.stringContaining('export its tables as a GeoPackage'),
  })
})

test('a view that is registered is a layer, one that is not is named, and so is a second geometry', async () => {
  const bytes = await written((database) => {
    database.exec(`create table geometry_columns (f_table_name text, f_geometry_column text, geometry_type integer, srid integer);
      insert into geometry_columns values ('places', 'geom', 1, 4326), ('places', 'centre', 1, 4326);
      create table views_geometry_columns (view_name text, view_geometry text, view_rowid text, f_table_name text, f_geometry_column text, read_only integer);
      insert into views_geometry_columns values ('named', 'geom', 'rowid', 'Places', 'Geom', 1);
      create table places (pk integer primary key, name text, visits int8, geom POINT, centre POINT);
      create view named as select rowid as rowid, name, geom, pk + 1 as next, pk / 2.0 as half from places where name = 'B';
      create view lost as select * from places;
      create view vector_layers as select 1 as a`)
    const insert = database.prepare('insert into places (name, geom, centre) values (?, ?, ?)')
    insert.run('A', blobOf(1, doubles(1, 2)), blobOf(1, doubles(3, 4)))
    insert.run('B', blobOf(1, doubles(5, 6)), null)
  })
  const { tables, warnings } = await importFile(db.database, bytes)
  expect(tables.map(({ layer, rows, srid }) => [layer, rows, srid])).toEqual([
    ['places', 2, 4326],
    ['named', 1, 4326],
  ])
  const types = tables.map(({ columns }) => Object.fromEntries(columns.map(({ name, type }) => [name, type])))
  expect(types).toMatchObject([{ visits: 'int8' }, { name: 'text', next: 'int8', half: 'float8' }])
  const { rows } = await db.database.query(
    `select name, st_astext(geom) as geom, st_astext(centre::geometry) as centre from ${tables[0]!.table} order by id`,
  )
  expect(rows).toMatchObject([
    { name: 'A', centre: 'POINT(3 4)' },
    { name: 'B', centre: null },
  ])
  expect(warnings).toMatchObject([
    { code: 'VIEWS_LEFT_OUT', examples: ['lost'] },
    { code: 'GEOMETRIES_LEFT', examples: ['centre'] },
  ])
})
