import type { Field, FieldType } from '../../feature-stream.ts'
import { FileWindow } from '../chunks.ts'
import { decimalOf } from '../decimals.ts'
import { decoderFor, encodingOfDriver } from './code-pages.ts'
import { foxproType, foxproValue } from './foxpro.ts'
import { UnusualFile } from './unusual.ts'

const LATIN1 = 'iso-8859-1'
const DBASE_III = 0x03
/** Versions of Visual FoxPro, with and without autoincrement columns. */
const FOXPRO: ReadonlySet<number> = new Set([0x30, 0x31, 0x32])
const HEAD_BYTES = 32
const FIELD_BYTES = 32
const NAME_BYTES = 11
const LAST_FIELD = 0x0d
const BLANK = 0x20
const [MINUS, POINT, ZERO] = [0x2d, 0x2e, 0x30]
const DELETED = 0x2a
/** Maximum width of whole numbers for a type, in characters. */
const INT4_WIDTH = 9
const INT8_WIDTH = 18
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
const WHOLE = /^[+-]?\d+$/
/** Words of C for fractions that are not finite. */
const WORDS: ReadonlyMap<string, number> = new Map([
  ['nan', Number.NaN],
  ['-nan', Number.NaN],
  ['inf', Number.POSITIVE_INFINITY],
  ['-inf', Number.NEGATIVE_INFINITY],
])

interface Column extends Field {
  readonly offset: number
  readonly width: number
  readonly letter: string
  readonly isBinary: boolean
}

/** A table of dBASE III as Shapefiles have it, or of Visual FoxPro: rows of fixed width, all cells of the former are texts. */
export class DbfTable implements Disposable {
  readonly rows: number
  readonly fields: readonly Field[]
  readonly #columns: readonly Column[]
  readonly #file: FileWindow
  readonly #head: number
  readonly #width: number
  readonly #decode: Decode

  /**
   * @param encoding of its texts; null when neither the request nor a `.cpg` has one
   * @throws UnusualFile for forms that only an engine reads correctly
   */
  constructor(path: string, encoding: string | null) {
    this.#file = new FileWindow(path)
    const head = this.#file.at(0, HEAD_BYTES)
    const version = head?.[0] ?? 0
    if (!head || (version !== DBASE_III && !FOXPRO.has(version))) throw new UnusualFile(`a table of version ${version}`)
    this.rows = head.readUInt32LE(4)
    this.#head = head.readUInt16LE(8)
    this.#width = head.readUInt16LE(10)
    this.#decode = decoderOf(encoding ?? encodingOfDriver(head[29]!))
    this.#columns = this.#readColumns(FOXPRO.has(version))
    this.fields = this.#columns.map(({ name, type }) => ({ name, type }))
    if (this.#head + this.rows * this.#width > this.#file.size) throw new UnusualFile('a table that is cut off')
  }

  /**
   * The cells of a row; null for a row that was deleted.
   *
   * @throws UnusualFile for a cell that does not match its column
   */
  row(index: number): unknown[] | null {
    const bytes = this.#file.at(this.#head + index * this.#width, this.#width)
    if (!bytes) throw new UnusualFile('a table that is cut off')
    if (bytes[0] === DELETED) return null
    return this.#columns.map((column) => this.#cell(bytes, column))
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]()
  }

  #readColumns(isFoxpro: boolean): Column[] {
    const columns: Column[] = []
    const names = new Set<string>()
    let offset = 1
    for (let at = HEAD_BYTES; at + FIELD_BYTES <= this.#head; at += FIELD_BYTES) {
      const bytes = this.#file.at(at, FIELD_BYTES)
      if (!bytes || bytes[0] === LAST_FIELD) break
      const name = textIn(bytes.subarray(0, NAME_BYTES)).toString('latin1')
      const letter = String.fromCharCode(bytes[NAME_BYTES]!)
      const [width, decimals] = [bytes[16]!, bytes[17]!]
      if (!/^[ -~]+$/.test(name) || names.has(name.toLowerCase())) throw new UnusualFile(`a column called ${name}`)
      names.add(name.toLowerCase())
      const own = isFoxpro ? foxproType(letter, width) : null
      columns.push({
        name,
        type: own ?? typeOf(letter, width, decimals),
        letter,
        offset,
        width,
        isBinary: own !== null,
      })
      offset += width
    }
    if (offset !== this.#width) throw new UnusualFile('columns that do not fill their rows')
    return columns
  }

