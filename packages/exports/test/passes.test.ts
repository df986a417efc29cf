import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { EXPORT_FORMATS, type ExportFormat } from '@terrane/contracts'
import { Warnings } from '@terrane/core/errors'
import { scan } from '@terrane/database/scan'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { parquetMetadata } from 'hyparquet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fileBytes, findTable, readSystems, rowsFor, withTypes, writeGpkg } from '../src/index.ts'

let db: TestDatabase
const ROWS = 3
const WITH_GEOMETRY = 2
beforeAll(async () => {
  db = await openTestDatabase()
  // Each row of the views that a statement reads takes a number of the sequence.
  await db.database.query(`
    create table places (id int4, geom geometry);
    insert into places values (1, 'SRID=3857;POINTM(0 0 5)'), (2, null), (3, 'SRID=3857;POINT(111319.49079327357 0)');
    create sequence reads;
    create view declared as select id, st_force2d(geom)::geometry(Point, 3857) as geom from places where nextval('reads') > 0;
    create view undeclared as select id, geom from places where nextval('reads') > 0`)
})
afterAll(() => db[Symbol.asyncDispose]())

const lookUp = async (table: string, format: ExportFormat) => {
  const found = await findTable(db.database, { schema: 'public', table })
  const source = await withTypes(db.database, found, format)
  const losses = new Warnings()
  return { source, losses, rows: rowsFor(source, format, (...asked) => scan(db.database, ...asked), losses) }
}

const bytesOf = async (table: string, format: 'GeoJSON' | 'GeoParquet') => {
  const { source, losses, rows } = await lookUp(table, format)
  const pieces = await Array.fromAsync(fileBytes(source, format, rows, losses))
  return { losses: losses.list(), bytes: Buffer.concat(pieces.map((piece) => Buffer.from(piece as string))) }
}

const declared = EXPORT_FORMATS.map((format) => ['declared', format, ROWS] as const)
const inFront = new Set<ExportFormat>(['GeoPackage', 'FlatGeobuf', 'Shapefile'])
const undeclared = EXPORT_FORMATS.map(
  (format) => ['undeclared', format, inFront.has(format) ? ROWS + WITH_GEOMETRY : ROWS] as const,
)

test.each([...declared, ...undeclared])(
  'of a view that is %s, %s reads so many rows: %i',
  async (view, format, reads) => {
    await db.database.query(`select setval('reads', 1, false)`)
    const { rows } = await lookUp(view, format)
    for await (const batch of rows) expect(batch.length).toBe(ROWS)
    const { rows: seen } = await db.database.query<{ reads: number }>('select last_value::int as reads from reads')
    expect(seen[0]!.reads).toBe(reads)
  },
)

test.each([
  ['another type', 'LINESTRING(0 0, 1 1)', 3857],
  ['another dimension', 'POINT Z(0 0 1)', 3857],
  ['another system', 'POINT(0 0)', 4326],
  ['the first geometry that is not empty', 'POINT(0 0)', null],
])('geometries that come between the header and the rows end the export: %s', async (_, wkt, srid) => {
  await db.database.query('drop table if exists growing; create table growing (id int4, geom geometry)')
  const insert = (geometry: string, system: number) =>
    db.database.query('insert into growing values (1, st_setsrid(st_geomfromtext($1), $2))', [geometry, system])
  await insert(srid === null ? 'POINT EMPTY' : 'POINT(5 5)', 3857)
  for (const format of inFront) {
    const before = await lookUp('growing', format)
    await insert(srid === null ? 'POINT EMPTY' : 'POINT(6 6)', 3857)
    const rows = await Array.fromAsync(before.rows)
    const late = await lookUp('growing', format)
    await insert(wkt, srid ?? 3857)
    await expect(Array.fromAsync(late.rows)).rejects.toMatchObject({ code: 'TABLE_CHANGED' })
    await db.database.query('delete from growing where st_astext(geom) = st_astext(st_geomfromtext($1))', [wkt])
    expect(rows.flat().length).toBeGreaterThan(1)
  }
})

