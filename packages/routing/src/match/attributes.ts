import type { Work } from '../actions.ts'
import { distanceMeters } from '../geometry/geodesy.ts'
import { encodeLine, type Line } from '../geometry/polyline.ts'
import type { Ground } from '../ground.ts'
import { guidedLeg, type Step } from '../guide/steps.ts'
import type { Leg } from '../path/legs.ts'
import { adminsOf, CountryList } from '../respond/admins.ts'
import { degreesOf, lengthIn, secondsOf } from '../respond/numbers.ts'
import type { Matching, PointPlace } from './matching.ts'
import type { AttributeFilter, TraceRequest } from './request.ts'
import { crossingFacts, type Facts, nodeOf, signOf, streetFacts, type Teller } from './street-facts.ts'
import { legBetween, matchingsOf } from './trace-route.ts'

/** Attributes that are returned only when a request includes them by name. */
const ON_REQUEST = new Set([
  'shape_attributes.time',
  'shape_attributes.length',
  'shape_attributes.speed',
  'node.time_zone',
])

function isKept({ action, attributes }: AttributeFilter, name: string): boolean {
  // A filter names texts of signs one by one, or all at once.
  const isNamed = attributes.has(name) || (name.startsWith('edge.sign.') && attributes.has('edge.sign'))
  return action === 'include' && attributes.size > 0 ? isNamed : !isNamed && !ON_REQUEST.has(name)
}

/** Answers a request for the attributes of a trace's streets; the parts of the trace follow each other in one list. */
export function* traceAttributesOf(ground: Ground, request: TraceRequest): Work {
  const { graph } = ground.network
  const { filter, route, trace } = request
  const prepared = ground.costings.get(route.mode, route.options)
  const matchings = yield* matchingsOf(ground, prepared, request)
  const keeps = (name: string): boolean => isKept(filter, name)
  const line: Line = { lon: [], lat: [] }
  const edges: Facts[] = []
  const countries = new CountryList(graph, ground.texts)
  const stretches: Stretches = { time: [], length: [], speed: [] }
  const points: Facts[] = trace.points.map(({ lon, lat }) => ({
    lon: degreesOf(lon),
    lat: degreesOf(lat),
    type: 'unmatched',
  }))
  for (const [part, matching] of matchings.entries()) {
    const { leg, first } = legBetween(prepared, matching.edges, matching.places[0]!, matching.places.at(-1)!)
    const guided = guidedLeg({ graph, texts: ground.texts, costing: prepared.costing }, leg)
    const teller = {
      ground,
      costing: prepared.costing,
      guided,
      units: route.units,
      shapeOffset: line.lon.length,
      keeps,
      countries,
    }
    // The nodes of the edges have the countries of the streets after them, so that the first would be missing.
    countries.indexOf(guided.steps[0]!.edge)
    matching.places.forEach((place, i) => {
      points[place.point] = pointFacts(placeIn(leg, first, place), edges.length, {
        begins: i === matching.places.length - 1 && part < matchings.length - 1,
        ends: i === 0 && part > 0,
      })
    })
    edges.push(...guided.steps.map((step, i) => edgeOf(teller, leg, step, i)))
    addStretches(teller, stretches)
    line.lon.push(...guided.line.lon)
    line.lat.push(...guided.line.lat)
    yield ''
  }
  const kept = kinds(stretches, keeps)
  const matched = points
    .map((point) => picked(point, 'matched', keeps))
    .filter((point) => Object.keys(point).length > 0)
  const admins = adminsOf(countries).map((admin) => picked(admin, 'admin', keeps))
  const warnings = route.warnings
  yield JSON.stringify({
    units: route.units,
    ...(keeps('shape') && { shape: encodeLine(line) }),
    ...(keeps('score.confidence') && { confidence_score: confidenceOf(matchings) }),
    edges,
    ...(admins.some((admin) => Object.keys(admin).length > 0) && { admins }),
    ...(matched.length > 0 && { matched_points: matched }),
    ...(Object.keys(kept).length > 0 && { shape_attributes: kept }),
    alternate_paths: [],
    ...(route.id !== null && { id: route.id }),
    ...(warnings.length > 0 && { warnings }),
  })
}

function confidenceOf(matchings: readonly Matching[]): number {
  return secondsOf(matchings.reduce((sum, { confidence }) => sum + confidence, 0) / matchings.length)
}

