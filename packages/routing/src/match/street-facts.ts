import type { Costing } from '../cost/costing.ts'
import { Access, SignType, UNLIMITED } from '../graph/attributes.ts'
import { EdgeField, get, NodeField, tailOf, TrafficField, turnIndex } from '../graph/fields.ts'
import type { Ground } from '../ground.ts'
import type { Crossing } from '../guide/crossings.ts'
import type { GuidedLeg, Step } from '../guide/steps.ts'
import { className, edgeFacts, nodeFacts, useName } from '../locate/facts.ts'
import type { Units } from '../narrate/lengths.ts'
import type { CountryList } from '../respond/admins.ts'
import { secondsOf } from '../respond/numbers.ts'
import { zoneAt } from '../time/zones.ts'

/** Values by the names of Valhalla's attributes. */
export type Facts = Readonly<Record<string, unknown>>

/** Inputs for writing the edges of a part. */
export interface Teller {
  readonly ground: Ground
  readonly costing: Costing
  readonly guided: GuidedLeg
  readonly units: Units
  /** Number of points of the shape before this part. */
  readonly shapeOffset: number
  readonly keeps: (name: string) => boolean
  readonly countries: CountryList
}

/** Facts of the street of an edge that do not depend on the travelled part. */
export function streetFacts({ ground: { network }, costing, units }: Teller, step: Step): Facts {
  const { graph } = network
  const { edge } = step
  const { classification, ...facts } = edgeFacts(graph, edge) as Facts & { classification: Facts }
  const info = graph.edgeInfo[edge]!
  const traffic = graph.edgeTraffic[edge]!
  const opposite = graph.edgeInfo[graph.edgeOpposite[edge]!]!
  const isOpenBack = (get(opposite, EdgeField.access) & costing.access) !== 0
  const inUnits = (kmh: number): number => (units === 'miles' ? Math.round(kmh * 0.621371) : kmh)
  const limit = graph.shapeLimit[graph.edgeShape[edge]!]!
  const truckSpeed = get(traffic, TrafficField.truckSpeed)
  return {
    names: step.names.map(({ text }) => text),
    speed: inUnits(step.speed),
    ...(limit > 0 && { speed_limit: limit === UNLIMITED ? 'unlimited' : inUnits(limit) }),
    ...(truckSpeed > 0 && { truck_speed: inUnits(truckSpeed) }),
    road_class: classification.classification,
    use: classification.use,
    surface: classification.surface,
    traversability: isOpenBack ? 'both' : 'forward',
    toll: step.toll,
    unpaved: step.unpaved,
    tunnel: facts.tunnel,
    bridge: facts.bridge,
    roundabout: step.roundabout,
    internal_intersection: step.internal,
    drive_on_right: step.driveOnRight,
    indoor: step.indoor,
    forward: facts.forward,
    traffic_signal: facts.traffic_signal,
    travel_mode: step.travelMode,
    [TYPE_NAMES[step.travelMode]]: step.travelType,
    id: edge,
    way_id: graph.shapeWay[graph.edgeShape[edge]!],
    lane_count: facts.lane_count,
    cycle_lane: facts.cycle_lane,
    bicycle_network: Number(facts.bike_network),
    truck_route: facts.truck_route,
    sac_scale: get(info, EdgeField.hikingDifficulty),
    shoulder: get(traffic, TrafficField.shoulder) === 1,
    sidewalk: SIDEWALKS[Number(facts.sidewalk_left) + 2 * Number(facts.sidewalk_right)],
    density: get(graph.nodeInfo[tailOf(graph, edge)]!, NodeField.density),
  }
}

/** The texts of the signs at an edge, by their kind. */
export function signOf({ signs }: Step): Facts {
  const texts = SIGNS.map(
    ([name, type]) => [name, signs.filter((sign) => sign.type === type).map(({ text }) => text)] as const,
  )
  return Object.fromEntries(texts.filter(([, list]) => list.length > 0))
}

const SIGNS = [
  ['exit_number', SignType.exitNumber],
  ['exit_branch', SignType.exitBranch],
  ['exit_toward', SignType.exitToward],
  ['exit_name', SignType.exitName],
] as const

const TYPE_NAMES = { drive: 'vehicle_type', bicycle: 'bicycle_type', pedestrian: 'pedestrian_type' } as const
const SIDEWALKS = ['none', 'left', 'right', 'both'] as const

/** Facts of the node where a step ends. */
export function nodeOf({ ground, guided, costing, keeps, countries }: Teller, node: number, i: number): Facts {
  const { graph } = ground.network
  const step = guided.steps[i]!
  const next = guided.steps[i + 1]
  const {
    type,
    traffic_signal: signal,
    lon,
    lat,
  } = nodeFacts(graph, node, true) as Facts & { lon: number; lat: number }
  const meets = next !== undefined && tailOf(graph, next.edge) === node
  const turn = meets
    ? costing.turnSeconds(step.edge, next.edge, graph.turnInfo[turnIndex(graph, step.edge, next.edge)]!)
    : 0
  return {
    elapsed_time: secondsOf(step.seconds),
    elapsed_cost: secondsOf(step.cost),
    ...(countries.isKnown && { admin_index: countries.indexOf((next ?? step).edge) }),
    type,
    traffic_signal: signal,
    transition_time: secondsOf(turn),
    ...(keeps('node.time_zone') && { time_zone: zoneAt(lon, lat) }),
  }
}

/** Facts of a street that a path passes at a node. */
export function crossingFacts(crossing: Crossing): Facts {
  const open = (access: number): string =>
    ['none', 'forward', 'backward', 'both'][
      Number((crossing.out & access) !== 0) + 2 * Number((crossing.in & access) !== 0)
    ]!
  return {
    walkability: open(Access.foot),
    cyclability: open(Access.bicycle),
    driveability: open(Access.car),
    from_edge_name_consistency: crossing.sameNameBefore,
    to_edge_name_consistency: crossing.sameNameAfter,
    begin_heading: crossing.heading,
    use: useName(crossing.use),
    road_class: className(crossing.roadClass),
    lane_count: crossing.lanes,
  }
}
