import { Access } from '../../graph/attributes.ts'
import { closedByLanes } from './lane-access.ts'
import { MODE_TAGS, type ModeTags, MOTOR, namedModes } from './mode-tags.ts'
import { ACCESS, BICYCLE, DESTINATION_ONLY, FOOT, meaning, MOTOR_VEHICLE, type Tags } from './values.ts'

const { car, foot, wheelchair, bicycle, truck, emergency, taxi, bus, moped } = Access
const ROAD = MOTOR | foot | bicycle
const SLOW = bicycle | moped

/** Who may use a way of a highway class when no other tag says anything. */
const CLASS_ACCESS: ReadonlyMap<string, number> = new Map(
  (
    [
      ['motorway motorway_link', MOTOR & ~moped],
      ['trunk trunk_link primary primary_link secondary secondary_link tertiary tertiary_link', ROAD],
      ['unclassified residential residential_link living_street service road track', ROAD],
      ['footway pedestrian corridor elevator platform via_ferrata', foot],
      ['steps path', foot | bicycle],
      ['cycleway', bicycle],
      ['bus_guideway busway', bus],
      ['bridleway undefined unknown', 0],
    ] as const
  ).flatMap(([names, modes]) => names.split(' ').map((name) => [name, modes])),
)

/** Modes that may use a way of a highway class, by the class alone; null for what is no class. */
export function accessOfClass(highway: string | undefined): number | null {
  return CLASS_ACCESS.get(highway ?? '') ?? null
}

/** Modes that may travel a way along and against its node order. */
interface Directions {
  readonly forward: number
  readonly backward: number
}

/** Who may travel a way, and what was decided on the way there. */
export interface WayAccess extends Directions {
  /** Modes whose access a tag of their own decided; country rules leave those alone. */
  readonly tagged: number
  /** Traffic runs one way for vehicles in general. */
  readonly oneway: boolean
  /** The one way is against the node order. */
  readonly reversed: boolean
  readonly roundabout: boolean
  /** Modes that go the way that the lanes run at certain hours, which change their direction. */
  readonly changing: number
}

/** Access of a way by mode and direction; null when the way is of no use to any mode. */
export function wayAccess(tags: Tags): WayAccess | null {
  const open = openModes(tags)
  const roundabout = tags.get('junction') === 'roundabout' || tags.get('junction') === 'circular'
  const said = tags.get('oneway')
  const reversed = said === '-1'
  // A motorway is a carriageway, whose direction is that of its nodes unless a tag says otherwise.
  const oneway = roundabout || (isOneway(said) ?? tags.get('highway') === 'motorway')
  let way: Directions = directed(tags, open.modes, oneway)
  way = withLanes(tags, open.tagged, way)
  if (reversed) way = { forward: way.backward, backward: way.forward }
  else way = modeReversals(tags, way)
  way = countedLanes(tags, way)
  if (!oneway) way = onewayForSome(tags, way)
  // Moving stairs carry one way, unless they do as needed.
  const conveying = tags.get('conveying')
  const closed = (direction: 'forward' | 'backward'): number =>
    closedTo(tags, direction) |
    closedByLanes(tags, direction) |
    (isForHighOccupancy(tags, direction) ? NOT_WITH_MANY & ~open.tagged : 0)
  let forward = conveying === 'backward' ? 0 : way.forward & ~closed('forward')
  let backward = conveying === 'forward' ? 0 : way.backward & ~closed('backward')
  // Which way a lane runs that changes its direction only hours tell. Source: OpenStreetMap wiki, Key:oneway.
  const changed = said === 'reversible' ? (forward | backward) & (MOTOR | bicycle) : 0
  const changing = tags.has('oneway:conditional') ? changed : 0
  forward &= ~changed
  backward &= ~changed
  if ((forward | backward | changing) === 0 && tags.get('highway') !== 'bridleway') return null
  return { forward, backward, tagged: open.tagged, oneway, reversed, roundabout, changing }
}

