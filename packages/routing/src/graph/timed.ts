import { FlagField, get, put, TrafficField } from './fields.ts'
import type { Graph } from './graph.ts'

/** Effects of a timed rule on an edge while its conditions hold. */
export const TimedEffect = {
  closed: 0,
  open: 1,
  /** Open for local access only. */
  local: 2,
  /** The edge is open at these times and closed at all others. */
  only: 3,
  /** From this number on, the effect is a speed: the number minus this, in km/h. */
  speed: 100,
} as const

/** Highest speed of a mode in km/h on each edge with a timed speed limit. */
export function timedSpeeds(
  { timedEdge, timedEffect, timedModes, edgeTraffic }: Graph,
  access: number,
): Map<number, number> {
  const speeds = new Map<number, number>()
  timedEdge.forEach((edge, i) => {
    if (timedEffect[i]! < TimedEffect.speed || (timedModes[i]! & access) === 0) return
    const usual = speeds.get(edge) ?? get(edgeTraffic[edge]!, TrafficField.speed)
    speeds.set(edge, Math.max(usual, timedEffect[i]! - TimedEffect.speed))
  })
  return speeds
}

/** Whether an edge is for local traffic of a mode by untimed tags. */
export function isForLocalsOtherwise({ edgeFlags }: Graph, edge: number, access: number): boolean {
  return (get(edgeFlags[edge]!, FlagField.local) & access) !== 0
}

/** The graph without local traffic rules on edges that are open to all of a mode's traffic at certain times. */
export function withoutLocalHours(graph: Graph, access: number): Graph {
  const { timedEdge, timedEffect, timedModes } = graph
  const lifted = timedEdge.filter(
    (edge, i) =>
      timedEffect[i] === TimedEffect.open &&
      (timedModes[i]! & access) !== 0 &&
      isForLocalsOtherwise(graph, edge, access),
  )
  if (lifted.length === 0) return graph
  const edgeFlags = graph.edgeFlags.slice()
  for (const edge of lifted) {
    const flags = edgeFlags[edge]!
    edgeFlags[edge] = put(flags, FlagField.local, get(flags, FlagField.local) & ~access)
  }
  return { ...graph, edgeFlags }
}

/** Modes that may use an otherwise closed edge at some time. */
export function timedOpenings({ timedEdge, timedEffect, timedModes }: Graph): ReadonlyMap<number, number> {
  const openings = new Map<number, number>()
  timedEdge.forEach((edge, i) => {
    const opens = timedEffect[i] === TimedEffect.open || timedEffect[i] === TimedEffect.local
    if (opens) openings.set(edge, (openings.get(edge) ?? 0) | timedModes[i]!)
  })
  return openings
}