test('rows that have systems of their own become degrees, and measures that are left out are counted', async () => {
  const { bytes, losses } = await bytesOf('undeclared', 'GeoJSON')
  const { features } = JSON.parse(bytes.toString()) as { features: { geometry: { coordinates: number[] } | null }[] }
  expect(features.map(({ geometry }) => geometry?.coordinates.map(Math.round))).toEqual([[0, 0], undefined, [1, 0]])
  expect(losses).toMatchObject([{ code: 'MEASURES_LEFT_OUT', count: 1 }])
})

test('types and bounds of GeoParquet are those of its rows, in degrees', async () => {
  const { bytes } = await bytesOf('declared', 'GeoParquet')
  const metadata = parquetMetadata(Uint8Array.from(bytes).buffer)
  const geo = JSON.parse(metadata.key_value_metadata!.find(({ key }) => key === 'geo')!.value!) as {
    columns: { geom: { geometry_types: string[]; bbox: number[] } }
  }
  expect(geo.columns.geom.geometry_types).toEqual(['Point'])
  expect(geo.columns.geom.bbox.map((degrees) => Math.round(degrees * 1e6) / 1e6)).toEqual([0, 0, 1, 0])
})

test('bounds of a GeoPackage are those of its rows, in the system of the table', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-passes-'))
  try {
    const { source, losses, rows } = await lookUp('undeclared', 'GeoPackage')
    const path = join(folder, 'a.gpkg')
    const facts = await writeGpkg(await readSystems(db.database, source), source, rows, path, losses)
    expect([facts.hasNulls, facts.bounds]).toEqual([true, [0, 0, 111319.49079327357, 0]])
    using file = new DatabaseSync(path, { readOnly: true })
    expect(file.prepare('select min_x, max_x, srs_id from gpkg_contents').get()).toEqual({
      min_x: 0,
      max_x: 111319.49079327357,
      srs_id: 3857,
    })
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('a row group of GeoParquet ends by bytes before it has its rows', async () => {
  await db.database.query(
    `create table heavy as select n as id, repeat(chr(96 + n), 4 * 1024 * 1024) as text from generate_series(1, 20) n`,
  )
  const { bytes } = await bytesOf('heavy', 'GeoParquet')
  const { row_groups: groups, num_rows: rows } = parquetMetadata(Uint8Array.from(bytes).buffer)
  expect([groups.map((group) => Number(group.num_rows)), Number(rows)]).toEqual([[8, 8, 4], 20])
})

test('a column is named once', async () => {
  const choice = { schema: 'public', table: 'places', columns: ['id', 'id'] }
  await expect(findTable(db.database, choice)).rejects.toMatchObject({ code: 'PROPERTY_REPEATED' })
})

test('a GeoPackage holds tables and columns whose names SQLite or the format would refuse', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'exports-'))
  try {
    for (const [i, table] of ['gpkg_contents', 'GPKG_own', 'sqlite_x', 'rtree_x_geom', 'fine'].entries()) {
      await db.database.query(
        `create table "${table}" (a int4, "A" text, "A_1" text, fid int4, geom geometry(Point, 4326))`,
      )
      await db.database.query(`insert into "${table}" values (1, 'two', 'three', 4, 'SRID=4326;POINT(1 2)')`)
      const { source, losses, rows } = await lookUp(table, 'GeoPackage')
      const path = join(folder, `${i}.gpkg`)
      await writeGpkg(await readSystems(db.database, source), source, rows, path, losses)
      using file = new DatabaseSync(path, { readOnly: true })
      const own = table === 'fine' ? table : `table_${table}`
      const described = file.prepare('select table_name, identifier from gpkg_contents').all()
      expect(described).toEqual([{ table_name: own, identifier: table }])
      expect(file.prepare(`select a, "A_2", "A_1", fid, fid_1 from "${own}"`).all()).toEqual([
        { a: 1, A_2: 'two', A_1: 'three', fid: 4, fid_1: 1 },
      ])
      const names = losses.list().find(({ code }) => code === 'NAMES_CHANGED')
      expect(names).toMatchObject({ count: table === 'fine' ? 1 : 2 })
    }
  } finally {
    await rm(folder, { recursive: true })
  }
})
