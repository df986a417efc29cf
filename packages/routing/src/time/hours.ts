/** A minute of a week of a year, as clocks show it at a place. */
export interface Moment {
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
const WEEKDAY = `(${WEEKDAYS.join('|')})(?:n|nday|e|esday|d|dnesday|u|ursday|i|iday|t|turday)?(?![a-z])`
const TIME = '(\\d{1,2})(?::|\\.|h)(\\d{2})'

const DATES = new RegExp(
  `${MONTH}(?:\\s+(\\d{1,2}(?![:.h\\d])))?(?:\\s*-\\s*(?:${MONTH}\\s*)?(\\d{1,2}(?![:.h\\d]))?)?`,
  'y',
)
const DAYS = new RegExp(`${WEEKDAY}(?:\\s*-\\s*${WEEKDAY})?`, 'y')
const TIMES = new RegExp(`${TIME}(?:\\s*-\\s*${TIME}|\\s*\\+)`, 'y')
const NEVER = /(off|closed)\b/y
const SPACE = /[\s:]*/y
const COMMA = /\s*,\s*/y
const END = /\s*(;|,|$)\s*/y

/** Days of the year, days of the week and minutes of the day, each a list of ranges that may wrap around; empty for all. */
interface Rule {
  readonly dates: readonly Range[]
  readonly days: readonly Range[]
  readonly times: readonly Range[]
  readonly never: boolean
}

type Range = readonly [first: number, last: number]

/**
 * Reads hours as conditional tags have them: months and dates, days of the week, times over midnight too, `24/7`, `off`.
 * What depends on holidays, the sun, weeks or years is not understood and gives null. A part that is only about public or
 * school holidays is left out. Source: OpenStreetMap wiki, Key:opening_hours/specification.
 */
export function parseHours(text: string): Hours | null {
  const source = text.trim().toLowerCase()
  if (source === '24/7') return () => true
  const rules: Rule[] = []
  for (const part of source.split(/;/)) {
    if (/^\s*(ph|sh)\b/.test(part)) continue
    const read = readRules(part.replaceAll(/,\s*(ph|sh)\b/g, ''))
    if (read === null) return null
    rules.push(...read)
  }
  if (rules.length === 0) return null
  return (moment) => {
    const matching = rules.filter((rule) => holds(rule, moment))
    return matching.some(({ never }) => !never) && !matching.some(({ never }) => never)
  }
}

/** The rules of a text without semicolons; a comma parts rules as well as the members of a list. */
function readRules(text: string): Rule[] | null {
  const rules: Rule[] = []
  for (let at = 0; at < text.length;) {
    const reader = new Reader(text, at)
    const dates = reader.list(DATES, dateRange)
    const days = reader.list(DAYS, ([, first, last]) => {
      const from = WEEKDAYS.indexOf(first!)
      return [from, last === undefined ? from : WEEKDAYS.indexOf(last)]
    })
    const times = reader.list(TIMES, ([, h1, m1, h2, m2]) => [
      Number(h1) * 60 + Number(m1),
      h2 === undefined ? 1440 : Number(h2) * 60 + Number(m2),
    ])
    const never = reader.take(NEVER) !== null
    if (reader.at === at || reader.take(END) === null) return null
    rules.push({ dates, days, times, never })
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

  list(pattern: RegExp, read: (found: RegExpExecArray) => Range): Range[] {
    const ranges: Range[] = []
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

/** A range of days as month × 32 + day; without days whole months. */
function dateRange([, first, firstDay, last, lastDay]: RegExpExecArray): Range {
  const from = MONTHS.indexOf(first!) + 1
  const to = last === undefined ? from : MONTHS.indexOf(last) + 1
  const single = last === undefined && lastDay === undefined
  const end = single ? (firstDay ?? '31') : (lastDay ?? '31')
  return [from * 32 + Number(firstDay ?? 1), to * 32 + Number(end)]
}

function holds({ dates, days, times }: Rule, { month, day, weekday, minute }: Moment): boolean {
  const dated = dates.length === 0 || dates.some((range) => within(range, month * 32 + day))
  if (!dated) return false
  const onDay = (which: number): boolean => days.length === 0 || days.some((range) => within(range, which))
  if (times.length === 0) return onDay(weekday)
  return times.some(([from, to]) => {
    if (from < to) {
      // An end past 24:00 reaches into the next day.
      return (onDay(weekday) && minute >= from && minute < to) || (onDay((weekday + 6) % 7) && minute + 1440 < to)
    }
    return (onDay(weekday) && minute >= from) || (onDay((weekday + 6) % 7) && minute < to)
  })
}

function within([first, last]: Range, value: number): boolean {
  return first <= last ? value >= first && value <= last : value >= first || value <= last
}
