import { VertexHeap } from '../../src/search/heap.ts'
import {
  type ArcGraph,
  type ArcWeights,
  type FoundPath,
  type PathSearch,
  type Seed,
  UNREACHABLE,
} from '../../src/search/search.ts'

const NONE = 0xffffffff

/**
 * The plain algorithm of Dijkstra: no preparation, no heuristic. Every other search is compared with it.
 * O((vertices + arcs) log vertices) per query.
 */
export function dijkstra(graph: ArcGraph, weights: ArcWeights): PathSearch {
  const { vertexCount, firstOut, head } = graph
  const heap = new VertexHeap(vertexCount)
  const distance = new Float64Array(vertexCount).fill(Infinity)
  const parent = new Uint32Array(vertexCount)
  const touched: number[] = []

  function reach(vertex: number, cost: number, from: number): void {
    if (cost >= distance[vertex]!) return
    if (distance[vertex] === Infinity) touched.push(vertex)
    distance[vertex] = cost
    parent[vertex] = from
    heap.offer(vertex, cost)
  }

  return {
    find(sources: readonly Seed[], targets: readonly Seed[]): FoundPath | null {
      const ends = new Map<number, number>()
      let cheapestEnd = Infinity
      for (const { vertex, cost } of targets) {
        ends.set(vertex, Math.min(cost, ends.get(vertex) ?? Infinity))
        cheapestEnd = Math.min(cheapestEnd, cost)
      }
      for (const { vertex, cost } of sources) reach(vertex, cost, NONE)
      let best = Infinity
      let last = NONE
      while (heap.size > 0 && heap.minKey + cheapestEnd < best) {
        const vertex = heap.pop()
        const cost = distance[vertex]!
        const end = ends.get(vertex)
        if (end !== undefined && cost + end < best) {
          best = cost + end
          last = vertex
        }
        for (let arc = firstOut[vertex]!; arc < firstOut[vertex + 1]!; arc++) {
          if (weights[arc]! < UNREACHABLE) reach(head[arc]!, cost + weights[arc]!, vertex)
        }
      }
      const vertices: number[] = []
      for (let vertex = last; vertex !== NONE; vertex = parent[vertex]!) vertices.push(vertex)
      for (const vertex of touched) distance[vertex] = Infinity
      touched.length = 0
      heap.reset()
      return last === NONE ? null : { cost: best, vertices: vertices.toReversed() }
    },
  }
}
