import type { Graph } from '../graph/graph.ts'
import type { PathEdge } from '../path/path.ts'
import { EdgeLine, type EdgePlace } from './edge-line.ts'
import type { Chain } from './matcher.ts'
import { pathOfChain } from './path.ts'
import type { TracePoint } from './trace.ts'

/** Place of a point of a trace on its path. */
export interface PointPlace extends EdgePlace {
  /** Index of the point in the trace. */
  readonly point: number
  /** Index of the edge in the path. */
  readonly index: number
  /** Whether the point was matched itself, or placed on the path of other points. */
  readonly type: 'matched' | 'interpolated'
  /** Number of other streets that match the point almost as well. */
  readonly rivals: number
}

/** A part of a trace and its path. */
export interface Matching {
  readonly edges: readonly PathEdge[]
  /** Places of the points, in the order of the trace; outliers have none. */
  readonly places: readonly PointPlace[]
  /** Agreement of the lengths of the trace and of the path, 0 … 1. */
  readonly confidence: number
}

/** Number of points per step. */
const STEP = 64

/** The path of a chain, with a place for each of its points; empty texts yield to other requests. */
export function* matchingOf(graph: Graph, points: readonly TracePoint[], chain: Chain): Generator<string, Matching> {
  const { edges, places: anchors } = pathOfChain(graph, chain)
  const lines = new Map<number, EdgeLine>()
  const lineOf = (edge: number): EdgeLine => {
    const line = lines.get(edge) ?? new EdgeLine(graph, edge)
    lines.set(edge, line)
    return line
  }
  const places: PointPlace[] = []
  let from: Anchor = anchors[0]!
  for (const [i, { first, last }] of chain.groups.entries()) {
    const rivals = chain.rivals[i]!
    // Places are in order along the path.
    from = later(from, anchors[Math.max(0, i - 1)]!)
    const to = anchors[Math.min(anchors.length - 1, i + 1)]!
    for (let point = first; point <= last; point++) {
      if (point % STEP === 0) yield ''
      const { lon, lat } = points[point]!
      const type = point === first ? 'matched' : 'interpolated'
      if (first === last) {
        const { index, along } = (from = later(from, anchors[i]!))
        const line = lineOf(edges[index]!.edge)
        places.push({ point, index, along, ...line.at(along), meters: line.metersFrom(along, lon, lat), type, rivals })
        continue
      }
      const place = nearestBetween(edges, lineOf, points[point]!, { from, to })
      from = place
      places.push({ point, ...place, type, rivals })
    }
  }
  return { edges, places, confidence: confidenceOf(graph, chain, edges) }
}

interface Anchor {
  readonly index: number
  readonly along: number
}

function later(a: Anchor, b: Anchor): Anchor {
  return a.index > b.index || (a.index === b.index && a.along > b.along) ? a : b
}

/** The place on a path, between two of its places, that is nearest to a point. */
function nearestBetween(
  edges: readonly PathEdge[],
  lineOf: (edge: number) => EdgeLine,
  { lon, lat }: { lon: number; lat: number },
  { from, to }: { from: Anchor; to: Anchor },
): EdgePlace & { index: number } {
  let best: (EdgePlace & { index: number }) | null = null
  for (let index = from.index; index <= to.index; index++) {
    const { edge, begin, end } = edges[index]!
    const least = index === from.index ? from.along : begin
    const most = index === to.index ? to.along : end
    const place = lineOf(edge).project(lon, lat, least, Math.max(least, most))
    // Shares are sums and may have a rounding error in the last digit.
    if (best === null || place.meters < best.meters) best = { index, ...place, along: Math.max(least, place.along) }
  }
  return best!
}

function confidenceOf({ edgeLength }: Graph, { groups }: Chain, edges: readonly PathEdge[]): number {
  let trace = 0
  for (let i = 1; i < groups.length; i++) {
    trace += Math.hypot(groups[i]!.x - groups[i - 1]!.x, groups[i]!.y - groups[i - 1]!.y)
  }
  const path = edges.reduce((sum, { edge, begin, end }) => sum + edgeLength[edge]! * (end - begin), 0)
  // Differences below the width of a street are not significant.
  return (Math.min(trace, path) + 20) / (Math.max(trace, path) + 20)
}
