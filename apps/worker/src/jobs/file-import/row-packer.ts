import { WkbCursor, isPromotable, problemAt, type WkbProblem } from '@terrane/core/wkb'
import { fitsColumn } from '@terrane/core/columns'
import { CopyEncoder, JsonText, type ColumnType } from '@terrane/database/copy'
import { Warnings } from '@terrane/core/errors'
import type { TargetColumn } from './column-names.ts'
import type { FeatureBatch, RowEncoder } from '@terrane/files/process'
import { codeOf, type FinalType } from './final-type.ts'

/** Bytes after which rows are handed on. It limits how long a load blocks the embedded database. */
const PACK_BYTES = 2 << 20
/** Maximum bytes read between two progress reports. */
const MOST_WEIGHT = 16 << 20
const FIRST_CURVE = 8
const LAST_CURVE = 12
/** Weight of a row in addition to the bytes that were read for it. */
const ROW_WEIGHT = 8
const TIMES: ReadonlySet<string> = new Set(['time', 'timestamp', 'timestamptz'])
const FINER_THAN_MICROS = /\.\d{6}\d*[1-9]/

const PROBLEMS: Readonly<Record<WkbProblem, string>> = {
  damaged: 'their bytes are damaged',
  'short line': 'a line needs two positions, or none',
  'open ring': 'a ring of a polygon ends where it begins',
  'short ring': 'a ring of a polygon needs four positions',
  'odd part': 'a collection of one kind holds another',
}

/** How rows of a layer are encoded. It is plain data, because the process that reads the file gets it as JSON. */
export interface RowPlan {
  /** Columns of the table after its key. */
  readonly columns: readonly TargetColumn[]
  readonly hasGeometry: boolean
  readonly promoteToMulti: boolean
  /** Only geometries of this code are wanted; 0 for all. */
  readonly onlyCode: number
  /** EPSG code of the geometries. */
  readonly srid: number
  readonly final: Pick<FinalType, 'fills' | 'hasZ' | 'hasM'>
  /** Null for all rows. */
  readonly limit: number | null
  /** Number of first rows that are in the table already: they are read for their warnings, and not loaded. */
  readonly loaded: number
}

/** Header of a pack of rows. */
export interface PackNote {
  /** Number of rows for the table, and of rejected rows, since the last pack. */
  readonly rows: number
  readonly rejected: number
  /** Bytes that were read. */
  readonly weight: number
}

/** Treatment of a row's geometry. */
const Shape = { unwanted: 0, none: 1, asItIs: 2, multi: 3 } as const
type Shape = (typeof Shape)[keyof typeof Shape]

/** The columns of the table, its key first. */
function columnsOf({ columns, hasGeometry }: RowPlan): { readonly type: ColumnType }[] {
  return [{ type: 'int8' }, ...columns, ...(hasGeometry ? [{ type: 'geometry' as const }] : [])]
}

/** Encodes a layer's rows for COPY in packs. Values and rows that cannot be stored are counted by reason and row. */
export class RowPacker implements RowEncoder {
  readonly warnings = new Warnings()
  readonly #plan: RowPlan
  readonly #send: (note: PackNote, bytes: Uint8Array) => void
  readonly #encoder: CopyEncoder
  readonly #cursor = new WkbCursor()
  #rows = 0
  #rejected = 0
  #weight = 0
  #read = 0
  /** Counts up to the last pack. */
  #sent = { rows: 0, rejected: 0 }

  constructor(plan: RowPlan, send: (note: PackNote, bytes: Uint8Array) => void) {
    this.#plan = plan
    this.#send = send
    this.#encoder = new CopyEncoder(columnsOf(plan))
  }

  /** True when no more rows are wanted. */
  get isComplete(): boolean {
    const { limit } = this.#plan
    return limit !== null && this.#rows >= limit
  }

