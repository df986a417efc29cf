import { languageOf } from '../narrate/languages/index.ts'
import type { Leg } from '../path/legs.ts'
import { gpxOf } from './gpx.ts'
import { osrmOf, type OsrmResponse } from './osrm.ts'
import type { RouteResponse } from './response.ts'
import { tellLegs, tripOf, type TripSource } from './trip.ts'
import { unreadWarnings } from './unread.ts'

/** A route, and the context of its answer. */
export interface FoundRoute {
  readonly source: TripSource
  /** The legs of the best route, then those of its alternates. */
  readonly routes: readonly (readonly Leg[])[]
}

/** The answer to a route request: GPX as a text, the other forms as objects. */
export function answerOf({ source, routes }: FoundRoute): RouteResponse | OsrmResponse | string {
  const { graph, texts, request } = source
  const { format, mode, osrm: options, id, language, units, warnings } = request
  const told = routes.map((legs) => [...tellLegs(source, legs)])
  if (format === 'gpx') return gpxOf(graph, told[0]!)
  if (format === 'osrm') {
    const all = [...warnings, ...unreadWarnings(source, routes.flat())]
    const speech = { phrases: languageOf(language).phrases, units }
    return osrmOf({ graph, texts, mode, options, warnings: all, speech }, told, request)
  }
  const [trip, ...others] = told.map((legs) => tripOf(source, legs))
  return {
    trip: trip!,
    ...(others.length > 0 && { alternates: others.map((other) => ({ trip: other })) }),
    ...(id !== null && { id }),
  }
}
