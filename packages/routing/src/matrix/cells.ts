import { AT_SOME_TIME } from '../cost/rights.ts'
import type { Ground, Terms } from '../ground.ts'
import type { PreparedCosting } from '../network/costings.ts'
import type { Leg, TripStop } from '../path/legs.ts'
import { type Closures, seedsOf, type Stop } from '../path/path.ts'
import type { Planner } from '../path/planner.ts'
import { Schedule } from '../path/schedule.ts'
import { seedOf, TOO_FAR } from '../path/sweeping.ts'
import { Buckets, type ManyRow } from '../search/cch/many.ts'
import { type Label, labelOf } from '../search/cch/hierarchy.ts'
import { UNREACHABLE } from '../search/search.ts'
import type { SweepSeed } from '../search/sweep.ts'
import type { Candidate } from '../snap/candidate.ts'
import type { TimedLaw } from '../time/timed-rules.ts'
import { ArcValues } from './arc-values.ts'
import type { MatrixRequest } from './request.ts'

/** Time and distance from a source to a target. */
export interface Cell {
  readonly cost: number
  readonly seconds: number
  readonly meters: number
  readonly origin: Candidate
  readonly destination: Candidate
  /** The path, when lines are requested. */
  readonly leg: Leg | null
}

/** Inputs of the cells. */
export type CellsRequest = Pick<MatrixRequest, 'sources' | 'targets' | 'dateTime' | 'shapeFormat'> & Terms

/** A snapped location, and its label in the hierarchy. */
interface End {
  readonly stop: TripStop
  readonly seeds: readonly PlacedSeed[]
  readonly edges: ReadonlySet<number>
  label: Label | null
  sums: Sums | null
}

type PlacedSeed = SweepSeed & { readonly candidate: Candidate }

/** Seconds and metres from the seeds of a location to each entry of its label. */
interface Sums {
  readonly seconds: Float64Array
  readonly meters: Float64Array
  /** −1 before the first sum. */
  readonly marked: Int8Array
  readonly seed: Int32Array
}

/** Number of sources or targets per step. */
const STEP = 32
/** Number of individually searched cells per step. */
const SEARCHES = 8

/**
 * The cells of a matrix, a row at a time, each equal to the route between its two locations: it climbs once from each
 * location and compares a source with all targets where they meet. A search is needed only for cells whose path may
 * violate closures or timed rules, that lie on one street, or that have no path between their nearest places.
 */
export class Cells {
  readonly #ground: Ground
  readonly #request: CellsRequest
  readonly #prepared: PreparedCosting
  readonly #used: PreparedCosting
  readonly #closures: Closures
  readonly #timed: TimedLaw | null
  readonly #sources: readonly End[]
  readonly #targets: readonly End[]
  /** Targets with a candidate on an edge, by edge. */
  readonly #targetsOn = new Map<number, number[]>()
  readonly #values: ArcValues | null
  #buckets: Buckets | null = null

  /** @param stops snapped sources and targets */
  constructor(
    ground: Ground,
    request: CellsRequest,
    prepared: PreparedCosting,
    stops: { readonly sources: readonly TripStop[]; readonly targets: readonly TripStop[] },
  ) {
    this.#ground = ground
    this.#request = request
    this.#prepared = prepared
    this.#used = usedCosting(ground, request, prepared)
    this.#closures = ground.closures(prepared, request)
    this.#timed = this.#used === prepared ? null : ground.law(prepared)
    this.#sources = stops.sources.map((stop) => this.#endOf(stop, 'origin'))
    this.#targets = stops.targets.map((stop) => this.#endOf(stop, 'destination'))
    for (const [j, { edges }] of this.#targets.entries()) {
      for (const edge of edges) this.#targetsOn.set(edge, [...(this.#targetsOn.get(edge) ?? []), j])
    }
    const { customized, turns, weights } = this.#used
    this.#values =
      customized === null || ground.search !== 'hierarchy'
        ? null
        : new ArcValues(
            customized.metric,
            turns.topology.vertex,
            // Seconds are those of the requested costing, also for streets that are open only at some hours.
            { network: weights.network, graph: weights.graph, costing: prepared.costing },
            (from, to) => this.#isMarked(from, to),
          )
  }

