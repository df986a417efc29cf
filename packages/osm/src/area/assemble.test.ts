import { randomCases } from '@terrane/testing/property'
import { describe, expect, test } from 'vitest'
import { AreaAssembler } from './assemble.ts'

type Point = readonly [number, number]
type Ring = readonly Point[]

const assembler = new AreaAssembler()

function assemble(lines: readonly (readonly Point[])[]): Ring[][] | string {
  assembler.start()
  for (const line of lines) {
    const lon = Int32Array.from(line, ([x]) => x)
    const lat = Int32Array.from(line, ([, y]) => y)
    assembler.addLine(lon, lat, 0, line.length)
  }
  return assembler.assemble() ?? polygons()
}

function polygons(): Ring[][] {
  const rings = Array.from({ length: assembler.polygonStart[assembler.polygonCount]! }, (_, r) => ringPoints(r))
  return Array.from({ length: assembler.polygonCount }, (_, p) =>
    rings.slice(assembler.polygonStart[p], assembler.polygonStart[p + 1]),
  )
}

function ringPoints(ring: number): Ring {
  const from = assembler.ringStart[ring]!
  const length = assembler.ringStart[ring + 1]! - from
  return Array.from({ length }, (_, i): Point => [assembler.lon[from + i]!, assembler.lat[from + i]!])
}

describe('one line', () => {
  test.for<[string, string, string]>([
    ['a square', '0 0, 4 0, 4 4, 0 4, 0 0', '(0 0,4 0,4 4,0 4,0 0)'],
    ['a square the other way round', '0 0, 0 4, 4 4, 4 0, 0 0', '(0 0,4 0,4 4,0 4,0 0)'],
    ['a node twice in succession', '0 0, 4 0, 4 0, 4 4, 0 0', '(0 0,4 0,4 4,0 0)'],
    ['a node on a straight side', '0 0, 2 0, 4 0, 4 4, 0 0', '(0 0,2 0,4 0,4 4,0 0)'],
    [
      'a ring that touches itself in a node',
      '0 0, 4 0, 2 2, 4 4, 0 4, 2 2, 0 0',
      '(0 0,4 0,2 2,0 0) (0 4,2 2,4 4,0 4)',
    ],
    [
      'a ring with a bridge to its hole',
      '0 0, 9 0, 9 9, 5 9, 5 6, 3 3, 6 3, 5 6, 5 9, 0 9, 0 0',
      '(0 0,9 0,9 9,5 9,0 9,0 0|3 3,5 6,6 3,3 3)',
    ],
    [
      // As way 378256914 does in Malta, 302 times; even-odd as PostGIS has it: st_buildarea of the sides that occur once.
      'a way that runs back over its own sides between two rings',
      '0 0, 4 0, 4 2, 5 3, 6 1, 7 2, 7 0, 9 0, 9 4, 7 4, 7 2, 6 1, 5 3, 4 2, 4 4, 0 4, 0 0',
      '(0 0,4 0,4 2,4 4,0 4,0 0) (7 0,9 0,9 4,7 4,7 2,7 0)',
    ],
    ['a spike', '0 0, 4 0, 4 4, 4 7, 4 4, 0 0', '(0 0,4 0,4 4,0 0)'],
  ])('%s', ([, line, expected]) => {
    expect(text(assemble([parse(line)]))).toBe(expected)
  })

  test.for<[string, string, string]>([
    ['no points', '', 'empty'],
    ['one point', '1 1, 1 1, 1 1', 'empty'],
    ['there and back', '0 0, 4 0, 4 4, 4 0, 0 0', 'empty'],
    ['an open line', '0 0, 4 0, 4 4, 0 4', 'open'],
    ['a bow tie', '0 0, 4 4, 4 0, 0 4, 0 0', 'crossing'],
    ['a node that touches a side', '0 0, 4 0, 4 4, 2 0, 0 4, 0 0', 'crossing'],
    ['a side that runs back over another', '0 0, 6 0, 4 0, 4 4, 0 0', 'crossing'],
  ])('%s is no area', ([, line, fault]) => {
    expect(assemble([parse(line)])).toBe(fault)
  })
})

