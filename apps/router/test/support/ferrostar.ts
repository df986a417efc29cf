import { Type } from 'typebox'
import { Value } from 'typebox/value'

// Requirements of Ferrostar 0.40 on an answer in the form of OSRM, member by member: what it reads as a number, a list or a word of
// a fixed set has to be that, and what it does not read may be anything.

const number = Type.Number()
const u16 = Type.Integer({ minimum: 0, maximum: 65_535 })
const index = Type.Integer({ minimum: 0 })
const place = Type.Tuple([number, number])
const orNull = Type.Union
const text = Type.String()
const optionalText = Type.Optional(orNull([text, Type.Null()]))
const words = (list: readonly string[]) => Type.Optional(orNull([Type.Enum([...list]), Type.Null()]))

const MANEUVERS = [
  'turn',
  'new name',
  'depart',
  'arrive',
  'merge',
  'on ramp',
  'off ramp',
  'fork',
  'end of road',
  'continue',
  'roundabout',
  'rotary',
  'roundabout turn',
  'notification',
  'exit roundabout',
  'exit rotary',
]
const MODIFIERS = ['uturn', 'sharp right', 'right', 'slight right', 'straight', 'slight left', 'left', 'sharp left']

const content = Type.Object({
  text,
  type: words(MANEUVERS),
  modifier: words(MODIFIERS),
  degrees: Type.Optional(orNull([u16, Type.Null()])),
})
const banner = Type.Object({
  distanceAlongGeometry: number,
  primary: content,
  secondary: Type.Optional(orNull([content, Type.Null()])),
})
const voice = Type.Object({ announcement: text, ssmlAnnouncement: optionalText, distanceAlongGeometry: number })
const intersection = Type.Object({
  location: place,
  bearings: Type.Array(u16),
  classes: Type.Optional(Type.Array(text)),
  entry: Type.Array(Type.Boolean()),
  in: Type.Optional(index),
  out: Type.Optional(index),
  lanes: Type.Optional(Type.Array(Type.Object({ indications: Type.Array(text), valid: Type.Boolean() }))),
})
const step = Type.Object({
  distance: number,
  duration: number,
  geometry: text,
  name: optionalText,
  ref: optionalText,
  pronunciation: optionalText,
  mode: optionalText,
  exits: optionalText,
  driving_side: optionalText,
  maneuver: Type.Object({
    location: place,
    bearing_before: u16,
    bearing_after: u16,
    type: text,
    modifier: optionalText,
    // Without it a navigator has no words of its own.
    instruction: text,
  }),
  intersections: Type.Array(intersection),
  bannerInstructions: Type.Array(banner),
  voiceInstructions: Type.Array(voice),
})
const leg = Type.Object({
  // A member that is not a list, such as OSRM's `metadata`, makes the answer unreadable.
  annotation: Type.Optional(Type.Record(text, Type.Array(Type.Unknown()))),
  duration: number,
  distance: number,
  steps: Type.Array(step),
  via_waypoints: Type.Array(
    Type.Object({ distance_from_start: number, geometry_index: number, waypoint_index: index }),
  ),
})
const answer = Type.Object({
  code: Type.Literal('Ok'),
  routes: Type.Array(
    Type.Object({ duration: number, distance: number, geometry: text, legs: Type.Array(leg, { minItems: 1 }) }),
    { minItems: 1 },
  ),
  waypoints: Type.Array(
    Type.Object({ name: optionalText, distance: Type.Optional(orNull([number, Type.Null()])), location: place }),
  ),
})

/** An answer as Ferrostar reads it. */
export type FerrostarAnswer = Type.Static<typeof answer>

/**
 * The request that Ferrostar makes for a place and places to go to.
 *
 * @param via the places, by their index, that are passed without a stop
 */
export function ferrostarRequest(
  places: readonly (readonly [lon: number, lat: number])[],
  costing: string,
  via: readonly number[] = [],
): object {
  const locations = places.map(([lon, lat], i) =>
    i === 0 ? { lat, lon, street_side_tolerance: 6 } : { lat, lon, type: via.includes(i) ? 'via' : 'break' },
  )
  const attributes = ['speed', 'speed_limit', 'time', 'length'].map((name) => `shape_attributes.${name}`)
  return {
    format: 'osrm',
    filters: { action: 'include', attributes },
    banner_instructions: true,
    voice_instructions: true,
    costing,
    locations,
    costing_options: {},
  }
}

/** @throws an error that names the first member that Ferrostar could not read */
export function readAsFerrostar(body: unknown): FerrostarAnswer {
  const [fault] = Value.Errors(answer, body)
  if (fault !== undefined) throw new Error(`${fault.instancePath} ${fault.message}`)
  return body as FerrostarAnswer
}