  /** Prepares the targets, in steps. */
  *prepare(): Generator<void> {
    if (this.#values === null) return
    for (const [i, end] of this.#targets.entries()) {
      end.label = this.#climb(end, 'down')
      if (i % STEP === STEP - 1) yield
    }
    this.#buckets = new Buckets(this.#targets.map(({ label }) => label!))
  }

  /** The cells of a source, in steps; null without a path. */
  *row(i: number): Generator<void, (Cell | null)[]> {
    const source = this.#sources[i]!
    const cells: (Cell | null)[] = []
    let row: ManyRow | null = null
    if (this.#values !== null && this.#request.shapeFormat === 'no_shape') {
      this.#values.tidy()
      source.label ??= this.#climb(source, 'up')
      row = this.#buckets!.row(source.label)
    }
    let searches = 0
    const meets = this.#meeting(source)
    for (const [j, target] of this.#targets.entries()) {
      let cell: Cell | null | undefined
      if (row !== null) {
        cell = meets[j] === 1 ? (sameSpot(source, target) ?? undefined) : this.#fromRow(source, target, row, j)
      }
      if (cell === undefined) {
        cell = this.#search(i, j)
        if (++searches % SEARCHES === 0) yield
      }
      cells.push(cell)
    }
    source.label = null
    source.sums = null
    return cells
  }

  #endOf(stop: TripStop, end: 'origin' | 'destination'): End {
    const { candidates } = stop.snapped
    const ends =
      end === 'origin' ? { origins: candidates, destinations: [] } : { origins: [], destinations: candidates }
    const { origins, destinations } = seedsOf(this.#used.weights, { ...ends, closures: this.#closures })
    const stops: ReadonlyMap<number, Stop> = end === 'origin' ? origins : destinations
    const seeds = Array.from(stops, ([vertex, at]) => {
      return { ...seedOf(this.#prepared, vertex, at, end), candidate: at.candidate }
    })
    return { stop, seeds, edges: new Set(candidates.map(({ edge }) => edge)), label: null, sums: null }
  }

  #climb({ seeds }: End, direction: 'up' | 'down'): Label {
    const { customized, turns } = this.#used
    const { topology, hierarchyScratch } = turns
    return labelOf(customized!.metric, topology, seeds, {
      direction,
      climb: direction === 'up' ? hierarchyScratch.forward : hierarchyScratch.backward,
    })
  }

  /** Targets with a candidate on an edge of the source: a 1 by target number. */
  #meeting({ edges }: End): Uint8Array {
    const meets = new Uint8Array(this.#targets.length)
    for (const edge of edges) for (const j of this.#targetsOn.get(edge) ?? []) meets[j] = 1
    return meets
  }

  /** A cell from a row; undefined when a search is needed. */
  #fromRow(source: End, target: End, { cost, sourceEntry, targetEntry }: ManyRow, j: number): Cell | null | undefined {
    const sum = cost[j]!
    if (sum >= UNREACHABLE) {
      const { filtered: a } = source.stop.snapped
      const { filtered: b } = target.stop.snapped
      return a.length === 0 && b.length === 0 ? null : undefined
    }
    // Such a high cost means an excluded street; a search decides whether it is allowed here.
    if (sum >= TOO_FAR) return undefined
    const [at, to] = [sourceEntry[j]!, targetEntry[j]!]
    const before = this.#summed(source, at, 'up')
    const after = this.#summed(target, to, 'down')
    if (before.marked[at] === 1 || after.marked[to] === 1) return undefined
    return {
      cost: sum,
      seconds: before.seconds[at]! + after.seconds[to]!,
      meters: before.meters[at]! + after.meters[to]!,
      origin: source.seeds[before.seed[at]!]!.candidate,
      destination: target.seeds[after.seed[to]!]!.candidate,
      leg: null,
    }
  }

  /** The sums of a label, computed up to an entry. */
  #summed(end: End, entry: number, direction: 'up' | 'down'): Sums {
    const label = end.label!
    const sums = (end.sums ??= sumsOf(label.rank.length))
    if (sums.marked[entry] !== -1) return sums
    const open: number[] = []
    let at = entry
    while (sums.marked[at] === -1 && label.from[at]! >= 0) {
      open.push(at)
      at = label.from[at]!
    }
    if (sums.marked[at] === -1) this.#sumSeed(end, sums, at)
    const values = this.#values!
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const before = label.from[next]!
      const value = values.of(direction, label.by[next]!, label.rank[before]!, label.rank[next]!)
      sums.seconds[next] = sums.seconds[before]! + values.seconds[value]!
      sums.meters[next] = sums.meters[before]! + values.meters[value]!
      sums.marked[next] = sums.marked[before]! | values.marked[value]!
      sums.seed[next] = sums.seed[before]!
    }
    return sums
  }

