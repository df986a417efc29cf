import type { Costing } from '../cost/costing.ts'
import { type TravelMode, TRAVEL_ACCESS } from '../cost/profile.ts'
import { RoadClass, Surface, Use } from '../graph/attributes.ts'
import { EdgeField, FlagField, get, NodeField, tailOf, TrafficField } from '../graph/fields.ts'
import { paysToll } from '../graph/toll.ts'
import type { Graph } from '../graph/graph.ts'
import type { Name, Sign, TextReader } from '../graph/texts.ts'
import { headingMeters } from '../geometry/heading.ts'
import { cutLine, headingAtBegin, headingAtEnd, type Line } from '../geometry/polyline.ts'
import { type Leg, type LegEdge, meetAtNode } from '../path/legs.ts'
import { type Crossing, type CrossingView, crossingsAt, guidedUse } from './crossings.ts'

/** An edge of a leg, prepared for guidance. */
export interface Step {
  readonly edge: number
  readonly meters: number
  /** Sums from the beginning of the leg to the end of the step. */
  readonly seconds: number
  readonly cost: number
  readonly travelMode: TravelMode
  readonly travelType: string
  readonly names: readonly Name[]
  readonly signs: readonly Sign[]
  readonly roadClass: number
  readonly use: number
  readonly lanes: number
  readonly speed: number
  readonly roundabout: boolean
  readonly internal: boolean
  readonly toll: boolean
  readonly unpaved: boolean
  readonly indoor: boolean
  /** Whether only one direction is open to the mode. */
  readonly oneway: boolean
  readonly driveOnRight: boolean
  /** Whether it is a motorway and not one of its ramps. */
  readonly highway: boolean
  readonly beginHeading: number
  readonly endHeading: number
  readonly beginShape: number
  readonly endShape: number
}

/** A leg prepared for guidance. Step `i` begins at node `i`; the last node is the end of the last step. */
export interface GuidedLeg {
  readonly steps: readonly Step[]
  readonly line: Line
  /** Facts of a node; see `NodeField`. */
  readonly nodeInfo: readonly number[]
  /** Edges at a node that are not travelled. */
  crossings(node: number): readonly Crossing[]
}

/** A leg with the junctions at its nodes, as seen on arrival; null at the start and the end of the leg. */
export interface JoinedLeg extends GuidedLeg {
  readonly junctions: readonly (Junction | null)[]
}

/** A node of a leg between two of its steps. */
export interface Junction {
  readonly leg: GuidedLeg
  readonly node: number
  readonly before: Step
  readonly after: Step
  /** Clockwise angle between the steps. */
  readonly degrees: number
  readonly view: CrossingView
  readonly motorwayJunction: boolean
  readonly fork: boolean
}

/** Prepares a leg for guidance: its line, and the facts of its edges and nodes. */
export function guidedLeg(context: { graph: Graph; texts: TextReader; costing: Costing }, leg: Leg): GuidedLeg {
  const { graph } = context
  const line: Line = { lon: [], lat: [] }
  const steps = leg.edges.map((edge) => {
    const beginShape = Math.max(0, line.lon.length - 1)
    appendEdge(graph, line, edge)
    return stepOf(context, edge, line, beginShape)
  })
  const nodeInfo = leg.edges.map((edge, i) => {
    const before = leg.edges[i - 1]
    // A stop in the middle of an edge is a node without other streets.
    return before !== undefined && !meetAtNode(graph, before, edge) ? 0 : graph.nodeInfo[tailOf(graph, edge.edge)]!
  })
  const crossings: (readonly Crossing[])[] = []
  return {
    steps,
    line,
    nodeInfo,
    crossings: (node) => (crossings[node] ??= findCrossings(graph, leg.edges, node)),
  }
}

function findCrossings(graph: Graph, edges: readonly LegEdge[], node: number): Crossing[] {
  const after = edges[node]
  const before = edges[node - 1]
  if (after === undefined || (before !== undefined && !meetAtNode(graph, before, after))) return []
  return crossingsAt(graph, before?.edge ?? null, after.edge)
}

