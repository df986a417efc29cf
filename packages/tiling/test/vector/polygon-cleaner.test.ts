import { Path, PolygonCleaner } from '@terrane/core'
import { randomCases } from '@terrane/testing/property'
import { describe, expect, test } from 'vitest'
import { area, holds, invalidity } from './validity.ts'
import type { Ring } from './validity.ts'

type Role = 'outer' | 'hole'

function clean(rings: readonly { role: Role; ring: Ring }[]): Ring[][] {
  const path = new Path()
  for (const { role, ring } of rings) {
    path.ensure(ring.length)
    for (const [x, y] of ring) path.push(x, y)
    path.endPart(role === 'hole' ? 1 : 0, 3)
  }
  const cleaner = new PolygonCleaner()
  cleaner.clean(path)
  const polygons: Ring[][] = []
  for (let part = 0; part < cleaner.out.parts; part++) {
    const ring: [number, number][] = []
    for (let i = cleaner.out.startOf(part); i < cleaner.out.ends[part]!; i += 2) {
      ring.push([cleaner.out.xy[i]!, cleaner.out.xy[i + 1]!])
    }
    if (cleaner.out.holes[part] === 0) polygons.push([ring])
    else polygons.at(-1)!.push(ring)
  }
  return polygons
}

const outer = (...ring: [number, number][]) => ({ role: 'outer' as const, ring })
const hole = (...ring: [number, number][]) => ({ role: 'hole' as const, ring })
const totalArea = (polygons: Ring[][]) => polygons.flat().reduce((sum, ring) => sum + area(ring), 0)

describe('single cases', () => {
  test('a valid polygon is only wound: outer rings positive, holes negative', () => {
    const polygons = clean([outer([0, 0], [0, 9], [9, 9], [9, 0]), hole([2, 2], [4, 2], [4, 4], [2, 4])])
    expect(invalidity(polygons)).toBeNull()
    expect(totalArea(polygons)).toBe(77)
  })

  test('a bow tie becomes two triangles', () => {
    const polygons = clean([outer([0, 0], [8, 8], [8, 0], [0, 8])])
    expect(invalidity(polygons)).toBeNull()
    expect(polygons).toHaveLength(2)
    expect(totalArea(polygons)).toBe(32)
  })

  test('a hole that touches the outer ring in one point stays a hole', () => {
    const polygons = clean([outer([0, 0], [8, 0], [8, 8], [0, 8]), hole([0, 4], [4, 2], [4, 6])])
    expect(invalidity(polygons)).toBeNull()
    expect(polygons.map((rings) => rings.length)).toEqual([2])
  })

  test('a hole that touches the outer ring in two points cuts the polygon in two', () => {
    const polygons = clean([outer([0, 0], [8, 0], [8, 8], [0, 8]), hole([0, 4], [4, 2], [8, 4], [4, 6])])
    expect(invalidity(polygons)).toBeNull()
    expect(polygons.map((rings) => rings.length)).toEqual([1, 1])
    expect(totalArea(polygons)).toBe(48)
  })

  test('polygons that share an edge become one', () => {
    const polygons = clean([outer([0, 0], [4, 0], [4, 4], [0, 4]), outer([4, 0], [8, 0], [8, 4], [4, 4])])
    expect(polygons).toEqual([
      [
        expect.arrayContaining([
          [0, 0],
          [8, 0],
          [8, 4],
          [0, 4],
        ]),
      ],
    ])
    expect(polygons[0]![0]).toHaveLength(4)
  })

  test('an island in a hole stays', () => {
    const polygons = clean([
      outer([0, 0], [9, 0], [9, 9], [0, 9]),
      hole([1, 1], [8, 1], [8, 8], [1, 8]),
      outer([3, 3], [6, 3], [6, 6], [3, 6]),
    ])
    expect(invalidity(polygons)).toBeNull()
    expect(totalArea(polygons)).toBe(81 - 49 + 9)
  })

  test('a hole outside its polygon, and one as large as it, leave nothing behind', () => {
    expect(totalArea(clean([outer([0, 0], [4, 0], [4, 4], [0, 4]), hole([6, 6], [8, 6], [8, 8])]))).toBe(16)
    expect(clean([outer([0, 0], [4, 0], [4, 4], [0, 4]), hole([0, 0], [0, 4], [4, 4], [4, 0])])).toEqual([])
  })

  test('spikes and rings without area vanish', () => {
    expect(clean([outer([0, 0], [4, 0], [9, 0], [4, 0], [4, 4], [0, 4])])[0]![0]).toHaveLength(4)
    expect(clean([outer([0, 0], [5, 5], [9, 9])])).toEqual([])
    expect(clean([outer([0, 0], [5, 5], [0, 0], [5, 5])])).toEqual([])
  })

  test('a ring that runs along a cut between its two prongs is split', () => {
    const polygons = clean([outer([0, 0], [2, 0], [2, 8], [6, 8], [6, 0], [8, 0], [8, 8], [0, 8])])
    expect(invalidity(polygons)).toBeNull()
    expect(polygons).toHaveLength(2)
    expect(totalArea(polygons)).toBe(32)
  })
})

