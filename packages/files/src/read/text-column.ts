import type { FieldType } from '../feature-stream.ts'
import { castText } from './asked-types.ts'
import {
  clockText,
  dayText,
  formsOfText,
  isShortened,
  isSurePoint,
  plainNumber,
  type DayOrder,
  type Form,
} from './text-forms.ts'
import { TypeGuess, kindOfCell, valueOfCell, type Kind } from './value-types.ts'

/** Decimal separator of numbers. */
export type DecimalSign = ',' | '.'

/** Doubts about the meaning of a column. */
export type Doubt =
  /** Numbers were read with the decimal sign of other columns, or with the likely one. */
  | 'read as numbers'
  /** 1,234 stays text. */
  | 'thousand or fraction'
  /** Times without a zone were read as UTC, because others of the column have one. */
  | 'zone'
  /** A date was requested, so the day was assumed to come first. */
  | 'day first'
  /** 3/4/2024 stays text. */
  | 'day or month'
  /** Numbers with units, or with words for no value, stay text. */
  | 'more than numbers'
  /** 4,91511E+12 was a longer whole number before a spreadsheet shortened it. */
  | 'shortened'

/** Type of a column, and how its cells are parsed. */
export interface ColumnReading {
  readonly type: FieldType
  readonly read: (cell: string) => unknown
  readonly doubt: Doubt | null
}

/** Facts about a column from the rest of the file. */
export interface ColumnPlace {
  /** Decimal sign of the numbers of other columns; null when they have none or disagree. */
  readonly sign: DecimalSign | null
  /** Whether it is one of the two columns of coordinates. */
  readonly isCoordinate: boolean
  /** Fields end with a comma, so a comma within a field may separate items of a list. */
  readonly isCommaTable: boolean
}

const NUMBERS: readonly Kind[] = ['int4', 'int8', 'numeric', 'float8']
const TIMES: readonly Kind[] = ['date', 'timestamp']
const DAYS: ReadonlySet<Form> = new Set<Form>([
  'day first',
  'month first',
  'day or month',
  'dotted day',
  'short day',
  'with a time',
])
/** Digits in groups without a fraction. */
const SPACED: ReadonlySet<Form> = new Set<Form>(['blank groups', 'spaced groups'])
/** Names of columns whose digits are identifiers, in any form. */
const OF_CODES = /(?<!\p{L})(phone|telephone|telefon|telefono|tel|mobile|mobil|handy|fax|isbn|issn|iban)(?!\p{L})/iu
/** Names of columns whose fractions are versions: 1.10 comes after 1.9. */
const OF_VERSIONS = /(?<!\p{L})(version|release|firmware)(?!\p{L})/iu

/** Determines the type of a column of a text table from all of its cells. */
export class TextColumn {
  readonly #name: string
  readonly #isAsked: boolean
  readonly #guess = new TypeGuess()
  readonly #kinds = new Set<Kind>()
  readonly #forms = new Set<Form>()
  #surePoint = false
  #hasExponent = false
  #hasShortened = false
  /** Whether a number has a fraction, or an exponent that spreadsheets do not write. */
  #hasFraction = false
  /** Whether a cell is plain text: then the column is text unless a type is requested. */
  #isText = false

  /** @param isAsked whether the caller names its type; then text cells do not decide about other cells */
  constructor(name: string, isAsked = false) {
    this.#isAsked = isAsked
    this.#name = name.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
  }

  add(cell: string): void {
    if (this.#isText && !this.#isAsked) return
    const kind = kindOfCell(cell)
    if (kind === null) return
    if (kind !== 'text') {
      this.#guess.addKind(kind)
      this.#kinds.add(kind)
      if (kind === 'float8') this.#addFraction(cell.trim())
      return
    }
    for (const form of formsOfText(cell.trim())) {
      if (form === 'comma fraction') this.#addFraction(cell.trim())
      this.#forms.add(form)
      this.#isText ||= form === 'text'
    }
  }

  #addFraction(text: string): void {
    const isShort = isShortened(text)
    this.#hasExponent ||= /e/i.test(text)
    this.#hasShortened ||= isShort
    this.#hasFraction ||= !isShort
    this.#surePoint ||= kindOfCell(text) === 'float8' && isSurePoint(text)
  }

  /** The certain decimal sign of its numbers; null when it is ambiguous or contradictory. */
  get decimalSign(): DecimalSign | null {
    if (this.#isText || this.#has('amount', 'none', 'key') || !this.#only(NUMBERS)) return null
    return this.#signOfNumbers
  }

  /** The certain decimal sign of its numeric cells, regardless of other cells. */
  get #signOfNumbers(): DecimalSign | null {
    const comma = this.#has('comma fraction', 'point groups')
    const point = this.#surePoint || this.#has('comma groups', 'point fraction')
    return comma === point ? null : comma ? ',' : '.'
  }

  decide(place: ColumnPlace): ColumnReading {
    return this.#withLoss(this.#decide(place))
  }

