import { Access } from '../../graph/attributes.ts'
import {
  ACCESS,
  BICYCLE,
  BUS,
  CYCLEWAY,
  FOOT,
  meaning,
  MOPED,
  MOTOR_VEHICLE,
  PUBLIC_SERVICE,
  type Tags,
  TRUCK,
} from './values.ts'

const { car, foot, bicycle, truck, emergency, taxi, bus, moped, motorcycle } = Access
const MOTOR = car | truck | bus | taxi | moped | motorcycle
const ROAD = MOTOR | foot | bicycle

/** Who may use a way of a highway class when no other tag says anything. */
const CLASS_ACCESS: ReadonlyMap<string, number> = new Map([
  ...['motorway', 'motorway_link'].map((name) => [name, MOTOR & ~moped] as const),
  ...[
    'trunk',
    'trunk_link',
    'primary',
    'primary_link',
    'secondary',
    'secondary_link',
    'tertiary',
    'tertiary_link',
    'unclassified',
    'residential',
    'residential_link',
    'living_street',
    'service',
    'road',
    'track',
  ].map((name) => [name, ROAD] as const),
  ...['footway', 'pedestrian', 'corridor', 'elevator', 'platform', 'via_ferrata'].map((name) => [name, foot] as const),
  ...['steps', 'path'].map((name) => [name, foot | bicycle] as const),
  ['cycleway', bicycle],
  ...['bus_guideway', 'busway'].map((name) => [name, bus] as const),
  ...['bridleway', 'undefined', 'unknown'].map((name) => [name, 0] as const),
])

/** Who may travel a way along and against its node order, and what was decided on the way there. */
export interface WayAccess {
  readonly forward: number
  readonly backward: number
  /** Modes whose access a tag of their own decided; country rules leave those alone. */
  readonly tagged: number
  /** Traffic runs one way for vehicles in general. */
  readonly oneway: boolean
  /** The one way is against the node order. */
  readonly reversed: boolean
  readonly roundabout: boolean
}

/** Access of a way by mode and direction; null when the way is of no use to any mode. */
export function wayAccess(tags: Tags): WayAccess | null {
  const open = openModes(tags)
  if (open === null) return null
  const roundabout = tags.get('junction') === 'roundabout' || tags.get('junction') === 'circular'
  const value = tags.get('oneway')
  const oneway = roundabout || ONEWAY.get(value ?? '') === true
  let { forward, backward } = directed(tags, open.modes, oneway)
  ;({ forward, backward } = directionOverrides(tags, open.tagged, { forward, backward }))
  const reversed = value === '-1'
  if (reversed) [forward, backward] = [backward, forward]
  ;({ forward, backward } = modeReversals(tags, reversed, { forward, backward }))
  if (!oneway) ({ forward, backward } = onewayForSome(tags, forward, backward))
  forward &= ~closedTo(tags, 'forward')
  backward &= ~closedTo(tags, 'backward')
  // Moving stairs carry one way, unless they do as needed.
  if (tags.get('conveying') === 'forward') backward = 0
  if (tags.get('conveying') === 'backward') forward = 0
  if ((forward | backward) === 0 && tags.get('highway') !== 'bridleway') return null
  return { forward, backward, tagged: open.tagged, oneway, reversed, roundabout }
}

const ONEWAY: ReadonlyMap<string, boolean> = new Map([
  ['no', false],
  ['false', false],
  ['reversible', false],
  ['alternating', false],
  ['-1', true],
  ['yes', true],
  ['true', true],
  ['1', true],
])

