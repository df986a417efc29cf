import { VertexHeap } from './heap.ts'
import { type ArcGraph, type FoundPath, type PathSearch, type Seed, UNREACHABLE } from './search.ts'

const NONE = 0xffffffff

/** Parameters of a timed search besides the graph. */
export interface TimedOptions {
  /** Weight of an arc at the usual speed and without timed rules. */
  readonly weight: (arc: number, tail: number) => number
  /** Seconds of an arc (the turn and the edge after it), given the seconds at its tail. */
  readonly seconds: (arc: number, tail: number, passed: number) => number
  /**
   * Extra cost of an arc, from the seconds between the departure and leaving its tail; infinite when it is closed at
   * that time.
   *
   * @param before the vertex some steps before the tail, which is step 0; −1 when there is none
   */
  readonly extra: (arc: number, tail: number, seconds: number, before: (steps: number) => number) => number
  /** A lower bound of the cost from a vertex to the targets. */
  readonly estimate: (vertex: number) => number
}

/**
 * A* with time: closures depend on the time of arrival, so it runs forward from the start and each vertex stores the
 * seconds of its cheapest path. Exact unless waiting for an opening would be cheaper. O((vertices + arcs) log
 * vertices).
 */
export function timedSearch({ vertexCount, firstOut, head }: ArcGraph, options: TimedOptions): PathSearch {
  const { weight, seconds, extra, estimate } = options
  return {
    find(sources: readonly Seed[], targets: readonly Seed[]): FoundPath | null {
      const heap = new VertexHeap(vertexCount)
      const cost = new Float64Array(vertexCount).fill(Infinity)
      const time = new Float64Array(vertexCount)
      const parent = new Uint32Array(vertexCount).fill(NONE)
      const ends = new Map<number, number>()
      let least = Infinity
      for (const { vertex, cost: end } of targets) {
        ends.set(vertex, Math.min(end, ends.get(vertex) ?? Infinity))
        least = Math.min(least, end)
      }
      for (const { vertex, cost: start, seconds: passed = 0 } of sources) {
        if (start >= cost[vertex]!) continue
        cost[vertex] = start
        time[vertex] = passed
        heap.offer(vertex, start + estimate(vertex))
      }
      let best = Infinity
      let last = NONE
      while (heap.size > 0 && heap.minKey + least < best) {
        const tail = heap.pop()
        const end = ends.get(tail)
        if (end !== undefined && cost[tail]! + end < best) {
          best = cost[tail]! + end
          last = tail
        }
        const before = (steps: number): number => {
          let vertex = tail
          for (let i = 0; i < steps && vertex !== NONE; i++) vertex = parent[vertex]!
          return vertex === NONE ? -1 : vertex
        }
        for (let arc = firstOut[tail]!; arc < firstOut[tail + 1]!; arc++) {
          const step = weight(arc, tail)
          if (step >= UNREACHABLE) continue
          const next = head[arc]!
          if (cost[tail]! + step >= cost[next]!) continue
          const sum = cost[tail]! + step + extra(arc, tail, time[tail]!, before)
          if (sum >= cost[next]!) continue
          cost[next] = sum
          time[next] = time[tail]! + seconds(arc, tail, time[tail]!)
          parent[next] = tail
          heap.offer(next, sum + estimate(next))
        }
      }
      if (last === NONE) return null
      const vertices: number[] = []
      for (let vertex = last; vertex !== NONE; vertex = parent[vertex]!) vertices.push(vertex)
      return { cost: best, vertices: vertices.toReversed() }
    },
  }
}
