import { CronExpression } from 'cron-parser'
import { expect, test, vi } from 'vitest'
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

/** The interval in the error for an expression that is too frequent; null when it is accepted. */
function tooClose(cron: string, leastSeconds: number): string | null {
  try {
    checkTimes(cron, 'Europe/Zurich', NOW, leastSeconds)
    return null
  } catch (error) {
    return /within (\d+) s/.exec((error as Error).message)![1]!
  }
}

test.each([
  ['two times around midnight', '0,58 0,23 * * *', 300, '120'],
  ['the same on days that do not follow each other', '0,58 0,23 1 * *', 300, null],
  ['the same on the last and the first of a month', '0,58 0,23 1,L * *', 300, '120'],
  ['a time of each day, also where clocks change', '0 3 * * *', 86_400, null],
  ['each day, where a week is the least', '@daily', 604_800, '86400'],
  ['two days of the week', '0 3 * * MON,WED', 3 * 86_400, '172800'],
  ['one day of the week', '0 3 * * MON', 604_800, null],
])('%s: the shortest time between two counts', (_, cron, least, seconds) => {
  expect(tooClose(cron, least)).toBe(seconds)
})

test('a check takes a step or two, for each is dear in a time zone', () => {
  const steps = vi.spyOn(CronExpression.prototype, 'next')
  checkTimes('0,30 3 * * *', 'Europe/Zurich', NOW, 300)
  expect(steps.mock.calls.length).toBeLessThan(3)
  steps.mockRestore()
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
  // On 29 March 2026 half past two does not exist; on 25 October it exists twice, and the first counts.
  expect(next('30 2 * * *', 'Europe/Zurich', '2026-03-28T14:00:00Z')).toBe('2026-03-29T01:30:00.000Z')
  expect(next('30 2 * * *', 'Europe/Zurich', '2026-10-24T14:00:00Z')).toBe('2026-10-25T00:30:00.000Z')
  expect(next('30 2 * * *', 'Europe/Zurich', '2026-10-25T00:30:00Z')).toBe('2026-10-26T01:30:00.000Z')
})
