import type { OnProgress } from '@terrane/core'
import type { OsmReader } from '@terrane/osm'

import { emptyNetwork } from '../errors.ts'
import { Access, Intersection, NodeType } from '../graph/attributes.ts'
import { EdgeField, get, NodeField, privateBits, put } from '../graph/fields.ts'
import { type Graph, GRAPH_ARRAYS, type GraphArrays, graphFrom } from '../graph/graph.ts'
import type { SectionSink } from '../graph/sections.ts'
import { packBoxes } from '../snap/boxes.ts'
import { type Collected, collectWays, type UnreadTurn, type TurnRule } from './collect.ts'
import { type Borders, openBorders } from './country/borders.ts'
import { placeWays } from './country/place.ts'
import { countryTable } from './country/table.ts'
import { collectGarbage } from './collect-garbage.ts'
import { findCuldesacs } from './culdesacs.ts'
import { findConnected } from './connectivity.ts'
import { limitTable, timedTable, tollTable } from './edge-tables.ts'
import { driveOnRight, type EdgeTable, makeEdges, sixDecimals } from './edges.ts'
import { cutIntoLinks, findEnds, type Junctions, type LinkTable } from './links.ts'
import { lookups } from './lookups.ts'
import { NodeIndex } from './node-index.ts'
import { classifyRamps } from './ramps.ts'
import { applyRestrictions, boundModes } from './restrictions.ts'
import { isFork, signTable } from './signs.ts'
import type { WayFacts } from './tags/way.ts'
import { NameTable, TextTable } from './texts.ts'
import { unreadCounts, unreadTable } from './unread-table.ts'
import { describeTurns, markInternal, shareInternal } from './turns.ts'
import { Ways } from './ways.ts'

/** Options of building a graph. */
export interface BuildOptions {
  /**
   * Driving side of ways without the tag `driving_side`. When absent, the driving side and the default access and
   * speeds of a way come from its country; when given, countries are not used at all. Valhalla without country
   * boundaries uses `left`.
   */
  readonly drivingSide?: 'left' | 'right'
  /** Whether streets under construction are kept, for requests with `ignore_construction`; default false. */
  readonly construction?: boolean
  /** Text that identifies the sources, e.g. a digest of the extracts; stored in the file and returned by `factsOf`. */
  readonly inputs?: string
  readonly onProgress?: OnProgress
  readonly signal?: AbortSignal
}

/**
 * Builds the graph of one or several extracts; elements in several of them count once.
 *
 * @param sink receives the arrays of the graph
 * @returns the graph, and the metadata for its file
 * @throws EMPTY_NETWORK when there is no way to travel
 */
export async function buildGraph(
  readers: readonly OsmReader[],
  sink: SectionSink,
  options: BuildOptions = {},
): Promise<{ graph: Graph; meta: Readonly<Record<string, unknown>> }> {
  const step = (phase: string, done: number): void => {
    collectGarbage()
    options.onProgress?.({ phase, done, total: STEPS, unit: 'steps' })
  }
  const sources = readers.map((reader) => reader.source.name)
  const arrays = graphArrays(await readStreets(readers, options, step), step)
  step('index', 5)
  for (const name of GRAPH_ARRAYS) sink.add(name, arrays[name])
  step('done', STEPS)
  const graph = graphFrom(arrays)
  const meta = {
    sources,
    unread: unreadCounts(graph),
    drivingSide: options.drivingSide ?? 'country',
    inputs: options.inputs ?? '',
    construction: options.construction ?? false,
    attribution: '© OpenStreetMap contributors',
  }
  return { graph, meta }
}

const STEPS = 6

interface Streets {
  readonly ways: Ways
  readonly links: LinkTable
  readonly nodes: NodeIndex
  /** Positions of ways that form a loop at the end of a street. */
  readonly culdesacs: ReadonlySet<number>
  readonly bicycleRoutes: ReadonlySet<number>
  readonly restrictions: readonly TurnRule[]
  readonly unreadTurns: readonly UnreadTurn[]
  /** Null when one driving side applies to all. */
  readonly borders: Borders | null
}

async function readStreets(
  readers: readonly OsmReader[],
  options: BuildOptions,
  step: (phase: string, done: number) => void,
): Promise<Streets> {
  step('ways', 0)
  const collected = await collectWays(readers, options)
  step('nodes', 1)
  const nodes = new NodeIndex(collected.ways.refs)
  await nodes.load(readers, options.signal)
  const { drivingSide } = options
  const borders = drivingSide === undefined ? await openBorders() : null
  step('links', 2)
  const streets = joined(collected, nodes, borders ?? drivingSide!)
  if (streets.links.count === 0) throw emptyNetwork({ sources: readers.map(({ source }) => source.name).join(', ') })
  return { ...streets, borders }
}

