import { seededRandom } from '@terrane/core'
import { describe, expect, it } from 'vitest'

import { createCosting } from '../src/cost/create.ts'
import { costOptions } from '../src/cost/options.ts'
import { MODES } from '../src/index.ts'
import { bidirectionalSearch } from '../src/search/bidirectional.ts'
import { hierarchySearch } from '../src/search/cch/hierarchy.ts'
import { dijkstra } from './support/dijkstra.ts'
import { StateWeights } from '../src/states/weights.ts'
import { openTown } from './support/town.ts'

const PAIRS = 150
const network = await openTown()

describe.each(MODES)('searching the town by %s', (mode) => {
  const costing = createCosting(network.graph, mode, costOptions(mode))
  const { states, topology, hierarchyScratch, reverse, positions, bidirectionalScratch } = network.turns
  const { metric, leastWeight } = network.metrics[mode]
  const weights = new StateWeights(network.graph, states, costing)
  const reference = dijkstra(states, weights.all())
  const searches = {
    hierarchy: hierarchySearch(metric, topology, hierarchyScratch),
    'bidirectional A*': bidirectionalSearch(states, reverse, {
      weight: (arc, tail) => weights.arc(arc, tail),
      position: positions.positions,
      weightPerMeter: leastWeight * positions.leastShare,
      scratch: bidirectionalScratch,
    }),
  }

  it.each(Object.keys(searches) as (keyof typeof searches)[])('%s finds what Dijkstra finds', (name) => {
    const random = seededRandom(MODES.indexOf(mode) + 1)
    const pick = (): number => Math.floor(random() * states.vertexCount)
    let found = 0
    for (let pair = 0; pair < PAIRS; pair++) {
      const sources = [
        { vertex: pick(), cost: 0 },
        { vertex: pick(), cost: 250 },
      ]
      const targets = [
        { vertex: pick(), cost: -30 },
        { vertex: pick(), cost: 100 },
      ]
      const expected = reference.find(sources, targets)
      const path = searches[name].find(sources, targets)
      expect(path?.cost).toBe(expected?.cost)
      if (path === null) continue
      found++
      expect(costOf(path.vertices, sources, targets)).toBe(path.cost)
    }
    expect(found).toBeGreaterThan(PAIRS / 2)
  })

  /** The cost of a chain of states, summed from its arcs. */
  function costOf(
    vertices: readonly number[],
    sources: readonly { vertex: number; cost: number }[],
    targets: readonly { vertex: number; cost: number }[],
  ): number {
    const costAt = (seeds: typeof sources, vertex: number): number =>
      Math.min(...seeds.filter((seed) => seed.vertex === vertex).map(({ cost }) => cost))
    let sum = costAt(sources, vertices[0]!) + costAt(targets, vertices.at(-1)!)
    for (let i = 1; i < vertices.length; i++) {
      const tail = vertices[i - 1]!
      let least = Infinity
      for (let arc = states.firstOut[tail]!; arc < states.firstOut[tail + 1]!; arc++) {
        if (states.head[arc] === vertices[i]) least = Math.min(least, weights.arc(arc, tail))
      }
      sum += least
    }
    return sum
  }
})
