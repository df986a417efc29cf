import { seededRandom } from '@terrane/core'
import { cellToBoundary, cellToLatLng, getPentagons, getRes0Cells, gridDisk, latLngToCell, polygonToCells } from 'h3-js'
import { randomCases } from '@terrane/testing/property'
import { describe, expect, test } from 'vitest'

import type { Geometry, PolygonRings, Position } from '../../src/srai/geometry.ts'
import { CellIndex } from '../../src/srai/join/cell-index.ts'

type Random = () => number

/** All pairs, written as plainly as can be: the oracle. */
function bruteForce(cells: readonly string[], geometry: Geometry): number[] {
  return cells.flatMap((cell, i) => {
    const ring = cellToBoundary(cell, true).map(([x, y]): Position => [x, y])
    return meets(geometry, ring) ? [i] : []
  })
}

function meets(geometry: Geometry, cell: readonly Position[]): boolean {
  switch (geometry.type) {
    case 'Point':
      return inside([cell], geometry.coordinates)
    case 'MultiPoint':
      return geometry.coordinates.some((point) => inside([cell], point))
    case 'LineString':
      return lineMeets(geometry.coordinates, cell)
    case 'MultiLineString':
      return geometry.coordinates.some((line) => lineMeets(line, cell))
    case 'Polygon':
      return polygonMeets(geometry.coordinates, cell)
    case 'MultiPolygon':
      return geometry.coordinates.some((polygon) => polygonMeets(polygon, cell))
    case 'GeometryCollection':
      return geometry.geometries.some((member) => meets(member, cell))
    default:
      throw new Error('unknown geometry')
  }
}

function lineMeets(line: readonly Position[], cell: readonly Position[]): boolean {
  return line.some((point) => inside([cell], point)) || crosses(line, cell)
}

function polygonMeets(rings: PolygonRings, cell: readonly Position[]): boolean {
  return rings.some((ring) => lineMeets(ring, cell)) || cell.some((corner) => inside(rings, corner))
}