describe('several lines', () => {
  test.for<[string, string[], string]>([
    ['a ring of two lines that run towards each other', ['0 0, 4 0, 4 4', '0 0, 0 4, 4 4'], '(0 0,4 0,4 4,0 4,0 0)'],
    ['a hole', ['0 0, 9 0, 9 9, 0 9, 0 0', '3 3, 6 3, 6 6, 3 3'], '(0 0,9 0,9 9,0 9,0 0|3 3,6 6,6 3,3 3)'],
    [
      'an island in a hole',
      ['3 3, 6 3, 6 6, 3 6, 3 3', '0 0, 9 0, 9 9, 0 9, 0 0', '4 4, 5 4, 5 5, 4 4'],
      '(0 0,9 0,9 9,0 9,0 0|3 3,3 6,6 6,6 3,3 3) (4 4,5 4,5 5,4 4)',
    ],
    [
      'two holes with a common side are one',
      ['0 0, 9 0, 9 9, 0 9, 0 0', '1 1, 3 1, 3 3, 1 3, 1 1', '3 1, 5 1, 5 3, 3 3, 3 1'],
      '(0 0,9 0,9 9,0 9,0 0|1 1,1 3,3 3,5 3,5 1,3 1,1 1)',
    ],
    [
      'a hole on the border cuts into it',
      ['0 0, 4 0, 4 4, 0 4, 0 0', '0 0, 4 0, 2 2, 0 0'],
      '(0 0,2 2,4 0,4 4,0 4,0 0)',
    ],
  ])('%s', ([, lines, expected]) => {
    expect(text(assemble(lines.map(parse)))).toBe(expected)
  })

  test('coordinates may be anywhere on the Earth', () => {
    const [w, s, e, n] = [-1_800_000_000, -900_000_000, 1_800_000_000, 900_000_000]
    const world: Point[] = [[w, s], [e, s], [e, n], [w, n], [w, s]] // prettier-ignore
    const sliver: Point[] = [[w + 1, s + 1], [e - 1, n - 1], [e - 1, n - 2], [w + 1, s + 1]] // prettier-ignore
    expect(text(assemble([world, sliver]))).toBe(text([[world, sliver]]))
    // One unit off the diagonal of the sliver, ten digits in.
    const touching: Point[] = [[0, 0], [0, 1], [1, 1], [0, 0]] // prettier-ignore
    expect(assemble([world, sliver, touching])).toBe('crossing')
  })
})

describe('random areas', () => {
  // Any set of the triangles of a grid is an area with much touching; each triangle brings its three sides.
  test('are what their triangles cover, as valid polygons', async () => {
    await randomCases(1500, (random, seed) => {
      const size = 2 + (seed % 5)
      const triangles = grid(size).filter((_, i) => i === 0 || random() < 0.15 + 0.7 * ((seed % 7) / 7))
      const built = assemble(triangles.map((triangle) => [...triangle, triangle[0]!]))
      expectValid(built)
      const covered = (point: Point): number => built.filter((rings) => inside(rings, point)).length
      const chosen = new Set(triangles.map(centre).map(String))
      for (const triangle of grid(size))
        expect(covered(centre(triangle))).toBe(chosen.has(String(centre(triangle))) ? 1 : 0)
    })
  })

  test('that cross are found, and no others', async () => {
    const counts = { crossing: 0, empty: 0, area: 0 }
    // Enough rounds for both kinds to occur far more often than required below.
    const least = 400
    const check = (random: () => number, seed: number): void => {
      const extent = 4 + (seed % 30)
      const coordinate = (): number => Math.floor(random() * extent)
      const lines = Array.from({ length: 1 + (seed % 3) }, () => {
        const points = Array.from({ length: 3 + Math.floor(random() * 3) }, (): Point => [coordinate(), coordinate()])
        return [...points, points[0]!]
      })
      const built = assemble(lines)
      const segments = uncancelled(lines)
      const crossing = segments.some((a, i) => segments.some((b, j) => i < j && cross(a, b)))
      const expected = crossing ? 'crossing' : segments.length === 0 ? 'empty' : 'area'
      expect(typeof built === 'string' ? built : 'area').toBe(expected)
      counts[expected]++
      if (expected === 'area') expectValid(built)
    }
    const ran = await randomCases(4000, check, { least })
    expect(counts.crossing).toBeGreaterThan(ran / 8)
    expect(counts.area).toBeGreaterThan(ran / 16)
  })

  test('come out alike from a ring in one piece and in two', async () => {
    await randomCases(500, (random, seed) => {
      const corners = 4 + (seed % 30)
      const star = Array.from({ length: corners }, (_, i): Point => {
        const [angle, radius] = [(i / corners) * 2 * Math.PI, 1000 + random() * 1e6]
        return [Math.round(Math.cos(angle) * radius), Math.round(Math.sin(angle) * radius)]
      })
      if (seed % 10 === 0) star.splice(2, 0, ...star.slice(0, 1))
      const ring = [...star, star[0]!]
      const whole = assemble([ring])
      const halves = assemble([ring.slice(0, 3), ring.slice(2)])
      expect(text(halves)).toBe(text(whole))
    })
  })
})

