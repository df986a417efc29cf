import type { OnProgress } from '@terrane/core'
import type { OsmReader } from '@terrane/osm'

import { emptyNetwork } from '../errors.ts'
import { Access, Intersection, NodeType, Use } from '../graph/attributes.ts'
import { EdgeField, FlagField, get, NodeField, put } from '../graph/fields.ts'
import { type Graph, type GraphArrays, packGraph } from '../graph/graph.ts'
import type { SectionFile } from '../graph/sections.ts'
import { packBoxes } from '../snap/boxes.ts'
import { collectWays, type CollectedWay } from './collect.ts'
import { type Borders, openBorders } from './country/borders.ts'
import { placeWays } from './country/place.ts'
import { findConnected } from './connectivity.ts'
import { limitTable, timedTable } from './edge-tables.ts'
import { driveOnRight, type EdgeTable, makeEdges, sixDecimals } from './edges.ts'
import { cutIntoLinks, findEnds, type Junctions, type LinkTable } from './links.ts'
import { NodeIndex } from './node-index.ts'
import { classifyRamps } from './ramps.ts'
import { applyRestrictions, boundModes } from './restrictions.ts'
import { isFork, signsOf } from './signs.ts'
import { NameTable, TextTable } from './texts.ts'
import { describeTurns, markInternal, shareInternal } from './turns.ts'

/** How a graph is built. */
export interface BuildOptions {
  /**
   * The side of the road one drives on where a way does not say so with `driving_side`, for the whole graph. When it is
   * absent, the country of each way says that, and who may use it and how fast where tags do not; with a side, no country
   * is asked. `left` is what Valhalla takes when it has no boundaries of countries.
   */
  readonly drivingSide?: 'left' | 'right'
  /** Streets under construction are kept, for requests with `ignore_construction`; without it there are none. */
  readonly construction?: boolean
  /** Names what the graph is built from, e.g. a digest of the extracts; kept in the file and told by `factsOf`. */
  readonly inputs?: string
  readonly onProgress?: OnProgress
  readonly signal?: AbortSignal
}

/**
 * Builds the graph of one or several extracts; elements that several of them hold count once.
 *
 * @throws EMPTY_NETWORK when there is no way to travel
 */
export async function buildGraph(
  readers: readonly OsmReader[],
  options: BuildOptions = {},
): Promise<{ graph: Graph; file: SectionFile }> {
  const step = (phase: string, done: number): void => options.onProgress?.({ phase, done, total: STEPS, unit: 'steps' })
  step('ways', 0)
  const { ways: collected, restrictions, bicycleRoutes } = await collectWays(readers, options)
  step('nodes', 1)
  const nodes = new NodeIndex(collected)
  await nodes.load(readers, options.signal)
  const { drivingSide } = options
  const borders = drivingSide === undefined ? await openBorders() : null
  const ways =
    borders === null ? collected.map((way) => onSide(way, drivingSide!)) : placeWays(collected, nodes, borders)
  step('links', 2)
  const links = cutIntoLinks(ways, nodes)
  if (links.count === 0) throw emptyNetwork({ sources: readers.map((reader) => reader.source.name).join(', ') })
  const junctions = findEnds(links, nodes.ids.length)
  step('edges', 3)
  const edges = makeEdges({
    ways,
    links,
    junctions,
    nodes,
    ramps: classifyRamps({ ways, links, junctions, nodes }),
    bicycleRoutes,
    culdesacs: findCuldesacs(ways),
    wayMeters: metersOf(ways, links),
  })
  markInternal(edges)
  step('turns', 4)
  const network = { ways, links, junctions, nodes, edges, borders }
  const arrays = assemble(network, restrictions)
  step('index', 5)
  const packed = packGraph(arrays, {
    sources: readers.map((reader) => reader.source.name),
    drivingSide: drivingSide ?? 'country',
    inputs: options.inputs ?? '',
    construction: options.construction ?? false,
    attribution: '© OpenStreetMap contributors',
  })
  step('done', STEPS)
  return packed
}

const STEPS = 6

interface Network {
  readonly ways: readonly CollectedWay[]
  readonly links: LinkTable
  readonly junctions: Junctions
  readonly nodes: NodeIndex
  readonly edges: EdgeTable
  /** Null where one side holds for all. */
  readonly borders: Borders | null
}

function assemble(network: Network, restrictions: Parameters<typeof applyRestrictions>[0]): GraphArrays {
  const { edges, links, nodes } = network
  const wayOf = (edge: number): CollectedWay => network.ways[links.way[edges.link[edge]!]!]!
  const factsOf = (node: number): ReturnType<NodeIndex['facts']> =>
    nodes.facts(network.junctions.node[edges.junction[node]!]!)
  const texts = new TextTable()
  const names = new NameTable(texts)
  const edgeNames = Uint32Array.from(edges.head, (_, edge) => {
    const { forward, backward } = wayOf(edge).facts.names
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
  const rules = applyRestrictions(restrictions, {
    edges,
    turns,
    ...lookups(network),
    textOf: (text) => texts.intern(text),
  })
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
    info = put(info, NodeField.privateAccess, facts.privateAccess)
    info = put(info, NodeField.cashOnlyToll, facts.cashOnlyToll)
    info = put(info, NodeField.intersection, intersectionOf(edges, node, facts.type, isFork(signInputs, node)))
    return put(info, NodeField.driveOnRight, onRight[node]!)
  })
  const signs = signTable(signInputs, texts)
  const limits = limitTable(edges, wayOf)
  const timed = timedTable(edges, wayOf, texts)
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
    ...names.pack(),
    ...signs,
    ...limits,
    ...timed,
    ...rules,
    ...texts.pack(),
    boxes: boxes.boxes,
    boxItems: boxes.items,
    boxLevels: boxes.levels,
  }
}

