import { TerraneError } from '@terrane/core'

/** Errors of a route request: Valhalla's numbers, each with its HTTP status and its message. */
const PROBLEMS = {
  100: [400, 'Failed to parse json request'],
  101: [405, 'Try a POST or GET request instead'],
  102: [503, 'The service is shutting down'],
  106: [404, 'Try any of'],
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
  130: [400, 'Failed to parse location'],
  131: [400, 'Failed to parse source'],
  132: [400, 'Failed to parse target'],
  133: [400, 'Failed to parse avoid'],
  134: [400, 'Failed to parse shape'],
  136: [400, 'durations size not compatible with trace size'],
  137: [400, 'Failed to parse polygon'],
  140: [400, 'Action does not support multimodal costing'],
  142: [400, 'Arrive by not implemented for isochrones'],
  143: [400, 'ignore_closures in costing and exclude_closures in search_filter cannot both be specified'],
  150: [400, 'Exceeded max locations'],
  151: [400, 'Exceeded max time'],
  152: [400, 'Exceeded max contours'],
  153: [400, 'Too many shape points'],
  154: [400, 'Path distance exceeds the max distance limit'],
  157: [400, 'Exceeded max avoid locations'],
  158: [400, 'Input trace option is out of bounds'],
  160: [400, 'Date and time required for origin for date_type of depart at'],
  161: [400, 'Date and time required for destination for date_type of arrive by'],
  162: [400, 'Date and time is invalid.  Format is YYYY-MM-DDTHH:MM'],
  164: [400, 'Invalid shape format'],
  165: [400, 'Date and time required for destination for date_type of invariant'],
  166: [400, 'Exceeded max distance'],
  167: [400, 'Exceeded maximum circumference for exclude_polygons'],
  170: [400, 'Locations are in unconnected regions. Go check/edit the map at osm.org'],
  171: [400, 'No suitable edges near location'],
  174: [400, 'Invalid tile coordinates'],
  199: [500, 'Unknown'],
  441: [400, 'Location is unreachable'],
  442: [400, 'No path could be found for input'],
  443: [400, 'Exact route match algorithm failed to find path'],
  444: [400, 'Map Match algorithm failed to find path'],
  445: [
    400,
    'Shape match algorithm specification in api request is incorrect. Please see documentation for valid shape_match input.',
  ],
} as const satisfies Readonly<Record<number, readonly [number, string]>>

export type ProblemNumber = keyof typeof PROBLEMS

/** Texts of HTTP statuses in error bodies. */
const STATUS_TEXTS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
  405: 'Method Not Allowed',
  413: 'Payload Too Large',
  415: 'Unsupported Media Type',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

/** The body of an error answer. */
export interface ProblemBody {
  readonly error_code: number
  readonly error: string
  readonly status_code: number
  readonly status: string
}

/** The body of a problem that Valhalla has no number for. */
export function problemBody(code: number, error: string, status: number): ProblemBody {
  return { error_code: code, error, status_code: status, status: STATUS_TEXTS[status] ?? 'Error' }
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

/** OSRM's codes of errors, by their numbers; others are `InvalidOptions`. */
const OSRM_CODES: Readonly<Record<number, string>> = {
  100: 'InvalidUrl',
  101: 'InvalidUrl',
  102: 'ServiceUnavailable',
  106: 'InvalidService',
  130: 'InvalidValue',
  131: 'InvalidValue',
  132: 'InvalidValue',
  133: 'InvalidValue',
  134: 'InvalidValue',
  136: 'InvalidValue',
  137: 'InvalidValue',
  143: 'InvalidValue',
  150: 'InvalidValue',
  153: 'TooBig',
  154: 'DistanceExceeded',
  157: 'InvalidValue',
  158: 'InvalidValue',
  162: 'InvalidValue',
  164: 'InvalidValue',
  167: 'PerimeterExceeded',
  170: 'NoRoute',
  171: 'NoSegment',
  441: 'NoTrips',
  442: 'NoRoute',
  443: 'NoMatch',
  444: 'NoMatch',
}

/** A problem in the form of OSRM. */
export function osrmProblem({ error_code, error }: ProblemBody): { code: string; message: string } {
  return { code: OSRM_CODES[error_code] ?? 'InvalidOptions', message: error }
}

/** An ignored part of a request. */
export interface Warning {
  readonly code: number
  readonly text: string
}

export function warning(code: keyof typeof WARNINGS): Warning {
  return { code, text: WARNINGS[code] }
}
