import { ArcPacker } from '../../src/search/cch/arcs.ts'
import { customizedArcs, type HierarchyMetric } from '../../src/search/cch/metric.ts'
import type { HierarchyTopology } from '../../src/search/cch/topology.ts'
import type { ArcGraph, ArcWeights } from '../../src/search/search.ts'

/** A hierarchy with weights, in memory of its own. */
export function customize(topology: HierarchyTopology, graph: ArcGraph, weights: ArcWeights): HierarchyMetric {
  const packer = new ArcPacker()
  const { up, down } = customizedArcs(topology, graph, weights)
  const [upIndex, downIndex] = [packer.add(up), packer.add(down)]
  const pool = packer.pool()
  return { topology, up: { index: upIndex, pool }, down: { index: downIndex, pool } }
}
