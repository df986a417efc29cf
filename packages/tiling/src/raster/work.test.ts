import { expect, test } from 'vitest'
import { planTiles } from './plan.ts'
import type { RasterLevel } from './raster-info.ts'
import { planWork } from './work.ts'

/** The part of a level that planning looks at. */
function level(blockWidth: number, blockHeight: number): RasterLevel {
  return { blockWidth, blockHeight } as RasterLevel
}

test.each([
  [256, 256],
  [512, 512],
  [4_000, 1],
  [4_000, 3_000],
  [100, 70],
])('with blocks of %i × %i every tile is in one unit', (blockWidth, blockHeight) => {
  const plan = planTiles({ width: 4_000, height: 3_000, tileSize: 256, stride: 128 })
  const indices = planWork(level(blockWidth, blockHeight), plan).flatMap((unit) => [...unit])
  expect(indices.toSorted((a, b) => a - b)).toEqual(Array.from({ length: plan.count }, (_, index) => index))
})

test('tiles of one block stay together', () => {
  const plan = planTiles({ width: 8_192, height: 8_192, tileSize: 256 })
  const units = planWork(level(1_024, 1_024), plan)
  for (const unit of units) {
    const blocks = new Set(Array.from(unit, (index) => `${Math.floor((index % 32) / 4)} ${Math.floor(index / 32 / 4)}`))
    expect(unit.length).toBe(blocks.size * 16)
  }
})

test('tiles of one row of strips stay together', () => {
  const plan = planTiles({ width: 8_192, height: 2_560, tileSize: 256 })
  const units = planWork(level(8_192, 1), plan)
  expect(units.map((unit) => unit.length)).toEqual(Array.from({ length: 10 }, () => 32))
})

test('one block of the whole raster does not keep all but one reader waiting', () => {
  const plan = planTiles({ width: 8_192, height: 8_192, tileSize: 256 })
  expect(planWork(level(8_192, 8_192), plan).length).toBeGreaterThanOrEqual(16)
})

test('there are units enough to share out a small plan', () => {
  const plan = planTiles({ width: 2_048, height: 2_048, tileSize: 256 })
  expect(planWork(level(256, 256), plan).length).toBeGreaterThanOrEqual(32)
})
