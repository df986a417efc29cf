import type { StateWeights } from '../states/weights.ts'

/** Usual and highest speed of a family of modes in metres per second. */
const SPEEDS = { motor: [12, 42], bicycle: [5, 17], foot: [1.4, 7] } as const

/** Factor of the usual time of a street at most, so that the bound of a path's length holds on slow streets, too. */
const SLOWEST = 3

/** Cost of a street per metre and per second of it, and its bounds per metre. */
export interface Pace {
  readonly perMeter: number
  readonly perSecond: number
  readonly leastPerMeter: number
  readonly mostPerMeter: number
}

export function paceOf(timeShare: number, family: keyof typeof SPEEDS): Pace {
  const [usual, highest] = SPEEDS[family]
  const perMeter = 1 - timeShare
  const perSecond = timeShare * usual
  return {
    perMeter,
    perSecond,
    leastPerMeter: perMeter + perSecond / highest,
    mostPerMeter: perMeter + timeShare * SLOWEST,
  }
}

/** Cost of a whole street, in metres: between two distant points the fastest way is more likely than the shortest. */
export function streetMeters(weights: StateWeights, { perMeter, perSecond, mostPerMeter }: Pace, edge: number): number {
  const meters = weights.network.edgeLength[edge]!
  if (perSecond === 0) return meters
  return Math.min(perMeter * meters + perSecond * weights.edgeSeconds(edge), mostPerMeter * meters)
}
