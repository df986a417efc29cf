import type { OsmTags } from '@terrane/osm'

import type { Mode } from '../../../src/index.ts'

/**
 * What OpenStreetMap's tags forbid, as its wiki defines them (pages Key:access, Key:oneway, Key:barrier, OSM tags for
 * routing/Access restrictions). It says “closed” only where the wiki is plain; where countries differ it makes no claim.
 * It is written apart from the tag rules of the package, which it is there to check.
 */
export type Verdict = 'open' | 'restricted' | 'closed'

export type Direction = 'forward' | 'backward'

/** Access keys from the general one to that of the mode. */
export const KEYS: Readonly<Record<Mode, readonly string[]>> = {
  auto: ['access', 'vehicle', 'motor_vehicle', 'motorcar'],
  truck: ['access', 'vehicle', 'motor_vehicle', 'hgv'],
  bus: ['access', 'vehicle', 'motor_vehicle', 'psv', 'bus'],
  taxi: ['access', 'vehicle', 'motor_vehicle', 'psv', 'taxi'],
  motorcycle: ['access', 'vehicle', 'motor_vehicle', 'motorcycle'],
  motor_scooter: ['access', 'vehicle', 'motor_vehicle', 'moped'],
  bicycle: ['access', 'vehicle', 'bicycle'],
  pedestrian: ['access', 'foot'],
}

const MOTOR = new Set<Mode>(['auto', 'truck', 'bus', 'taxi', 'motorcycle', 'motor_scooter'])

const CLOSED = new Set(['no', 'agricultural', 'forestry', 'emergency', 'military'])
const RESTRICTED = new Set(['private', 'destination', 'customers', 'delivery', 'permit', 'residents'])

const FOOTWAYS = [
  'footway',
  'pedestrian',
  'path',
  'steps',
  'corridor',
  'platform',
  'bridleway',
  'elevator',
  'via_ferrata',
]
const CLOSED_HIGHWAYS = new Set(['construction', 'proposed', 'planned', 'abandoned', 'razed', 'raceway'])
const NO_MOTOR = new Set([...FOOTWAYS, 'cycleway'])
const NO_BICYCLE = new Set(['motorway', 'motorway_link', 'footway', 'corridor', 'platform', 'via_ferrata'])
const MOTORWAYS = new Set(['motorway', 'motorway_link'])
const BUSWAYS = new Set(['busway', 'bus_guideway'])

/** Whether a mode may travel a way in a direction, oneway apart. */
export function wayAccess(tags: OsmTags, mode: Mode, direction: Direction): Verdict {
  const said = sayAccess(tags, mode, direction)
  const closed = isClosedByClass(tags, mode)
  if (said === null) return closed ? 'closed' : 'open'
  // Where riding on the road is forbidden, its lane or track is used.
  if (mode === 'bicycle' && said.verdict === 'closed' && hasCycleway(tags)) return 'open'
  // What holds for everybody does not open a footway to cars unless it says that everybody may use it.
  if (said.key === 'access' && closed) return said.verdict === 'open' ? 'open' : 'closed'
  return said.verdict
}

function isClosedByClass(tags: OsmTags, mode: Mode): boolean {
  const { highway } = tags
  // A way that is no road is one for those only of whom a tag says so; a ferry carries everybody.
  if (highway === undefined) return tags.route === undefined
  if (CLOSED_HIGHWAYS.has(highway)) return true
  const slow = mode === 'bicycle' || mode === 'pedestrian' || mode === 'motor_scooter'
  if (slow && (tags.motorroad === 'yes' || MOTORWAYS.has(highway))) return true
  if (BUSWAYS.has(highway)) return mode !== 'bus' && (MOTOR.has(mode) || highway === 'bus_guideway')
  if (MOTOR.has(mode)) return NO_MOTOR.has(highway)
  // A grade for mountain bikes says that they ride there, a cycleway on a footway as well.
  const rides = hasCycleway(tags) || Object.keys(tags).some((key) => key.startsWith('mtb:'))
  return mode === 'bicycle' && NO_BICYCLE.has(highway) && !rides
}

function hasCycleway(tags: OsmTags): boolean {
  return SIDES.some((side) => !['no', 'none', 'separate'].includes(tags[`cycleway${side}`] ?? 'no'))
}

/** What the most specific tag says, and its key; null without any. */
function sayAccess(tags: OsmTags, mode: Mode, direction: Direction | null): { key: string; verdict: Verdict } | null {
  for (const key of KEYS[mode].toReversed()) {
    const value = (direction === null ? undefined : tags[`${key}:${direction}`]) ?? tags[key]
    if (value !== undefined) return { key, verdict: verdictOf(value, mode) }
  }
  return null
}

