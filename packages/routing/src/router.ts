import { TextReader } from './graph/texts.ts'
import { CostingStore, type PreparedCosting } from './network/costings.ts'
import type { Network } from './network/network.ts'
import { createCosting } from './cost/create.ts'
import { AT_SOME_TIME } from './cost/rights.ts'
import { alternates } from './path/alternates.ts'
import { joinPaths, type Leg, planLegs, type TripStop } from './path/legs.ts'
import { Planner, type SearchKind } from './path/planner.ts'
import type { Closures } from './path/path.ts'
import { Schedule } from './path/schedule.ts'
import { closuresOf } from './request/closures.ts'
import { DEFAULT_LIMITS, type Limits } from './request/limits.ts'
import type { Location } from './request/location.ts'
import { osrmProblem, RouteProblem } from './request/problems.ts'
import type { Json } from './request/read.ts'
import { checkRequest, readRequest, type RouteRequest } from './request/request.ts'
import type { RouteResponse } from './respond/response.ts'
import { gpxOf } from './respond/gpx.ts'
import { osrmOf, type OsrmResponse } from './respond/osrm.ts'
import { tellLegs, tripOf } from './respond/trip.ts'
import { isReachable, type Reach } from './snap/reach.ts'
import { Regions } from './snap/regions.ts'
import { snap } from './snap/snap.ts'
import { TimedLaw, TimedRules } from './time/law.ts'

/** How a router answers. */
export interface RouterOptions {
  readonly limits?: Limits
  /** What finds the paths; the hierarchy when absent. */
  readonly search?: SearchKind
  /** How many costings with options of their own are kept ready. */
  readonly costings?: number
  readonly now?: () => Date
}

/** An answer as it is sent: an HTTP status and a text, JSON unless it is said to be GPX. */
export interface SentAnswer {
  readonly status: number
  readonly body: string
  readonly type?: 'gpx'
}

/** Answers route requests on a network. It works in the calling thread; one request takes about a millisecond. */
export class Router {
  readonly network: Network
  readonly #limits: Limits
  readonly #search: SearchKind
  readonly #now: () => Date
  readonly #texts: TextReader
  readonly #regions: Regions
  readonly #costings: CostingStore
  readonly #timedRules: TimedRules

  constructor(network: Network, options: RouterOptions = {}) {
    this.network = network
    this.#limits = options.limits ?? DEFAULT_LIMITS
    this.#search = options.search ?? 'hierarchy'
    this.#now = options.now ?? (() => new Date())
    this.#texts = new TextReader(network.graph)
    this.#timedRules = new TimedRules(network.graph, this.#texts)
    this.#regions = new Regions(network.graph)
    this.#costings = new CostingStore(network, options.costings ?? 8)
  }

  /**
   * Answers the text of a request with the text of a response.
   *
   * @throws only what no request should cause
   */
  answer(text: string): SentAnswer {
    try {
      const answer = this.#route(readRequest(text, this.#limits))
      return typeof answer === 'string'
        ? { status: 200, body: answer, type: 'gpx' }
        : { status: 200, body: JSON.stringify(answer) }
    } catch (error) {
      if (!(error instanceof RouteProblem)) throw error
      const { body } = error
      return { status: body.status_code, body: JSON.stringify(asksForOsrm(text) ? osrmProblem(body) : body) }
    }
  }

  /**
   * Answers a request in Valhalla's form, whatever its `format`.
   *
   * @throws RouteProblem when it cannot be answered with a route
   */
  route(request: Json): RouteResponse {
    return this.#route({ ...checkRequest(request, this.#limits), format: 'json' }) as RouteResponse
  }

