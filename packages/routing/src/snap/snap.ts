import type { Costing } from '../cost/costing.ts'
import { bearingDegrees, distanceMeters } from '../geometry/geodesy.ts'
import { EdgeField, get, NodeField } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import { headingMeters } from '../geometry/heading.ts'
import type { Found, Side, Snapped } from './candidate.ts'
import { type Projection, visitNearest } from './nearest.ts'
import { ranked } from './rank.ts'
import { isFiltered, type SnapRequest } from './request.ts'
import { shapeEdges } from './shape-edges.ts'
import { tangent, walkedTo } from './tangent.ts'

/** Snaps a location to the network; null when no street is near. */
export function snap(graph: Graph, costing: Costing, request: SnapRequest): Snapped | null {
  const snapper = new Snapper(graph, costing, request)
  return snapper.run()
}

class Snapper {
  readonly #graph: Graph
  readonly #costing: Costing
  readonly #request: SnapRequest
  /** Requested name of the street, in lower case. */
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
      // The heading refers to leaving, so edges that are only arrived at would contradict it.
      filtered = [...filtered, ...found.filter((candidate) => candidate.along === 1)]
      found = found.filter((candidate) => candidate.along < 1)
    }
    if (found.length === 0) {
      const seen = new Set<number>()
      found = filtered.filter(({ edge }) => !seen.has(edge) && seen.add(edge))
      filtered = []
    }
    return found.length === 0
      ? null
      : ranked(found, filtered, {
          mode: this.#costing.mode,
          byDistance: this.#request.rankCandidates,
          isOnStreet: (edge) => this.#isOnStreet(edge),
        })
  }

  /** The nearest usable geometries: the best reachable one, those within the radius, and nearer islands. */
  #nearest(): Projection[] {
    const graph = this.#graph
    const { lon, lat, radius, searchCutoff, street, isReachable } = this.#request
    const edgesOf = shapeEdges(graph)
    const reachable: Projection[] = []
    const islands: Projection[] = []
    // After the first place, only places within the radius count, and those a little farther on the named street.
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
    return this.#costing.snapOpen(edge) && !isFiltered(this.#graph, this.#request.filter, edge, this.#costing.access)
  }

  #correlate(projection: Projection): void {
    const graph = this.#graph
    const first = graph.firstPoint[projection.shape]!
    const last = graph.firstPoint[projection.shape + 1]! - 1
    const toFirst = this.#metersToEnd(first, projection)
    const toLast = this.#metersToEnd(last, projection)
    const ahead = shapeEdges(graph)[2 * projection.shape]!
    if (Math.min(toFirst, toLast) >= this.#request.nodeSnapTolerance) this.#correlateEdge(ahead, projection)
    else if (toFirst <= toLast) this.#correlateNode(graph.edgeHead[graph.edgeOpposite[ahead]!]!, projection)
    else this.#correlateNode(graph.edgeHead[ahead]!, projection)
  }

  /** Metres from the location to an end of a geometry; −1, less than any distance, when the projection is that end. */
  #metersToEnd(point: number, { lon, lat }: Projection): number {
    const x = this.#graph.pointLon[point]! / 1e6
    const y = this.#graph.pointLat[point]! / 1e6
    return lon === x && lat === y ? -1 : distanceMeters(this.#request.lon, this.#request.lat, x, y)
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
    // Lengths are in whole metres; a place near an end stays strictly between both ends.
    const walked = Math.min(Math.max(walkedTo(graph, projection), INSIDE_METERS), length - INSIDE_METERS)
    const along = walked / length
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

  /** Heading of an edge at a snapped location, measured over a section on both sides of it. */
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

  #isOnStreet(edge: number): boolean {
    return this.#street !== null && edgeHasName(this.#graph, edge, this.#street)
  }
}

/** Minimum metres between a place on an edge and its ends. */
const INSIDE_METERS = 0.01
/** Maximum distance of the named street, in metres. */
const STREET_METERS = 50

/** Whether an edge has a name (given in lower case), ignoring case. */
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