  #sumSeed({ seeds, label }: End, sums: Sums, entry: number): void {
    const { topology } = this.#used.turns
    const vertex = topology.vertex[label!.rank[entry]!]!
    const at = seeds.findIndex((seed) => seed.vertex === vertex)
    const seed = seeds[at]!
    sums.seconds[entry] = seed.seconds
    sums.meters[entry] = seed.meters
    sums.marked[entry] = this.#isSeedMarked(seed) ? 1 : 0
    sums.seed[entry] = at
  }

  /** Whether the path of a seed already contains a step that needs a check. */
  #isSeedMarked({ vertex, candidate }: PlacedSeed): boolean {
    const edge = this.#used.weights.graph.edgeOf(vertex)
    return edge !== candidate.edge && this.#isMarked(edge, candidate.edge)
  }

  #isMarked(from: number, to: number): boolean {
    return this.#closures.has(from) || this.#closures.has(to) || (this.#timed?.isTimed(to) ?? false)
  }

  /** The cell by a route search. */
  #search(i: number, j: number): Cell | null {
    const { dateTime, sources, targets } = this.#request
    const { graph } = this.#ground.network
    const schedule = dateTime === null ? null : new Schedule(dateTime, [sources[i]!, targets[j]!], this.#ground.now())
    const planner: Planner = this.#ground.planner(this.#request, this.#prepared, this.#closures, schedule)
    const stops = [this.#sources[i]!.stop, this.#targets[j]!.stop]
    const [leg] = this.#ground.legs(this.#prepared, planner, { stops, schedule }) ?? []
    if (leg === undefined) return null
    const { cost, seconds } = leg.edges.at(-1)!
    const meters = leg.edges.reduce((sum, { edge, begin, end }) => sum + graph.edgeLength[edge]! * (end - begin), 0)
    return { cost, seconds, meters, origin: leg.origin, destination: leg.destination, leg }
  }
}

/** The costing for paths: with a time, it may use all edges that are open at some time. */
export function usedCosting(
  ground: Ground,
  { mode, options, dateTime }: CellsRequest,
  prepared: PreparedCosting,
): PreparedCosting {
  if (dateTime === null || ground.timedRules.isEmpty) return prepared
  return ground.costings.get(mode, { ...options, [AT_SOME_TIME]: true })
}

function sumsOf(size: number): Sums {
  return {
    seconds: new Float64Array(size),
    meters: new Float64Array(size),
    marked: new Int8Array(size).fill(-1),
    seed: new Int32Array(size),
  }
}

/** A cell of zero length, when both locations are at the same place. */
function sameSpot(source: End, target: End): Cell | null {
  for (const origin of source.stop.snapped.candidates) {
    for (const destination of target.stop.snapped.candidates) {
      if (origin.edge !== destination.edge || origin.along !== destination.along) continue
      if (origin.penalty + destination.penalty === 0) {
        return { cost: 0, seconds: 0, meters: 0, origin, destination, leg: null }
      }
    }
  }
  return null
}
