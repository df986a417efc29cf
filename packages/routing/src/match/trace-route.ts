import type { Work } from '../actions.ts'
import type { Graph } from '../graph/graph.ts'
import type { Ground } from '../ground.ts'
import { languageOf } from '../narrate/languages/index.ts'
import type { PreparedCosting } from '../network/costings.ts'
import { endsLeg, joinPaths, type Leg } from '../path/legs.ts'
import type { Path, PathEdge } from '../path/path.ts'
import { RouteProblem } from '../request/problems.ts'
import { gpxOf } from '../respond/gpx.ts'
import { osrmLegOf, osrmRouteOf } from '../respond/osrm.ts'
import { degrees, thousandths } from '../respond/osrm-steps.ts'
import { tellLegs, type ToldLeg, tripLeg, tripOf, type TripSource } from '../respond/trip.ts'
import { unreadWarnings } from '../respond/unread.ts'
import type { Candidate } from '../snap/candidate.ts'
import { EdgeLine } from './edge-line.ts'
import { Matcher } from './matcher.ts'
import { type Matching, matchingOf, type PointPlace } from './matching.ts'
import { locationAt, type TraceRequest } from './request.ts'
import { walk } from './walk.ts'

/** Matchings found so far; empty texts yield to other requests. */
export function* matchingsOf(
  ground: Ground,
  prepared: PreparedCosting,
  { trace, shapeMatch }: TraceRequest,
): Generator<string, Matching[], void> {
  const { graph } = ground.network
  if (shapeMatch !== 'map_snap') {
    const walked = yield* walk(prepared.weights, trace.points)
    if (walked !== null) return [walked]
    if (shapeMatch === 'edge_walk')
      throw new RouteProblem(443, 'no street has this shape; shape_match walk_or_snap also takes the nearest')
  }
  const matcher = new Matcher(prepared)
  const matchings: Matching[] = []
  for (const chain of matcher.match(trace)) {
    if (chain !== null) matchings.push(yield* matchingOf(graph, trace.points, chain))
    yield ''
  }
  if (matchings.length > 0) return matchings
  throw new RouteProblem(matcher.hasStreets(trace) ? 444 : 171)
}

/** Answers a request for the route of a trace: a trip for each connected part, the first one as `trip`. */
export function* traceRouteOf(ground: Ground, request: TraceRequest): Work {
  const { graph } = ground.network
  const prepared = ground.costings.get(request.route.mode, request.route.options)
  const matchings = yield* matchingsOf(ground, prepared, request)
  const parts: Part[] = []
  for (const matching of matchings) parts.push(yield* partOf(ground, prepared, request, matching))
  const { format, id } = request.route
  if (format === 'gpx') {
    const note =
      parts.length > 1 ? `The trace has ${parts.length} parts with no way between them: this is the first` : ''
    yield Buffer.from(gpxOf(graph, parts[0]!.told, note))
  } else if (format === 'osrm') yield JSON.stringify(yield* osrmMatchingsOf(ground, request, parts))
  else {
    const trips: object[] = []
    for (const { source, told, breaks } of parts) {
      const whole = tripOf(source, told, yield* inTurns(told, (leg) => tripLeg(source.request, leg)))
      const locations = whole.locations.map((location, i) => ({ ...location, original_index: breaks[i]!.point }))
      trips.push({ trip: { ...whole, locations } })
    }
    const [trip, ...others] = trips
    yield JSON.stringify({ ...trip, ...(others.length > 0 && { alternates: others }), ...(id !== null && { id }) })
  }
}

const LEGS_PER_STEP = 50

/** Maps a list item by item; empty texts yield to other requests. */
function* inTurns<From, To>(list: Iterable<From>, of: (one: From) => To): Generator<string, To[]> {
  const made: To[] = []
  for (const one of list) if (made.push(of(one)) % LEGS_PER_STEP === 0) yield ''
  yield ''
  return made
}

/** A matching with its legs, and the places at their ends. */
export interface Part {
  readonly matching: Matching
  readonly breaks: readonly PointPlace[]
  readonly source: TripSource
  readonly legs: readonly Leg[]
  readonly told: readonly ToldLeg[]
}

