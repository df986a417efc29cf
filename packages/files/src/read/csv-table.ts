import { conversionFailed } from '../errors.ts'
import { chunksOf } from './chunks.ts'
import { csvRecords, firstRecords } from './csv-records.ts'
import { formsOfText, type Form } from './text-forms.ts'
import { kindOfCell } from './value-types.ts'

/** Possible delimiters, the rarest in texts first. */
const DELIMITERS = ['\t', ';', '|', ',']
const HEAD_BYTES = 1 << 16
/** Rows that are compared with the header. */
const SAMPLE_ROWS = 200
/** Excel's line before the header, which names the delimiter of the other lines. */
const SAID_DELIMITER = /^"?sep=([,;\t|:#~])"?$/i
const BLANKS_BEFORE_QUOTE = /(?<=[,;\t|]) +(?=")/g
/**
 * A field in quotes, which may contain delimiters and line ends. Both expressions take time in proportion to the text: a
 * quote is never closed only if all later runs of quotes are even, and then each later one is closed within its run.
 */
const QUOTED = /(?<=^|[,;\t|])"(?:[^"]|"")*"/gm
/** The first line that is not empty, with the line ends within its quotes. */
const FIRST_LINE = /(?:(?<=^|[,;\t|])"(?:[^"]|"")*"|[^\r\n])+/m
const NUMBER = /^(int4|int8|numeric|float8)$/
/** A delimiter that a field has no reason for: texts have a space after it, and no tabs. */
const STRAY = /[,;|](?!\s|$)|\t/
/** A year as the name of a column. */
export const YEAR = /^[12]\d{3}$/
const FORMS_OF_TEXTS: ReadonlySet<Form> = new Set<Form>(['text', 'key', 'amount', 'none'])
const FORMS_OF_NUMBERS: ReadonlySet<Form> = new Set<Form>([
  'comma fraction',
  'comma or groups',
  'comma groups',
  'point groups',
  'spaced groups',
])

/** A table of text with the facts of its first lines. */
export interface CsvTable {
  readonly path: string
  readonly encoding: string
  readonly delimiter: string
  /** Number of records before the data: a line that names the delimiter, and a header. */
  readonly headRecords: number
  readonly names: readonly string[]
  /** Whether the first line has values such as numbers, so that names and data are hard to tell apart. */
  readonly isDoubtful: boolean
}

/**
 * Finds delimiter and names of a table. Lines of empty fields before the first are skipped.
 *
 * @throws CONVERSION_FAILED
 */
export function openTable(path: string, encoding: string): CsvTable {
  const { delimiter, isSaid } = delimiterOf(headOf(path, encoding))
  const records = () => csvRecords(path, encoding, delimiter)
  let start = 0
  const first = records().find((record, i) => {
    start = i
    return isFirst(record, i, isSaid)
  })
  if (first === undefined) throw conversionFailed({ reason: 'it has no rows' })
  const isDoubtful = first.some(isValue)
  const hasHeader =
    !isDoubtful ||
    isHeader(
      first,
      records()
        .drop(start + 1)
        .take(SAMPLE_ROWS)
        .toArray(),
    )
  const names = first.map((text, i) => (hasHeader ? text.trim() : `field_${i + 1}`))
  return { path, encoding, delimiter, headRecords: start + (hasHeader ? 1 : 0), names, isDoubtful }
}

/** Whether a record may have the names: it has a text, and does not name the delimiter. */
export function isFirst(record: readonly string[], index: number, isSaid: boolean): boolean {
  return !(index === 0 && isSaid) && record.some((text) => text.trim() !== '')
}

/** Whether a first record with values names the columns, because they are years, days or times above other values. */
function isHeader(first: readonly string[], rows: readonly string[][]): boolean {
  const values = first.filter(isValue).map((text) => text.trim())
  const areYears = values.every((text, i) => YEAR.test(text) && (i === 0 || text > values[i - 1]!))
  const areMoments =
    values.every((text) => !isNumber(text) && /\d/.test(text)) && new Set(values).size === values.length
  if (!areYears && !areMoments) return false
  const isAxis = values.length > 1 && values.length < first.length && rows.length > 0
  const below = first.flatMap((name, i) => (isValue(name) ? rows.map((row) => (row[i] ?? '').trim()) : []))
  const numbers = below.filter(isNumber)
  const areOthers = numbers.filter((text) => !YEAR.test(text)).length > numbers.length / 2
  return hasNameAboveValues(first, rows) || (isAxis && areOthers)
}

/** Whether some text is above values only. */
export function hasNameAboveValues(first: readonly string[], rows: readonly string[][]): boolean {
  return first.some((name, i) => {
    const values = rows.map((row) => row[i] ?? '').filter((text) => text.trim() !== '')
    return formsOfText(name.trim())[0] === 'text' && !isValue(name) && values.length > 0 && values.every(isValue)
  })
}

/** Whether a text is a number, with a point or a comma. */
export function isNumber(text: string): boolean {
  return NUMBER.test(kindOfCell(text) ?? '') || formsOfText(text.trim()).some((form) => FORMS_OF_NUMBERS.has(form))
}

/** Whether a text is a number, a day, a time of day or a truth value. */
export function isValue(text: string): boolean {
  const kind = kindOfCell(text)
  return kind !== null && (kind !== 'text' || formsOfText(text.trim()).some((form) => !FORMS_OF_TEXTS.has(form)))
}

/** The beginning of a text; a line end closes its last record if that is all of it. */
function headOf(path: string, encoding: string): string {
  const [first = Buffer.alloc(0)] = chunksOf(path).take(1)
  const text = new TextDecoder(encoding).decode(first.subarray(0, HEAD_BYTES), { stream: true })
  return first.length > HEAD_BYTES ? text : `${text}\n`
}

/** The records after the header. */
export function* dataOf({ path, encoding, delimiter, headRecords }: CsvTable): Generator<string[]> {
  let left = headRecords
  for (const record of csvRecords(path, encoding, delimiter)) {
    if (left > 0) left--
    else yield record
  }
}

/**
 * The delimiter named by the first line, else the one in the first line that divides the text best. A single column
 * counts as tab-separated, because its geometries contain commas.
 *
 * @param head beginning of the table
 */
export function delimiterOf(head: string): { readonly delimiter: string; readonly isSaid: boolean } {
  const line = FIRST_LINE.exec(head.replaceAll(BLANKS_BEFORE_QUOTE, ''))?.[0] ?? ''
  const said = SAID_DELIMITER.exec(line)?.[1]
  if (said !== undefined) return { delimiter: said, isSaid: true }
  const plain = line.replaceAll(QUOTED, '')
  const found = DELIMITERS.filter((delimiter) => plain.includes(delimiter))
  if (found.length < 2) return { delimiter: found[0] ?? '\t', isSaid: false }
  const scores = found.map((delimiter) => scoreOf(delimiter, plain.split(delimiter).length, head))
  return { delimiter: found[scores.indexOf(Math.max(...scores))]!, isSaid: false }
}

/**
 * How well a delimiter divides a text into single values. Fields with other delimiters cost most, because rows may lack
 * their last fields.
 *
 * @param width number of fields of the header, whose quotes may contain delimiters
 */
function scoreOf(delimiter: string, width: number, head: string): number {
  const records = firstRecords(head, delimiter).slice(0, SAMPLE_ROWS)
  if (records.length === 0) return 0
  const even = records.filter(({ length }) => length === width).length
  const fields = records.flat()
  const single = fields.filter((field) => isNumber(field) || !STRAY.test(field)).length
  return (1 + even / records.length) * (single / fields.length) ** 2
}