  /** Long whole numbers without their last digits; measurements have other fractions beside them. */
  #withLoss(reading: ColumnReading): ColumnReading {
    return this.#hasShortened && !this.#hasFraction ? { ...reading, doubt: 'shortened' } : reading
  }

  #decide(place: ColumnPlace): ColumnReading {
    if (this.#isText || this.#has('key') || this.#isCode) return stays(null)
    if (this.#has('amount', 'none')) return stays(this.#isAlmostPlain ? 'more than numbers' : null)
    if (this.#forms.size === 0) return this.#plain(place)
    if ([...DAYS].some((form) => this.#forms.has(form))) return this.#day()
    if (this.#has('clock', 'short clock')) return this.#clock()
    return this.#only(NUMBERS) ? this.#number(place) : stays(null)
  }

  /** Converts to a type that the caller names. Values that do not fit are undefined. */
  cast(type: FieldType, { sign }: ColumnPlace): ColumnReading {
    const isWhole = type === 'int2' || type === 'int4' || type === 'int8'
    const likely = this.#has('comma or groups') && !isWhole ? ',' : '.'
    const isDay = type === 'date' || type === 'timestamp' || type === 'timestamptz'
    const isMonthFirst = this.#has('month first') && !this.#has('day first')
    const isOpen = isDay && this.#has('day or month') && this.#has('month first') === this.#has('day first')
    const writing = {
      sign: this.#signOfNumbers ?? sign ?? likely,
      order: isMonthFirst ? 'month first' : 'day first',
    } as const
    return this.#withLoss({ type, read: (cell) => castText(cell, type, writing), doubt: isOpen ? 'day first' : null })
  }

  /** Accepts only the usual output of programs. */
  #plain({ sign, isCoordinate }: ColumnPlace): ColumnReading {
    const { type } = this.#guess
    const mayBeGroups = type === 'float8' && !this.#surePoint && !this.#hasExponent && !isCoordinate
    if (mayBeGroups && sign === ',') return becomes('int8', (cell) => plainNumber(cell, ','), 'read as numbers')
    const isMixed = type === 'timestamptz' && this.#kinds.size > 1
    return { type, read: (cell) => valueOfCell(cell, type), doubt: isMixed ? 'zone' : null }
  }

  #number({ sign, isCoordinate, isCommaTable }: ColumnPlace): ColumnReading {
    if (this.#has('blank groups') && !this.#has('spaced groups', 'comma fraction', 'point fraction'))
      return stays('thousand or fraction')
    const isSimple = [...this.#forms].every((form) => form === 'comma fraction' || form === 'comma or groups')
    // Coordinates have no thousands separators, so both decimal signs may occur in one column.
    if (isCoordinate && isSimple) return becomes('float8', (cell) => cell.trim().replace(',', '.'))
    const own = this.decimalSign
    const isContradictory =
      own === null && this.#has('comma fraction', 'point groups', 'comma groups', 'point fraction')
    const found = own ?? sign ?? (this.#has('comma or groups') ? null : '.')
    if (isContradictory || found === null) return stays('thousand or fraction')
    const fractions: readonly Form[] = found === ',' ? ['comma fraction', 'comma or groups'] : ['point fraction']
    const hasFraction = this.#has(...fractions) || (found === '.' && this.#kinds.has('float8'))
    const isSure = own !== null ? !(isCommaTable && own === ',') : !this.#has('comma or groups')
    const doubt = isSure ? null : 'read as numbers'
    return becomes(hasFraction ? 'float8' : 'int8', (cell) => plainNumber(cell, found), doubt)
  }

  #day(): ColumnReading {
    if (!this.#only(TIMES) || ![...this.#forms].every((form) => DAYS.has(form))) return stays(null)
    const [dayFirst, monthFirst] = [this.#has('day first'), this.#has('month first')]
    const isOpen = (this.#has('day or month') || dayFirst || monthFirst) && dayFirst === monthFirst
    if (this.#has('short day') || isOpen) return stays('day or month')
    const order: DayOrder = monthFirst ? 'month first' : 'day first'
    const type = this.#has('with a time') || this.#kinds.has('timestamp') ? 'timestamp' : 'date'
    return becomes(type, (cell) => dayText(cell, order))
  }

  #clock(): ColumnReading {
    const isOnly = this.#only(['time']) && [...this.#forms].every((form) => form === 'clock' || form === 'short clock')
    return isOnly && (this.#has('clock') || this.#kinds.has('time')) ? becomes('time', clockText) : stays(null)
  }

  /** Whether digits are codes according to the name of the column. */
  get #isCode(): boolean {
    if (![...this.#forms].every((form) => SPACED.has(form)) || !this.#only(NUMBERS)) return false
    return OF_CODES.test(this.#name) || (OF_VERSIONS.test(this.#name) && this.#kinds.has('float8'))
  }

  /** Whether the cells are numbers, days or times apart from units and words for no value. */
  get #isAlmostPlain(): boolean {
    return this.#has('amount') || this.#kinds.size > 0 || [...this.#forms].some((form) => form !== 'none')
  }

  #has(...wanted: readonly Form[]): boolean {
    return wanted.some((form) => this.#forms.has(form))
  }

  #only(wanted: readonly Kind[]): boolean {
    return [...this.#kinds].every((kind) => wanted.includes(kind))
  }
}

function stays(doubt: Doubt | null): ColumnReading {
  return { type: 'text', read: (cell) => cell, doubt }
}

function becomes(type: FieldType, plain: (cell: string) => string, doubt: Doubt | null = null): ColumnReading {
  return { type, read: (cell) => valueOfCell(plain(cell), type), doubt }
}
