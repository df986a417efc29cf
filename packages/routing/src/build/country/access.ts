import { Access } from '../../graph/attributes.ts'
import type { WayAccess } from '../tags/way-access.ts'

const FOOT = Access.foot | Access.wheelchair
const RIDE = FOOT | Access.bicycle
const SLOW = RIDE | Access.moped
/** Fast roads: neither walkers nor riders nor mopeds. */
const FAST = Access.car | Access.truck | Access.bus | Access.taxi | Access.motorcycle

type Rules = Readonly<Record<string, number>>
const fast: Rules = { trunk: FAST, trunk_link: FAST }

/**
 * Who may use ways of a highway class without an access tag, where a country differs from the rest of the world. Facts
 * from OpenStreetMap's wiki, page OSM tags for routing/Access restrictions, which Valhalla's `adminconstants.h` follows too.
 */
const COUNTRIES: Readonly<Record<string, Rules>> = {
  AT: { ...fast, path: FOOT },
  AU: { footway: RIDE },
  BE: { ...fast, track: SLOW, pedestrian: RIDE, bridleway: FOOT, cycleway: SLOW, path: SLOW },
  BR: { bridleway: RIDE },
  BY: { footway: RIDE, pedestrian: RIDE, cycleway: RIDE },
  CH: { ...fast, cycleway: SLOW },
  CN: { pedestrian: RIDE, path: SLOW },
  DK: { ...fast, track: RIDE, cycleway: RIDE },
  ES: { pedestrian: RIDE, path: SLOW },
  FI: { pedestrian: RIDE, cycleway: RIDE },
  FR: { ...fast, pedestrian: RIDE, path: SLOW },
  GB: { bridleway: RIDE, cycleway: RIDE },
  GR: { bridleway: RIDE, cycleway: RIDE },
  HU: { ...fast, cycleway: RIDE },
  IE: { bridleway: RIDE },
  IS: { footway: RIDE, pedestrian: RIDE, cycleway: RIDE },
  IT: { pedestrian: RIDE },
  NL: { cycleway: RIDE, path: SLOW },
  NO: { track: SLOW, footway: RIDE, pedestrian: RIDE, cycleway: RIDE },
  OM: { bridleway: RIDE, cycleway: RIDE },
  PH: { pedestrian: RIDE, bridleway: RIDE, cycleway: RIDE, path: SLOW },
  PL: { bridleway: RIDE, cycleway: RIDE, path: SLOW },
  RO: { bridleway: SLOW, cycleway: Access.bicycle | Access.moped, path: SLOW },
  RU: { cycleway: Access.bicycle | Access.moped },
  SE: { pedestrian: RIDE, bridleway: FOOT, cycleway: SLOW },
  SK: fast,
  TH: { pedestrian: RIDE, bridleway: RIDE, cycleway: RIDE, path: SLOW },
  TR: { bridleway: FOOT, cycleway: RIDE },
  US: { pedestrian: RIDE, bridleway: RIDE, cycleway: RIDE, path: SLOW },
}

/** Classes whose direction binds walkers too. */
const FOOT_CLASSES = new Set(['footway', 'pedestrian', 'path'])

/**
 * Access of a way as its country has it. Modes of which a tag of the way says whether they may go there are left alone.
 *
 * @param highway the class of the way; null when tags decide for everybody
 */
export function countryAccess(access: WayAccess, highway: string | null, code: string | null): WayAccess {
  const open = COUNTRIES[code ?? '']?.[highway ?? '']
  if (open === undefined) return access
  const decided = access.tagged | Access.emergency | ((access.tagged & Access.foot) === 0 ? 0 : Access.wheelchair)
  const closing = ~open & ~decided
  // Who may use the way already keeps the directions that its tags leave.
  const opening = open & ~decided & ~(access.forward | access.backward)
  const both = FOOT_CLASSES.has(highway!) ? 0 : FOOT
  const [ahead, back] = access.oneway ? (access.reversed ? [both, opening] : [opening, both]) : [opening, opening]
  return {
    ...access,
    forward: (access.forward & ~closing) | (ahead & opening),
    backward: (access.backward & ~closing) | (back & opening),
  }
}