function side(a: Position, b: Position, c: Position): number {
  return Math.sign((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
}

function crosses(line: readonly Position[], ring: readonly Position[]): boolean {
  return line.slice(1).some((b, i) =>
    ring.slice(1).some((d, j) => {
      const [a, c] = [line[i]!, ring[j]!]
      return side(a, b, c) !== side(a, b, d) && side(c, d, a) !== side(c, d, b)
    }),
  )
}

function inside(rings: PolygonRings, [x, y]: Position): boolean {
  const crossings = rings.flatMap((ring) =>
    ring.slice(1).filter(([bx, by], i) => {
      const [ax, ay] = ring[i]!
      return ay > y !== by > y && x < ax + ((y - ay) / (by - ay)) * (bx - ax)
    }),
  )
  return crossings.length % 2 === 1
}

function blob(random: Random, [x, y]: Position, radius: number, corners: number): Position[] {
  const ring = Array.from({ length: corners }, (_, i): Position => {
    const angle = (2 * Math.PI * i) / corners
    const reach = radius * (0.4 + 0.6 * random())
    return [x + reach * Math.cos(angle), y + reach * Math.sin(angle) * 0.7]
  })
  return [...ring, ring[0]!]
}

function randomGeometry(random: Random, around: Position, size: number): Geometry {
  const near = (spread = size): Position => [
    around[0] + (random() - 0.5) * 2 * spread,
    around[1] + (random() - 0.5) * 2 * spread,
  ]
  const walk = (): Position[] => {
    const line: Position[] = [near()]
    for (let i = 0; i < 1 + random() * 12; i++) {
      const [x, y] = line.at(-1)!
      const step = size * random() ** 2
      line.push([x + (random() - 0.5) * step, y + (random() - 0.5) * step])
    }
    return line
  }
  const polygon = (): PolygonRings => {
    const center = near()
    const radius = size * random() ** 3
    const outer = blob(random, center, radius, 3 + Math.floor(random() * (random() < 0.2 ? 300 : 12)))
    return random() < 0.4 ? [outer, blob(random, center, radius * 0.25, 6)] : [outer]
  }
  const kinds: (() => Geometry)[] = [
    () => ({ type: 'Point', coordinates: near() }),
    () => ({ type: 'MultiPoint', coordinates: [near(), near(), near()] }),
    () => ({ type: 'LineString', coordinates: walk() }),
    () => ({ type: 'MultiLineString', coordinates: [walk(), walk()] }),
    () => ({ type: 'Polygon', coordinates: polygon() }),
    () => ({ type: 'MultiPolygon', coordinates: [polygon(), polygon()] }),
    () => ({
      type: 'GeometryCollection',
      geometries: [
        { type: 'Point', coordinates: near() },
        { type: 'Polygon', coordinates: polygon() },
      ],
    }),
  ]
  return kinds[Math.floor(random() * kinds.length)]!()
}

function found(index: CellIndex, geometry: Geometry): number[] {
  const count = index.find(geometry)
  return [...index.hits.subarray(0, count)].toSorted((a, b) => a - b)
}

const square = (west: number, south: number, east: number, north: number): PolygonRings => [
  [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ],
]

const [PENTAGON = ''] = getPentagons(2)
const [pentagonY, pentagonX] = cellToLatLng(PENTAGON)

describe('the join of geometries with cells equals brute force', () => {
  const areas: readonly (readonly [name: string, cells: string[], around: Position, size: number])[] = [
    ['a city', gridDisk(latLngToCell(45.46, 9.19, 9), 12), [9.19, 45.46], 0.05],
    [
      'cells with gaps between them',
      gridDisk(latLngToCell(-33.9, 18.4, 8), 14).filter((_, i) => i % 3 > 0),
      [18.4, -33.9],
      0.15,
    ],
    [
      'two places far apart',
      [...gridDisk(latLngToCell(1, 1, 7), 4), ...gridDisk(latLngToCell(60, 100, 7), 4)],
      [1, 1],
      0.3,
    ],
    ['large cells with bent sides', gridDisk(latLngToCell(48, 11, 3), 3), [11, 48], 8],
    ['the surroundings of a pentagon', gridDisk(PENTAGON, 2), [pentagonX, pentagonY], 8],
    ['a single cell', [latLngToCell(45.46, 9.19, 9)], [9.19, 45.46], 0.004],
  ]
  test.for(areas)('%s', async ([, cells, around, size]) => {
    const index = new CellIndex(cells)
    let hits = 0
    const compare = (random: Random): void => {
      const geometry = randomGeometry(random, around, size)
      const expected = bruteForce(cells, geometry)
      expect(found(index, geometry), `for ${JSON.stringify(geometry)}`).toEqual(expected)
      hits += expected.length
    }
    const fixed = seededRandom(cells.length)
    for (let i = 0; i < 400; i++) {
      compare(fixed)
      if (hits > 100) break
    }
    expect(hits).toBeGreaterThan(100)
    await randomCases(400, compare)
  })
})

describe('the join', () => {
  const center = latLngToCell(45.46, 9.19, 9)

  test('gives a point on a border to the cells on both sides', () => {
    const cells = gridDisk(center, 1)
    const index = new CellIndex(cells)
    const [corner] = cellToBoundary(center, true)
    const hits = found(index, { type: 'Point', coordinates: corner! })
    expect(hits).toContain(0)
    expect(hits.length).toBeGreaterThan(1)
  })

  test('counts a cell once however often a geometry touches it', () => {
    const index = new CellIndex([center])
    const [y, x] = cellToLatLng(center)
    const points: Position[] = [
      [x, y],
      [x, y],
      [x, y],
    ]
    for (const type of ['MultiPoint', 'LineString'] as const)
      expect(found(index, { type, coordinates: points })).toEqual([0])
  })

  test('finds the cells inside a polygon that holds them all, and none inside its hole', () => {
    const cells = gridDisk(center, 6)
    const index = new CellIndex(cells)
    const all = square(9, 45, 10, 46)
    expect(found(index, { type: 'Polygon', coordinates: all })).toHaveLength(cells.length)
    const hole: PolygonRings = [all[0]!, square(9.1, 45.4, 9.3, 45.5)[0]!]
    expect(found(index, { type: 'Polygon', coordinates: hole })).toEqual([])
  })

  test('knows nothing of geometries far away, and of empty ones', () => {
    const index = new CellIndex([center])
    expect(found(index, { type: 'Point', coordinates: [-100, 10] })).toEqual([])
    expect(found(index, { type: 'Polygon', coordinates: square(100, 10, 101, 11) })).toEqual([])
    expect(found(index, { type: 'LineString', coordinates: [] })).toEqual([])
    expect(found(index, { type: 'Polygon', coordinates: [] })).toEqual([])
    expect(found(index, { type: 'MultiPolygon', coordinates: [] })).toEqual([])
  })

  test('works on both sides of the antimeridian', () => {
    const cells = gridDisk(latLngToCell(-17, 179.99, 6), 5)
    const index = new CellIndex(cells)
    for (const cell of cells) {
      const [y, x] = cellToLatLng(cell)
      const number = cells.indexOf(cell)
      expect(found(index, { type: 'Point', coordinates: [x, y] })).toEqual([number])
      expect(found(index, { type: 'Point', coordinates: [x < 0 ? x + 360 : x, y] })).toContain(number)
    }
    const line = found(index, {
      type: 'LineString',
      coordinates: [
        [179.8, -17],
        [-179.8, -17],
      ],
    })
    expect(line.length).toBeGreaterThan(2)
    const split = found(index, {
      type: 'MultiLineString',
      coordinates: [
        [
          [179.8, -17],
          [180, -17],
        ],
        [
          [-180, -17],
          [-179.8, -17],
        ],
      ],
    })
    expect(split).toEqual(line)
  })

  test('gives every point of the globe to a cell, the poles included', async () => {
    const cells = getRes0Cells()
    const index = new CellIndex(cells)
    await randomCases(2000, (random) => {
      const point: Position = [random() * 360 - 180, random() * 180 - 90]
      expect(index.find({ type: 'Point', coordinates: point }), `at ${point.join()}`).toBeGreaterThan(0)
    })
    expect(index.find({ type: 'Point', coordinates: [0, 90] })).toBe(1)
    expect(index.find({ type: 'Point', coordinates: [77, -90] })).toBe(1)
  })

  test('agrees with H3 on points that are not at a border', () => {
    const cells = polygonToCells(
      [
        [45.4, 9.1],
        [45.4, 9.3],
        [45.5, 9.3],
        [45.5, 9.1],
      ],
      8,
    )
    const index = new CellIndex(cells)
    const random = seededRandom(2)
    let differ = 0
    for (let i = 0; i < 3000; i++) {
      const [x, y] = [9.13 + random() * 0.14, 45.42 + random() * 0.06]
      const hits = found(index, { type: 'Point', coordinates: [x, y] })
      if (hits.length !== 1 || cells[hits[0]!] !== latLngToCell(y, x, 8)) differ++
    }
    // H3 cuts along great circles, the join along straight lines in longitude and latitude.
    expect(differ).toBeLessThan(3)
  })
})