/** Ways with the facts of their countries, cut into links. */
function joined(
  { ways: columns, bicycleRoutes, restrictions, unreadTurns }: Collected,
  nodes: NodeIndex,
  law: Borders | 'left' | 'right',
): Omit<Streets, 'borders'> {
  if (columns.located !== null) nodes.locate(columns.refs, columns.located)
  const wayNodes = { first: columns.firstRef, node: Uint32Array.from(columns.refs, (ref) => nodes.find(ref)) }
  const read = new Ways(columns.ids, columns.facts, columns.factOf)
  const ways =
    typeof law === 'string'
      ? read.withFacts(
          () => law,
          (facts) => (facts.drivingSide === null ? { ...facts, drivingSide: law } : facts),
        )
      : placeWays(read, wayNodes, nodes, law)
  const culdesacs = findCuldesacs(ways, wayNodes, nodes.ids.length)
  return { ways, links: cutIntoLinks(wayNodes, nodes), nodes, culdesacs, bicycleRoutes, restrictions, unreadTurns }
}

function graphArrays(streets: Streets, step: (phase: string, done: number) => void): GraphArrays {
  const { ways, links, nodes, borders } = streets
  const junctions = findEnds(links, nodes.ids.length)
  step('edges', 3)
  const ramps = classifyRamps({ ways, links, junctions, nodes })
  const edges = makeEdges({ ...streets, junctions, ramps, wayMeters: metersOf(ways.count, links) })
  markInternal(edges)
  step('turns', 4)
  return assemble({ ways, links, junctions, nodes, edges, borders }, streets)
}

interface Network extends Pick<Streets, 'ways' | 'links' | 'nodes' | 'borders'> {
  readonly junctions: Junctions
  readonly edges: EdgeTable
}

function assemble(
  network: Network,
  { restrictions, unreadTurns }: Pick<Streets, 'restrictions' | 'unreadTurns'>,
): GraphArrays {
  const { edges, links, nodes } = network
  const wayOf = (edge: number): WayFacts => network.ways.facts(links.way[edges.link[edge]!]!)
  const factsOf = (node: number): ReturnType<NodeIndex['facts']> =>
    nodes.facts(network.junctions.node[edges.junction[node]!]!)
  const factsAlong = function* (edge: number): Generator<ReturnType<NodeIndex['facts']>> {
    const link = edges.link[edge]!
    for (let i = links.firstPoint[link]! + 1; i < links.firstPoint[link + 1]! - 1; i++) {
      yield nodes.facts(links.points[i]!)
    }
  }
  const texts = new TextTable()
  const names = new NameTable(texts)
  const edgeNames = Uint32Array.from(edges.head, (_, edge) => {
    const { forward, backward } = wayOf(edge).names
    return names.intern(edges.forward[edge] === 1 ? forward : backward)
  })
  const onRight = Uint8Array.from({ length: edges.nodeCount }, (_, node) => Number(sideAt(network, wayOf, node)))
  const turns = describeTurns({
    edges,
    sameName: (a, b) => names.overlap(edgeNames[a]!, edgeNames[b]!),
    signal: (node) => factsOf(node).signal.present,
    driveOnRight: (node) => onRight[node] === 1,
  })
  shareInternal(edges)
  const lookup = lookups(network)
  const textOf = (text: string): number => texts.intern(text)
  const rules = applyRestrictions(restrictions, { edges, turns, ...lookup, factsOf, textOf })
  const signInputs = { edges, wayOf, factsOf }
  const shapes = shapesOf(network)
  const boxes = packBoxes(shapes)
  const nodeInfo = Uint32Array.from({ length: edges.nodeCount }, (_, node) => {
    const facts = factsOf(node)
    let info = put(0, NodeField.access, facts.access)
    info = put(info, NodeField.type, facts.type)
    info = put(info, NodeField.density, edges.density[node]!)
    info = put(info, NodeField.signal, facts.signal.present)
    info = put(info, NodeField.taggedAccess, facts.taggedAccess)
    info = put(info, NodeField.opensAtTimes, facts.opensAtTimes)
    info = put(info, NodeField.private, privateBits(facts.privateModes))
    info = put(info, NodeField.cashOnlyToll, facts.cashOnlyToll)
    info = put(info, NodeField.intersection, intersectionOf(edges, node, facts.type, isFork(signInputs, node)))
    return put(info, NodeField.driveOnRight, onRight[node]!)
  })
  const signs = signTable(signInputs, texts)
  const limits = limitTable(edges, wayOf)
  const timed = timedTable(edges, wayOf, texts)
  const unread = unreadTable(unreadTurns, { edges, factsOf, factsAlong, textOf, wayFactsOf: wayOf, ...lookup })
  return {
    nodeLon: edges.nodeLon,
    nodeLat: edges.nodeLat,
    firstEdge: edges.firstEdge,
    firstTurn: turns.firstTurn,
    nodeInfo,
    nodeConnected: findConnected(
      edges,
      Uint16Array.from(nodeInfo, (info) => get(info, NodeField.access)),
      boundModes(edges, turns, rules),
    ),
    edgeHead: edges.head,
    edgeOpposite: edges.opposite,
    edgeInfo: edges.info,
    edgeTraffic: edges.traffic,
    edgeFlags: edges.flags,
    edgeLength: edges.length,
    edgeHeading: edges.heading,
    edgeNames,
    edgeShape: edges.link,
    turnInfo: turns.info,
    ...shapes,
    ...countryTable(network, textOf),
    ...names.pack(),
    ...signs,
    ...limits,
    ...tollTable(edges, wayOf),
    ...timed,
    ...rules,
    ...unread,
    ...texts.pack(),
    boxes: boxes.boxes,
    boxShape: boxes.shape,
    boxStretch: boxes.stretch,
    boxLevels: boxes.levels,
  }
}

