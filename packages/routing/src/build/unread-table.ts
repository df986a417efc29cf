import type { Graph, GraphArrays } from '../graph/graph.ts'
import { TextReader } from '../graph/texts.ts'
import type { UnreadTurn } from './collect.ts'
import type { EdgeTable } from './edges.ts'
import type { NodeFacts } from './tags/node.ts'
import type { UnreadTag } from './tags/unread.ts'
import type { WayFacts } from './tags/way.ts'

interface UnreadInputs {
  readonly edges: EdgeTable
  readonly wayFactsOf: (edge: number) => WayFacts
  readonly factsOf: (node: number) => NodeFacts
  /** The facts of the points between the ends of an edge. */
  readonly factsAlong: (edge: number) => Iterable<NodeFacts>
  readonly nodeOf: (id: number) => number
  readonly edgesOf: (way: number) => readonly number[]
  readonly textOf: (text: string) => number
}

/** Unsupported conditions by edge and node, from ways, barriers and turn restrictions. */
export function unreadTable(
  turns: readonly UnreadTurn[],
  { edges, wayFactsOf, factsOf, factsAlong, nodeOf, edgesOf, textOf }: UnreadInputs,
): Pick<GraphArrays, 'unreadPlace' | 'unreadModes' | 'unreadText'> {
  const found: { place: number; modes: number; text: number }[] = []
  const add = (place: number, { modes, text }: UnreadTag): void => void found.push({ place, modes, text: textOf(text) })
  const firstNode = edges.head.length
  for (let edge = 0; edge < firstNode; edge++) {
    const against = edges.forward[edge] === 1 ? BACKWARD : FORWARD
    for (const tag of wayFactsOf(edge).unread) if (!tag.text.includes(against)) add(edge, tag)
    for (const { ford } of factsAlong(edge)) for (const tag of ford) add(edge, tag)
  }
  for (let node = 0; node < edges.nodeCount; node++) {
    const { unread, ford } = factsOf(node)
    for (const tag of [...unread, ...ford]) add(firstNode + node, tag)
  }
  for (const turn of turns) {
    const node = Number.isNaN(turn.viaNode) ? -1 : nodeOf(turn.viaNode)
    if (node >= 0) add(firstNode + node, turn)
    for (const way of turn.viaWays) for (const edge of edgesOf(way)) add(edge, turn)
  }
  found.sort((a, b) => a.place - b.place)
  return {
    unreadPlace: Uint32Array.from(found, ({ place }) => place),
    unreadModes: Uint16Array.from(found, ({ modes }) => modes),
    unreadText: Uint32Array.from(found, ({ text }) => text),
  }
}

/** An unsupported tag, and the number of ways and nodes with it. */
export interface UnreadCount {
  readonly tag: string
  readonly count: number
}

/** Maximum number of tags that a graph file lists. */
const MOST_COUNTS = 1000

/** Counts of each unsupported tag on the map, the most frequent first. */
export function unreadCounts(graph: Graph): UnreadCount[] {
  const { unreadPlace, unreadText, edgeCount, edgeShape, shapeWay } = graph
  const texts = new TextReader(graph)
  const places = new Map<number, Set<number>>()
  unreadPlace.forEach((place, i) => {
    // Nodes get negative numbers, which no way has.
    const element = place < edgeCount ? shapeWay[edgeShape[place]!]! : -1 - place
    const known = places.get(unreadText[i]!)
    if (known === undefined) places.set(unreadText[i]!, new Set([element]))
    else known.add(element)
  })
  return Array.from(places, ([text, { size }]) => ({ tag: texts.text(text), count: size }))
    .toSorted((a, b) => b.count - a.count || (a.tag < b.tag ? -1 : 1))
    .slice(0, MOST_COUNTS)
}

const FORWARD = ':forward:conditional='
const BACKWARD = ':backward:conditional='
