import { WkbWriter } from '@terrane/core/wkb'
import { decimalOf } from './decimals.ts'

const OPEN = 91
const CLOSE = 93
const COMMA = 44
const MINUS = 45
const POINT = 46
const ZERO = 48
const BLANKS = new Set([9, 10, 13, 32])
/** Digits of whole numbers that a double holds exactly. */
const SAFE_DIGITS = 15
const MOST_DEPTH = 4
const TO_SINGLE = 3

/** WKB codes, and the nesting depth of positions in the coordinates of each type. */
const SHAPES: Readonly<Record<string, { readonly code: number; readonly depth: number }>> = {
  Point: { code: 1, depth: 1 },
  LineString: { code: 2, depth: 2 },
  Polygon: { code: 3, depth: 3 },
  MultiPoint: { code: 4, depth: 2 },
  MultiLineString: { code: 5, depth: 3 },
  MultiPolygon: { code: 6, depth: 4 },
}

/**
 * Coordinates of GeoJSON read from their text, without an array for each position. Only plain lists are supported: all
 * positions of two, or all of three numbers, without exponents, and no empty lists.
 */
export class FlatCoordinates {
  readonly #writers = { 2: new WkbWriter('xy'), 3: new WkbWriter('xyz') }
  readonly #path = new Int32Array(MOST_DEPTH + 1)
  #numbers = new Float64Array(1 << 10)
  #length = 0
  /** Number of members of each list of lists, in the order in which the lists begin. */
  #counts: number[] = []
  #depth = 0
  #width = 0
  #at = 0
  #listAt = 0
  #numberAt = 0

  /** Reads the list that begins at an offset. Returns its end, or −1 for a list that is not plain. */
  read(bytes: Uint8Array, start: number): number {
    this.#at = start
    this.#length = this.#depth = this.#width = 0
    this.#counts.length = 0
    for (let level = 0; ;) {
      if (this.#next(bytes) !== OPEN) return -1
      level++
      this.#at++
      if (level > MOST_DEPTH) return -1
      if (this.#next(bytes) === OPEN) {
        this.#path[level] = this.#counts.push(0) - 1
        continue
      }
      if (!this.#position(bytes, level)) return -1
      // Closes the lists that end with this position.
      for (;;) {
        level--
        if (level === 0) return this.#at
        this.#counts[this.#path[level]!]!++
        const sign = this.#next(bytes)
        this.#at++
        if (sign === COMMA) break
        if (sign !== CLOSE) return -1
      }
    }
  }

  /** The coordinates of the last list as ISO WKB of a geometry type; null when they do not fit the type. */
  wkbOf(type: string): Uint8Array | null {
    const shape = SHAPES[type]
    if (shape?.depth !== this.#depth) return null
    const writer = this.#writers[this.#width as 2 | 3]
    const { code } = shape
    this.#listAt = this.#numberAt = 0
    writer.head(code)
    if (code <= TO_SINGLE) this.#write(writer, code, shape.depth)
    else {
      // Each of several points is a list itself.
      const count = this.#count(writer)
      for (let i = 0; i < count; i++) {
        writer.head(code - TO_SINGLE)
        this.#write(writer, code - TO_SINGLE, shape.depth - 1)
      }
    }
    return writer.take()
  }

  #write(writer: WkbWriter, code: number, depth: number): void {
    if (depth === 1) {
      this.#positions(writer, 1)
      return
    }
    const count = this.#count(writer)
    if (depth === 2) this.#positions(writer, count)
    else for (let i = 0; i < count; i++) this.#write(writer, code, depth - 1)
  }

  #count(writer: WkbWriter): number {
    const count = this.#counts[this.#listAt++]!
    writer.count(count)
    return count
  }

  #positions(writer: WkbWriter, count: number): void {
    const numbers = this.#numbers
    const width = this.#width
    const end = this.#numberAt + count * width
    for (let at = this.#numberAt; at < end; at += width) {
      if (width === 2) writer.xy(numbers[at]!, numbers[at + 1]!)
      else writer.position(numbers.subarray(at, at + width))
    }
    this.#numberAt = end
  }

  /** The next byte other than a space. */
  #next(bytes: Uint8Array): number {
    while (BLANKS.has(bytes[this.#at]!)) this.#at++
    return bytes[this.#at]!
  }

  /** Reads the numbers of a position and the closing bracket. */
  #position(bytes: Uint8Array, level: number): boolean {
    if (this.#depth === 0) this.#depth = level
    else if (this.#depth !== level) return false
    if (this.#length + MOST_DEPTH > this.#numbers.length) {
      const larger = new Float64Array(this.#numbers.length * 2)
      larger.set(this.#numbers)
      this.#numbers = larger
    }
    const first = this.#length
    for (;;) {
      this.#next(bytes)
      const number = this.#number(bytes)
      if (Number.isNaN(number) || this.#length - first > 2) return false
      this.#numbers[this.#length++] = number
      const sign = this.#next(bytes)
      this.#at++
      if (sign === COMMA) continue
      const width = this.#length - first
      if (sign !== CLOSE || width < 2) return false
      if (this.#width === 0) this.#width = width
      return this.#width === width
    }
  }

  /** Parses a JSON number; NaN for other text, an exponent, or a whole number that a double may not hold. */
  #number(bytes: Uint8Array): number {
    const start = this.#at
    const isNegative = bytes[start] === MINUS
    let at = isNegative ? start + 1 : start
    const whole = at
    let mantissa = 0
    let digit = bytes[at]! - ZERO
    while (digit >= 0 && digit <= 9) {
      mantissa = mantissa * 10 + digit
      digit = bytes[++at]! - ZERO
    }
    const wholeDigits = at - whole
    if (wholeDigits === 0 || wholeDigits > SAFE_DIGITS || (wholeDigits > 1 && bytes[whole] === ZERO)) return Number.NaN
    let decimals = 0
    if (bytes[at] === POINT) {
      digit = bytes[++at]! - ZERO
      const fraction = at
      while (digit >= 0 && digit <= 9) {
        mantissa = mantissa * 10 + digit
        digit = bytes[++at]! - ZERO
      }
      decimals = at - fraction
      if (decimals === 0) return Number.NaN
    }
    // An exponent follows.
    if ((bytes[at]! | 0x20) === 0x65) return Number.NaN
    this.#at = at
    const number = decimalOf(mantissa, decimals, isNegative)
    if (!Number.isNaN(number)) return number
    let text = ''
    for (let i = start; i < at; i++) text += String.fromCharCode(bytes[i]!)
    return Number(text)
  }
}
