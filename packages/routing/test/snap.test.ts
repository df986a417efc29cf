import { randomCases } from '@terrane/testing/property'
import { expect, it } from 'vitest'

import { visitNearest } from '../src/snap/nearest.ts'
import { openTown } from './support/town.ts'

const { graph } = await openTown()
const METERS_PER_DEGREE = 110_567

it('visits the geometries that are wanted from the nearest outward, as trying each of them would', async () => {
  const wanted = (shape: number): boolean => shape % 3 < 2
  const [west, east] = [Math.min(...graph.nodeLon) / 1e7, Math.max(...graph.nodeLon) / 1e7]
  const [south, north] = [Math.min(...graph.nodeLat) / 1e7, Math.max(...graph.nodeLat) / 1e7]
  await randomCases(40, (random) => {
    const lon = west + (east - west) * (random() * 1.2 - 0.1)
    const lat = south + (north - south) * (random() * 1.2 - 0.1)
    const visited: number[] = []
    visitNearest(graph, { lon, lat, limit: Infinity }, wanted, ({ meters }) => {
      return visited.push(meters) < 12 ? Infinity : -1
    })
    const all = Array.from({ length: graph.firstPoint.length - 1 }, (_, shape) =>
      wanted(shape) ? metersTo(shape, lon, lat) : Infinity,
    )
    const expected = all.toSorted((a, b) => a - b).slice(0, 12)
    expect(visited).toHaveLength(12)
    visited.forEach((meters, rank) => expect(meters).toBeCloseTo(expected[rank]!, 1))
  })
})

it('visits nothing beyond the limit', () => {
  let visits = 0
  const [lon, lat] = [graph.nodeLon[0]! / 1e7 + 1, graph.nodeLat[0]! / 1e7]
  visitNearest(
    graph,
    { lon, lat, limit: 500 },
    () => true,
    () => ++visits,
  )
  expect(visits).toBe(0)
})

function metersTo(shape: number, lon: number, lat: number): number {
  const scale = Math.cos((lat * Math.PI) / 180) * METERS_PER_DEGREE
  const place = (point: number): [number, number] => [
    (graph.pointLon[point]! / 1e6 - lon) * scale,
    (graph.pointLat[point]! / 1e6 - lat) * METERS_PER_DEGREE,
  ]
  let least = Infinity
  for (let point = graph.firstPoint[shape]!; point < graph.firstPoint[shape + 1]! - 1; point++) {
    const [ax, ay] = place(point)
    const [bx, by] = place(point + 1)
    const square = (bx - ax) ** 2 + (by - ay) ** 2
    const share = square === 0 ? 0 : Math.max(0, Math.min(1, -(ax * (bx - ax) + ay * (by - ay)) / square))
    least = Math.min(least, Math.hypot(ax + share * (bx - ax), ay + share * (by - ay)))
  }
  return least
}
