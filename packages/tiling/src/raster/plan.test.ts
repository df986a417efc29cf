import { randomCases } from '@terrane/testing/property'
import { describe, expect, test } from 'vitest'
import type { PlanRequest } from './plan.ts'
import { coveredRect, planTiles, tileWindow } from './plan.ts'

/** The starts of the columns of a plan one tile high. */
function starts(width: number, request: Partial<PlanRequest>): number[] {
  const plan = planTiles({ width, height: 1, tileSize: 10, ...request })
  return Array.from({ length: plan.columns }, (_, index) => tileWindow(plan, index).x)
}

describe('along one axis', () => {
  test('pad keeps the partial tile at the edge', () => {
    expect(starts(30, {})).toEqual([0, 10, 20])
    expect(starts(31, {})).toEqual([0, 10, 20, 30])
    expect(starts(3, {})).toEqual([0])
  })

  test('shift moves the last tile inwards, and pads a raster smaller than a tile', () => {
    expect(starts(31, { edge: 'shift' })).toEqual([0, 10, 20, 21])
    expect(starts(3, { edge: 'shift' })).toEqual([0])
  })

  test('overlapping tiles stop at the one that reaches the edge', () => {
    expect(starts(30, { stride: 5 })).toEqual([0, 5, 10, 15, 20])
    expect(starts(32, { stride: 5 })).toEqual([0, 5, 10, 15, 20, 25])
    expect(starts(32, { stride: 5, edge: 'shift' })).toEqual([0, 5, 10, 15, 20, 22])
  })

  test('tiles with gaps between them start inside the raster', () => {
    expect(starts(30, { stride: 15 })).toEqual([0, 15])
    expect(starts(31, { stride: 15 })).toEqual([0, 15, 30])
  })
})

test('drop keeps whole tiles only', () => {
  const plan = planTiles({ width: 39, height: 25, tileSize: 10, edge: 'drop' })
  expect(plan).toMatchObject({ columns: 3, rows: 2, count: 6 })
  expect(tileWindow(plan, 5)).toEqual({ index: 5, tileX: 2, tileY: 1, x: 20, y: 10, size: 10 })
})

test('drop of a raster smaller than a tile leaves none, which is an error', () => {
  expect(() => planTiles({ width: 9, height: 90, tileSize: 10, edge: 'drop' })).toThrow(
    expect.objectContaining({ code: 'NO_TILES', hint: expect.stringContaining('pad') }),
  )
})

test('a plan of billions of tiles is made at once', () => {
  const plan = planTiles({ width: 2 ** 31 - 1, height: 2 ** 31 - 1, tileSize: 16 })
  expect(plan.count).toBe(2 ** 54)
  expect(tileWindow(plan, plan.columns).y).toBe(16)
})

test.each([
  ['tileSize', { tileSize: 0 }],
  ['tileSize', { tileSize: 2.5 }],
  ['stride', { stride: -1 }],
  ['stride', { stride: Number.NaN }],
  ['alignGrid', { alignGrid: true }],
  ['alignGrid', { alignGrid: true, edge: 'shift' as const, affine: [0, 1, 0, 0, 0, -1] as const }],
  ['alignGrid', { alignGrid: true, affine: [0, 1, 0.2, 0, 0.2, -1] as const }],
])('a bad %s is named: %j', (field, request) => {
  expect(() => planTiles({ width: 100, height: 100, tileSize: 10, ...request })).toThrow(
    expect.objectContaining({ code: 'INVALID_TILING', errors: [expect.objectContaining({ path: `/${field}` })] }),
  )
})

describe('aligned to a grid of the CRS', () => {
  const tileEdges = (affine: NonNullable<PlanRequest['affine']>, request: Partial<PlanRequest> = {}): number[][] => {
    const plan = planTiles({ width: 95, height: 95, tileSize: 10, alignGrid: true, affine, ...request })
    return Array.from({ length: plan.count }, (_, index) => {
      const { x, y } = tileWindow(plan, index)
      return [affine[0] + x * affine[1], affine[3] + y * affine[5]]
    })
  }

  test('tile edges lie on multiples of stride · resolution, from the last one before the raster', () => {
    const edges = tileEdges([1_006, 2, 0, 5_014, 0, -2])
    expect(edges[0]).toEqual([1_000, 5_020])
    for (const [x = 0, y = 0] of edges) expect([x % 20, y % 20]).toEqual([0, 0])
  })

  test('rasters of other extents share the tiles where they overlap', () => {
    const first = tileEdges([1_000, 2, 0, 5_000, 0, -2]).map(String)
    const second = new Set(tileEdges([1_046, 2, 0, 4_918, 0, -2]).map(String))
    const shared = first.filter((edge) => second.has(edge))
    expect(shared.length).toBeGreaterThan(20)
  })

  test('a raster that starts on the grid starts its plan there, south-up, too', () => {
    expect(tileEdges([400, 2, 0, 800, 0, -2])[0]).toEqual([400, 800])
    expect(tileEdges([400, 2, 0, 800, 0, 2])[0]).toEqual([400, 800])
  })

  test('drop starts at the first whole tile', () => {
    const plan = planTiles({
      width: 95,
      height: 95,
      tileSize: 10,
      alignGrid: true,
      edge: 'drop',
      affine: [6, 2, 0, -6, 0, -2],
    })
    expect(plan).toMatchObject({ originX: 7, originY: 7, columns: 8, rows: 8 })
  })
})

test('padded plans cover every pixel, shifted ones stay inside, and both count as the formula says', async () => {
  await randomCases(300, (random) => {
    const upTo = (limit: number): number => 1 + Math.floor(random() * limit)
    const [width, tileSize] = [upTo(80), upTo(30)]
    const stride = Math.min(tileSize, upTo(30))
    const edge = random() < 0.5 ? 'pad' : 'shift'
    const plan = planTiles({ width, height: 1, tileSize, stride, edge })
    expect(plan.columns).toBe(Math.max(0, Math.ceil((width - tileSize) / stride)) + 1)
    const covered = new Set<number>()
    for (let index = 0; index < plan.count; index++) {
      const window = tileWindow(plan, index)
      const rect = coveredRect(plan, window)
      if (edge === 'shift' && width >= tileSize) expect(rect.width).toBe(tileSize)
      const before = covered.size
      for (let x = rect.x; x < rect.x + rect.width; x++) covered.add(x)
      expect(covered.size, 'every tile adds a pixel').toBeGreaterThan(before)
    }
    expect(covered.size).toBe(width)
  })
})
