import { TextReader } from './graph/texts.ts'
import { CostingStore, type PreparedCosting } from './network/costings.ts'
import type { Network } from './network/network.ts'
import { alternates } from './path/alternates.ts'
import { joinPaths, type Leg, planLegs, type TripStop } from './path/legs.ts'
import { Planner, type SearchKind } from './path/planner.ts'
import { closuresOf } from './request/closures.ts'
import { DEFAULT_LIMITS, type Limits } from './request/limits.ts'
import type { Location } from './request/location.ts'
import { RouteProblem } from './request/problems.ts'
import type { Json } from './request/read.ts'
import { checkRequest, readRequest, type RouteRequest } from './request/request.ts'
import type { RouteResponse } from './respond/response.ts'
import { tellTrip } from './respond/trip.ts'
import { isReachable, type Reach } from './snap/reach.ts'
import { Regions } from './snap/regions.ts'
import { snap } from './snap/snap.ts'

/** How a router answers. */
export interface RouterOptions {
  readonly limits?: Limits
  /** What finds the paths; the hierarchy when absent. */
  readonly search?: SearchKind
  /** How many costings with options of their own are kept ready. */
  readonly costings?: number
  readonly now?: () => Date
}

/** An answer as it is sent: an HTTP status and a JSON text. */
export interface SentAnswer {
  readonly status: number
  readonly body: string
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

  constructor(network: Network, options: RouterOptions = {}) {
    this.network = network
    this.#limits = options.limits ?? DEFAULT_LIMITS
    this.#search = options.search ?? 'hierarchy'
    this.#now = options.now ?? (() => new Date())
    this.#texts = new TextReader(network.graph)
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
      return { status: 200, body: JSON.stringify(this.#route(readRequest(text, this.#limits))) }
    } catch (error) {
      if (error instanceof RouteProblem) return { status: error.body.status_code, body: JSON.stringify(error.body) }
      throw error
    }
  }

  /**
   * Answers a request.
   *
   * @throws RouteProblem when it cannot be answered with a route
   */
  route(request: Json): RouteResponse {
    return this.#route(checkRequest(request, this.#limits))
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

  #route(request: RouteRequest): RouteResponse {
    const prepared = this.#costings.get(request.mode, request.options)
    const last = request.locations.length - 1
    const stops = request.locations.map((location, i) => {
      const nodes = location.minimumReachability
      // Nobody arrives where a route begins, or goes on from where it ends.
      return this.#stop(prepared, location, { inbound: i === 0 ? 0 : nodes, outbound: i === last ? 0 : nodes })
    })
    this.#checkRegions(stops)
    const routes = this.#routes(request, prepared, stops)
    const { graph } = this.network
    const now = localMinute(this.#now())
    const [trip, ...others] = routes.map((legs) =>
      tellTrip({ graph, texts: this.#texts, costing: prepared.costing, request, now }, legs),
    )
    return {
      trip: trip!,
      ...(others.length > 0 && { alternates: others.map((other) => ({ trip: other })) }),
      ...(request.id !== null && { id: request.id }),
    }
  }

  /** The legs of the best route, then those of its alternates. */
  #routes(request: RouteRequest, prepared: PreparedCosting, stops: readonly TripStop[]): Leg[][] {
    const { graph } = this.network
    const { costing } = prepared
    const places = request.excludeLocations.flatMap((location) => {
      const nodes = location.minimumReachability
      return this.#snap(prepared, location, { inbound: nodes, outbound: nodes })?.candidates ?? []
    })
    const planner = new Planner(prepared, closuresOf({ graph, costing }, places, request.excludePolygons), this.#search)
    if (request.alternates > 0) {
      const [origin, destination] = stops.map(({ snapped }) => snapped.candidates)
      const paths = alternates({ graph, costing, planner, count: request.alternates }, origin!, destination!)
      if (paths.length > 0) return paths.map((path) => [joinPaths(graph, costing, [path])])
    }
    const legs = planLegs({ graph, costing, findPath: (from, to) => planner.find(from, to) }, stops)
    if (legs === null) throw new RouteProblem(442)
    return [legs]
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

function localMinute(date: Date): string {
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}