test('rings on grid lines keep exactly the cells that outer rings cover and holes do not', async () => {
  await randomCases(3000, (random) => {
    const wrong: unknown[] = []
    const rings = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, i) => ({
      role: i === 0 || random() < 0.5 ? ('outer' as const) : ('hole' as const),
      ring: skyline(random, 8),
    }))
    const polygons = clean(rings)
    const problem = invalidity(polygons)
    if (problem) wrong.push({ rings, problem })
    for (let x = 0.5; x < 8; x++) {
      for (let y = 0.5; y < 8; y++) {
        const shown = polygons.some(([ring, ...holes]) => holds(ring!, x, y) && !holes.some((h) => holds(h, x, y)))
        if (shown !== isCovered(rings, x, y)) wrong.push({ rings, x, y })
      }
    }
    expect(wrong).toEqual([])
  })
})

test('random rings of any shape come out valid', async () => {
  await randomCases(4000, (random) => {
    const size = 4 + Math.floor(random() * 40)
    const rings = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, i) => ({
      role: i === 0 || random() < 0.4 ? ('outer' as const) : ('hole' as const),
      ring: scribble(random, 3 + Math.floor(random() * 12), size),
    }))
    expect({ rings, problem: invalidity(clean(rings)) }).toEqual({ rings, problem: null })
  })
})

test('large rings with noise come out valid and keep their area', async () => {
  await randomCases(20, (random) => {
    const ring = wobblyCircle(random, 800, 1500)
    const polygons = clean([{ role: 'outer', ring }])
    expect(invalidity(polygons)).toBeNull()
    expect(Math.abs(totalArea(polygons) - Math.abs(area(ring)))).toBeLessThan(3000)
  })
})

/** A ring of columns of random height on a random base line, in either direction and orientation. */
function skyline(random: () => number, size: number): Ring {
  const ring: [number, number][] = []
  const base = Math.floor(random() * size)
  let x = Math.floor(random() * (size - 1))
  ring.push([x, base])
  do {
    const height = base + 1 + Math.floor(random() * (size - base))
    ring.push([x, height])
    x += 1 + Math.floor(random() * 3)
    ring.push([Math.min(x, size), height])
  } while (x < size && random() < 0.7)
  ring.push([Math.min(x, size), base])
  const turned = random() < 0.5 ? ring : ring.map(([px, py]): [number, number] => [py, px])
  return random() < 0.5 ? turned : turned.toReversed()
}

function scribble(random: () => number, count: number, size: number): Ring {
  return Array.from({ length: count }, () => [Math.floor(random() * size), Math.floor(random() * size)])
}

function wobblyCircle(random: () => number, count: number, radius: number): Ring {
  return Array.from({ length: count }, (_, i) => {
    const r = radius * (1 + (random() - 0.5) * 0.01)
    const angle = (2 * Math.PI * i) / count
    return [Math.round(2048 + r * Math.cos(angle)), Math.round(2048 + r * Math.sin(angle))]
  })
}

/** The rule: outer rings count +1, holes -1, and the sum is positive. */
function isCovered(rings: readonly { role: Role; ring: Ring }[], x: number, y: number): boolean {
  let sum = 0
  for (const { role, ring } of rings) if (holds(ring, x, y)) sum += role === 'outer' ? 1 : -1
  return sum > 0
}
