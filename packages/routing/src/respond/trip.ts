import type { Costing } from '../cost/costing.ts'
import { RoadClass, Use } from '../graph/attributes.ts'
import type { Graph } from '../graph/graph.ts'
import type { TextReader } from '../graph/texts.ts'
import { guideLeg } from '../guide/guide.ts'
import type { Maneuver } from '../guide/maneuver.ts'
import { type GuidedLeg, guidedLeg } from '../guide/steps.ts'
import { languageOf } from '../narrate/languages/index.ts'
import { type Narration, narrate } from '../narrate/narrate.ts'
import { endsLeg, type Leg } from '../path/legs.ts'
import { type NamedCosting, recost, type Recosting } from '../path/recost.ts'
import type { Schedule } from '../path/schedule.ts'
import type { Location } from '../request/location.ts'
import type { RouteRequest } from '../request/request.ts'
import type { TimedLaw } from '../time/timed-rules.ts'
import { localText, offsetText, zoneAt } from '../time/zones.ts'
import { adminsOf, countriesOf, crossingsOf, type LegCountries } from './admins.ts'
import { writeGeometry } from './geometry.ts'
import { tripManeuver } from './maneuvers.ts'
import { degreesOf, lengthIn, secondsOf } from './numbers.ts'
import type { Summary, Trip, TripLeg, TripLocation } from './response.ts'
import { unreadWarnings } from './unread.ts'

/** Input of a trip. */
export interface TripSource {
  readonly graph: Graph
  readonly texts: TextReader
  readonly costing: Costing
  readonly request: RouteRequest
  /** Times of the trip at its locations; null when the request has no time. */
  readonly schedule: Schedule | null
  /** The timed rules of edges. */
  readonly law: TimedLaw
  /** Further costings of the request. */
  readonly recostings: readonly NamedCosting[]
}

/** A leg with guidance and narration: the source of all answer formats. */
export interface ToldLeg {
  readonly leg: Leg
  readonly guided: GuidedLeg
  readonly extent: Extent
  /** Empty when no maneuvers are requested. */
  readonly maneuvers: readonly Maneuver[]
  /** Texts of the maneuvers; null when not requested. */
  readonly narrations: readonly Narration[] | null
  readonly recostings: readonly Recosting[]
  /** Null when not requested, or without countries in the graph. */
  readonly countries: LegCountries | null
}

/** Creates guidance and narration for the legs of a route, one by one. */
export function* tellLegs(source: TripSource, legs: Iterable<Leg>): Generator<ToldLeg> {
  const ends = source.request.locations.filter((location, at) => at > 0 && endsLeg(location))
  let i = 0
  for (const leg of legs) yield tellLeg(source, leg, ends[i++]!)
}

/**
 * A trip in the form of Valhalla: locations, legs with maneuvers and lines (unless already written), and its summary.
 */
export function tripOf(
  source: TripSource,
  told: readonly ToldLeg[],
  written = told.map((leg) => tripLeg(source.request, leg)),
): Trip {
  const { request } = source
  const { tag } = languageOf(request.language)
  const legs = told.map(({ leg }) => leg)
  const warnings = [...request.warnings, ...unreadWarnings(source, legs)]
  return {
    locations: locationsOf(source, legs),
    legs: written,
    summary: summaryOf(told, request.units),
    status_message: 'Found route between points',
    status: 0,
    units: request.units,
    language: tag,
    ...(warnings.length > 0 && { warnings }),
  }
}

/** Exact sums of a leg. */
export interface Extent {
  readonly meters: number
  readonly seconds: number
  readonly cost: number
  readonly toll: boolean
  readonly highway: boolean
  readonly ferry: boolean
  /** Whether a timed rule may close an edge or a turn to the mode; timed speeds do not count. */
  readonly timed: boolean
}

function tellLeg(source: TripSource, leg: Leg, { name, street }: Location): ToldLeg {
  const { request, graph, law } = source
  const { directions, language, units } = request
  const guided = guidedLeg(source, leg)
  const extent = extentOf(
    guided,
    leg.edges.some(({ edge }) => law.isRestricted(edge)),
  )
  const sides = { origin: leg.origin.side, destination: leg.destination.side }
  const { phrases } = languageOf(language)
  const maneuvers = directions === 'none' ? [] : guideLeg(guided, sides, request.roundaboutExits)
  const narrations =
    directions === 'instructions' ? narrate(maneuvers, { phrases, units, destination: { name, street } }) : null
  const asksCountries = request.adminCrossings || request.format === 'osrm'
  const countries = asksCountries ? countriesOf(graph, source.texts, guided.steps) : null
  return { leg, guided, extent, maneuvers, narrations, countries, recostings: recost(graph, leg, source.recostings) }
}

function extentOf({ steps }: GuidedLeg, timed: boolean): Extent {
  const { seconds, cost } = steps.at(-1)!
  return {
    meters: steps.reduce((sum, step) => sum + step.meters, 0),
    seconds,
    cost,
    toll: steps.some((step) => step.toll),
    highway: steps.some((step) => step.roadClass === RoadClass.motorway),
    ferry: steps.some((step) => step.use === Use.ferry),
    timed,
  }
}

