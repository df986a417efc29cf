import { Use } from '../graph/attributes.ts'
import { EdgeField, get, TrafficField } from '../graph/fields.ts'
import { paysToll } from '../graph/toll.ts'
import type { Graph } from '../graph/graph.ts'

/** A location and its conditions for snapping. */
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
  /** Name of the preferred street; it decides between similar candidates. */
  readonly street: string | null
  /** Whether an edge has the reach that the location requires. */
  readonly isReachable: (edge: number) => boolean
}

/** Kinds of edges that a location must not be snapped to. */
export interface SnapFilter {
  readonly excludeTunnel: boolean
  readonly excludeBridge: boolean
  readonly excludeToll: boolean
  readonly excludeRamp: boolean
  readonly excludeFerry: boolean
  readonly minRoadClass: number
  readonly maxRoadClass: number
}

/** Whether a filter excludes an edge for a mode, given by its access bit. */
export function isFiltered(graph: Graph, filter: SnapFilter, edge: number, access: number): boolean {
  const { edgeInfo, edgeTraffic } = graph
  const info = edgeInfo[edge]!
  const traffic = edgeTraffic[edge]!
  const roadClass = get(info, EdgeField.roadClass)
  const use = get(info, EdgeField.use)
  return (
    roadClass > filter.minRoadClass ||
    roadClass < filter.maxRoadClass ||
    (filter.excludeTunnel && get(traffic, TrafficField.tunnel) === 1) ||
    (filter.excludeBridge && get(traffic, TrafficField.bridge) === 1) ||
    (filter.excludeToll && paysToll(graph, edge, access)) ||
    (filter.excludeRamp && use === Use.ramp) ||
    (filter.excludeFerry && (use === Use.ferry || use === Use.railFerry))
  )
}
