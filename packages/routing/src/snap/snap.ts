import type { Costing } from '../cost/costing.ts'
import { PROFILES } from '../cost/profiles/index.ts'
import { bearingDegrees, distanceMeters } from '../geometry/geodesy.ts'
import { EdgeField, get, NodeField, TrafficField } from '../graph/fields.ts'
import { Use } from '../graph/attributes.ts'
import type { Graph } from '../graph/graph.ts'
import { headingMeters } from '../geometry/heading.ts'
import { type Projection, visitNearest } from './nearest.ts'
import { shapeEdges } from './shape-edges.ts'
import { tangent, walkedTo } from './tangent.ts'

/** Side of the street a location lies on, seen in the direction of an edge. */
export type Side = 'left' | 'right' | null

/** Where a location is put: an edge and how far along it. */
export interface Candidate {
  readonly edge: number
  /** Share of the edge before the location, 0 … 1. */
  readonly along: number
  readonly lon: number
  readonly lat: number
  /** Metres from the location. */
  readonly meters: number
  readonly side: Side
  /** Degrees of the edge where the location is put. */
  readonly heading: number
  /** Seconds of cost for being farther away than the nearest candidate. */
  readonly penalty: number
}

/** The candidates of a location; the second list counts only when the first leads nowhere. */
export interface Snapped {
  readonly candidates: readonly Candidate[]
  readonly filtered: readonly Candidate[]
}

/** A location and what is asked of the place it is put. */
export interface SnapRequest {
  readonly lon: number
  readonly lat: number
  readonly heading: number | null
  readonly headingTolerance: number
  readonly radius: number
  readonly searchCutoff: number
  readonly nodeSnapTolerance: number
  readonly streetSideTolerance: number
  readonly streetSideMaxDistance: number
  readonly preferredSide: 'same' | 'opposite' | 'either'
  readonly streetSideCutoff: number
  readonly rankCandidates: boolean
  readonly displayLon: number | null
  readonly displayLat: number | null
  readonly through: boolean
  readonly filter: SnapFilter
  /** Name of the street the location should be on; between equals it decides. */
  readonly street: string | null
  /** Whether an edge is connected with as much of the network as the location asks for. */
  readonly isReachable: (edge: number) => boolean
}

/** Kinds of edges a location must not be put on. */
export interface SnapFilter {
  readonly excludeTunnel: boolean
  readonly excludeBridge: boolean
  readonly excludeToll: boolean
  readonly excludeRamp: boolean
  readonly excludeFerry: boolean
  readonly minRoadClass: number
  readonly maxRoadClass: number
}

/** Seconds of penalty for a square metre of distance. */
const PENALTY_PER_SQUARE_METER = 10
/** Filtered candidates cost at least this much more. */
const FILTERED_METERS = 3600

/** Puts a location on the network; null when nothing is near. */
export function snap(graph: Graph, costing: Costing, request: SnapRequest): Snapped | null {
  const snapper = new Snapper(graph, costing, request)
  return snapper.run()
}

/** A candidate before the penalties are known. */
type Found = Omit<Candidate, 'penalty'>

class Snapper {
  readonly #graph: Graph
  readonly #costing: Costing
  readonly #request: SnapRequest
  /** Name of the street that was asked for, in lower case. */
  readonly #street: string | null
  readonly #taken = new Set<number>()
  readonly #found: Found[] = []
  readonly #filtered: Found[] = []

  constructor(graph: Graph, costing: Costing, request: SnapRequest) {
    this.#graph = graph
    this.#costing = costing
    this.#request = request
    this.#street = request.street?.trim().toLowerCase() ?? null
  }

