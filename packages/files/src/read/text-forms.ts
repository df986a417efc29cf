/** Number-like forms of text cells that have more than one reading. */
export type Form =
  | 'text'
  /** Digits of an identifier: 007, +4915112345678, 12E3. */
  | 'key'
  /** 519,25: a fraction, because groups of thousands have three digits. */
  | 'comma fraction'
  /** 1,234: a fraction or a thousand. */
  | 'comma or groups'
  /** 1,234,567 or 1,234.5. */
  | 'comma groups'
  /** 1.234.567 or 1.234,5. */
  | 'point groups'
  /** A fraction after a point, in a number with groups: 1,234.5. */
  | 'point fraction'
  /** Groups separated by a narrow space or an apostrophe; by a space only if a fraction follows. */
  | 'spaced groups'
  /** 12 345: a number, or a telephone number. */
  | 'blank groups'
  /** 12 %, € 5 */
  | 'amount'
  /** A word for no value. */
  | 'none'
  /** 31/12/2024 */
  | 'day first'
  /** 12/31/2024 */
  | 'month first'
  /** 3/4/2024 */
  | 'day or month'
  /** 31.12.2024 */
  | 'dotted day'
  /** 31.12.24 */
  | 'short day'
  | 'with a time'
  /** 2:30 PM */
  | 'clock'
  /** 7:05, which a duration or a result may be, too. */
  | 'short clock'

/** Notation of the days of a column. */
export type DayOrder = 'day first' | 'month first'

