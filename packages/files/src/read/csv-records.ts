import { conversionFailed } from '../errors.ts'
import { chunksOf } from './chunks.ts'

/** Longest field in characters. */
const LONGEST_FIELD = 1 << 28
const QUOTE = '"'
/** What may stand before and behind the quotes of a field. The bound keeps the time in proportion to the text. */
const BLANKS = /^ *$/
const MOST_BLANKS = 1000

/**
 * The records of a text table (RFC 4180) in a file: quoted fields may contain line ends. Empty lines are skipped.
 *
 * @throws CONVERSION_FAILED when a quote is left open, or a field has more than 256 Mi characters
 */
export function* csvRecords(path: string, encoding: string, delimiter: string): Generator<string[]> {
  const decoder = new TextDecoder(encoding)
  const parser = new CsvParser(delimiter)
  for (const chunk of chunksOf(path)) {
    parser.push(decoder.decode(chunk, { stream: true }))
    for (const record of parser.take()) yield record
  }
  parser.push(decoder.decode())
  parser.end()
  yield* parser.take()
}

/** The records that end within the beginning of a text table. */
export function firstRecords(text: string, delimiter: string): readonly string[][] {
  const parser = new CsvParser(delimiter)
  parser.push(text)
  return parser.take()
}

class CsvParser {
  readonly #delimiter: string
  readonly #stops: RegExp
  #records: string[][] = []
  #record: string[] = []
  #field = ''
  #inQuotes = false
  /** The last character of a quoted field was a quote. */
  #quoteSeen = false
  #isQuoted = false
  /** Blanks before the quotes of the field, and behind them. */
  #before = ''
  #behind = ''
  #returnSeen = false

  constructor(delimiter: string) {
    this.#delimiter = delimiter
    this.#stops = new RegExp(`[${delimiter === '|' ? '\\|' : delimiter}"\\r\\n]`, 'g')
  }

  /** The records that ended since the last call. */
  take(): readonly string[][] {
    const records = this.#records
    this.#records = []
    return records
  }

  push(text: string): void {
    for (let at = 0; at < text.length;) {
      if (this.#inQuotes && !this.#quoteSeen) {
        const quote = text.indexOf(QUOTE, at)
        const end = quote < 0 ? text.length : quote
        this.#append(text.slice(at, end))
        at = end + 1
        if (quote >= 0) this.#quoteSeen = true
        continue
      }
      const sign = text[at]!
      if (this.#quoteSeen) {
        this.#quoteSeen = false
        if (sign === QUOTE) {
          this.#append(QUOTE)
          at++
          continue
        }
        this.#inQuotes = false
      }
      if (sign === QUOTE && !this.#isQuoted && isBlank(this.#field)) {
        this.#before = this.#field
        this.#field = ''
        this.#inQuotes = true
        this.#isQuoted = true
        at++
      } else if (sign === this.#delimiter) {
        this.#endField()
        at++
      } else if (sign === '\n' || sign === '\r') {
        at++
        const isSecond = sign === '\n' && this.#returnSeen
        this.#returnSeen = sign === '\r'
        if (!isSecond) this.#endRecord()
        continue
      } else {
        this.#stops.lastIndex = at + 1
        const end = this.#stops.exec(text)?.index ?? text.length
        if (this.#isQuoted) this.#appendBehind(text.slice(at, end))
        else this.#append(text.slice(at, end))
        at = end
      }
      this.#returnSeen = false
    }
  }

  end(): void {
    while (this.#inQuotes && !this.#quoteSeen) {
      if (this.#before === '') throw conversionFailed({ reason: 'a quote is not closed' })
      this.#rereadAsText('')
    }
    this.#endRecord()
  }

  /** Blanks behind quotes do not belong to the field. Other text does, and then quotes behind blanks enclose nothing. */
  #appendBehind(text: string): void {
    this.#behind += text
    if (isBlank(this.#behind)) return
    const behind = this.#behind
    this.#behind = ''
    this.#isQuoted = false
    if (this.#before === '') this.#append(behind)
    else this.#rereadAsText(QUOTE + behind)
  }

  /** Reads a field that a quote behind blanks began as text with that quote, because the quote does not enclose it. */
  #rereadAsText(behind: string): void {
    const text = this.#field.replaceAll(QUOTE, QUOTE + QUOTE) + behind
    this.#field = this.#before + QUOTE
    this.#before = ''
    this.#isQuoted = false
    this.#inQuotes = false
    this.push(text)
  }

  #append(text: string): void {
    this.#field += text
    if (this.#field.length > LONGEST_FIELD) throw conversionFailed({ reason: 'a field is too long' })
  }

  #endField(): void {
    this.#record.push(this.#field)
    this.#field = ''
    this.#before = ''
    this.#behind = ''
    this.#isQuoted = false
    this.#inQuotes = false
    this.#quoteSeen = false
  }

  #endRecord(): void {
    if (this.#record.length === 0 && this.#field === '' && !this.#isQuoted) return
    this.#endField()
    this.#records.push(this.#record)
    this.#record = []
  }
}

function isBlank(text: string): boolean {
  return text.length <= MOST_BLANKS && BLANKS.test(text)
}
