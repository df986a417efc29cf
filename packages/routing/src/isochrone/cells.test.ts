import { expect, it } from 'vitest'

import { Cells } from './cells.ts'

const METERS = 1 / 111_195

it('needs the places on both sides of where contours meet, however far apart, and none behind them', () => {
  const box = { west: 0, south: 0, east: 4000 * METERS, north: 4000 * METERS }
  const cells = new Cells(box)
  const columns = [0, 200, 400, 1000, 1600, 1800, 2000]
  const rows = Array.from({ length: 80 }, (_, i) => 50 * i)
  // What lies west of 700 m is within the contour, what lies east of it is not; between them nothing is known.
  for (const x of columns) for (const y of rows) cells.mark(x * METERS, y * METERS, x < 700 ? 1 : 0)
  cells.close()
  const needed = columns.filter((x) => cells.isNeeded(x * METERS, 2000 * METERS))
  // At the rim nobody comes: the first column lies beside it.
  expect(needed).toEqual([0, 400, 1000])
})

it('needs the places of a cell that a contour passes', () => {
  const cells = new Cells({ west: 0, south: 0, east: 1000 * METERS, north: 1000 * METERS })
  for (let x = 0; x <= 1000; x += 20) {
    for (let y = 0; y <= 1000; y += 20) cells.mark(x * METERS, y * METERS, Math.hypot(x - 505, y - 505) < 8 ? 0 : 1)
  }
  cells.close()
  expect(cells.isNeeded(505 * METERS, 505 * METERS)).toBe(true)
  expect(cells.isNeeded(300 * METERS, 300 * METERS)).toBe(false)
})
