import type { Graph, Link, Node, NodeId } from 'ngraph.graph'
import { nba } from 'ngraph.path'

import {
  type AlternativeSearch,
  type ArcGraph,
  type FoundPath,
  type ReverseArcs,
  type Seed,
  UNREACHABLE,
} from './search.ts'

/** The two nodes that represent all sources and all targets of a query. */
const SOURCE = -1
const TARGET = -2

/**
 * NBA* of ngraph.path (Pijls and Post 2009) behind the interface of the other searches: an independent reference. It
 * reads the same arrays through a view, so it needs no preparation. Without an estimate, and with an object per vertex,
 * it is about a thousand times slower than a hierarchy.
 *
 * @param weight weight of an arc; called at every visit, so it may be computed on demand
 */
export function ngraphSearch(
  graph: ArcGraph,
  reverse: ReverseArcs,
  weight: (arc: number, tail: number) => number,
): AlternativeSearch {
  const find = (sources: readonly Seed[], targets: readonly Seed[]): FoundPath | null => {
    // The search needs non-negative weights, but costs of seeds may be negative.
    const least = Math.min(...sources.map(({ cost }) => cost), ...targets.map(({ cost }) => cost))
    const [from, to] = [cheapest(sources, least), cheapest(targets, least)]
    const view = new GraphView(graph, reverse, weight, from, to)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the search calls only these two methods
    const path = nba(view as unknown as Graph<undefined, number>, {
      oriented: true,
      distance: (_a, _b, link) => link.data,
    })
    const vertices = path
      .find(SOURCE, TARGET)
      .map(({ id }) => Number(id))
      .toReversed()
      .slice(1, -1)
    if (vertices.length === 0) return null
    let cost = from.get(vertices[0]!)! + to.get(vertices.at(-1)!)! + 2 * least
    for (let i = 1; i < vertices.length; i++) cost += view.step(vertices[i - 1]!, vertices[i]!)
    return { cost, vertices }
  }
  return {
    find,
    *findSeveral(sources, targets) {
      const path = find(sources, targets)
      if (path !== null) yield path
    },
  }
}

/** Vertex → the lowest cost of its seeds, minus the lowest of all. */
function cheapest(seeds: readonly Seed[], least: number): Map<number, number> {
  const costs = new Map<number, number>()
  for (const { vertex, cost } of seeds) costs.set(vertex, Math.min(cost - least, costs.get(vertex) ?? Infinity))
  return costs
}

/** An arc graph with the interface of ngraph.path: nodes are created at the first visit, links at each visit. */
class GraphView {
  readonly #graph: ArcGraph
  readonly #reverse: ReverseArcs
  readonly #weight: (arc: number, tail: number) => number
  readonly #sources: ReadonlyMap<number, number>
  readonly #targets: ReadonlyMap<number, number>
  readonly #nodes = new Map<NodeId, Node<undefined>>()
  readonly #link: Link<number> = { id: '', fromId: SOURCE, toId: TARGET, data: 0 }

  constructor(
    graph: ArcGraph,
    reverse: ReverseArcs,
    weight: (arc: number, tail: number) => number,
    sources: ReadonlyMap<number, number>,
    targets: ReadonlyMap<number, number>,
  ) {
    this.#graph = graph
    this.#reverse = reverse
    this.#weight = weight
    this.#sources = sources
    this.#targets = targets
  }

  getNode(id: NodeId): Node<undefined> {
    let node = this.#nodes.get(id)
    if (node === undefined) this.#nodes.set(id, (node = { id, links: null, data: undefined }))
    return node
  }

  /** Visits the links of a node in both directions; the search checks their direction. */
  forEachLinkedNode(id: NodeId, visit: (other: Node<undefined>, link: Link<number>) => void): void {
    const vertex = Number(id)
    const walk = (from: number, to: number, weight: number): void => {
      if (weight >= UNREACHABLE) return
      const link = this.#link
      link.fromId = from
      link.toId = to
      link.data = weight
      visit(this.getNode(from === vertex ? to : from), link)
    }
    if (vertex === SOURCE) for (const [first, cost] of this.#sources) walk(SOURCE, first, cost)
    if (vertex === TARGET) for (const [last, cost] of this.#targets) walk(last, TARGET, cost)
    if (vertex < 0) return
    const { firstOut, head } = this.#graph
    const { firstIn, inArc, inTail } = this.#reverse
    for (let arc = firstOut[vertex]!; arc < firstOut[vertex + 1]!; arc++) {
      walk(vertex, head[arc]!, this.#weight(arc, vertex))
    }
    for (let at = firstIn[vertex]!; at < firstIn[vertex + 1]!; at++) {
      walk(inTail[at]!, vertex, this.#weight(inArc[at]!, inTail[at]!))
    }
    const [source, target] = [this.#sources.get(vertex), this.#targets.get(vertex)]
    if (source !== undefined) walk(SOURCE, vertex, source)
    if (target !== undefined) walk(vertex, TARGET, target)
  }

  /** The weight of the cheapest arc between two vertices. */
  step(tail: number, head: number): number {
    let least = UNREACHABLE
    for (let arc = this.#graph.firstOut[tail]!; arc < this.#graph.firstOut[tail + 1]!; arc++) {
      if (this.#graph.head[arc] === head) least = Math.min(least, this.#weight(arc, tail))
    }
    return least
  }
}
