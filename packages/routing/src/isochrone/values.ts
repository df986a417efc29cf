import { AT_SOME_TIME } from '../cost/rights.ts'
import type { Ground } from '../ground.ts'
import type { PreparedCosting } from '../network/costings.ts'
import { seedsOf } from '../path/path.ts'
import { Schedule } from '../path/schedule.ts'
import { seedOf, sweepRules, takeSweep, TOO_FAR } from '../path/sweeping.ts'
import type { Sweep } from '../search/sweep.ts'
import type { Candidate } from '../snap/candidate.ts'
import type { StateGraph } from '../states/state-graph.ts'
import type { IsochroneRequest } from './request.ts'

/** How far away the edges around a place are. */
export interface Reached {
  readonly sweep: Sweep
  readonly states: StateGraph
  readonly prepared: PreparedCosting
  readonly reverse: boolean
  /** Whether a state is within what the request may use: what it excludes costs days. */
  readonly counts: (state: number) => boolean
}

/** How far beyond the outermost contour values are known, as a factor, and at least in seconds and metres. */
const BEYOND = 1.35
const BEYOND_SECONDS = 45
const BEYOND_METERS = 300

/** Sweeps from the candidates of a location as far as the contours of a request ask for, in steps. */
export function* reach(
  ground: Ground,
  request: IsochroneRequest,
  prepared: PreparedCosting,
  candidates: readonly Candidate[],
): Generator<void, Reached> {
  const { reverse, dateTime, mode, options } = request
  const schedule = dateTime === null ? null : new Schedule(dateTime, [request.location], ground.now())
  const isTimed = schedule !== null && !ground.timedRules.isEmpty
  const used = isTimed ? ground.costings.get(mode, { ...options, [AT_SOME_TIME]: true }) : prepared
  const closures = ground.closures(prepared, request)
  const ends = reverse ? { origins: [], destinations: candidates } : { origins: candidates, destinations: [] }
  const { origins, destinations } = seedsOf(used.weights, { ...ends, closures })
  const seeds = Array.from(reverse ? destinations : origins, ([vertex, stop]) =>
    seedOf(used, vertex, stop, reverse ? 'destination' : 'origin'),
  )
  const rules = sweepRules(used, {
    closures,
    candidates,
    clock: isTimed
      ? { clock: { law: ground.law(prepared), stands: schedule.stands }, startMs: schedule.begin(0) }
      : null,
    leadsOn: withinOf(request),
  })
  const sweep = takeSweep(used)
  yield* sweep.run(seeds, rules, reverse ? 'backwards' : 'forwards')
  return {
    sweep,
    states: used.family.states,
    prepared: used,
    reverse,
    counts: (state) => sweep.costOf(state) < TOO_FAR,
  }
}

function withinOf({ contours }: IsochroneRequest): (seconds: number, meters: number) => boolean {
  const most = (metric: 'time' | 'distance', unit: number, more: number): number => {
    const values = contours.filter((contour) => contour.metric === metric).map(({ value }) => value * unit)
    return values.length === 0 ? 0 : Math.max(Math.max(...values) * BEYOND, Math.max(...values) + more)
  }
  const mostSeconds = most('time', 60, BEYOND_SECONDS)
  const mostMeters = most('distance', 1000, BEYOND_METERS)
  return (seconds, meters) => seconds <= mostSeconds || meters <= mostMeters
}
