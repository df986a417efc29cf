import type { OsmTags } from '@terrane/osm'

import type { Mode } from '../../../src/index.ts'
import { type Direction, type Situation, valueOf } from './conditions.ts'
import { hoursHold } from './hours.ts'
import { sayAccess, type Verdict } from './rules.ts'

const SIZED = new Set<Mode>(['auto', 'bus', 'taxi', 'truck'])

/** Keys of limits, the option that says the size, and how a value is read. Source: OpenStreetMap wiki, Key:maxheight, Key:maxweight and their like. */
const LIMITS: readonly (readonly [key: string, option: string, parse: (text: string) => number | null])[] = [
  ['maxheight', 'height', metres],
  ['maxheight:physical', 'height', metres],
  ['maxwidth', 'width', metres],
  ['maxwidth:physical', 'width', metres],
  ['maxlength', 'length', metres],
  ['maxweight', 'weight', tonnes],
  ['maxweightrating', 'weight', tonnes],
  ['maxgcweight', 'weight', tonnes],
  ['maxgcweightrating', 'weight', tonnes],
  ['maxaxleload', 'axle_load', tonnes],
  ['maxaxles', 'axle_count', (text) => (/^\d+$/.test(text) ? Number(text) : null)],
]

/** Whether a vehicle keeps the limits of a way or a node: “local” where only those with business there need not. */
export function limitVerdict(tags: OsmTags, situation: Situation, direction: Direction | null): Verdict {
  if (!SIZED.has(situation.mode)) return 'open'
  let verdict: Verdict = 'open'
  for (const [key, option, parse] of LIMITS) {
    const size = situation.vehicle[option]
    if (typeof size !== 'number') continue
    const exceeds = (name: string, isLocal: boolean): boolean => {
      const value = valueOf(tags, name, { ...situation, isLocal }, direction)
      const limit = value === undefined || value === null ? null : parse(value.trim())
      return limit !== null && size > limit
    }
    // The key of lorries counts in place of the general one.
    const own = situation.mode === 'truck' && valueOf(tags, `${key}:hgv`, situation, direction) !== undefined
    for (const name of own ? [`${key}:hgv`] : [key]) {
      if (!exceeds(name, false)) continue
      if (exceeds(name, true)) return 'closed'
      verdict = 'local'
    }
  }
  const closedToGoods = situation.mode === 'truck' && situation.vehicle.hazmat === true
  return closedToGoods && valueOf(tags, 'hazmat', situation, direction) === 'no' ? 'closed' : verdict
}

function metres(text: string): number | null {
  const [, plain] = /^(\d+(?:\.\d+)?)(?: ?m)?$/.exec(text) ?? []
  if (plain !== undefined) return Number(plain)
  const [, feet, inches] = /^(\d+)'(?: ?(\d+)")?$/.exec(text) ?? []
  return feet === undefined ? null : (Number(feet) * 12 + Number(inches ?? 0)) * 0.0254
}

function tonnes(text: string): number | null {
  const [, number, unit = 't'] = /^(\d+(?:\.\d+)?) ?(t|kg|lbs|st)?$/.exec(text) ?? []
  if (number === undefined) return null
  return Number(number) * { t: 1, kg: 0.001, lbs: 0.000_453_592_37, st: 0.907_184_74 }[unit]!
}

/** Barriers that stop a mode unless a tag lets it pass; a barrier that is not listed stops no mode. */
const STOPS: Readonly<Record<string, 'all' | 'vehicles' | 'motor' | 'cars'>> = {
  fence: 'all',
  wall: 'all',
  yes: 'all',
  debris: 'motor',
  jersey_barrier: 'vehicles',
  stile: 'vehicles',
  turnstile: 'vehicles',
  'full-height_turnstile': 'vehicles',
  bollard: 'motor',
  block: 'motor',
  planter: 'motor',
  tank_trap: 'motor',
  log: 'motor',
  chain: 'motor',
  rope: 'motor',
  cycle_barrier: 'motor',
  motorcycle_barrier: 'motor',
  kissing_gate: 'motor',
  bus_trap: 'cars',
  sump_buster: 'cars',
}

/** Whether a mode may pass a node. Source: OpenStreetMap wiki, Key:barrier. */
export function nodeVerdict(tags: OsmTags, situation: Situation): Verdict {
  const { barrier, opening_hours: hours } = tags
  const { mode, moment } = situation
  const limits = limitVerdict(tags, situation, null)
  if (barrier === undefined || limits === 'closed') return limits
  const isOpen = hours !== undefined && barrier !== 'toll_booth' && moment !== null ? hoursHold(hours, moment) : null
  if (isOpen === false) return 'closed'
  // The hours of a gate with `access=no` are those in which it is open.
  const { access, ...others } = tags
  const said = sayAccess(isOpen === true && access === 'no' ? others : tags, situation, null)
  if (said !== null) return said.verdict
  // A rising bollard is a gate, and a fence that only cattle hear is none.
  if (barrier === 'fence' && tags.sensory?.startsWith('audi') === true) return 'open'
  if (barrier === 'bollard' && tags.bollard === 'rising') return 'open'
  const isStopped = {
    all: true,
    vehicles: mode !== 'pedestrian',
    motor: mode !== 'pedestrian' && mode !== 'bicycle',
    cars: mode === 'auto' || mode === 'taxi',
  }
  const stops = STOPS[barrier]
  return stops !== undefined && isStopped[stops] ? 'closed' : limits
}
