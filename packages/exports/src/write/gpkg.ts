import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { Queryable } from '@terrane/database'
import type { Losses } from '../losses.ts'
import { unusedName } from '../names.ts'
import type { ExportRow } from '../rows.ts'
import { ShapeFacts } from '../shape-facts.ts'
import type { ExportColumn, ExportSource, Kind } from '../source.ts'
import { isoOrNull, toMillis } from '../times.ts'

/** `GPKG`, and version 1.3 (OGC 12-128r19, 1.1.1). */
const APPLICATION_ID = 0x47504b47
const USER_VERSION = 10300
const KEY = 'fid'
/** Table names that SQLite and the format reserve, in any case. */
const RESERVED = /^(sqlite|gpkg|rtree)_/i
const EXACT_DIGITS = 15
const WGS84 = 4326
/** Flags of a geometry. */
const LITTLE = 1
const EMPTY = 16
const CURVES: Readonly<Record<number, string>> = {
  8: 'CIRCULARSTRING',
  9: 'COMPOUNDCURVE',
  10: 'CURVEPOLYGON',
  11: 'MULTICURVE',
  12: 'MULTISURFACE',
}
const NAMES = ['POINT', 'LINESTRING', 'POLYGON', 'MULTIPOINT', 'MULTILINESTRING', 'MULTIPOLYGON', 'GEOMETRYCOLLECTION']

const TYPES: Readonly<Record<Exclude<Kind, 'numeric'>, string>> = {
  int2: 'SMALLINT',
  int4: 'MEDIUMINT',
  int8: 'INTEGER',
  float4: 'FLOAT',
  float8: 'DOUBLE',
  bool: 'BOOLEAN',
  text: 'TEXT',
  json: 'TEXT',
  date: 'DATE',
  time: 'TEXT',
  timestamptz: 'DATETIME',
  timestamp: 'DATETIME',
  bytea: 'BLOB',
}

const TABLES = `
CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT NOT NULL, srs_id INTEGER PRIMARY KEY, organization TEXT NOT NULL,
  organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT);
CREATE TABLE gpkg_contents (table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT UNIQUE,
  description TEXT DEFAULT '', last_change DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
  min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER REFERENCES gpkg_spatial_ref_sys(srs_id));
CREATE TABLE gpkg_geometry_columns (table_name TEXT NOT NULL, column_name TEXT NOT NULL, geometry_type_name TEXT NOT NULL,
  srs_id INTEGER NOT NULL, z TINYINT NOT NULL, m TINYINT NOT NULL,
  CONSTRAINT pk_geom_cols PRIMARY KEY (table_name, column_name), CONSTRAINT uk_gc_table_name UNIQUE (table_name),
  CONSTRAINT fk_gc_tn FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name),
  CONSTRAINT fk_gc_srs FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys (srs_id));
CREATE TABLE gpkg_extensions (table_name TEXT, column_name TEXT, extension_name TEXT NOT NULL, definition TEXT NOT NULL,
  scope TEXT NOT NULL, CONSTRAINT ge_tce UNIQUE (table_name, column_name, extension_name));
CREATE TABLE gpkg_data_columns (table_name TEXT NOT NULL, column_name TEXT NOT NULL, name TEXT, title TEXT,
  description TEXT, mime_type TEXT, constraint_name TEXT,
  CONSTRAINT pk_gdc PRIMARY KEY (table_name, column_name), CONSTRAINT gdc_tn UNIQUE (table_name, name));
INSERT INTO gpkg_spatial_ref_sys VALUES ('Undefined cartesian SRS', -1, 'NONE', -1, 'undefined', null),
  ('Undefined geographic SRS', 0, 'NONE', 0, 'undefined', null);
CREATE TABLE gpkg_data_column_constraints (constraint_name TEXT NOT NULL, constraint_type TEXT NOT NULL, value TEXT,
  min NUMERIC, min_is_inclusive BOOLEAN, max NUMERIC, max_is_inclusive BOOLEAN, description TEXT,
  CONSTRAINT gdcc_ntv UNIQUE (constraint_name, constraint_type, value));
INSERT INTO gpkg_extensions VALUES
  ('gpkg_data_columns', null, 'gpkg_schema', 'http://www.geopackage.org/spec121/#extension_schema', 'read-write'),
  ('gpkg_data_column_constraints', null, 'gpkg_schema', 'http://www.geopackage.org/spec121/#extension_schema', 'read-write');`

