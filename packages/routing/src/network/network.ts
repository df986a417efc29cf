import type { OnProgress } from '@terrane/core'

import { collectGarbage } from '../build/collect-garbage.ts'
import type { UnreadCount } from '../build/unread-table.ts'
import { createCosting } from '../cost/create.ts'
import type { Costing } from '../cost/costing.ts'
import { costOptions, type Mode, MODES } from '../cost/options.ts'
import { notAGraph } from '../errors.ts'
import { type Graph, graphOf } from '../graph/graph.ts'
import type { SectionArray, SectionFile, SectionSink } from '../graph/sections.ts'
import { ArcPacker, type CustomizedArcs, poolOf } from '../search/cch/arcs.ts'
import { customizedArcs, type HierarchyMetric } from '../search/cch/metric.ts'
import { contract, type HierarchyTopology } from '../search/cch/topology.ts'
import { rankLinks, rankStates } from '../states/rank.ts'
import { buildStateGraph, type StateArrays, StateGraph } from '../states/state-graph.ts'
import { StateWeights } from '../states/weights.ts'
import { TurnNetwork } from './turns.ts'

/** Modes whose arcs are mostly equal to those of another mode; equal arcs are stored once. */
const LIKE: Readonly<Partial<Record<Mode, Mode>>> = { bus: 'auto', taxi: 'auto', motorcycle: 'auto' }

/** The mode that gives the pool of a mode's arcs its name. */
function poolOwner(mode: Mode): Mode {
  return LIKE[mode] ?? mode
}

/** A graph with all data for searching it: the content of a graph file. */
export interface Network {
  readonly file: SectionFile
  readonly graph: Graph
  readonly turns: TurnNetwork
  /** The eight modes without options. */
  readonly metrics: Readonly<Record<Mode, Customized>>
}

/** Prepared data of one costing. */
export interface Customized {
  readonly metric: HierarchyMetric
  /** Minimum weight per metre of any edge, for estimates. */
  readonly leastWeight: number
}

/** Facts about a network for operators. */
export interface NetworkFacts {
  readonly nodes: number
  readonly edges: number
  readonly bytes: number
  readonly sources: readonly string[]
  readonly drivingSide: string
  /** Sources of the graph, as passed to the build; empty by default. */
  readonly inputs: string
  /** Conditional tags that the build does not support, the most frequent first. */
  readonly unread: readonly UnreadCount[]
}

/**
 * Orders and contracts the turns of a graph and customizes the metric of each mode; arrays may be freed after the sink
 * received them.
 *
 * @returns the metadata of the metrics for the file; the sink received their arrays
 */
export function prepareNetwork(
  graph: Graph,
  sink: SectionSink,
  options: { onProgress?: OnProgress; signal?: AbortSignal } = {},
): { leastWeights: Partial<Record<Mode, number>> } {
  let done = 0
  const total = 2 + MODES.length
  const step = (message: string): void => {
    options.signal?.throwIfAborted()
    collectGarbage()
    options.onProgress?.({ phase: 'hierarchies', done: done++, total, unit: 'steps', message })
  }
  const leastWeights: Partial<Record<Mode, number>> = {}
  step('order')
  const linkRank = rankLinks(graph)
  step('turns')
  const states = buildStateGraph(graph)
  const topology = contract(states, rankStates(graph, states, linkRank))
  for (const name of STATE_ARRAYS) sink.add(`turns.${name}`, states[name])
  for (const name of TOPOLOGY_ARRAYS) sink.add(`turns.${name}`, topology[name])
  const turns = new TurnNetwork(graph, states, topology)
  const pools = new Map<Mode, { packer: ArcPacker; up: Uint32Array; down: Uint32Array }>()
  for (const [i, mode] of MODES.entries()) {
    step(mode)
    const arcs = weighed(graph, turns, createCosting(graph, mode, costOptions(mode)))
    const owner = poolOwner(mode)
    const like = pools.get(owner)
    const packer = like?.packer ?? new ArcPacker()
    const [up, down] = [packer.add(arcs.up, like?.up), packer.add(arcs.down, like?.down)]
    if (like === undefined) pools.set(owner, { packer, up, down })
    sink.add(`${mode}.up`, up)
    sink.add(`${mode}.down`, down)
    leastWeights[mode] = arcs.leastWeight
    // Written as soon as no later mode adds to the pool, to save memory.
    if (MODES.slice(i + 1).some((later) => poolOwner(later) === owner)) continue
    sink.add(`${owner}.arcs`, packer.words)
    pools.delete(owner)
  }
  return { leastWeights }
}

