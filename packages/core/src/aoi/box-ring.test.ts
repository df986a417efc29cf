import { expect, test } from 'vitest'
import { boxRing } from './box-ring.ts'

test('the ring of a box is closed and counter-clockwise, as GeoJSON wants outer rings', () => {
  const ring = boxRing([1, 2, 4, 7])
  expect(ring).toEqual([
    [1, 2],
    [4, 2],
    [4, 7],
    [1, 7],
    [1, 2],
  ])
})
