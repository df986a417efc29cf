import { PROFILES } from '../cost/profiles/index.ts'
import type { Mode } from '../cost/options.ts'
import type { Found, Snapped } from './candidate.ts'

/** Penalty in seconds per square metre of the squared distance. */
const PENALTY_PER_SQUARE_METER = 10
/** Minimum additional distance of filtered candidates, in metres. */
const FILTERED_METERS = 3600
/** Penalty in seconds of candidates on other streets than the named one. */
const STREET_PENALTY = 600

interface Ranking {
  readonly mode: Mode
  readonly byDistance: boolean
  /** Whether an edge is on the named street. */
  readonly isOnStreet: (edge: number) => boolean
}

/** Gives candidates a penalty that grows with their distance, up to the maximum of the mode. */
export function ranked(found: readonly Found[], filtered: readonly Found[], ranking: Ranking): Snapped {
  const { mode, byDistance, isOnStreet } = ranking
  const farthest = Math.max(...found.map((candidate) => candidate.meters))
  const score = (meters: number): number => (byDistance ? meters * meters * PENALTY_PER_SQUARE_METER : 0)
  const onStreet = found.map((candidate) => isOnStreet(candidate.edge))
  const scores = found.map((candidate, i) => (onStreet[i]! ? 0 : score(candidate.meters)))
  const least = Math.min(...scores)
  const penalty = (value: number): number => Math.min(value - least, PROFILES[mode].farPenalty)
  const elsewhere = onStreet.includes(true) ? STREET_PENALTY : 0
  return {
    candidates: found.map((candidate, i) => ({
      ...candidate,
      penalty: penalty(scores[i]!) + (onStreet[i]! ? 0 : elsewhere),
    })),
    filtered: filtered.map((candidate) => ({
      ...candidate,
      penalty: penalty(score(candidate.meters + FILTERED_METERS + farthest)),
    })),
  }
}
