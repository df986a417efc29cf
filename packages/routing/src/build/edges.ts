import { bearingDegrees, distanceMeters } from '../geometry/geodesy.ts'
import { headingMeters } from '../geometry/heading.ts'
import { hilbertOrder } from '../geometry/hilbert.ts'
import { roundAway } from '../geometry/round-away.ts'
import { Access, RoadClass, Use } from '../graph/attributes.ts'
import { EdgeField, FlagField, put, storedHeading, TrafficField } from '../graph/fields.ts'
import { DENSITY_USES, roadDensity } from './density.ts'
import { carLeaves, type Junctions, type LinkTable, modesOf } from './links.ts'
import type { NodeIndex } from './node-index.ts'
import type { RampFacts } from './ramps.ts'
import { edgeSpeed, truckSpeed } from './speed.ts'
import type { WayFacts } from './tags/way.ts'
import { directedLanes } from './tags/way-lanes.ts'
import type { Ways } from './ways.ts'

/** Inputs for building the edges. */
export interface EdgeInputs {
  readonly ways: Ways
  readonly links: LinkTable
  readonly junctions: Junctions
  readonly nodes: NodeIndex
  readonly ramps: RampFacts
  /** Ids of ways on signed bicycle routes. */
  readonly bicycleRoutes: ReadonlySet<number>
  /** Positions of ways that form a loop at the end of a street. */
  readonly culdesacs: ReadonlySet<number>
  readonly wayMeters: Float64Array
}

/** Nodes and directed edges, without turns. */
export interface EdgeTable {
  readonly nodeCount: number
  readonly junction: Uint32Array
  readonly nodeLon: Int32Array
  readonly nodeLat: Int32Array
  readonly density: Uint8Array
  readonly firstEdge: Uint32Array
  readonly head: Uint32Array
  readonly opposite: Uint32Array
  readonly link: Uint32Array
  /** One when the edge runs in the order of the points of its link. */
  readonly forward: Uint8Array
  readonly length: Uint32Array
  readonly heading: Uint8Array
  readonly info: Uint32Array
  readonly traffic: Uint32Array
  readonly flags: Uint16Array
}

/** Whether traffic drives on the right on a way. */
export function driveOnRight({ drivingSide }: WayFacts): boolean {
  return drivingSide === 'right'
}

/** Creates two directed edges per link and sorts them by the node they leave, best roads first. */
export function makeEdges(inputs: EdgeInputs): EdgeTable {
  const table = emptyTable(inputs)
  orderEdges(inputs, table)
  const uses = Uint8Array.from(table.link, (link) => useOf(inputs, link))
  densities(table, uses, inputs.links)
  for (let edge = 0; edge < table.head.length; edge++) describe(inputs, table, edge, uses[edge]!)
  return table
}

function emptyTable({ junctions, links, nodes }: EdgeInputs): EdgeTable {
  const lon = Int32Array.from(junctions.node, (node) => nodes.lon[node]!)
  const lat = Int32Array.from(junctions.node, (node) => nodes.lat[node]!)
  const junction = hilbertOrder(lon, lat)
  const edges = 2 * links.count
  return {
    nodeCount: junctions.count,
    junction,
    nodeLon: Int32Array.from(junction, (j) => lon[j]!),
    nodeLat: Int32Array.from(junction, (j) => lat[j]!),
    density: new Uint8Array(junctions.count),
    firstEdge: new Uint32Array(junctions.count + 1),
    head: new Uint32Array(edges),
    opposite: new Uint32Array(edges),
    link: new Uint32Array(edges),
    forward: new Uint8Array(edges),
    length: new Uint32Array(edges),
    heading: new Uint8Array(edges),
    info: new Uint32Array(edges),
    traffic: new Uint32Array(edges),
    flags: new Uint16Array(edges),
  }
}

