/** Local date, weekday and minute. */
export interface Moment {
  readonly year: number
  /** 1 … 12 */
  readonly month: number
  /** 1 … 31 */
  readonly day: number
  /** 0 is Monday. */
  readonly weekday: number
  /** Since midnight, 0 … 1439. */
  readonly minute: number
}

/** Whether hours hold at a moment. */
export type Hours = (moment: Moment) => boolean

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const WEEKDAYS = ['mo', 'tu', 'we', 'th', 'fr', 'sa', 'su']
const MONTH = `(${MONTHS.join('|')})(?:uary|ruary|ch|il|ne|e|ly|y|ust|t|tember|ober|ember)?(?![a-z])`
/** Letters that may follow the abbreviation of a day; they exclude words such as `wet`. */
const REST_OF_DAYS = ['n|nday', 'e|es|esday', 'd|dnesday', 'u|ur|urs|ursday', 'i|iday', 't|turday', 'n|nday']
const WEEKDAY = `(${WEEKDAYS.map((day, i) => `${day}(?:${REST_OF_DAYS[i]})?`).join('|')})(?![a-z])`
const TIME = '(\\d{1,2})(?::|\\.|h)(\\d{2})'

/** A day of a month; a colon may follow it, but no minutes. */
const DAY = '(\\d{1,2}(?!\\d|[:.h]\\d))'
const YEAR = '((?:19|20)\\d{2})'
const DATES = new RegExp(
  `(?:${YEAR}\\s+)?${MONTH}(?:\\s+${DAY})?(?:\\s*-\\s*(?:(?:${YEAR}\\s+)?${MONTH}\\s*)?${DAY}?)?`,
  'y',
)
const YEARS = new RegExp(`${YEAR}(?:\\s*-\\s*${YEAR}|\\s*(\\+))?(?![:.h\\d])`, 'y')
const WEEK = /week\s*/y
const WEEKS = /(\d{1,2})(?:\s*-\s*(\d{1,2}))?(?![:.h\d/])/y
/** Ordinal days of a month: the first and third, the last. */
const NTH = '\\[(-?[1-5](?:[-,][1-5])*)\\]'
const DAYS = new RegExp(`${WEEKDAY}(?:${NTH}|\\s*-\\s*${WEEKDAY})?`, 'y')
const TIMES = new RegExp(`${TIME}(?:\\s*-\\s*${TIME}|\\s*\\+)`, 'y')
const NEVER = /(off|closed)\b/y
const SPACE = /[\s:]*/y
const COMMA = /\s*,\s*/y
const END = /\s*(;|,|$)\s*/y

/**
 * Years, dates, weeks, days of the week and minutes of the day, each as a list of ranges that may wrap around; empty
 * for all.
 */
interface Rule {
  readonly years: readonly Range[]
  readonly dates: readonly Range[]
  readonly weeks: readonly Range[]
  readonly days: readonly Days[]
  readonly times: readonly Range[]
  readonly never: boolean
}

type Range = readonly [first: number, last: number]

/** Days of the week, optionally with their ordinals in the month; negative ordinals count from the end. */
interface Days {
  readonly range: Range
  readonly nth: readonly number[]
}

/**
 * Parses the hours of conditional tags: years, months and dates, weeks, days of the week with ordinals in the month,
 * times (also over midnight), `24/7`, `off`. Conditions on holidays or the sun are not supported and return null. A
 * part only for public or school holidays is left out. Source: OpenStreetMap wiki, Key:opening_hours/specification.
 */
export function parseHours(text: string): Hours | null {
  const source = text.trim().toLowerCase()
  if (source === '24/7') return () => true
  const rules: Rule[] = []
  for (const part of source.split(/;/)) {
    const days = part.replace(HOLIDAYS_FIRST, '').replaceAll(HOLIDAYS_TOO, '')
    if (HOLIDAYS_ONLY.test(days)) continue
    const read = readRules(days)
    if (read === null) return null
    rules.push(...read)
  }
  if (rules.length === 0) return null
  return (moment) => {
    const matching = rules.filter((rule) => holds(rule, moment))
    return matching.some(({ never }) => !never) && !matching.some(({ never }) => never)
  }
}

const HOLIDAYS_ONLY = /^\s*(ph|sh)\b/
const HOLIDAYS_FIRST = /^\s*(?:(?:ph|sh)\s*,\s*)+(?=[a-z])/
const HOLIDAYS_TOO = /,\s*(ph|sh)\b/g

/** Whether hours contain rules about holidays, which are left out. */
export function omitsHolidays(text: string): boolean {
  return /\b(ph|sh)\b/i.test(text)
}

