import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { isoType, wkbHead } from '@terrane/core/wkb'
import { Warnings } from '@terrane/core/errors'
import { conversionFailed } from '../errors.ts'
import {
  BatchBuilder,
  type FeatureBatch,
  type FeatureReader,
  type Field,
  type FieldType,
  type LayerSchema,
} from '../feature-stream.ts'
import { NUMBERS, cellOf, quoted } from './gpkg-cells.ts'
import { lackingColumns, withNaN } from './missing-numbers.ts'
import { openSqlite } from './open-sqlite.ts'
import type { ReadRequest, TypesOfLayers } from './protocol.ts'
import { TypeGuess, kindOfCell } from './value-types.ts'

/** Bytes of the envelope by its code in the flags of a geometry. */
const ENVELOPE_BYTES = [0, 32, 48, 48, 64]
const HEAD_BYTES = 8
/** Replacement character for bytes that are not UTF-8. */
const UNREADABLE = '\ufffd'
const UNREADABLE_TEXTS =
  'Texts have characters that cannot be read, because they are in another encoding: send encoding, or the file as UTF-8.'
/** Byte order and type of a geometry in WKB. */
const WKB_HEAD_BYTES = 5

export const TYPES: Readonly<Record<string, FieldType>> = {
  BOOLEAN: 'bool',
  TINYINT: 'int2',
  SMALLINT: 'int2',
  MEDIUMINT: 'int4',
  INT: 'int8',
  INTEGER: 'int8',
  FLOAT: 'float4',
  DOUBLE: 'float8',
  REAL: 'float8',
  BLOB: 'bytea',
  DATE: 'date',
  DATETIME: 'timestamptz',
}

/** Names of fields with identifiers, which stay texts. */
const IDENTIFIERS = new Set(['fid', 'gml_id'])
/** Types that texts of a source without types may have. */
const GUESSED: readonly FieldType[] = [...NUMBERS, 'bool', 'date', 'time', 'timestamp', 'timestamptz']
/** Fields with the corners of GML's box around a feature; they are left out because the geometry has them. */
const OF_BOX = new Set(['lowerCorner', 'upperCorner'])

export interface Table {
  readonly name: string
  readonly geometry: string | null
  readonly schema: LayerSchema
}

/** Opens a GeoPackage (OGC 12-128r19): its tables of features and of attributes. */
export function openGpkg({
  path,
  types = {},
  isUntyped = false,
  isWorkbook = false,
  missing,
}: Omit<ReadRequest, 'format'>): FeatureReader {
  const database = openSqlite(path)
  const warnings = new Warnings()
  // Cells of a workbook have no zone.
  const declared = isWorkbook ? { ...TYPES, DATETIME: 'timestamp' as const } : TYPES
  const tables = listTables(database, {
    types,
    guesses: isUntyped ? GUESSED : isWorkbook ? ['time'] : [],
    leftOut: isUntyped ? OF_BOX : new Set(),
    declared,
  })
  warnOfOthers(database, warnings)
  const layers = tables.map(({ schema }) => schema)
  return {
    layers:
      missing === 'null or NaN'
        ? layers.map((layer) => ({ ...layer, lacking: lackingColumns(database, layer) }))
        : layers,
    read: (layer) => {
      const rows = readRows(database, tables[layer]!, warnings)
      return missing === 'NaN' ? withNaN(rows, layers[layer]!) : rows
    },
    takeWarnings: () => warnings.take(),
  }
}

/** Options for finding the types of columns. */
interface Typing {
  readonly types: TypesOfLayers
  /** Types that texts may become. */
  readonly guesses: readonly FieldType[]
  /** Names of fields that are left out, because they add no information. */
  readonly leftOut: ReadonlySet<string>
  readonly declared: typeof TYPES
}

