import { Use } from '../graph/attributes.ts'
import { EdgeField, get } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import type { PreparedCosting } from '../network/costings.ts'
import type { TurnNetwork } from '../network/turns.ts'
import type { StateWeights } from '../states/weights.ts'
import { type Group, grouped, metersBetween } from './groups.ts'
import { noiseOf, strideOf } from './noise.ts'
import { type Pace, paceOf, streetMeters } from './pace.ts'
import { type Candidate, type StepRules, takeSteps } from './steps.ts'
import { type Nearby, Streets } from './streets.ts'
import { METERS_PER_DEGREE, type Trace } from './trace.ts'

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

/** Metres that a path between two points may be longer than five times their distance. */
const DETOUR_METERS = 200

/** Maximum plausible speed in metres per second. */
const FASTEST = { motor: 70, bicycle: 25, foot: 7 } as const
const FASTEST_FERRY = 20

/** Metres without a street after which a part ends: walkers leave the streets of the map more often than drivers. */
const LOST_METERS = { motor: 200, bicycle: 100, foot: 60 } as const

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
      const before = chain.groups.at(-1)
      const targets = this.#candidates(trace, group, { noise, neighbours: [before, groups[i + 1]] })
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
          (skipped > SKIPPED && metersBetween(group, before) > Math.max(this.#lostMeters, 6 * noise)))
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

  get #lostMeters(): number {
    return LOST_METERS[this.#weights.costing.family]
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

  #candidates(trace: Trace, group: Group, { noise, neighbours }: Surroundings): Candidate[] {
    const { points, mostRadius } = trace
    const { first, last, lon, lat } = group
    const { radius: said, accuracy } = points[first]!
    const own = accuracy ?? noise
    const count = last - first + 1
    const radius = Math.min(mostRadius, said ?? Math.max(LEAST_RADIUS, RADIUS_NOISES * own))
    const variance = (own * own) / Math.min(count, MOST_INDEPENDENT) + BIAS_METERS ** 2
    const scale = (trace.beta ?? Math.max(LEAST_BETA, noise)) / (2 * variance)
    return this.#streets.find(lon, lat, radius, MOST_STREETS).map((place) => {
      const straight = neighbours.reduce((sum, other) => sum + this.#metersAway(place, group, other), 0)
      return { ...place, emission: place.meters ** 2 * scale - straight, cost: Infinity, back: null }
    })
  }

  /**
   * Cost of the straight line by which a place is farther from a neighbouring group than its own group is. A path costs
   * what it is longer than straight; otherwise both ends of a trace, and its corners, would be cut off.
   */
  #metersAway({ edge, lon, lat }: Nearby, group: Group, neighbour: Group | undefined): number {
    if (neighbour === undefined) return 0
    const [x, y] = [group.x - neighbour.x, group.y - neighbour.y]
    const cos = Math.cos((group.lat * Math.PI) / 180)
    const east = x + (lon - group.lon) * METERS_PER_DEGREE * cos
    const north = y + (lat - group.lat) * METERS_PER_DEGREE
    const meters = Math.hypot(x, y)
    const perMeter = streetMeters(this.#weights, this.#paceOver(meters), edge) / this.#weights.network.edgeLength[edge]!
    return (Math.hypot(east, north) - meters) * perMeter
  }

  /** Cost of streets in a step between points at a distance. */
  #paceOver(meters: number): Pace {
    return paceOf(TIME_SHARE * Math.min(1, meters / TIME_METERS), this.#weights.costing.family)
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
    const meters = metersBetween(group, before)
    const seconds = before.seconds === null || group.seconds === null ? null : group.seconds - before.seconds
    if (meters > trace.breakage || (seconds !== null && seconds > trace.gapSeconds)) return false
    const slack = 3 * noise
    const speed = Math.max(this.#fastestOn(sources), this.#fastestOn(targets))
    const fastest = seconds === null || seconds <= 0 ? Infinity : seconds * speed
    if (meters > fastest + 6 * noise) return false
    const most = Math.min(5 * meters + DETOUR_METERS, fastest) + 12 * noise
    const { sweep: steps, giveBack } = takeSteps(this.#turns, this.#weights.network.edgeCount)
    steps.begin({ sources, targets }, rules, {
      states: this.#bounds.states,
      most: most + rules.turnBackMeters,
      window: WINDOW_METERS + meters / 2,
      slack,
      turnShare: Math.min(1, Math.max(LEAST_TURN_SHARE, meters / TURN_METERS)),
      pace: this.#paceOver(meters),
      goal: { lon: group.lon, lat: group.lat, radius: targets.at(-1)!.meters },
    })
    const { statesPerTurn } = this.#bounds
    while (!steps.advance(statesPerTurn)) yield null
    this.#left += steps.end() % statesPerTurn
    giveBack()
    for (const target of targets) if (metersOf(this.#weights.network, target) > most) target.cost = Infinity
    return targets.some(({ cost }) => cost < Infinity)
  }

  /** Maximum plausible speed of a traveller who may be at one of the places, in metres per second. */
  #fastestOn(places: readonly Candidate[]): number {
    const { network, costing } = this.#weights
    const own = FASTEST[costing.family]
    const isFerry = ({ edge }: Candidate): boolean => get(network.edgeInfo[edge]!, EdgeField.use) === Use.ferry
    return own < FASTEST_FERRY && places.some(isFerry) ? FASTEST_FERRY : own
  }
}

interface Surroundings {
  readonly noise: number
  /** The groups before and after; undefined at the ends of a chain. */
  readonly neighbours: readonly (Group | undefined)[]
}

interface Pair {
  readonly before: Group
  readonly group: Group
  readonly trace: Trace
  readonly noise: number
  readonly rules: StepRules
}

/** Length of the path to a candidate from the previous one, in metres. */
function metersOf({ edgeLength }: Graph, { along, back }: Candidate): number {
  if (back === null) return 0
  const { edges, from, turnsBack } = back
  const [last, before] = [edges.at(-1)!, turnsBack ? 1 - from.along : from.along]
  const passed = turnsBack ? edges.slice(1) : edges
  let meters = along * edgeLength[last]! - before * edgeLength[passed[0]!]!
  for (let i = 0; i < passed.length - 1; i++) meters += edgeLength[passed[i]!]!
  return meters
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