/** Numbers the edges: at each node, edges for cars come first, then by class, then edges with names. */
function orderEdges(inputs: EdgeInputs, table: EdgeTable): void {
  const { junctions, links, ways, ramps } = inputs
  const nodeOf = new Uint32Array(junctions.count)
  table.junction.forEach((junction, node) => (nodeOf[junction] = node))
  const edgeOf = new Int32Array(2 * links.count).fill(-1)
  let next = 0
  for (let node = 0; node < table.nodeCount; node++) {
    const junction = table.junction[node]!
    const leaving = Array.from(
      junctions.link.subarray(junctions.first[junction], junctions.first[junction + 1]),
      (link) => {
        const forward = junctions.tail[link] === junction
        const facts = ways.facts(links.way[link]!)
        return {
          link,
          forward,
          car: carLeaves(facts, forward),
          roadClass: ramps.roadClass[link]!,
          named: facts.names.forward.length > 0,
        }
      },
    )
    leaving.sort(
      (a, b) =>
        Number(b.car) - Number(a.car) ||
        a.roadClass - b.roadClass ||
        Number(b.named) - Number(a.named) ||
        a.link - b.link,
    )
    for (const { link, forward } of leaving) {
      const edge = next++
      table.link[edge] = link
      table.forward[edge] = forward ? 1 : 0
      table.head[edge] = nodeOf[forward ? junctions.head[link]! : junctions.tail[link]!]!
      edgeOf[2 * link + (forward ? 0 : 1)] = edge
    }
    table.firstEdge[node + 1] = next
  }
  for (let link = 0; link < links.count; link++) {
    const ahead = edgeOf[2 * link]!
    const back = edgeOf[2 * link + 1]!
    table.opposite[ahead] = back
    table.opposite[back] = ahead
  }
}

const FOOT_USES = new Set<number>([Use.footway, Use.steps, Use.sidewalk])

function useOf({ ways, links, ramps, culdesacs }: EdgeInputs, link: number): number {
  const way = links.way[link]!
  const facts = ways.facts(way)
  if (ramps.turnChannel[link] === 1) return Use.turnChannel
  if (facts.link) return Use.ramp
  if (facts.use === Use.pedestrian) return Use.footway
  return culdesacs.has(way) && facts.use === Use.road ? Use.culdesac : facts.use
}

function densities(table: EdgeTable, uses: Uint8Array, links: LinkTable): void {
  const meters = new Float64Array(table.nodeCount)
  for (let node = 0; node < table.nodeCount; node++) {
    for (let edge = table.firstEdge[node]!; edge < table.firstEdge[node + 1]!; edge++) {
      if (DENSITY_USES.has(uses[edge]!)) meters[node]! += wholeMeters(links.meters[table.link[edge]!]!)
    }
  }
  table.density.set(roadDensity(table.nodeLon, table.nodeLat, meters))
}

function wholeMeters(meters: number): number {
  return Math.max(1, Math.floor(meters + 0.5))
}

function describe(inputs: EdgeInputs, table: EdgeTable, edge: number, use: number): void {
  const { ways, links, ramps } = inputs
  const link = table.link[edge]!
  const forward = table.forward[edge] === 1
  const way = links.way[link]!
  const facts = ways.facts(way)
  const roadClass = FOOT_USES.has(use) ? RoadClass.service : ramps.roadClass[link]!
  const tail = table.head[table.opposite[edge]!]!
  const lanes = directedLanes(facts.laneTags, facts.access, facts.use, forward, driveOnRight(facts))
  const modes = modesOf(facts, forward) & ~closedOnMotorroads(facts)
  table.length[edge] = wholeMeters(links.meters[link]!)
  table.heading[edge] = storedHeading(headingAlong(inputs, link, forward, headingMeters(roadClass, use)))

  let info = put(0, EdgeField.access, modes)
  info = put(info, EdgeField.roadClass, roadClass)
  info = put(info, EdgeField.use, use)
  info = put(info, EdgeField.surface, facts.surface)
  info = put(info, EdgeField.hikingDifficulty, facts.hikingDifficulty)
  info = put(info, EdgeField.lanes, lanes.lanes)
  info = put(info, EdgeField.cycleLane, lanes.cycleLane)
  table.info[edge] = put(info, EdgeField.forward, forward)

  const speedInputs = {
    ...facts,
    roadClass,
    use,
    forward,
    roundabout: facts.access.roundabout,
    density: table.density[tail]!,
    meters: inputs.wayMeters[way]!,
  }
  let traffic = put(0, TrafficField.speed, edgeSpeed(speedInputs))
  traffic = put(traffic, TrafficField.truckSpeed, truckSpeed(speedInputs))
  traffic = put(traffic, TrafficField.toll, (forward ? facts.flags.tollForward : facts.flags.tollBackward) !== 0)
  traffic = put(traffic, TrafficField.roundabout, facts.access.roundabout)
  traffic = put(traffic, TrafficField.internal, facts.flags.internal)
  traffic = put(traffic, TrafficField.truckRoute, facts.flags.truckRoute)
  traffic = put(traffic, TrafficField.bikeNetwork, facts.bikeNetwork || inputs.bicycleRoutes.has(ways.ids[way]!))
  traffic = put(traffic, TrafficField.useSidepath, forward ? facts.flags.sidepathForward : facts.flags.sidepathBackward)
  traffic = put(traffic, TrafficField.dismount, facts.flags.dismount)
  traffic = put(traffic, TrafficField.sidewalkLeft, facts.flags.sidewalkLeft)
  traffic = put(traffic, TrafficField.sidewalkRight, facts.flags.sidewalkRight)
  traffic = put(traffic, TrafficField.shoulder, lanes.shoulder)
  traffic = put(traffic, TrafficField.tunnel, facts.flags.tunnel)
  traffic = put(traffic, TrafficField.bridge, facts.flags.bridge)
  traffic = put(traffic, TrafficField.link, facts.link)
  traffic = put(traffic, TrafficField.named, (forward ? facts.names.forward : facts.names.backward).length > 0)
  traffic = put(traffic, TrafficField.lit, facts.flags.lit)
  table.traffic[edge] = put(traffic, TrafficField.indoor, facts.flags.indoor)

  const signs = signsAlong(inputs, link)
  const car = (modes & Access.car) !== 0
  const atEnd = inputs.nodes.facts(inputs.junctions.node[table.junction[table.head[edge]!]!]!)
  const stop = applies(signs.stop, forward, facts.access.oneway, true) || (atEnd.stop.present && !atEnd.minor)
  let flags = put(0, FlagField.signal, car && applies(signs.signal, forward, facts.access.oneway, false))
  flags = put(flags, FlagField.stop, car && stop)
  flags = put(flags, FlagField.local, forward ? facts.flags.localForward : facts.flags.localBackward)
  flags = put(flags, FlagField.yard, facts.flags.yard)
  table.flags[edge] = put(flags, FlagField.timed, facts.timed.length > 0)
}

