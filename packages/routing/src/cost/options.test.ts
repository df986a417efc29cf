import { expect, it } from 'vitest'

import { costOptions, MODES } from './options.ts'

it.each(MODES)('takes the default of %s for what is missing, out of bounds or of another type', (mode) => {
  const plain = costOptions(mode)
  const absurd = Object.fromEntries(
    Object.entries(plain).flatMap(([name, value]) => (typeof value === 'boolean' ? [] : [[name, -1e9]])),
  )
  const mistyped = Object.fromEntries(Object.keys(plain).map((name) => [name, { value: 1 }]))
  for (const given of [undefined, null, 'fast', [], absurd, mistyped]) expect(costOptions(mode, given)).toEqual(plain)
})

// As Valhalla 3.6.1 was seen to read them.
it.each<[name: string, said: unknown, read: unknown]>([
  ['use_highways', '0.25', 0.25],
  ['shortest', '1', true],
  ['shortest', 'true', false],
  ['shortest', 2, true],
  ['shortest', 0, false],
  ['fixed_speed', 3.7, 3],
  ['fixed_speed', '3.7', 0],
  ['fixed_speed', '30', 30],
])('reads %s of %j as %j', (name, said, read) => {
  expect(costOptions('auto', { [name]: said })[name]).toBe(read)
})

it('sets the speed of a bicycle by its type unless it is given', () => {
  expect(costOptions('bicycle', { bicycle_type: 'Road' }).cycling_speed).toBe(25)
  expect(costOptions('bicycle', { bicycle_type: 'Road', cycling_speed: 12 }).cycling_speed).toBe(12)
})

it('gives equal options for equal meanings, whatever their order', () => {
  const one = costOptions('truck', { height: 3, hazmat: true })
  const other = costOptions('truck', { hazmat: '1', unknown: 1, height: '3' })
  expect(JSON.stringify(one)).toBe(JSON.stringify(other))
})
