import { STATUS_CODES } from 'node:http'

import { TerraneError } from '@terrane/core'

type Problems = Readonly<Record<number, readonly [status: number, message: string, osrmCode?: string]>>

/**
 * Errors of a route request by Valhalla's numbers: the HTTP status, the message, and OSRM's code, `InvalidOptions` by
 * default.
 */
const PROBLEMS = {
  100: [400, 'Failed to parse json request', 'InvalidUrl'],
  101: [405, 'Try a POST or GET request instead', 'InvalidUrl'],
  106: [404, 'Try any of', 'InvalidService'],
  110: [400, "Insufficiently specified required parameter 'locations'"],
  111: [400, "Insufficiently specified required parameter 'time' or 'distance'"],
  112: [400, "Insufficiently specified required parameter 'locations' or 'sources & targets'"],
  113: [400, "Insufficiently specified required parameter 'contours'"],
  114: [400, "Insufficiently specified required parameter 'shape' or 'encoded_polyline'"],
  120: [400, 'Insufficient number of locations provided'],
  123: [400, 'Insufficient shape provided'],
  124: [400, 'No edge/node costing provided'],
  125: [400, 'No costing method found'],
  127: [400, 'Recostings require a valid costing parameter'],
  128: [400, "Recostings require a unique 'name' field for each recosting"],
  130: [400, 'Failed to parse location', 'InvalidValue'],
  131: [400, 'Failed to parse source', 'InvalidValue'],
  132: [400, 'Failed to parse target', 'InvalidValue'],
  133: [400, 'Failed to parse avoid', 'InvalidValue'],
  134: [400, 'Failed to parse shape', 'InvalidValue'],
  136: [400, 'durations size not compatible with trace size', 'InvalidValue'],
  137: [400, 'Failed to parse polygon', 'InvalidValue'],
  140: [400, 'Action does not support multimodal costing'],
  142: [400, 'Arrive by not implemented for isochrones'],
  143: [
    400,
    'ignore_closures in costing and exclude_closures in search_filter cannot both be specified',
    'InvalidValue',
  ],
  150: [400, 'Exceeded max locations', 'InvalidValue'],
  151: [400, 'Exceeded max time'],
  152: [400, 'Exceeded max contours'],
  153: [400, 'Too many shape points', 'TooBig'],
  154: [400, 'Path distance exceeds the max distance limit', 'DistanceExceeded'],
  157: [400, 'Exceeded max avoid locations', 'InvalidValue'],
  158: [400, 'Input trace option is out of bounds', 'InvalidValue'],
  160: [400, 'Date and time required for origin for date_type of depart at'],
  161: [400, 'Date and time required for destination for date_type of arrive by'],
  162: [400, 'Date and time is invalid.  Format is YYYY-MM-DDTHH:MM', 'InvalidValue'],
  164: [400, 'Invalid shape format', 'InvalidValue'],
  165: [400, 'Date and time required for destination for date_type of invariant'],
  166: [400, 'Exceeded max distance'],
  167: [400, 'Exceeded maximum circumference for exclude_polygons', 'PerimeterExceeded'],
  170: [400, 'Locations are in unconnected regions. Go check/edit the map at osm.org', 'NoRoute'],
  171: [400, 'No suitable edges near location', 'NoSegment'],
  174: [400, 'Invalid tile coordinates'],
  199: [500, 'Unknown'],
  441: [400, 'Location is unreachable', 'NoTrips'],
  442: [400, 'No path could be found for input', 'NoRoute'],
  443: [400, 'Exact route match algorithm failed to find path', 'NoMatch'],
  444: [400, 'Map Match algorithm failed to find path', 'NoMatch'],
  445: [
    400,
    'Shape match algorithm specification in api request is incorrect. Please see documentation for valid shape_match input.',
  ],
} as const satisfies Problems

export type ProblemNumber = keyof typeof PROBLEMS

/** The body of an error answer. */
export interface ProblemBody {
  readonly error_code: number
  readonly error: string
  readonly status_code: number
  readonly status: string
}

/** The body of a problem that Valhalla has no number for. */
export function problemBody(code: number, error: string, status: number): ProblemBody {
  return { error_code: code, error, status_code: status, status: STATUS_CODES[status] ?? 'Error' }
}

/** A request that cannot be answered with a route. */
export class RouteProblem extends TerraneError {
  readonly body: ProblemBody

  /** @param extra text after the message and a colon */
  constructor(number: ProblemNumber, extra = '') {
    const [status, text] = PROBLEMS[number]
    const message = extra === '' ? text : `${text}: ${extra}`
    super(`VALHALLA_${number}`, status >= 500 ? 'internal' : 'invalid', message)
    this.body = problemBody(number, message, status)
  }
}

const WARNINGS = {
  100: 'auto_shorter costing is deprecated, use "shortest" costing option instead',
  101: 'hov costing is deprecated, use "include_hov2" costing option instead',
  102: 'auto_data_fix is deprecated, use the "ignore_*" costing options instead',
  103: 'best_paths has been deprecated, use "alternates" instead',
  203: '"waiting_time" is set on a location of type "via" or "through", ignoring waiting_time',
  204: '"exclude_polygons" received invalid input, ignoring exclude_polygons',
  205: '"disable_hierarchy_pruning" exceeded the max distance, ignoring disable_hierarchy_pruning',
  208: 'Hard exclusions are not allowed on this server, ignoring hard excludes',
  209: 'Customized hierarchy limits are not allowed on this server, using default hierarchy limits',
  211: "This action doesn't support requested format, using json instead",
} as const satisfies Readonly<Record<number, string>>

/** A problem in the form of OSRM. */
export function osrmProblem({ error_code, error }: ProblemBody): { code: string; message: string } {
  return { code: (PROBLEMS as Problems)[error_code]?.[2] ?? 'InvalidOptions', message: error }
}

/** An ignored part of a request. */
export interface Warning {
  readonly code: number
  readonly text: string
}

export function warning(code: keyof typeof WARNINGS): Warning {
  return { code, text: WARNINGS[code] }
}
