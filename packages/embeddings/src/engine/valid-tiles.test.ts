import { expect, test } from 'vitest'
import { MIN_VALID_FRACTION, isValidTile } from './valid-tiles.ts'

test('a tile that is half valid gets an embedding, one with less does not', () => {
  expect(isValidTile(0.5, MIN_VALID_FRACTION)).toBe(true)
  expect(isValidTile(0.499, MIN_VALID_FRACTION)).toBe(false)
  expect(isValidTile(0, 0)).toBe(true)
})