function onSide(way: CollectedWay, drivingSide: 'left' | 'right'): CollectedWay {
  return way.facts.drivingSide === null ? { ...way, facts: { ...way.facts, drivingSide } } : way
}

/** Whether one drives on the right at a node: as on its roads where these agree, else as in its country. */
function sideAt({ edges, borders }: Network, wayOf: (edge: number) => CollectedWay, node: number): boolean {
  const leaving = Array.from({ length: edges.firstEdge[node + 1]! - edges.firstEdge[node]! }, (_, i) =>
    wayOf(edges.firstEdge[node]! + i),
  )
  if (borders === null) return driveOnRight(leaving[0]!)
  // A boat brings its side along.
  const ashore = leaving.filter(({ facts }) => !facts.ferry && !facts.railFerry)
  const onRight = ashore.map(driveOnRight)
  if (onRight.length > 0 && new Set(onRight).size === 1) return onRight[0]!
  return borders.sideAt(edges.nodeLon[node]! / 1e7, edges.nodeLat[node]! / 1e7) === 'right'
}

/** Nodes and edges by their OSM ids, for restrictions. */
function lookups({ ways, links, junctions, nodes, edges }: Network): {
  wayOf: (edge: number) => number
  nodeOf: (id: number) => number
  edgesOf: (way: number) => readonly number[]
} {
  const nodeOfIndex = new Map<number, number>()
  edges.junction.forEach((junction, node) => nodeOfIndex.set(junctions.node[junction]!, node))
  const edgesOfWay = new Map<number, number[]>()
  const wayOf = (edge: number): number => ways[links.way[edges.link[edge]!]!]!.id
  for (let edge = 0; edge < edges.head.length; edge++) {
    const list = edgesOfWay.get(wayOf(edge))
    if (list === undefined) edgesOfWay.set(wayOf(edge), [edge])
    else list.push(edge)
  }
  return {
    wayOf,
    nodeOf: (id) => nodeOfIndex.get(nodes.find(id)) ?? -1,
    edgesOf: (way) => edgesOfWay.get(way) ?? [],
  }
}

/** Loops at the end of a lesser street: ways that meet themselves and at most one other street. */
function findCuldesacs(ways: readonly CollectedWay[]): Set<number> {
  const candidates = ways.filter(
    ({ facts, refs }) =>
      facts.use === Use.road && facts.roadClass > 4 && !facts.access.roundabout && new Set(refs).size < refs.length,
  )
  const meetings = new Map<number, Set<number>>(candidates.map(({ id }) => [id, new Set()]))
  const loopsAt = new Map<number, number[]>()
  for (const { id, refs } of candidates) {
    for (const ref of refs) loopsAt.set(ref, [...(loopsAt.get(ref) ?? []), id])
  }
  for (const { id, facts, refs } of ways) {
    if (facts.use !== Use.road) continue
    for (const ref of refs) for (const loop of loopsAt.get(ref) ?? []) if (loop !== id) meetings.get(loop)!.add(ref)
  }
  return new Set([...meetings].filter(([, nodes]) => nodes.size <= 1).map(([id]) => id))
}

function metersOf(ways: readonly CollectedWay[], links: LinkTable): Float64Array {
  const meters = new Float64Array(ways.length)
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
}: Network): Pick<GraphArrays, 'firstPoint' | 'pointLon' | 'pointLat' | 'shapeWay'> {
  return {
    firstPoint: links.firstPoint,
    pointLon: Int32Array.from(links.points, (point) => sixDecimals(nodes.lon[point]!, 180)),
    pointLat: Int32Array.from(links.points, (point) => sixDecimals(nodes.lat[point]!, 90)),
    shapeWay: Float64Array.from(links.way, (way) => ways[way]!.id),
  }
}

function signTable(
  inputs: Parameters<typeof signsOf>[0],
  texts: TextTable,
): Pick<GraphArrays, 'signEdge' | 'firstSign' | 'signText' | 'signType'> {
  const signEdge: number[] = []
  const firstSign = [0]
  const signText: number[] = []
  const signType: number[] = []
  const { edges } = inputs
  for (let node = 0; node < edges.nodeCount; node++) {
    for (let edge = edges.firstEdge[node]!; edge < edges.firstEdge[node + 1]!; edge++) {
      const signs = signsOf(inputs, node, edge)
      if (signs.length === 0) continue
      edges.flags[edge] = put(edges.flags[edge]!, FlagField.signs, 1)
      signEdge.push(edge)
      for (const { type, text, routeNumber } of signs) {
        signType.push(type)
        signText.push(2 * texts.intern(text) + Number(routeNumber))
      }
      firstSign.push(signText.length)
    }
  }
  return {
    signEdge: Uint32Array.from(signEdge),
    firstSign: Uint32Array.from(firstSign),
    signText: Uint32Array.from(signText),
    signType: Uint8Array.from(signType),
  }
}
