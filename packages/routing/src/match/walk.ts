import { distanceMeters } from '../geometry/geodesy.ts'
import { EdgeField, get } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import { UNREACHABLE } from '../search/search.ts'
import type { StateWeights } from '../states/weights.ts'
import { EdgeLine, type EdgePlace } from './edge-line.ts'
import type { Matching, PointPlace } from './matching.ts'
import { Streets } from './streets.ts'
import { METERS_PER_DEGREE, type TracePoint } from './trace.ts'

/**
 * Tolerance between points of a shape and the geometry of an edge, in metres: for six decimals, then for lines of other
 * sources.
 */
const NEAR_METERS = [0.2, 2] as const
/** Maximum number of tried edges: a constant, plus some for each point. */
const TRIED = 1000
const TRIED_FOR_EACH = 8

/** Points of a shape that an edge covers, and the place where the shape leaves it. */
interface Covered {
  /** Index of the first point beyond the edge: the point of the node where the next edge begins. */
  readonly next: number
  readonly end: number
  readonly places: readonly PointPlace[]
}

/** Number of tried edges, and of compared points of an edge, between two yields. */
const TRIED_PER_TURN = 64
const POINTS_PER_TURN = 256

/**
 * The path whose geometry equals a shape, point by point, as for the shapes of routes. Turns need not be allowed. Null
 * without such a path. Empty texts yield to other requests.
 */
export function* walk(weights: StateWeights, points: readonly TracePoint[]): Generator<string, Matching | null> {
  for (const near of NEAR_METERS) {
    const found = yield* walkNear(weights, points, near)
    if (found !== null) return found
  }
  return null
}

function* walkNear(
  weights: StateWeights,
  points: readonly TracePoint[],
  near: number,
): Generator<string, Matching | null> {
  const { network } = weights
  const first = points[0]!
  const streets = new Streets(weights)
  for (const { edge, along } of streets.find(first.lon, first.lat, near, 16)) {
    const begin = shareOf(network, edge, { along, lon: first.lon, lat: first.lat })
    if (begin === 1) continue
    const matching = yield* walkFrom(weights, points, { edge, along: begin, near })
    if (matching !== null) return matching
  }
  return null
}

/** Maximum distance in metres from an end of an edge that counts as that end, because of rounded polylines. */
const AT_END_METERS = 0.15
/** Minimum metres between a place on an edge and its ends, as for snapped locations. */
const INSIDE_METERS = 0.01

/** Share of an edge before a place on it. Edge lengths are whole metres, as for locations. */
function shareOf(graph: Graph, edge: number, { along, lon, lat }: Omit<EdgePlace, 'meters'>): number {
  const { edgeLength, edgeInfo, edgeOpposite } = graph
  // Locations are measured in the order of the way's points.
  if (get(edgeInfo[edge]!, EdgeField.forward) === 0)
    return 1 - shareOf(graph, edgeOpposite[edge]!, { along: 1 - along, lon, lat })
  const line = new EdgeLine(graph, edge)
  const ends = [0, line.lon.length - 1].map((i) => distanceMeters(lon, lat, line.lon[i]!, line.lat[i]!))
  if (along < 0.5 && ends[0]! < AT_END_METERS) return 0
  if (along >= 0.5 && ends[1]! < AT_END_METERS) return 1
  let walked = 0
  let i = 1
  for (; line.share[i]! < along; i++)
    walked += distanceMeters(line.lon[i - 1]!, line.lat[i - 1]!, line.lon[i]!, line.lat[i]!)
  walked += distanceMeters(line.lon[i - 1]!, line.lat[i - 1]!, lon, lat)
  const length = edgeLength[edge]!
  return Math.min(Math.max(walked, INSIDE_METERS), length - INSIDE_METERS) / length
}

interface Step {
  readonly edge: number
  readonly begin: number
  readonly end: number
  readonly next: number
  readonly places: readonly PointPlace[]
  /** Remaining edges to try from the node. */
  choices: number[]
}

/** Depth-first search over edges whose points match the shape. */
function* walkFrom(
  weights: StateWeights,
  points: readonly TracePoint[],
  { edge, along, near }: { edge: number; along: number; near: number },
): Generator<string, Matching | null> {
  const { network } = weights
  const path: Step[] = []
  function* push(next: number, begin: number, at: number): Generator<string, boolean> {
    const covered = yield* cover(network, points, next, { begin, at, index: path.length, near })
    if (covered === null) return false
    path.push({ edge: next, begin, ...covered, choices: choicesAt(weights, next) })
    return true
  }
  if (!(yield* push(edge, along, 0))) return null
  for (let tried = 0; path.length > 0 && tried < TRIED + TRIED_FOR_EACH * points.length; tried++) {
    const last = path.at(-1)!
    if (last.next >= points.length) {
      return matchingOf(network, points, path)
    }
    const choice = last.end === 1 ? last.choices.pop() : undefined
    if (choice === undefined) path.pop()
    else yield* push(choice, 0, last.next)
    if (tried % TRIED_PER_TURN === TRIED_PER_TURN - 1) yield ''
  }
  return null
}

