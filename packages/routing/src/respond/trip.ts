import type { Costing } from '../cost/costing.ts'
import { encodeLine, type Line } from '../geometry/polyline.ts'
import { RoadClass, Use } from '../graph/attributes.ts'
import type { Graph } from '../graph/graph.ts'
import type { TextReader } from '../graph/texts.ts'
import { guideLeg } from '../guide/guide.ts'
import { type GuidedLeg, guidedLeg } from '../guide/steps.ts'
import { languageOf } from '../narrate/languages/index.ts'
import { narrate } from '../narrate/narrate.ts'
import type { Leg } from '../path/legs.ts'
import type { Location } from '../request/location.ts'
import type { RouteRequest } from '../request/request.ts'
import { tripManeuver } from './maneuvers.ts'
import { degreesOf, lengthIn, secondsOf } from './numbers.ts'
import type { Summary, Trip, TripLeg, TripLocation, TripManeuver } from './response.ts'

/** What a trip is told from. */
export interface TripSource {
  readonly graph: Graph
  readonly texts: TextReader
  readonly costing: Costing
  readonly request: RouteRequest
  /** Local time as `YYYY-MM-DDTHH:MM`, for requests that speak of now. */
  readonly now: string
}

/** Tells a trip: its locations, its legs with maneuvers and lines, and what it comes to. */
export function tellTrip(source: TripSource, legs: readonly Leg[]): Trip {
  const { request } = source
  const told = legs.map((leg, i) => tellLeg(source, leg, destinationOf(request.locations, i)))
  const { tag } = languageOf(request.language)
  return {
    locations: locationsOf(source, legs),
    legs: told.map(({ leg }) => leg),
    summary: summaryOf(
      told.map(({ extent }) => extent),
      request.units,
    ),
    status_message: 'Found route between points',
    status: 0,
    units: request.units,
    language: tag,
    ...(request.warnings.length > 0 && { warnings: request.warnings }),
  }
}

/** The location where leg `i` ends. */
function destinationOf(locations: readonly Location[], i: number): Location {
  const breaks = locations.filter(({ type }, at) => at > 0 && (type === 'break' || type === 'break_through'))
  return breaks[i]!
}

/** What a leg comes to, exactly. */
interface Extent {
  readonly line: Line
  readonly meters: number
  readonly seconds: number
  readonly cost: number
  readonly toll: boolean
  readonly highway: boolean
  readonly ferry: boolean
}

function tellLeg(source: TripSource, leg: Leg, destination: Location): { leg: TripLeg; extent: Extent } {
  const guided = guidedLeg(source, leg)
  const extent = extentOf(guided)
  const maneuvers = tellManeuvers(source.request, guided, leg, destination)
  const has = (flag: 'toll' | 'highway' | 'ferry'): boolean =>
    maneuvers?.some((maneuver) => maneuver[flag] === true) ?? false
  // Without maneuvers nothing is said of what a leg uses.
  const said = { ...extent, toll: has('toll'), highway: has('highway'), ferry: has('ferry') }
  const told = { summary: summaryOf([said], source.request.units), shape: encodeLine(guided.line) }
  return { leg: maneuvers === null ? told : { maneuvers, ...told }, extent }
}

function extentOf({ steps, line }: GuidedLeg): Extent {
  const { seconds, cost } = steps.at(-1)!
  return {
    line,
    meters: steps.reduce((sum, step) => sum + step.meters, 0),
    seconds,
    cost,
    toll: steps.some((step) => step.toll),
    highway: steps.some((step) => step.roadClass === RoadClass.motorway),
    ferry: steps.some((step) => step.use === Use.ferry),
  }
}

function tellManeuvers(
  { directions, language, units, roundaboutExits }: RouteRequest,
  guided: GuidedLeg,
  leg: Leg,
  { name, street }: Location,
): TripManeuver[] | null {
  if (directions === 'none') return null
  const sides = { origin: leg.origin.side, destination: leg.destination.side }
  const maneuvers = guideLeg(guided, sides, roundaboutExits)
  const { phrases } = languageOf(language)
  const narrations =
    directions === 'instructions' ? narrate(maneuvers, { phrases, units, destination: { name, street } }) : null
  return maneuvers.map((maneuver, i) =>
    tripManeuver(guided, maneuver, { narration: narrations?.[i] ?? null, units, last: i === maneuvers.length - 1 }),
  )
}

function summaryOf(extents: readonly Extent[], units: RouteRequest['units']): Summary {
  const sum = (of: (extent: Extent) => number): number => extents.reduce((total, extent) => total + of(extent), 0)
  const box = { south: Infinity, west: Infinity, north: -Infinity, east: -Infinity }
  for (const { line } of extents) {
    for (let i = 0; i < line.lon.length; i++) {
      box.south = Math.min(box.south, line.lat[i]!)
      box.west = Math.min(box.west, line.lon[i]!)
      box.north = Math.max(box.north, line.lat[i]!)
      box.east = Math.max(box.east, line.lon[i]!)
    }
  }
  return {
    has_time_restrictions: false,
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
  }
}

function locationsOf({ request, now }: TripSource, legs: readonly Leg[]): TripLocation[] {
  let leg = 0
  const last = request.locations.length - 1
  return request.locations.map((location, i): TripLocation => {
    const ends = i > 0 && (location.type === 'break' || location.type === 'break_through')
    const side = i === 0 ? legs[0]!.origin.side : ends ? legs[leg++]!.destination.side : null
    const dateTime = location.dateTime ?? dateTimeAt(request, now, i === 0, i === last)
    return {
      type: location.type,
      lat: degreesOf(location.lat),
      lon: degreesOf(location.lon),
      ...(location.name !== null && { name: location.name }),
      ...(location.street !== null && { street: location.street }),
      ...(location.heading !== null && { heading: location.heading }),
      ...(dateTime !== null && { date_time: dateTime }),
      ...(location.waiting > 0 && { waiting: Math.trunc(location.waiting) }),
      ...(side !== null && { side_of_street: side }),
      original_index: i,
    }
  })
}

/** The time that is told of a location: that of departure at the first, that of arrival at the last. */
function dateTimeAt({ dateTime }: RouteRequest, now: string, first: boolean, last: boolean): string | null {
  if (dateTime === null) return null
  const { type, value } = dateTime
  const told = (first && type !== 'arrive') || (last && (type === 'arrive' || type === 'invariant'))
  return told ? (value === 'current' ? now : value) : null
}