/** A leg in the form of Valhalla. */
export function tripLeg(request: RouteRequest, told: ToldLeg): TripLeg {
  const { directions, units, shapeFormat, adminCrossings } = request
  const { guided, maneuvers, narrations, extent, recostings } = told
  const written = maneuvers.map((maneuver, i) =>
    tripManeuver(guided, maneuver, {
      narration: narrations?.[i] ?? null,
      units,
      last: i === maneuvers.length - 1,
      recostings,
    }),
  )
  const has = (flag: 'toll' | 'highway' | 'ferry'): boolean => written.some((maneuver) => maneuver[flag] === true)
  const said =
    directions === 'none' ? extent : { ...extent, toll: has('toll'), highway: has('highway'), ferry: has('ferry') }
  return {
    ...(directions !== 'none' && { maneuvers: written }),
    summary: {
      ...summaryOf([{ ...told, extent: said }], units),
      ...(adminCrossings && bordersOf(told)),
    },
    ...(shapeFormat !== 'no_shape' && { shape: writeGeometry(guided.line, shapeFormat) }),
  }
}

function bordersOf({ countries, guided }: ToldLeg): Pick<Summary, 'admins' | 'admin_crossings'> {
  if (countries === null) return { admins: [] }
  const hasBorders = countries.countries.length > 1
  return {
    admins: adminsOf(countries),
    ...(hasBorders && { admin_crossings: crossingsOf(countries, guided.steps) }),
  }
}

function summaryOf(
  told: readonly Pick<ToldLeg, 'extent' | 'guided' | 'recostings'>[],
  units: RouteRequest['units'],
): Summary {
  const extents = told.map(({ extent }) => extent)
  const sum = (of: (extent: Extent) => number): number => extents.reduce((total, extent) => total + of(extent), 0)
  const box = { south: Infinity, west: Infinity, north: -Infinity, east: -Infinity }
  for (const { guided } of told) {
    const { line } = guided
    for (let i = 0; i < line.lon.length; i++) {
      box.south = Math.min(box.south, line.lat[i]!)
      box.west = Math.min(box.west, line.lon[i]!)
      box.north = Math.max(box.north, line.lat[i]!)
      box.east = Math.max(box.east, line.lon[i]!)
    }
  }
  return {
    has_time_restrictions: extents.some(({ timed }) => timed),
    has_toll: extents.some(({ toll }) => toll),
    has_highway: extents.some(({ highway }) => highway),
    has_ferry: extents.some(({ ferry }) => ferry),
    min_lat: degreesOf(box.south),
    min_lon: degreesOf(box.west),
    max_lat: degreesOf(box.north),
    max_lon: degreesOf(box.east),
    time: secondsOf(sum(({ seconds }) => seconds)),
    length: lengthIn(
      units,
      sum(({ meters }) => meters),
    ),
    cost: secondsOf(sum(({ cost }) => cost)),
    ...timesOf(told.map(({ recostings }) => recostings)),
  }
}

/** Seconds of legs under other costings; null when a costing may not travel a leg. */
function timesOf(legs: readonly (readonly Recosting[])[]): Record<`time_${string}`, number | null> {
  return Object.fromEntries(
    (legs[0] ?? []).map(({ name }, i) => {
      const each = legs.map((leg) => leg[i]!.sums)
      const seconds = each.reduce((sum, sums) => sum + (sums?.seconds.at(-1) ?? 0), 0)
      return [`time_${name}`, each.includes(null) ? null : secondsOf(seconds)]
    }),
  )
}

function locationsOf({ request, schedule }: TripSource, legs: readonly Leg[]): TripLocation[] {
  let leg = 0
  const last = request.locations.length - 1
  return request.locations.map((location, i): TripLocation => {
    const ends = i > 0 && endsLeg(location)
    const side = i === 0 ? legs[0]!.origin.side : ends ? legs[leg++]!.destination.side : null
    const moment = i === 0 || i === last ? schedule?.moments[i] : undefined
    const zone = zoneAt(location.lon, location.lat)
    const dateTime = location.dateTime ?? (moment === undefined ? null : localText(moment, zone))
    return {
      type: location.type,
      lat: degreesOf(location.lat),
      lon: degreesOf(location.lon),
      ...(location.name !== null && { name: location.name }),
      ...(location.street !== null && { street: location.street }),
      ...(location.heading !== null && { heading: location.heading }),
      ...(dateTime !== null && { date_time: dateTime }),
      ...(moment !== undefined && { time_zone_offset: offsetText(moment, zone), time_zone_name: zone }),
      ...(location.waiting > 0 && { waiting: Math.trunc(location.waiting) }),
      ...(side !== null && { side_of_street: side }),
      original_index: request.order?.[i] ?? i,
    }
  })
}