/** Writes a GeoPackage of one layer, geometries as WKB in the system of the table; returns their common facts. */
export async function writeGpkg(
  systems: readonly ReferenceSystem[],
  given: ExportSource,
  batches: AsyncIterable<readonly ExportRow[]>,
  path: string,
  losses: Losses,
): Promise<ShapeFacts> {
  const facts = new ShapeFacts()
  const source = renamed(given, losses)
  using file = new DatabaseSync(path)
  file.exec(`pragma application_id = ${APPLICATION_ID}; pragma user_version = ${USER_VERSION};
    pragma journal_mode = off; pragma synchronous = off; begin; ${TABLES}`)
  addSystems(file, systems)
  const { columns, geometry, name } = source
  const taken = columns.map((column) => column.name)
  const place = unusedName(geometry?.name ?? 'geom', taken)
  const key = unusedName(KEY, [...taken, place])
  const defined = columns.map((column) => `${quoted(column.name)} ${typeOf(column, losses)}`)
  const shape = geometry ? [`${quoted(place)} ${shapeOf(geometry)}`] : []
  file.exec(
    `CREATE TABLE ${quoted(name)} (${[`${quoted(key)} INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL`, ...defined, ...shape].join(', ')})`,
  )
  describe(file, source, given.name, place)
  const list = [...columns.map((column) => column.name), ...(geometry ? [place] : [])]
  const marks = list.map(() => '?').join(', ')
  const sql = list.length > 0 ? `(${list.map(quoted).join(', ')}) values (${marks})` : 'default values'
  const insert = file.prepare(`insert into ${quoted(name)} ${sql}`)
  for await (const rows of batches) {
    for (const { values, geometry: wkb } of rows) {
      const cells = columns.map((column, i) => cellOf(column, values[i]!, losses))
      if (geometry) {
        const isEmpty = facts.add(wkb as Uint8Array | null) === null
        cells.push(wkb === null ? null : blobOf(wkb as Uint8Array, geometry.srid ?? WGS84, isEmpty))
      }
      insert.run(...cells)
    }
  }
  if (geometry) declareCurves(file, name, place, facts)
  if (facts.bounds)
    file.prepare('update gpkg_contents set min_x = ?, min_y = ?, max_x = ?, max_y = ?').run(...facts.bounds)
  file.exec('commit')
  return facts
}

/** A reference system as the server has it. */
export interface ReferenceSystem {
  readonly srid: number
  readonly by: string
  readonly code: number
  readonly wkt: string
}

/** The reference systems that a GeoPackage of a source describes. */
export async function readSystems(
  database: Queryable,
  { geometry }: ExportSource,
): Promise<readonly ReferenceSystem[]> {
  const srids = [...new Set([WGS84, geometry?.srid ?? WGS84])]
  const { rows } = await database.query<ReferenceSystem & Record<string, unknown>>(
    'select srid, auth_name as by, auth_srid as code, srtext as wkt from spatial_ref_sys where srid = any ($1)',
    [srids],
  )
  return rows
}

function addSystems(file: DatabaseSync, systems: readonly ReferenceSystem[]): void {
  const insert = file.prepare('insert into gpkg_spatial_ref_sys values (?, ?, ?, ?, ?, null)')
  for (const { srid, by, code, wkt } of systems) insert.run(`${by}:${code}`, srid, by, code, wkt)
}

function describe(
  file: DatabaseSync,
  { name, geometry, columns }: ExportSource,
  identifier: string,
  place: string,
): void {
  const srid = geometry ? (geometry.srid ?? WGS84) : null
  file
    .prepare('insert into gpkg_contents (table_name, data_type, identifier, srs_id) values (?, ?, ?, ?)')
    .run(name, geometry ? 'features' : 'attributes', identifier, srid)
  if (geometry) {
    const has = (thousands: readonly number[]) =>
      geometry.shapes.some((type) => thousands.includes(Math.floor(type / 1000)))
    file
      .prepare('insert into gpkg_geometry_columns values (?, ?, ?, ?, ?, ?)')
      .run(name, place, shapeOf(geometry), srid, has([1, 3]) ? 2 : 0, has([2, 3]) ? 2 : 0)
  }
  const json = file.prepare(
    `insert into gpkg_data_columns (table_name, column_name, mime_type) values (?, ?, 'application/json')`,
  )
  for (const column of columns) if (column.kind === 'json') json.run(name, column.name)
}

