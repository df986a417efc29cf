import { seededRandom } from '@terrane/core'
import { describe, expect, it } from 'vitest'

import { bidirectionalSearch } from '../src/search/bidirectional.ts'
import { hierarchySearch } from '../src/search/cch/hierarchy.ts'
import { customize } from '../src/search/cch/metric.ts'
import { contract } from '../src/search/cch/topology.ts'
import { dijkstra } from './support/dijkstra.ts'
import { ngraphSearch } from '../src/search/ngraph.ts'
import {
  type ArcGraph,
  type ArcWeights,
  type PathSearch,
  reverseArcs,
  type Seed,
  UNREACHABLE,
} from '../src/search/search.ts'

interface Case {
  readonly graph: ArcGraph
  readonly weights: ArcWeights
  readonly xyz: Float32Array
}

/** A random directed graph: points in a square, arcs to some neighbours, a few closed, some parallel, some one-way. */
function randomCase(seed: number, vertexCount: number): Case {
  const random = seededRandom(seed)
  const pick = (n: number): number => Math.floor(random() * n)
  const xyz = Float32Array.from({ length: 3 * vertexCount }, (_, i) => (i % 3 === 2 ? 0 : random() * 1000))
  const heads: number[][] = Array.from({ length: vertexCount }, () => [])
  for (let vertex = 0; vertex < vertexCount; vertex++) {
    const degree = pick(5)
    for (let i = 0; i < degree; i++) {
      const other = Math.max(0, Math.min(vertexCount - 1, vertex + pick(21) - 10))
      heads[vertex]!.push(other)
      if (random() < 0.5) heads[other]!.push(vertex)
    }
  }
  const firstOut = new Uint32Array(vertexCount + 1)
  for (let v = 0; v < vertexCount; v++) firstOut[v + 1] = firstOut[v]! + heads[v]!.length
  const head = Uint32Array.from(heads.flat())
  const weights = new Int32Array(head.length)
  for (let v = 0; v < vertexCount; v++) {
    for (let arc = firstOut[v]!; arc < firstOut[v + 1]!; arc++) {
      const length = Math.hypot(xyz[3 * v]! - xyz[3 * head[arc]!]!, xyz[3 * v + 1]! - xyz[3 * head[arc]! + 1]!)
      weights[arc] = random() < 0.05 ? UNREACHABLE : Math.ceil(length * 3 * (1 + random()))
    }
  }
  return { graph: { vertexCount, firstOut, head }, weights, xyz }
}

function shuffled(count: number, seed: number): Uint32Array {
  const random = seededRandom(seed)
  const order = Uint32Array.from({ length: count }, (_, i) => i)
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    ;[order[i], order[j]] = [order[j]!, order[i]!]
  }
  return order
}

const searches: Record<string, (given: Case) => PathSearch> = {
  'ngraph.path NBA*': ({ graph, weights }) => ngraphSearch(graph, reverseArcs(graph), (arc) => weights[arc]!),
  'bidirectional Dijkstra': ({ graph, weights }) =>
    bidirectionalSearch(graph, reverseArcs(graph), { weight: (arc) => weights[arc]! }),
  'bidirectional A*': ({ graph, weights, xyz }) =>
    bidirectionalSearch(graph, reverseArcs(graph), {
      weight: (arc) => weights[arc]!,
      position: { xyz },
      weightPerMeter: 3,
    }),
  'hierarchy in a random order': ({ graph, weights }) => {
    const topology = contract(graph, shuffled(graph.vertexCount, 7))
    return hierarchySearch(customize(topology, weights), topology)
  },
}

/** The cost of a path by its vertices, or NaN where two of them are not joined. */
function walk({ graph, weights }: Case, sources: Seed[], targets: Seed[], vertices: number[]): number {
  const seed = (seeds: Seed[], vertex: number): number =>
    Math.min(...seeds.filter((s) => s.vertex === vertex).map((s) => s.cost))
  let cost = seed(sources, vertices[0]!) + seed(targets, vertices.at(-1)!)
  for (let i = 1; i < vertices.length; i++) {
    let step = UNREACHABLE
    for (let arc = graph.firstOut[vertices[i - 1]!]!; arc < graph.firstOut[vertices[i - 1]! + 1]!; arc++) {
      if (graph.head[arc] === vertices[i]) step = Math.min(step, weights[arc]!)
    }
    cost += step < UNREACHABLE ? step : Number.NaN
  }
  return cost
}

describe.each(Object.entries(searches))('%s', (_name, make) => {
  it('finds what plain Dijkstra finds on random graphs, from and to several seeds', () => {
    let found = 0
    for (let seed = 1; seed <= 40; seed++) {
      const given = randomCase(seed, 5 + seed * 4)
      const reference = dijkstra(given.graph, given.weights)
      const search = make(given)
      const random = seededRandom(seed)
      const seeds = (lowest: number): Seed[] =>
        Array.from({ length: 1 + Math.floor(random() * 3) }, () => ({
          vertex: Math.floor(random() * given.graph.vertexCount),
          cost: Math.floor(lowest + random() * 500),
        }))
      for (let query = 0; query < 30; query++) {
        const sources = seeds(0)
        const targets = seeds(-200)
        const want = reference.find(sources, targets)
        const got = search.find(sources, targets)
        expect(got?.cost ?? null, `graph ${seed}, query ${query}`).toBe(want?.cost ?? null)
        if (got === null) continue
        found++
        expect(walk(given, sources, targets, got.vertices), `path of graph ${seed}, query ${query}`).toBe(got.cost)
      }
    }
    expect(found).toBeGreaterThan(500)
  })

  it('finds the way of a single vertex, and none between separate vertices', () => {
    const given: Case = {
      graph: { vertexCount: 2, firstOut: Uint32Array.of(0, 0, 0), head: new Uint32Array(0) },
      weights: new Int32Array(0),
      xyz: new Float32Array(6),
    }
    const search = make(given)
    expect(search.find([{ vertex: 1, cost: 5 }], [{ vertex: 1, cost: -2 }])).toEqual({ cost: 3, vertices: [1] })
    expect(search.find([{ vertex: 0, cost: 0 }], [{ vertex: 1, cost: 0 }])).toBeNull()
    expect(search.find([{ vertex: 1, cost: 5 }], [{ vertex: 1, cost: -2 }])).toEqual({ cost: 3, vertices: [1] })
  })
})
