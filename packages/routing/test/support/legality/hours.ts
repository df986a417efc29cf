/** A local moment, as an opening-hours specification asks for it. */
export interface Moment {
  readonly year: number
  /** 0 is January. */
  readonly month: number
  readonly day: number
  /** 0 is Monday. */
  readonly weekday: number
  /** Minutes since midnight. */
  readonly minute: number
}

/** True, false, or null where the text is not plain enough for a claim. */
export type Answer = boolean | null

const DAYS = ['Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa', 'Su']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const DAY_MINUTES = 1440

/** The moment some minutes after a local time `2026-06-01T08:10`. */
export function momentAfter(local: string, minutes: number): Moment {
  const date = new Date(Date.parse(`${local}Z`) + minutes * 60_000)
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth(),
    day: date.getUTCDate(),
    weekday: (date.getUTCDay() + 6) % 7,
    minute: date.getUTCHours() * 60 + date.getUTCMinutes(),
  }
}

/**
 * Whether opening hours hold at a moment: months, days of the month, weekdays and clock times. Source: OpenStreetMap
 * wiki, Key:opening_hours/specification. Holidays, weeks, the sun and years are not plain.
 */
export function hoursHold(text: string, moment: Moment): Answer {
  if (text.trim() === '24/7') return true
  let answer: Answer = false
  for (const rule of text.split(';').map((part) => part.trim())) {
    const holds = rule === '' ? false : ruleHolds(rule, moment)
    if (holds === null) return null
    if (holds === 'off') answer = false
    else if (holds) answer = true
  }
  return answer
}

function ruleHolds(rule: string, moment: Moment): Answer | 'off' {
  const isOff = / ?\b(off|closed)$/.test(rule)
  const [, months = '', days = '', times = ''] = RULE.exec(rule.replace(/ ?\b(off|closed)$/, '').trim()) ?? []
  if (months + days + times === '') return null
  const before = previousDay(moment)
  const inTimes = times === '' ? true : null
  const holds =
    inTimes === true
      ? dayMatches(months, days, moment)
      : rangesOf(times).some(([begin, end]) => {
          const today = moment.minute >= begin && moment.minute < end && dayMatches(months, days, moment)
          // A range over midnight belongs to the day that it begins on.
          return today || (moment.minute + DAY_MINUTES < end && dayMatches(months, days, before))
        })
  return isOff ? (holds ? 'off' : false) : holds
}

const DAY = '(?:Mo|Tu|We|Th|Fr|Sa|Su)'
const MONTH = `(?:${MONTHS.join('|')})`
const DATE = `${MONTH}(?: ?\\d{1,2}(?![\\d:]))?`
const CLOCK = String.raw`\d{1,2}:\d{2}`
const RULE = new RegExp(
  `^(${DATE}(?: ?- ?(?:${DATE}|\\d{1,2}))?(?:, ?${DATE}(?: ?- ?${DATE})?)*)? ?:?` +
    ` ?(${DAY}(?:[-,] ?${DAY})*)? ?(${CLOCK} ?- ?${CLOCK}(?:, ?${CLOCK} ?- ?${CLOCK})*)?$`,
)

function rangesOf(times: string): [number, number][] {
  return Array.from(times.matchAll(/(\d{1,2}):(\d{2}) ?- ?(\d{1,2}):(\d{2})/g), ([, h1, m1, h2, m2]) => {
    const begin = Number(h1) * 60 + Number(m1)
    const end = Number(h2) * 60 + Number(m2)
    return [begin, end > begin ? end : end + DAY_MINUTES]
  })
}

function dayMatches(months: string, days: string, moment: Moment): boolean {
  return inMonths(months, moment) && inDays(days, moment.weekday)
}

function inDays(days: string, weekday: number): boolean {
  if (days === '') return true
  return days.split(',').some((part) => {
    const [first, last = first] = part.split('-').map((day) => DAYS.indexOf(day.trim()))
    return (weekday - first! + 7) % 7 <= (last! - first! + 7) % 7
  })
}

function inMonths(months: string, { month, day }: Moment): boolean {
  if (months === '') return true
  return months.split(',').some((part) => {
    const [from, to = from] = part.split('-').map((date) => date.trim())
    const first = dateOf(from!, 0, 1)
    const last = dateOf(to!, Math.floor(first / 100), 31)
    const today = month * 100 + day
    return first <= last ? today >= first && today <= last : today >= first || today <= last
  })
}

/** A day of the year as month × 100 + day. */
function dateOf(text: string, month: number, day: number): number {
  const named = MONTHS.indexOf(text.slice(0, 3))
  const number = /\d+/.exec(text)?.[0]
  return (named < 0 ? month : named) * 100 + (number === undefined ? day : Number(number))
}

function previousDay({ year, month, day }: Moment): Moment {
  const date = new Date(Date.UTC(year, month, day - 1))
  return momentAfter(date.toISOString().slice(0, 16), 0)
}
