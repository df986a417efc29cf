import { expect, it } from 'vitest'

import { sixDecimals } from '../src/build/edges.ts'
import { encodeLine } from '../src/geometry/polyline.ts'

// Expected: what Valhalla's int32_t(round((lng7 * 1e-7 - 180) * 1e6)) gives in C++, whose halves go away from zero.
it.each([
  [-466_333_085, -46_633_309],
  [-466_333_095, -46_633_309],
  [-86_291_055, -8_629_106],
  [-466_333_084, -46_633_308],
  [115_910_994, 11_591_099],
])('a longitude of %i in 1e-7 degrees is %i in 1e-6', (given, expected) => {
  expect(sixDecimals(given, 180)).toBe(expected)
})

it('halves of five decimals go away from zero, west and east', () => {
  const lon = (degrees: number): string => encodeLine({ lon: [degrees], lat: [0] }, 5)
  expect([lon(-0.000025), lon(0.000025)]).toEqual([lon(-0.00003), lon(0.00003)])
})
