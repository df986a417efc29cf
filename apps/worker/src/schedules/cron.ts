import { CronExpressionParser, type CronExpression } from 'cron-parser'
import { cronInvalid, scheduleNeverRuns, scheduleTooFrequent, timeZoneInvalid } from './errors.ts'

/** Minute, hour, day of the month, month, day of the week: numbers, names, lists, ranges, steps, L and #. */
const FIVE_FIELDS = /^[\dA-Z*/,#?-]+(?: [\dA-Z*/,#?-]+){4}$/i
const NICKNAMES: ReadonlySet<string> = new Set([
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
])
/** `H` stands for a number that is random at each evaluation. */
const RANDOM = /(?:^|[ ,])H/i
const DAY_SECONDS = 86_400
/** Limits of the search for close days: maximum number of days, and maximum time span in seconds. */
const MOST_DAYS = 100
const LOOK_AHEAD_SECONDS = 400 * DAY_SECONDS

/**
 * Checks when a schedule would run, and returns its expression without spare spaces.
 *
 * @param leastSeconds minimum interval between two runs, without regard to daylight saving time
 * @throws CRON_INVALID, TIME_ZONE_INVALID, SCHEDULE_TOO_FREQUENT, SCHEDULE_NEVER_RUNS
 */
export function checkTimes(cron: string, timeZone: string, now: Date, leastSeconds: number): string {
  if (!isZone(timeZone)) throw timeZoneInvalid({ timeZone })
  const text = cron.trim().split(/\s+/).join(' ')
  if (!NICKNAMES.has(text) && (!FIVE_FIELDS.test(text) || RANDOM.test(text)))
    throw cronInvalid({ cron, reason: 'it needs five fields' })
  let expression
  try {
    expression = CronExpressionParser.parse(text, { tz: 'UTC', currentDate: now })
  } catch (cause) {
    throw cronInvalid({ cron, reason: (cause as Error).message }, { cause })
  }
  if (nextTick(text, timeZone, now) === null) throw scheduleNeverRuns({ cron })
  const seconds = shortestInterval(expression, leastSeconds, now)
  if (seconds < leastSeconds) throw scheduleTooFrequent({ cron, seconds, leastSeconds })
  return text
}

/** The shortest interval of an expression, in seconds: exact where it is below `least`, else a lower bound. */
function shortestInterval(expression: CronExpression, least: number, now: Date): number {
  // All days of an expression have the same times, in order.
  const { hour, minute } = expression.fields
  const times = hour.values.flatMap((h) => minute.values.map((m) => h * 3600 + m * 60))
  const inDay = Math.min(...times.slice(1).map((time, i) => time - times[i]!))
  const overnight = DAY_SECONDS - times.at(-1)! + times[0]!
  if (inDay < least || overnight >= least) return Math.min(inDay, overnight)
  return Math.min(inDay, overnight - DAY_SECONDS + shortestSpan(expression, now))
}

/** The shortest interval between two coming days of an expression, in seconds. */
function shortestSpan(expression: CronExpression, now: Date): number {
  const fields = expression.stringify().split(' ').slice(2)
  const days = CronExpressionParser.parse(`0 0 ${fields.join(' ')}`, { tz: 'UTC', currentDate: now })
  const seconds = () => days.next().getTime() / 1000
  let shortest = Infinity
  try {
    const first = seconds()
    for (let i = 0, before = first; i < MOST_DAYS && before < first + LOOK_AHEAD_SECONDS; i++) {
      const day = seconds()
      shortest = Math.min(shortest, day - before)
      before = day
    }
  } catch {
    // There is no further day.
  }
  return shortest
}

/** The next time of a schedule, or null. A time that the clocks skip is an hour later; a repeated one counts once. */
export function nextTick(cron: string, timeZone: string, after: Date): Date | null {
  try {
    return CronExpressionParser.parse(cron, { tz: timeZone, currentDate: after }).next().toDate()
  } catch {
    // The expression was checked; its day does not exist in any year.
    return null
  }
}

/** Names of the IANA database. Offsets are refused, because they have no daylight saving time. */
function isZone(timeZone: string): boolean {
  if (!/^[A-Z]/i.test(timeZone)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
