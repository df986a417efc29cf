import type { PreparedCosting } from '../network/costings.ts'
import type { TurnNetwork } from '../network/turns.ts'
import type { StateWeights } from '../states/weights.ts'
import { noiseOf, strideOf } from './noise.ts'
import { type Candidate, type StepRules, takeSteps } from './steps.ts'
import { Streets } from './streets.ts'
import { METERS_PER_DEGREE, type Trace, type TracePoint } from './trace.ts'

/** Consecutive points of a trace that are matched as one, because the traveller moved less than the noise. */
export interface Group {
  /** Index of the first and the last point. */
  readonly first: number
  readonly last: number
  readonly x: number
  readonly y: number
  readonly lon: number
  readonly lat: number
  readonly seconds: number | null
}

/** A connected part of a trace: its groups, each with the matched candidate. */
export interface Chain {
  readonly groups: readonly Group[]
  readonly candidates: readonly Candidate[]
  /** For each group the number of other streets that match almost as well. */
  readonly rivals: readonly number[]
}

/** Cost of a U-turn in the middle of a street, in metres. */
const TURN_BACK_METERS = 150
/** Maximum number of streets around a point. */
const MOST_STREETS = 16
/** Metres above the best candidate at which a step ends, plus half the distance of the step. */
const WINDOW_METERS = 300
/** Maximum radius of points that are matched as one: noise times this factor, and metres. */
const GROUP_NOISES = 2
const GROUP_METERS = 60
/** Bias in metres of the mean of a group of points beside a curved street. */
const BIAS_METERS = 3
/** Maximum number of points that count as independent, because the noise of neighbours is similar. */
const MOST_INDEPENDENT = 10
/** Minimum default of `Trace.beta`, in metres. */
const LEAST_BETA = 5
/** Search radius for streets: multiple of the noise, and minimum in metres. */
const RADIUS_NOISES = 3
const LEAST_RADIUS = 50
/** Radius of the first search for the nearest street, in metres. */
const NEAR_METERS = 25
/** Maximum number of skipped outliers before a part ends: anywhere, and while they are near. */
const SKIPPED = 4
const MOST_SKIPPED = 15
/** Window length of a moving average as a multiple of the noise, and maximum number of points on each side. */
const SMOOTH_NOISES = 2.5
const MOST_WING = 7

/** Length of a step in metres from which its turns count fully; in shorter steps they count in proportion. */
const TURN_METERS = 150
const LEAST_TURN_SHARE = 0.2

/** Share of time in the cost of a step, because travellers prefer fast ways; in short steps in proportion. */
const TIME_SHARE = 0.7
const TIME_METERS = 300

/**
 * Mean distance of points in metres below which they share looked-up streets, and the range beyond the radius of the
 * first point.
 */
const DENSE_METERS = 40
const AHEAD_METERS = 120

/** Maximum number of settled states between two groups, and number of them between two yields. */
const BOUNDS = { states: 2 ** 18, statesPerTurn: 2 ** 13 }

/** Maximum additional cost of a candidate that counts as a rival of the best, in metres. */
const RIVAL_METERS = 30

/** Maximum plausible speed in metres per second. */
const FASTEST = { motor: 70, bicycle: 25, foot: 12 } as const

/**
 * Matches traces to a network under a costing, by a hidden Markov model (Newson and Krumm, "Hidden Markov Map Matching Through
 * Noise and Sparseness", 2009).
 */
export class Matcher {
  readonly #weights: StateWeights
  readonly #streets: Streets
  readonly #turns: TurnNetwork
  readonly #bounds: typeof BOUNDS
  /** Number of settled states since the last yield. */
  #left = 0

  constructor({ weights, turns }: Pick<PreparedCosting, 'weights' | 'turns'>, bounds = BOUNDS) {
    this.#bounds = bounds
    this.#weights = weights
    this.#streets = new Streets(weights)
    this.#turns = turns
  }

