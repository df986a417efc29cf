import type { Graph } from './graph.ts'

/** What a rule for certain times does to an edge while its conditions hold. */
export const TimedEffect = {
  closed: 0,
  open: 1,
  /** Only for those with business there. */
  local: 2,
  /** The edge is open, and closed at all other times. */
  only: 3,
} as const

/** Modes for which each edge may be opened at some time though it is closed otherwise. */
export function timedOpenings({ timedEdge, timedEffect, timedModes }: Graph): ReadonlyMap<number, number> {
  const openings = new Map<number, number>()
  timedEdge.forEach((edge, i) => {
    const opens = timedEffect[i] === TimedEffect.open || timedEffect[i] === TimedEffect.local
    if (opens) openings.set(edge, (openings.get(edge) ?? 0) | timedModes[i]!)
  })
  return openings
}