/** The rules of a text without semicolons; a comma separates both rules and members of a list. */
function readRules(text: string): Rule[] | null {
  const rules: Rule[] = []
  for (let at = 0; at < text.length;) {
    const reader = new Reader(text, at)
    const dated = reader.list(DATES, dateRange)
    const years = dated.length > 0 ? [] : reader.list(YEARS, yearRange)
    const dates = years.length > 0 ? reader.list(DATES, dateRange) : dated
    const isWeekly = reader.take(WEEK) !== null
    const weeks = isWeekly ? reader.list(WEEKS, ([, first, last]): Range => [Number(first), Number(last ?? first)]) : []
    if (isWeekly && weeks.length === 0) return null
    const days = reader.list(DAYS, weekdays)
    const times = reader.list(TIMES, ([, h1, m1, h2, m2]): Range => [
      Number(h1) * 60 + Number(m1),
      h2 === undefined ? 1440 : Number(h2) * 60 + Number(m2),
    ])
    const never = reader.take(NEVER) !== null
    if (reader.at === at || reader.take(END) === null) return null
    rules.push({ years, dates, weeks, days, times, never })
    at = reader.at
  }
  return rules
}

class Reader {
  at: number
  readonly #text: string

  constructor(text: string, at: number) {
    this.#text = text
    this.at = at
    this.take(SPACE)
  }

  take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.#text)
    if (found !== null) this.at = pattern.lastIndex
    return found
  }

  list<Item = Range>(pattern: RegExp, read: (found: RegExpExecArray) => Item): Item[] {
    const ranges: Item[] = []
    for (;;) {
      const before = this.at
      if (ranges.length > 0 && this.take(COMMA) === null) break
      const found = this.take(pattern)
      if (found === null) {
        this.at = before
        break
      }
      ranges.push(read(found))
    }
    this.take(SPACE)
    return ranges
  }
}

/** Days as year × 512 + month × 32 + day, without the year part when no year is given; whole months without days. */
function dateRange([, year, first, firstDay, lastYear, last, lastDay]: RegExpExecArray): Range {
  const from = MONTHS.indexOf(first!) + 1
  const to = last === undefined ? from : MONTHS.indexOf(last) + 1
  const single = last === undefined && lastDay === undefined
  const begin = from * 32 + Number(firstDay ?? 1)
  const end = to * 32 + Number(single ? (firstDay ?? '31') : (lastDay ?? '31'))
  if (year === undefined) return [begin, end]
  const endYear = lastYear === undefined ? Number(year) + Number(end < begin) : Number(lastYear)
  return [Number(year) * YEAR_STEP + begin, endYear * YEAR_STEP + end]
}

const YEAR_STEP = 512

function yearRange([, first, last, onward]: RegExpExecArray): Range {
  return [Number(first), onward === undefined ? Number(last ?? first) : Infinity]
}

function weekdays([, first, nth, last]: RegExpExecArray): Days {
  const from = WEEKDAYS.indexOf(first!.slice(0, 2))
  const to = last === undefined ? from : WEEKDAYS.indexOf(last.slice(0, 2))
  return { range: [from, to], nth: nth === undefined ? [] : nth.split(',').flatMap(numbersOf) }
}

/** The numbers of `1-3`, `2` or `-1`. */
function numbersOf(text: string): number[] {
  const [, first, last] = /^(-?\d)(?:-(\d))?$/.exec(text)!
  return Array.from({ length: Number(last ?? first) - Number(first) + 1 }, (_, i) => Number(first) + i)
}

function holds({ years, dates, weeks, days, times }: Rule, moment: Moment): boolean {
  const { year, month, day, minute } = moment
  const date = month * 32 + day
  const dated = dates.some((range) => within(range, range[0] < YEAR_STEP ? date : year * YEAR_STEP + date))
  if (!(dates.length === 0 || dated) || !isIn(years, year) || (weeks.length > 0 && !isIn(weeks, weekOf(moment))))
    return false
  const onDay = (at: Moment): boolean =>
    days.length === 0 || days.some(({ range, nth }) => within(range, at.weekday) && isNth(nth, at))
  if (times.length === 0) return onDay(moment)
  return times.some(([from, to]) => {
    // An end after 24:00 extends into the next day.
    if (from < to) {
      if (minute >= from && minute < to) return onDay(moment)
      return minute + 1440 < to && onDay(dayBefore(moment))
    }
    return minute >= from ? onDay(moment) : minute < to && onDay(dayBefore(moment))
  })
}

function isIn(ranges: readonly Range[], value: number): boolean {
  return ranges.length === 0 || ranges.some((range) => within(range, value))
}

function isNth(nth: readonly number[], { year, month, day }: Moment): boolean {
  if (nth.length === 0) return true
  const left = new Date(Date.UTC(year, month, 0)).getUTCDate() - day
  return nth.includes(Math.ceil(day / 7)) || nth.includes(-1 - Math.floor(left / 7))
}

/** The week of the year by ISO 8601. */
function weekOf({ year, month, day, weekday }: Moment): number {
  const thursday = new Date(Date.UTC(year, month - 1, day + 3 - weekday))
  return 1 + Math.floor((thursday.getTime() - Date.UTC(thursday.getUTCFullYear(), 0, 1)) / WEEK_MS)
}

const WEEK_MS = 7 * 24 * 3_600_000

function dayBefore({ year, month, day, weekday, minute }: Moment): Moment {
  const date = new Date(Date.UTC(year, month - 1, day - 1))
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    weekday: (weekday + 6) % 7,
    minute,
  }
}

function within([first, last]: Range, value: number): boolean {
  return first <= last ? value >= first && value <= last : value >= first || value <= last
}
