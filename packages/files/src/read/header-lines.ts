import type { Warnings } from '@terrane/core/errors'
import { isValue, YEAR } from './csv-table.ts'

/** Rows below the names that are looked at for further lines of the header. */
const MOST_LINES = 3
/** Rows of data that a table needs below them, so that its columns can be told. */
const LEAST_ROWS = 2
/** Texts in place of a missing value. */
const MISSING =
  /^(?:n\.?\/?[ad]\.?|nan|nul+|none|nil|unknown|undefined|missing|not (?:available|applicable|reported|known|measured)|no (?:data|value|answer)|closed|open|k\. ?a\.?|keine? (?:angaben?|daten|wert)|unbekannt|entfällt|offen|fehlt|leer|inconnue?|n\.? ?[cs]\.?|s\/[do]|sin datos?|desconocid[oa]|nessun dato|brak danych|onbekend|-+|\.+|…|–|—|\?+|x+|\*+|:|#\S*)?$/i
/** A unit as headers have it: in brackets, or a sign. */
const UNIT = /^(?:[[(].*[\])]|%|[€$£¥°]\S*)$/

/** Lines of a header below its first, and the columns whose values begin below them. */
export interface HeaderLines {
  readonly lines: number
  readonly columns: readonly string[]
}

/**
 * Finds further lines of a header, such as units or the names below those of groups: rows without any value, with texts
 * in columns that have only values below them.
 *
 * @param names the first line
 * @param rows the first rows below it
 * @returns null if the rows are data
 */
export function findHeaderLines(names: readonly string[], rows: readonly string[][]): HeaderLines | null {
  const first = rows.findIndex((row) => row.some(isValue))
  const lines = first > 0 && rows.slice(0, first).some((row) => !row.every(isBlank)) ? first : 0
  if (lines === 0) return yearsBelowGroups(names, rows)
  if (lines > MOST_LINES || rows.length - lines < LEAST_ROWS) return null
  const [head, data] = [rows.slice(0, lines), rows.slice(lines)]
  const affected = [...names.keys()].filter((i) => {
    const values = data.map((row) => row[i]).filter((text) => !isBlank(text))
    const isOfValues = values.length >= LEAST_ROWS && values.every((text) => isValue(text!))
    return isOfValues && head.some((row) => !MISSING.test((row[i] ?? '').trim()))
  })
  const isAlone = head.every((row) => row.every((text, i) => affected.includes(i) || isBlank(text)))
  const isUnit = affected.length === 1 && head.some((row) => UNIT.test((row[affected[0]!] ?? '').trim()))
  if (affected.length < 2 && !(affected.length === 1 && (isAlone || isUnit))) return null
  return { lines, columns: affected.map((i) => names[i]!) }
}

function isBlank(text: string | undefined): boolean {
  return (text ?? '').trim() === ''
}

/** A line of years below a line of groups, where only the first column of a group has a name. */
function yearsBelowGroups(names: readonly string[], [line = [], ...data]: readonly string[][]): HeaderLines | null {
  const unnamed = [...names.keys()].filter((i) => names[i]!.trim() === '')
  const areYears = unnamed.length > 1 && unnamed.every((i) => YEAR.test((line[i] ?? '').trim()))
  const areOthers =
    data.length >= LEAST_ROWS && data.every((row) => unnamed.some((i) => !YEAR.test((row[i] ?? '').trim())))
  return areYears && areOthers ? { lines: 1, columns: unnamed.map((i) => names[i]!) } : null
}

/** Warns of further lines of a header, which are read as rows. */
export function warnOfHeaderLines({ lines, columns }: HeaderLines, warnings: Warnings): void {
  const which = lines === 1 ? 'The line below the names looks' : `The ${lines} lines below the names look`
  const message = `${which} like a part of the header (units, or names below those of groups) and became ${lines === 1 ? 'a row' : 'rows'}, so that columns of values are texts. Keep one line of names.`
  warnings.add('HEADER_LINES', message, columns.length, columns)
}
