import { expect, test } from 'vitest'
import { hasNumericPositions } from './numeric-positions.ts'

test.each([
  [{ coordinates: [9, 48] }, true],
  [{ coordinates: [] }, true],
  [{ coordinates: [[[9, 48], [9, 49]], []] }, true],
  [{ geometries: [{ coordinates: [1, 2, 3] }] }, true],
  [{ coordinates: ['9', 48] }, false],
  [{ coordinates: [9, null] }, false],
  [{ coordinates: [[9, 48], [true, 48]] }, false],
  [{ coordinates: [[9, 48], 9] }, false],
  [{ coordinates: { 0: 9, 1: 48 } }, false],
  [{ coordinates: 9 }, false],
  [{ geometries: [{ coordinates: ['a', 2] }] }, false],
  [{ geometries: {} }, false],
  [{ Coordinates: ['a', null], coordinates: [1, 2] }, false],
  [{ GEOMETRIES: [{ coordinates: ['a', 2] }] }, false],
  [null, true],
] as const)('%j has positions of numbers: %s', (geometry, isRight) => {
  expect(hasNumericPositions(geometry)).toBe(isRight)
}) // prettier-ignore
