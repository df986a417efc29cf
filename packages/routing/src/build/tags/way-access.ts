import { Access } from '../../graph/attributes.ts'
import {
  accessOfClass,
  CARRIED,
  FEW_PEOPLE,
  GENERAL_KEYS,
  MODE_LAWS,
  type ModeLaw,
  MOTOR,
  NOT_WITH_MANY,
  SLOW,
} from '../access-law.ts'
import { closes, type Decision, decisionOf, directedDecision, namedModes, withWheelchair } from './decide.ts'
import { type Directions, isCarried, isOneway, opensBack, travel } from './directions.ts'
import { modesByLanes } from './lane-access.ts'
import type { Tags } from './values.ts'

const { foot, bicycle, emergency, taxi, bus } = Access

/** Modes that may travel a way, with the intermediate results. */
export interface WayAccess extends Directions {
  /** Modes whose own tags decide their access; country rules do not change them. */
  readonly tagged: number
  /** Whether the way is one-way for vehicles in general. */
  readonly oneway: boolean
  /** Whether the one-way direction is against the node order. */
  readonly reversed: boolean
  readonly roundabout: boolean
  /** Modes that the access tags permit in each direction, and modes that the one-way tags permit. */
  readonly permitted: Directions
  readonly travelled: Directions
  /** Modes that lanes or directed keys exclude. */
  readonly closed: Directions
  /** Modes that follow lanes whose direction changes by the hour. */
  readonly changing: number
}

/** Access of a way by mode and direction; null when no mode may use it. */
export function wayAccess(tags: Tags): WayAccess | null {
  const open = openModes(tags)
  const { oneway, reversed, roundabout, ...way } = travel(tags)
  const ahead = permitted(tags, open.modes, 'forward')
  const back = permitted(tags, open.modes, 'backward')
  let both = withCountedLanes(tags, {
    oneway,
    reversed,
    forward: (ahead | (reversed ? backwardModes(tags) : 0)) & way.forward,
    backward: (back | (reversed ? 0 : backwardModes(tags))) & way.backward,
  })
  // Escalators run one way with `conveying=forward` or `conveying=backward`.
  const conveying = tags.get('conveying')
  const closedAhead = closedTo(tags, 'forward')
  const closedBack = closedTo(tags, 'backward')
  both = {
    forward: conveying === 'backward' ? 0 : both.forward & ~closedAhead,
    backward: conveying === 'forward' ? 0 : both.backward & ~closedBack,
  }
  // The direction of a reversible way depends on the time, so neither is open at all times. Source: OpenStreetMap wiki,
  // Key:oneway.
  const changed = tags.get('oneway') === 'reversible' ? (both.forward | both.backward) & (MOTOR | bicycle) : 0
  const changing = tags.has('oneway:conditional') ? changed : 0
  const forward = both.forward & ~changed
  const backward = both.backward & ~changed
  if ((forward | backward | changing) === 0 && tags.get('highway') !== 'bridleway') return null
  // A mode that tags exclude also counts as tagged, so that the country's default does not include it again.
  const tagged = open.tagged | (open.modes & ~(forward | backward))
  const allowed = { forward: ahead & ~closedAhead, backward: back & ~closedBack }
  const closed = {
    forward: withWheelchair(closedAhead | closedByKeys(tags, 'forward')),
    backward: withWheelchair(closedBack | closedByKeys(tags, 'backward')),
  }
  const sides = { permitted: allowed, travelled: way, closed }
  return { forward, backward, ...sides, tagged, oneway, reversed, roundabout, changing }
}

/** The modes that may use the way, regardless of direction. */
function openModes(tags: Tags): { modes: number; tagged: number } {
  const highway = tags.get('highway')
  const known = accessOfClass(highway)
  const carried = isCarried(tags)
  const emergencyOnly = tags.get('emergency') === 'yes' || tags.get('service') === 'emergency_access'
  const ruined = tags.get('smoothness') === 'impassable'
  let modes = known ?? (carried ? CARRIED : 0)
  if (tags.get('impassable') === 'yes' || (tags.get('access') === 'private' && emergencyOnly)) modes = 0
  else if (closes('access', tags.get('access'))) modes = namedModes(tags.get('access'))
  else if (ruined) modes &= foot
  // Source: OSRM's car profile, service_tag_forbidden.
  if (tags.get('service') === 'emergency_access') modes &= ~MOTOR
  // `vehicle=yes` does not open a motorway to slow vehicles.
  const openedByVehicle = ruined ? 0 : highway?.startsWith('motorway') === true ? ~SLOW : ~0
  let tagged = 0
  for (const law of MODE_LAWS) {
    const { mode } = law
    const decision = wayDecision(law, tags)
    if (decision === undefined || decision.key === 'access') continue
    const general = decision.key === 'vehicle'
    if (!general) tagged |= mode
    if (decision.verdict === 'no') modes &= ~mode
    else if (!general || (mode & openedByVehicle) !== 0) modes |= mode
  }
  if (isForHighOccupancy(tags, 'forward') && isForHighOccupancy(tags, 'backward'))
    modes |= FEW_PEOPLE & ~decidedByOwn(tags) & (known ?? 0)
  if (known === null && (tagged & bicycle) === 0 && tags.has('sac_scale')) {
    modes = tags.get('sac_scale') === 'hiking' ? modes | bicycle : modes & ~bicycle
  }
  // `bus=yes` on a platform refers to the vehicles that stop at it.
  if (highway === 'platform') modes &= ~MOTOR
  if ((carried || highway !== undefined) && (tags.get('access') === 'emergency' || emergencyOnly)) modes |= emergency
  return { modes, tagged }
}

