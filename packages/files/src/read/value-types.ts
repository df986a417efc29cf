import type { FieldType } from '../feature-stream.ts'

const DAY = '-?\\d{4,6}[-/](?:0[1-9]|1[0-2])[-/](?:0[1-9]|[12]\\d|3[01])'
const CLOCK = '(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d{1,9})?)?'
const DATE = new RegExp(`^${DAY}$`)
/** Hours beyond a day, as timetables have them, are texts. */
const TIME = new RegExp(`^(?:${CLOCK}|24:00(?::00)?)$`)
const STAMP = new RegExp(`^${DAY}[T ]${CLOCK}( ?(?:Z|UTC|GMT|[+-]\\d\\d(?::?\\d\\d)?))?$`, 'i')
const INT4 = 2 ** 31
const INT8 = 2n ** 63n

export type Kind =
  | 'bool'
  | 'int4'
  | 'int8'
  | 'numeric'
  | 'float8'
  | 'date'
  | 'time'
  /** A local time, without a zone. */
  | 'timestamp'
  | 'timestamptz'
  | 'text'
  | 'jsonb'

/** Finds the type of a field from all of its values. */
export class TypeGuess {
  readonly #kinds = new Set<Kind>()

  /** Adds a value of JSON; whole numbers that a double cannot hold come as bigints. */
  add(value: unknown): void {
    const kind = kindOf(value)
    if (kind !== null) this.#kinds.add(kind)
  }

  /** Adds a kind that the caller has determined. */
  addKind(kind: Kind): void {
    this.#kinds.add(kind)
  }

  /** Whether there was no value at all. */
  get isEmpty(): boolean {
    return this.#kinds.size === 0
  }

  /** The common type of the kinds; text without any value, or when no other type holds all of them. */
  get type(): FieldType {
    const kinds = this.#kinds
    const has = (...wanted: Kind[]) => wanted.some((kind) => kinds.has(kind))
    const only = (...wanted: Kind[]) => [...kinds].every((kind) => wanted.includes(kind))
    if (kinds.size === 0) return 'text'
    if (has('jsonb')) return 'jsonb'
    if (only('bool')) return 'bool'
    if (only('int4', 'int8', 'numeric', 'float8')) {
      if (has('numeric')) return 'numeric'
      return has('float8') ? 'float8' : has('int8') ? 'int8' : 'int4'
    }
    if (only('date')) return 'date'
    if (only('date', 'timestamp')) return 'timestamp'
    if (only('date', 'timestamp', 'timestamptz')) return 'timestamptz'
    return only('time') ? 'time' : 'text'
  }
}

/** Converts a value to the form of a field's type. */
export function valueOf(value: unknown, type: FieldType): unknown {
  if (value === null || value === undefined) return null
  if (type === 'text') return textOf(value)
  if ((type === 'date' || type === 'timestamp' || type === 'timestamptz') && typeof value === 'string')
    return timeText(value)
  if (type === 'float8') return Number(value)
  return value
}

/**
 * A day or time in ISO 8601: with hyphens for slashes, without a space before the zone, and with Z for names of UTC.
 */
export function timeText(text: string): string {
  const plain = text.replaceAll('/', '-')
  return plain.replace(/ ?(?:Z|UTC|GMT)$/i, 'Z').replace(/ (?=[+-]\d\d(?::?\d\d)?$)/, '')
}

/** A text unchanged, anything else as JSON; numbers that JSON does not have by their names. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'bigint' || typeof value === 'number' ? String(value) : JSON.stringify(value)
}

function kindOf(value: unknown): Kind | null {
  switch (typeof value) {
    case 'boolean':
      return 'bool'
    case 'bigint':
      return value >= -INT8 && value < INT8 ? 'int8' : 'numeric'
    case 'number':
      if (!Number.isInteger(value)) return 'float8'
      return value >= -INT4 && value < INT4 ? 'int4' : Number.isSafeInteger(value) ? 'int8' : 'float8'
    case 'string':
      return kindOfText(value)
    default:
      return value === null || value === undefined ? null : 'jsonb'
  }
}

/** The kind of a text other than a number. */
function kindOfText(text: string): Kind {
  // Most texts are neither days nor times, which their first character shows.
  const first = text.charCodeAt(0)
  if (!((first >= 48 && first <= 57) || first === 45)) return 'text'
  if (DATE.test(text)) return 'date'
  if (TIME.test(text)) return 'time'
  const stamp = STAMP.exec(text)
  return stamp === null ? 'text' : stamp[1] === undefined ? 'timestamp' : 'timestamptz'
}

const WHOLE = /^[+-]?(0|[1-9]\d*)$/
const DECIMAL = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,4})?$/i
const BEGINS_VALUE = /^[-+.\dtf]/i
const LEADING_ZERO = /^[+-]?0\d/
/** A telephone number; numbers of seven digits are rarely written with a plus. */
const TELEPHONE = /^\+\d{7,}$/
/** A code such as 12E3: programs write a sign, a point or both where they mean an exponent. */
const LETTERED = /^\d+e\d+$/i

/** The kind of a field of a text table. Digits that begin with a zero are a key and no number, and so are telephone numbers. */
export function kindOfCell(cell: string): Kind | null {
  if (cell === '') return null
  const text = cell.trim()
  // Blanks alone are a text.
  if (text === '') return 'text'
  // Numbers, days, times and truth values begin with one of few characters; all other cells are texts.
  if (!BEGINS_VALUE.test(text)) return 'text'
  if (WHOLE.test(text)) {
    if (TELEPHONE.test(text)) return 'text'
    const number = Number(text)
    if (number >= -INT4 && number < INT4) return 'int4'
    const exact = BigInt(text)
    return exact >= -INT8 && exact < INT8 ? 'int8' : 'numeric'
  }
  if (LEADING_ZERO.test(text) && !text.includes('.') && !/[-:/]/.test(text.slice(1))) return 'text'
  if (DECIMAL.test(text)) return LEADING_ZERO.test(text) || LETTERED.test(text) ? 'text' : 'float8'
  if (/^(true|false)$/i.test(text)) return 'bool'
  return kindOfText(text)
}

/** The value of a field of a text table. */
export function valueOfCell(cell: string, type: FieldType): unknown {
  if (type === 'text') return cell
  const text = cell.trim()
  if (text === '') return null
  switch (type) {
    case 'bool':
      return text.toLowerCase() === 'true'
    case 'int4':
    case 'float8':
      return Number(text)
    case 'int8':
      return BigInt(text)
    case 'numeric':
      return text
    default:
      return timeText(text)
  }
}
