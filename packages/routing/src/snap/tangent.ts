import { bearingDegrees, distanceMeters } from '../geometry/geodesy.ts'
import type { Graph } from '../graph/graph.ts'
import type { Projection } from './nearest.ts'

/** Metres along a geometry up to a projection. */
export function walkedTo({ firstPoint, pointLon, pointLat }: Graph, { shape, segment, lon, lat }: Projection): number {
  const first = firstPoint[shape]!
  const at = (i: number): [number, number] => [pointLon[i]! / 1e6, pointLat[i]! / 1e6]
  let meters = 0
  for (let i = first; i < first + segment; i++) meters += distanceMeters(...at(i), ...at(i + 1))
  return meters + distanceMeters(...at(first + segment), lon, lat)
}

/**
 * Heading of a geometry at a point on it: from the place `reach` metres before it. If the geometry begins later, the
 * missing metres are taken ahead of the point.
 */
export function tangent(
  graph: Graph,
  shape: number,
  segment: number,
  lon: number,
  lat: number,
  reach: number,
  forward: boolean,
): number {
  const first = graph.firstPoint[shape]!
  const last = graph.firstPoint[shape + 1]! - 1
  const behind = walkFrom(
    graph,
    lon,
    lat,
    reach,
    first + segment + (forward ? 0 : 1),
    forward ? first : last,
    forward ? -1 : 1,
  )
  if (behind.left <= 0) return bearingDegrees(behind.lon, behind.lat, lon, lat)
  const start = first + segment + (forward ? 1 : 0)
  const ahead = walkFrom(graph, lon, lat, behind.left, start, forward ? last : first, forward ? 1 : -1)
  return bearingDegrees(behind.lon, behind.lat, ahead.lon, ahead.lat)
}

/** Walks along the points of a geometry until the metres are used up or its end is reached. */
function walkFrom(
  { pointLon, pointLat }: Graph,
  lon: number,
  lat: number,
  meters: number,
  from: number,
  to: number,
  step: number,
): { lon: number; lat: number; left: number } {
  let x = lon
  let y = lat
  let left = meters
  for (let i = from; step > 0 ? i <= to : i >= to; i += step) {
    const nextX = pointLon[i]! / 1e6
    const nextY = pointLat[i]! / 1e6
    const part = distanceMeters(x, y, nextX, nextY)
    if (part >= left && part > 0) {
      const share = left / part
      return { lon: x + (nextX - x) * share, lat: y + (nextY - y) * share, left: 0 }
    }
    x = nextX
    y = nextY
    left -= part
  }
  return { lon: x, lat: y, left }
}