  run(): Snapped | null {
    for (const projection of this.#nearest()) this.#correlate(projection)
    const { heading, through } = this.#request
    let found = this.#found
    let filtered = this.#filtered
    if (through && heading !== null) {
      // The heading is that of leaving; edges that only arrive would contradict it.
      filtered = [...filtered, ...found.filter((candidate) => candidate.along === 1)]
      found = found.filter((candidate) => candidate.along < 1)
    }
    if (found.length === 0) {
      const seen = new Set<number>()
      found = filtered.filter(({ edge }) => !seen.has(edge) && seen.add(edge))
      filtered = []
    }
    return found.length === 0 ? null : this.#ranked(found, filtered)
  }

  /** The nearest geometries that may be used: the best reachable one, those in the radius, and islands before it. */
  #nearest(): Projection[] {
    const graph = this.#graph
    const { lon, lat, radius, searchCutoff, street, isReachable } = this.#request
    const edgesOf = shapeEdges(graph)
    const reachable: Projection[] = []
    const islands: Projection[] = []
    // With a place found, what lies in the radius still counts, and what is a little farther on the street that was named.
    const farthest = Math.min(searchCutoff, Math.max(radius, street === null ? 0 : STREET_METERS))
    visitNearest(
      graph,
      { lon, lat, limit: searchCutoff },
      (shape) => this.#open(edgesOf[2 * shape]!) || this.#open(edgesOf[2 * shape + 1]!),
      (projection) => {
        const { shape } = projection
        const inRadius = projection.meters < radius
        if (reachable.length > 0 && !inRadius && !this.#isOnStreet(edgesOf[2 * shape]!)) return farthest
        if (edgesOf.subarray(2 * shape, 2 * shape + 2).some((edge) => this.#open(edge) && isReachable(edge)))
          reachable.push(projection)
        else if (inRadius || islands.length === 0) islands.push(projection)
        return reachable.length > 0 ? farthest : searchCutoff
      },
    )
    return [...reachable, ...islands].toSorted((a, b) => a.meters - b.meters)
  }

  #open(edge: number): boolean {
    return this.#costing.snapOpen(edge) && !this.#excluded(edge)
  }

  #excluded(edge: number): boolean {
    const { filter } = this.#request
    const info = this.#graph.edgeInfo[edge]!
    const traffic = this.#graph.edgeTraffic[edge]!
    const roadClass = get(info, EdgeField.roadClass)
    const use = get(info, EdgeField.use)
    return (
      roadClass > filter.minRoadClass ||
      roadClass < filter.maxRoadClass ||
      (filter.excludeTunnel && get(traffic, TrafficField.tunnel) === 1) ||
      (filter.excludeBridge && get(traffic, TrafficField.bridge) === 1) ||
      (filter.excludeToll && get(traffic, TrafficField.toll) === 1) ||
      (filter.excludeRamp && use === Use.ramp) ||
      (filter.excludeFerry && (use === Use.ferry || use === Use.railFerry))
    )
  }

  #correlate(projection: Projection): void {
    const graph = this.#graph
    const first = graph.firstPoint[projection.shape]!
    const last = graph.firstPoint[projection.shape + 1]! - 1
    const atFirst = this.#isAt(first, projection)
    const atLast = this.#isAt(last, projection)
    const ahead = forwardEdge(graph, projection.shape)
    if (atFirst) this.#correlateNode(graph.edgeHead[graph.edgeOpposite[ahead]!]!, projection)
    else if (atLast) this.#correlateNode(graph.edgeHead[ahead]!, projection)
    else this.#correlateEdge(ahead, projection)
  }

  /** Whether the projection is an end of its geometry, or the location is so near the end that it counts as that. */
  #isAt(point: number, { lon, lat }: Projection): boolean {
    const x = this.#graph.pointLon[point]! / 1e6
    const y = this.#graph.pointLat[point]! / 1e6
    if (lon === x && lat === y) return true
    return distanceMeters(this.#request.lon, this.#request.lat, x, y) < this.#request.nodeSnapTolerance
  }

  #correlateNode(node: number, projection: Projection): void {
    const graph = this.#graph
    const lon = graph.nodeLon[node]! / 1e7
    const lat = graph.nodeLat[node]! / 1e7
    const meters = distanceMeters(this.#request.lon, this.#request.lat, lon, lat)
    if (meters > this.#request.searchCutoff) return
    for (let edge = graph.firstEdge[node]!; edge < graph.firstEdge[node + 1]!; edge++) {
      const opposite = graph.edgeOpposite[edge]!
      const heading = this.#headingAt(edge, projection, true)
      this.#add({ edge, along: 0, lon, lat, meters, side: null, heading })
      this.#add({ edge: opposite, along: 1, lon, lat, meters, side: null, heading: (heading + 180) % 360 })
    }
  }

  /** @param ahead the edge in the order of the points */
  #correlateEdge(ahead: number, projection: Projection): void {
    const graph = this.#graph
    const { lon, lat } = projection
    const meters = distanceMeters(this.#request.lon, this.#request.lat, lon, lat)
    if (meters > this.#request.searchCutoff) return
    const length = graph.edgeLength[ahead]!
    const along = Math.min(walkedTo(graph, projection), length) / length
    const heading = this.#headingAt(ahead, projection, false)
    const side = this.#sideOf(projection, heading)
    this.#add({ edge: ahead, along, lon, lat, meters, side, heading })
    const opposite = graph.edgeOpposite[ahead]!
    const mirrored = side === 'left' ? 'right' : side === 'right' ? 'left' : null
    this.#add({ edge: opposite, along: 1 - along, lon, lat, meters, side: mirrored, heading: (heading + 180) % 360 })
  }

  #add(found: Found): void {
    if (!this.#open(found.edge)) return
    if (this.#wrongHeading(found.heading) || this.#wrongSide(found)) {
      this.#filtered.push(found)
      return
    }
    if (this.#taken.has(found.edge)) return
    this.#taken.add(found.edge)
    this.#found.push(found)
  }

  #wrongHeading(heading: number): boolean {
    const wanted = this.#request.heading
    if (wanted === null) return false
    const difference = Math.abs(wanted - heading)
    return Math.min(difference, 360 - difference) > this.#request.headingTolerance
  }

  #wrongSide({ edge, side }: Found): boolean {
    const { preferredSide, streetSideCutoff } = this.#request
    if (side === null || preferredSide === 'either') return false
    const graph = this.#graph
    if (get(graph.edgeInfo[edge]!, EdgeField.roadClass) > streetSideCutoff) return false
    const tail = graph.edgeHead[graph.edgeOpposite[edge]!]!
    const onRight = get(graph.nodeInfo[tail]!, NodeField.driveOnRight) === 1
    const same = onRight === (side === 'right')
    return same !== (preferredSide === 'same')
  }

  #sideOf({ lon, lat, meters }: Projection, heading: number): Side {
    const { displayLon, displayLat, streetSideTolerance, streetSideMaxDistance } = this.#request
    const x = displayLon ?? this.#request.lon
    const y = displayLat ?? this.#request.lat
    const distance = displayLon === null ? meters : distanceMeters(x, y, lon, lat)
    if (distance < streetSideTolerance || distance > streetSideMaxDistance) return null
    const angle = (bearingDegrees(lon, lat, x, y) - heading + 360) % 360
    if (angle > 10 && angle < 170) return 'right'
    return angle > 190 && angle < 350 ? 'left' : null
  }

