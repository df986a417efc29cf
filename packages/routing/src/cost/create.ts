import type { Graph } from '../graph/graph.ts'
import { BicycleCosting } from './bicycle.ts'
import type { Costing } from './costing.ts'
import { MotorCosting } from './motor.ts'
import type { CostOptions, Mode } from './options.ts'
import { PedestrianCosting } from './pedestrian.ts'

/** The costing of a mode on a graph. */
export function createCosting(graph: Graph, mode: Mode, options: CostOptions): Costing {
  if (mode === 'bicycle') return new BicycleCosting(graph, options)
  if (mode === 'pedestrian') return new PedestrianCosting(graph, options)
  return new MotorCosting(graph, mode, options)
}
