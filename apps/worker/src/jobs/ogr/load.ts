import {
  STAGING_SCHEMA,
  decodeCopyText,
  encodeCopyText,
  loadCopyText,
  qualified,
  quoteIdentifier,
  type CopyTextRow,
  type Database,
  type StagedTable,
} from '@terrane/database'
import { columnsMissing, conversionFailed } from './errors.ts'
import { Lanes } from '../lanes.ts'
import {
  PROMOTED_DIGITS,
  columnTypeOf,
  ewkbCodeOf,
  ewkbTypeAt,
  ewkbTypeOf,
  isPromotable,
  promotedType,
  writePromoted,
  type EwkbType,
} from './ewkb.ts'
import type { DumpColumn, DumpHeader } from './pgdump-reader.ts'

const MOST_COLUMNS = 1500
const LONGEST_NAME = 63
const GEOMETRY = 'geom'
const KEY_NAMES = ['id', 'fid', 'ogc_fid']
/** Every table of PostgreSQL has columns of these names already. */
const SYSTEM_COLUMNS = ['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid']

export interface LoadOptions {
  readonly promoteToMulti: boolean
  /** Only geometries of this EWKB code are imported; 0 for all. */
  readonly onlyCode: number
  /** Columns of guessed types are followed by columns of their texts. */
  readonly keepsSources: boolean
}

/** A column of the table that is made. */
interface TargetColumn extends DumpColumn {
  readonly target: string
}

/** Size at which gathered rows are loaded. */
const BATCH_BYTES = 1 << 21
const KEY_DIGITS = 16
const NUMBERS = new Set(['int4', 'int8', 'float8'])
const BACKSLASH = 92
const TAB = 9
const NEWLINE = 10

/** Loads that may run beside the conversion; the embedded database has one session only. */
const LOADS_AT_ONCE = 2

/** Loads converted rows into a staging table and gives its columns their final types. */
export class TableLoad {
  rows = 0
  /** Rows whose geometry is not of the type asked for. */
  rejected = 0
  readonly key: string
  readonly #database: Database
  readonly #staged: StagedTable
  readonly #header: DumpHeader
  readonly #options: LoadOptions
  #columns: readonly TargetColumn[]
  readonly #types = new Set<EwkbType>()
  /** The type that the layer promises, which most keep; null once a geometry is of another one. */
  #expected: EwkbType | null
  readonly #lanes: Lanes
  #isCreated = false
  #batch = Buffer.allocUnsafe(BATCH_BYTES)
  #filled = 0

  constructor(database: Database, staged: StagedTable, header: DumpHeader, options: LoadOptions) {
    if (header.columns.length > MOST_COLUMNS) {
      throw conversionFailed({ reason: `it has ${header.columns.length} fields, more than ${MOST_COLUMNS}` })
    }
    this.#database = database
    this.#staged = staged
    this.#header = header
    this.#options = options
    this.#lanes = new Lanes(database.capabilities.copy ? LOADS_AT_ONCE : 1)
    this.#expected = expectedType(header, options)
    const names = new Set(header.columns.map(({ name }) => name))
    this.key = KEY_NAMES.find((name) => !names.has(name)) ?? unused('id', names)
    this.#columns = withTargets(header.columns, new Set([this.key, GEOMETRY, ...SYSTEM_COLUMNS]))
  }

  get hasGeometry(): boolean {
    return this.#header.geometryAt >= 0
  }

  /** Columns of the table but key and geometry. */
  get columns(): readonly { readonly name: string; readonly type: string }[] {
    return this.#columns.map(({ target, type }) => ({ name: target, type }))
  }

  /** True when so much has been added that it should be loaded. */
  get isFull(): boolean {
    return this.#filled >= BATCH_BYTES - (BATCH_BYTES >> 4)
  }

  /** Adds a row of the dump, a line without its newline. */
  add(line: Buffer, start: number, end: number): void {
    const { geometryAt } = this.#header
    let from = start
    for (let i = 0; i < geometryAt; i++) from = line.indexOf(TAB, from) + 1
    const type = geometryAt >= 0 && line[from] !== BACKSLASH ? typeAt(line, from) : null
    const wanted = this.#options.onlyCode
    const isPromoted =
      type !== null && this.#options.promoteToMulti && (wanted === 0 || wanted > 3) && isPromotable(type)
    const final = isPromoted ? promotedType(type) : type
    if (wanted !== 0 && final?.code !== wanted) {
      this.rejected++
      return
    }
    if (final) this.#types.add(final)
    this.#reserve(end - start + PROMOTED_DIGITS + KEY_DIGITS)
    const batch = this.#batch
    let at = this.#filled + batch.write(String(++this.rows), this.#filled, 'latin1')
    batch[at++] = TAB
    at += line.copy(batch, at, start, from)
    at = isPromoted ? writePromoted(line, from, end, batch, at) : at + line.copy(batch, at, from, end)
    batch[at++] = NEWLINE
    this.#filled = at
  }

