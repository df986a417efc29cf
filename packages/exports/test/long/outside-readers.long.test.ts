import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { JobWarning } from '@terrane/contracts'
import { wholeSql } from '@terrane/database/scan'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findTable } from '../../src/index.ts'
import { WRITTEN, exportFile, type Written } from '../export-file.ts'
import { AWKWARD, TYPES, createSql } from './awkward-tables.ts'
import { randomTables } from './random-tables.ts'

// oxlint-disable-next-line node/no-process-env -- The command that runs Python with GDAL's bindings.
const [python = 'python3', ...start] = (process.env['GDAL_PYTHON'] ?? 'python3').split(' ')
const there = spawnSync(python, [...start, '-c', 'from osgeo import gdal']).status === 0

test.skipIf(there)('SKIPPED: no Python with GDAL, set GDAL_PYTHON to a command that runs one', () => {
  expect(there).toBe(false)
})

const SEED = 36
const TABLES = { ...AWKWARD, ...randomTables(SEED) }

interface Read {
  readonly name: string
  readonly error?: string
  readonly told: readonly string[]
  readonly fields: readonly (readonly [name: string, type: string])[]
  readonly rows: readonly { readonly values: readonly (string | null)[]; readonly geometry: string | null }[]
  readonly system: string | null
}

/** Endings by which GDAL knows the files. */
const ENDINGS: Readonly<Record<Written, string>> = {
  GeoJSON: 'geojson',
  GeoJSONSeq: 'geojsonl',
  CSV: 'csv',
  GeoParquet: 'parquet',
  FlatGeobuf: 'fgb',
  'FlatGeobuf with an index': 'index.fgb',
  GeoPackage: 'gpkg',
}
const FORMATS = WRITTEN.filter((format) => format !== 'GeoParquet')
/** Messages of the GeoPackage validator for valid files. */
const KNOWN: Readonly<Record<string, RegExp>> = {
  // It takes a bit of the envelope for the flag of empty geometries (OGC 12-128r19, 2.1.3).
  empties: /^Req 152: /,
  // Triangles and the like are no types of the format, though its readers take them.
  surfaces: /^Req 19: Invalid WKB geometry type/,
}
/** Drawn tables have empty geometries, too. */
const KNOWN_DRAWN = KNOWN['empties']!
/** RFC 7946 leaves it to readers whether a point without coordinates is one (3.1). */
const EMPTY_POINT = '0101000000000000000000f87f000000000000f87f'
const DEGREES = new Set<Written>(['GeoJSON', 'GeoJSONSeq', 'CSV', 'GeoParquet'])
/** Possible changes of a geometry; each is a warning. */
const OF_GEOMETRY =
  /^(CURVES_LINEARIZED|SURFACES_AS_POLYGONS|COLLECTIONS_FLATTENED|EMPTY_GEOMETRIES|EMPTY_PARTS_LEFT_OUT|DIMENSIONS_FILLED|MEASURES_LEFT_OUT|GEOMETRY_NOT_FINITE)$/

interface DuckDb {
  runAndReadAll(sql: string): Promise<{ getRowsJson(): (string | null)[][] }>
}
const peer = join(import.meta.dirname, '../../../../infra/peers/duckdb')
const hasDuckDb = existsSync(join(peer, 'node_modules'))

test.skipIf(hasDuckDb)(
  'SKIPPED: no DuckDB, install it by pnpm install --ignore-workspace in infra/peers/duckdb',
  () => {
    expect(hasDuckDb).toBe(false)
  },
)