/** Appends the travelled part of an edge to the line of a leg; a common point of two edges is added once. */
function appendEdge(graph: Graph, line: Line, { edge, begin, end, beginAt, endAt }: LegEdge): void {
  if (beginAt === null && endAt === null) {
    drawEdge(graph, line, edge)
    return
  }
  const whole: Line = { lon: [], lat: [] }
  drawEdge(graph, whole, edge)
  const meters = graph.edgeLength[edge]!
  const first = { lon: whole.lon[0]!, lat: whole.lat[0]! }
  const last = { lon: whole.lon.at(-1)!, lat: whole.lat.at(-1)! }
  const part = cutLine(
    whole,
    { meters: beginAt === null ? 0 : begin * meters, at: beginAt ?? first },
    // Infinity instead of the edge's length, which is rounded and could cut off points.
    { meters: endAt === null ? Infinity : end * meters, at: endAt ?? last },
  )
  for (let point = line.lon.length === 0 ? 0 : 1; point < part.lon.length; point++) {
    line.lon.push(part.lon[point]!)
    line.lat.push(part.lat[point]!)
  }
}

/** Appends the line of a whole edge, in its direction, without its first point if the line already has it. */
function drawEdge({ edgeShape, edgeInfo, firstPoint, pointLon, pointLat }: Graph, line: Line, edge: number): void {
  const shape = edgeShape[edge]!
  const first = firstPoint[shape]!
  const last = firstPoint[shape + 1]! - 1
  const forward = get(edgeInfo[edge]!, EdgeField.forward) === 1
  for (let i = line.lon.length === 0 ? 0 : 1; i <= last - first; i++) {
    const point = forward ? first + i : last - i
    line.lon.push(pointLon[point]! * 1e-6)
    line.lat.push(pointLat[point]! * 1e-6)
  }
}

function stepOf(
  { graph, texts, costing }: { graph: Graph; texts: TextReader; costing: Costing },
  { edge, begin, end, seconds, cost }: LegEdge,
  line: Line,
  beginShape: number,
): Step {
  const info = graph.edgeInfo[edge]!
  const traffic = graph.edgeTraffic[edge]!
  const roadClass = get(info, EdgeField.roadClass)
  const use = get(info, EdgeField.use)
  const endShape = line.lon.length - 1
  const reach = headingMeters(roadClass, use)
  const pushed = costing.travelMode === 'bicycle' && (use === Use.steps || get(traffic, TrafficField.dismount) === 1)
  const mode = TRAVEL_ACCESS[costing.travelMode]
  const open = (get(info, EdgeField.access) & mode) !== 0
  const openBack = (get(graph.edgeInfo[graph.edgeOpposite[edge]!]!, EdgeField.access) & mode) !== 0
  return {
    edge,
    meters: Math.max(0, graph.edgeLength[edge]! * (end - begin)),
    seconds,
    cost,
    travelMode: pushed ? 'pedestrian' : costing.travelMode,
    travelType: pushed ? 'foot' : costing.travelType,
    names: texts.names(edge),
    signs: get(graph.edgeFlags[edge]!, FlagField.signs) === 1 ? texts.signs(edge) : [],
    roadClass,
    use: guidedUse(use),
    lanes: get(info, EdgeField.lanes),
    speed: get(traffic, TrafficField.speed),
    roundabout: get(traffic, TrafficField.roundabout) === 1,
    internal: get(traffic, TrafficField.internal) === 1,
    toll: paysToll(graph, edge, costing.access),
    unpaved: get(info, EdgeField.surface) >= Surface.compacted,
    indoor: get(traffic, TrafficField.indoor) === 1,
    oneway: open !== openBack,
    driveOnRight: get(graph.nodeInfo[tailOf(graph, edge)]!, NodeField.driveOnRight) === 1,
    highway: roadClass === RoadClass.motorway && use !== Use.ramp && use !== Use.turnChannel,
    beginHeading: Math.round(headingAtBegin(line, beginShape, endShape, reach)),
    endHeading: Math.round(headingAtEnd(line, beginShape, endShape, reach)),
    beginShape,
    endShape,
  }
}
