import { createCosting } from '../cost/create.ts'
import { costOptions } from '../cost/options.ts'
import { tailOf } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import type { Ground } from '../ground.ts'
import type { PreparedCosting } from '../network/costings.ts'
import type { Location } from '../request/location.ts'
import { degreesOf } from '../respond/numbers.ts'
import { isReachable } from '../snap/reach.ts'
import type { Candidate, Snapped } from '../snap/candidate.ts'
import { snap } from '../snap/snap.ts'
import { edgeFacts, edgeInfo, nodeFacts } from './facts.ts'
import type { LocateRequest } from './request.ts'

/** The streets and crossings at a location; null where no street is near. */
export interface Located {
  readonly input_lat: number
  readonly input_lon: number
  readonly edges: readonly Readonly<Record<string, unknown>>[] | null
  readonly nodes: readonly Readonly<Record<string, unknown>>[] | null
  readonly reason?: string
}

/** Functions that snap locations and measure their connection to the network. */
interface Finder {
  readonly find: (location: Location) => Snapped | null
  /** Numbers of nodes that reach an edge and that it reaches, up to the requested maximum. */
  readonly reach: (edge: number, most: number) => { inbound: number; outbound: number }
}

/** Snaps locations to the network as routes do, one after the other. */
export function* locate(ground: Ground, request: LocateRequest): Generator<Located, void, void> {
  const finder = finderOf(ground, request)
  for (const location of request.locations) {
    const found = finder.find(location)
    const place = { input_lat: degreesOf(location.lat), input_lon: degreesOf(location.lon) }
    if (found === null) {
      yield {
        ...place,
        edges: null,
        nodes: null,
        ...(request.verbose && { reason: 'No data found for location' }),
      }
      continue
    }
    yield {
      ...place,
      edges: found.candidates.map((candidate) =>
        request.verbose ? verboseEdge(ground, finder, location, candidate) : briefEdge(ground.network.graph, candidate),
      ),
      nodes: nodesOf(ground.network.graph, found.candidates).map((node) =>
        nodeFacts(ground.network.graph, node, request.verbose),
      ),
    }
  }
}

function finderOf(ground: Ground, { mode, options }: LocateRequest): Finder {
  const { graph } = ground.network
  if (mode === null) {
    const everywhere = createCosting(graph, 'auto', costOptions('auto', { ignore_access: true, ignore_oneways: true }))
    return {
      find: (location) => snap(graph, everywhere, { ...location, through: false, isReachable: () => true }),
      reach: (_, most) => ({ inbound: most, outbound: most }),
    }
  }
  const prepared = ground.costings.get(mode, options)
  return {
    find: (location) => {
      const nodes = location.minimumReachability
      return ground.snap(prepared, location, { inbound: nodes, outbound: nodes })
    },
    reach: (edge, most) => ({
      inbound: reachOf(graph, prepared, edge, { most, direction: 'inbound' }),
      outbound: reachOf(graph, prepared, edge, { most, direction: 'outbound' }),
    }),
  }
}

/** Number of nodes that are connected with an edge in a direction, up to a limit. */
function reachOf(
  graph: Graph,
  { weights }: PreparedCosting,
  edge: number,
  { most, direction }: { most: number; direction: 'inbound' | 'outbound' },
): number {
  const reaches = (nodes: number): boolean =>
    isReachable(graph, weights, edge, { inbound: 0, outbound: 0, [direction]: nodes })
  let least = 0
  let above = most + 1
  if (reaches(most)) return most
  while (above - least > 1) {
    const middle = (least + above) >> 1
    if (reaches(middle)) least = middle
    else above = middle
  }
  return least
}

function briefEdge(graph: Graph, { edge, lat, lon, side, along }: Candidate): Readonly<Record<string, unknown>> {
  return {
    way_id: graph.shapeWay[graph.edgeShape[edge]!]!,
    correlated_lat: degreesOf(lat),
    correlated_lon: degreesOf(lon),
    side_of_street: side ?? 'neither',
    percent_along: Math.floor(along * 1e5) / 1e5,
  }
}

function verboseEdge(
  { network: { graph }, texts }: Ground,
  { reach }: Finder,
  { minimumReachability }: Location,
  candidate: Candidate,
): Readonly<Record<string, unknown>> {
  const { edge, meters, heading } = candidate
  const { inbound, outbound } = reach(edge, minimumReachability)
  const { way_id: _, ...brief } = briefEdge(graph, candidate)
  return {
    ...brief,
    distance: Math.round(meters * 10) / 10,
    heading: Math.round(heading * 10) / 10,
    outbound_reach: outbound,
    inbound_reach: inbound,
    edge_info: edgeInfo(graph, texts, edge),
    edge: edgeFacts(graph, edge),
    edge_id: { value: edge },
  }
}

/** The nodes at which candidates lie. */
function nodesOf(graph: Graph, candidates: readonly Candidate[]): number[] {
  const nodes = candidates.flatMap(({ edge, along }) =>
    along === 0 ? [tailOf(graph, edge)] : along === 1 ? [graph.edgeHead[edge]!] : [],
  )
  return [...new Set(nodes)].toSorted((a, b) => a - b)
}
