import { distanceMeters } from '../geometry/geodesy.ts'
import { decodeLine } from '../geometry/polyline.ts'
import type { StopType } from '../path/legs.ts'
import type { Limits } from '../request/limits.ts'
import { readLocation } from '../request/location.ts'
import { parse, readCosting } from '../request/parts.ts'
import { RouteProblem, type Warning } from '../request/problems.ts'
import { flagOf, isObject, type Json, numberOf, textOf } from '../request/read.ts'
import { checkRequest, type RouteRequest } from '../request/request.ts'
import { MEMBER_UNHEEDED } from '../request/unheeded.ts'
import { median } from './noise.ts'
import { onPlane, type Trace } from './trace.ts'

const SHAPE_MATCHES = ['walk_or_snap', 'edge_walk', 'map_snap'] as const
export type ShapeMatch = (typeof SHAPE_MATCHES)[number]

/** Attributes of a trace to include or exclude, by name. */
export interface AttributeFilter {
  readonly action: 'include' | 'exclude'
  readonly attributes: ReadonlySet<string>
}

/** A request to match a trace. */
export interface TraceRequest {
  readonly trace: Trace
  readonly shapeMatch: ShapeMatch
  /** Stop types of the points of the shape; `break` ends a leg. */
  readonly types: readonly StopType[]
  /** Options of the answer, as for a route from the first point to the last. */
  readonly route: RouteRequest
  readonly filter: AttributeFilter
  /** Whether points without their own match are left out, in the form of OSRM. */
  readonly isTidy: boolean
}

/** Turn penalties in metres by costing, as in Valhalla. */
const TURN_PENALTIES = { bicycle: 140, pedestrian: 100 } as const
const TURN_PENALTY = 200
/** Maximum stated accuracy, default interpolation distance and default breakage distance, in metres. */
const MOST_ACCURACY = 100
const INTERPOLATION_METERS = 10
const BREAKAGE_METERS = 2000
/** Maximum of either distance in metres, because larger ones make a step of matching long. */
const MOST_INTERPOLATION = 200
const MOST_BREAKAGE = 20_000
/** Minimum of the default breakage distance, as a multiple of the usual distance of points. */
const GAP = 2.5
/** Number of usual intervals that make a time gap; OSRM splits traces there. */
const GAP_INTERVALS = 10

/** Members of route requests that do not affect a trace. */
const UNHEEDED = [
  'date_time',
  'exclude_locations',
  'exclude_polygons',
  'alternates',
  'best_paths',
  'linear_cost_factors',
]

/**
 * Reads a request for `trace_route` or `trace_attributes`, and checks it in Valhalla 3.6's order.
 *
 * @throws RouteProblem
 */
export function readTraceRequest(text: string, action: string, limits: Limits): TraceRequest {
  const body = parse(text)
  const { mode, transit } = readCosting(body, [])
  if (transit) throw new RouteProblem(140, action)
  if (mode === null) throw new RouteProblem(124)
  const said = textOf(body.shape_match) ?? 'walk_or_snap'
  const shapeMatch = SHAPE_MATCHES.find((name) => name === said)
  if (shapeMatch === undefined) throw new RouteProblem(445)
  const shape = shapeOf(body)
  checkShape(shape, limits)
  const options = optionsOf(body, limits)
  const points = pointsOf(body, shape, options)
  const types = shape.map((point, i) => typeOf(point, i === 0 || i === shape.length - 1))
  const route = routeOf(body, [shape[0]!, shape.at(-1)!], limits)
  return {
    trace: {
      points,
      interpolation: Math.min(options.interpolation, MOST_INTERPOLATION),
      breakage: Math.min(options.breakage ?? Math.max(BREAKAGE_METERS, GAP * usualStep(points)), MOST_BREAKAGE),
      turnPenalty: options.turnPenalty ?? TURN_PENALTIES[mode as keyof typeof TURN_PENALTIES] ?? TURN_PENALTY,
      beta: options.beta,
      mostRadius: limits.trace.radius,
      gapSeconds: flagOf(body.splits) === true ? GAP_INTERVALS * usualInterval(points) : Infinity,
    },
    shapeMatch,
    types,
    route,
    filter: filterOf(body.filters),
    isTidy: flagOf(body.tidy) === true && route.format === 'osrm',
  }
}

function shapeOf({ shape, encoded_polyline: encoded, shape_format: format }: Json): Json[] {
  if (Array.isArray(shape) && shape.length > 0) {
    return shape.map((point: unknown) => {
      if (!isObject(point)) throw new RouteProblem(134)
      return point
    })
  }
  if (typeof encoded !== 'string' || encoded === '') throw new RouteProblem(114)
  const { lon, lat } = decodeLine(encoded, format === 'polyline5' ? 5 : 6)
  return lon.map((each, i) => ({ lon: each, lat: lat[i]! }))
}

/** @throws RouteProblem 123, 134, 153, 154 */
function checkShape(shape: readonly Json[], { trace }: Limits): void {
  if (shape.length < 2) throw new RouteProblem(123)
  if (shape.length > trace.points) throw new RouteProblem(153, `(${shape.length}). The limit is ${trace.points}`)
  let meters = 0
  let before: { lon: number; lat: number } | null = null
  for (const point of shape) {
    const lon = numberOf(point.lon)
    const lat = numberOf(point.lat)
    if (lon === null || lat === null || !(Math.abs(lat) <= 90) || !(Math.abs(lon) <= 180)) throw new RouteProblem(134)
    if (before !== null) meters += distanceMeters(before.lon, before.lat, lon, lat)
    if (meters > trace.meters) throw new RouteProblem(154, `${trace.meters} meters`)
    before = { lon, lat }
  }
}

