import { createCosting } from './cost/create.ts'
import { TextReader } from './graph/texts.ts'
import { CostingStore, type PreparedCosting } from './network/costings.ts'
import type { Network } from './network/network.ts'
import type { CostOptions, Mode } from './cost/options.ts'
import { AT_SOME_TIME } from './cost/rights.ts'
import { speedsFrom } from './path/clock.ts'
import type { SpeedAt } from './path/elapsed.ts'
import { type Leg, planLegs, type TripContext, type TripStop } from './path/legs.ts'
import { Planner, type SearchKind } from './path/planner.ts'
import type { Closures } from './path/path.ts'
import type { Schedule } from './path/schedule.ts'
import { closuresOf } from './request/closures.ts'
import type { Limits } from './request/limits.ts'
import type { Location, Ring } from './request/location.ts'
import { RouteProblem } from './request/problems.ts'
import type { RouteRequest } from './request/request.ts'
import type { TripSource } from './respond/trip.ts'
import { isReachable, type Reach } from './snap/reach.ts'
import { Regions } from './snap/regions.ts'
import type { Snapped } from './snap/candidate.ts'
import { snap } from './snap/snap.ts'
import { TimedLaw, TimedRules } from './time/timed-rules.ts'

/** Options of a router. */
export interface GroundOptions {
  readonly limits: Limits
  readonly search: SearchKind
  readonly costings: number
  readonly now: () => Date
  /** Date of the data of the network; null when unknown. */
  readonly builtAt: Date | null
}

/** A costing, with the excluded places of a request. */
export interface Terms {
  readonly mode: Mode
  readonly options: CostOptions
  readonly excludeLocations: readonly Location[]
  readonly excludePolygons: readonly Ring[]
}

/** The stops of a trip, and its schedule. */
export interface Journey extends Pick<TripContext, 'onTurnAround'> {
  readonly stops: readonly TripStop[]
  readonly schedule: Schedule | null
}

/** Common context of all actions: a network with its texts, costings and timed rules, and the snapping of locations. */
export class Ground {
  readonly network: Network
  readonly limits: Limits
  readonly search: SearchKind
  readonly now: () => Date
  readonly builtAt: Date | null
  readonly texts: TextReader
  readonly regions: Regions
  readonly costings: CostingStore
  readonly timedRules: TimedRules

  constructor(network: Network, { limits, search, costings, now, builtAt }: GroundOptions) {
    this.network = network
    this.limits = { ...limits, construction: network.file.meta.construction === true }
    this.search = search
    this.now = now
    this.builtAt = builtAt
    this.texts = new TextReader(network.graph)
    this.timedRules = new TimedRules(network.graph, this.texts)
    this.regions = new Regions(network.graph)
    this.costings = new CostingStore(network, costings)
  }

  law(prepared: PreparedCosting): TimedLaw {
    return new TimedLaw(this.timedRules, prepared.costing)
  }

  /** Planner of a request; with a schedule its paths obey the timed rules. */
  planner({ mode, options }: Terms, prepared: PreparedCosting, closures: Closures, schedule: Schedule | null): Planner {
    if (schedule === null || this.timedRules.isEmpty) return new Planner(prepared, closures, this.search)
    const atSomeTime = this.costings.get(mode, { ...options, [AT_SOME_TIME]: true })
    const clock = { law: this.law(prepared), stands: schedule.stands }
    return new Planner(atSomeTime, closures, this.search, clock)
  }

  /** Costing for snapping locations: with a schedule it includes streets that are open only at that time. */
  placing({ mode, options }: Terms, prepared: PreparedCosting, schedule: Schedule | null): PreparedCosting {
    if (schedule === null || this.timedRules.isEmpty) return prepared
    const law = this.law(prepared)
    const atSomeTime = this.costings.get(mode, { ...options, [AT_SOME_TIME]: true })
    const moment = schedule.begin(0)
    const snapOpen = (edge: number): boolean =>
      prepared.costing.snapOpen(edge) || (atSomeTime.costing.snapOpen(edge) && law.edge(edge, moment) !== 'closed')
    return { ...atSomeTime, costing: { ...atSomeTime.costing, snapOpen } }
  }

  /** Speeds by time for a departure from location `i` of a schedule. */
  speeds(prepared: PreparedCosting, schedule: Schedule, i: number): SpeedAt {
    return speedsFrom({ law: this.law(prepared), stands: schedule.stands }, schedule.begin(i))
  }

  /** The legs over stops on the cheapest paths, by the timed rules of a schedule; null when there is no route. */
  legs(prepared: PreparedCosting, planner: Planner, { stops, schedule, onTurnAround }: Journey): Leg[] | null {
    const { graph } = this.network
    const { costing } = prepared
    const speedsOf = schedule === null ? undefined : (i: number) => this.speeds(prepared, schedule, i)
    const plan = (): Leg[] | null =>
      planLegs(
        {
          graph,
          costing,
          onTurnAround,
          ...(speedsOf && { speedsFrom: speedsOf }),
          findPath: (from, to, i) => {
            const path = planner.find(from, to, schedule?.begin(i))
            if (path !== null) schedule?.note({ graph, costing }, i, path, speedsOf?.(i))
            return path
          },
        },
        stops,
      )
    return schedule === null ? plan() : schedule.plan(plan)
  }

  /** Context of the answer to a request for a route. */
  source(prepared: PreparedCosting, request: RouteRequest, schedule: Schedule | null): TripSource {
    const { graph } = this.network
    const recostings = request.recostings.map(({ name, mode, options }) => ({
      name,
      costing: createCosting(graph, mode, options),
    }))
    return {
      graph,
      texts: this.texts,
      costing: prepared.costing,
      request,
      schedule,
      law: this.law(prepared),
      recostings,
    }
  }

  /** The edges that a request closes. */
  closures(prepared: PreparedCosting, { excludeLocations, excludePolygons }: Terms): Closures {
    const places = excludeLocations.flatMap((location) => {
      const nodes = location.minimumReachability
      return this.snap(prepared, location, { inbound: nodes, outbound: nodes })?.candidates ?? []
    })
    return closuresOf({ graph: this.network.graph, costing: prepared.costing }, places, excludePolygons)
  }

  /**
   * Snaps a location to the network. The first and the last location of a route need reach in one direction only,
   * because the route only leaves or arrives there.
   *
   * @throws RouteProblem 171 when nothing is near
   */
  stop(prepared: PreparedCosting, location: Location, place: 'begin' | 'between' | 'end'): TripStop {
    const nodes = location.minimumReachability
    const reach = { inbound: place === 'begin' ? 0 : nodes, outbound: place === 'end' ? 0 : nodes }
    const snapped = this.snap(prepared, location, reach)
    if (snapped === null) throw new RouteProblem(171)
    const { graph } = this.network
    return {
      type: location.type,
      snapped,
      isReachable: ({ edge }) => isReachable(graph, prepared.weights, edge, reach),
    }
  }

  /** Candidates of a location; null when no street is near. */
  snap({ costing, weights }: PreparedCosting, location: Location, reach: Reach): Snapped | null {
    const { graph } = this.network
    const through = location.type === 'through' || location.type === 'break_through'
    const reaches = (edge: number): boolean => isReachable(graph, weights, edge, reach)
    return snap(graph, costing, { ...location, through, isReachable: reaches })
  }

  /** The separate regions of data that contain the candidates of a stop. */
  regionsOf({ snapped }: TripStop): Set<number> {
    return new Set(snapped.candidates.map(({ lon, lat }) => this.regions.at(lon, lat)))
  }
}
