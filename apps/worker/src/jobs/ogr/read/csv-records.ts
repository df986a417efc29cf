import { createReadStream } from 'node:fs'
import { conversionFailed } from '../errors.ts'

/** Longest field in characters. */
const LONGEST_FIELD = 1 << 28
const QUOTE = '"'

/**
 * The records of a text table (RFC 4180) in a file: fields may stand in quotes, and hold line ends there. Lines without
 * anything are passed over.
 *
 * @throws CONVERSION_FAILED when a quote is left open, or a field has more than 256 Mi characters
 */
export async function* csvRecords(path: string, encoding: string, delimiter: string): AsyncGenerator<string[]> {
  const decoder = new TextDecoder(encoding)
  const parser = new CsvParser(delimiter)
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
    yield* parser.push(decoder.decode(chunk as Buffer, { stream: true }))
  }
  yield* parser.push(decoder.decode())
  yield* parser.end()
}

class CsvParser {
  readonly #delimiter: string
  readonly #stops: RegExp
  #record: string[] = []
  #field = ''
  #inQuotes = false
  /** The last character within quotes was one itself. */
  #quoteSeen = false
  #isQuoted = false
  #returnSeen = false

  constructor(delimiter: string) {
    this.#delimiter = delimiter
    this.#stops = new RegExp(`[${delimiter === '|' ? '\\|' : delimiter}"\\r\\n]`, 'g')
  }

  *push(text: string): Generator<string[]> {
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
      if (sign === QUOTE && this.#field === '' && !this.#isQuoted) {
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
        if (!isSecond) yield* this.#endRecord()
        continue
      } else {
        this.#stops.lastIndex = at + 1
        const end = this.#stops.exec(text)?.index ?? text.length
        this.#append(text.slice(at, end))
        at = end
      }
      this.#returnSeen = false
    }
  }

  *end(): Generator<string[]> {
    if (this.#inQuotes && !this.#quoteSeen) throw conversionFailed({ reason: 'a quote is not closed' })
    yield* this.#endRecord()
  }

  #append(text: string): void {
    this.#field += text
    if (this.#field.length > LONGEST_FIELD) throw conversionFailed({ reason: 'a field is too long' })
  }

  #endField(): void {
    this.#record.push(this.#field)
    this.#field = ''
    this.#isQuoted = false
    this.#inQuotes = false
    this.#quoteSeen = false
  }

  *#endRecord(): Generator<string[]> {
    if (this.#record.length === 0 && this.#field === '' && !this.#isQuoted) return
    this.#endField()
    const record = this.#record
    this.#record = []
    yield record
  }
}