/** Whether traffic drives on the right at a node: by its roads if they agree, else by its country. */
function sideAt({ edges, borders }: Network, wayOf: (edge: number) => WayFacts, node: number): boolean {
  const leaving = Array.from({ length: edges.firstEdge[node + 1]! - edges.firstEdge[node]! }, (_, i) =>
    wayOf(edges.firstEdge[node]! + i),
  )
  if (borders === null) return driveOnRight(leaving[0]!)
  // Ferries do not count, because their driving side may be that of another country.
  const ashore = leaving.filter(({ ferry, railFerry }) => !ferry && !railFerry)
  const onRight = ashore.map(driveOnRight)
  if (onRight.length > 0 && new Set(onRight).size === 1) return onRight[0]!
  return borders.sideAt(edges.nodeLon[node]! / 1e7, edges.nodeLat[node]! / 1e7) === 'right'
}

function metersOf(wayCount: number, links: LinkTable): Float64Array {
  const meters = new Float64Array(wayCount)
  for (let link = 0; link < links.count; link++) meters[links.way[link]!]! += links.meters[link]!
  return meters
}

const KEPT_TYPES = new Set<number>([NodeType.gate, NodeType.tollBooth, NodeType.tollGantry, NodeType.sumpBuster])

function intersectionOf(edges: EdgeTable, node: number, type: number, fork: boolean): number {
  const first = edges.firstEdge[node]!
  const end = edges.firstEdge[node + 1]!
  const before = fork ? Intersection.fork : Intersection.regular
  if (KEPT_TYPES.has(type)) return before
  let drivable = 0
  for (let edge = first; edge < end; edge++) {
    const either = get(edges.info[edge]!, EdgeField.access) | get(edges.info[edges.opposite[edge]!]!, EdgeField.access)
    if ((either & Access.car) !== 0) drivable++
  }
  if (drivable === 1) return Intersection.deadEnd
  return end - first === 2 ? Intersection.falseNode : before
}

function shapesOf({
  ways,
  links,
  nodes,
}: Network): Pick<GraphArrays, 'firstPoint' | 'pointLon' | 'pointLat' | 'shapeWay' | 'shapeLimit'> {
  return {
    firstPoint: links.firstPoint,
    pointLon: Int32Array.from(links.points, (point) => sixDecimals(nodes.lon[point]!, 180)),
    pointLat: Int32Array.from(links.points, (point) => sixDecimals(nodes.lat[point]!, 90)),
    shapeWay: narrowIds(Float64Array.from(links.way, (way) => ways.ids[way]!)),
    shapeLimit: Uint8Array.from(links.way, (way) => ways.facts(way).speeds.limit),
  }
}

/** Ids as 32-bit integers, if all fit. */
function narrowIds(ids: Float64Array): Uint32Array | Float64Array {
  return ids.every((id) => id >= 0 && id < 2 ** 32) ? Uint32Array.from(ids) : ids
}