function verdictOf(value: string, mode: Mode): Verdict {
  const parts = value.split(';').map((part) => part.trim())
  const forOthers = (part: string): boolean =>
    (part === 'psv' && mode !== 'bus' && mode !== 'taxi') ||
    (part === 'bus' && mode !== 'bus') ||
    (part === 'taxi' && mode !== 'taxi')
  if (parts.every((part) => CLOSED.has(part) || forOthers(part))) return 'closed'
  return parts.every((part) => RESTRICTED.has(part) || CLOSED.has(part)) ? 'restricted' : 'open'
}

/** Whether a mode goes against a one-way street by travelling in a direction. */
export function isAgainstOneway(tags: OsmTags, mode: Mode, direction: Direction): boolean {
  if (mode === 'pedestrian') {
    // What carries walkers takes them its own way.
    const carried = tags.route === 'ferry' || tags.route === 'shuttle_train'
    if (tags.conveying === 'forward' || tags.conveying === 'backward') return tags.conveying !== direction
    return onewayOf(tags['oneway:foot'] ?? (carried ? tags.oneway : undefined)) === opposite(direction)
  }
  if (onewayFor(tags, mode) !== opposite(direction)) return false
  return !(mode === 'bicycle' ? bicyclesGoBack(tags) : (mode === 'bus' || mode === 'taxi') && busesGoBack(tags))
}

function onewayFor(tags: OsmTags, mode: Mode): Direction | null {
  for (const key of KEYS[mode].toReversed()) {
    const value = tags[`oneway:${key}`]
    // A plain “yes” means the way that the street runs, even where that is against its nodes.
    if (value === 'yes' && tags.oneway === '-1') return 'backward'
    if (value !== undefined) return onewayOf(value)
  }
  if (tags.oneway !== undefined) return onewayOf(tags.oneway)
  return tags.junction === 'roundabout' || tags.highway === 'motorway' ? 'forward' : null
}

function onewayOf(value: string | undefined): Direction | null {
  if (value === 'yes' || value === 'true' || value === '1') return 'forward'
  return value === '-1' || value === 'reverse' ? 'backward' : null
}

function opposite(direction: Direction): Direction {
  return direction === 'forward' ? 'backward' : 'forward'
}

const SIDES = ['', ':left', ':right', ':both']

function bicyclesGoBack(tags: OsmTags): boolean {
  const lane = SIDES.some((side) => tags[`cycleway${side}`]?.startsWith('opposite') === true)
  const twoWayLane = SIDES.some((side) => ['no', '-1'].includes(tags[`cycleway${side}:oneway`] ?? ''))
  const back = [tags['bicycle:backward'], tags['bicycle:forward']].some(
    (value) => value !== undefined && value !== 'no',
  )
  return lane || twoWayLane || back || tags.bicycle?.startsWith('opposite') === true
}

function busesGoBack(tags: OsmTags): boolean {
  const lane = SIDES.some((side) => tags[`busway${side}`]?.startsWith('opposite') === true)
  const keys = [
    'lanes:psv',
    'lanes:bus',
    'lanes:psv:backward',
    'lanes:bus:backward',
    'psv:lanes:backward',
    'bus:lanes:backward',
  ]
  const back = [...keys, 'psv:backward', 'bus:backward'].some((key) => tags[key] !== undefined && tags[key] !== 'no')
  return lane || back || tags.psv?.startsWith('opposite') === true || tags.bus?.startsWith('opposite') === true
}

/** Barriers that stop a mode unless a tag lets it pass; a barrier that is not listed stops no mode. */
const STOPS: Readonly<Record<string, 'all' | 'vehicles' | 'motor' | 'cars'>> = {
  fence: 'all',
  wall: 'all',
  yes: 'all',
  jersey_barrier: 'vehicles',
  stile: 'vehicles',
  turnstile: 'vehicles',
  bollard: 'motor',
  block: 'motor',
  cycle_barrier: 'motor',
  kissing_gate: 'motor',
  bus_trap: 'cars',
  sump_buster: 'cars',
}

/** Whether a node stops a mode. */
export function isStopped(tags: OsmTags, mode: Mode): boolean {
  const { barrier } = tags
  if (barrier === undefined) return false
  const said = sayAccess(tags, mode, null)
  if (said !== null) return said.verdict === 'closed'
  // A rising bollard is a gate.
  if (barrier === 'bollard' && tags.bollard === 'rising') return false
  const stops = STOPS[barrier]
  if (stops === 'all') return true
  if (stops === 'vehicles') return mode !== 'pedestrian'
  if (stops === 'motor') return MOTOR.has(mode)
  return stops === 'cars' && (mode === 'auto' || mode === 'taxi')
}
