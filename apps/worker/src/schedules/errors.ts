import { defineError } from '@terrane/core'

/** An expression of other than five fields, or with a value out of range. */
export const cronInvalid = defineError(
  'CRON_INVALID',
  'invalid',
  (f: { cron: string; reason: string }) => `cron '${f.cron.slice(0, 100)}' cannot be read: ${f.reason}`,
  () => ({
    hint: "Five fields: minute, hour, day of the month, month, day of the week, e.g. '30 2 * * *' for half past two at night.",
    errors: [{ path: '/cron', message: 'must be a cron expression of five fields' }],
  }),
)

/** A name that the IANA database does not have, or an offset. */
export const timeZoneInvalid = defineError(
  'TIME_ZONE_INVALID',
  'invalid',
  (f: { timeZone: string }) => `There is no time zone '${f.timeZone.slice(0, 100)}'`,
  () => ({
    hint: 'Use a name of the IANA time zone database, e.g. Europe/Zurich or UTC.',
    errors: [{ path: '/timeZone', message: 'must be the name of a time zone' }],
  }),
)

/** An expression whose day exists in no year. */
export const scheduleNeverRuns = defineError(
  'SCHEDULE_NEVER_RUNS',
  'invalid',
  (f: { cron: string }) => `cron '${f.cron}' matches no date`,
  () => ({
    hint: 'Check the day of the month and the month.',
    errors: [{ path: '/cron', message: 'must match a date' }],
  }),
)

/** An expression has a shorter interval than the operator allows. */
export const scheduleTooFrequent = defineError(
  'SCHEDULE_TOO_FREQUENT',
  'invalid',
  (f: { cron: string; seconds: number; leastSeconds: number }) =>
    `cron '${f.cron}' runs twice within ${f.seconds} s; at least ${f.leastSeconds} s have to be between two runs`,
  () => ({
    hint: 'The operator sets the minimum interval by the setting worker.minScheduleMinutes.',
    errors: [{ path: '/cron', message: 'must run less often' }],
  }),
)
