import { seededRandom } from '@terrane/core'
import { expect, it } from 'vitest'
import type { Graph } from '../graph/graph.ts'
import { packBoxes } from './boxes.ts'
import { shapesTouching } from './touching.ts'

type Point = readonly [number, number]

/** The part of a graph that is geometry, from lines of points in 1e-6 degrees. */
function graphOf(lines: readonly (readonly Point[])[]): Graph {
  const points = lines.flat()
  const firstPoint = new Uint32Array(lines.length + 1)
  lines.forEach((line, i) => (firstPoint[i + 1] = firstPoint[i]! + line.length))
  const shapes = {
    firstPoint,
    pointLon: Int32Array.from(points, ([x]) => x),
    pointLat: Int32Array.from(points, ([, y]) => y),
  }
  const { boxes, levels, shape, stretch } = packBoxes(shapes)
  return { ...shapes, boxes, boxLevels: levels, boxShape: shape, boxStretch: stretch } as unknown as Graph
}

const degrees = ([x, y]: Point): Point => [x / 1e6, y / 1e6]
const closed = (points: readonly Point[]): Point[] => [...points, points[0]!]

/** The definition, point by point and segment by segment. */
function touches(line: readonly Point[], ring: readonly Point[]): boolean {
  const sides = ring.slice(1).map((to, i): [Point, Point] => [ring[i]!, to])
  const turn = ([ax, ay]: Point, [bx, by]: Point, [cx, cy]: Point): number =>
    Math.sign((bx - ax) * (cy - ay) - (by - ay) * (cx - ax))
  const on = (a: Point, b: Point, c: Point): boolean =>
    turn(a, b, c) === 0 && [0, 1].every((k) => Math.min(a[k]!, b[k]!) <= c[k]! && c[k]! <= Math.max(a[k]!, b[k]!))
  const cross = (a: Point, b: Point, c: Point, d: Point): boolean =>
    (turn(a, b, c) !== turn(a, b, d) && turn(c, d, a) !== turn(c, d, b)) ||
    on(a, b, c) ||
    on(a, b, d) ||
    on(c, d, a) ||
    on(c, d, b)
  const [x, y] = line[0]!
  const crossings = sides.filter(
    ([[x1, y1], [x2, y2]]) => y1 > y !== y2 > y && x < x1 + ((y - y1) / (y2 - y1)) * (x2 - x1),
  )
  if (crossings.length % 2 === 1) return true
  return line.slice(1).some((to, i) => sides.some(([c, d]) => cross(line[i]!, to, c, d)))
}

/** Whether a point survives the conversion to degrees, so that touching geometries still touch. */
const survives = ([x, y]: Point): boolean => [x - 90, x, x + 90, y].every((v) => (v / 1e6) * 1e6 === v)

const random = seededRandom(11)
const near = ([x, y]: Point, step: number): Point => [
  Math.round(x + (random() - 0.5) * step),
  Math.round(y + (random() - 0.5) * step),
]
const place = (): Point => near([0, 0], 20_000)
const walk = (points: number, step: number): Point[] => {
  const line = [place()]
  while (line.length < points) line.push(near(line.at(-1)!, step))
  return line
}
const lines = Array.from({ length: 200 }, () => walk(2 + Math.floor(random() * 20), 1200))
const graph = graphOf(lines)

it.each([
  ['triangles', () => Array.from({ length: 40 }, () => walk(3, 2000))],
  ['rings that cross themselves', () => [walk(200, 4000)]],
  ['a long ring of tiny steps', () => [walk(800, 120)]],
  [
    'a comb of long teeth',
    () => [Array.from({ length: 200 }, (_, i): Point => [i * 40 - 4000, i % 2 === 0 ? -9000 : 9000])],
  ],
  ['rings as small as a point', () => lines.flatMap(([, point]) => (survives(point!) ? [[point!]] : []))],
  ['lines there and back', () => Array.from({ length: 50 }, () => walk(2, 3000))],
  [
    'level lines through points of streets',
    () =>
      lines
        .filter(([point]) => survives(point!))
        .map(([point]) => point!)
        .map(([x, y]): Point[] => [
          [x - 90, y],
          [x + 90, y],
        ]),
  ],
  [
    'a box around everything',
    () => [
      [
        [-4e4, -4e4],
        [4e4, -4e4],
        [4e4, 4e4],
        [-4e4, 4e4],
      ] as Point[],
    ],
  ],
  [
    'rings beside everything',
    () => [
      [
        [5e4, 5e4],
        [6e4, 5e4],
        [6e4, 6e4],
      ] as Point[],
    ],
  ],
])('finds the streets that %s touch', (_, make) => {
  const rings = make().map(closed)
  const wanted = lines.flatMap((line, i) => (rings.some((ring) => touches(line, ring)) ? [i] : []))
  const found = shapesTouching(
    graph,
    rings.map((ring) => ring.map(degrees)),
  )
  expect([...found].toSorted((a, b) => a - b)).toEqual(wanted)
})

it('numbers the leaves of the longest street that there may be, and refuses a longer one', () => {
  const streetOf = (points: number) => ({
    firstPoint: Uint32Array.of(0, points),
    pointLon: Int32Array.from({ length: points }, (_, i) => i),
    pointLat: new Int32Array(points),
  })
  const { stretch } = packBoxes(streetOf(2 ** 19))
  expect(new Set(stretch).size).toBe(2 ** 16)
  expect(() => packBoxes(streetOf(2 ** 19 + 1))).toThrow(expect.objectContaining({ code: 'STREET_TOO_LONG' }))
})