/** The modes that may use the way at all, before directions. */
function openModes(tags: Tags): { modes: number; tagged: number } {
  const highway = tags.get('highway')
  const known = highway === undefined ? undefined : CLASS_ACCESS.get(highway)
  const carried = isCarried(tags)
  const access = meaning(ACCESS, tags.get('access'))
  const emergencyOnly = tags.get('emergency') === 'yes' || tags.get('service') === 'emergency_access'
  const ruined = tags.get('smoothness') === 'impassable'
  let modes = known ?? (carried ? ROAD : 0)
  if (tags.get('impassable') === 'yes' || (tags.get('access') === 'private' && emergencyOnly)) modes = 0
  else if (access === false) modes = namedModes(tags.get('access'))
  else if (ruined) modes &= foot
  // Source: OSRM's car profile, service_tag_forbidden.
  if (tags.get('service') === 'emergency_access') modes &= ~MOTOR
  // A motorway that all vehicles may use is none for the slow ones.
  const openedByVehicle = ruined ? 0 : highway?.startsWith('motorway') === true ? ~SLOW : ~0
  let tagged = 0
  for (const { mode, says } of MODE_TAGS) {
    const decision = decisionOf(says, tags)
    if (decision === undefined) continue
    const general = decision.key === 'vehicle'
    if (!general) tagged |= mode
    if (!decision.open) modes &= ~mode
    else if (!general || (mode & openedByVehicle) !== 0) modes |= mode
  }
  if (isForHighOccupancy(tags, 'forward') && isForHighOccupancy(tags, 'backward')) modes |= FEW_PEOPLE & ~tagged
  if (known === undefined && (tagged & bicycle) === 0 && tags.has('sac_scale')) {
    modes = tags.get('sac_scale') === 'hiking' ? modes | bicycle : modes & ~bicycle
  }
  if ((carried || highway !== undefined) && (tags.get('access') === 'emergency' || emergencyOnly)) modes |= emergency
  return { modes, tagged }
}

/** Modes by the people that they carry, and modes that high-occupancy lanes exclude. */
export const FEW_PEOPLE = car | taxi
const NOT_WITH_MANY = truck | foot | bicycle

/** Whether all lanes of a way in a direction are for vehicles that carry several people. Source: OpenStreetMap wiki, Key:hov. */
export function isForHighOccupancy(tags: Tags, direction: 'forward' | 'backward'): boolean {
  const lanes = tags.get(`hov:lanes:${direction}`) ?? tags.get('hov:lanes')
  if (lanes !== undefined) return lanes.split('|').every((lane) => lane === 'designated')
  return (tags.get(`hov:${direction}`) ?? tags.get('hov')) === 'designated'
}

/** What the most specific key that says something says, and its value; undefined when none does. */
function decisionOf(
  says: ModeTags['says'],
  tags: Tags,
  suffixes: readonly string[] = [''],
): { key: string; value: string; open: boolean } | undefined {
  return firstOf(says, ([key, meanings]) =>
    firstOf(suffixes, (suffix) => {
      const value = tags.get(`${key}${suffix}`)
      const open = meaning(meanings, value)
      return open === undefined ? undefined : { key, value: value!, open }
    }),
  )
}

/** Keys that open a way to a mode but are none of access. */
const FACILITIES = new Set(['cycleway', 'lanes:psv:forward'])

/**
 * Modes that may use a way in a direction for local access only, by the most specific key of each mode. Source: OpenStreetMap wiki, Key:access, transport mode hierarchy.
 */
export function localModes(tags: Tags, direction: 'forward' | 'backward'): number {
  let local = 0
  if (![...tags.values()].some((value) => meaning(DESTINATION_ONLY, value) === true)) return 0
  for (const { mode, says } of MODE_TAGS) {
    const keys = [...says.filter(([key]) => !FACILITIES.has(key)), ['access', ACCESS] as const]
    const decision = decisionOf(keys, tags, [`:${direction}`, ''])
    if (meaning(DESTINATION_ONLY, decision?.value) === true) local |= mode
  }
  return (local & foot) === 0 ? local : local | wheelchair
}

/** The first answer that one of a list gives. */
function firstOf<Item, Answer>(list: readonly Item[], ask: (item: Item) => Answer | undefined): Answer | undefined {
  for (const item of list) {
    const answer = ask(item)
    if (answer !== undefined) return answer
  }
  return undefined
}

const anyOf = (tags: Tags, keys: readonly string[], accepted: readonly string[]): boolean =>
  keys.some((key) => accepted.includes(tags.get(key) ?? ''))
const opensBack = (tags: Tags, { against = [] }: ModeTags): boolean =>
  against.some(([keys, values]) => anyOf(tags, keys, values))
const ownOneway = (tags: Tags, { oneway = [] }: ModeTags): string | undefined => firstOf(oneway, (key) => tags.get(key))

/** Whether a value of `oneway` says that traffic runs one way; undefined when it says nothing. */
function isOneway(value: string | undefined): boolean | undefined {
  if (['no', 'false', 'reversible', 'alternating'].includes(value ?? '')) return false
  return ['-1', 'yes', 'true', '1'].includes(value ?? '') ? true : undefined
}

