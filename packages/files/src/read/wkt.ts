import { WkbWriter, type Dimensions } from '@terrane/core/wkb'
import { decimalOf } from './decimals.ts'

/** Codes of ISO 13249-3; `inner` is the type of untagged members. */
const KINDS: Readonly<Record<string, { readonly code: number; readonly inner?: string }>> = {
  POINT: { code: 1 },
  LINESTRING: { code: 2 },
  LINEARRING: { code: 2 },
  POLYGON: { code: 3 },
  MULTIPOINT: { code: 4, inner: 'POINT' },
  MULTILINESTRING: { code: 5, inner: 'LINESTRING' },
  MULTIPOLYGON: { code: 6, inner: 'POLYGON' },
  GEOMETRYCOLLECTION: { code: 7, inner: 'GEOMETRYCOLLECTION' },
  CIRCULARSTRING: { code: 8 },
  COMPOUNDCURVE: { code: 9, inner: 'LINESTRING' },
  CURVEPOLYGON: { code: 10, inner: 'LINESTRING' },
  MULTICURVE: { code: 11, inner: 'LINESTRING' },
  MULTISURFACE: { code: 12, inner: 'POLYGON' },
  POLYHEDRALSURFACE: { code: 15, inner: 'POLYGON' },
  TIN: { code: 16, inner: 'TRIANGLE' },
  TRIANGLE: { code: 17 },
}
const RINGED = new Set([3, 17])
const EMPTY_POINT = [Number.NaN, Number.NaN, Number.NaN, Number.NaN]
const WORD = /\s*([A-Z]+)/iy
const LETTERS: readonly string[] = ['ZM', 'Z', 'M']
const OPENS = /\s*(?=\(|EMPTY\b)/iy
const EMPTY = /\s*EMPTY\b/iy
const NUMBER = /\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|[+-]?(?:inf(?:inity)?|nan)\b)/iy
/** Characters of numbers, with the letter of an exponent but without names such as NaN. */
const NUMERAL = new Uint8Array(128)
for (const sign of '0123456789.+-eE') NUMERAL[sign.charCodeAt(0)] = 1
const [OPEN, CLOSE, COMMA, MINUS, POINT, ZERO, NINE] = [40, 41, 44, 45, 46, 48, 57]
const NO_BREAK = 160
const FIRST_POSITION = /\(([^(),]+)[,)]/

/**
 * The ISO WKB of a geometry in well-known text (OGC 06-103r4 section 7), with or without PostGIS's SRID prefix; null
 * for other texts.
 */
export function wkbOfWkt(text: string): Uint8Array<ArrayBuffer> | null {
  const plain = text.replace(/^\s*SRID=\d+;/i, '')
  const head = headAt(plain, 0)
  try {
    return new WktReader(plain, dimensionsOf(plain, head?.letters)).whole(head)
  } catch {
    return null
  }
}

