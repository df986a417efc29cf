import { expect, test } from 'vitest'
import { chooseDeviceBatch } from './schedule.ts'

test('a device runs many small tiles at once, few large ones, and never fewer than the manifest asks for', () => {
  const batchOf = (side: number, atLeast = 1, numbers = 3) =>
    chooseDeviceBatch(atLeast, side * side, side * side * 4 * numbers)
  expect([224, 256, 512, 1024, 2048].map((side) => batchOf(side))).toEqual([16, 16, 4, 1, 1])
  expect([batchOf(256, 32), batchOf(2048, 8)]).toEqual([32, 8])
  // 12 bands, and hyperspectral tiles.
  expect([batchOf(256, 1, 12), batchOf(256, 1, 200)]).toEqual([16, 1])
})
