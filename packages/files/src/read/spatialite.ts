import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { isoType, wkbHead } from '@terrane/core/wkb'
import { Warnings } from '@terrane/core/errors'
import type { FeatureBatch, FeatureReader, FieldType } from '../feature-stream.ts'
import { quoted } from './gpkg-cells.ts'
import { TYPES, fieldsOf, readRows, type Table } from './gpkg.ts'
import { openSqlite } from './open-sqlite.ts'
import { warnOfOthers } from './untold-geometry.ts'
import { wkbOfWkt } from './wkt.ts'

/** Tables that programs keep for themselves. */
const OF_PROGRAMS =
  /^(sqlite_|idx_|gpkg_|geometry_columns|spatial_ref_sys|views_geometry|virts_geometry|spatialite_history|sql_statements_log|data_licenses|iso_metadata|raster_coverages|vector_coverages|wms_|se_|rl2map|stored_|topologies|networks|elementarygeometries|spatialindex|layer_statistics|views_layer|virts_layer|knn|geom_cols_|vector_layers)/i
/** SQLite accepts any type name, so names of other databases occur; all of its fractions have eight bytes. */
const DECLARED: Readonly<Record<string, FieldType>> = {
  ...TYPES,
  INT2: 'int2',
  INT4: 'int4',
  INT8: 'int8',
  BIGINT: 'int8',
  FLOAT: 'float8',
  'DOUBLE PRECISION': 'float8',
  TIMESTAMP: 'timestamptz',
  TIME: 'time',
}
/** Bytes before the type of a geometry. */
const HEAD_BYTES = 39
const START = 0x7c
const MEMBER = 0x69
const END = 0xfe
/**
 * Added to the type of a line or polygon whose inner points are stored as single-precision differences from one to the
 * next.
 */
const COMPRESSED = 1_000_000

/** Opens an SQLite database with a list of columns of geometries, as SpatiaLite and GDAL write it. */
export function openSpatialite(path: string): FeatureReader {
  const database = openSqlite(path)
  const warnings = new Warnings()
  const tables = listTables(database, warnings)
  return {
    layers: tables.map(({ schema }) => schema),
    read: (layer) => withWkb(readRows(database, tables[layer]!, warnings, wkbOfValue), tables[layer]!.others),
    takeWarnings: () => warnings.take(),
  }
}

/** A geometry of a table or a view, as the lists of the format name it. */
interface GeometryOf {
  readonly name: string
  readonly geometry: string
  readonly srid: number | null
}

/** A table, and the numbers of fields that are further geometries. */
interface SpatialTable extends Table {
  readonly others: ReadonlySet<number>
}

function listTables(database: DatabaseSync, warnings: Warnings): SpatialTable[] {
  const columns = [...geometriesOfTables(database), ...geometriesOfViews(database)]
  const tables = database
    .prepare(
      `select name from sqlite_master where type = 'table' and sql not like 'create virtual table%' order by rowid`,
    )
    .all()
    .map(({ name }) => String(name))
  const views = database
    .prepare(`select name from sqlite_master where type = 'view' order by rowid`)
    .all()
    .map(({ name }) => String(name))
  const isListed = (name: string) => columns.some((column) => column.name.toLowerCase() === name.toLowerCase())
  warnOfViews(
    views.filter((name) => !isListed(name) && !OF_PROGRAMS.test(name)),
    warnings,
  )
  return [...tables, ...views.filter(isListed)].flatMap((name): SpatialTable[] => {
    if (OF_PROGRAMS.test(name)) return []
    const [of, ...others] = columns.filter((column) => column.name.toLowerCase() === name.toLowerCase())
    warnOfOthers(
      others.map((other) => other.geometry),
      warnings,
    )
    const geometry = of ? columnCalled(database, name, of.geometry) : null
    const second = new Set(others.map((other) => other.geometry.toLowerCase()))
    const fields = fieldsOf(database, name, geometry, DECLARED).map((field) =>
      second.has(field.name.toLowerCase()) ? { ...field, type: 'bytea' as const } : field,
    )
    const { rows } = database.prepare(`select count(*) as rows from ${quoted(name)}`).get() as { rows: number }
    const geometryTypes = geometry === null ? [] : typesIn(database, name, geometry)
    const srid = of?.srid ?? null
    const places = [...fields.keys()].filter((i) => second.has(fields[i]!.name.toLowerCase()))
    return [
      {
        name,
        geometry,
        others: new Set(places),
        schema: { name, rows, fields, hasGeometry: geometry !== null, geometryTypes, srid },
      },
    ]
  })
}

function geometriesOfTables(database: DatabaseSync): GeometryOf[] {
  return database
    .prepare(
      `select g.f_table_name as name, g.f_geometry_column as geometry,
         case when upper(s.auth_name) = 'EPSG' then cast(s.auth_srid as integer) end as srid
       from geometry_columns g left join spatial_ref_sys s on s.srid = g.srid`,
    )
    .all() as unknown as GeometryOf[]
}

