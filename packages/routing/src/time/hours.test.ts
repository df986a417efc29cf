import { expect, it } from 'vitest'

import { type Moment, parseHours } from './hours.ts'

/** A time from `Mo 14:30`, on the given date if there is one. */
function moment(text: string, month = 6, day = 15): Moment {
  const [weekday, time] = text.split(' ')
  const [hour, minute] = time!.split(':').map(Number)
  return {
    year: 2026,
    month,
    day,
    weekday: ['Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa', 'Su'].indexOf(weekday!),
    minute: hour! * 60 + minute!,
  }
}

it.each([
  ['24/7', ['Mo 00:00', 'Su 23:59'], []],
  ['07:00-09:00', ['Mo 07:00', 'Su 08:59'], ['Mo 06:59', 'Mo 09:00']],
  ['Mo-Fr 07:00-09:00', ['Mo 07:00', 'Fr 08:59'], ['Sa 08:00', 'Mo 09:00']],
  ['Mo-Fr 07:00-09:00,16:00-18:00', ['Tu 08:00', 'Tu 17:00'], ['Tu 12:00', 'Su 17:00']],
  ['Mo,We 10:00-11:00', ['Mo 10:30', 'We 10:30'], ['Tu 10:30']],
  ['Fr-Mo', ['Fr 00:00', 'Su 12:00', 'Mo 23:59'], ['Tu 00:00', 'Th 12:00']],
  ['Fr 22:00-06:00', ['Fr 22:00', 'Sa 05:59'], ['Fr 05:00', 'Sa 22:00', 'Sa 06:00']],
  ['Sa 20:00-26:00', ['Sa 21:00', 'Su 01:59'], ['Su 02:00', 'Sa 01:00']],
  ['Mo-Fr 07:00-19:00; Sa 08:00-12:00', ['Fr 18:00', 'Sa 09:00'], ['Sa 13:00', 'Su 09:00']],
  ['Mo-Fr 07:00-19:00, Sa 08:00-12:00', ['Fr 18:00', 'Sa 09:00'], ['Sa 13:00', 'Su 09:00']],
  ['Mo-Su 07:00-19:00; We off', ['Tu 12:00'], ['We 12:00', 'Tu 20:00']],
  ['Mo-Sa 06:00-20:00; PH off', ['Sa 19:00'], ['Su 12:00']],
  ['Mo-Fr,PH 06:00-20:00', ['Fr 19:00'], ['Sa 12:00']],
  ['Monday-Friday 07:00-19:00', ['Mo 07:00'], ['Su 07:00']],
  ['18:00+', ['Mo 18:00', 'Mo 23:59'], ['Mo 17:59', 'Tu 00:10']],
  ['6:00-9:30', ['Mo 06:00', 'Mo 09:29'], ['Mo 09:30']],
])('%s', (text, inside, outside) => {
  const hours = parseHours(text)!
  for (const time of inside) expect(hours(moment(time)), time).toBe(true)
  for (const time of outside) expect(hours(moment(time)), time).toBe(false)
})

it.each([
  [
    'Mar-Oct',
    [
      [3, 1],
      [10, 31],
    ],
    [
      [2, 28],
      [11, 1],
    ],
  ],
  [
    'Nov-Feb',
    [
      [11, 1],
      [1, 15],
      [2, 29],
    ],
    [
      [3, 1],
      [10, 31],
    ],
  ],
  [
    'Apr 24-Apr 21',
    [
      [4, 24],
      [12, 31],
      [4, 21],
    ],
    [
      [4, 22],
      [4, 23],
    ],
  ],
  [
    'Apr 24',
    [[4, 24]],
    [
      [4, 23],
      [4, 25],
    ],
  ],
  [
    'Mar 15-20',
    [
      [3, 15],
      [3, 20],
    ],
    [
      [3, 14],
      [3, 21],
    ],
  ],
  [
    'Mar 15-Jun 2',
    [
      [3, 15],
      [5, 1],
      [6, 2],
    ],
    [[6, 3]],
  ],
  [
    'Jan,Mar 00:00-24:00',
    [
      [1, 5],
      [3, 5],
    ],
    [[2, 5]],
  ],
] as const)('the days of %s', (text, inside, outside) => {
  const hours = parseHours(text)!
  for (const [month, day] of inside) expect(hours(moment('Mo 12:00', month, day)), `${month}/${day}`).toBe(true)
  for (const [month, day] of outside) expect(hours(moment('Mo 12:00', month, day)), `${month}/${day}`).toBe(false)
})