/**
 * A place relative to the edges of a leg whose first is edge `first` of the path. Edges at the ends of the path that
 * are only touched do not belong to it.
 */
function placeIn({ edges }: Leg, first: number, place: PointPlace): PointPlace {
  const index = place.index - first
  if (index < 0) return { ...place, index: 0, along: edges[0]!.begin }
  return index < edges.length ? { ...place, index } : { ...place, index: edges.length - 1, along: edges.at(-1)!.end }
}

function pointFacts(
  place: PointPlace,
  edgesBefore: number,
  { begins, ends }: { begins: boolean; ends: boolean },
): Facts {
  return {
    lon: degreesOf(place.lon),
    lat: degreesOf(place.lat),
    type: place.type,
    edge_index: edgesBefore + place.index,
    ...(begins && { begin_route_discontinuity: true }),
    ...(ends && { end_route_discontinuity: true }),
    distance_along_edge: Math.round(place.along * 1e6) / 1e6,
    distance_from_trace_point: Math.round(place.meters * 1e3) / 1e3,
  }
}

/** The facts that a filter keeps; the coordinates of a point count as one attribute. */
function picked(facts: Facts, prefix: string, keeps: (name: string) => boolean): Facts {
  return Object.fromEntries(
    Object.keys(facts)
      .filter((name) =>
        keeps(`${prefix}.${prefix === 'matched' && (name === 'lon' || name === 'lat') ? 'point' : name}`),
      )
      .map((name) => [name, facts[name]]),
  )
}

function edgeOf(teller: Teller, { edges }: Leg, step: Step, i: number): Facts {
  const { keeps, guided, ground, units } = teller
  const { graph } = ground.network
  const { begin, end } = edges[i]!
  const facts = {
    ...streetFacts(teller, step),
    length: lengthIn(units, step.meters),
    begin_heading: step.beginHeading,
    end_heading: step.endHeading,
    begin_shape_index: teller.shapeOffset + step.beginShape,
    end_shape_index: teller.shapeOffset + step.endShape,
    ...(begin > 0 && { source_percent_along: Math.round(begin * 1e3) / 1e3 }),
    ...(end < 1 && { target_percent_along: Math.round(end * 1e3) / 1e3 }),
  }
  const node = nodeOf(teller, graph.edgeHead[step.edge]!, i)
  const crossings = guided
    .crossings(i + 1)
    .map((crossing) => picked(crossingFacts(crossing), 'node.intersecting_edge', keeps))
  const told = {
    ...picked(node, 'node', keeps),
    ...(crossings.some((crossing) => Object.keys(crossing).length > 0) && { intersecting_edges: crossings }),
  }
  const sign = picked(signOf(step), 'edge.sign', keeps)
  return {
    ...picked(facts, 'edge', keeps),
    ...(Object.keys(sign).length > 0 && { sign }),
    ...(Object.keys(told).length > 0 && { end_node: told }),
  }
}

/** Values of each segment between two points of the shape. */
interface Stretches {
  readonly time: number[]
  readonly length: number[]
  readonly speed: number[]
}

function addStretches({ guided: { steps, line }, units }: Teller, { time, length, speed }: Stretches): void {
  // The segment between two parts is not travelled.
  if (time.length > 0) for (const list of [time, length, speed]) list.push(0)
  let before = 0
  for (const { beginShape, endShape, meters, seconds } of steps) {
    const parts = Array.from({ length: endShape - beginShape }, (_, i) => {
      const at = beginShape + i
      return distanceMeters(line.lon[at]!, line.lat[at]!, line.lon[at + 1]!, line.lat[at + 1]!)
    })
    const sum = parts.reduce((total, part) => total + part, 0)
    for (const part of parts) {
      const share = sum > 0 ? part / sum : 1 / parts.length
      time.push(secondsOf((seconds - before) * share))
      length.push(lengthIn(units, meters * share))
      speed.push(seconds > before ? Math.round((lengthIn(units, meters) / ((seconds - before) / 3600)) * 10) / 10 : 0)
    }
    before = seconds
  }
}

function kinds(stretches: Stretches, keeps: (name: string) => boolean): Facts {
  return picked({ ...stretches }, 'shape_attributes', keeps)
}
