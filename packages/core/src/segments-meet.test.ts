import { expect, test } from 'vitest'

import { segmentsMeet } from './segments-meet.ts'

type Segment = readonly [number, number, number, number]

test.for<readonly [string, Segment, Segment, boolean]>([
  ['crossing', [0, 0, 2, 2], [0, 2, 2, 0], true],
  ['touching with an end', [0, 0, 2, 0], [1, 0, 1, 5], true],
  ['sharing an end', [0, 0, 1, 1], [1, 1, 2, 0], true],
  ['overlapping on one line', [0, 0, 2, 2], [1, 1, 3, 3], true],
  ['apart on one line', [0, 0, 1, 1], [2, 2, 3, 3], false],
  ['parallel', [0, 0, 2, 0], [0, 1, 2, 1], false],
  ['apart, boxes overlapping', [0, 0, 4, 4], [3, 0, 4, 1], false],
  ['a point on the other', [1, 1, 1, 1], [0, 0, 2, 2], true],
  ['a point beside the other', [1, 1.5, 1, 1.5], [0, 0, 2, 2], false],
  ['two equal points', [1, 1, 1, 1], [1, 1, 1, 1], true],
])('segments %s', ([, a, b, expected]) => {
  const [ax, ay, bx, by] = a
  const [cx, cy, dx, dy] = b
  expect(segmentsMeet(ax, ay, bx, by, cx, cy, dx, dy)).toBe(expected)
  expect(segmentsMeet(dx, dy, cx, cy, ax, ay, bx, by)).toBe(expected)
})