  /** Starts loading the rows that were added, once there is a free lane. */
  async flush(signal: AbortSignal): Promise<void> {
    if (!this.#isCreated) await this.#create()
    if (this.#expected && [...this.#types].some((type) => type !== this.#expected)) await this.#giveUpExpected()
    if (this.#filled === 0) return
    const lines = this.#batch.subarray(0, this.#filled)
    this.#batch = Buffer.allocUnsafe(BATCH_BYTES)
    this.#filled = 0
    await this.#lanes.start(() => this.#loadLines(lines, signal))
  }

  /** Waits until nothing writes into the table any more. */
  settle(): Promise<void> {
    return this.#lanes.settle()
  }

  /** Gives columns their final types, once all is loaded, and returns the geometry's; null when there is none. */
  async finish(): Promise<string | null> {
    await this.#lanes.finish()
    if (this.#options.keepsSources) await this.#restoreTexts()
    if (!this.hasGeometry) return null
    const types = this.#expected ? [this.#expected] : [...this.#types]
    const { name, convert } = columnTypeOf(types)
    if (!this.#expected) {
      await this.#database.query(
        `alter table ${this.#table} alter column geom type ${this.#sqlType(types)} using ${convert}`,
      )
    }
    return name
  }

  /** Digits that begin with a zero are no number: such a column is the text it was. The other texts go. */
  async #restoreTexts(): Promise<void> {
    const pairs = this.#columns.flatMap((guess, i) => {
      const text = this.#columns[i + 1]
      return guess.type !== 'text' && text?.type === 'text' && text.name.endsWith('_original') ? [{ guess, text }] : []
    })
    if (pairs.length === 0) return
    const tests = pairs.map(({ guess, text }) =>
      NUMBERS.has(guess.type) ? `bool_or(${quoteIdentifier(text.target)} ~ '^\\s*[+-]?0[0-9]')` : 'false',
    )
    const { rows } = await this.#database.query<{ keys: (boolean | null)[] }>(
      `select array[${tests.join(', ')}] as keys from ${this.#table}`,
    )
    for (const [i, { guess, text }] of pairs.entries()) {
      const isText = rows[0]!.keys[i] === true
      const column = quoteIdentifier(guess.target)
      const source = quoteIdentifier(text.target)
      await this.#database.query(`alter table ${this.#table} drop column ${isText ? column : source}`)
      if (isText) await this.#database.query(`alter table ${this.#table} rename column ${source} to ${column}`)
      this.#columns = this.#columns
        .filter((each) => each !== text)
        .map((each) => (each === guess && isText ? { ...guess, type: 'text' } : each))
    }
  }

  /** Takes rows out whose coordinates are not finite, which no map, index or GeoJSON can hold. */
  async rejectInfinite(): Promise<void> {
    const { rowCount } = await this.#database.query(
      `delete from ${this.#table} where not (st_xmin(geom) > '-Infinity' and st_xmax(geom) < 'Infinity'
         and st_ymin(geom) > '-Infinity' and st_ymax(geom) < 'Infinity')`,
    )
    this.rows -= rowCount ?? 0
    this.rejected += rowCount ?? 0
  }

  /**
   * SQL that adds the rows to a table that exists, which gives them keys of its own.
   *
   * @throws COLUMNS_MISSING
   */
  appendSql(schema: string, table: string, existing: ReadonlySet<string>): string {
    const names = [...this.#columns.map(({ target }) => target), ...(this.hasGeometry ? [GEOMETRY] : [])]
    const missing = names.filter((name) => !existing.has(name))
    if (missing.length > 0) throw columnsMissing({ table: `${schema}.${table}`, columns: missing })
    const list = names.map(quoteIdentifier).join(', ')
    const order = quoteIdentifier(this.key)
    return `insert into ${qualified(schema, table)} (${list}) select ${list} from ${this.#table} order by ${order}`
  }

  /** A geometry is not of the type that the layer promises: from here on any goes in, and `finish` finds their type. */
  async #giveUpExpected(): Promise<void> {
    this.#expected = null
    await this.#lanes.finish()
    await this.#database.query(`alter table ${this.#table} alter column geom type geometry`)
  }

  #sqlType(types: readonly EwkbType[]): string {
    return `geometry(${columnTypeOf(types).name}, ${this.#header.srid})`
  }

  get #table(): string {
    return qualified(STAGING_SCHEMA, this.#staged.staging)
  }

  async #create(): Promise<void> {
    this.#isCreated = true
    const columns = this.#columns.map(({ target, type }) => `${quoteIdentifier(target)} ${type}`)
    const key = `${quoteIdentifier(this.key)} int8 not null generated by default as identity`
    const geometry = this.hasGeometry
      ? [`${GEOMETRY} ${this.#expected ? this.#sqlType([this.#expected]) : 'geometry'}`]
      : []
    await this.#database.query(`create table ${this.#table} (${[key, ...columns, ...geometry].join(', ')})`)
  }

  /** In the order of a line. */
  #loadColumns(): DumpColumn[] {
    const { geometryAt } = this.#header
    const columns = this.#columns.map(({ target, type }) => ({ name: target, type }))
    if (geometryAt >= 0) columns.splice(geometryAt, 0, { name: GEOMETRY, type: 'geometry' })
    return [{ name: this.key, type: 'int8' }, ...columns]
  }

  #reserve(bytes: number): void {
    if (this.#filled + bytes <= this.#batch.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#filled + bytes, this.#batch.length * 2))
    this.#batch.copy(larger, 0, 0, this.#filled)
    this.#batch = larger
  }

  /** Lines that the server refuses are looked at value by value, which few files need. */
  async #loadLines(lines: Buffer, signal: AbortSignal): Promise<void> {
    const target = { schema: STAGING_SCHEMA, table: this.#staged.staging, columns: this.#loadColumns() }
    const types = target.columns.map(({ type }) => type)
    const load = (bytes: Buffer) => loadCopyText(this.#database, target, bytes, { signal })
    const hasOddList = types.includes('varchar[]') && lines.includes('\\\\')
    try {
      // Without COPY the rows before the one that is refused stay.
      if (!hasOddList && this.#database.capabilities.copy) return await load(lines)
    } catch (error) {
      if (!isRefusal(error)) throw error
    }
    const rows = decodeCopyText(lines).map((row): CopyTextRow => row.map((text, i) => tidied(text, types[i]!)))
    try {
      await load(encodeCopyText(rows))
    } catch (error) {
      if (!isRefusal(error)) throw error
      throw conversionFailed({ reason: (error.cause as Error).message }, { cause: error })
    }
  }
}

/** The type that all geometries have if the layer keeps its promise; it counts as one that has been seen. */
function expectedType({ geometryType, dimensions }: DumpHeader, options: LoadOptions): EwkbType | null {
  const code = ewkbCodeOf(geometryType)
  if (code === 0 || options.onlyCode !== 0 || dimensions > 3) return null
  const isPromoted = options.promoteToMulti && (code === 2 || code === 3)
  return ewkbTypeOf(isPromoted ? code + 3 : code, dimensions === 3)
}

function typeAt(line: Buffer, at: number): EwkbType {
  const type = ewkbTypeAt(line, at)
  if (type === null) throw conversionFailed({ reason: 'a geometry is of a type that is not known' })
  return type
}

/** A value that GDAL writes in a way of its own, as PostgreSQL reads it. */
function tidied(text: string | null, type: string): string | null {
  if (text === null) return null
  if (type === 'jsonb') return storableJson(text)
  if (type === 'varchar[]') return storableList(text)
  return type.startsWith('float') ? text.replace(/^-nan$/, 'nan') : text
}

/** In a column of JSON GDAL writes texts without their quotes. */
function storableJson(text: string): string {
  let value: unknown = text
  try {
    value = JSON.parse(text)
    if (!text.includes('\\u0000')) return text
  } catch {
    // It is a text.
  }
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? part.replaceAll('\0', '') : part))
}