function* partOf(
  ground: Ground,
  prepared: PreparedCosting,
  request: TraceRequest,
  matching: Matching,
): Generator<string, Part> {
  const { places } = matching
  const breaks = places.filter(({ point, type }, i) => {
    if (i === 0 || i === places.length - 1) return true
    return endsLeg({ type: request.types[point]! }) && !(request.isTidy && type === 'interpolated')
  })
  const legs = yield* inTurns(
    breaks.slice(1).entries(),
    ([i, to]) => legBetween(prepared, matching.edges, breaks[i]!, to).leg,
  )
  const locations = breaks.map(({ point }) => locationAt(request.trace.points[point]!, 'break', ground.limits))
  const source = ground.source(prepared, { ...request.route, locations }, null)
  return { matching, breaks, source, legs, told: yield* inTurns(tellLegs(source, legs), (told) => told) }
}

/** The leg between two places of a path, and the index of its first edge in the path; lengths are never negative. */
export function legBetween(
  { costing, weights: { network: graph } }: PreparedCosting,
  edges: readonly PathEdge[],
  from: PointPlace,
  to: PointPlace,
): { readonly leg: Leg; readonly first: number } {
  const cut = edges.slice(from.index, Math.max(from.index, to.index) + 1).map((edge, i, { length }) => ({
    edge: edge.edge,
    begin: i === 0 ? Math.min(from.along, edge.end) : edge.begin,
    end: i === length - 1 ? to.along : edge.end,
  }))
  let begin = from.index
  for (; cut.length > 1 && cut[0]!.begin >= cut[0]!.end; begin++) cut.shift()
  while (cut.length > 1 && cut.at(-1)!.begin >= cut.at(-1)!.end) cut.pop()
  const first = cut[0]!
  if (cut.length === 1) cut[0] = { ...first, end: Math.max(first.begin, first.end) }
  const paths: Path[] = []
  let begun = 0
  for (const [i, { end }] of cut.entries()) {
    // A U-turn in the middle of a street ends one path and begins another.
    if (i < cut.length - 1 && end === 1 && cut[i + 1]!.begin === 0) continue
    const part = cut.slice(begun, i + 1)
    const [a, b] = [part[0]!, part.at(-1)!]
    paths.push({
      edges: part,
      origin: candidateAt(graph, a.edge, a.begin, begun === 0 ? from : null),
      destination: candidateAt(graph, b.edge, b.end, i === cut.length - 1 ? to : null),
    })
    begun = i + 1
  }
  const leg = joinPaths(
    graph,
    costing,
    paths.map((path) => ({ path })),
  )
  return { leg, first: begin }
}

/** A candidate at a share of an edge; at the ends of a leg, at the place of a point. */
function candidateAt(graph: Graph, edge: number, along: number, place: PointPlace | null): Candidate {
  const at = place?.along === along ? place : new EdgeLine(graph, edge).at(along)
  return { edge, along, lon: at.lon, lat: at.lat, meters: place?.meters ?? 0, side: null, heading: 0, penalty: 0 }
}

/** Matchings in the form of OSRM's service `match`. */
function* osrmMatchingsOf(ground: Ground, request: TraceRequest, parts: readonly Part[]): Generator<string, object> {
  const { texts, network } = ground
  const { mode, osrm: options, language, units } = request.route
  const speech = { phrases: languageOf(language).phrases, units }
  const warnings = [...request.route.warnings, ...parts.flatMap(({ source, legs }) => unreadWarnings(source, legs))]
  const source = { graph: network.graph, texts, mode, options, warnings, speech }
  const tracepoints: (object | null)[] = request.trace.points.map(() => null)
  for (const [part, { matching, breaks }] of parts.entries()) {
    const waypoints = new Map(breaks.map((place, i) => [place, i]))
    for (const place of matching.places) {
      if (request.isTidy && place.type === 'interpolated' && !waypoints.has(place)) continue
      tracepoints[place.point] = {
        matchings_index: part,
        waypoint_index: waypoints.get(place) ?? null,
        alternatives_count: place.rivals,
        distance: thousandths(place.meters),
        name: texts.names(matching.edges[place.index]!.edge)[0]?.text ?? '',
        location: [degrees(place.lon), degrees(place.lat)],
      }
    }
  }
  const matchings: object[] = []
  for (const { told, matching } of parts) {
    const legs = yield* inTurns(told, (leg) => osrmLegOf(source, leg))
    matchings.push({ ...osrmRouteOf(source, told, legs), confidence: thousandths(matching.confidence) })
  }
  return {
    code: 'Ok',
    matchings,
    tracepoints,
    ...(warnings.length > 0 && { warnings }),
  }
}