/** Computes the weights of a network under a costing and customizes its hierarchy. Blocks the thread meanwhile. */
export function customizeFor(graph: Graph, turns: TurnNetwork, costing: Costing): Customized {
  const { up, down, leastWeight } = weighed(graph, turns, costing)
  const packer = new ArcPacker()
  const [upIndex, downIndex] = [packer.add(up), packer.add(down)]
  const pool = packer.pool()
  const metric = { topology: turns.topology, up: { index: upIndex, pool }, down: { index: downIndex, pool } }
  return { metric, leastWeight }
}

function weighed(
  graph: Graph,
  { states, topology }: TurnNetwork,
  costing: Costing,
): { up: CustomizedArcs; down: CustomizedArcs; leastWeight: number } {
  const weights = new StateWeights(graph, states, costing)
  const arcs = customizedArcs(topology, states, weights.all())
  let leastWeight = Infinity
  for (let edge = 0; edge < graph.edgeCount; edge++) {
    leastWeight = Math.min(leastWeight, weights.edge(edge) / graph.edgeLength[edge]!)
  }
  return { ...arcs, leastWeight: Number.isFinite(leastWeight) ? leastWeight : 0 }
}

/**
 * The network of a prepared file. Nothing is copied: the arrays are views of the file's buffer.
 *
 * @throws NOT_A_GRAPH when a section is missing
 */
export function openNetwork(file: SectionFile): Network {
  const graph = graphOf(file)
  const states = new StateGraph(arraysOf(file, 'turns', STATE_ARRAYS) as unknown as StateArrays)
  const topology = arraysOf(file, 'turns', TOPOLOGY_ARRAYS) as unknown as HierarchyTopology
  const leastWeights = (file.meta.leastWeights ?? {}) as Partial<Record<Mode, number>>
  const metrics = Object.fromEntries(
    MODES.map((mode) => [mode, { metric: metricOf(file, mode, topology), leastWeight: leastWeights[mode] ?? 0 }]),
  ) as Record<Mode, Customized>
  return { file, graph, turns: new TurnNetwork(graph, states, topology), metrics }
}

/** Summary of a network. */
export function factsOf({ file, graph }: Network): NetworkFacts {
  const { sources, drivingSide, inputs, unread } = file.meta
  return {
    nodes: graph.nodeCount,
    edges: graph.edgeCount,
    bytes: file.buffer.byteLength,
    sources: Array.isArray(sources) ? sources.map(String) : [],
    drivingSide: String(drivingSide),
    inputs: typeof inputs === 'string' ? inputs : '',
    unread: Array.isArray(unread) ? (unread as UnreadCount[]) : [],
  }
}

const STATE_ARRAYS = ['firstOut', 'head', 'sequenceEdge', 'ruledArc', 'arcRule', 'sizedArc', 'sizedArcRule'] as const
const TOPOLOGY_ARRAYS = ['rank', 'vertex', 'firstUp', 'firstHead', 'upHead'] as const

function metricOf(file: SectionFile, mode: Mode, topology: HierarchyTopology): HierarchyMetric {
  const { up, down } = arraysOf(file, mode, ['up', 'down']) as Record<'up' | 'down', Uint32Array>
  const { arcs } = arraysOf(file, poolOwner(mode), ['arcs']) as Record<'arcs', Uint16Array>
  const pool = poolOf(arcs)
  return { topology, up: { index: up, pool }, down: { index: down, pool } }
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
