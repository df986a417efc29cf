import type { Database } from '@terrane/database'
import type { MadeTable } from '../../import-file.ts'
import { differenceOf, isCurved, isEmpty, promoted, readParts, wkbOfBlob } from './geometry.ts'
import type { NativeLayer } from './native.ts'

/** Something that is in the file by native's word, and not or otherwise in the table. */
export interface Difference {
  readonly kind: 'layers' | 'rows' | 'columns' | 'type' | 'value' | 'srid' | 'geometry' | 'dimensions' | 'curve'
  readonly what: string
}

/** How near coordinates must be, and whether values that native lacks are no difference. */
export interface Tolerance {
  readonly tolerance: number
  readonly ownGivesMore: boolean
}

/** Types that hold all that a type of GeoPackage can. */
const HELD_BY: Readonly<Record<string, readonly string[]>> = {
  BOOLEAN: ['bool'],
  TINYINT: ['int2', 'int4', 'int8'],
  SMALLINT: ['int2', 'int4', 'int8'],
  MEDIUMINT: ['int4', 'int8'],
  INT: ['int8', 'numeric'],
  INTEGER: ['int8', 'numeric'],
  FLOAT: ['float4', 'float8', 'numeric'],
  DOUBLE: ['float8', 'numeric'],
  REAL: ['float8', 'numeric'],
  TEXT: ['text', 'jsonb', 'time'],
  JSON: ['jsonb', 'text'],
  BLOB: ['bytea'],
  DATE: ['date'],
  DATETIME: ['timestamptz', 'timestamp'],
}
/** Columns of a CSV that say the geometry once more: an import leaves them out. */
const GEOMETRY_TEXT = /^(?:wkt|geom|geometry|the_geom|_wkt)$/i
const EXAMPLES = 3

/** Compares the layers of a file, as native has them, with the tables that it became. */
export async function compareLayers(
  database: Database,
  theirs: readonly NativeLayer[],
  ours: readonly MadeTable[],
  { tolerance, ownGivesMore }: Tolerance,
): Promise<Difference[]> {
  const filled = theirs.filter(({ rows }) => rows > 0)
  const differences: Difference[] = []
  const left = [...ours]
  const named = filled.map((layer) => {
    const at = left.findIndex((table) => table.layer.toLowerCase() === layer.name.toLowerCase())
    return at < 0 ? undefined : left.splice(at, 1)[0]
  })
  const isSameNumber = named.filter((table) => table === undefined).length === left.length
  for (const [i, layer] of filled.entries()) {
    const table = named[i] ?? (isSameNumber ? left.shift() : undefined)
    if (table === undefined) differences.push({ kind: 'layers', what: `${layer.name} is missing` })
    else differences.push(...(await compareTable(database, layer, table, { tolerance, ownGivesMore })))
  }
  return differences
}

async function compareTable(
  database: Database,
  layer: NativeLayer,
  table: MadeTable,
  { tolerance, ownGivesMore }: Tolerance,
): Promise<Difference[]> {
  const found = new Map<string, Difference[]>()
  const add = (kind: Difference['kind'], what: string) => {
    const list = found.get(kind) ?? []
    found.set(kind, list)
    if (list.length < EXAMPLES) list.push({ kind, what: `${layer.name}: ${what}` })
  }
  const all = () => [...found.values()].flat()
  if (table.rows !== layer.rows) add('rows', `${table.rows} rows, not ${layer.rows}`)
  const shown = (name: string, type: string) =>
    !isNested(name, type, table) && !(layer.hasGeometry && GEOMETRY_TEXT.test(name))
  const pairs = pairColumns(layer.columns, table.columns, shown)
  const names = layer.columns.map(({ name, type }, c) => {
    const own = pairs[c]!
    if (own === null && shown(name, type)) add('columns', `${name} (${type}) is missing`)
    else if (own !== null && !isHeld(type, own.type)) add('type', `${name} is ${own.type}, not ${type}`)
    return own
  })
  const hasGeometry = table.geometry_type !== null
  if (layer.hasGeometry && !hasGeometry && [...layer.read()].some((row) => row.at(-1) !== null))
    add('geometry', 'no column of geometries')
  if (
    layer.hasGeometry &&
    hasGeometry &&
    typeof layer.srid === 'number' &&
    table.srid !== null &&
    table.srid !== layer.srid
  )
    add('srid', `${table.srid}, not ${layer.srid}`)
  if (table.rows !== layer.rows) return all()
  const key = await keyOf(database, table)
  const columns = names.map((own) => (own ? `"${own.name.replaceAll('"', '""')}"::text` : 'null'))
  const geometry = hasGeometry ? `st_asbinary(geom)` : 'null'
  const [schema, name] = [
    table.table.slice(0, table.table.indexOf('.')),
    table.table.slice(table.table.indexOf('.') + 1),
  ]
  const { rows } = await database.query<{ v: (string | null)[]; g: Buffer | null }>(
    `select array[${[...columns, 'null'].join(', ')}]::text[] as v, ${geometry} as g
     from "${schema}"."${name.replaceAll('"', '""')}" order by "${key}"`,
  )
  let i = 0
  for (const theirs of layer.read()) {
    const row = rows[i++]!
    for (const [c, { name: column, type }] of layer.columns.entries()) {
      if (ownGivesMore && theirs[c] === null) continue
      if (names[c] && !isSame(row.v[c] ?? null, theirs[c], type, names[c].type)) {
        add('value', `row ${i}, ${column}: ${show(row.v[c])}, not ${show(theirs[c])}`)
      }
    }
    if (layer.hasGeometry && hasGeometry) {
      const difference = compareGeometry(row.g, theirs.at(-1) as Uint8Array | null, table.geometry_type, tolerance)
      const isMore = ownGivesMore && theirs.at(-1) === null
      if (difference && !isMore) add(difference.kind, `row ${i}: ${difference.what}`)
    }
  }
  return all()
}

