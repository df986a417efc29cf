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
/** PostgreSQL takes no field of more than 1 GiB, and a text of V8 ends at half of that. */
const LONGEST_ROW = 1 << 28

/**
 * Reads what GDAL's PGDump driver writes with COPY: statements that tell the columns, then rows. Nothing of it is ever
 * executed: names and types are taken from known statements, everything else is passed over.
 */
export class PgdumpReader {
  header: DumpHeader | null = null
  readonly #lines = new LineBuffer()
  #statements: string[] = []
  #headerBytes = 0
  #ended = false

  /**
   * Takes the next bytes and returns the rows they complete.
   *
   * @throws CONVERSION_FAILED when it is not such a dump, or a row is larger than rows are
   */
  push(chunk: Buffer): DumpRow[] {
    const rows: DumpRow[] = []
    if (this.#ended) return rows
    this.#lines.push(chunk)
    for (let line = this.#next(); line; line = this.#next()) {
      if (!this.header) this.#readStatement(line)
      else if (line.length === 2 && line[0] === BACKSLASH && line[1] === 46) {
        this.#ended = true
        break
      } else rows.push(splitRow(line))
    }
    if (this.#headerBytes > LONGEST_HEADER) throw conversionFailed({ reason: 'the conversion gave no rows' })
    if (this.#lines.pending > LONGEST_ROW) {
      throw conversionFailed({ reason: `a feature takes more than ${LONGEST_ROW} bytes as text` })
    }
    return rows
  }

  /** @throws CONVERSION_FAILED when the dump is cut off */
  end(): void {
    if (this.header && !this.#ended) throw conversionFailed({ reason: 'the conversion ended in the middle of a row' })
  }

  /** The next row, or statement when the header is not complete: only in rows does a backslash hide a newline. */
  #next(): Buffer | null {
    return this.#lines.next(this.header !== null)
  }

  #readStatement(line: Buffer): void {
    const statement = line.toString('utf8')
    if (statement.startsWith('COPY ')) this.header = headerOf(this.#statements, statement)
    else {
      this.#statements.push(statement)
      this.#headerBytes += line.length
    }
  }
}

/** Cuts bytes into lines in linear time, however long the lines are. */
class LineBuffer {
  #bytes: Buffer = Buffer.allocUnsafe(1 << 17)
  #start = 0
  #searched = 0
  #end = 0

  /** Bytes of the line that is not complete yet. */
  get pending(): number {
    return this.#end - this.#start
  }

  push(chunk: Buffer): void {
    if (this.#end + chunk.length > this.#bytes.length) this.#makeRoom(chunk.length)
    this.#bytes.set(chunk, this.#end)
    this.#end += chunk.length
  }

  /** The next line, without its newline, valid until the next `push`; null when none is complete. */
  next(hasEscapes: boolean): Buffer | null {
    const bytes = this.#bytes.subarray(0, this.#end)
    for (let at = bytes.indexOf(NEWLINE, this.#searched); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
      if (hasEscapes && isEscaped(bytes, this.#start, at)) continue
      const line = bytes.subarray(this.#start, at)
      this.#start = this.#searched = at + 1
      return line
    }
    this.#searched = this.#end
    return null
  }

  #makeRoom(more: number): void {
    const needed = this.pending + more
    const target = needed * 2 > this.#bytes.length ? Buffer.allocUnsafe(needed * 2) : this.#bytes
    this.#bytes.copy(target, 0, this.#start, this.#end)
    this.#bytes = target
    this.#searched -= this.#start
    this.#end -= this.#start
    this.#start = 0
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

function splitRow(line: Buffer): DumpRow {
  const row: DumpRow = []
  for (let at = 0; at <= line.length;) {
    let to = line.indexOf(TAB, at)
    // A tab within a value follows a backslash.
    while (to >= 0 && isEscaped(line, at, to)) to = line.indexOf(TAB, to + 1)
    if (to < 0) to = line.length
    row.push(valueOf(line, at, to))
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
