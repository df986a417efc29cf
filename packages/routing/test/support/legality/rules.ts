import type { OsmTags } from '@terrane/osm'

import type { Mode } from '../../../src/index.ts'
import { type Direction, type Situation, valueOf } from './conditions.ts'

/**
 * What OpenStreetMap's tags forbid, as its wiki defines them (pages Key:access, Key:oneway, Key:barrier, Key:hov,
 * Conditional restrictions, OSM tags for routing/Access restrictions). It says “closed” or “local” only where the wiki
 * is plain; else it makes no claim and says “open”. It is written apart from the tag rules of the package, which it is there to check.
 */
export type Verdict = 'open' | 'local' | 'closed'

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
const LOCAL = new Set(['private', 'destination', 'customers', 'delivery', 'permit', 'residents'])

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
const CLOSED_HIGHWAYS = new Set(['construction', 'proposed', 'planned', 'abandoned', 'razed', 'raceway', 'escape'])
const NO_MOTOR = new Set([...FOOTWAYS, 'cycleway'])
const NO_BICYCLE = new Set(['motorway', 'motorway_link', 'footway', 'corridor', 'platform', 'via_ferrata'])
const MOTORWAYS = new Set(['motorway', 'motorway_link'])
const BUSWAYS = new Set(['busway', 'bus_guideway'])
/** Countries whose cyclists ride on footways, and where mopeds ride on cycleways. */
const FOOTWAY_RIDERS = new Set(['AU', 'BY', 'IS', 'NO'])
const CYCLEWAY_MOPEDS = new Set(['BE', 'CH', 'RO', 'RU', 'SE'])

/** Whether a mode may travel a way in a direction, oneway apart. */
export function wayAccess(tags: OsmTags, situation: Situation, direction: Direction, country = ''): Verdict {
  const { mode } = situation
  // Ways with a wheelchair tag are not judged for wheelchairs.
  if (situation.vehicle.type === 'wheelchair' && tags.wheelchair !== undefined) return 'open'
  if (isForOthers(tags, mode, direction)) return 'closed'
  const said = sayAccess(tags, situation, direction)
  const closed = isClosedByClass(tags, mode, country)
  if (said === null) return closed ? 'closed' : 'open'
  // Where riding on the road is forbidden, its lane or track is used.
  if (mode === 'bicycle' && said.verdict === 'closed' && hasCycleway(tags)) return 'open'
  // A general tag does not open a footway to cars, unless its verdict is open.
  if (said.key === 'access' && closed) return said.verdict === 'open' ? 'open' : 'closed'
  return said.verdict
}

function isClosedByClass(tags: OsmTags, mode: Mode, country: string): boolean {
  const { highway } = tags
  // A way without `highway` is closed unless a tag opens it; a ferry is open to all modes.
  if (highway === undefined) return tags.route === undefined
  if (CLOSED_HIGHWAYS.has(highway)) return true
  const slow = mode === 'bicycle' || mode === 'pedestrian' || mode === 'motor_scooter'
  if (slow && (tags.motorroad === 'yes' || MOTORWAYS.has(highway))) return true
  if (BUSWAYS.has(highway)) return mode !== 'bus' && (MOTOR.has(mode) || highway === 'bus_guideway')
  if (mode === 'motor_scooter' && highway === 'cycleway') return !CYCLEWAY_MOPEDS.has(country)
  if (MOTOR.has(mode)) return NO_MOTOR.has(highway)
  if (mode === 'bicycle' && highway === 'footway' && FOOTWAY_RIDERS.has(country)) return false
  // A grade for mountain bikes says that they ride there, a cycleway on a footway as well.
  const rides = hasCycleway(tags) || Object.keys(tags).some((key) => key.startsWith('mtb:'))
  return mode === 'bicycle' && NO_BICYCLE.has(highway) && !rides
}

/** Lanes for others alone: all of them for vehicles with several people, or closed one by one. */
function isForOthers(tags: OsmTags, mode: Mode, direction: Direction): boolean {
  const keys = KEYS[mode]
  const hasOwn = (names: readonly string[]): boolean =>
    Object.keys(tags).some((name) => names.some((key) => name === key || name.startsWith(`${key}:`)))
  if (!hasOwn(keys.slice(3)) && ['auto', 'taxi', 'truck'].includes(mode)) {
    const lanes = tags[`hov:lanes:${direction}`] ?? tags['hov:lanes']
    const hov = lanes?.split('|') ?? [tags[`hov:${direction}`] ?? tags.hov]
    if (hov.every((lane) => lane === 'designated')) return true
  }
  if (mode === 'pedestrian') return false
  return keys.some((key, i) => {
    const lanes = tags[`${key}:lanes:${direction}`] ?? tags[`${key}:lanes`]
    return lanes !== undefined && lanes.split('|').every((lane) => lane === 'no') && !hasOwn(keys.slice(i + 1))
  })
}

