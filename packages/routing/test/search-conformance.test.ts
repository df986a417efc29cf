import { randomCases } from '@terrane/testing/property'
import { describe, expect, it } from 'vitest'

import { bidirectionalSearch } from '../src/search/bidirectional.ts'
import { hierarchySearch } from '../src/search/cch/hierarchy.ts'
import { customize } from './support/customize.ts'
import { contract } from '../src/search/cch/topology.ts'
import { dijkstra } from './support/dijkstra.ts'
import { ngraphSearch } from '../src/search/ngraph.ts'
import { type PathSearch, reverseArcs, type Seed, UNREACHABLE } from '../src/search/search.ts'
import { type Case, randomCase, sizeOf, shuffled } from './support/random-graph.ts'

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
    return hierarchySearch(customize(topology, graph, weights), topology)
  },
}

it.each([100, 2 ** 13])(
  'a hierarchy of arcs that weigh %i times as much finds what plain Dijkstra finds',
  (heavier) => {
    // The same graphs every day: of others the dearest paths may cost more than `UNREACHABLE`, which a hierarchy does not find.
    for (let seed = 1; seed <= 10; seed++) {
      const { graph, weights: light, xyz } = randomCase(seed, 300)
      const weights = light.map((weight) => (weight < UNREACHABLE ? weight * heavier : weight))
      const topology = contract(graph, shuffled(300, seed))
      const search = hierarchySearch(customize(topology, graph, weights), topology)
      const reference = dijkstra(graph, weights)
      for (let vertex = 0; vertex < 300; vertex++) {
        const [from, to] = [[{ vertex: 0, cost: 0 }], [{ vertex, cost: 0 }]]
        const got = search.find(from, to)
        expect(got?.cost).toBe(reference.find(from, to)?.cost)
        if (got !== null) expect(walk({ graph, weights, xyz }, from, to, got.vertices)).toBe(got.cost)
      }
    }
  },
)

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
  it('finds what plain Dijkstra finds on random graphs, from and to several seeds', async () => {
    let found = 0
    const ran = await randomCases(40, (random, seed) => {
      const given = randomCase(seed, sizeOf(seed))
      const reference = dijkstra(given.graph, given.weights)
      const search = make(given)
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
        expect(got?.cost ?? null, `query ${query}`).toBe(want?.cost ?? null)
        if (got === null) continue
        found++
        expect(walk(given, sources, targets, got.vertices), `path of query ${query}`).toBe(got.cost)
      }
    })
    expect(found).toBeGreaterThan(12 * ran)
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
