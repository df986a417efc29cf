import type { Bbox } from '@terrane/core'
import { randomCases } from '@terrane/testing/property'
import { expect, test } from 'vitest'
import { changedTiles } from './changed-tiles.ts'

const holds = (outer: Bbox, inner: Bbox) =>
  outer[0] <= inner[0] && outer[1] <= inner[1] && outer[2] >= inner[2] && outer[3] >= inner[3]

test('tiles cover all boxes, are few, and none lies in another', async () => {
  await randomCases(100, (random) => {
    const boxes = Array.from({ length: 1 + Math.floor(random() * 60) }, (): Bbox => {
      const [lon, lat] = [random() * 358 - 179, random() * 160 - 80]
      const size = 10 ** (random() * 6 - 6)
      return [lon, lat, lon + size, lat + size]
    })
    const tiles = changedTiles(boxes, 20)
    expect(tiles.length).toBeLessThanOrEqual(20)
    for (const [west, south, east, north] of boxes) {
      for (const [lon, lat] of [
        [west, south],
        [east, north],
        [west, north],
        [east, south],
      ] as const) {
        // prettier-ignore
        expect(tiles.filter((tile) => holds(tile, [lon, lat, lon, lat])).length).toBeGreaterThan(0)
      }
    }
    for (const [i, one] of tiles.entries()) {
      expect(tiles.filter((other, k) => k !== i && holds(other, one))).toEqual([])
    }
    // A second pass over the result changes nothing.
    expect(changedTiles(tiles, 20)).toEqual(tiles)
  })
})

test('a point is in one tile of zoom 14', () => {
  const [tile, ...others] = changedTiles([[11.6, 48.1, 11.6, 48.1]], 9)
  expect(others).toEqual([])
  expect(tile![2] - tile![0]).toBeCloseTo(360 / 2 ** 14, 9)
})