  add(batch: FeatureBatch): void {
    const { columns, hasGeometry, loaded, srid } = this.#plan
    const encoder = this.#encoder
    this.#weight += batch.geometry.length + batch.rows * ROW_WEIGHT
    for (let i = 0; i < batch.rows && !this.isComplete; i++) {
      this.#read++
      const start = i === 0 ? 0 : batch.geometryEnds[i - 1]!
      const end = batch.geometryEnds[i]!
      const shape = hasGeometry ? this.#shapeOf(batch.geometry, start, end) : Shape.none
      if (shape === Shape.unwanted) {
        this.#rejected++
        continue
      }
      this.#rows++
      const isNew = this.#rows > loaded
      if (isNew) {
        encoder.beginRow()
        encoder.value('int8', this.#rows)
      }
      for (const column of columns) {
        const value = this.#valueOf(batch.columns[column.field]![i], column)
        if (isNew) encoder.value(column.type, value)
      }
      if (!isNew) continue
      if (shape !== Shape.none) encoder.ewkb(batch.geometry, start, end, srid, shape === Shape.multi)
      else if (hasGeometry) encoder.value('geometry', null)
      if (encoder.size >= PACK_BYTES) this.flush()
    }
    // Rows that are in the table already are reported, but not encoded.
    if (this.#rows < loaded || this.#weight >= MOST_WEIGHT) this.flush()
  }

  /** Sends the current pack. */
  flush(): void {
    const rows = this.#rows - this.#sent.rows
    const rejected = this.#rejected - this.#sent.rejected
    if (rows + rejected + this.#weight === 0) return
    this.#send({ rows, rejected, weight: this.#weight }, this.#encoder.take())
    this.#sent = { rows: this.#rows, rejected: this.#rejected }
    this.#weight = 0
  }

  #shapeOf(geometry: Uint8Array, start: number, end: number): Shape {
    const { onlyCode, promoteToMulti, final } = this.#plan
    if (start === end) return onlyCode === 0 ? Shape.none : this.#reject('have no geometry')
    const cursor = this.#cursor
    cursor.open(geometry, start, end)
    const problem = problemAt(cursor)
    if (problem !== null) {
      this.warnings.count(
        'GEOMETRY_INVALID',
        `Geometries were left out of their rows: ${PROBLEMS[problem]}.`,
        this.#read,
      )
      return Shape.none
    }
    cursor.open(geometry, start, end)
    const code = cursor.head()
    const multi = promoteToMulti && (onlyCode === 0 || onlyCode > 3)
    if (onlyCode !== 0 && codeOf(code, multi) !== onlyCode) return this.#reject('are of another geometry type')
    if (code >= FIRST_CURVE && code <= LAST_CURVE) {
      const message = 'Arcs became lines of segments that turn by 4 degrees at most.'
      this.warnings.count('CURVES_LINEARIZED', message, this.#read)
    }
    if (final.fills && !(cursor.hasZ === final.hasZ && cursor.hasM === final.hasM)) {
      const message = 'Heights or measures that only other rows have were set to 0.'
      this.warnings.count('DIMENSIONS_FILLED', message, this.#read)
    }
    return multi && isPromotable(code) ? Shape.multi : Shape.asItIs
  }

  #reject(why: string): Shape {
    this.warnings.count('ROWS_REJECTED', `Features are not in the table because they ${why}.`, this.#read)
    return Shape.unwanted
  }

  #valueOf(value: unknown, { type, target }: TargetColumn): unknown {
    if (value === null || value === undefined) return null
    if (type === 'jsonb') return this.#json(value, target)
    if (typeof value === 'string' && type === 'text') {
      if (value.includes('\0')) this.#countNul()
      return value
    }
    if (value instanceof Uint8Array) return value
    if (typeof value === 'string' && TIMES.has(type) && FINER_THAN_MICROS.test(value)) {
      const message = `Times were cut to microseconds, which is all that the database has, as in ${target}.`
      this.warnings.count('TIMES_CUT', message, this.#read)
    }
    if (fitsColumn(type, value as string | number)) return value
    this.warnings.count('VALUES_UNREADABLE', `Values do not fit the type of their column, as in ${target}.`, this.#read)
    return null
  }

  #json(value: unknown, column: string): JsonText {
    const text = JSON.stringify(value, (_, part: unknown) => {
      if (typeof part === 'bigint') return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(String(part))
      if (typeof part === 'number' && !Number.isFinite(part)) {
        const message = `Numbers in lists and objects that are not finite became null, for JSON has none, as in ${column}.`
        this.warnings.count('NUMBERS_NOT_FINITE', message, this.#read)
      }
      return part instanceof Uint8Array ? Buffer.from(part).toString('base64') : part
    })
    if (!text.includes('\\u0000')) return new JsonText(text)
    this.#countNul()
    return new JsonText(
      JSON.stringify(JSON.parse(text), (_, part: unknown) =>
        typeof part === 'string' ? part.replaceAll('\0', '') : part,
      ),
    )
  }

  #countNul(): void {
    const message = 'Characters U+0000 were left out of texts: the database cannot store them.'
    this.warnings.count('NUL_REMOVED', message, this.#read)
  }
}