  #cell(row: Buffer, column: Column): unknown {
    const { name, letter, type, offset, width } = column
    if (column.isBinary) return foxproValue(letter, row.subarray(offset, offset + width))
    let from = offset
    let to = offset
    while (to < offset + width && row[to] !== 0) to++
    while (from < to && row[from] === BLANK) from++
    while (to > from && row[to - 1] === BLANK) to--
    if (from === to) return null
    if (letter === 'C') return this.#decode(row, from, to)
    if (letter === 'N' || letter === 'F') {
      const number = plainNumber(row, from, to, type === 'float8')
      if (!Number.isNaN(number)) return number
    }
    const text = row.toString('latin1', from, to)
    const unusual = () => new UnusualFile(`a cell of ${name}: ${text}`)
    switch (letter) {
      case 'L':
        if (text === '?') return null
        if (/^[TY1]$/i.test(text)) return true
        if (/^[FN0]$/i.test(text)) return false
        throw unusual()
      case 'D':
        if (/^0+$/.test(text)) return null
        return dateOf(text) ?? raise(unusual())
      default:
        if (text.startsWith('*')) return null
        if (type === 'float8' && WORDS.has(text.toLowerCase())) return WORDS.get(text.toLowerCase())
        if (!NUMBER.test(text) || (type !== 'float8' && !WHOLE.test(text))) throw unusual()
        return type === 'int8' ? wholeOf(text) : Number(text)
    }
  }
}

function typeOf(letter: string, width: number, decimals: number): FieldType {
  switch (letter) {
    case 'C':
      return 'text'
    case 'L':
      return 'bool'
    case 'D':
      return 'date'
    case 'N':
    case 'F':
      if (decimals > 0) return 'float8'
      if (width <= INT4_WIDTH) return 'int4'
      if (width <= INT8_WIDTH) return 'int8'
  }
  throw new UnusualFile(`a column of type ${letter}, ${width} wide`)
}

type Decode = (bytes: Buffer, from: number, to: number) => string

/** @param encoding null when unknown: then all texts must be ASCII, which all encodings share */
function decoderOf(encoding: string | null): Decode {
  const decodeOther = otherDecoderOf(encoding)
  return (bytes, from, to) => {
    for (let i = from; i < to; i++) if (bytes[i]! >= 128) return decodeOther(bytes.subarray(from, to))
    return bytes.toString('latin1', from, to)
  }
}

/** A decoder of texts that are not ASCII. */
function otherDecoderOf(encoding: string | null): (bytes: Buffer) => string {
  if (encoding !== null && encoding !== LATIN1) {
    const decode = decoderFor(encoding)
    return (bytes) => {
      try {
        return decode(bytes)
      } catch (cause) {
        throw new UnusualFile('a text in another encoding than it says', { cause })
      }
    }
  }
  // Bytes that Latin-1 does not define are usually Windows-1252.
  const isSaid = (byte: number) => byte < 128 || (byte > 159 && encoding === LATIN1)
  return (bytes) => {
    if (!bytes.every(isSaid)) throw new UnusualFile('a text in an encoding that is not said')
    return bytes.toString('latin1')
  }
}

/** The number of digits with at most one point, perhaps a minus before them; NaN for any other text. */
function plainNumber(bytes: Buffer, from: number, to: number, mayHavePoint: boolean): number {
  const isNegative = bytes[from] === MINUS
  let digits = 0
  let count = 0
  let decimals = -1
  for (let at = isNegative ? from + 1 : from; at < to; at++) {
    const digit = bytes[at]! - ZERO
    if (digit >= 0 && digit <= 9) {
      digits = digits * 10 + digit
      count++
      if (decimals >= 0) decimals++
    } else if (bytes[at] === POINT && decimals < 0 && mayHavePoint) decimals = 0
    else return Number.NaN
  }
  return count === 0 ? Number.NaN : decimalOf(digits, Math.max(decimals, 0), isNegative)
}

/** The bytes before the first NUL. */
function textIn(bytes: Buffer): Buffer {
  const end = bytes.indexOf(0)
  return end < 0 ? bytes : bytes.subarray(0, end)
}

/** `20260131` as ISO 8601; null for other texts. */
function dateOf(text: string): string | null {
  if (!/^\d{8}$/.test(text)) return null
  const iso = `${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}`
  const date = new Date(`${iso}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(iso) ? iso : null
}

function wholeOf(text: string): number | bigint {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}

function raise(error: Error): never {
  throw error
}
