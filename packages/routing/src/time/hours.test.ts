import { expect, it } from 'vitest'

import { type Moment, parseHours } from './hours.ts'

/** A moment from `Mo 14:30`, with a date of its own where one is told. */
function moment(text: string, month = 6, day = 15): Moment {
  const [weekday, time] = text.split(' ')
  const [hour, minute] = time!.split(':').map(Number)
  return {
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

it.each(['sunset-sunrise', 'week 1-20', '2021 Jan-Mar', 'destination', 'Mo-Fr 07:00-09:00 wet', 'PH', '', 'Mo-Fr 7'])(
  'what is not understood is nothing: %s',
  (text) => expect(parseHours(text)).toBeNull(),
)