/** Dimensions by the letters after the first type, else by the number of values of the first position. */
function dimensionsOf(text: string, first: string | undefined): Dimensions {
  const letters = first ?? /\b(ZM|Z|M)\s*\(/i.exec(text)?.[1]
  if (letters !== undefined) return `xy${letters.toLowerCase()}` as Dimensions
  const numbers = FIRST_POSITION.exec(text)?.[1]?.trim().split(/\s+/).length ?? 2
  return numbers === 4 ? 'xyzm' : numbers === 3 ? 'xyz' : 'xy'
}

interface Head {
  readonly name: string
  readonly letters: string | undefined
  readonly end: number
}

/** The type of a geometry at an offset with its dimension letters, `POINT Z` or `POINTZ`; null for other texts. */
function headAt(text: string, at: number): Head | null {
  WORD.lastIndex = at
  const word = WORD.exec(text)?.[1]?.toUpperCase()
  if (word === undefined) return null
  let end = WORD.lastIndex
  let letters = word in KINDS ? undefined : LETTERS.find((some) => word.endsWith(some))
  const name = letters === undefined ? word : word.slice(0, -letters.length)
  if (letters === undefined) {
    const next = WORD.exec(text)?.[1]?.toUpperCase()
    if (next !== undefined && LETTERS.includes(next)) {
      letters = next
      end = WORD.lastIndex
    }
  }
  OPENS.lastIndex = end
  return OPENS.test(text) ? { name, letters, end } : null
}

class WktReader {
  readonly #text: string
  readonly #width: number
  readonly #writer: WkbWriter
  readonly #numbers: number[] = []
  /** Each character as a byte, because reading bytes is much faster. */
  readonly #signs: Uint8Array
  #at = 0

  constructor(text: string, dimensions: Dimensions) {
    this.#text = text
    this.#signs = signsOf(text)
    this.#width = dimensions.length
    this.#writer = new WkbWriter(dimensions)
  }

  /** @param head its type and dimensions */
  whole(head: Head | null): Uint8Array<ArrayBuffer> {
    this.#geometry(null, head)
    if (this.#text.slice(this.#at).trim() !== '') throw new SyntaxError('text follows')
    return this.#writer.take()
  }

  /** Parses a geometry with its type, or one without if the container defines the type. */
  #geometry(inner: string | null, head = headAt(this.#text, this.#at)): void {
    const name = head?.name ?? inner
    if (head) this.#at = head.end
    const kind = KINDS[name ?? '']
    if (!kind || (!head && kind.code === KINDS['GEOMETRYCOLLECTION']!.code)) throw new SyntaxError('no geometry')
    this.#writer.head(kind.code)
    if (kind.code === 1) this.#point(inner !== null && !head)
    else if (kind.inner !== undefined) this.#list(() => this.#geometry(kind.inner!))
    else if (RINGED.has(kind.code)) this.#list(() => this.#list(() => this.#position()))
    else this.#list(() => this.#position())
  }

  /** Points within a multi point may stand without brackets. */
  #point(mayBeBare: boolean): void {
    if (this.#isEmpty()) this.#writer.position(EMPTY_POINT)
    else if (this.#takes(OPEN)) {
      this.#position()
      if (!this.#takes(CLOSE)) throw new SyntaxError('a bracket is missing')
    } else if (mayBeBare) this.#position()
    else throw new SyntaxError('a bracket is missing')
  }

  /** Items in brackets, their count before them. */
  #list(item: () => void): void {
    const at = this.#writer.openCount()
    if (this.#isEmpty()) return
    if (!this.#takes(OPEN)) throw new SyntaxError('a bracket is missing')
    let count = 0
    do {
      item()
      count++
    } while (this.#takes(COMMA))
    if (!this.#takes(CLOSE)) throw new SyntaxError('a bracket is missing')
    this.#writer.setCount(at, count)
  }

  #position(): void {
    const numbers = this.#numbers
    numbers.length = 0
    for (let number = this.#number(); number !== null; number = this.#number()) numbers.push(number)
    if (numbers.length < 2 || numbers.length > this.#width) throw new SyntaxError('a position has two to four numbers')
    if (this.#width === 2) this.#writer.xy(numbers[0]!, numbers[1]!)
    else this.#writer.position(numbers)
  }

  /** The next number; null without one. */
  #number(): number | null {
    const text = this.#text
    const signs = this.#signs
    let at = this.#at
    while (isBlank(signs[at]!)) at++
    // Most calls come after the last number of a position.
    if (signs[at] === COMMA || signs[at] === CLOSE) return null
    let end = at
    let mantissa = 0
    let decimals = -1
    let isPlain = true
    for (let code = signs[at]!; NUMERAL[code] === 1; code = signs[++end]!) {
      if (code >= ZERO) {
        // Letters of an exponent are beyond the digits.
        if (code > NINE) isPlain = false
        mantissa = mantissa * 10 + code - ZERO
        if (decimals >= 0) decimals++
      } else if (code === POINT && decimals < 0) decimals = 0
      else if (code !== MINUS || end > at) isPlain = false
    }
    const number = isPlain ? plainNumber(text, at, end, mantissa, Math.max(decimals, 0)) : Number(text.slice(at, end))
    if (!Number.isNaN(number)) {
      this.#at = end
      return number
    }
    // A number with letters, or followed directly by other text.
    NUMBER.lastIndex = this.#at
    const found = NUMBER.exec(text)
    if (!found) return null
    this.#at = NUMBER.lastIndex
    return numberOf(found[1]!)
  }

  #isEmpty(): boolean {
    if (this.#signs[this.#at] === OPEN) return false
    EMPTY.lastIndex = this.#at
    if (!EMPTY.test(this.#text)) return false
    this.#at = EMPTY.lastIndex
    return true
  }

  #takes(sign: number): boolean {
    while (isBlank(this.#signs[this.#at]!)) this.#at++
    if (this.#signs[this.#at] !== sign) return false
    this.#at++
    return true
  }
}

/** Value of `text[at, end)`: digits with at most one point, perhaps a minus before them; NaN without digits. */
function plainNumber(text: string, at: number, end: number, mantissa: number, decimals: number): number {
  const isNegative = text.charCodeAt(at) === MINUS
  const hasDigits = end - at > (isNegative ? 1 : 0) + (decimals > 0 ? 1 : 0) && text.charCodeAt(end - 1) >= ZERO
  const number = hasDigits ? decimalOf(mantissa, decimals, isNegative) : Number.NaN
  return Number.isNaN(number) && end > at ? Number(text.slice(at, end)) : number
}

/** Blanks that WKT has between its parts. */
function isBlank(sign: number): boolean {
  return sign === 32 || (sign >= 9 && sign <= 13)
}

let scratch = Buffer.alloc(1 << 16)

/**
 * The characters of a text as bytes with a 0 at the end, valid until the next call. A no-break space becomes a blank,
 * other characters beyond ASCII become 1, which no geometry has.
 */
function signsOf(text: string): Uint8Array {
  const { length } = text
  if (3 * length >= scratch.length) scratch = Buffer.alloc(6 * length)
  if (scratch.write(text) !== length) {
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i)
      scratch[i] = code < 128 ? code : code === NO_BREAK ? 32 : 1
    }
  }
  scratch[length] = 0
  return scratch
}

function numberOf(text: string): number {
  if (/inf/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity
  return /nan/i.test(text) ? Number.NaN : Number(text)
}