/** The source with names that the file can hold: SQLite reads column names without regard to the case of A to Z. */
function renamed(source: ExportSource, losses: Losses): ExportSource {
  const message = 'Names that a GeoPackage cannot hold were changed.'
  const name = RESERVED.test(source.name) ? `table_${source.name}` : source.name
  if (name !== source.name) losses.count('NAMES_CHANGED', message, source.name)
  const given = new Set(source.columns.map((column) => column.name.toLowerCase()))
  const taken = new Set<string>()
  const columns = source.columns.map((column) => {
    const isTaken = taken.has(column.name.toLowerCase())
    const own = isTaken ? unusedName(column.name, [...given, ...taken]) : column.name
    if (isTaken) losses.count('NAMES_CHANGED', message, column.name)
    taken.add(own.toLowerCase())
    return { ...column, name: own }
  })
  return { ...source, name, columns }
}

function typeOf(column: ExportColumn, losses: Losses): string {
  if (column.kind !== 'numeric') return TYPES[column.kind]
  if (isExact(column)) return 'DOUBLE'
  const message = 'Decimals of more digits than a number of the format holds became texts.'
  losses.count('DECIMALS_AS_TEXT', message, column.name)
  return 'TEXT'
}

/** Whether a double holds every value of a column of decimals. */
function isExact({ precision }: ExportColumn): boolean {
  return precision !== null && precision <= EXACT_DIGITS
}

function cellOf(column: ExportColumn, value: ExportRow['values'][number], losses: Losses): SQLInputValue {
  if (value === null) return null
  if (typeof value === 'boolean') return value ? 1 : 0
  switch (column.kind) {
    case 'bytea':
      return Buffer.from(value as string, 'hex')
    case 'int2':
    case 'int4':
    case 'int8':
      return BigInt(value)
    case 'numeric':
      return isExact(column) ? numberOf(Number(value), column, losses) : value
    case 'float4':
    case 'float8':
      return numberOf(value as number, column, losses)
    case 'date':
      return isoOrNull(value as string, column, losses)
    case 'timestamp':
    case 'timestamptz': {
      const iso = isoOrNull(value as string, column, losses)
      return iso === null ? null : toMillis(iso, column, losses)
    }
    default:
      return value
  }
}

/** SQLite has no NaN, and stores null for it. */
function numberOf(number: number, { name }: ExportColumn, losses: Losses): number | null {
  if (!Number.isNaN(number)) return number
  losses.count('NUMBERS_NOT_FINITE', 'The format has no word for NaN: it became null.', name)
  return null
}

/** Types beyond those of simple features are an extension each. */
function declareCurves(file: DatabaseSync, table: string, column: string, { types }: ShapeFacts): void {
  const insert = file.prepare(`INSERT INTO gpkg_extensions VALUES (?, ?, ?, ?, 'read-write')`)
  const definition = 'http://www.geopackage.org/spec121/#extension_geometry_types'
  for (const name of new Set(types.map((type) => CURVES[type % 1000])))
    if (name !== undefined) insert.run(table, column, `gpkg_geom_${name}`, definition)
}

/** WKB after the header of the format: magic, version, flags (little-endian, no envelope), reference system. */
function blobOf(wkb: Uint8Array, srid: number, isEmpty: boolean): Uint8Array {
  const blob = Buffer.alloc(8 + wkb.length)
  blob.write('GP', 0, 'latin1')
  blob[3] = isEmpty ? LITTLE | EMPTY : LITTLE
  blob.writeInt32LE(srid, 4)
  blob.set(wkb, 8)
  return blob
}

function shapeOf({ shapes }: NonNullable<ExportSource['geometry']>): string {
  const codes = [...new Set(shapes.map((type) => type % 1000))]
  return (codes.length === 1 && NAMES[codes[0]! - 1]) || 'GEOMETRY'
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
