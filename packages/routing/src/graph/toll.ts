import { get, TrafficField } from './fields.ts'
import { firstAtLeast } from './first-at-least.ts'
import type { Graph } from './graph.ts'

type TollArrays = Pick<Graph, 'edgeTraffic' | 'tollEdge' | 'tollModes'>

/** Whether a mode, given by its access bit, pays a toll on an edge. */
export function paysToll({ edgeTraffic, tollEdge, tollModes }: TollArrays, edge: number, access: number): boolean {
  if (get(edgeTraffic[edge]!, TrafficField.toll) === 0) return false
  const at = firstAtLeast(tollEdge, edge)
  return tollEdge[at] !== edge || (tollModes[at]! & access) !== 0
}