  /** Whether any point has a street near it. */
  hasStreets({ points, mostRadius }: Trace): boolean {
    return points.some(({ lon, lat, radius }) => this.#streets.find(lon, lat, radius ?? mostRadius, 1).length > 0)
  }

  /** The parts of a trace that could be matched, in its order; parts of a single point are left out. */
  *match(trace: Trace): Generator<Chain | null> {
    this.#streets.ahead = strideOf(trace.points) < DENSE_METERS ? AHEAD_METERS : 0
    const noise = this.#noise(trace)
    const groups = grouped(trace, noise)
    const rules = this.#rules(trace)
    let chain: { groups: Group[]; layers: Candidate[][] } = { groups: [], layers: [] }
    const finish = (): Chain | null => (chain.groups.length > 1 ? traced(chain.groups, chain.layers) : null)
    let skipped = 0
    for (let i = 0; i < groups.length; i++) {
      const group = groups[i]!
      const targets = this.#candidates(trace, group, noise)
      const before = chain.groups.at(-1)
      const isJoined =
        before !== undefined &&
        (yield* this.#join(chain.layers.at(-1)!, targets, { before, group, trace, noise, rules }))
      if (isJoined || (before === undefined && targets.length > 0)) {
        if (before === undefined) for (const target of targets) target.cost = target.emission
        chain.groups.push(group)
        chain.layers.push(targets)
        skipped = 0
      } else if (
        before !== undefined &&
        (++skipped > MOST_SKIPPED ||
          (skipped > SKIPPED && Math.hypot(group.x - before.x, group.y - before.y) > Math.max(200, 6 * noise)))
      ) {
        yield finish()
        chain = { groups: [], layers: [] }
        i -= skipped
        skipped = 0
      }
      if (before !== undefined && skipped > 0 && i === groups.length - 1) {
        yield finish()
        chain = { groups: [], layers: [] }
        i -= skipped
        skipped = 0
      }
      if (i % 8 !== 7 && this.#left < this.#bounds.statesPerTurn) continue
      this.#left = 0
      yield null
    }
    yield finish()
  }

  #noise({ points, mostRadius }: Trace): number {
    const said = points.filter(({ accuracy }) => accuracy !== null)
    if (said.length > 0) return said.reduce((sum, { accuracy }) => sum + accuracy!, 0) / said.length
    return noiseOf(points, ({ lon, lat }, [east, north]) => {
      const y = lat + north / METERS_PER_DEGREE
      const x = lon + east / METERS_PER_DEGREE / Math.cos((lat * Math.PI) / 180)
      // Most points have a street nearby, so a small radius is tried first.
      const near = this.#streets.find(x, y, Math.min(NEAR_METERS, mostRadius), 1)
      return (near[0] ?? this.#streets.find(x, y, mostRadius, 1)[0])?.meters ?? null
    })
  }

  #rules({ turnPenalty }: Trace): StepRules {
    return {
      weights: this.#weights,
      turnMeters: Float64Array.from({ length: 360 }, (_, degrees) =>
        turnPenalty === 0 ? 0 : turnPenalty * Math.exp(-Math.abs(180 - degrees) / 45),
      ),
      turnBackMeters: TURN_BACK_METERS,
    }
  }

  #candidates(trace: Trace, { first, last, lon, lat }: Group, noise: number): Candidate[] {
    const { points, mostRadius } = trace
    const { radius: said, accuracy } = points[first]!
    const own = accuracy ?? noise
    const count = last - first + 1
    const radius = Math.min(mostRadius, said ?? Math.max(LEAST_RADIUS, RADIUS_NOISES * own))
    const variance = (own * own) / Math.min(count, MOST_INDEPENDENT) + BIAS_METERS ** 2
    const scale = (trace.beta ?? Math.max(LEAST_BETA, noise)) / (2 * variance)
    return this.#streets.find(lon, lat, radius, MOST_STREETS).map(({ edge, along, lon: x, lat: y, meters }) => {
      const emission = meters * meters * scale
      return { edge, along, lon: x, lat: y, meters, emission, cost: Infinity, back: null }
    })
  }

  /**
   * Continues from the candidates of a group to those of the next; false when none can be reached. A long search yields
   * in between.
   */
  *#join(
    sources: readonly Candidate[],
    targets: readonly Candidate[],
    { before, group, trace, noise, rules }: Pair,
  ): Generator<null, boolean> {
    if (targets.length === 0) return false
    const meters = Math.hypot(group.x - before.x, group.y - before.y)
    const seconds = before.seconds === null || group.seconds === null ? null : group.seconds - before.seconds
    if (meters > trace.breakage || (seconds !== null && seconds > trace.gapSeconds)) return false
    const slack = 3 * noise
    const fastest = seconds === null || seconds <= 0 ? Infinity : seconds * FASTEST[this.#weights.costing.family]
    if (meters > fastest + 6 * noise) return false
    const most = Math.min(5 * meters, fastest) + 200 + 12 * noise
    const { sweep: steps, giveBack } = takeSteps(this.#turns, this.#weights.network.edgeCount)
    steps.begin({ sources, targets }, rules, {
      states: this.#bounds.states,
      most: most + rules.turnBackMeters,
      window: WINDOW_METERS + meters / 2,
      slack,
      turnShare: Math.min(1, Math.max(LEAST_TURN_SHARE, meters / TURN_METERS)),
      timeShare: TIME_SHARE * Math.min(1, meters / TIME_METERS),
      goal: { lon: group.lon, lat: group.lat, radius: targets.at(-1)!.meters },
    })
    const { statesPerTurn } = this.#bounds
    while (!steps.advance(statesPerTurn)) yield null
    this.#left += steps.end() % statesPerTurn
    giveBack()
    return targets.some(({ cost }) => cost < Infinity)
  }
}

interface Pair {
  readonly before: Group
  readonly group: Group
  readonly trace: Trace
  readonly noise: number
  readonly rules: StepRules
}

/** The groups of a trace. The first and last points are groups of their own, so that the ends are kept. */
function grouped({ points, interpolation }: Trace, noise: number): Group[] {
  const groups: Group[] = []
  const { track, width } = smoothed(points, noise)
  const reach = Math.max(interpolation, Math.min(GROUP_METERS, (GROUP_NOISES * noise) / Math.sqrt(width)))
  for (let first = 0; first < points.length;) {
    const last = first === 0 ? 0 : lastWithin(track, first, reach)
    groups.push(groupOf(track, first, last))
    first = last + 1
  }
  return groups
}

/** Index of the last point within a distance of the first one, excluding the last point of the trace. */
function lastWithin(track: readonly TracePoint[], first: number, reach: number): number {
  const { x, y } = track[first]!
  let last = first
  while (last + 2 < track.length && Math.hypot(track[last + 1]!.x - x, track[last + 1]!.y - y) < reach) last++
  return last
}

/** The points of a trace. Points denser than the noise become moving averages; the two ends are unchanged. */
function smoothed(points: readonly TracePoint[], noise: number): { track: readonly TracePoint[]; width: number } {
  const half = Math.min(MOST_WING, Math.floor((SMOOTH_NOISES * noise) / strideOf(points) / 2))
  if (half < 1) return { track: points, width: 1 }
  const longest = (SMOOTH_NOISES + 1.5) * noise
  const track = points.map((point, i) => {
    let wing = Math.min(half, i, points.length - 1 - i)
    // At higher speeds, the same number of points covers too much length.
    while (wing > 0 && metersBetween(points[i - wing]!, points[i + wing]!) > longest) wing--
    const { x, y, lon, lat } = groupOf(points, i - wing, i + wing)
    return { ...point, x, y, lon, lat }
  })
  return { track, width: 2 * half + 1 }
}

function metersBetween(a: TracePoint, b: TracePoint): number {
  return Math.hypot(a.x - b.x, a.y - b.y)
}

function groupOf(points: readonly TracePoint[], first: number, last: number): Group {
  const count = last - first + 1
  const mean = (of: (point: TracePoint) => number): number => {
    let sum = 0
    for (let i = first; i <= last; i++) sum += of(points[i]!)
    return sum / count
  }
  const isTimed = points[first]!.seconds !== null && points[last]!.seconds !== null
  return {
    first,
    last,
    x: mean(({ x }) => x),
    y: mean(({ y }) => y),
    lon: mean(({ lon }) => lon),
    lat: mean(({ lat }) => lat),
    seconds: isTimed ? (points[first]!.seconds! + points[last]!.seconds!) / 2 : null,
  }
}

/** Follows the cheapest candidate of the last layer back to the first. */
function traced(groups: readonly Group[], layers: readonly (readonly Candidate[])[]): Chain {
  const candidates: Candidate[] = []
  const rivals: number[] = []
  for (let i = layers.length - 1; i >= 0; i--) {
    const layer = layers[i]!
    const best = candidates.at(-1)?.back?.from ?? layer.reduce((a, b) => (b.cost < a.cost ? b : a))
    candidates.push(best)
    // Both directions of a street are equally far.
    const near = layer.filter(({ cost, meters }) => cost < best.cost + RIVAL_METERS && meters !== best.meters)
    rivals.push(new Set(near.map(({ meters }) => meters)).size)
  }
  return { groups, candidates: candidates.toReversed(), rivals: rivals.toReversed() }
}
