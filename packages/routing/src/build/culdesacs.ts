import { RoadClass, Use } from '../graph/attributes.ts'
import type { WayFacts } from './tags/way.ts'
import type { WayNodes, Ways } from './ways.ts'

/** Positions of loops at the end of a minor street: ways that meet themselves, and others at one node at most. */
export function findCuldesacs(ways: Ways, { first, node }: WayNodes, nodeCount: number): ReadonlySet<number> {
  const lastWay = new Uint32Array(nodeCount)
  const meetsItself = (way: number): boolean => {
    let found = false
    for (let i = first[way]!; i < first[way + 1]!; i++) {
      found ||= lastWay[node[i]!] === way + 1
      lastWay[node[i]!] = way + 1
    }
    return found
  }
  const meetings = new Map<number, Set<number>>()
  const loopsAt = new Map<number, number[]>()
  for (let way = 0; way < ways.count; way++) {
    if (!isLesserStreet(ways.facts(way)) || !meetsItself(way)) continue
    meetings.set(way, new Set())
    for (const at of node.subarray(first[way], first[way + 1])) loopsAt.set(at, [...(loopsAt.get(at) ?? []), way])
  }
  const onLoop = new Uint8Array(nodeCount)
  for (const at of loopsAt.keys()) onLoop[at] = 1
  for (let way = 0; way < ways.count; way++) {
    if (ways.facts(way).use !== Use.road) continue
    for (let i = first[way]!; i < first[way + 1]!; i++) {
      const at = node[i]!
      if (onLoop[at] === 1) for (const loop of loopsAt.get(at)!) if (loop !== way) meetings.get(loop)!.add(at)
    }
  }
  return new Set([...meetings].filter(([, met]) => met.size <= 1).map(([way]) => way))
}

function isLesserStreet({ use, roadClass, access }: WayFacts): boolean {
  return use === Use.road && roadClass > RoadClass.tertiary && !access.roundabout
}