/** A text of a list, which ends at the quote that the next item or the end follows, or NULL. */
const LIST_ITEM = /NULL(?=[,}])|"([\s\S]*?)"(?=,"|,NULL[,}]|\}$)/g

/** GDAL quotes the texts of a list and escapes their quotes, but not their backslashes. */
function storableList(text: string): string {
  const items = [...text.matchAll(LIST_ITEM)].map(([item, content]) =>
    content === undefined ? item : `"${content.replaceAll('\\"', '"').replaceAll(/["\\]/g, '\\$&')}"`,
  )
  return `{${items.join(',')}}`
}

/** The server says of a value that it does not fit its column. */
function isRefusal(error: unknown): error is Error {
  const { code } = ((error as Error).cause ?? {}) as { code?: unknown }
  return typeof code === 'string' && code.startsWith('22')
}

/** Column names that differ from each other and from those that are taken, and fit into 63 bytes. */
function withTargets(columns: readonly DumpColumn[], taken: Set<string>): TargetColumn[] {
  return columns.map((column) => {
    const target = unused(column.name || 'field', taken)
    taken.add(target)
    return { ...column, target }
  })
}

function unused(name: string, taken: ReadonlySet<string>): string {
  let candidate = shortened(name, '')
  for (let i = 1; taken.has(candidate); i++) candidate = shortened(name, `_${i}`)
  return candidate
}

function shortened(name: string, suffix: string): string {
  let base = name
  while (Buffer.byteLength(base) + suffix.length > LONGEST_NAME) base = base.slice(0, -1)
  return base + suffix
}
