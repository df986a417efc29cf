import { expect, test } from 'vitest'
import { checkTimes, nextTick } from './cron.ts'

const NOW = new Date('2026-11-22T14:00:00Z')
const next = (cron: string, zone: string, after: string) => nextTick(cron, zone, new Date(after))?.toISOString() ?? null

test.each([
  ['a field too few', '* * * *', 'UTC', 'CRON_INVALID'],
  ['seconds', '0 30 2 * * *', 'UTC', 'CRON_INVALID'],
  ['nothing', ' ', 'UTC', 'CRON_INVALID'],
  ['words', 'every day at noon please', 'UTC', 'CRON_INVALID'],
  ['a minute that no hour has', '60 * * * *', 'UTC', 'CRON_INVALID'],
  ['an unknown nickname', '@secondly', 'UTC', 'CRON_INVALID'],
  ['a time drawn by lot', 'H 2 * * *', 'UTC', 'CRON_INVALID'],
  ['an unknown zone', '0 2 * * *', 'Mars/Olympus', 'TIME_ZONE_INVALID'],
  ['an offset, which knows no summer', '0 2 * * *', '+01:00', 'TIME_ZONE_INVALID'],
  ['the 30th of February', '0 0 30 2 *', 'UTC', /CRON_INVALID|SCHEDULE_NEVER_RUNS/],
  ['every minute', '* * * * *', 'UTC', 'SCHEDULE_TOO_FREQUENT'],
  ['two times of a day that lie close', '0,2 4 1 * *', 'UTC', 'SCHEDULE_TOO_FREQUENT'],
])('%s is refused', (_, cron, zone, code) => {
  let thrown: unknown = null
  try {
    checkTimes(cron, zone, NOW, 300)
  } catch (error) {
    thrown = error
  }
  expect((thrown as { code?: string } | null)?.code).toMatch(code)
})

test.each(['*/5 * * * *', '@daily', '0 8-18/2 * * MON-FRI', '0 0 29 2 *', '15 3 L * *', ' 0  2 * * * '])(
  '%s is taken',
  (cron) => {
    expect(checkTimes(cron, 'Europe/Zurich', NOW, 300)).toBe(cron.trim().replace('  ', ' '))
  },
)

test('the clocks of the zone count, also where they change', () => {
  expect(next('30 2 * * *', 'Europe/Zurich', '2026-11-22T14:00:00Z')).toBe('2026-11-23T01:30:00.000Z')
  expect(next('30 2 * * *', 'Europe/Zurich', '2026-07-22T14:00:00Z')).toBe('2026-07-23T00:30:00.000Z')
  // On 29 March 2026 there is no half past two; on 25 October there are two, and the first counts.
  expect(next('30 2 * * *', 'Europe/Zurich', '2026-03-28T14:00:00Z')).toBe('2026-03-29T01:30:00.000Z')
  expect(next('30 2 * * *', 'Europe/Zurich', '2026-10-24T14:00:00Z')).toBe('2026-10-25T00:30:00.000Z')
  expect(next('30 2 * * *', 'Europe/Zurich', '2026-10-25T00:30:00Z')).toBe('2026-10-26T01:30:00.000Z')
})