/**
 * Access of a mode by the tags of a way: its own keys, then designations and lanes for it, then keys for several modes.
 */
function wayDecision(
  law: ModeLaw,
  tags: Tags,
  { streets = [], lanes = [] }: Pick<ModeLaw, 'streets' | 'lanes'> = law,
): Decision | undefined {
  const decision = decisionOf(law, tags)
  if (decision !== undefined && !GENERAL_KEYS.includes(decision.key)) return decision
  const isClosed = decision?.key === 'access' && decision.verdict === 'no'
  const own = [...streets, ...(isClosed ? [] : lanes)].find(([key, values]) => values.includes(tags.get(key) ?? ''))
  return own === undefined ? decision : { key: own[0], verdict: 'yes' }
}

/** Whether all lanes of a direction are high-occupancy lanes. Source: OpenStreetMap wiki, Key:hov. */
export function isForHighOccupancy(tags: Tags, direction: 'forward' | 'backward'): boolean {
  const lanes = tags.get(`hov:lanes:${direction}`) ?? tags.get('hov:lanes')
  if (lanes !== undefined) return lanes.split('|').every((lane) => lane === 'designated')
  return (tags.get(`hov:${direction}`) ?? tags.get('hov')) === 'designated'
}

/** Modes that all lanes of a direction exclude. */
export function closedTo(tags: Tags, direction: 'forward' | 'backward'): number {
  return (
    modesByLanes(tags, direction, ['no']) |
    (isForHighOccupancy(tags, direction) ? NOT_WITH_MANY & ~decidedByOwn(tags) : 0)
  )
}

/** Modes that a directed key excludes. */
function closedByKeys(tags: Tags, direction: 'forward' | 'backward'): number {
  let modes = 0
  for (const law of MODE_LAWS) if (directedDecision(law, tags, direction)?.verdict === 'no') modes |= law.mode
  return modes
}

/** Modes whose own key decides, for a direction or for the whole way. */
function decidedByOwn(tags: Tags, direction?: 'forward' | 'backward'): number {
  let modes = 0
  for (const law of MODE_LAWS) {
    const directed = direction && directedDecision(law, tags, direction)
    const decision = directed ?? decisionOf(law, tags)
    if (decision !== undefined && !GENERAL_KEYS.includes(decision.key)) modes |= law.mode
  }
  return modes
}

/** Passengers of a ferry are its customers, and its destination is the other shore. */
const AS_PASSENGERS = new Map(['customers', 'destination', 'delivery', 'residents'].map((value) => [value, 'yes']))

/** Modes that may use a way in a direction for local access only, by the most specific key of each mode. */
export function localModes(said: Tags, direction: 'forward' | 'backward'): number {
  const tags = isCarried(said)
    ? new Map([...said].map(([key, value]) => [key, AS_PASSENGERS.get(value) ?? value]))
    : said
  let local = modesByLanes(tags, direction, ['local', 'no'])
  for (const law of MODE_LAWS) {
    const { streets = [] } = law
    const decision = directedDecision(law, tags, direction) ?? wayDecision(law, tags, { streets, lanes: [] })
    if (decision?.verdict === 'local') local |= law.mode
  }
  return withWheelchair(local)
}

/** Modes that may use a way in a direction, regardless of its one-way tags. */
function permitted(tags: Tags, open: number, direction: 'forward' | 'backward'): number {
  const isOnBoth = ['busway:left', 'busway:right'].every((key) => tags.get(key) === 'lane')
  const lanes = isOnBoth || tags.get('busway') === 'lane' ? bus : 0
  let modes = open | (lanes & ~decidedByOwn(tags))
  // `access:forward=yes` on a closed way opens the direction to the modes of the way's class only.
  const isClosed = closes('access', tags.get('access')) && tags.get('impassable') !== 'yes'
  const byClass = isClosed ? (accessOfClass(tags.get('highway')) ?? 0) : 0
  for (const law of MODE_LAWS) {
    const decision = directedDecision(law, tags, direction)
    if (decision === undefined) continue
    if (decision.verdict === 'no') modes &= ~law.mode
    else modes |= law.mode & (decision.key === 'access' ? byClass : ~0)
  }
  return modes
}

/** Modes for which a facility opens the direction against the traffic, unless their own key closes the way. */
function backwardModes(tags: Tags): number {
  let modes = 0
  for (const law of MODE_LAWS) {
    const decision = directedDecision(law, tags, 'backward') ?? decisionOf(law, tags)
    const isClosed = decision?.verdict === 'no' && !GENERAL_KEYS.includes(decision.key)
    if (!isClosed && isOneway(tags.get('oneway')) === true && opensBack(tags, law)) modes |= law.mode
  }
  return modes
}

/** Opens the direction of traffic to buses and taxis by `lanes:bus` and `lanes:psv`, unless their own key decides. */
function withCountedLanes(
  tags: Tags,
  { forward, backward, oneway, reversed }: Directions & Pick<WayAccess, 'oneway' | 'reversed'>,
): Directions {
  const lanes = (['lanes:bus', 'lanes:psv'] as const).map((key) => Number(tags.get(key) ?? 0))
  const modes = (lanes[0]! > 0 ? bus : 0) | (lanes[1]! > 0 ? bus | taxi : 0)
  // A single lane of a two-way street runs in node order.
  const runsBack = oneway ? reversed : Math.max(...lanes) > 1
  const runsAhead = !oneway || !reversed
  return {
    forward: forward | (runsAhead ? modes & ~decidedByOwn(tags, 'forward') : 0),
    backward: backward | (runsBack ? modes & ~decidedByOwn(tags, 'backward') : 0),
  }
}
