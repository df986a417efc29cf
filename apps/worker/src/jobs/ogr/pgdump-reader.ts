import { isEscaped } from '@terrane/database'
import { conversionFailed } from './errors.ts'

/** A column of the converted layer. */
export interface DumpColumn {
  readonly name: string
  /** PostgreSQL's name of a type, one of a few. */
  readonly type: string
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
  /** Position of the geometry, the hexadecimal text of EWKB, among a row's values; -1 when there is none. */
  readonly geometryAt: number
}

/** Takes the line of a row, in COPY's text format, without its newline; the bytes are valid during the call. */
export type RowSink = (bytes: Buffer, start: number, end: number) => void

/** Name that the conversion gives the geometry column. */
export const GEOMETRY_NAME = '__geometry__'

const NEWLINE = 10
const BACKSLASH = 92
const DOT = 46
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
  #statement = ''
  #headerBytes = 0
  #ended = false

  /**
   * Takes the next bytes and passes on the rows they complete.
   *
   * @throws CONVERSION_FAILED when it is not such a dump, or a row is larger than rows are
   */
  push(chunk: Buffer, onRow: RowSink): void {
    if (this.#ended) return
    const lines = this.#lines
    lines.push(chunk)
    // Only in rows does a backslash hide a newline.
    while (lines.next(this.header !== null)) {
      const { bytes, start, end } = lines
      if (!this.header) this.#readStatement(bytes.toString('utf8', start, end))
      else if (end - start === 2 && bytes[start] === BACKSLASH && bytes[start + 1] === DOT) {
        this.#ended = true
        return
      } else onRow(bytes, start, end)
    }
    if (this.#headerBytes > LONGEST_HEADER) throw conversionFailed({ reason: 'the conversion gave no rows' })
    if (lines.pending > LONGEST_ROW) {
      throw conversionFailed({ reason: `a feature takes more than ${LONGEST_ROW} bytes as text` })
    }
  }

  /** @throws CONVERSION_FAILED when the dump is cut off */
  end(): void {
    if (this.header && !this.#ended) throw conversionFailed({ reason: 'the conversion ended in the middle of a row' })
  }

  /** Statements end at the end of a line that is not within a quoted name. */
  #readStatement(line: string): void {
    this.#headerBytes += line.length
    this.#statement += line
    if (!this.#statement.endsWith(';') || this.#statement.split('"').length % 2 === 0) {
      this.#statement += '\n'
      return
    }
    if (this.#statement.startsWith('COPY ')) this.header = headerOf(this.#statements, this.#statement)
    this.#statements.push(this.#statement)
    this.#statement = ''
  }
}

/** Cuts bytes into lines in linear time, however long the lines are. */
class LineBuffer {
  bytes: Buffer = Buffer.allocUnsafe(1 << 17)
  /** The line that `next` found, without its newline, until the next `push`. */
  start = 0
  end = 0
  #next = 0
  #searched = 0
  #filled = 0

  /** Bytes of the line that is not complete yet. */
  get pending(): number {
    return this.#filled - this.#next
  }

  push(chunk: Buffer): void {
    if (this.#filled + chunk.length > this.bytes.length) this.#makeRoom(chunk.length)
    this.bytes.set(chunk, this.#filled)
    this.#filled += chunk.length
  }

  /** Finds the next line; false when none is complete. */
  next(hasEscapes: boolean): boolean {
    const { bytes } = this
    for (let at = bytes.indexOf(NEWLINE, this.#searched); at >= 0 && at < this.#filled;) {
      if (!hasEscapes || !isEscaped(bytes, this.#next, at)) {
        this.start = this.#next
        this.end = at
        this.#next = this.#searched = at + 1
        return true
      }
      at = bytes.indexOf(NEWLINE, at + 1)
    }
    this.#searched = this.#filled
    return false
  }

  #makeRoom(more: number): void {
    const needed = this.pending + more
    const target = needed * 2 > this.bytes.length ? Buffer.allocUnsafe(needed * 2) : this.bytes
    this.bytes.copy(target, 0, this.#next, this.#filled)
    this.bytes = target
    this.#searched -= this.#next
    this.#filled -= this.#next
    this.#next = 0
  }
}

/** A quoted name; what repeats in it begins with different characters, so it is found in linear time. */
const QUOTED_NAME = /"[^"]*(?:""[^"]*)*"/
/** What stands between the table and the name of a column that is added. */
const ADDED = ' ADD COLUMN "'

function headerOf(statements: readonly string[], copy: string): DumpHeader {
  const types = new Map<string, string>()
  let srid = 0
  let geometryType = 'GEOMETRY'
  let dimensions = 2
  let hasGeometry = false
  for (const statement of statements) {
    const added = statement.startsWith('ALTER TABLE ') ? statement.indexOf(ADDED) : -1
    if (added >= 0) {
      const column = QUOTED_NAME.exec(statement.slice(added + ADDED.length - 1))![0]
      types.set(unquoted(column), statement.slice(added + ADDED.length + column.length, -1))
    }
    const geometry = /^SELECT AddGeometryColumn\(.*,(-?\d+),'(\w+)',(\d+)\);$/.exec(statement)
    if (!geometry) continue
    hasGeometry = true
    srid = Math.max(0, Number(geometry[1]))
    geometryType = geometry[2]!
    dimensions = Number(geometry[3])
  }
  // The name of the table is ours and has no parentheses; names of columns are the file's and have what they like.
  const list = copy.indexOf('(')
  if (list < 0 || !copy.endsWith(') FROM STDIN;')) throw conversionFailed({ reason: 'the conversion names no columns' })
  const names = [...copy.slice(list).matchAll(new RegExp(QUOTED_NAME, 'g'))].map(([name]) => unquoted(name))
  // Geometry stands before the attributes; one that has the same name all the same comes later.
  const geometryAt = hasGeometry ? names.indexOf(GEOMETRY_NAME) : -1
  const columns = names.filter((_, i) => i !== geometryAt).map((name) => ({ name, type: typeOf(types.get(name)) }))
  return { srid, geometryType, dimensions, columns, geometryAt }
}

/** Types of the dump that columns get as they are. */
const KEPT =
  /^(int8|integer|smallint|float8|real|boolean|date|time|bytea|timestamp( with(out)? time zone)?|(varchar|integer|int8|smallint|float8|real|boolean)\[\])$/
const RENAMED: Readonly<Record<string, string>> = {
  smallint: 'int2',
  integer: 'int4',
  real: 'float4',
  numeric: 'float8',
  boolean: 'bool',
  json: 'jsonb',
  jsonb: 'jsonb',
}

function typeOf(sqlType = 'varchar'): string {
  // Without what stands in parentheses, `numeric(10,2)`.
  const [name = '', tail = ''] = sqlType.split('(', 2)
  const bare = (name + (tail.split(')')[1] ?? '')).trim().toLowerCase()
  return RENAMED[bare] ?? (KEPT.test(bare) ? bare : 'text')
}

function unquoted(name: string): string {
  return name.slice(1, -1).replaceAll('""', '"')
}