/** Modes that are excluded from a road for motor traffic only, unless a tag of their own opens it. */
function closedOnMotorroads({ flags, access }: WayFacts): number {
  if (!flags.motorroad) return 0
  return (Access.foot | Access.wheelchair | Access.bicycle | Access.moped) & ~access.tagged
}

interface LinkSigns {
  readonly signal: Sign | null
  readonly stop: Sign | null
}

interface Sign {
  readonly forward: boolean
  readonly backward: boolean
}

/** Traffic signs between the ends of a link; the last of each kind counts. */
function signsAlong({ links, nodes }: EdgeInputs, link: number): LinkSigns {
  let signal: Sign | null = null
  let stop: Sign | null = null
  for (let i = links.firstPoint[link]! + 1; i < links.firstPoint[link + 1]! - 1; i++) {
    const facts = nodes.facts(links.points[i]!)
    if (facts.signal.present) signal = facts.signal
    else if (facts.stop.present) stop = facts.stop
  }
  return { signal, stop }
}

/**
 * Whether a sign applies to a direction. Without a direction it applies on one-way streets; elsewhere `otherwise`
 * decides.
 */
function applies(sign: Sign | null, forward: boolean, oneway: boolean, otherwise: boolean): boolean {
  if (sign === null) return false
  if (!sign.forward && !sign.backward) return oneway || otherwise
  return forward ? sign.forward : sign.backward
}

/**
 * A coordinate of 1e-7 degrees in 1e-6 degrees. Half units are rounded as in Valhalla, which stores unsigned
 * coordinates and rounds away from zero, so that shapes are equal.
 */
export function sixDecimals(coordinate: number, range: number): number {
  return roundAway(((coordinate + range * 1e7) * 1e-7 - range) * 1e6)
}

/** Heading from an end of a link to the point `meters` along it, or to its other end if the link is shorter. */
function headingAlong({ links, nodes }: EdgeInputs, link: number, forward: boolean, meters: number): number {
  const begin = links.firstPoint[link]!
  const end = links.firstPoint[link + 1]! - 1
  const step = forward ? 1 : -1
  // Computed with the stored precision, because the last digits affect the heading of short edges.
  const lon = (i: number): number => sixDecimals(nodes.lon[links.points[i]!]!, 180) / 1e6
  const lat = (i: number): number => sixDecimals(nodes.lat[links.points[i]!]!, 90) / 1e6
  const first = forward ? begin : end
  const last = forward ? end : begin
  // A straight link has the same heading everywhere.
  const stop = end - begin > 1 ? last : first
  let walked = 0
  for (let i = first; i !== stop; i += step) {
    const part = distanceMeters(lon(i), lat(i), lon(i + step), lat(i + step))
    if (walked + part > meters) {
      const share = (meters - walked) / part
      const x = lon(i) + (lon(i + step) - lon(i)) * share
      const y = lat(i) + (lat(i + step) - lat(i)) * share
      return bearingDegrees(lon(first), lat(first), x, y)
    }
    walked += part
  }
  return bearingDegrees(lon(first), lat(first), lon(last), lat(last))
}