/** The modes that may use the way at all, before directions; null when it is closed or no way for any of them. */
function openModes(tags: Tags): { modes: number; tagged: number } | null {
  const highway = tags.get('highway')
  const known = highway === undefined ? undefined : CLASS_ACCESS.get(highway)
  const carried = isCarried(tags)
  const access = meaning(ACCESS, tags.get('access'))
  const emergencyOnly = tags.get('emergency') === 'yes' || tags.get('service') === 'emergency_access'
  let modes = known ?? (carried ? ROAD : 0)
  if (tags.get('impassable') === 'yes' || access === false || (tags.get('access') === 'private' && emergencyOnly)) {
    modes = 0
  } else if (tags.get('smoothness') === 'impassable' || meaning(MOTOR_VEHICLE, tags.get('vehicle')) === false) {
    modes &= foot
  }
  let tagged = 0
  for (const [mode, decide] of MODE_RULES) {
    const decision = decide(tags)
    if (decision === undefined) continue
    tagged |= mode
    modes = decision ? modes | mode : modes & ~mode
  }
  if (known === undefined && (tagged & bicycle) === 0 && tags.has('sac_scale')) {
    modes = tags.get('sac_scale') === 'hiking' ? modes | bicycle : modes & ~bicycle
  }
  if (tags.get('access') === 'psv') modes |= taxi | bus
  if (tags.get('oneway') === 'reversible' && ['permissive', 'hov', 'taxi'].includes(tags.get('access') ?? '')) {
    // A lane that changes its direction and is not for everybody: left to buses, if any.
    if ((modes & bus) === 0) return null
    modes &= bus | taxi
  }
  if ((carried || highway !== undefined) && (tags.get('access') === 'emergency' || emergencyOnly)) modes |= emergency
  return { modes, tagged }
}

const motorVehicle = (tags: Tags): boolean | undefined => meaning(MOTOR_VEHICLE, tags.get('motor_vehicle'))
const publicService = (tags: Tags): boolean | undefined =>
  meaning(PUBLIC_SERVICE, tags.get('psv')) ?? PUBLIC_SERVICE.get(tags.get('lanes:psv:forward') ?? '')

/** Where the slowest mopeds must not go no others may; where they may, others need a tag of their own. */
const slowMoped = (tags: Tags): false | undefined => (meaning(MOPED, tags.get('mofa')) === false ? false : undefined)

/** For each mode the tags that decide, most specific first. */
const MODE_RULES: readonly (readonly [number, (tags: Tags) => boolean | undefined])[] = [
  [car, (tags) => meaning(MOTOR_VEHICLE, tags.get('motorcar')) ?? motorVehicle(tags)],
  [truck, (tags) => meaning(TRUCK, tags.get('hgv')) ?? motorVehicle(tags)],
  [bus, (tags) => meaning(BUS, tags.get('bus')) ?? publicService(tags) ?? motorVehicle(tags)],
  [taxi, (tags) => meaning(BUS, tags.get('taxi')) ?? publicService(tags) ?? motorVehicle(tags)],
  [foot, (tags) => meaning(FOOT, tags.get('foot')) ?? FOOT.get(tags.get('pedestrian') ?? '')],
  [
    bicycle,
    (tags) =>
      meaning(BICYCLE, tags.get('bicycle')) ??
      meaning(CYCLEWAY, tags.get('cycleway')) ??
      meaning(BICYCLE, tags.get('bicycle_road')) ??
      BICYCLE.get(tags.get('cyclestreet') ?? ''),
  ],
  [moped, (tags) => meaning(MOPED, tags.get('moped')) ?? slowMoped(tags) ?? motorVehicle(tags)],
  [motorcycle, (tags) => meaning(MOTOR_VEHICLE, tags.get('motorcycle')) ?? motorVehicle(tags)],
]

/** A mode that may be excepted from a one-way street, and the keys that say so. */
interface Exception {
  readonly mode: number
  /** Keys of `oneway:*` for this mode; the first that is there counts. */
  readonly keys: readonly string[]
  /** True when a tag opens the direction against the nodes, apart from `oneway:* = no` on a one-way street. */
  readonly against: (tags: Tags) => boolean
}

const OPPOSITE = new Set(['opposite', 'opposite_lane', 'opposite_track'])
const anyOf = (tags: Tags, keys: readonly string[], accepted: ReadonlySet<string>): boolean =>
  keys.some((key) => accepted.has(tags.get(key) ?? ''))
const YES = new Set(['yes'])
const YES_OR_DESIGNATED = new Set(['yes', 'designated'])
const OPPOSITE_BUS = new Set(['opposite', 'opposite_lane'])
const busLaneBack = (tags: Tags): boolean => PUBLIC_SERVICE.get(tags.get('lanes:psv:backward') ?? '') === true