interface TraceOptions {
  readonly accuracy: number | null
  readonly radius: number | null
  readonly interpolation: number
  readonly breakage: number | null
  readonly turnPenalty: number | null
  readonly beta: number | null
}

/** The members of `trace_options`, or of the request itself. */
function optionsOf(body: Json, { trace }: Limits): TraceOptions {
  const said = isObject(body.trace_options) ? body.trace_options : {}
  const number = (name: string, most: number): number | null => {
    const value = numberOf(said[name] ?? body[name])
    if (value !== null && !(value >= 0 && value <= most)) throw new RouteProblem(158)
    return value
  }
  return {
    accuracy: number('gps_accuracy', MOST_ACCURACY) ?? number('sigma_z', MOST_ACCURACY),
    radius: number('search_radius', trace.radius),
    interpolation: number('interpolation_distance', Infinity) ?? INTERPOLATION_METERS,
    breakage: number('breakage_distance', Infinity),
    turnPenalty: bounded(number('turn_penalty_factor', Infinity)),
    beta: bounded(number('beta', Infinity)) || null,
  }
}

function pointsOf(body: Json, shape: readonly Json[], options: TraceOptions): Trace['points'] {
  const seconds = secondsOf(body, shape)
  return onPlane(
    shape.map((point, i) => ({
      lon: numberOf(point.lon)!,
      lat: numberOf(point.lat)!,
      seconds: seconds[i]!,
      accuracy: accuracyOf(point.accuracy) ?? options.accuracy,
      radius: positive(point.radius) ?? options.radius,
    })),
  )
}

/** Largest weight of a request; larger values have no further effect. */
const MOST_WEIGHT = 1e6

function bounded(value: number | null): number | null {
  return value === null ? null : Math.min(value, MOST_WEIGHT)
}

function accuracyOf(value: unknown): number | null {
  const meters = positive(value)
  return meters === null ? null : Math.min(meters, MOST_ACCURACY)
}

function positive(value: unknown): number | null {
  const number = numberOf(value)
  return number !== null && number > 0 && Number.isFinite(number) ? number : null
}

/** The times of the points; all null when one is missing or times decrease. */
function secondsOf({ begin_time: begin, durations }: Json, shape: readonly Json[]): readonly (number | null)[] {
  let times = shape.map(({ time }) => numberOf(time))
  if (Array.isArray(durations)) {
    if (durations.length !== shape.length - 1) throw new RouteProblem(136)
    let sum = numberOf(begin) ?? 0
    times = [sum, ...durations.map((each: unknown) => (sum += numberOf(each) ?? NaN))]
  }
  const isUsable = times.every(
    (time, i) => time !== null && Number.isFinite(time) && (i === 0 || time >= times[i - 1]!),
  )
  return isUsable ? times : shape.map(() => null)
}

/** Median distance in metres between consecutive points of a trace. */
function usualStep(points: Trace['points']): number {
  return median(points.slice(1).map(({ x, y }, i) => Math.hypot(x - points[i]!.x, y - points[i]!.y)))
}

/** Median of the seconds between points of a trace; infinite without times, or when the median is 0. */
function usualInterval(points: Trace['points']): number {
  return median(points.slice(1).map(({ seconds }, i) => (seconds ?? Infinity) - (points[i]!.seconds ?? 0))) || Infinity
}

function typeOf({ type }: Json, isEnd: boolean): StopType {
  if (isEnd) return 'break'
  return type === 'break' || type === 'break_through' || type === 'through' ? type : 'via'
}

function routeOf(body: Json, locations: readonly Json[], limits: Limits): RouteRequest {
  const ignored = UNHEEDED.filter((name) => body[name] !== undefined)
  if (flagOf(body.use_timestamps) === true) ignored.push('use_timestamps')
  const rest = Object.fromEntries(Object.entries(body).filter(([name]) => !UNHEEDED.includes(name)))
  const free = { ...limits, modes: Object.fromEntries(Object.keys(limits.modes).map((mode) => [mode, FREE])) } as Limits
  const request = checkRequest({ ...rest, locations }, free)
  const warnings = ignored.map((name): Warning => ({
    code: MEMBER_UNHEEDED,
    text: `"${name}" is not supported: a trace is matched as without it`,
  }))
  return { ...request, warnings: [...request.warnings, ...warnings] }
}

const FREE = { locations: Infinity, meters: Infinity }

function filterOf(filters: unknown): AttributeFilter {
  const said = isObject(filters) ? filters : {}
  const attributes = Array.isArray(said.attributes) ? said.attributes.map(String) : []
  return { action: said.action === 'include' ? 'include' : 'exclude', attributes: new Set(attributes) }
}

/** A location for a point of a trace where a leg ends. */
export function locationAt(
  { lon, lat }: { lon: number; lat: number },
  type: StopType,
  limits: Limits,
): RouteRequest['locations'][number] {
  return { ...readLocation({ lon, lat }, 'end', limits)!, type }
}