function matchingOf(graph: Graph, points: readonly TracePoint[], path: readonly Step[]): Matching {
  const edges = path.map(({ edge, begin, end }) => ({ edge, begin, end }))
  const places = path.flatMap((step) => step.places)
  const last = edges.at(-1)!
  const end = places.at(-1)!
  last.end = shareOf(graph, last.edge, end)
  places[0] = { ...places[0]!, along: edges[0]!.begin }
  places[places.length - 1] = { ...end, along: last.end }
  // The places are points of the shape, which rounding has moved off the edge.
  return {
    edges,
    places: places.map((place) => ({ ...place, lon: points[place.point]!.lon, lat: points[place.point]!.lat })),
    confidence: 1,
  }
}

/** Open edges after another one, with the cheapest turn last, so that it is tried first. */
function choicesAt(weights: StateWeights, edge: number): number[] {
  const { network, graph } = weights
  const node = network.edgeHead[edge]!
  const cost = new Map<number, number>()
  for (let next = network.firstEdge[node]!; next < network.firstEdge[node + 1]!; next++)
    if (weights.endEdge(next) < UNREACHABLE) cost.set(next, UNREACHABLE)
  for (let arc = graph.firstOut[edge]!; arc < graph.firstOut[edge + 1]!; arc++) {
    const weight = weights.arc(arc, edge)
    if (weight < UNREACHABLE) cost.set(graph.edgeOf(graph.head[arc]!), weight)
  }
  return [...cost.keys()].toSorted((a, b) => cost.get(b)! - cost.get(a)!)
}

/**
 * The part of an edge that a shape covers. Each point of the edge must be a point of the shape until the shape ends;
 * simplified shapes may omit points on a straight line.
 */
function* cover(
  graph: Graph,
  points: readonly TracePoint[],
  edge: number,
  { begin, at, index, near }: { begin: number; at: number; index: number; near: number },
): Generator<string, Covered | null> {
  const line = new EdgeLine(graph, edge)
  const places: PointPlace[] = []
  let along = begin
  let point = at
  const last = line.lon.length - 1
  for (; point < points.length; point++) {
    if ((point - at) % POINTS_PER_TURN === POINTS_PER_TURN - 1) yield ''
    const { lon, lat } = points[point]!
    const place = line.project(lon, lat, along, 1)
    if (place.meters > near) break
    const isEnd = distanceMeters(lon, lat, line.lon[last]!, line.lat[last]!) <= Math.min(near, 0.5)
    // Every passed point of the edge lies on the line between two points of the shape.
    if (point > at && !isPassed(line, [points[point - 1]!, points[point]!], [along, place.along], near)) break
    along = isEnd ? 1 : Math.max(along, place.along)
    places.push({ point, index, ...place, along, type: 'matched', rivals: 0 })
    if (isEnd && point > at)
      return {
        next: point === points.length - 1 ? points.length : point,
        end: 1,
        places: point === points.length - 1 ? places : places.slice(0, -1),
      }
  }
  if (point >= points.length && places.length > 1) return { next: points.length, end: along, places }
  return null
}

function isPassed(
  line: EdgeLine,
  [a, b]: readonly [TracePoint, TracePoint],
  [from, to]: readonly [number, number],
  near: number,
): boolean {
  for (let i = 0; i < line.share.length; i++) {
    if (line.share[i]! <= from || line.share[i]! >= to) continue
    const square = (b.x - a.x) ** 2 + (b.y - a.y) ** 2
    const cos = Math.cos((a.lat * Math.PI) / 180)
    const x = (line.lon[i]! - a.lon) * METERS_PER_DEGREE * cos
    const y = (line.lat[i]! - a.lat) * METERS_PER_DEGREE
    const share = square > 0 ? Math.min(1, Math.max(0, (x * (b.x - a.x) + y * (b.y - a.y)) / square)) : 0
    if (Math.hypot(x - share * (b.x - a.x), y - share * (b.y - a.y)) > near) return false
  }
  return true
}