const EXCEPTIONS: readonly Exception[] = [
  {
    mode: bicycle,
    keys: ['oneway:bicycle'],
    against: (tags) =>
      anyOf(tags, ['bicycle:backward'], new Set(['yes', 'no'])) ||
      anyOf(tags, ['cycleway', 'cycleway:left', 'cycleway:right'], OPPOSITE),
  },
  {
    mode: bus,
    keys: ['oneway:bus', 'oneway:psv'],
    against: (tags) =>
      anyOf(tags, ['bus:backward'], YES_OR_DESIGNATED) ||
      anyOf(tags, ['busway', 'busway:left', 'busway:right'], OPPOSITE_BUS) ||
      busLaneBack(tags),
  },
  {
    mode: taxi,
    keys: ['oneway:taxi', 'oneway:psv'],
    against: (tags) => anyOf(tags, ['taxi:backward'], YES_OR_DESIGNATED) || busLaneBack(tags),
  },
  {
    mode: moped,
    keys: ['oneway:moped', 'oneway:mofa'],
    against: (tags) => anyOf(tags, ['moped:backward', 'mofa:backward'], YES),
  },
  { mode: motorcycle, keys: ['oneway:motorcycle'], against: (tags) => anyOf(tags, ['motorcycle:backward'], YES) },
  { mode: foot, keys: ['oneway:foot'], against: (tags) => anyOf(tags, ['foot:backward'], YES) },
]

const FOOT_WAYS = new Set(['footway', 'pedestrian', 'steps', 'path'])

/** Both directions from the one-way tags, with the modes that are excepted from them. */
function directed(tags: Tags, modes: number, oneway: boolean): { forward: number; backward: number } {
  let forward = modes
  let backward = oneway ? 0 : modes & (car | truck | emergency)
  for (const { mode, keys, against } of EXCEPTIONS) {
    const value = keys.map((key) => tags.get(key)).find((text) => text !== undefined)
    const back = (tags.get('oneway') === 'yes' && value === 'no') || against(tags)
    if (back) {
      backward |= mode
      if (oneway && (mode !== foot || onFootWay(tags))) {
        const own = ONEWAY.get(value ?? '')
        if (own === true) forward &= ~mode
        else if (own === false) forward |= mode
      }
    } else if (!oneway && (value === undefined || value === 'no')) {
      backward |= forward & mode
    }
  }
  // Walkers mind a one-way street only where it is theirs.
  if (oneway && !onFootWay(tags)) backward = (backward & ~foot) | (forward & foot)
  return { forward, backward }
}

/** Ways whose direction binds walkers too: their own, and what carries them. */
function onFootWay(tags: Tags): boolean {
  return FOOT_WAYS.has(tags.get('highway') ?? '') || tags.has('oneway:foot') || isCarried(tags)
}

function isCarried(tags: Tags): boolean {
  return tags.get('route') === 'ferry' || tags.get('route') === 'shuttle_train'
}

/** Vehicles for which alone a street may be one-way. */
const ONEWAY_GROUPS: readonly (readonly [string, number])[] = [
  ['oneway:vehicle', MOTOR | bicycle],
  ['oneway:motor_vehicle', MOTOR],
  ['oneway:motorcar', car],
  ['oneway:hgv', truck],
]

/** Closes a direction of a street that is one-way for some vehicles only, but not to those with a tag of their own. */
function onewayForSome(tags: Tags, forward: number, backward: number): { forward: number; backward: number } {
  let own = 0
  for (const { mode, keys, against } of EXCEPTIONS) {
    if (keys.some((key) => tags.has(key)) || against(tags)) own |= mode
  }
  let [ahead, back] = [forward, backward]
  for (const [key, group] of ONEWAY_GROUPS) {
    const value = tags.get(key)
    if (value === '-1') ahead &= ~(group & ~own)
    else if (ONEWAY.get(value ?? '') === true) back &= ~(group & ~own)
  }
  return { forward: ahead, backward: back }
}