async function keyOf(database: Database, { table }: MadeTable): Promise<string> {
  const at = table.indexOf('.')
  const { rows } = await database.query<{ name: string }>(
    `select a.attname as name from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
     where i.indisprimary and i.indrelid = format('%I.%I', $1::text, $2::text)::regclass`,
    [table.slice(0, at), table.slice(at + 1)],
  )
  return rows[0]!.name
}

/** Pairs columns by name, and what is left over in order: names that are equal but for case, or long, are changed. */
function pairColumns(
  theirs: NativeLayer['columns'],
  ours: MadeTable['columns'],
  shown: (name: string, type: string) => boolean,
): (MadeTable['columns'][number] | null)[] {
  const left = [...ours]
  const take = (at: number) => (at < 0 ? null : left.splice(at, 1)[0]!)
  const pairs = theirs.map(({ name, type }) => {
    if (!shown(name, type)) return undefined
    const wanted = name.toLowerCase().replaceAll(/[-#]/g, '_')
    return take(left.findIndex((column) => column.name === wanted))
  })
  const missing = pairs.filter((pair) => pair === null).length
  const all = missing <= left.length ? pairs.map((pair) => (pair === null ? take(0) : pair)) : pairs
  return all.map((pair) => pair ?? null)
}

/** Members of a nested value are columns of native's, and JSON in ours; a geometry that it takes for bytes is one here. */
function isNested(name: string, type: string, { columns, geometry_type }: MadeTable): boolean {
  const parent = name.split('.')[0]!.toLowerCase()
  if (name.includes('.') && columns.some((column) => column.name === parent && column.type === 'jsonb')) return true
  return type === 'BLOB' && /^geo(metry|graphy)$/.test(name) && geometry_type !== null
}

function isHeld(type: string, own: string): boolean {
  return (HELD_BY[type.replace(/\(.*/, '')] ?? ['text']).includes(own)
}

function isSame(ours: string | null, theirs: unknown, type: string, own: string): boolean {
  if (theirs === null || ours === null) return ours === null && theirs === null
  const kind = type.replace(/\(.*/, '')
  // A letter or a word for truth that stays a text.
  if (own === 'text' && kind !== 'TEXT' && /^(true|false|[TFYN?])$/i.test(ours)) return true
  if (theirs instanceof Uint8Array) return ours === `\\x${Buffer.from(theirs).toString('hex')}`
  if (typeof theirs === 'bigint' && own === 'bool') return ours === (theirs === 0n ? 'false' : 'true')
  if (typeof theirs === 'bigint')
    return /^-?\d+$/.test(ours) ? BigInt(ours) === theirs : Number(ours) === Number(theirs)
  if (typeof theirs === 'number') {
    const number = Number(ours.replace(/^(-?)Infinity$/, '$1Infinity'))
    if (Number.isNaN(theirs)) return Number.isNaN(number)
    if (own === 'numeric' && Math.abs(number - theirs) <= Math.abs(theirs) * 1e-15) return true
    return number === theirs || (own === 'float4' && Math.fround(number) === Math.fround(theirs))
  }
  const text = textOf(theirs)
  if (kind === 'DATETIME') return instantOf(ours) === instantOf(text)
  if (kind === 'JSON' || own === 'jsonb') return isSameJson(ours, text)
  return ours === text
}

/** Milliseconds; the text of PostgreSQL is in UTC. */
function instantOf(text: string): number | string {
  const ms = Date.parse(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'))
  return Number.isNaN(ms) ? text : ms
}

function isSameJson(ours: string, theirs: string): boolean {
  return sorted(parsed(ours)) === sorted(parsed(theirs))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}

function compareGeometry(
  ours: Buffer | null,
  blob: Uint8Array | null,
  columnType: string,
  tolerance: number,
): Difference | null {
  if (blob === null || ours === null) {
    if (blob === null && ours === null) return null
    return { kind: 'geometry', what: ours === null ? 'no geometry' : 'a geometry where there is none' }
  }
  const [own, parts] = [readParts(ours), readParts(wkbOfBlob(blob))]
  if (isCurved(parts)) return { kind: 'curve', what: `code ${own.code}, not ${parts.code}` }
  if (isEmpty(own) && isEmpty(parts)) return null
  const theirs =
    columnType.startsWith('Multi') || columnType.startsWith('Geometry')
      ? promoted(parts, columnType.startsWith('MultiPoint'))
      : parts
  const what = differenceOf(own, theirs, tolerance)
  if (what !== null) return { kind: 'geometry', what }
  return own.dimensions === theirs.dimensions
    ? null
    : { kind: 'dimensions', what: `${own.dimensions}, not ${theirs.dimensions}` }
}

function show(value: unknown): string {
  return value === null || value === undefined ? 'null' : JSON.stringify(textOf(value)).slice(0, 80)
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'bigint' ? value.toString() : JSON.stringify(value)
}
