import { expect, test } from 'vitest'
import { geometryDecoder } from './geoarrow.ts'

test('a point whose numbers are all null is an empty one', () => {
  const decode = geometryDecoder('geoarrow.point', 'xyz')!
  const wkb = Buffer.from(decode([null, null, null])!)
  expect(wkb.readUInt32LE(1)).toBe(1001)
  expect([5, 13, 21].map((at) => wkb.readDoubleLE(at))).toEqual([Number.NaN, Number.NaN, Number.NaN])
  expect(decode(null)).toBeNull()
})
