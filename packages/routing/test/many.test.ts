import { seededRandom } from '@terrane/core'
import { randomCases } from '@terrane/testing/property'
import { expect, it } from 'vitest'

import { Descent } from '../src/search/cch/descent.ts'
import { Climb, labelOf } from '../src/search/cch/hierarchy.ts'
import { HierarchySweep } from '../src/search/cch/hierarchy-sweep.ts'
import { Buckets } from '../src/search/cch/many.ts'
import { customize } from './support/customize.ts'
import { contract } from '../src/search/cch/topology.ts'
import { reverseArcs, type Seed, UNREACHABLE } from '../src/search/search.ts'
import { Sweep } from '../src/search/sweep.ts'
import { dijkstra } from './support/dijkstra.ts'
import { randomCase, shuffled, sizeOf } from './support/random-graph.ts'

/** Some vertices with costs, as a location has them: one to three. */
function randomSeeds(random: () => number, vertexCount: number, lowest: number): Seed[] {
  return Array.from({ length: 1 + Math.floor(random() * 3) }, () => ({
    vertex: Math.floor(random() * vertexCount),
    cost: Math.floor(lowest + random() * 500),
  }))
}

it('rows of buckets cost what plain Dijkstra finds on random graphs, cell by cell', async () => {
  let found = 0
  const ran = await randomCases(40, (random, seed) => {
    const { graph, weights } = randomCase(seed, sizeOf(seed))
    const reference = dijkstra(graph, weights)
    const topology = contract(graph, shuffled(graph.vertexCount, seed))
    const metric = customize(topology, graph, weights)
    const climb = new Climb(graph.vertexCount)
    const sources = Array.from({ length: 7 }, () => randomSeeds(random, graph.vertexCount, 0))
    const targets = Array.from({ length: 9 }, () => randomSeeds(random, graph.vertexCount, -200))
    const buckets = new Buckets(targets.map((seeds) => labelOf(metric, topology, seeds, { direction: 'down', climb })))
    for (const [i, source] of sources.entries()) {
      const label = labelOf(metric, topology, source, { direction: 'up', climb })
      const { cost } = buckets.row(label)
      for (const [j, target] of targets.entries()) {
        const want = reference.find(source, target)?.cost ?? UNREACHABLE
        expect(cost[j], `cell ${i} ${j}`).toBe(want)
        if (want < UNREACHABLE) found++
      }
    }
  })
  expect(found).toBeGreaterThan(25 * ran)
})

it.each(['forwards', 'backwards'] as const)(
  'a sweep %s costs what plain Dijkstra finds to every vertex',
  async (direction) => {
    let found = 0
    const ran = await randomCases(30, (random, seed) => {
      const { graph, weights } = randomCase(seed, sizeOf(seed))
      const reference = dijkstra(graph, weights)
      const sweep = new Sweep(graph, () => reverseArcs(graph))
      for (let round = 0; round < 3; round++) {
        const seeds = randomSeeds(random, graph.vertexCount, -100)
        const rules = {
          weight: (arc: number) => weights[arc]!,
          // Seconds and metres are multiples of the weights, so that they show which path was summed.
          seconds: (arc: number) => weights[arc]! / 100,
          meters: (arc: number) => weights[arc]! * 2,
          leadsOn: () => true,
        }
        const begin = seeds.map(({ vertex, cost }) => ({ vertex, cost, seconds: cost / 100, meters: cost * 2 }))
        for (const steps = sweep.run(begin, rules, direction); steps.next().done !== true;);
        const reached = new Set(sweep.reached)
        for (let vertex = 0; vertex < graph.vertexCount; vertex++) {
          const end = [{ vertex, cost: 0 }]
          const want = direction === 'forwards' ? reference.find(seeds, end) : reference.find(end, seeds)
          expect(reached.has(vertex)).toBe(want !== null)
          if (want === null) continue
          found++
          expect(sweep.costOf(vertex)).toBe(want.cost)
          expect(sweep.secondsOf(vertex)).toBeCloseTo(want.cost / 100, 6)
          expect(sweep.metersOf(vertex)).toBeCloseTo(want.cost * 2, 6)
        }
      }
    })
    expect(found).toBeGreaterThan(25 * ran)
  },
)

