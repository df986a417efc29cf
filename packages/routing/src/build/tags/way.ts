import { NO_STREETS } from '../access-law.ts'
import { Access, RoadClass, Surface, Use } from '../../graph/attributes.ts'
import { TimedEffect } from '../../graph/timed.ts'
import type { LegalSpeeds } from '../country/legal-speeds.ts'
import { hasConditions } from './conditional.ts'
import { closes } from './decide.ts'
import { type Tags, WHEELCHAIR } from './values.ts'
import { localModes, type WayAccess, wayAccess } from './way-access.ts'
import { withExceptions, withUsualKeys } from './exceptions.ts'
import { payingModes } from './toll.ts'
import { type UnreadTag, unreadTags } from './unread.ts'
import { type WayLimit, wayLimits } from './way-limits.ts'
import { type TimedRule, wayTimed } from './way-timed.ts'
import { wayNames, type WayNames } from './way-names.ts'
import { durationOf, type WaySpeeds, waySpeeds } from './way-speeds.ts'
import { hikingDifficulty, mountainBikeAccess, waySurface } from './way-surface.ts'

/** Meaning of the tags of a way for routing. */
export interface WayFacts {
  readonly access: WayAccess
  readonly roadClass: number
  readonly use: number
  readonly link: boolean
  readonly ferry: boolean
  readonly railFerry: boolean
  readonly surface: number
  readonly hikingDifficulty: number
  readonly speeds: WaySpeeds
  /** Seconds that a ferry takes, or zero. */
  readonly duration: number
  readonly flags: WayFlags
  readonly limits: readonly WayLimit[]
  /** Rules that hold at certain times only. */
  readonly timed: readonly TimedRule[]
  /** The tags of the timed rules, which also depend on the country's default access; null without conditional tags. */
  readonly conditions: Tags | null
  /** Conditions of the way that are not supported. */
  readonly unread: readonly UnreadTag[]
  readonly names: WayNames
  readonly bikeNetwork: boolean
  /** Tags about lanes, whose meaning depends on the direction and the driving side. */
  readonly laneTags: Tags
  /** Driving side: the tag `driving_side` of the way, else that of its country once it is known. */
  readonly drivingSide: 'left' | 'right' | null
  /** Value of `highway` if the country decides general access, because no tag does; else null. */
  readonly countryClass: string | null
  /** ISO 3166-1 alpha-2 code of the country; null at sea or without countries. */
  readonly country: string | null
  /** Legal speeds of the country; null where it is unknown or not used. */
  readonly legalSpeeds: LegalSpeeds | null
}

export interface WayFlags {
  /** Modes that pay a toll, along and against its nodes. */
  readonly tollForward: number
  readonly tollBackward: number
  readonly tunnel: boolean
  readonly bridge: boolean
  readonly indoor: boolean
  readonly lit: boolean
  readonly truckRoute: boolean
  readonly dismount: boolean
  /** Whether bicycles must use the path beside the street, by direction. */
  readonly sidepathForward: boolean
  readonly sidepathBackward: boolean
  readonly sidewalkLeft: boolean
  readonly sidewalkRight: boolean
  /** Modes with local access only, along and against its nodes. */
  readonly localForward: number
  readonly localBackward: number
  /** Whether the way is a driveway, parking aisle or drive-through: no through traffic for any mode. */
  readonly yard: boolean
  /** Whether the tag `motorroad` restricts the road to motor traffic. */
  readonly motorroad: boolean
  /** Whether the way lies inside a crossing. */
  readonly internal: boolean
}

/**
 * Reads a way; null when it is not part of the network.
 *
 * @param construction whether to keep streets under construction, as the class that they will have
 */
