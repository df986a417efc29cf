import type { OnProgress } from '@terrane/core'

import { createCosting } from '../cost/create.ts'
import type { Costing, Family } from '../cost/costing.ts'
import { costOptions, type Mode, MODES } from '../cost/options.ts'
import { PROFILES } from '../cost/profiles/index.ts'
import { notAGraph } from '../errors.ts'
import { type Graph, graphOf } from '../graph/graph.ts'
import { packSections, type SectionArray, type SectionFile } from '../graph/sections.ts'
import { customize, type HierarchyMetric } from '../search/cch/metric.ts'
import type { SearchArcs } from '../search/cch/arcs.ts'
import { contract, type HierarchyTopology } from '../search/cch/topology.ts'
import { rankStates } from '../states/rank.ts'
import { buildStateGraph, type StateGraph } from '../states/state-graph.ts'
import { StateWeights } from '../states/weights.ts'
import { FamilyNetwork } from './family.ts'

const FAMILIES = ['motor', 'bicycle', 'foot'] as const satisfies readonly Family[]

/** A graph with everything that is prepared for searching it: what a graph file holds. */
export interface Network {
  readonly file: SectionFile
  readonly graph: Graph
  readonly families: Readonly<Record<Family, FamilyNetwork>>
  /** The eight modes without options. */
  readonly metrics: Readonly<Record<Mode, Customized>>
}

/** What is prepared for one costing. */
export interface Customized {
  readonly metric: HierarchyMetric
  /** The least weight per metre of any edge, for estimates. */
  readonly leastWeight: number
}

/** Facts about a network for those who run it. */
export interface NetworkFacts {
  readonly nodes: number
  readonly edges: number
  readonly bytes: number
  readonly sources: readonly string[]
  readonly drivingSide: string
  /** What the graph was built from, as the build was told; empty when it was not. */
  readonly inputs: string
}

/**
 * Orders and contracts a graph for each family of modes and customizes the metric of each mode.
 *
 * @param file the file of `buildGraph`
 * @returns a file that also holds the hierarchies, for `openNetwork`
 */
export function prepareNetwork(
  file: SectionFile,
  options: { onProgress?: OnProgress; signal?: AbortSignal } = {},
): SectionFile {
  const graph = graphOf(file)
  const sections: Record<string, SectionArray> = Object.fromEntries(file.arrays)
  let done = 0
  const total = FAMILIES.length + MODES.length
  const step = (message: string): void => {
    options.signal?.throwIfAborted()
    options.onProgress?.({ phase: 'hierarchies', done: done++, total, unit: 'steps', message })
  }
  const families = new Map<Family, FamilyNetwork>()
  for (const family of FAMILIES) {
    step(family)
    const states = buildStateGraph(graph, family)
    const topology = contract(states, rankStates(graph, states))
    families.set(family, new FamilyNetwork(graph, states, topology))
    for (const name of STATE_ARRAYS) sections[`${family}.${name}`] = states[name]
    for (const name of TOPOLOGY_ARRAYS) sections[`${family}.${name}`] = topology[name]
  }
  const leastWeights: Partial<Record<Mode, number>> = {}
  for (const mode of MODES) {
    step(mode)
    const costing = createCosting(graph, mode, costOptions(mode))
    const { metric, leastWeight } = customizeFor(graph, families.get(costing.family)!, costing)
    Object.assign(sections, metricSections(mode, metric))
    leastWeights[mode] = leastWeight
  }
  return packSections(sections, { ...file.meta, leastWeights })
}

/** Weighs the arcs of a family under a costing and customizes its hierarchy with them. Blocks for as long as that takes. */
export function customizeFor(graph: Graph, { states, topology }: FamilyNetwork, costing: Costing): Customized {
  const weights = new StateWeights(graph, states, costing)
  const metric = customize(topology, weights.all())
  let leastWeight = Infinity
  for (const edge of states.stateEdge) leastWeight = Math.min(leastWeight, weights.edge(edge) / graph.edgeLength[edge]!)
  return { metric, leastWeight: Number.isFinite(leastWeight) ? leastWeight : 0 }
}

/**
 * The network of a prepared file. Nothing is copied: the arrays are views of the file's buffer.
 *
 * @throws NOT_A_GRAPH when a section is missing
 */
export function openNetwork(file: SectionFile): Network {
  const graph = graphOf(file)
  const families = Object.fromEntries(
    FAMILIES.map((family) => {
      const states = { family, ...arraysOf(file, family, STATE_ARRAYS) } as unknown as StateGraph
      const topology = arraysOf(file, family, TOPOLOGY_ARRAYS) as unknown as HierarchyTopology
      return [family, new FamilyNetwork(graph, { ...states, vertexCount: states.stateEdge.length }, topology)]
    }),
  ) as Record<Family, FamilyNetwork>
  const leastWeights = (file.meta.leastWeights ?? {}) as Partial<Record<Mode, number>>
  const metrics = Object.fromEntries(
    MODES.map((mode) => {
      const { topology } = families[PROFILES[mode].family]
      return [mode, { metric: metricOf(file, mode, topology), leastWeight: leastWeights[mode] ?? 0 }]
    }),
  ) as Record<Mode, Customized>
  return { file, graph, families, metrics }
}

/** What is worth knowing about a network. */
export function factsOf({ file, graph }: Network): NetworkFacts {
  const { sources, drivingSide, inputs } = file.meta
  return {
    nodes: graph.nodeCount,
    edges: graph.edgeCount,
    bytes: file.buffer.byteLength,
    sources: Array.isArray(sources) ? sources.map(String) : [],
    drivingSide: String(drivingSide),
    inputs: typeof inputs === 'string' ? inputs : '',
  }
}

const STATE_ARRAYS = ['firstOut', 'head', 'stateEdge', 'edgeState', 'nextState', 'arcTurn', 'arcRule'] as const
const TOPOLOGY_ARRAYS = ['rank', 'vertex', 'firstUp', 'upHead', 'slot'] as const
/** The arrays of one direction of a metric, by their names in the file. */
const SEARCH_ARRAYS = ['kept', 'before', 'weight.low', 'weight.high', 'middle.low', 'middle.high'] as const
const DIRECTIONS = ['up', 'down'] as const

function metricSections(mode: Mode, metric: HierarchyMetric): Record<string, SectionArray> {
  const sections: Record<string, SectionArray> = {}
  for (const direction of DIRECTIONS) {
    const { kept, before, weight, middle } = metric[direction]
    const arrays = [kept, before, weight.low, weight.high, middle.low, middle.high]
    for (const [i, name] of SEARCH_ARRAYS.entries()) sections[`${mode}.${direction}.${name}`] = arrays[i]!
  }
  return sections
}

function metricOf(file: SectionFile, mode: Mode, topology: HierarchyTopology): HierarchyMetric {
  const [up, down] = DIRECTIONS.map((direction) => {
    const arrays = arraysOf(file, `${mode}.${direction}`, SEARCH_ARRAYS)
    const narrow = (name: string) => ({ low: arrays[`${name}.low`], high: arrays[`${name}.high`] })
    return { kept: arrays['kept'], before: arrays['before'], weight: narrow('weight'), middle: narrow('middle') }
  }) as unknown as [SearchArcs, SearchArcs]
  return { topology, up, down }
}

function arraysOf(file: SectionFile, prefix: string, names: readonly string[]): Record<string, SectionArray> {
  return Object.fromEntries(
    names.map((name) => {
      const array = file.arrays.get(`${prefix}.${name}`)
      if (array === undefined) throw notAGraph({ reason: `section ${prefix}.${name} is missing` })
      return [name, array]
    }),
  )
}