it.each(['forwards', 'backwards'] as const)(
  'a sweep %s by a hierarchy finds what one without finds, however far it guesses to come',
  async (direction) => {
    let found = 0
    const ran = await randomCases(40, (random, seed) => {
      const { graph, weights } = randomCase(seed, sizeOf(seed))
      const topology = contract(graph, shuffled(graph.vertexCount, seed))
      const metric = customize(topology, graph, weights)
      const climb = new Climb(graph.vertexCount)
      const plain = new Sweep(graph, () => reverseArcs(graph))
      const reference = dijkstra(graph, weights)
      const fast = new HierarchySweep(graph, () => reverseArcs(graph), topology)
      for (let round = 0; round < 4; round++) {
        const seeds = randomSeeds(random, graph.vertexCount, -100)
        const most = [400, 2000, 8000, Infinity][round]!
        const rules = {
          weight: (arc: number) => weights[arc]!,
          seconds: (arc: number) => weights[arc]! / 100,
          meters: (arc: number) => weights[arc]! * 2,
          leadsOn: (seconds: number) => seconds <= most / 100,
        }
        const begin = seeds.map(({ vertex, cost }) => ({ vertex, cost, seconds: cost / 100, meters: cost * 2 }))
        for (const steps = plain.run(begin, rules, direction); steps.next().done !== true;);
        const guess = random() < 0.5 ? 1 : 5000
        const terms = { metric, climb, direction, guess }
        for (const steps = fast.run(begin, rules, terms); steps.next().done !== true;);
        // Without a hierarchy a sweep also reaches places beyond by detours.
        const reached = new Set(fast.reached)
        expect(new Set(plain.reached).isSupersetOf(reached)).toBe(true)
        for (const vertex of plain.reached) {
          if (rules.leadsOn(plain.secondsOf(vertex))) expect(reached.has(vertex)).toBe(true)
        }
        for (const vertex of reached) {
          const end = [{ vertex, cost: 0 }]
          const { cost } = (direction === 'forwards' ? reference.find(seeds, end) : reference.find(end, seeds))!
          if (!rules.leadsOn(cost / 100)) continue
          found++
          expect(fast.costOf(vertex)).toBe(cost)
          expect(fast.secondsOf(vertex)).toBeCloseTo(cost / 100, 6)
          expect(fast.metersOf(vertex)).toBeCloseTo(cost * 2, 6)
        }
      }
    })
    expect(found).toBeGreaterThan(25 * ran)
  },
)

it('a descent knows the costs within its limit, and leaves out what is below ranks that are all beyond', async () => {
  let [within, without] = [0, 0]
  const ran = await randomCases(20, (_, seed) => {
    const { graph, weights } = randomCase(seed, 400)
    const topology = contract(
      graph,
      seed % 2 === 0 ? shuffled(400, seed) : Uint32Array.from(graph.firstOut.keys().take(400)),
    )
    const metric = customize(topology, graph, weights)
    const climb = new Climb(graph.vertexCount)
    const reference = dijkstra(graph, weights)
    const descent = new Descent(topology)
    for (const limit of [2000, UNREACHABLE - 1, 5000, 500]) {
      const source = [{ vertex: Math.floor(seededRandom(seed + limit)() * 400), cost: 0 }]
      labelOf(metric, topology, source, { direction: 'up', climb })
      for (const steps = descent.run(climb, metric.down, limit); steps.next().done !== true;);
      for (let vertex = 0; vertex < graph.vertexCount; vertex++) {
        const want = reference.find(source, [{ vertex, cost: 0 }])?.cost ?? UNREACHABLE
        const cost = descent.cost[topology.rank[vertex]!]!
        if (cost !== UNREACHABLE || want <= limit) expect(cost).toBe(want)
        if (cost !== UNREACHABLE) within++
        else if (want !== UNREACHABLE) without++
      }
    }
  })
  expect(within).toBeGreaterThan(50 * ran)
  expect(without).toBeGreaterThan(50 * ran)
})

it('a sweep goes no further than it is told', () => {
  const { graph, weights } = randomCase(9, 200)
  const sweep = new Sweep(graph, () => reverseArcs(graph))
  const run = (most: number): number[] => {
    const rules = {
      weight: (arc: number) => weights[arc]!,
      seconds: (arc: number) => weights[arc]!,
      meters: () => 1,
      leadsOn: (seconds: number) => seconds <= most,
    }
    const begin = [{ vertex: 50, cost: 0, seconds: 0, meters: 0 }]
    for (const steps = sweep.run(begin, rules); steps.next().done !== true;);
    return [...sweep.reached]
  }
  const all = run(Infinity)
  const within = all.filter((vertex) => sweep.secondsOf(vertex) <= 1000)
  const near = run(1000)
  expect(near.length).toBeLessThan(all.length)
  expect(near).toEqual(expect.arrayContaining(within))
})