export function wayFacts(said: Tags, construction = false): WayFacts | null {
  const { tags, limits } = withExceptions(said)
  const highway = tags.get('highway')
  if (highway === 'construction') return construction ? planned(said) : null
  if (NO_STREETS.has(highway ?? '') || tags.get('area') === 'yes') return null
  let access = wayAccess(tags)
  if (access === null) {
    // Closed except for timed openings.
    if (wayTimed(tags, NO_ACCESS).every(({ effect }) => effect !== TimedEffect.open)) return null
    access = NO_ACCESS
  }
  const ferry = tags.get('route') === 'ferry'
  const shuttle = tags.get('route') === 'shuttle_train'
  const use = ferry ? Use.ferry : useOf(tags, access)
  const carOpen = (access.forward & Access.car) !== 0
  const railFerry = carOpen && (tags.get('railway') === 'rail' || shuttle)
  const roadClass =
    ferry || railFerry
      ? RoadClass.primary
      : (ROAD_CLASSES.get(highway ?? '') ??
        (highway === undefined && tags.has('railway') ? RoadClass.primary : RoadClass.service))
  const tagUse = useOf(tags, access)
  const surface = waySurface(tags, roadClass, tagUse)
  access = withWheelchairs(tags, withBicycles(tags, access), tagUse, surface)
  return {
    access,
    roadClass,
    use: railFerry ? Use.railFerry : use,
    link: highway?.includes('_link') ?? false,
    ferry,
    railFerry,
    surface,
    hikingDifficulty: hikingDifficulty(tags),
    speeds: waySpeeds(tags, roadClass, access.oneway),
    duration: durationOf(tags.get('duration')),
    flags: flagsOf(tags, tagUse),
    limits: [...wayLimits(tags), ...limits],
    timed: wayTimed(tags, access),
    conditions: hasConditions(tags) ? tags : null,
    unread: unreadTags(withUsualKeys(said)),
    names: wayNames(tags, roadClass),
    laneTags: new Map([...tags].filter(([key]) => LANE_KEYS.test(key))),
    bikeNetwork: BIKE_NETWORK_KEYS.some((key) => tags.get(key) === 'yes' || (key.endsWith('_ref') && tags.has(key))),
    drivingSide: tags.get('driving_side') === 'left' ? 'left' : tags.get('driving_side') === 'right' ? 'right' : null,
    countryClass: DECISIVE_KEYS.some((key) => tags.has(key)) ? null : (highway ?? null),
    country: null,
    legalSpeeds: null,
  }
}

/** A street under construction with its future class; null when it is not under construction or has no class. */
function planned(tags: Tags): WayFacts | null {
  const highway = tags.get('construction')
  if (highway === undefined || highway === 'construction') return null
  const facts = wayFacts(new Map(tags).set('highway', highway))
  return facts && { ...facts, use: Use.construction }
}

const NO_ACCESS: WayAccess = {
  forward: 0,
  backward: 0,
  permitted: { forward: 0, backward: 0 },
  travelled: { forward: 0, backward: 0 },
  closed: { forward: 0, backward: 0 },
  tagged: 0,
  oneway: false,
  reversed: false,
  roundabout: false,
  changing: 0,
}

/** Keys that decide the access of all modes, or of all vehicles. */
const DECISIVE_KEYS = ['access', 'vehicle', 'motorroad']

const LANE_KEYS = /^(lanes|cycleway|shoulder|oneway:bicycle|segregated)/
const BIKE_NETWORK_KEYS = ['ncn', 'rcn', 'lcn', 'mtb', 'ncn_ref', 'rcn_ref', 'lcn_ref']

const ROAD_CLASSES: ReadonlyMap<string, number> = new Map(
  Object.entries(RoadClass).flatMap(([name, value]) =>
    value === RoadClass.service || value === RoadClass.unclassified
      ? []
      : [
          [name, value],
          [`${name}_link`, value],
        ],
  ) as [string, number][],
).set('unclassified', RoadClass.unclassified)

const SERVICES: Readonly<Record<string, number>> = {
  driveway: Use.driveway,
  alley: Use.alley,
  parking_aisle: Use.parkingAisle,
  emergency_access: Use.emergencyAccess,
  'drive-through': Use.driveThrough,
}

const USES: Readonly<Record<string, number>> = {
  elevator: Use.elevator,
  path: Use.path,
  pedestrian: Use.pedestrian,
  platform: Use.platform,
}

const VEHICLES = Access.car | Access.truck | Access.bus | Access.bicycle | Access.moped | Access.motorcycle

function useOf(tags: Tags, access: WayAccess): number {
  const any = access.forward | access.backward
  const emergency = tags.get('access') === 'emergency' || tags.get('emergency') === 'yes'
  if (emergency && (any & VEHICLES) === 0) return Use.emergencyAccess
  return highwayUse(tags, access) ?? SERVICES[tags.get('service') ?? ''] ?? (tags.has('service') ? Use.other : Use.road)
}

