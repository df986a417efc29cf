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
 * from OpenStreetMap's wiki, page OSM tags for routing/Access restrictions, which Valhalla's `adminconstants.h`
 * follows too; but no country opens paths to mopeds here, as it does there: highway=path is closed to engines.
 */
const COUNTRIES: Readonly<Record<string, Rules>> = {
  AT: { ...fast, path: FOOT },
  AU: { footway: RIDE },
  BE: { ...fast, track: SLOW, pedestrian: RIDE, bridleway: FOOT, cycleway: SLOW, path: RIDE },
  BR: { bridleway: RIDE },
  BY: { footway: RIDE, pedestrian: RIDE, cycleway: RIDE },
  CH: { ...fast, cycleway: SLOW },
  CN: { pedestrian: RIDE, path: RIDE },
  DK: { ...fast, track: RIDE, cycleway: RIDE },
  ES: { pedestrian: RIDE, path: RIDE },
  FI: { pedestrian: RIDE, cycleway: RIDE },
  FR: { ...fast, pedestrian: RIDE, path: RIDE },
  GB: { bridleway: RIDE, cycleway: RIDE },
  GR: { bridleway: RIDE, cycleway: RIDE },
  HU: { ...fast, cycleway: RIDE },
  IE: { bridleway: RIDE },
  IS: { footway: RIDE, pedestrian: RIDE, cycleway: RIDE },
  IT: { pedestrian: RIDE },
  NL: { cycleway: RIDE, path: RIDE },
  NO: { track: SLOW, footway: RIDE, pedestrian: RIDE, cycleway: RIDE },
  OM: { bridleway: RIDE, cycleway: RIDE },
  PH: { pedestrian: RIDE, bridleway: RIDE, cycleway: RIDE, path: RIDE },
  PL: { bridleway: RIDE, cycleway: RIDE, path: RIDE },
  RO: { bridleway: SLOW, cycleway: Access.bicycle | Access.moped, path: RIDE },
  RU: { cycleway: Access.bicycle | Access.moped },
  SE: { pedestrian: RIDE, bridleway: FOOT, cycleway: SLOW },
  SK: fast,
  TH: { pedestrian: RIDE, bridleway: RIDE, cycleway: RIDE, path: RIDE },
  TR: { bridleway: FOOT, cycleway: RIDE },
  US: { pedestrian: RIDE, bridleway: RIDE, cycleway: RIDE, path: RIDE },
}

/** Classes whose direction binds walkers too. */
const FOOT_CLASSES = new Set(['footway', 'pedestrian', 'path'])

/**
 * Default access of a way in its country. Modes with an access tag on the way are left alone.
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
