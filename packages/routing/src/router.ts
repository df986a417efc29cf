import { type Action, ACTIONS, type Work } from './actions.ts'
import { Ground } from './ground.ts'
import { isochroneOf } from './isochrone/isochrone.ts'
import { readIsochroneRequest } from './isochrone/request.ts'
import { locate } from './locate/locate.ts'
import { readLocateRequest } from './locate/request.ts'
import { statusOf } from './locate/status.ts'
import { matrixOf } from './matrix/matrix.ts'
import { readMatrixRequest } from './matrix/request.ts'
import type { Network } from './network/network.ts'
import { traceAttributesOf } from './match/attributes.ts'
import { readTraceRequest } from './match/request.ts'
import { traceRouteOf } from './match/trace-route.ts'
import type { SearchKind } from './path/planner.ts'
import { DEFAULT_LIMITS, type Limits } from './request/limits.ts'
import { nearestOf } from './osrm/nearest.ts'
import { parse } from './request/parts.ts'
import { osrmProblem, RouteProblem } from './request/problems.ts'
import type { Json } from './request/read.ts'
import { checkRequest, readRequest } from './request/request.ts'
import { answerOf } from './respond/answer.ts'
import type { RouteResponse } from './respond/response.ts'
import { readTileRequest } from './tile/request.ts'
import { tileOf } from './tile/tile.ts'
import { readTourRequest } from './tour/request.ts'
import { tourOf } from './tour/tour.ts'
import { findRoute } from './route.ts'

/** Options of a router. */
export interface RouterOptions {
  readonly limits?: Limits
  /** Search algorithm; the hierarchy when absent. */
  readonly search?: SearchKind
  /** Maximum number of prepared costings with options. */
  readonly costings?: number
  /** Actions that `status` lists as served; all when absent. */
  readonly actions?: readonly Action[]
  /** Creation time of the network's data, for `status`. */
  readonly builtAt?: Date
  readonly now?: () => Date
}

/** A complete answer: an HTTP status and a text, which is JSON unless it is marked as GPX. */
export interface SentAnswer {
  readonly status: number
  readonly body: string
  readonly type?: 'gpx'
}

/** An answer to a request for a tile: the bytes of a Mapbox Vector Tile, or the JSON of a problem. */
export interface TileAnswer {
  readonly status: number
  readonly body: string | Uint8Array
}

/**
 * Answers requests on a network. It works in the calling thread: a route takes about a millisecond; a matrix or an
 * isochrone takes longer with its size, and runs in steps with `work`.
 */
export class Router {
  readonly network: Network
  readonly #ground: Ground
  readonly #actions: readonly Action[]

  constructor(network: Network, options: RouterOptions = {}) {
    this.network = network
    this.#actions = options.actions ?? ACTIONS
    this.#ground = new Ground(network, {
      limits: options.limits ?? DEFAULT_LIMITS,
      search: options.search ?? 'hierarchy',
      costings: options.costings ?? 8,
      now: options.now ?? (() => new Date()),
      builtAt: options.builtAt ?? null,
    })
  }

  /**
   * Answers the text of a request with the text of a response, or with a tile.
   *
   * @throws only unexpected errors
   */
  answer(text: string, action: 'tile'): TileAnswer
  answer(text: string, action?: Exclude<Action, 'tile'>): SentAnswer
  answer(text: string, action: Action = 'route'): SentAnswer | TileAnswer {
    try {
      if (action === 'route') {
        const answer = answerOf(findRoute(this.#ground, readRequest(text, this.#ground.limits)))
        return typeof answer === 'string'
          ? { status: 200, body: answer, type: 'gpx' }
          : { status: 200, body: JSON.stringify(answer) }
      }
      const parts: string[] = []
      for (const part of this.work(text, action, { mayWait: false })) {
        if (part instanceof Uint8Array)
          return action === 'tile' ? { status: 200, body: part } : { status: 200, body: textOf(part), type: 'gpx' }
        if (part !== null) parts.push(part)
      }
      return { status: 200, body: parts.join('') }
    } catch (error) {
      return refusalOf(error, text)
    }
  }

  /**
   * Answers the text of a request in steps, so that long work can be interrupted. Problems are thrown; `refusalOf`
   * converts them to answers.
   *
   * @param mayWait whether to wait, between steps, for the hierarchy of a costing with options; otherwise slower
   * searches answer until it is ready
   * @throws RouteProblem
   */
  work(text: string, action: Exclude<Action, 'route'>, { mayWait }: { mayWait: boolean }): Work {
    const ground = this.#ground
    switch (action) {
      case 'sources_to_targets':
        return matrixOf(ground, readMatrixRequest(text, ground.limits), mayWait)
      case 'optimized_route':
        return tourOf(ground, readTourRequest(text, ground.limits), mayWait)
      case 'isochrone':
        return isochroneOf(ground, readIsochroneRequest(text, ground.limits))
      case 'locate': {
        const request = readLocateRequest(text, ground.limits)
        return request.form === 'osrm'
          ? once(JSON.stringify(nearestOf(ground, request)))
          : list(locate(ground, request))
      }
      case 'trace_route':
        return traceRouteOf(ground, readTraceRequest(text, action, ground.limits))
      case 'trace_attributes':
        return traceAttributesOf(ground, readTraceRequest(text, action, ground.limits))
      case 'tile':
        return tileOf(ground, readTileRequest(text))
      case 'status':
        return once(JSON.stringify(statusOf(ground, parse(text), this.#actions)))
    }
  }

  /**
   * Answers a route request in Valhalla's form, regardless of its `format`.
   *
   * @throws RouteProblem when it cannot be answered with a route
   */
  route(request: Json): RouteResponse {
    const checked = { ...checkRequest(request, this.#ground.limits), format: 'json' as const }
    return answerOf(findRoute(this.#ground, checked)) as RouteResponse
  }

  /** Resolves when the hierarchy for a request is prepared, so that the answer is fast; false when it will not be. */
  ready(request: Json): Promise<boolean> {
    const { mode, options } = checkRequest(request, this.#ground.limits)
    return this.#ground.costings.ready(mode, options)
  }

  /** Stops background work. */
  close(): Promise<void> {
    return this.#ground.costings.close()
  }
}

/**
 * The error answer to a request, in the format that its text selects.
 *
 * @throws any error that is not a `RouteProblem`
 */
export function refusalOf(error: unknown, text: string): SentAnswer {
  if (!(error instanceof RouteProblem)) throw error
  const { body } = error
  return { status: body.status_code, body: JSON.stringify(asksForOsrm(text) ? osrmProblem(body) : body) }
}

/** Whether the text of a refused request selects OSRM's format. */
function asksForOsrm(text: string): boolean {
  return /"format"\s*:\s*"osrm"/.test(text)
}

/** Converts GPX, which is sent as bytes like other answers that are not JSON. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

function* once(text: string): Work {
  yield text
}

/** Items as a JSON list, one per step. */
function* list(items: Iterable<unknown>): Work {
  let before = '['
  for (const item of items) {
    yield before + JSON.stringify(item)
    before = ','
  }
  yield ']'
}