function highwayUse(tags: Tags, access: WayAccess): number | undefined {
  const highway = tags.get('highway')
  const any = access.forward | access.backward
  if (highway === undefined) return undefined
  if (highway === 'track') return Use.track
  if (highway === 'living_street') return Use.livingStreet
  if (highway === 'service' && SERVICES[tags.get('service') ?? ''] === undefined) return Use.serviceRoad
  const bicyclesOnly = (access.forward & Access.foot) === 0 && (any & Access.car) === 0 && (any & Access.bicycle) !== 0
  if (highway === 'cycleway' || bicyclesOnly) return Use.cycleway
  if (highway === 'footway') {
    if (tags.get('footway') === 'sidewalk') return Use.sidewalk
    return tags.get('footway') === 'crossing' ? Use.crossing : Use.footway
  }
  if (highway === 'steps') return tags.has('conveying') ? Use.escalator : Use.steps
  if (USES[highway] !== undefined) return USES[highway]
  if ((access.forward & Access.foot) !== 0 && (any & VEHICLES) === 0) return Use.pedestrian
  return highway === 'bridleway' ? Use.bridleway : undefined
}

/** Opens a way to bicycles by its mountain bike tags if no other tag decides. */
function withBicycles(tags: Tags, access: WayAccess): WayAccess {
  const closed = ['access', 'vehicle'].some((key) => closes(key, tags.get(key)))
  const said = (access.tagged & Access.bicycle) !== 0 || closed
  if (said || !mountainBikeAccess(tags)) return access
  return {
    ...access,
    forward: access.forward | (access.reversed ? 0 : Access.bicycle),
    backward: access.backward | (access.oneway ? 0 : Access.bicycle),
  }
}

/** Access of wheelchairs: by their tag, else that of pedestrians, but never on steps or impassable surfaces. */
function withWheelchairs(tags: Tags, access: WayAccess, use: number, surface: number): WayAccess {
  if (use === Use.steps || surface === Surface.impassable) return access
  const tagged = WHEELCHAIR.get(tags.get('wheelchair') ?? '')
  const along = (modes: number): number => ((tagged ?? (modes & Access.foot) !== 0) ? modes | Access.wheelchair : modes)
  return { ...access, forward: along(access.forward), backward: along(access.backward) }
}

const TRUE = new Set(['yes', '1', 'true'])
const LIT = new Set(['yes', '24/7', 'automatic', 'dusk-dawn', 'sunset-sunrise'])
const SIDEWALK_BOTH = new Set(['both', 'yes', 'shared', 'raised'])
const YARDS = new Set<number>([Use.driveway, Use.parkingAisle, Use.driveThrough])

function flagsOf(tags: Tags, use: number): WayFlags {
  const sidewalk = tags.get('sidewalk') ?? ''
  const ferry = tags.get('route') === 'ferry'
  const hgv = tags.get('hgv')
  const bySidepath = (direction: string): boolean =>
    (tags.get(`bicycle:${direction}`) ?? tags.get('bicycle')) === 'use_sidepath'
  return {
    tollForward: payingModes(tags, 'forward'),
    tollBackward: payingModes(tags, 'backward'),
    tunnel: tags.get('tunnel') === 'building_passage' || TRUE.has(tags.get('tunnel') ?? ''),
    bridge: TRUE.has(tags.get('bridge') ?? ''),
    indoor: tags.get('indoor') === 'yes',
    lit: LIT.has(tags.get('lit') ?? ''),
    truckRoute:
      tags.has('hgv:national_network') ||
      tags.has('hgv:state_network') ||
      (hgv?.split(';').some((part) => part === 'designated' || part === 'local') ?? false),
    dismount: tags.get('bicycle') === 'dismount',
    sidepathForward: bySidepath('forward'),
    sidepathBackward: bySidepath('backward'),
    sidewalkLeft: SIDEWALK_BOTH.has(sidewalk) || sidewalk === 'left',
    sidewalkRight: SIDEWALK_BOTH.has(sidewalk) || sidewalk === 'right',
    localForward: localModes(tags, 'forward'),
    localBackward: localModes(tags, 'backward'),
    yard: YARDS.has(use) && !ferry,
    motorroad: tags.get('motorroad') === 'yes',
    internal: tags.get('junction') === 'intersection',
  }
}
