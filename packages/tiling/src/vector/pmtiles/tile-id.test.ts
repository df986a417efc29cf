import { tileIdToZxy, zxyToTileId } from 'pmtiles'
import { hilbertIndex } from '@terrane/core'
import { randomCases } from '@terrane/testing/property'
import { expect, test } from 'vitest'
import { hilbertCell, tileIdOf, tileOf } from './tile-id.ts'

test('TileIDs are those of the PMTiles reference reader', async () => {
  await randomCases(2000, (random) => {
    const zoom = Math.floor(random() * 19)
    const x = Math.floor(random() * 2 ** zoom)
    const y = Math.floor(random() * 2 ** zoom)
    const id = tileIdOf(zoom, x, y)
    expect(id).toBe(zxyToTileId(zoom, x, y))
    expect(tileOf(id)).toEqual({ zoom, x, y })
    expect(tileIdToZxy(id)).toEqual([zoom, x, y])
  })
})

test('the Hilbert curve of order 26 is exact, reversible, and moves to a neighbour at each step', async () => {
  await randomCases(2000, (random) => {
    const index = Math.floor(random() * (4 ** 26 - 1))
    const a = hilbertCell(26, index)
    const b = hilbertCell(26, index + 1)
    expect(hilbertIndex(26, a.x, a.y)).toBe(index)
    expect(Math.abs(a.x - b.x) + Math.abs(a.y - b.y)).toBe(1)
  })
})

test('a cell begins with the position of the larger cell it lies in', async () => {
  await randomCases(500, (random) => {
    const x = Math.floor(random() * 2 ** 20)
    const y = Math.floor(random() * 2 ** 20)
    expect(Math.floor(hilbertIndex(20, x, y) / 4 ** 7)).toBe(hilbertIndex(13, x >> 7, y >> 7))
  })
})