let db: TestDatabase
let folder: string
const files = new Map<string, { readonly read: Read; readonly losses: readonly JobWarning[] }>()
beforeAll(async () => {
  db = await openTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'terrane-outside-'))
  await db.database.query(TYPES)
  for (const table of Object.keys(TABLES)) await db.database.query(createSql(table, TABLES))
  if (there) await readWithGdal()
})
afterAll(async () => {
  await db[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

async function readWithGdal(): Promise<void> {
  const lines: string[] = []
  const said = new Map<string, JobWarning[]>()
  for (const [t, table] of Object.keys(TABLES).entries()) {
    for (const format of FORMATS) {
      const name = `${t}.${ENDINGS[format]}`
      said.set(name, await exportFile(db.database, table, format, join(folder, name)))
      lines.push(JSON.stringify({ name, bytes: (await readFile(join(folder, name))).toString('base64') }))
    }
  }
  const script = await readFile(join(import.meta.dirname, 'gdal-reader.py'), 'utf8')
  const run = spawnSync(python, [...start, '-c', script], {
    input: lines.map((line) => `${line}\n`).join(''),
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  })
  for (const line of run.stdout.split('\n').slice(0, -1)) {
    const read = JSON.parse(line) as Read
    files.set(read.name, { read, losses: said.get(read.name)! })
  }
}

/** The rows of a table as texts, and their geometries as WKB in the system of the format. */
async function wantedRows(table: string, format: Written) {
  const source = await findTable(db.database, { schema: 'public', table })
  const place = source.geometry && `"${source.geometry.name}"::geometry`
  const isTransformed = DEGREES.has(format) || table === 'systems'
  const shape = place && (isTransformed ? `st_transform(${place}, 4326)` : place)
  const texts = source.columns.map(({ scan }, i) => `(${scan.sql})::text as c${i}`)
  const hasOrder = source.columns.some(({ name }) => name === 'n')
  const { rows } = await db.database.query<Record<string, string | null>>(
    `select ${[...texts, `${shape ? `encode(st_asbinary(${shape}, 'NDR'), 'hex')` : 'null'} as shape`].join(', ')}
     from ${wholeSql(source.from)}${hasOrder ? ' order by n' : ''}`,
  )
  return {
    geometry: source.geometry,
    columns: source.columns,
    at: source.columns.findIndex(({ name }) => name === 'n'),
    rows: rows.map((row) => ({ values: texts.map((_, i) => row[`c${i}`]!), geometry: row['shape']! })),
  }
}

/** Whether two texts have the same value. */
function isSame(wanted: string | null, got: string | null, format: Written, kind: string): boolean {
  if (wanted === got) return true
  // Some formats have one null, and no other for documents.
  if (kind === 'json' && wanted === 'null' && got === null) return format.startsWith('GeoJSON')
  if (wanted === null || got === null) return format === 'CSV' && (got ?? '') === (wanted ?? '')
  if (kind === 'text') return false
  if (kind === 'json') return isDeepStrictEqual(parsed(wanted), parsed(got))
  if (kind === 'bool') return /^(1|t)/.test(wanted) === /^(1|t)/.test(got)
  if (kind === 'bytea') return got === `\\x${wanted}`
  if (kind === 'time') return clockOf(wanted) === clockOf(got)
  if (kind.startsWith('timestamp')) {
    const cut = (text: string) => text.replace(/[+]00(:00)?$/, 'Z').replace(/(\.\d{3})\d{3}/, '$1')
    return cut(wanted) === cut(got)
  }
  const [a, b] = [wanted, got].map((text) => Number(text.replace(/inf$/, 'Infinity').replace('nan', 'NaN')))
  return Object.is(a, b) || Math.fround(a!) === b
}

/** JSON, or a text that is none. GDAL has no sign of the whole number -0. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text, (_, value: unknown) => (value === 0 ? 0 : value))
  } catch {
    return text
  }
}

/** A time of day to the millisecond. */
function clockOf(text: string): string {
  const [seconds = '', fraction = ''] = text.split('.')
  return `${seconds}.${fraction.padEnd(3, '0').slice(0, 3)}`
}

/** Whether two geometries are empty and of one type; GeoJSON has no dimensions without a position. */
function areEmpty(wanted: string | null, got: string | null): boolean {
  const [one, other] = [wanted, got].map((wkb) => Buffer.from(wkb ?? '', 'hex'))
  const isEmpty = (wkb: Buffer) => wkb.length === 9 && wkb.readUInt32LE(5) === 0
  return isEmpty(one!) && isEmpty(other!) && one!.readUInt32LE(1) % 1000 === other!.readUInt32LE(1) % 1000
}

/** The system that a file of a table says it is in. */
function systemOf(table: string): string {
  return { measures: 'EPSG:25832', metres: 'EPSG:25832', esri: 'ESRI:102013' }[table] ?? 'EPSG:4326'
}

/** Values that GDAL reads differently, without a warning. */
async function differences(table: string, format: Written): Promise<string[]> {
  const t = Object.keys(TABLES).indexOf(table)
  const { read, losses } = files.get(`${t}.${ENDINGS[format]}`)!
  const wanted = await wantedRows(table, format)
  // GDAL does not accept a file without lines.
  if (wanted.rows.length === 0 && format === 'GeoJSONSeq') return []
  if (read.error !== undefined) return [`unreadable: ${read.error}`]
  const told = read.told.filter((text) => !(KNOWN[table] ?? KNOWN_DRAWN).test(text))
  const found: string[] = told.map((text) => `told: ${text}`)
  const system = wanted.geometry && systemOf(table)
  if (!DEGREES.has(format) && read.system !== system) found.push(`system ${read.system}, not ${system}`)
  if (read.rows.length !== wanted.rows.length) return [`${read.rows.length} rows of ${wanted.rows.length}`]
  const order = [...read.rows]
  if (wanted.at >= 0) order.sort((a, b) => Number(a.values[wanted.at]) - Number(b.values[wanted.at]))
  const isOfGeometry = losses.some(({ code }) => OF_GEOMETRY.test(code))
  for (const [r, row] of wanted.rows.entries()) {
    const isEmptyPoint = format.startsWith('GeoJSON') && row.geometry === EMPTY_POINT && order[r]!.geometry === null
    const isEmpty = format.startsWith('GeoJSON') && areEmpty(row.geometry, order[r]!.geometry)
    if (row.geometry !== order[r]!.geometry && !isOfGeometry && !isEmptyPoint && !isEmpty)
      found.push(`geometry ${r}: ${row.geometry} → ${order[r]!.geometry}`)
    for (const [i, { name, kind }] of wanted.columns.entries()) {
      const got = order[r]!.values[i] ?? null
      const isSaid = losses.some(({ examples = [] }) => examples.includes(name))
      if (!isSaid && !isSame(row.values[i]!, got, format, kind))
        found.push(`${name} (${kind}) ${r}: ${row.values[i]} → ${got}`)
    }
  }
  return found
}

describe.runIf(there)('GDAL reads what the table holds, or a warning says what became of it', () => {
  test.each(Object.keys(TABLES).flatMap((table) => FORMATS.map((format) => [table, format] as const)))(
    '%s as %s',
    async (table, format) => {
      expect(await differences(table, format)).toEqual([])
    },
  )
})

/** Types that DuckDB has to see where a table has a kind of values. */
const DUCKDB_TYPES: Readonly<Record<string, RegExp>> = {
  int2: /^SMALLINT$/,
  int4: /^INTEGER$/,
  int8: /^BIGINT$/,
  float4: /^FLOAT$/,
  float8: /^DOUBLE$/,
  bool: /^BOOLEAN$/,
  numeric: /^(DECIMAL|VARCHAR)/,
  text: /^VARCHAR$/,
  json: /^JSON$/,
  date: /^DATE$/,
  time: /^TIME$/,
  timestamp: /^TIMESTAMP$/,
  timestamptz: /^TIMESTAMP WITH TIME ZONE$/,
  bytea: /^BLOB$/,
}

/** As the export has texts of times. */
function fromDuckDb(text: string | null, kind: string): string | null {
  if (text === null || !/^(date|timestamp)/.test(kind)) return text
  const [, day = '', era = '', clock = '', fraction = '', zone = ''] =
    /^(\d+-\d\d-\d\d)( \(BC\))?(?: (\d\d:\d\d:\d\d)(\.\d+)?)?([+]00)?$/.exec(text) ?? []
  const rest = kind === 'date' ? '' : `T${clock}.${fraction.slice(1).padEnd(6, '0')}${zone === '' ? '' : 'Z'}`
  return `${day}${rest}${era === '' ? '' : ' BC'}`
}

describe.runIf(hasDuckDb)('DuckDB reads GeoParquet as the table is, or a warning says what became of it', () => {
  let duckDb: DuckDb
  beforeAll(async () => {
    const { DuckDBInstance } = createRequire(join(peer, 'package.json'))('@duckdb/node-api') as {
      DuckDBInstance: { create(): Promise<{ connect(): Promise<DuckDb> }> }
    }
    duckDb = await (await DuckDBInstance.create()).connect()
    // Geometries as the bytes that they are, and times as the file has them.
    await duckDb.runAndReadAll('set enable_geoparquet_conversion = false')
    await duckDb.runAndReadAll(`set TimeZone = 'UTC'`)
  })

  test.each(Object.keys(TABLES))('%s', async (table) => {
    const path = join(folder, `${Object.keys(TABLES).indexOf(table)}.parquet`)
    const losses = await exportFile(db.database, table, 'GeoParquet', path)
    const { columns, geometry, rows } = await wantedRows(table, 'GeoParquet')
    const query = async (sql: string) => (await duckDb.runAndReadAll(sql)).getRowsJson()
    const described = await query(`describe select * from read_parquet('${path}')`)
    const names = described.map(([name]) => `"${name!.replaceAll('"', '""')}"`)
    const shape = geometry ? `lower(hex(${names[columns.length]!}))` : 'null'
    const texts = columns.map(({ kind }, i) =>
      kind === 'bytea' ? `'\\x' || lower(hex(${names[i]!}))` : `cast(${names[i]!} as varchar)`,
    )
    const order = columns.some(({ name }) => name === 'n') ? ' order by n' : ''
    const read = await query(`select ${[...texts, shape].join(', ')} from read_parquet('${path}')${order}`)
    expect(read.length).toBe(rows.length)
    const found: string[] = []
    const isOfGeometry = losses.some(({ code }) => OF_GEOMETRY.test(code))
    for (const [i, { name, kind }] of columns.entries()) {
      const type = described[i]![1]!
      if (!DUCKDB_TYPES[kind]!.test(type)) found.push(`${name} (${kind}) is ${type}`)
      const isSaid = losses.some(({ code, examples = [] }) => code !== 'DECIMALS_AS_TEXT' && examples.includes(name))
      for (const [r, row] of rows.entries()) {
        const got = fromDuckDb(read[r]![i]!, kind)
        const isEqual = row.values[i] === got || isSame(row.values[i]!, got, 'GeoParquet', kind)
        if (!isEqual && !isSaid) found.push(`${name} (${kind}) ${r}: ${row.values[i]} → ${got}`)
      }
    }
    for (const [r, row] of rows.entries()) {
      const got = read[r]!.at(-1)!
      if (row.geometry !== got && !isOfGeometry) found.push(`geometry ${r}: ${row.geometry} → ${got}`)
    }
    expect(found).toEqual([])
  })
})