const BICYCLE_LANES = new Set([
  'shared_lane',
  'share_busway',
  'shared',
  'opposite_track',
  'track',
  'opposite_lane',
  'lane',
  'buffered_lane',
])

/** Tags that open or close a single direction, whatever the one-way tags say. */
function directionOverrides(
  tags: Tags,
  tagged: number,
  { forward, backward }: { forward: number; backward: number },
): { forward: number; backward: number } {
  const lanesBothSides =
    anyOf(tags, ['cycleway:both'], BICYCLE_LANES) ||
    (anyOf(tags, ['cycleway:right'], BICYCLE_LANES) && anyOf(tags, ['cycleway:left'], BICYCLE_LANES))
  // On a one-way street both lanes run its way, unless a tag says that bicycles need not.
  let both = lanesBothSides && ONEWAY.get(tags.get('oneway') ?? '') !== true ? bicycle : 0
  const busLane = (key: string): boolean => tags.get(key) === 'lane'
  if (busLane('busway') || (busLane('busway:left') && busLane('busway:right'))) both |= bus
  return {
    forward: override(tags, 'forward', { modes: forward | both, tagged }),
    backward: override(tags, 'backward', { modes: backward | both, tagged }),
  }
}

function override(tags: Tags, direction: string, { modes, tagged }: { modes: number; tagged: number }): number {
  const of = (key: string): string | undefined => tags.get(`${key}:${direction}`)
  // What closes the direction to all does not bind the modes that have a tag of their own.
  let result = meaning(ACCESS, of('access')) === false ? modes & tagged : modes
  const motor = of('motor_vehicle') ?? of('vehicle')
  if (motor !== undefined) result = withMode(result, MOTOR, meaning(MOTOR_VEHICLE, motor))
  const walk = of('foot')
  if (walk !== undefined) result = withMode(result, foot, meaning(FOOT, walk))
  const ride = of('bicycle') ?? of('vehicle')
  if (ride !== undefined) result = withMode(result, bicycle, meaning(BICYCLE, ride))
  return result
}

/** Vehicles that a tag of their own can keep out of a single direction, the most specific key first. */
const CLOSABLE = [
  { mode: bus, keys: ['bus', 'psv'], meanings: BUS },
  { mode: taxi, keys: ['taxi', 'psv'], meanings: BUS },
  { mode: truck, keys: ['hgv'], meanings: TRUCK },
  { mode: car, keys: ['motorcar'], meanings: MOTOR_VEHICLE },
  { mode: moped, keys: ['moped', 'mofa'], meanings: MOPED },
  { mode: motorcycle, keys: ['motorcycle'], meanings: MOTOR_VEHICLE },
]

/** The modes to which a tag like `bus:forward = no` closes a direction. */
function closedTo(tags: Tags, direction: string): number {
  let closed = 0
  for (const { mode, keys, meanings } of CLOSABLE) {
    const value = keys.map((key) => tags.get(`${key}:${direction}`)).find((text) => text !== undefined)
    if (value !== undefined && meaning(meanings, value) === false) closed |= mode
  }
  return closed
}

function withMode(modes: number, mode: number, open: boolean | undefined): number {
  return open === true ? modes | mode : modes & ~mode
}

/** Modes whose own one-way tag alone runs against the nodes, and lanes for buses and taxis that are counted. */
function modeReversals(
  tags: Tags,
  reversed: boolean,
  { forward, backward }: { forward: number; backward: number },
): { forward: number; backward: number } {
  let swap = 0
  for (const { mode, keys } of EXCEPTIONS) if (!reversed && keys.some((key) => tags.get(key) === '-1')) swap |= mode
  let ahead = (forward & ~swap) | (backward & swap)
  let back = (backward & ~swap) | (forward & swap)
  for (const [key, mode] of [
    ['lanes:bus', bus],
    ['lanes:psv', taxi],
  ] as const) {
    const lanes = tags.get(key)
    if (lanes === '1' || lanes === '2') {
      ahead |= mode
      back = lanes === '2' ? back | mode : back & ~mode
    }
  }
  return { forward: ahead, backward: back }
}
