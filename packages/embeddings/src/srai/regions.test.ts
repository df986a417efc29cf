import { seededRandom } from '@terrane/core'
import { cellArea, getRes0Cells, gridDisk, latLngToCell } from 'h3-js'
import { describe, expect, test } from 'vitest'

import type { PolygonRings, Position } from './geometry.ts'
import { CellIndex } from './join/cell-index.ts'
import { cellPolygons, coverArea, estimateCells, guardCells } from './regions.ts'

function box(west: number, south: number, east: number, north: number): PolygonRings {
  return [
    [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ],
  ]
}

function planarArea(ring: readonly Position[]): number {
  return ring.slice(1).reduce((sum, [x, y], i) => sum + (ring[i]![0] * y - x * ring[i]![1]) / 2, 0)
}

const city = box(9.1, 45.4, 9.3, 45.5)

describe('covering an area', () => {
  test('takes every cell that has a point in common with it, and no other', () => {
    const triangle: PolygonRings = [
      [
        [9.1, 45.4],
        [9.31, 45.43],
        [9.17, 45.52],
        [9.1, 45.4],
      ],
    ]
    for (const resolution of [6, 8, 9]) {
      const cells = coverArea({ area: [triangle], resolution })
      const around = [...new Set(cells.flatMap((cell) => gridDisk(cell, 2)))].toSorted()
      const index = new CellIndex(around)
      const count = index.find({ type: 'Polygon', coordinates: triangle })
      expect(cells).toEqual(Array.from(index.hits.subarray(0, count), (at) => around[at]!).toSorted())
    }
  })

  test('covers an area that is smaller than a cell, several polygons, and holes', () => {
    expect(coverArea({ area: [box(9.19, 45.46, 9.190001, 45.460001)], resolution: 5 })).toHaveLength(1)
    const two = coverArea({ area: [box(9.1, 45.4, 9.15, 45.45), box(20, 0, 20.1, 0.1)], resolution: 8 })
    expect(two).toEqual([...new Set(two)].toSorted())
    expect(two).toContain(latLngToCell(0.05, 20.05, 8))
    const hole: PolygonRings = [city[0]!, box(9.15, 45.42, 9.25, 45.48)[0]!]
    expect(coverArea({ area: [hole], resolution: 9 })).not.toContain(latLngToCell(45.45, 9.2, 9))
  })

  test('covers both sides of the antimeridian', () => {
    const cells = coverArea({ area: [box(179.9, -17, 180, -16.9), box(-180, -17, -179.9, -16.9)], resolution: 7 })
    expect(cells).toContain(latLngToCell(-16.95, 179.95, 7))
    expect(cells).toContain(latLngToCell(-16.95, -179.95, 7))
    for (const beyond of [
      box(179.9, -17, 180.1, -16.9),
      box(-180.1, -17, -179.9, -16.9),
      box(179.9, -17, -179.9, -16.9),
    ]) {
      expect(coverArea({ area: [beyond], resolution: 7 })).toEqual(cells)
    }
  })

  test('is refused over the limit, before cells are made where the size of the area tells', () => {
    const maxCells = { limit: 1000, setting: 'MAX_H3_CELLS' }
    expect(() => coverArea({ area: [city], resolution: 15, maxCells })).toThrow(
      /about \d{7,} H3 cells of resolution 15; MAX_H3_CELLS allows 1000/,
    )
    const exact = coverArea({ area: [city], resolution: 9 }).length
    const cover = (limit: number): number =>
      coverArea({ area: [city], resolution: 9, maxCells: { ...maxCells, limit } }).length
    expect(() => cover(exact - 1)).toThrow(`The area has ${exact} H3 cells of resolution 9`)
    expect(cover(exact)).toBe(exact)
    expect(cover(0)).toBe(exact)
  })

  test('is refused over the limit although it has next to no size, before all its cells are made', () => {
    const maxCells = { limit: 1000, setting: 'MAX_H3_CELLS' }
    const needle = box(9, 45, 19, 45.000_000_1)
    expect(estimateCells({ area: [needle], resolution: 13 })).toBeLessThan(300)
    expect(() => coverArea({ area: [needle], resolution: 13, maxCells })).toThrow(/about \d{4} H3 cells/)
    expect(coverArea({ area: [box(9, 45, 9.001, 45.000_000_1)], resolution: 13, maxCells }).length).toBeLessThan(1000)
  })

  test('is refused on submission only where no doubt remains', () => {
    const guard = (limit: number, resolution: number) => () =>
      guardCells({ area: [city], resolution, maxCells: { limit, setting: 'MAX_H3_CELLS' } })
    const cells = estimateCells({ area: [city], resolution: 9 })
    expect(guard(Math.floor(cells / 2) - 1, 9)).toThrow(`about ${cells} H3 cells of resolution 9; MAX_H3_CELLS allows`)
    expect(guard(cells - 1, 9)).not.toThrow()
    expect(guard(0, 15)).not.toThrow()
  })

  test('is refused for resolutions that do not exist, and for no area', () => {
    for (const resolution of [16, -1, 8.5, Number.NaN]) {
      expect(() => coverArea({ area: [city], resolution })).toThrow('h3Resolution must be a whole number from 0 to 15')
    }
    expect(() => coverArea({ area: [], resolution: 8 })).toThrow('covers no H3 cell')
    expect(() => coverArea({ area: [box(9, 45, 10, 95)], resolution: 3 })).toThrow('[10, 95] is not a position')
    expect(() => coverArea({ area: [box(9, 45, Number.NaN, 46)], resolution: 3 })).toThrow(
      '[NaN, 45] is not a position',
    )
  })

  test('is estimated within a factor of two', () => {
    const random = seededRandom(4)
    for (let i = 0; i < 30; i++) {
      const [x, y] = [random() * 340 - 170, random() * 160 - 80]
      const area = [box(x, y, x + 0.5, y + 0.3)]
      const cells = coverArea({ area, resolution: 8 }).length
      const estimate = estimateCells({ area, resolution: 8 })
      expect(estimate).toBeLessThan(cells * 2)
      expect(estimate).toBeGreaterThan(cells / 2)
    }
  })
})

describe('the outline of a cell', () => {
  test('is a closed counter-clockwise ring', () => {
    const [polygon, ...others] = cellPolygons(latLngToCell(45.46, 9.19, 9))
    expect(others).toEqual([])
    const [ring = []] = polygon!
    expect(ring).toHaveLength(7)
    expect(ring[0]).toEqual(ring[6])
    expect(planarArea(ring)).toBeGreaterThan(0)
  })

  test('is cut in two at the antimeridian, within the range of longitudes', () => {
    const parts = cellPolygons(latLngToCell(-17, 180, 5))
    expect(parts).toHaveLength(2)
    for (const [ring = []] of parts) {
      expect(ring.every(([x]) => x >= -180 && x <= 180)).toBe(true)
      expect(ring.some(([x]) => Math.abs(x) === 180)).toBe(true)
      expect(planarArea(ring)).toBeGreaterThan(0)
    }
  })

  test('of all cells together fills the map once', () => {
    const area = getRes0Cells()
      .flatMap((cell) => cellPolygons(cell))
      .reduce((sum, [ring = []]) => sum + planarArea(ring), 0)
    expect(area).toBeCloseTo(360 * 180, -2)
    expect(cellArea(getRes0Cells()[0]!, 'km2')).toBeGreaterThan(1e6)
  })
})
