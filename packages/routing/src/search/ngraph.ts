import createGraph, { type Graph, type Node, type NodeId } from 'ngraph.graph'
import { nba } from 'ngraph.path'

import { type ArcGraph, type ArcWeights, type FoundPath, type PathSearch, type Seed, UNREACHABLE } from './search.ts'

/** Reserved names of the two nodes that stand for all sources and all targets of a query. */
const SOURCE = 'source'
const TARGET = 'target'

/**
 * NBA* of ngraph.path behind the interface of the other searches. It needs no preparation but a copy of the graph, at
 * some hundred bytes per arc: a reference written by others, not a competitor.
 */
export function ngraphSearch(graph: ArcGraph, weights: ArcWeights): PathSearch {
  const copy: Graph<undefined, number> = createGraph()
  for (let vertex = 0; vertex < graph.vertexCount; vertex++) copy.addNode(vertex)
  for (let tail = 0; tail < graph.vertexCount; tail++) {
    for (let arc = graph.firstOut[tail]!; arc < graph.firstOut[tail + 1]!; arc++) {
      const weight = weights[arc]!
      const known = copy.getLink(tail, graph.head[arc]!)
      // Of parallel arcs only the cheapest counts.
      if (known !== undefined) known.data = Math.min(known.data, weight)
      else if (weight < UNREACHABLE) copy.addLink(tail, graph.head[arc]!, weight)
    }
  }
  const finder = nba<undefined, number>(copy, { oriented: true, distance: (_from, _to, link) => link.data })

  return {
    find(sources: readonly Seed[], targets: readonly Seed[]): FoundPath | null {
      // Its links must not weigh less than nothing, seeds may.
      const least = Math.min(0, ...sources.map((seed) => seed.cost)) + Math.min(0, ...targets.map((seed) => seed.cost))
      attach(copy, sources, (vertex, weight) => copy.addLink(SOURCE, vertex, weight - least))
      attach(copy, targets, (vertex, weight) => copy.addLink(vertex, TARGET, weight - least))
      const path = sources.length > 0 && targets.length > 0 ? finder.find(SOURCE, TARGET) : []
      const nodes = path.toReversed()
      const cost = costOf(copy, nodes) + 2 * least
      copy.removeNode(SOURCE)
      copy.removeNode(TARGET)
      return nodes.length === 0 ? null : { cost, vertices: nodes.slice(1, -1).map((node) => Number(node.id)) }
    },
  }
}

function attach(
  graph: Graph<undefined, number>,
  seeds: readonly Seed[],
  link: (vertex: number, weight: number) => unknown,
): void {
  const cheapest = new Map<number, number>()
  for (const { vertex, cost } of seeds) cheapest.set(vertex, Math.min(cost, cheapest.get(vertex) ?? Infinity))
  for (const [vertex, cost] of cheapest) if (graph.hasNode(vertex) !== undefined) link(vertex, cost)
}

function costOf(graph: Graph<undefined, number>, nodes: readonly Node<undefined>[]): number {
  const weight = (from: NodeId, to: NodeId): number => graph.getLink(from, to)?.data ?? 0
  let cost = 0
  for (let i = 1; i < nodes.length; i++) cost += weight(nodes[i - 1]!.id, nodes[i]!.id)
  return cost
}