const KEY = /^(?:[+-]?0\d*|\+\d{7,}|\d+e\d+)$/i
const COMMA_OR_GROUPS = /^[+-]?[1-9]\d{0,2},\d{3}$/
const COMMA = /^[+-]?(?:0|[1-9]\d*),\d+(?:e[+-]?\d{1,4})?$/i
const COMMA_GROUPS = /^[+-]?[1-9]\d{0,2}(?:(?:,\d{3}){2,}|(?:,\d{3})+(?=\.))(?<fraction>\.\d+)?$/
const POINT_GROUPS = /^[+-]?[1-9]\d{0,2}(?:(?:\.\d{3}){2,}|(?:\.\d{3})+(?=,))(?<fraction>,\d+)?$/
const SPACED_GROUPS = /^[+-]?[1-9]\d{0,2}(?:(?:[\u00a0\u202f'’]\d{3})+|(?: \d{3})+(?=[.,]))(?:(?<sign>[.,])\d+)?$/
const BLANK_GROUPS = /^[+-]?[1-9]\d{0,2}(?: \d{3})+$/
const SMALL_GROUP = /^[+-]?[1-9]\d{0,2}\.\d{3}$/
/** Spreadsheets show six digits of whole numbers from twelve digits on. */
const SHORTENED = /^[+-]?[1-9](?:[.,]\d{1,5})?E\+(?:1[1-9]|2\d)$/
const AMOUNT =
  /^(?:(?:€|\$|£|¥|EUR|USD|GBP|CHF)\s?[+-]?\d[\d.,'’\s]*|[+-]?\d[\d.,'’\s]*(?:%|‰|€|\$|£|¥|EUR|USD|GBP|CHF))$/i
const NONE = /^(?:n\/?a|#n\/a|nan|null|none|nil|k\.\s?a\.|\\n|[-–—?.]{1,3}|[+-]?inf(?:inity)?)$/i
const DAY =
  /^(?<a>\d{1,2})(?<mark>[./-])(?<b>\d{1,2})\k<mark>(?<year>\d{4}|\d{2})(?:,?[ T]\s?(?<clock>[\d:.]+(?:\s?[ap]\.?m\.?)?))?$/i
const CLOCK = /^(?<hour>\d{1,2}):(?<rest>[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?)(?:\s?(?<half>[ap])\.?m\.?)?$/i

/** Forms that a cell matches; a day with a time of day matches two. */
export function formsOfText(text: string): readonly Form[] {
  if (NONE.test(text)) return ['none']
  const first = text.charCodeAt(0)
  const isDigit = first >= 48 && first <= 57
  if (!isDigit && !/^[+\-€$£¥EUGC]/i.test(text)) return ['text']
  if (KEY.test(text)) return ['key']
  return numberForms(text) ?? (AMOUNT.test(text) ? ['amount'] : isDigit ? momentForms(text) : ['text'])
}

/** Whether a spreadsheet shortened a long whole number such as a telephone number: 4,91511E+12. Its last digits are lost. */
export function isShortened(text: string): boolean {
  return SHORTENED.test(text)
}

/** Whether a number with a point has a fraction for sure: 12.5, but not 1.234. */
export function isSurePoint(text: string): boolean {
  return text.includes('.') && !SMALL_GROUP.test(text)
}

/** A number as programs write it: without groups, with a point. */
export function plainNumber(cell: string, sign: ',' | '.'): string {
  const plain = cell.replaceAll(/[\s\u00a0\u202f'’]/g, '')
  return sign === ',' ? plain.replaceAll('.', '').replace(',', '.') : plain.replaceAll(',', '')
}

/** A date, or a date and time, in the order of ISO 8601; texts in that order are unchanged. */
export function dayText(cell: string, order: DayOrder): string {
  const { a, b, mark, year, clock } = DAY.exec(cell.trim())?.groups ?? {}
  if (a === undefined || b === undefined) return cell
  const isDayFirst = mark === '.' || order === 'day first'
  const [day, month] = isDayFirst ? [a, b] : [b, a]
  const date = `${wholeYear(year!)}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  return clock === undefined ? date : `${date}T${clockText(clock)}`
}

/** Two-digit years up to 69 are 20xx, others 19xx. */
function wholeYear(year: string): string {
  return year.length === 4 ? year : `${Number(year) < 70 ? '20' : '19'}${year}`
}

/** A time of day in 24 hours of two digits. */
export function clockText(cell: string): string {
  const { hour, rest, half } = CLOCK.exec(cell.trim())?.groups ?? {}
  if (hour === undefined) return cell.trim()
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0)
  return `${String(hours).padStart(2, '0')}:${rest}`
}

function numberForms(text: string): readonly Form[] | null {
  if (COMMA_OR_GROUPS.test(text)) return ['comma or groups']
  if (COMMA.test(text)) return ['comma fraction']
  const commas = COMMA_GROUPS.exec(text)
  if (commas) return commas.groups?.['fraction'] === undefined ? ['comma groups'] : ['comma groups', 'point fraction']
  const points = POINT_GROUPS.exec(text)
  if (points) return points.groups?.['fraction'] === undefined ? ['point groups'] : ['point groups', 'comma fraction']
  if (BLANK_GROUPS.test(text)) return ['blank groups']
  const spaced = SPACED_GROUPS.exec(text)
  if (!spaced) return null
  const sign = spaced.groups?.['sign']
  return sign === undefined ? ['spaced groups'] : ['spaced groups', sign === ',' ? 'comma fraction' : 'point fraction']
}

function momentForms(text: string): readonly Form[] {
  const { a, b, mark, year, clock } = DAY.exec(text)?.groups ?? {}
  if (a !== undefined && b !== undefined) {
    const day = dayForm(Number(a), Number(b), mark === '.', year!.length === 2)
    const isClock = clock === undefined || isHour(CLOCK.exec(clock))
    return day === 'text' || !isClock ? ['text'] : clock === undefined ? [day] : [day, 'with a time']
  }
  const found = CLOCK.exec(text)
  if (!isHour(found)) return ['text']
  return [found?.groups?.['half'] === undefined ? 'short clock' : 'clock']
}

function dayForm(a: number, b: number, isDotted: boolean, isShort: boolean): Form {
  const [canDayFirst, canMonthFirst] = [a >= 1 && a <= 31 && b >= 1 && b <= 12, b >= 1 && b <= 31 && a >= 1 && a <= 12]
  if (!canDayFirst && (isDotted || !canMonthFirst)) return 'text'
  if (isShort) return 'short day'
  if (isDotted) return 'dotted day'
  if (a === b) return 'dotted day'
  return canDayFirst && canMonthFirst ? 'day or month' : canDayFirst ? 'day first' : 'month first'
}

function isHour(clock: RegExpExecArray | null): boolean {
  const { hour = '99', half } = clock?.groups ?? {}
  return half === undefined ? Number(hour) < 24 : Number(hour) >= 1 && Number(hour) <= 12
}
