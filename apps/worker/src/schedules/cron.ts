import { CronExpressionParser } from 'cron-parser'
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
/** H stands for a random number, another one at each look. */
const RANDOM = /(?:^|[ ,])H/i
/** Ticks that are looked at for the shortest time between two, and how far ahead, in milliseconds. */
const LOOKED_AT = 100
const LOOK_AHEAD_MS = 400 * 86_400_000

/**
 * Checks when a schedule would run, and returns its expression without spare spaces.
 *
 * @param leastSeconds least time between two of its times
 * @throws CRON_INVALID, TIME_ZONE_INVALID, SCHEDULE_TOO_FREQUENT, SCHEDULE_NEVER_RUNS
 */
export function checkTimes(cron: string, timeZone: string, now: Date, leastSeconds: number): string {
  if (!isZone(timeZone)) throw timeZoneInvalid({ timeZone })
  const text = cron.trim().split(/\s+/).join(' ')
  if (!NICKNAMES.has(text) && (!FIVE_FIELDS.test(text) || RANDOM.test(text)))
    throw cronInvalid({ cron, reason: 'it needs five fields' })
  try {
    CronExpressionParser.parse(text, { tz: 'UTC' })
  } catch (cause) {
    throw cronInvalid({ cron, reason: (cause as Error).message }, { cause })
  }
  let before = nextTick(text, timeZone, now)
  if (before === null) throw scheduleNeverRuns({ cron })
  const end = before.getTime() + LOOK_AHEAD_MS
  for (let i = 0; i < LOOKED_AT && before.getTime() < end; i++) {
    const next = nextTick(text, timeZone, before)
    if (next === null) break
    const seconds = (next.getTime() - before.getTime()) / 1000
    if (seconds < leastSeconds) throw scheduleTooFrequent({ cron, seconds, leastSeconds })
    before = next
  }
  return text
}

/**
 * The first time of a schedule after another one, or null where there is none. A time that a change of the clocks leaves
 * out comes an hour later, one that it brings twice counts once.
 */
export function nextTick(cron: string, timeZone: string, after: Date): Date | null {
  try {
    return CronExpressionParser.parse(cron, { tz: timeZone, currentDate: after }).next().toDate()
  } catch {
    // The expression was checked; it describes a day that no year has.
    return null
  }
}

/** Names of the IANA database; offsets are none, for they know no summer. */
function isZone(timeZone: string): boolean {
  if (!/^[A-Z]/i.test(timeZone)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
