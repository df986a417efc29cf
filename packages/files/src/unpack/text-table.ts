import { formatUnknown } from '../errors.ts'
import { firstRecords } from '../read/csv-records.ts'
import { delimiterOf, hasNameAboveValues, isFirst, isNumber } from '../read/csv-table.ts'

/** Beginning of a geometry in well-known text, in quotes or not. */
const WKT = /^"?(SRID=\d+;)?(MULTI)?(POINT|LINESTRING|POLYGON|GEOMETRYCOLLECTION)(\s*[ZM]{1,2})?\s*(\(|EMPTY)/i
/** Beginning of the first statement of a database script. */
const SQL =
  /^(?:set\s+[\w.]+\s*(?:=|to\s)|(?:create|drop|alter)\s+(?:or\s+replace\s+)?(?:table|schema|database|extension|index|view|sequence|function|type|role)\s|insert\s+into\s|begin;$|begin transaction;$|start transaction;$|pragma\s+\w+|use\s+[`\w]+;$|copy\s+[\w."]+\s*\(|select\s+(?:pg_catalog\.|addgeometrycolumn|'))/i
/** Lines before the first statement: comments, and commands of psql. */
const ASIDE = /^\s*(?:--|\/\*|\*|#|\\)/
/** Beginning of a comment: unlike the name of a column, it has a blank after the sign. */
const COMMENT = /^#+\s/
const STATEMENT_END = /;[ \t\r]*$/m
const SYSTEM = /^(?:GEOGCS|PROJCS|GEOGCRS|PROJCRS|COMPD_?CRS|BOUNDCRS|GEODCRS)\s*\[/i
const MARKDOWN_RULE = /^[|: \t\r-]+$/
/** Lines before the header that are looked at for a title. */
const MOST_TITLE_LINES = 8
/** Minimum share of rows with the width of the header. */
const LEAST_SHARE = 0.5
/** Mean words per field, in the first line and in all lines, from which on a text is prose. */
const HEADER_WORDS = 2
const PROSE_WORDS = 2.5

/**
 * Refuses text that is not a table: a header with a delimiter, or a single column of geometries, and rows that have as
 * many fields. A text whose first line names the delimiter (`sep=;`) is always a table, also with a single column or
 * with sentences.
 *
 * @param isWhole whether the text is the whole file and not only its beginning
 * @throws FORMAT_UNKNOWN
 */
export function checkTable(text: string, isWhole: boolean): void {
  const head = isWhole ? `${text}\n` : text
  const { delimiter, isSaid } = delimiterOf(head)
  const all = firstRecords(head, delimiter)
  const start = all.findIndex((record, i) => isFirst(record, i, isSaid))
  const records = start < 0 ? [] : all.slice(start)
  const lines = text.replace(/^[\r\n]+/, '').split(/\r\n|[\r\n]/, 3)
  const [line = '', first = ''] = isSaid ? lines.slice(1) : lines
  const header = records[0] ?? line.split(delimiter)
  refuseOthers(text, first)
  refuseComments(records)
  if (!isSaid && !WKT.test(first)) {
    if (header.length < 2 || !records.slice(1).some(({ length }) => length === header.length)) refuseTitle(head)
    if (header.length < 2) throw formatUnknown({ reason: 'it is text of no format that is known' })
  }
  if (/^\w+:\S/.test(line) && first === '') throw formatUnknown({ reason: 'it looks like a connection string' })
  // oxlint-disable-next-line no-control-regex -- Control characters do not belong into a table of text.
  if (/[\u0001-\u0008\u000e-\u001f]/.test(text)) throw formatUnknown({ reason: 'it has control characters' })
  checkWidths(records)
  if (!isSaid && (delimiter === ',' || delimiter === ';') && isProse(records)) {
    const reason = `it looks like prose, not like a table: if it is one, put the line sep=${delimiter} before its first line`
    throw formatUnknown({ reason })
  }
}

/** @throws FORMAT_UNKNOWN for other texts with lines and delimiters, such as SQL */
function refuseOthers(text: string, second: string): void {
  const statement = text.split('\n').find((line) => line.trim() !== '' && !ASIDE.test(line)) ?? ''
  if (SQL.test(statement.trim()) && STATEMENT_END.test(text)) {
    throw formatUnknown({ reason: 'it is a script for a database: run it there, with psql for one' })
  }
  if (SYSTEM.test(text)) throw formatUnknown({ reason: 'it is the text of a reference system alone' })
  if (MARKDOWN_RULE.test(second) && second.includes('|') && second.includes('--'))
    throw formatUnknown({ reason: 'it is Markdown: save the table as CSV' })
}

/** @throws FORMAT_UNKNOWN for a table below lines of a title, which would name the columns */
function refuseTitle(head: string): void {
  const lines = head.split(/\r\n|[\r\n]/)
  for (let above = 1; above <= MOST_TITLE_LINES && above < lines.length - 2; above++) {
    const rest = lines.slice(above).join('\n')
    const [names = [], ...rows] = firstRecords(rest, delimiterOf(rest).delimiter)
    const isEven = names.length > 1 && rows.length > 1 && rows.every(({ length }) => length === names.length)
    if (isEven && areNames(names, rows))
      throw formatUnknown({
        reason: `it begins with a title: remove the lines before line ${above + 1}, which names the columns`,
      })
  }
}

/** @throws FORMAT_UNKNOWN for comments before the header, which would name the columns */
function refuseComments(records: readonly string[][]): void {
  const after = records.findIndex(([field = '']) => !field.startsWith('#'))
  if (after <= 0) return
  const comments = records.slice(0, after)
  const [names = [], ...rows] = records.slice(after)
  const isUneven = comments.some(({ length }) => length !== names.length)
  if (isUneven || (comments.every(([field = '']) => COMMENT.test(field)) && areNames(names, rows)))
    throw formatUnknown({ reason: 'it begins with comments: remove the lines before the header that begin with #' })
}

/** Whether a record has different texts, below which a column has values only. */
function areNames(names: readonly string[], rows: readonly string[][]): boolean {
  const areTexts = names.every((name) => name.trim() !== '' && !isNumber(name))
  return areTexts && new Set(names).size === names.length && hasNameAboveValues(names, rows)
}

/** Prose, programs and logs have commas, too, but not the same number in each line. */
function checkWidths([header = [], ...rows]: readonly string[][]): void {
  // A single name beside empty ones is a title; several are a header, in which other columns have no name.
  const width = header.filter((name) => name !== '').length > 1 ? header.length : widthOf(header)
  const even = rows.filter((row) => widthOf(row) <= width && row.length >= Math.min(width, 2)).length
  if (even >= rows.length * LEAST_SHARE) return
  throw formatUnknown({ reason: 'it is text but no table: most lines have not as many fields as the first' })
}

/**
 * Whether each line is a part of sentences: several words before and after each delimiter, a space after it, and no
 * numbers.
 */
function isProse(records: readonly string[][]): boolean {
  const [header = []] = records
  const fields = records.flat()
  const isSpaced = records.every((record) => record.slice(1).every((field) => field === '' || /^\s/.test(field)))
  if (records.length < 2 || !isSpaced || fields.some((field) => /^\s*[-+]?\d[\d.,]*\s*$/.test(field))) return false
  const hasEnd = records.some((record) => /[.!?]\s*$/.test(record.at(-1) ?? ''))
  return hasEnd && wordsOf(header) >= HEADER_WORDS && wordsOf(fields) >= PROSE_WORDS
}

/** Mean number of words of fields. */
function wordsOf(fields: readonly string[]): number {
  return fields.reduce((sum, field) => sum + field.split(/\s+/).filter((word) => word !== '').length, 0) / fields.length
}

/** Number of fields up to the last that is not blank. */
function widthOf(row: readonly string[]): number {
  return row.findLastIndex((text) => text.trim() !== '') + 1
}