function parse(line: string): Point[] {
  if (line === '') return []
  return line.split(', ').map((point): Point => {
    const [x, y] = point.split(' ').map(Number)
    return [x ?? Number.NaN, y ?? Number.NaN]
  })
}

/** Polygons in parentheses, rings between bars, each from its smallest point on. */
function text(built: Ring[][] | string): string {
  if (typeof built === 'string') return built
  return built
    .map(
      (rings) =>
        `(${rings
          .map((ring) =>
            rotated(ring)
              .map((point) => point.join(' '))
              .join(','),
          )
          .join('|')})`,
    )
    .toSorted()
    .join(' ')
}

function rotated(ring: Ring): Ring {
  const open = ring.slice(1)
  const least = open.reduce((a, b) => (b[0] < a[0] || (b[0] === a[0] && b[1] < a[1]) ? b : a))
  const at = open.indexOf(least)
  return [...open.slice(at), ...open.slice(0, at), least]
}

/** Each square of a grid has four triangles around its middle; coordinates are even, middles odd. */
function grid(size: number): Point[][] {
  const triangles: Point[][] = []
  for (let x = 0; x < size * 2; x += 2) {
    for (let y = 0; y < size * 2; y += 2) {
      const corners: Point[] = [[x, y], [x + 2, y], [x + 2, y + 2], [x, y + 2]] // prettier-ignore
      for (let i = 0; i < 4; i++) triangles.push([corners[i]!, corners[(i + 1) % 4]!, [x + 1, y + 1]])
    }
  }
  return triangles
}

function centre(triangle: readonly Point[]): Point {
  const sum = (axis: 0 | 1): number => triangle.reduce((total, point) => total + point[axis], 0)
  return [sum(0) / 3, sum(1) / 3]
}

function inside(rings: readonly Ring[], point: Point): boolean {
  return rings.every((ring, i) => contains(ring, point) === (i === 0))
}

function contains(ring: Ring, [x, y]: Point): boolean {
  let within = false
  for (let i = 1; i < ring.length; i++) {
    const [ax, ay] = ring[i - 1]!
    const [bx, by] = ring[i]!
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) within = !within
  }
  return within
}

/** Checks the other rules of OGC: simple rings, their turn, and a connected interior. */
function expectValid(built: Ring[][] | string): asserts built is Ring[][] {
  if (typeof built === 'string') throw new Error(`no area: ${built}`)
  for (const rings of built) {
    const touches: [number, string][] = []
    for (const [r, ring] of rings.entries()) {
      const points = ring.slice(1).map(String)
      expect(String(ring[0])).toBe(points.at(-1))
      expect(new Set(points).size).toBe(points.length)
      expect(Math.sign(area(ring))).toBe(r === 0 ? 1 : -1)
      for (const point of points) touches.push([r, point])
    }
    // Rings and the points they share form a forest: a cycle would cut the interior in two.
    expect(hasCycle(touches)).toBe(false)
  }
}

function area(ring: Ring): number {
  let sum = 0
  for (let i = 1; i < ring.length; i++) sum += ring[i - 1]![0] * ring[i]![1] - ring[i]![0] * ring[i - 1]![1]
  return sum
}

function hasCycle(links: readonly [number, string][]): boolean {
  const parent = new Map<string, string>()
  const root = (name: string): string => {
    const up = parent.get(name)
    return up === undefined ? name : root(up)
  }
  for (const [ring, point] of links) {
    const a = root(`ring ${ring}`)
    const b = root(point)
    if (a === b) return true
    parent.set(a, b)
  }
  return false
}

/** The segments that stand there an odd number of times. */
function uncancelled(lines: readonly (readonly Point[])[]): [Point, Point][] {
  const segments = new Map<string, [Point, Point]>()
  for (const line of lines) {
    for (let i = 1; i < line.length; i++) {
      const [a, b] = [line[i - 1]!, line[i]!]
      const key = [String(a), String(b)].toSorted().join(' ')
      if (String(a) !== String(b) && !segments.delete(key)) segments.set(key, [a, b])
    }
  }
  return [...segments.values()]
}

/** Do two different segments share a point that is not an end of both? */
function cross([a, b]: [Point, Point], [c, d]: [Point, Point]): boolean {
  const turn = (p: Point, q: Point, r: Point): number =>
    Math.sign((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]))
  const within = (p: Point, q: Point, r: Point): boolean =>
    turn(p, q, r) === 0 && (r[0] - p[0]) * (r[0] - q[0]) + (r[1] - p[1]) * (r[1] - q[1]) < 0
  if (turn(a, b, c) * turn(a, b, d) < 0 && turn(c, d, a) * turn(c, d, b) < 0) return true
  return within(a, b, c) || within(a, b, d) || within(c, d, a) || within(c, d, b)
}