  /** Resolves when the costing of a request is prepared, so that it is answered at full speed; false when it will not be. */
  ready(request: Json): Promise<boolean> {
    const { mode, options } = checkRequest(request, this.#limits)
    return this.#costings.ready(mode, options)
  }

  /** Ends what works in the background. */
  close(): Promise<void> {
    return this.#costings.close()
  }

  /** An answer; GPX as a text, the others as objects. */
  #route(request: RouteRequest): RouteResponse | OsrmResponse | string {
    const prepared = this.#costings.get(request.mode, request.options)
    const last = request.locations.length - 1
    const schedule = request.dateTime === null ? null : new Schedule(request.dateTime, request.locations, this.#now())
    const placing = this.#placing(request, prepared, schedule)
    const stops = request.locations.map((location, i) => {
      const nodes = location.minimumReachability
      // Nobody arrives where a route begins, or goes on from where it ends.
      return this.#stop(placing, location, { inbound: i === 0 ? 0 : nodes, outbound: i === last ? 0 : nodes })
    })
    this.#checkRegions(stops)
    const routes = this.#routes(request, prepared, stops, schedule)
    const { graph } = this.network
    const recostings = request.recostings.map(({ name, mode, options }) => ({
      name,
      costing: createCosting(graph, mode, options),
    }))
    const law = new TimedLaw(this.#timedRules, prepared.costing)
    const source = { graph, texts: this.#texts, costing: prepared.costing, request, schedule, law, recostings }
    const told = routes.map((legs) => tellLegs(source, legs))
    const { format, mode, osrm: options, warnings, id } = request
    if (format === 'gpx') return gpxOf(graph, told[0]!)
    if (format === 'osrm') return osrmOf({ graph, texts: this.#texts, mode, options, warnings }, told)
    const [trip, ...others] = told.map((legs) => tripOf(source, legs))
    return {
      trip: trip!,
      ...(others.length > 0 && { alternates: others.map((other) => ({ trip: other })) }),
      ...(id !== null && { id }),
    }
  }

  /** The legs of the best route, then those of its alternates. */
  #routes(
    request: RouteRequest,
    prepared: PreparedCosting,
    stops: readonly TripStop[],
    schedule: Schedule | null,
  ): Leg[][] {
    const { graph } = this.network
    const { costing } = prepared
    const places = request.excludeLocations.flatMap((location) => {
      const nodes = location.minimumReachability
      return this.#snap(prepared, location, { inbound: nodes, outbound: nodes })?.candidates ?? []
    })
    const closures = closuresOf({ graph, costing }, places, request.excludePolygons)
    const planner = this.#planner(request, prepared, closures, schedule)
    if (request.alternates > 0) {
      const [origin, destination] = stops.map(({ snapped }) => snapped.candidates)
      const given = { graph, costing, planner, count: request.alternates, startMs: schedule?.begin(0) ?? 0 }
      const paths = alternates(given, origin!, destination!)
      if (paths.length > 0) {
        schedule?.note({ graph, costing }, 0, paths[0]!)
        return paths.map((path) => [joinPaths(graph, costing, [path])])
      }
    }
    const plan = (): Leg[] | null =>
      planLegs(
        {
          graph,
          costing,
          findPath: (from, to, i) => {
            const path = planner.find(from, to, schedule?.begin(i))
            if (path !== null) schedule?.note({ graph, costing }, i, path)
            return path
          },
        },
        stops,
      )
    const legs = schedule === null ? plan() : schedule.plan(plan)
    if (legs === null) throw new RouteProblem(442)
    return [legs]
  }

  /** What finds the paths; with a schedule, paths that obey the rules of their hours. */
  #planner(
    { mode, options }: RouteRequest,
    prepared: PreparedCosting,
    closures: Closures,
    schedule: Schedule | null,
  ): Planner {
    if (schedule === null || this.#timedRules.isEmpty) return new Planner(prepared, closures, this.#search)
    const law = new TimedLaw(this.#timedRules, prepared.costing)
    const atSomeTime = this.#costings.get(mode, { ...options, [AT_SOME_TIME]: true })
    return new Planner(atSomeTime, closures, this.#search, { law, stands: schedule.stands })
  }

  /** What locations are put on: with a schedule also streets that are open at that hour only. */
  #placing({ mode, options }: RouteRequest, prepared: PreparedCosting, schedule: Schedule | null): PreparedCosting {
    if (schedule === null || this.#timedRules.isEmpty) return prepared
    const law = new TimedLaw(this.#timedRules, prepared.costing)
    const atSomeTime = this.#costings.get(mode, { ...options, [AT_SOME_TIME]: true })
    const moment = schedule.begin(0)
    const snapOpen = (edge: number): boolean =>
      prepared.costing.snapOpen(edge) || (atSomeTime.costing.snapOpen(edge) && law.edge(edge, moment) !== 'closed')
    return { ...atSomeTime, costing: { ...atSomeTime.costing, snapOpen } }
  }

  #stop(prepared: PreparedCosting, location: Location, reach: Reach): TripStop {
    const snapped = this.#snap(prepared, location, reach)
    if (snapped === null) throw new RouteProblem(171)
    const { graph } = this.network
    return {
      type: location.type,
      snapped,
      isReachable: ({ edge }) => isReachable(graph, prepared.weights, edge, reach),
    }
  }

  #snap({ costing, weights }: PreparedCosting, location: Location, reach: Reach): ReturnType<typeof snap> {
    const { graph } = this.network
    const through = location.type === 'through' || location.type === 'break_through'
    const reaches = (edge: number): boolean => isReachable(graph, weights, edge, reach)
    return snap(graph, costing, { ...location, through, isReachable: reaches })
  }

  /** @throws RouteProblem when the places of two locations are on different islands of data */
  #checkRegions(stops: readonly TripStop[]): void {
    const regions = stops.map(
      ({ snapped }) => new Set(snapped.candidates.map(({ lon, lat }) => this.#regions.at(lon, lat))),
    )
    const shared = regions.reduce((common, some) => common.intersection(some))
    if (shared.size === 0) throw new RouteProblem(170)
  }
}

/** Whether a text that was refused asks for answers in the form of OSRM. */
function asksForOsrm(text: string): boolean {
  return /"format"\s*:\s*"osrm"/.test(text)
}
