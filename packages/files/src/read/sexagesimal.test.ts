import { expect, test } from 'vitest'
import { coordinateOf } from './coordinates.ts'
import { degreesOfText, pairOfText } from './sexagesimal.ts'

const SOUTH = -(33 + 52 / 60)

test.each<[text: string, degrees: number, axis: 'x' | 'y' | null]>([
  [`48°08'15"N`, 48.1375, 'y'],
  [`33°52'10"S`, SOUTH - 10 / 3600, 'y'],
  [`33°52'10S`, SOUTH - 10 / 3600, 'y'],
  [`33°52'10sS`, SOUTH - 10 / 3600, 'y'],
  [`33d52m10s`, -SOUTH + 10 / 3600, null],
  [`33d52m10s S`, SOUTH - 10 / 3600, 'y'],
  [`33°52N`, -SOUTH, 'y'],
  [`33°52.5`, 33.875, null],
  [`-33°52'`, SOUTH, null],
  [`N 48° 7.5'`, 48.125, 'y'],
  ['W 11.5', -11.5, 'x'],
  ['33 52 10 S', SOUTH - 10 / 3600, 'y'],
  ['33:52 S', SOUTH, 'y'],
])('degrees, minutes and seconds are read with the side of the earth and its axis: %s', (text, degrees, axis) => {
  expect(degreesOfText(text)).toEqual({ degrees: expect.closeTo(degrees, 12) as number, axis })
})

test.each([`-33°52'S`, `33°10"N`, `33°10''N`, `33 52 10 s`, `33°52'10e`, `N33°52'S`, `33°70'N`, '3° O', '33 52 10'])(
  'what may mean several places is no coordinate: %s',
  (text) => {
    expect(degreesOfText(text)).toBeNull()
  },
)

test('a coordinate with a letter of the other axis is refused', () => {
  const [north, east] = [`48°08'15"N`, `11°34'30"E`]
  expect([coordinateOf(east, 'x'), coordinateOf(north, 'y')]).toEqual([11.575, 48.1375])
  expect([coordinateOf(north, 'x'), coordinateOf(east, 'y'), coordinateOf('W 3', 'y')]).toEqual([null, null, null])
})

test.each([
  `48°08'15"N 11°34'30"E`,
  `11°34'30"E, 48°08'15"N`,
  'N 48 8.25; E 11 34.5',
  '48.1375N11.575E',
  '48,1375° N, 11,575° E',
])('two coordinates in one text are read by their letters: %s', (text) => {
  expect(pairOfText(text)).toEqual({
    x: expect.closeTo(11.575, 12) as number,
    y: expect.closeTo(48.1375, 12) as number,
  })
})

test.each([
  '48.1375, 11.575',
  `48°08'15"N 47°N`,
  'NEW 11 WEST 12',
  'N 48 E',
  '150 S 300 E',
  '45 N 100 W',
  `S 88°45'12" W 120.5`,
  '95.5 N 11.5 E',
])('what may be something else is no pair: %s', (text) => {
  expect(pairOfText(text)).toBeNull()
})