function listTables(database: DatabaseSync, { types, guesses, leftOut, declared }: Typing): Table[] {
  // A file without features need not have the table of their geometries.
  const hasGeometries = database.prepare(`select 1 from sqlite_master where name = 'gpkg_geometry_columns'`).get()
  const found = database
    .prepare(
      hasGeometries
        ? `select c.table_name as name, g.column_name as geometry,
             case when upper(s.organization) = 'EPSG' then s.organization_coordsys_id end as srid
           from gpkg_contents c
           left join gpkg_geometry_columns g on g.table_name = c.table_name
           left join gpkg_spatial_ref_sys s on s.srs_id = g.srs_id
           where c.data_type in ('features', 'attributes') order by c.rowid`
        : `select table_name as name, null as geometry, null as srid from gpkg_contents
           where data_type in ('features', 'attributes') order by rowid`,
    )
    .all() as { name: string; geometry: string | null; srid: number | null }[]
  if (found.length === 0 && database.prepare(`select 1 from gpkg_contents where data_type like '%tile%'`).get()) {
    throw conversionFailed({ reason: 'the GeoPackage holds map tiles and no features' })
  }
  return found.map(({ name, geometry, srid }) => {
    const own = new Map(Object.entries(types[name] ?? {}))
    const said = fieldsOf(database, name, geometry, declared).map((field) =>
      field.type === 'text' || own.get(field.name) === 'timestamp'
        ? { ...field, type: own.get(field.name) ?? field.type }
        : field,
    )
    const kept = said.filter((field) => !leftOut.has(field.name))
    const fields = guesses.length > 0 ? guessed(database, name, kept, { allowed: guesses, known: own }) : kept
    const { rows, geometryTypes } = survey(database, name, geometry)
    return { name, geometry, schema: { name, rows, fields, hasGeometry: geometry !== null, geometryTypes, srid } }
  })
}

/**
 * Warns of non-empty tables that `gpkg_contents` does not list. Virtual tables are ignored, because their rows are in
 * other tables.
 */
function warnOfOthers(database: DatabaseSync, warnings: Warnings): void {
  const others = database
    .prepare(
      `select name from sqlite_master where type = 'table' and name not glob 'gpkg_*' and name not glob 'rtree_*'
       and name not glob 'sqlite_*' and sql not like 'create virtual table%' and lower(name) not in
         (select lower(table_name) from gpkg_contents where data_type in ('features', 'attributes', 'tiles', '2d-gridded-coverage'))`,
    )
    .all()
    .map(({ name }) => String(name))
    .filter((name) => database.prepare(`select 1 from ${quoted(name)} limit 1`).get() !== undefined)
  const message = 'Tables that the contents of the file do not list as features or attributes were left out.'
  if (others.length > 0) warnings.add('TABLES_LEFT_OUT', message, others.length, others)
}

/** The fields of a table, by the types that its columns are declared to have. */
export function fieldsOf(database: DatabaseSync, table: string, geometry: string | null, declared = TYPES): Field[] {
  const json = jsonColumns(database, table)
  const columns = database.prepare(`select name, type, pk from pragma_table_info(?)`).all(table) as {
    name: string
    type: string
    pk: number
  }[]
  return columns
    .filter(({ name, type, pk }) => name !== geometry && !(pk === 1 && /^INTEGER$/i.test(type)))
    .map(({ name, type }) => {
      const declaredType = type.split('(', 1)[0]!.trim().toUpperCase()
      const known = declaredType === '' ? typeOfValues(database, table, name) : (declared[declaredType] ?? 'text')
      return { name, type: json.has(name) ? 'jsonb' : known }
    })
}

/** The type that the values of a column without a declared one have, such as an expression of a view. */
function typeOfValues(database: DatabaseSync, table: string, name: string): FieldType {
  const rows = database.prepare(`select distinct typeof(${quoted(name)}) as type from ${quoted(table)}`).all()
  const types = rows.map(({ type }) => String(type)).filter((type) => type !== 'null')
  const only = (...wanted: string[]) => types.length > 0 && types.every((type) => wanted.includes(type))
  if (only('blob')) return 'bytea'
  return only('integer') ? 'int8' : only('integer', 'real') ? 'float8' : 'text'
}

/**
 * Gives text fields the common type of their values, if it is an allowed one. Dates and times by schema are checked,
 * too: XML allows a time zone after them, and such fields become text.
 */
function guessed(
  database: DatabaseSync,
  table: string,
  fields: readonly Field[],
  { allowed, known }: { readonly allowed: readonly FieldType[]; readonly known: ReadonlyMap<string, FieldType> },
): Field[] {
  const texts = fields.filter(({ name, type }) =>
    known.has(name) ? type === 'date' || type === 'time' : type === 'text' && !IDENTIFIERS.has(name),
  )
  if (texts.length === 0) return [...fields]
  const guesses = new Map(texts.map(({ name }) => [name, new TypeGuess()]))
  const statement = database.prepare(`select ${texts.map(({ name }) => quoted(name)).join(', ')} from ${quoted(table)}`)
  for (const row of statement.iterate()) {
    for (const [name, guess] of guesses) {
      const kind = row[name] === null ? null : kindOfCell(String(row[name]))
      if (kind !== null) guess.addKind(kind)
    }
  }
  return fields.map((field) => {
    const guess = guesses.get(field.name)
    if (guess === undefined || guess.isEmpty) return field
    return { ...field, type: allowed.includes(guess.type) ? guess.type : 'text' }
  })
}

