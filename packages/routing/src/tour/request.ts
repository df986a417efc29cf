import { checkDistances } from '../matrix/request.ts'
import type { Limits } from '../request/limits.ts'
import { parse } from '../request/parts.ts'
import { RouteProblem, type Warning, warning } from '../request/problems.ts'
import { flagOf, type Json } from '../request/read.ts'
import { checkRequest, type RequestRules, type RouteRequest } from '../request/request.ts'
import { MEMBER_UNHEEDED } from '../request/unheeded.ts'
import type { TourEnds } from './order.ts'

/** A request for a route over stops in the best order. */
export interface TourRequest {
  /** The route, its locations in the order of the request. */
  readonly route: RouteRequest
  readonly ends: TourEnds
}

/** A tour needs the times between all its stops, so the limits of a matrix apply. */
const RULES: RequestRules = {
  empty: 112,
  transit: () => new RouteProblem(140, 'optimized_route'),
  hasAlternates: false,
  checkExtent: (locations, mode, { matrix: { pairs, meters } }) => {
    if (locations.length ** 2 > pairs) throw new RouteProblem(150, String(Math.floor(Math.sqrt(pairs))))
    checkDistances(locations, locations, meters[mode])
  },
}

/**
 * Reads a request for `optimized_route`: a route's, with OSRM's `source` (`first`, `any`), `destination` (`last`,
 * `any`) and `roundtrip`. By default the first and the last location are fixed, as in Valhalla.
 *
 * @throws RouteProblem
 */
export function readTourRequest(text: string, limits: Limits): TourRequest {
  const body = parse(text)
  const request = checkRequest(body, limits, RULES)
  const warnings: Warning[] = [...request.warnings]
  if (request.format === 'gpx') warnings.push(warning(211))
  const isFixed = (name: string, end: string): boolean => {
    const said = body[name] ?? end
    if (said !== 'any' && said !== end) warnings.push(unheeded(name, `the tour keeps to the ${end} location`))
    return said !== 'any'
  }
  const ends = {
    first: isFixed('source', 'first') ? 0 : null,
    last: isFixed('destination', 'last') ? request.locations.length - 1 : null,
    closed: readRoundTrip(body, warnings),
  }
  return {
    ends,
    route: {
      ...request,
      warnings,
      format: request.format === 'gpx' ? 'json' : request.format,
      isTrip: request.format === 'osrm' && Array.isArray(body.unheeded),
    },
  }
}

function readRoundTrip({ roundtrip }: Json, warnings: Warning[]): boolean {
  if (roundtrip === undefined || roundtrip === 'false') return false
  const said = roundtrip === 'true' || flagOf(roundtrip)
  if (said === null) warnings.push(unheeded('roundtrip', 'the tour does not go back'))
  return said ?? false
}

function unheeded(name: string, instead: string): Warning {
  return { code: MEMBER_UNHEEDED, text: `"${name}" has no such value: ${instead}` }
}