  /** Heading of an edge where a location is put, over a stretch to both sides of it. */
  #headingAt(edge: number, projection: Projection, atNode: boolean): number {
    const graph = this.#graph
    const info = graph.edgeInfo[edge]!
    const forward = get(info, EdgeField.forward) === 1
    const shape = graph.edgeShape[edge]!
    const points = graph.firstPoint[shape + 1]! - graph.firstPoint[shape]!
    const segment = atNode ? (forward ? 0 : points - 2) : projection.segment
    const lon = atNode ? graph.nodeLon[graph.edgeHead[graph.edgeOpposite[edge]!]!]! / 1e7 : projection.lon
    const lat = atNode ? graph.nodeLat[graph.edgeHead[graph.edgeOpposite[edge]!]!]! / 1e7 : projection.lat
    const reach = headingMeters(get(info, EdgeField.roadClass), get(info, EdgeField.use))
    return tangent(graph, shape, segment, lon, lat, reach, forward)
  }

  #ranked(found: readonly Found[], filtered: readonly Found[]): Snapped {
    const { rankCandidates } = this.#request
    const farthest = Math.max(...found.map((candidate) => candidate.meters))
    const score = (meters: number): number => (rankCandidates ? meters * meters * PENALTY_PER_SQUARE_METER : 0)
    const onStreet = found.map((candidate) => this.#isOnStreet(candidate.edge))
    const scores = found.map((candidate, i) => (onStreet[i]! ? 0 : score(candidate.meters)))
    const least = Math.min(...scores)
    const most = PROFILES[this.#costing.mode].farPenalty
    const penalty = (value: number): number => Math.min(value - least, most)
    const elsewhere = onStreet.includes(true) ? STREET_PENALTY : 0
    return {
      candidates: found.map((candidate, i) => ({
        ...candidate,
        penalty: penalty(scores[i]!) + (onStreet[i]! ? 0 : elsewhere),
      })),
      filtered: filtered.map((candidate) => ({
        ...candidate,
        penalty: penalty(score(candidate.meters + FILTERED_METERS + farthest)),
      })),
    }
  }

  #isOnStreet(edge: number): boolean {
    return this.#street !== null && edgeHasName(this.#graph, edge, this.#street)
  }
}

/** How far the street that is named may be, and seconds of penalty for being put elsewhere. */
const STREET_METERS = 50
const STREET_PENALTY = 600

/** Whether one of the names of an edge is a given one, which is in lower case, apart from case. */
function edgeHasName(graph: Graph, edge: number, name: string): boolean {
  const list = graph.edgeNames[edge]!
  const decoder = new TextDecoder()
  for (let i = graph.firstName[list]!; i < graph.firstName[list + 1]!; i++) {
    const text = graph.nameText[i]! >>> 1
    const bytes = graph.textBytes.slice(graph.firstByte[text], graph.firstByte[text + 1])
    if (decoder.decode(bytes).toLowerCase() === name) return true
  }
  return false
}

function forwardEdge(graph: Graph, shape: number): number {
  return shapeEdges(graph)[2 * shape]!
}
