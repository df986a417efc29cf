import { expect, test } from 'vitest'
import { tileAxis } from './tile-grid.ts'

const axis = (...tiles: readonly (readonly [number, number])[]) => {
  const found = tileAxis(Float64Array.from(tiles, ([low]) => low), Float64Array.from(tiles, ([, high]) => high)) // prettier-ignore
  return found && { ...found, cellOf: Array.from(found.cellOf) }
}

test('tiles side by side have a cell each, and cells without a tile stay', () => {
  expect(axis([20, 30], [0, 10], [50, 60])).toEqual({ start: 0, step: 10, cells: 6, cellOf: [2, 0, 5] })
  expect(axis([7, 9])).toEqual({ start: 7, step: 2, cells: 1, cellOf: [0] })
})

test('a tile that is cut at an edge of its raster has a whole cell', () => {
  expect(axis([0, 10], [10, 20], [20, 23])).toEqual({ start: 0, step: 10, cells: 3, cellOf: [0, 1, 2] })
  expect(axis([7, 10], [10, 20], [20, 30])).toEqual({ start: 0, step: 10, cells: 3, cellOf: [0, 1, 2] })
  expect(axis([-5, 2], [2, 4])).toEqual({ start: -5, step: 7, cells: 2, cellOf: [0, 1] })
})

test('edges that came through longitudes and latitudes lose their noise', () => {
  const noisy = [0, 1, 2, 3].map((i) => [5e5 + 2560 * i + 1e-6 * i * (-1) ** i, 5e5 + 2560 * (i + 1) - 2e-6] as const)
  expect(axis(...noisy)).toMatchObject({ start: 5e5, cells: 4, cellOf: [0, 1, 2, 3] })
  expect(axis(...noisy)!.step).toBeCloseTo(2560, 5)
})

test.each([
  [
    'overlap by half',
    [
      [0, 10],
      [5, 15],
      [10, 20],
    ],
  ],
  [
    'overlap by half, two of them',
    [
      [0, 10],
      [5, 15],
    ],
  ],
  [
    'of another raster, a third of a tile off',
    [
      [0, 10],
      [10, 20],
      [33.3, 43.3],
    ],
  ],
  [
    'of another size',
    [
      [0, 10],
      [10, 20],
      [4, 8],
      [8, 12],
    ],
  ],
  [
    'of another size, within a cell',
    [
      [0, 10],
      [10, 20],
      [34, 38],
    ],
  ],
  ['without an extent', [[3, 3]]],
] as const)('tiles %s are not on one grid', (_, tiles) => {
  // prettier-ignore
  expect(axis(...tiles)).toBeNull()
})
