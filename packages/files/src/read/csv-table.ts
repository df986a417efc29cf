import { conversionFailed } from '../errors.ts'
import { chunksOf } from './chunks.ts'
import { csvRecords, firstRecords } from './csv-records.ts'
import { kindOfCell } from './value-types.ts'

/** Possible delimiters, the rarest in texts first. */
const DELIMITERS = ['\t', ';', '|', ',']
const HEAD_BYTES = 1 << 16
/** Rows that are compared with the header. */
const SAMPLE_ROWS = 200
/** Excel's line before the header, which names the delimiter of the other lines. */
const SAID_DELIMITER = /^"?sep=([,;\t|:#~])"?$/i
/**
 * A field in quotes, which may contain delimiters and line ends. Both expressions take time in proportion to the text: a
 * quote is never closed only if all later runs of quotes are even, and then each later one is closed within its run.
 */
const QUOTED = /(?<=^|[,;\t|])"(?:[^"]|"")*"/gm
/** The first line that is not empty, with the line ends within its quotes. */
const FIRST_LINE = /(?:(?<=^|[,;\t|])"(?:[^"]|"")*"|[^\r\n])+/m
const NUMBER = /^(int4|int8|numeric|float8)$/
const DECIMAL_COMMA = /^[+-]?\d+,\d+$/

/** A table of text with the facts of its first lines. */
export interface CsvTable {
  readonly path: string
  readonly encoding: string
  readonly delimiter: string
  /** Number of records before the data: a line that names the delimiter, and a header. */
  readonly headRecords: number
  readonly names: readonly string[]
}

/**
 * Finds delimiter and names of a table; one whose first line has a number has no header.
 *
 * @throws CONVERSION_FAILED
 */
export function openTable(path: string, encoding: string): CsvTable {
  const { delimiter, isSaid } = delimiterOf(headOf(path, encoding))
  let skipped = isSaid ? 1 : 0
  for (const record of csvRecords(path, encoding, delimiter)) {
    if (skipped-- > 0) continue
    const hasHeader = !record.some(isNumber)
    const names = record.map((text, i) => (hasHeader ? text.trim() : `field_${i + 1}`))
    return { path, encoding, delimiter, headRecords: (isSaid ? 1 : 0) + (hasHeader ? 1 : 0), names }
  }
  throw conversionFailed({ reason: 'it has no rows' })
}

/** Whether a text is a number, with a point or a comma. */
export function isNumber(text: string): boolean {
  return NUMBER.test(kindOfCell(text) ?? '') || DECIMAL_COMMA.test(text.trim())
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

/** A possible delimiter of a table. */
interface Candidate {
  readonly delimiter: string
  /** Tenths of the rows that have the delimiter; not exact, because some rows may be broken. */
  readonly dividedTenths: number
  /** Tenths of the rows that have as many fields as the header. A delimiter at the end of a row does not count. */
  readonly evenTenths: number
  /** Whether the commas in fields of the rows are decimal commas. */
  readonly hasDecimals: boolean
  /** Whether a space follows each delimiter of the header, as in prose. */
  readonly isSpaced: boolean
  /** Fields of the header. */
  readonly width: number
}

/**
 * The delimiter named by the first line. Else the delimiter in the first line that most rows have, that splits no
 * decimal numbers, and for which most rows have as many fields as the first line, because texts contain commas, too. A
 * single column counts as tab-separated, because its geometries contain commas.
 *
 * @param head beginning of the table
 */
export function delimiterOf(head: string): { readonly delimiter: string; readonly isSaid: boolean } {
  const line = FIRST_LINE.exec(head)?.[0] ?? ''
  const said = SAID_DELIMITER.exec(line)?.[1]
  if (said !== undefined) return { delimiter: said, isSaid: true }
  const plain = line.replaceAll(QUOTED, '')
  const found = DELIMITERS.filter((delimiter) => plain.includes(delimiter))
  if (found.length < 2) return { delimiter: found[0] ?? '\t', isSaid: false }
  const candidates = found.map((delimiter) => candidateOf(delimiter, plain, head))
  const best = candidates.reduce((before, other) => (isBetter(other, before) ? other : before))
  return { delimiter: best.delimiter, isSaid: false }
}

function candidateOf(delimiter: string, header: string, head: string): Candidate {
  const records = firstRecords(head, delimiter).slice(0, SAMPLE_ROWS)
  const rows = records.slice(1)
  const parts = header.split(delimiter)
  // Quoted fields may contain delimiters; they are removed from the header, which has as many parts without them.
  const isEven = (row: readonly string[]) =>
    row.length === parts.length || (row.length === parts.length + 1 && row.at(-1) === '')
  const tenthsOf = (some: readonly string[][]) => (rows.length === 0 ? 0 : Math.round((10 * some.length) / rows.length))
  const withComma = (rows.length > 0 ? rows : records).flat().filter((field) => field.includes(','))
  return {
    delimiter,
    dividedTenths: tenthsOf(rows.filter((row) => row.length > 1)),
    evenTenths: tenthsOf(rows.filter(isEven)),
    hasDecimals: withComma.length > 0 && withComma.every((field) => DECIMAL_COMMA.test(field.trim())),
    isSpaced: parts.slice(1).every((part) => /^\s/.test(part)),
    width: parts.length,
  }
}

function isBetter(one: Candidate, other: Candidate): boolean {
  if (one.dividedTenths !== other.dividedTenths) return one.dividedTenths > other.dividedTenths
  if (one.hasDecimals !== other.hasDecimals) return one.hasDecimals
  if (one.evenTenths !== other.evenTenths) return one.evenTenths > other.evenTenths
  return one.isSpaced === other.isSpaced ? one.width > other.width : other.isSpaced
}
