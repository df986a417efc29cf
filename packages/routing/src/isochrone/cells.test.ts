import { expect, it } from 'vitest'

import { Cells, PASSED } from './cells.ts'

/** Millionths of a degree of a metre, at the equator. */
const METERS = 1 / 0.111195

/** Cells of 60 m from a corner on, with room around. */
function cellsOver(meters: number): Cells {
  const last = Math.floor(meters / 60)
  const perUnit = 1 / (60 * METERS)
  const empty = new Uint32Array(1)
  const corner = { meters: 60, west: 0, south: 0, perLon: perUnit, perLat: perUnit }
  const streets = { firstCell: empty, cells: empty, blockColumns: 1, blockRows: 1, firstShape: empty, shapes: empty }
  return new Cells({ ...corner, ...streets }, { west: 0, south: 0, east: last, north: last })
}

it('needs the places on both sides of where contours meet, however far apart, and none behind them', () => {
  const cells = cellsOver(4000)
  const columns = [0, 200, 400, 1000, 1600, 1800, 2000]
  const rows = Array.from({ length: 80 }, (_, i) => 50 * i)
  const cell = (x: number, y: number): number => cells.at(x * METERS, y * METERS)
  // Places west of 700 m are within the contour, places east of it are not; nothing is known in between.
  for (const x of columns) for (const y of rows) cells.mark(cell(x, y), x < 700 ? 1 : 0)
  cells.close()
  const needed = columns.filter((x) => cells.need(cell(x, 2000)) > 0)
  // The outside counts as unreachable, and the first column lies beside it.
  expect(needed).toEqual([0, 400, 1000])
})

it('needs the places of a cell that a contour passes, and one place of each block within it that needs no other', () => {
  const cells = cellsOver(3000)
  const cell = (x: number, y: number): number => cells.at(x * METERS, y * METERS)
  const everywhere = function* (): Generator<[number, number]> {
    for (let x = 0; x <= 3000; x += 20) for (let y = 0; y <= 3000; y += 20) yield [x, y]
  }
  for (const [x, y] of everywhere()) cells.mark(cell(x, y), Math.hypot(x - 520, y - 520) < 8 ? 0 : 1)
  cells.close()
  expect(cells.need(cell(520, 520))).toBe(PASSED)
  expect(cells.need(cell(300, 300))).toBe(0)
  const taken = everywhere()
    .filter(([x, y]) => x > 800 && x < 2600 && y > 800 && y < 2600 && cells.takes(cell(x, y)))
    .toArray()
  const blocks = new Set(taken.map(([x, y]) => Math.floor(cell(x, y) / 6)))
  // Between 800 and 2,600 m there are five by five blocks of 360 m.
  expect(taken.length).toBe(25)
  expect(taken.length).toBe(blocks.size)
})