/** Both directions from the one-way tags, with the modes that are excepted from them. */
function directed(tags: Tags, modes: number, oneway: boolean): Directions {
  let forward = modes
  let backward = oneway ? 0 : modes & emergency
  const walkersToo = onFootWay(tags)
  for (const mode of MODE_TAGS) {
    const value = ownOneway(tags, mode)
    if ((tags.get('oneway') === 'yes' && value === 'no') || opensBack(tags, mode)) {
      backward |= mode.mode
      const own = oneway && (mode.mode !== foot || walkersToo) ? isOneway(value) : undefined
      if (own !== undefined) forward = own ? forward & ~mode.mode : forward | mode.mode
    } else if (!oneway && (value === undefined || value === 'no')) {
      backward |= forward & mode.mode
    }
  }
  // Walkers mind a one-way street only where it is theirs.
  if (oneway && !walkersToo) backward = (backward & ~foot) | (forward & foot)
  return { forward, backward }
}

/** Ways whose direction binds walkers too: their own, and what carries them. */
function onFootWay(tags: Tags): boolean {
  const own = ['footway', 'pedestrian', 'steps', 'path'].includes(tags.get('highway') ?? '')
  return own || tags.has('oneway:foot') || isCarried(tags)
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
function onewayForSome(tags: Tags, { forward, backward }: Directions): Directions {
  let own = 0
  for (const mode of MODE_TAGS) if (ownOneway(tags, mode) !== undefined || opensBack(tags, mode)) own |= mode.mode
  let [ahead, back] = [forward, backward]
  for (const [key, group] of ONEWAY_GROUPS) {
    const value = tags.get(key)
    if (value === '-1') ahead &= ~(group & ~own)
    else if (isOneway(value) === true) back &= ~(group & ~own)
  }
  return { forward: ahead, backward: back }
}

const BICYCLE_LANES = 'shared_lane share_busway shared opposite_track track opposite_lane lane buffered_lane'.split(' ')

/** Lanes on both sides, and tags that open or close a single direction, whatever the one-way tags say. */
function withLanes(tags: Tags, tagged: number, { forward, backward }: Directions): Directions {
  const onBoth = (key: string, kinds: readonly string[]): boolean =>
    anyOf(tags, [`${key}:right`], kinds) && anyOf(tags, [`${key}:left`], kinds)
  const ridden = anyOf(tags, ['cycleway:both'], BICYCLE_LANES) || onBoth('cycleway', BICYCLE_LANES)
  // On a one-way street both lanes run its way, unless a tag says that bicycles need not.
  let both = ridden && isOneway(tags.get('oneway')) !== true ? bicycle : 0
  if (anyOf(tags, ['busway'], ['lane']) || onBoth('busway', ['lane'])) both |= bus
  return {
    forward: override(tags, 'forward', { modes: forward | both, tagged }),
    backward: override(tags, 'backward', { modes: backward | both, tagged }),
  }
}

function override(tags: Tags, direction: string, { modes, tagged }: { modes: number; tagged: number }): number {
  const of = (key: string): string | undefined => tags.get(`${key}:${direction}`)
  // What closes the direction to all does not bind the modes that have a tag of their own.
  let result = meaning(ACCESS, of('access')) === false ? modes & (tagged | namedModes(of('access'))) : modes
  for (const [said, group, meanings] of [
    [of('motor_vehicle') ?? of('vehicle'), MOTOR, MOTOR_VEHICLE],
    [of('foot'), foot, FOOT],
    [of('bicycle') ?? of('vehicle'), bicycle, BICYCLE],
  ] as const) {
    if (said === undefined) continue
    // What is for buses or taxis stays theirs.
    const kept = result & namedModes(said)
    result = meaning(meanings, said) === true ? result | group : (result & ~group) | kept
  }
  return result
}

/** The modes to which a tag like `bus:forward = no` closes a direction. */
function closedTo(tags: Tags, direction: string): number {
  let closed = 0
  for (const { mode, says, closes = [] } of MODE_TAGS) {
    const value = firstOf(closes, (key) => tags.get(`${key}:${direction}`))
    if (meaning(says[0]![1], value) === false) closed |= mode
  }
  return closed
}

/** Modes whose own one-way tag alone runs against the nodes. */
function modeReversals(tags: Tags, { forward, backward }: Directions): Directions {
  let swap = 0
  for (const { mode, oneway = [] } of MODE_TAGS) if (oneway.some((key) => tags.get(key) === '-1')) swap |= mode
  return { forward: (forward & ~swap) | (backward & swap), backward: (backward & ~swap) | (forward & swap) }
}

/** Lanes for buses and taxis that are counted: one runs along the nodes, a second one back. */
function countedLanes(tags: Tags, { forward, backward }: Directions): Directions {
  let [ahead, back] = [forward, backward]
  for (const [key, mode] of [
    ['lanes:bus', bus],
    ['lanes:psv', taxi],
  ] as const) {
    const lanes = tags.get(key)
    if (lanes !== '1' && lanes !== '2') continue
    ahead |= mode
    back = lanes === '2' ? back | mode : back & ~mode
  }
  return { forward: ahead, backward: back }
}
