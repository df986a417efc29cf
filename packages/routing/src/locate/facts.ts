import { Access, Intersection, NodeType, RoadClass, Surface, UNLIMITED, Use } from '../graph/attributes.ts'
import { EdgeField, FlagField, get, NodeField, TrafficField } from '../graph/fields.ts'
import { paysToll } from '../graph/toll.ts'
import type { Graph } from '../graph/graph.ts'
import type { TextReader } from '../graph/texts.ts'
import { encodeLine } from '../geometry/polyline.ts'
import { degreesOf } from '../respond/numbers.ts'

/** Name, way and line of a street, in the order of its way. */
export function edgeInfo(graph: Graph, texts: TextReader, edge: number): Readonly<Record<string, unknown>> {
  const shape = graph.edgeShape[edge]!
  const [first, end] = [graph.firstPoint[shape]!, graph.firstPoint[shape + 1]!]
  const line = {
    lon: Array.from(graph.pointLon.subarray(first, end), (lon) => lon / 1e6),
    lat: Array.from(graph.pointLat.subarray(first, end), (lat) => lat / 1e6),
  }
  return {
    way_id: graph.shapeWay[shape]!,
    names: texts.names(edge).map(({ text }) => text),
    shape: encodeLine(line),
    mean_elevation: null,
    speed_limit: graph.shapeLimit[shape] === UNLIMITED ? 'unlimited' : graph.shapeLimit[shape]!,
  }
}

/** Attributes of a directed edge in the graph. */
export function edgeFacts(graph: Graph, edge: number): Readonly<Record<string, unknown>> {
  const info = graph.edgeInfo[edge]!
  const traffic = graph.edgeTraffic[edge]!
  const flags = graph.edgeFlags[edge]!
  const has = (field: 'tunnel' | 'bridge' | 'roundabout' | 'truckRoute' | 'bikeNetwork'): boolean =>
    get(traffic, TrafficField[field]) === 1
  return {
    end_node: { value: graph.edgeHead[edge]! },
    speeds: { default: get(traffic, TrafficField.speed) },
    access_restriction: get(flags, FlagField.limits) === 1,
    has_sign: get(flags, FlagField.signs) === 1,
    toll: paysToll(graph, edge, Access.car),
    destination_only: (get(flags, FlagField.local) & Access.car) !== 0 || get(flags, FlagField.yard) === 1,
    destination_only_hgv: (get(flags, FlagField.local) & Access.truck) !== 0,
    tunnel: has('tunnel'),
    bridge: has('bridge'),
    round_about: has('roundabout'),
    traffic_signal: get(flags, FlagField.signal) === 1,
    stop_sign: get(flags, FlagField.stop) === 1,
    forward: get(info, EdgeField.forward) === 1,
    cycle_lane: CYCLE_LANES[get(info, EdgeField.cycleLane)]!,
    bike_network: has('bikeNetwork'),
    truck_route: has('truckRoute'),
    lane_count: get(info, EdgeField.lanes),
    sidewalk_left: get(traffic, TrafficField.sidewalkLeft) === 1,
    sidewalk_right: get(traffic, TrafficField.sidewalkRight) === 1,
    geo_attributes: { length: graph.edgeLength[edge]! },
    access: accessOf(get(info, EdgeField.access)),
    classification: {
      classification: className(get(info, EdgeField.roadClass)),
      use: useName(get(info, EdgeField.use)),
      surface: nameOf(Surface, get(info, EdgeField.surface), {}),
      link: get(traffic, TrafficField.link) === 1,
      internal: get(traffic, TrafficField.internal) === 1,
    },
  }
}

/** Position of a crossing, and its facts in the graph. */
export function nodeFacts(graph: Graph, node: number, verbose: boolean): Readonly<Record<string, unknown>> {
  const place = { lon: degreesOf(graph.nodeLon[node]! / 1e7), lat: degreesOf(graph.nodeLat[node]! / 1e7) }
  if (!verbose) return place
  const info = graph.nodeInfo[node]!
  return {
    ...place,
    type: nameOf(NodeType, get(info, NodeField.type), { plain: 'street_intersection' }),
    traffic_signal: get(info, NodeField.signal) === 1,
    edge_count: graph.firstEdge[node + 1]! - graph.firstEdge[node]!,
    access: accessOf(get(info, NodeField.access)),
    intersection_type: nameOf(Intersection, get(info, NodeField.intersection), { falseNode: 'false' }),
    node_id: { value: node },
  }
}

function accessOf(mask: number): Record<string, boolean> {
  return Object.fromEntries(ACCESS.map(([name, bit]) => [name, (mask & bit) !== 0]))
}

const ACCESS = [
  ['bicycle', Access.bicycle],
  ['bus', Access.bus],
  ['car', Access.car],
  ['emergency', Access.emergency],
  ['pedestrian', Access.foot],
  ['taxi', Access.taxi],
  ['truck', Access.truck],
  ['wheelchair', Access.wheelchair],
  ['moped', Access.moped],
  ['motorcycle', Access.motorcycle],
] as const

const CYCLE_LANES = ['none', 'shared', 'dedicated', 'separated'] as const
const CLASS_NAMES: Readonly<Record<string, string>> = { service: 'service_other' }
const USE_NAMES: Readonly<Record<string, string>> = {
  driveThrough: 'drive_thru',
  crossing: 'pedestrian_crossing',
}

/** Valhalla's name of a class of roads. */
export function className(value: number): string {
  return nameOf(RoadClass, value, CLASS_NAMES)
}

/** Valhalla's name of a use of a street. */
export function useName(value: number): string {
  return nameOf(Use, value, USE_NAMES)
}

/** Valhalla's name of a value: the name in the table with underscores, unless it differs. */
function nameOf(
  table: Readonly<Record<string, number>>,
  value: number,
  others: Readonly<Record<string, string>>,
): string {
  const name = Object.keys(table).find((each) => table[each] === value) ?? 'other'
  return others[name] ?? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
