import { randomCases } from '@terrane/testing/property'
import { expect, test } from 'vitest'
import { featureSizeBound, writeFeature } from '../../src/vector/features/feature-record.ts'
import { LINE, POLYGON, Shape } from '../../src/vector/features/shape.ts'
import type { Kind } from '../../src/vector/features/shape.ts'
import { Bits, findJunctions } from '../../src/vector/geometry/junctions.ts'
import { VertexRanker } from '../../src/vector/geometry/rank-vertices.ts'
import { RecordLog } from '../../src/vector/spill/record-log.ts'
import { memoryScratch } from './memory-scratch.ts'

type Position = readonly [number, number]

function shapeOf(kind: Kind, ...parts: (readonly Position[])[]): Shape {
  const shape = new Shape()
  shape.reset(kind)
  for (const part of parts) {
    shape.ensure(part.length)
    for (const [x, y] of part) {
      shape.xy[2 * shape.size] = x
      shape.xy[2 * shape.size++ + 1] = y
    }
    shape.endPart(false)
  }
  return shape
}

/** The textbook recursion. */
function douglasPeucker(line: readonly Position[], tolerance: number): Position[] {
  const [a, b] = [line[0]!, line.at(-1)!]
  let best = 0
  let split = -1
  for (let i = 1; i < line.length - 1; i++) {
    const distance = distanceToSegment(a, b, line[i]!)
    if (distance > best) [best, split] = [distance, i]
  }
  if (best <= tolerance) return [a, b]
  return [
    ...douglasPeucker(line.slice(0, split + 1), tolerance).slice(0, -1),
    ...douglasPeucker(line.slice(split), tolerance),
  ]
}

function distanceToSegment([ax, ay]: Position, [bx, by]: Position, [px, py]: Position): number {
  const length = (bx - ax) ** 2 + (by - ay) ** 2
  const t = length === 0 ? 0 : Math.min(1, Math.max(0, ((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / length))
  return Math.hypot(ax + (bx - ax) * t - px, ay + (by - ay) * t - py)
}

function randomWalk(random: () => number, count: number): Position[] {
  let [x, y] = [random() * 1e6, random() * 1e6]
  return Array.from({ length: count }, () => [
    Math.round((x += random() * 1000 - 300)),
    Math.round((y += random() * 1000 - 500)),
  ])
}

/** Vertices of a shape's first part with a rank above a tolerance. */
function kept(shape: Shape, tolerance: number, junctions = new Bits(shape.size), offset = 0): Position[] {
  const ranker = new VertexRanker()
  ranker.rank(shape, junctions, offset, 0)
  return Array.from({ length: shape.ends[0]! }, (_, i) => i)
    .filter((i) => ranker.ranks[i]! > tolerance ** 2)
    .map((i) => [shape.xy[2 * i]!, shape.xy[2 * i + 1]!])
}

test('one ranking gives what Douglas-Peucker gives at every tolerance', async () => {
  await randomCases(100, (random) => {
    const walk = randomWalk(random, 2 + Math.floor(random() * 200))
    // Drawn from the lower end, as the ranking draws every stretch: equal distances must fall alike.
    if (walk.at(-1)![0] < walk[0]![0]) walk.reverse()
    const shape = shapeOf(LINE, walk)
    for (const tolerance of [1, 30, 200, 1000]) expect(kept(shape, tolerance)).toEqual(douglasPeucker(walk, tolerance))
  })
})

test('a border loses the same vertices whichever feature draws it, in whichever direction', async () => {
  await randomCases(100, (random) => {
    const border = randomWalk(random, 60)
    const a = shapeOf(LINE, border)
    const b = shapeOf(LINE, border.toReversed())
    for (const tolerance of [50, 400]) expect(kept(b, tolerance)).toEqual(kept(a, tolerance).toReversed())
    const ring = shapeOf(POLYGON, border)
    const turned = shapeOf(POLYGON, [...border.slice(17), ...border.slice(0, 17)].toReversed())
    expect(new Set(kept(turned, 300).map(String))).toEqual(new Set(kept(ring, 300).map(String)))
  })
})

test('a stretch longer than any stack could take is ranked in time', () => {
  const spiral = Array.from({ length: 200_000 }, (_, i): Position => [
    Math.round(i * Math.cos(i / 50)),
    Math.round(i * Math.sin(i / 50)),
  ])
  expect(kept(shapeOf(LINE, spiral), 1000).length).toBeGreaterThan(100)
})

test('junctions are where neighbours differ, however many passes it takes to find them', () => {
  const cross: Position[] = [
    [0, 0],
    [10, 10],
    [20, 20],
    [30, 30],
  ]
  const shapes = [
    shapeOf(LINE, cross),
    shapeOf(LINE, [
      [20, 20],
      [40, 0],
    ]),
    shapeOf(LINE, cross.toReversed()),
    shapeOf(POLYGON, [
      [100, 0],
      [200, 0],
      [200, 50],
      [200, 100],
      [100, 100],
    ]),
    shapeOf(POLYGON, [
      [300, 0],
      [300, 100],
      [200, 100],
      [200, 50],
      [200, 0],
    ]),
  ]
  using features = new RecordLog(memoryScratch().open, 1 << 20)
  const none = { bytes: new Uint8Array(0), idSize: 0, size: 0 }
  for (const shape of shapes) {
    features.reserve(featureSizeBound(shape, none))
    features.commit(writeFeature(features.bytes, features.at, shape, none, 0))
  }
  const vertices = shapes.flatMap((shape) =>
    Array.from({ length: shape.size }, (_, i) => `${shape.xy[2 * i]},${shape.xy[2 * i + 1]}`),
  )
  for (const memory of [1 << 20, 100, 30]) {
    const bits = findJunctions(features, vertices.length, memory)
    const found = new Set(vertices.filter((_, i) => bits.has(i)))
    // The middle of a common border is not a junction; an end on another line is one.
    expect(found).toEqual(new Set(['20,20', '200,0', '200,100']))
  }
})