function hasCycleway(tags: OsmTags): boolean {
  return SIDES.some((side) => !['no', 'none', 'separate'].includes(tags[`cycleway${side}`] ?? 'no'))
}

/** Verdict of the most specific tag, and its key; null without any, “open” for an unknown value. */
export function sayAccess(
  tags: OsmTags,
  situation: Situation,
  direction: Direction | null,
): { key: string; verdict: Verdict } | null {
  const { mode } = situation
  for (const key of KEYS[mode].toReversed()) {
    const value = valueOf(tags, key, situation, direction)
    if (value === undefined) continue
    const verdict = value === null ? 'open' : verdictOf(value, mode)
    if (verdict !== 'closed' || situation.isLocal) return { key, verdict }
    // Closed, but not to those with business there.
    const local = valueOf(tags, key, { ...situation, isLocal: true }, direction)
    return {
      key,
      verdict: local !== value && (local === null || verdictOf(local ?? '', mode) !== 'closed') ? 'local' : verdict,
    }
  }
  return null
}

/** Values that name who may pass. */
const NAMED: Readonly<Record<string, readonly Mode[]>> = {
  psv: ['bus', 'taxi'],
  bus: ['bus'],
  taxi: ['taxi'],
  hgv: ['truck'],
  motorcycle: ['motorcycle'],
  bicycle: ['bicycle'],
  foot: ['pedestrian'],
}

function verdictOf(value: string, mode: Mode): Verdict {
  const parts = value
    .toLowerCase()
    .split(';')
    .map((part) => part.trim())
  const forOthers = (part: string): boolean => NAMED[part]?.includes(mode) === false
  if (parts.every((part) => CLOSED.has(part) || forOthers(part))) return 'closed'
  return parts.every((part) => LOCAL.has(part) || CLOSED.has(part)) ? 'local' : 'open'
}

/** Whether a mode goes against a one-way street by travelling in a direction. */
export function isAgainstOneway(tags: OsmTags, situation: Situation, direction: Direction): boolean {
  const { mode } = situation
  if (mode === 'pedestrian') {
    // Ferries, shuttle trains and escalators have their own direction for walkers.
    const carried = tags.route === 'ferry' || tags.route === 'shuttle_train'
    if (tags.conveying === 'forward' || tags.conveying === 'backward') return tags.conveying !== direction
    const own = tags['oneway:foot']
    if (own === 'yes' && tags.oneway === '-1') return direction === 'forward'
    return onewayOf(own ?? (carried ? tags.oneway : undefined)) === opposite(direction)
  }
  const said = onewayFor(tags, situation)
  if (said !== 'neither' && said !== opposite(direction)) return false
  // Keys such as `moped:backward` open a way to modes other than cars and lorries.
  const own = mode === 'auto' || mode === 'truck' ? [] : KEYS[mode].slice(mode === 'bicycle' ? 2 : 3)
  const backKeys = own.flatMap((key) => [`${key}:backward`, `${key}:backward:conditional`])
  if (backKeys.some((key) => tags[key] !== undefined && tags[key] !== 'no')) return false
  return !(mode === 'bicycle' ? bicyclesGoBack(tags) : (mode === 'bus' || mode === 'taxi') && busesGoBack(tags))
}

function onewayFor(tags: OsmTags, situation: Situation): Direction | 'neither' | null {
  for (const key of KEYS[situation.mode].toReversed()) {
    const value = valueOf(tags, `oneway:${key}`, situation)
    if (value === null) return null
    // A plain “yes” means the way that the street runs, even where that is against its nodes.
    if (value === 'yes' && tags.oneway === '-1') return 'backward'
    if (value !== undefined) return onewayOf(value)
  }
  const value = valueOf(tags, 'oneway', situation)
  if (value === null) return null
  if (value === 'reversible') return 'neither'
  if (value !== undefined) return onewayOf(value)
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
  const keys = ['lanes:psv:backward', 'lanes:bus:backward', 'psv:lanes:backward', 'bus:lanes:backward']
  const back = [...keys, 'psv:backward', 'bus:backward'].some((key) => tags[key] !== undefined && tags[key] !== 'no')
  return lane || back || tags.psv?.startsWith('opposite') === true || tags.bus?.startsWith('opposite') === true
}