/** A view has the geometry of a table, and its system. */
function geometriesOfViews(database: DatabaseSync): GeometryOf[] {
  if (!database.prepare(`select 1 from sqlite_master where name = 'views_geometry_columns'`).get()) return []
  return database
    .prepare(
      `select v.view_name as name, v.view_geometry as geometry,
         case when upper(s.auth_name) = 'EPSG' then cast(s.auth_srid as integer) end as srid
       from views_geometry_columns v
       left join geometry_columns g on lower(g.f_table_name) = lower(v.f_table_name)
         and lower(g.f_geometry_column) = lower(v.f_geometry_column)
       left join spatial_ref_sys s on s.srid = g.srid`,
    )
    .all() as unknown as GeometryOf[]
}

function warnOfViews(names: readonly string[], warnings: Warnings): void {
  const message =
    'Views that the lists of geometries do not name were left out: write them to a table, or register them.'
  if (names.length > 0) warnings.add('VIEWS_LEFT_OUT', message, names.length, names)
}

/** The rows with further geometries as WKB. */
function* withWkb(batches: Iterable<FeatureBatch>, others: ReadonlySet<number>): Generator<FeatureBatch> {
  for (const batch of batches) {
    const columns = batch.columns.map((values, i) =>
      others.has(i)
        ? values.map((value) => (value instanceof Uint8Array ? wkbOfValue(Uint8Array.from(value)) : null))
        : values,
    )
    yield { ...batch, columns }
  }
}

/** Names of the list may differ in case from those of the table. */
function columnCalled(database: DatabaseSync, table: string, name: string): string | null {
  const columns = database.prepare(`select name from pragma_table_info(?)`).all(table)
  return columns.map((column) => String(column['name'])).find((own) => own.toLowerCase() === name.toLowerCase()) ?? null
}

function typesIn(database: DatabaseSync, table: string, geometry: string): number[] {
  const column = quoted(geometry)
  const types = new Set<number>()
  for (const { value } of database
    .prepare(`select ${column} as value from ${quoted(table)} where ${column} is not null`)
    .iterate()) {
    const head = wkbHead(wkbOfValue(value!))
    if (head) types.add(isoType(head))
  }
  return [...types]
}

/** A geometry in any of the listed forms as WKB; null for other values. */
function wkbOfValue(value: SQLOutputValue): Uint8Array {
  const none = new Uint8Array()
  try {
    if (typeof value === 'string') return wkbOfWkt(value) ?? none
    if (!(value instanceof Uint8Array)) return none
    if (value[0] === 0 && value[38] === START && value.at(-1) === END) return wkbOfBlob(value)
    return wkbHead(value) ? value : none
  } catch (error) {
    if (error instanceof RangeError) return none
    throw error
  }
}

/** SpatiaLite's form: marks, the number of the system and a box around WKB whose members begin with a mark. */
function wkbOfBlob(blob: Uint8Array): Uint8Array {
  const view = new DataView(blob.buffer, blob.byteOffset, blob.byteLength - 1)
  const isLittle = blob[1] === 1
  // Differences of four bytes become coordinates of eight.
  const out = new DataView(new ArrayBuffer(2 * blob.byteLength))
  let at = HEAD_BYTES
  let end = 0
  const putUint = (value: number) => {
    out.setUint32(end, value, true)
    end += 4
    return value
  }
  const takeUint = () => {
    at += 4
    return view.getUint32(at - 4, isLittle)
  }
  const takeDouble = () => {
    at += 8
    return view.getFloat64(at - 8, isLittle)
  }
  const points = (count: number, letters: string, isCompressed: boolean) => {
    let before: number[] = []
    for (let i = 0; i < count; i++) {
      const isWhole = !isCompressed || i === 0 || i === count - 1
      const point = Array.from(letters, (letter, axis) => {
        if (isWhole || letter === 'm') return takeDouble()
        at += 4
        return before[axis]! + view.getFloat32(at - 4, isLittle)
      })
      for (const number of point) {
        out.setFloat64(end, number, true)
        end += 8
      }
      before = point
    }
  }
  const geometry = () => {
    const code = takeUint()
    const type = code % COMPRESSED
    const letters = ['xy', 'xyz', 'xym', 'xyzm'][Math.floor(type / 1000)] ?? 'xy'
    const isCompressed = code > COMPRESSED
    out.setUint8(end++, 1)
    putUint(type)
    const kind = type % 1000
    if (kind === 1) points(1, letters, false)
    else if (kind === 2) points(putUint(takeUint()), letters, isCompressed)
    else {
      for (let parts = putUint(takeUint()); parts > 0; parts--) {
        if (kind === 3) points(putUint(takeUint()), letters, isCompressed)
        else if (view.getUint8(at++) === MEMBER) geometry()
        else throw new RangeError('a member without its mark')
      }
    }
  }
  geometry()
  return new Uint8Array(out.buffer, 0, end)
}
