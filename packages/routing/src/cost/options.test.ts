import { expect, it } from 'vitest'

import { costOptions, MODES } from './options.ts'

it.each(MODES)('takes the default of %s for what is missing, out of bounds or of another type', (mode) => {
  const plain = costOptions(mode)
  const absurd = Object.fromEntries(Object.keys(plain).map((name) => [name, -1e9]))
  const mistyped = Object.fromEntries(Object.keys(plain).map((name) => [name, { value: 1 }]))
  for (const given of [undefined, null, 'fast', [], absurd, mistyped]) expect(costOptions(mode, given)).toEqual(plain)
})

it('reads numbers and booleans that are texts', () => {
  expect(costOptions('auto', { use_highways: '0.25', shortest: 'true' })).toMatchObject({
    use_highways: 0.25,
    shortest: true,
  })
})

it('sets the speed of a bicycle by its type unless it is given', () => {
  expect(costOptions('bicycle', { bicycle_type: 'Road' }).cycling_speed).toBe(25)
  expect(costOptions('bicycle', { bicycle_type: 'Road', cycling_speed: 12 }).cycling_speed).toBe(12)
})

it('gives equal options for equal meanings, whatever their order', () => {
  const one = costOptions('truck', { height: 3, hazmat: true })
  const other = costOptions('truck', { hazmat: 'true', unknown: 1, height: '3' })
  expect(JSON.stringify(one)).toBe(JSON.stringify(other))
})
