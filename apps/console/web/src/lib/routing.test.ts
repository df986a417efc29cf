import { expect, test } from 'vitest'
import { placed, readStop, stopName, stopProblem, stopText, emptyStop } from '../pages/route/stops.ts'
import { decodeShape } from './routing.ts'

test('a shape of six digits becomes positions of longitude and latitude', () => {
  // The example of the polyline algorithm's description, read with six digits instead of five.
  expect(decodeShape('_p~iF~ps|U_ulLnnqC_mqNvxq`@')).toEqual([
    [-12.02, 3.85],
    [-12.095, 4.07],
    [-12.6453, 4.3252],
  ])
  expect(decodeShape('')).toEqual([])
})

test('places are read as latitude and longitude, and refused beyond the globe', () => {
  const read = (text: string) => readStop({ ...emptyStop(), text })
  expect(read('48.1, 11.6')).toEqual([11.6, 48.1])
  expect(read(' -33.9 18.4 ')).toEqual([18.4, -33.9])
  for (const text of ['', '48.1', '91, 0', '0, 181', 'here', '1,2,3']) expect(read(text)).toBeNull()
})

test('what typing on cannot make a place is said at once', () => {
  const problem = (text: string) => stopProblem({ ...emptyStop(), text })
  for (const text of ['', '-', '48.', '48.1', '48.1,', '48.1, -', '48.1 11.', '48.1, 11.6'])
    expect(problem(text)).toBeNull()
  for (const text of ['north pole', '48.1N', '91, 0', '91 0', '0, 181', '1, 2, 3'])
    expect(problem(text)).toContain('degrees')
})

test('a clicked place goes into the first empty one, then to the end; what is beyond the date line is brought back', () => {
  const first = placed([emptyStop(), emptyStop()], { lng: 190, lat: 10 })
  expect(first.map(({ text }) => text)).toEqual(['10.000000, -170.000000', ''])
  const third = placed(placed(first, { lng: 1, lat: 2 }), { lng: 3, lat: 4 })
  expect(third.map(({ text }) => text)).toEqual(['10.000000, -170.000000', '2.000000, 1.000000', '4.000000, 3.000000'])
  expect(new Set(third.map(({ key }) => key)).size).toBe(3)
  expect(readStop({ key: 0, text: stopText({ lng: 11.6, lat: 48.1 }) })).toEqual([11.6, 48.1])
  expect([0, 25, 26].map(stopName)).toEqual(['A', 'Z', '27'])
})
