import type { ColumnType } from '@terrane/database'
import { conversionFailed } from './errors.ts'

/** A column of the converted layer. */
export interface DumpColumn {
  readonly name: string
  /** Type to load it as. */
  readonly type: ColumnType
  /** SQL type that it becomes after the load, where the loader has none for it. */
  readonly castTo: string | null
}

/** What stands before the rows. */
export interface DumpHeader {
  /** SRID of the geometries; 0 when unknown. */
  readonly srid: number
  /** PostGIS's name of the layer's geometry type in capitals; GEOMETRY for any. */
  readonly geometryType: string
  /** 2, or more with heights or measures. */
  readonly dimensions: number
  /** In the order of a row's values, the geometry column left out. */
  readonly columns: readonly DumpColumn[]
  /** Position of the geometry among the values; -1 when there is none. */
  readonly geometryAt: number
}

/** One text per column, geometry included, null for null; geometry as the hexadecimal text of EWKB. */
export type DumpRow = (string | null)[]

/** Name that the conversion gives the geometry column: no attribute has it. */
export const GEOMETRY_NAME = '__geometry__'

const NEWLINE = 10
const TAB = 9
const BACKSLASH = 92
const LONGEST_HEADER = 1 << 20

/**
 * Reads what GDAL's PGDump driver writes with COPY: statements that tell the columns, then rows. Nothing of it is ever
 * executed: names and types are taken from known statements, everything else is passed over.
 */
export class PgdumpReader {
  header: DumpHeader | null = null
  #rest: Buffer = Buffer.alloc(0)
  #statements: string[] = []
  #ended = false

  /**
   * Takes the next bytes and returns the rows they complete.
   *
   * @throws CONVERSION_FAILED when it is not such a dump
   */
  push(chunk: Buffer): DumpRow[] {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    if (!this.header && !this.#ended) bytes = this.#readHeader(bytes)
    const rows: DumpRow[] = []
    let at = 0
    while (this.header && !this.#ended) {
      const end = lineEnd(bytes, at)
      if (end < 0) break
      if (end - at === 2 && bytes[at] === BACKSLASH && bytes[at + 1] === 46) this.#ended = true
      else rows.push(splitRow(bytes, at, end))
      at = end + 1
    }
    this.#rest = this.#ended ? Buffer.alloc(0) : bytes.subarray(at)
    return rows
  }

  /** @throws CONVERSION_FAILED when the dump is cut off */
  end(): void {
    if (this.header && !this.#ended) throw conversionFailed({ reason: 'the conversion ended in the middle of a row' })
  }

  #readHeader(bytes: Buffer): Buffer {
    let at = 0
    for (let end = bytes.indexOf(NEWLINE, at); end >= 0; end = bytes.indexOf(NEWLINE, at)) {
      const statement = bytes.toString('utf8', at, end)
      at = end + 1
      if (!statement.startsWith('COPY ')) {
        this.#statements.push(statement)
        continue
      }
      this.header = headerOf(this.#statements, statement)
      return bytes.subarray(at)
    }
    if (bytes.length - at > LONGEST_HEADER) throw conversionFailed({ reason: 'the conversion gave no rows' })
    return bytes.subarray(at)
  }
}

function headerOf(statements: readonly string[], copy: string): DumpHeader {
  const types = new Map<string, string>()
  let srid = 0
  let geometryType = 'GEOMETRY'
  let dimensions = 2
  for (const statement of statements) {
    const added = /^ALTER TABLE .*? ADD COLUMN ("(?:[^"]|"")*") (.*);$/.exec(statement)
    if (added) types.set(unquoted(added[1]!), added[2]!)
    const geometry = /^SELECT AddGeometryColumn\(.*,(-?\d+),'(\w+)',(\d+)\);$/.exec(statement)
    if (!geometry) continue
    srid = Math.max(0, Number(geometry[1]))
    geometryType = geometry[2]!
    dimensions = Number(geometry[3])
  }
  const list = /\(((?:"(?:[^"]|"")*"(?:, )?)*)\) FROM STDIN;$/.exec(copy)?.[1]
  if (list === undefined) throw conversionFailed({ reason: 'the conversion names no columns' })
  const names = [...list.matchAll(/"(?:[^"]|"")*"/g)].map(([name]) => unquoted(name))
  const columns = names
    .filter((name) => name !== GEOMETRY_NAME)
    .map((name) => columnOf(name, types.get(name) ?? 'VARCHAR'))
  return { srid, geometryType, dimensions, columns, geometryAt: names.indexOf(GEOMETRY_NAME) }
}

/** Types of the dump that are loaded as text and cast on the server. */
const CAST =
  /^(date|time|bytea|timestamp( with(out)? time zone)?|(varchar|integer|int8|smallint|float8|real|boolean)\[\])$/i

function columnOf(name: string, sqlType: string): DumpColumn {
  const bare = sqlType
    .replace(/\s*\(.*\)/, '')
    .trim()
    .toLowerCase()
  if (CAST.test(bare)) return { name, type: 'text', castTo: bare }
  const known: Readonly<Record<string, ColumnType>> = {
    smallint: 'int2',
    integer: 'int4',
    int8: 'int8',
    real: 'float4',
    float8: 'float8',
    numeric: 'float8',
    boolean: 'bool',
    json: 'jsonb',
    jsonb: 'jsonb',
  }
  return { name, type: known[bare] ?? 'text', castTo: null }
}

function unquoted(name: string): string {
  return name.slice(1, -1).replaceAll('""', '"')
}

/** Position of the newline that ends a row; a newline after a backslash belongs to a value. -1 when none has come yet. */
function lineEnd(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(NEWLINE, start); end >= 0; end = bytes.indexOf(NEWLINE, end + 1)) {
    let backslashes = 0
    while (end - backslashes > start && bytes[end - backslashes - 1] === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return end
  }
  return -1
}

function splitRow(bytes: Buffer, start: number, end: number): DumpRow {
  const row: DumpRow = []
  for (let at = start; at <= end;) {
    let to = bytes.indexOf(TAB, at)
    // A tab within a value follows a backslash.
    while (to >= 0 && to < end && isEscaped(bytes, at, to)) to = bytes.indexOf(TAB, to + 1)
    if (to < 0 || to > end) to = end
    row.push(valueOf(bytes, at, to))
    at = to + 1
  }
  return row
}

function isEscaped(bytes: Buffer, start: number, at: number): boolean {
  let backslashes = 0
  while (at - backslashes > start && bytes[at - backslashes - 1] === BACKSLASH) backslashes++
  return backslashes % 2 === 1
}

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

function valueOf(bytes: Buffer, start: number, end: number): string | null {
  if (end - start === 2 && bytes[start] === BACKSLASH && bytes[start + 1] === 78) return null
  const text = bytes.toString('utf8', start, end)
  return text.includes('\\') ? text.replaceAll(/\\([\s\S])/g, (_, c: string) => ESCAPES[c] ?? c) : text
}