/** A moment at noon of a day `YYYY-MM-DD`, or at another hour. */
function noonOf(date: string, hour = 12): Moment {
  const at = new Date(`${date}T00:00Z`)
  const [year, month, day] = date.split('-').map(Number)
  return { year: year!, month: month!, day: day!, weekday: (at.getUTCDay() + 6) % 7, minute: hour * 60 }
}

// Source: OpenStreetMap wiki, Key:opening_hours/specification. 2026-11-26 is the fourth Thursday of its month.
it.each([
  ['2026 Nov-Dec', ['2026-11-01', '2026-12-31'], ['2025-11-26', '2027-11-26', '2026-10-31']],
  ['2026 Nov 10-2027 Jan 15', ['2026-11-10', '2026-12-24', '2027-01-15'], ['2026-11-09', '2027-01-16', '2025-12-01']],
  ['2026 Nov-Feb', ['2026-11-01', '2027-02-28'], ['2026-02-01', '2027-11-01']],
  ['2026', ['2026-01-01'], ['2025-12-31', '2027-01-01']],
  ['2024-2026 Mar-Oct', ['2024-03-01', '2026-10-31'], ['2026-11-01', '2027-03-01']],
  ['2026+', ['2026-01-01', '2031-01-01'], ['2025-12-31']],
  ['2026 Nov 10-20 10:00-14:00', ['2026-11-10', '2026-11-20'], ['2026-11-21', '2025-11-10']],
  ['week 45-48', ['2026-11-02', '2026-11-29'], ['2026-11-01', '2026-11-30']],
  ['week 1,53', ['2026-12-31', '2027-01-04'], ['2026-12-27', '2027-01-11']],
  ['week 48 Mo-Fr 10:00-14:00', ['2026-11-26'], ['2026-11-28', '2026-12-03']],
  ['Th[4]', ['2026-11-26'], ['2026-11-19', '2026-11-25']],
  ['Th[-1]', ['2026-11-26', '2026-12-31'], ['2026-11-19', '2026-12-24']],
  ['Su[1,3] 10:00-14:00', ['2026-11-01', '2026-11-15'], ['2026-11-08', '2026-11-22']],
  ['Mo[1-2]', ['2026-11-02', '2026-11-09'], ['2026-11-16']],
])('the days of %s', (text, inside, outside) => {
  const hours = parseHours(text)!
  for (const date of inside) expect(hours(noonOf(date)), date).toBe(true)
  for (const date of outside) expect(hours(noonOf(date)), date).toBe(false)
})

it('a night of the fourth Thursday ends on the day after', () => {
  const hours = parseHours('Th[4] 22:00-06:00')!
  expect([hours(noonOf('2026-11-26', 23)), hours(noonOf('2026-11-27', 5))]).toEqual([true, true])
  expect([hours(noonOf('2026-11-27', 23)), hours(noonOf('2026-11-26', 5))]).toEqual([false, false])
})

it.each(['sunset-sunrise', 'wet', 'week 1-53/2', 'Th[6]', 'destination', 'Mo-Fr 07:00-09:00 wet', 'PH', '', 'Mo-Fr 7'])(
  'what is not understood is nothing: %s',
  (text) => expect(parseHours(text)).toBeNull(),
)
