import { expect, test } from 'vitest'
import { hilbertIndex } from './hilbert.ts'

test('the curve goes through every cell once, from each to one beside it', () => {
  const cells: [number, number][] = []
  for (let x = 0; x < 32; x++) for (let y = 0; y < 32; y++) cells[hilbertIndex(5, x, y)] = [x, y]
  expect(cells.filter(Boolean)).toHaveLength(32 * 32)
  for (let i = 1; i < cells.length; i++) {
    const [[x, y], [u, v]] = [cells[i - 1]!, cells[i]!]
    expect(Math.abs(x - u) + Math.abs(y - v)).toBe(1)
  }
})

test('the position of a cell is a prefix of the positions of its parts', () => {
  for (const [x, y] of [
    [5, 9],
    [0, 15],
    [12, 3],
  ] as const) {
    const parts = [0, 1, 2, 3].map((part) => hilbertIndex(5, 2 * x + (part & 1), 2 * y + (part >> 1)))
    expect(parts.map((index) => Math.floor(index / 4))).toEqual(Array(4).fill(hilbertIndex(4, x, y)))
  }
})
