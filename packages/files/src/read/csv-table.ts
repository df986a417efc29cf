import { conversionFailed } from '../errors.ts'
import { csvRecords } from './csv-records.ts'
import { kindOfCell } from './value-types.ts'

const DELIMITERS = [',', ';', '\t', '|']
/** Excel's line before the header, which names the delimiter of the other lines. */
const SAID_DELIMITER = /^"?sep=([,;\t|:#~])"?$/i
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
  const [line = ''] = firstOf(csvRecords(path, encoding, '\u0000')) ?? []
  const { delimiter, isSaid } = delimiterOf(line)
  let skipped = isSaid ? 1 : 0
  for (const record of csvRecords(path, encoding, delimiter)) {
    if (skipped-- > 0) continue
    const hasHeader = !record.some((text) => NUMBER.test(kindOfCell(text) ?? '') || DECIMAL_COMMA.test(text.trim()))
    const names = record.map((text, i) => (hasHeader ? text.trim() : `field_${i + 1}`))
    return { path, encoding, delimiter, headRecords: (isSaid ? 1 : 0) + (hasHeader ? 1 : 0), names }
  }
  throw conversionFailed({ reason: 'it has no rows' })
}

/** The records behind the head. */
export function* dataOf({ path, encoding, delimiter, headRecords }: CsvTable): Generator<string[]> {
  let left = headRecords
  for (const record of csvRecords(path, encoding, delimiter)) {
    if (left > 0) left--
    else yield record
  }
}

/**
 * The delimiter named by the first line, else its most frequent one; a single column counts as tab-separated, because
 * its geometries contain commas.
 */
export function delimiterOf(line: string): { readonly delimiter: string; readonly isSaid: boolean } {
  const said = SAID_DELIMITER.exec(line)?.[1]
  if (said !== undefined) return { delimiter: said, isSaid: true }
  const plain = line.replaceAll(/"[^"]*"/g, '')
  const counts = DELIMITERS.map((delimiter) => plain.split(delimiter).length)
  const most = Math.max(...counts)
  return { delimiter: most === 1 ? '\t' : DELIMITERS[counts.indexOf(most)]!, isSaid: false }
}

function firstOf<T>(values: Iterable<T>): T | null {
  for (const value of values) return value
  return null
}
