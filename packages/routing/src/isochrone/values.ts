import { AT_SOME_TIME } from '../cost/rights.ts'
import type { Ground } from '../ground.ts'
import type { PreparedCosting } from '../network/costings.ts'
import { type Closures, seedsOf } from '../path/path.ts'
import { Schedule } from '../path/schedule.ts'
import { seedOf, sweepRules, type Taken, takeHierarchySweep, takeSweep } from '../path/sweeping.ts'
import type { Swept, SweepRules, SweepSeed } from '../search/sweep.ts'
import type { Candidate } from '../snap/candidate.ts'
import type { StateGraph } from '../states/state-graph.ts'
import { WEIGHT_PER_SECOND } from '../states/weights.ts'
import type { IsochroneRequest } from './request.ts'

/** Result of a sweep around a location. */
export interface Reached {
  readonly sweep: Swept
  readonly states: StateGraph
  readonly prepared: PreparedCosting
  readonly reverse: boolean
  /** The edges that the request closes. */
  readonly closures: Closures
  /** Releases the sweep; call it when the sweep is no longer used. */
  readonly giveBack: () => void
}

/** Range of known values beyond the outermost contour: a factor, and minimum seconds and metres. */
const BEYOND = 1.1
const BEYOND_SECONDS = 45
const BEYOND_METERS = 300
/** Slow speed in metres per second, and penalties of a path in seconds, for a first estimate of costs. */
const SLOW = 5
const PENALTIES = 300

/** Sweeps from the candidates of a location as far as the requested contours need, in steps. */
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
  const isPlain = closures.size === 0 && !isTimed && ground.search === 'hierarchy'
  const { sweep, giveBack } = yield* swept(used, seeds, rules, {
    direction: reverse ? 'backwards' : 'forwards',
    guess: isPlain ? guessOf(request) : null,
  })
  return {
    sweep,
    states: used.turns.states,
    prepared: used,
    reverse,
    closures,
    giveBack,
  }
}

/**
 * Sweeps with the hierarchy of a costing, or without.
 *
 * @param guess a cost that few paths exceed; null to sweep without the hierarchy
 */
function* swept(
  used: PreparedCosting,
  seeds: readonly SweepSeed[],
  rules: SweepRules,
  { direction, guess }: { direction: 'forwards' | 'backwards'; guess: number | null },
): Generator<void, Taken<Swept>> {
  const { customized, turns } = used
  if (guess !== null && customized !== null) {
    const taken = takeHierarchySweep(turns)
    const climb = turns.hierarchyScratch.forward
    yield* taken.sweep.run(seeds, rules, { metric: customized.metric, climb, direction, guess })
    return taken
  }
  const taken = takeSweep(used)
  yield* taken.sweep.run(seeds, rules, direction)
  return taken
}

function withinOf(request: IsochroneRequest): (seconds: number, meters: number) => boolean {
  const [mostSeconds, mostMeters] = farthest(request)
  return (seconds, meters) => seconds <= mostSeconds || meters <= mostMeters
}

/** A weight that few paths within the contours exceed. */
function guessOf(request: IsochroneRequest): number {
  const [mostSeconds, mostMeters] = farthest(request)
  return Math.round((1.6 * Math.max(mostSeconds, mostMeters / SLOW) + PENALTIES) * WEIGHT_PER_SECOND)
}

function farthest({ contours }: IsochroneRequest): [seconds: number, meters: number] {
  const most = (metric: 'time' | 'distance', unit: number, more: number): number => {
    const values = contours.filter((contour) => contour.metric === metric).map(({ value }) => value * unit)
    return values.length === 0 ? 0 : Math.max(Math.max(...values) * BEYOND, Math.max(...values) + more)
  }
  return [most('time', 60, BEYOND_SECONDS), most('distance', 1000, BEYOND_METERS)]
}