/** Columns that are JSON by the extension for schemas. */
function jsonColumns(database: DatabaseSync, table: string): ReadonlySet<string> {
  const there = database.prepare(`select 1 from sqlite_master where name = 'gpkg_data_columns'`).get()
  if (!there) return new Set()
  const rows = database
    .prepare(
      `select column_name as name from gpkg_data_columns where table_name = ? and mime_type = 'application/json'`,
    )
    .all(table) as { name: string }[]
  return new Set(rows.map(({ name }) => name))
}

/** Counts the rows of a table and finds the types of its geometries, by the first bytes of their WKB. */
function survey(database: DatabaseSync, table: string, geometry: string | null) {
  const { rows } = database.prepare(`select count(*) as rows from ${quoted(table)}`).get() as { rows: number }
  if (geometry === null) return { rows, geometryTypes: [] }
  const blob = quoted(geometry)
  // Bits 1 to 3 of the flags; a byte of 0 is not a character.
  const envelope = `(coalesce(unicode(cast(substr(${blob}, 4, 1) as text)), 0) >> 1) & 7`
  const sizes = ENVELOPE_BYTES.map((bytes, code) => `when ${code} then ${bytes}`).join(' ')
  const heads = database
    .prepare(
      `select distinct substr(${blob}, 1, 2) as magic,
         substr(${blob}, ${HEAD_BYTES + 1} + case ${envelope} ${sizes} else 0 end, ${WKB_HEAD_BYTES}) as head
       from ${quoted(table)} where typeof(${blob}) = 'blob'`,
    )
    .all() as { magic: Uint8Array; head: Uint8Array }[]
  const types = new Set<number>()
  for (const { magic, head } of heads) {
    const found = magic[0] === 0x47 && magic[1] === 0x50 ? wkbHead(head) : null
    if (found) types.add(isoType(found))
  }
  return { rows, geometryTypes: [...types] }
}

/**
 * The rows of a table.
 *
 * @param wkbOf converts a geometry to WKB; null or undefined for an invalid one
 */
export function* readRows(
  database: DatabaseSync,
  table: Table,
  warnings: Warnings,
  wkbOf: (value: SQLOutputValue) => Uint8Array = wkbIn,
): Generator<FeatureBatch> {
  const { fields } = table.schema
  const names = [...(table.geometry === null ? [] : [table.geometry]), ...fields.map(({ name }) => name)]
  const list = names.length > 0 ? names.map(quoted).join(', ') : '1'
  const statement = database.prepare(`select ${list} from ${quoted(table.name)}`)
  statement.setReturnArrays(true)
  statement.setReadBigInts(true)
  const builder = new BatchBuilder(fields.length)
  const first = table.geometry === null ? 0 : 1
  let row = 0
  for (const values of statement.iterate() as Iterable<unknown> as Iterable<SQLOutputValue[]>) {
    row++
    const geometry = first === 1 ? values[0]! : null
    const wkb = geometry === null ? null : wkbOf(geometry)
    if (wkb?.length === 0) {
      warnings.count('GEOMETRY_UNREADABLE', 'Geometries that cannot be read were left out of their rows.', row)
    }
    const cells = fields.map(({ type, name }, i) => {
      const value = values[first + i]!
      const cell = cellOf(value, type)
      if (cell === undefined)
        warnings.count('VALUES_UNREADABLE', `Values are not of the type of their column, as of ${name}.`, row)
      if (typeof cell === 'string' && cell.includes(UNREADABLE)) warnings.count('TEXT_NOT_UTF8', UNREADABLE_TEXTS, row)
      return cell
    })
    builder.add(wkb && wkb.length > 0 ? wkb : null, cells)
    if (builder.isFull) yield builder.take()
  }
  if (!builder.isEmpty) yield builder.take()
}

/** The WKB in a geometry of the format. */
function wkbIn(blob: SQLOutputValue): Uint8Array {
  if (!(blob instanceof Uint8Array) || blob.length < HEAD_BYTES || blob[0] !== 0x47 || blob[1] !== 0x50)
    return new Uint8Array()
  return blob.subarray(HEAD_BYTES + (ENVELOPE_BYTES[(blob[3]! >> 1) & 7] ?? 0))
}
