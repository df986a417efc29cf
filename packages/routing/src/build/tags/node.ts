import { Access, ALL_ACCESS, NodeType } from '../../graph/attributes.ts'
import {
  ACCESS,
  BICYCLE,
  BUS,
  DESTINATION_ONLY,
  FOOT,
  meaning,
  MOPED,
  MOTOR_VEHICLE,
  PUBLIC_SERVICE_BUS,
  PUBLIC_SERVICE_TAXI,
  type Tags,
  TRUCK,
  type ValueTable,
  WHEELCHAIR,
} from './values.ts'
import { withExceptions } from './exceptions.ts'
import { nodeUnread, type UnreadTag } from './unread.ts'
import { type NodeSize, nodeSizes } from './way-limits.ts'
import { type NodeHours, nodeHours } from './way-timed.ts'
import { namedModes } from './mode-tags.ts'
import { parts } from './way-names.ts'

/** What the tags of a node mean for routing. */
export interface NodeFacts {
  readonly type: number
  /** Modes that may pass. */
  readonly access: number
  /** Some access tag says who may pass. */
  readonly taggedAccess: boolean
  /** Modes that may pass for local access only. */
  readonly privateModes: number
  readonly cashOnlyToll: boolean
  /** The sizes that fit through. */
  readonly sizes: readonly NodeSize[]
  /** Whom it is closed to at certain hours. */
  readonly hours: readonly NodeHours[]
  /** What its conditions say that is not read. */
  readonly unread: readonly UnreadTag[]
  /** Ways are cut here, for something stands on the node. */
  readonly splits: boolean
  readonly signal: DirectedSign
  readonly stop: DirectedSign
  /** A stop sign concerns the lesser streets only. */
  readonly minor: boolean
  readonly exitNumbers: readonly string[]
  readonly exitTo: readonly string[]
  readonly exitNames: readonly string[]
}

/** Whether a sign is there, and for which direction of its way where that is said. */
export interface DirectedSign {
  readonly present: boolean
  readonly forward: boolean
  readonly backward: boolean
}

/** Reads a node that lies on a way. */
export function nodeFacts(said: Tags): NodeFacts {
  const { tags, limits } = withExceptions(said)
  const kind = barrierKind(tags)
  const tagged = taggedAccess(tags)
  const access = nodeAccess(tags, kind, tagged)
  const junction = tags.get('highway') === 'motorway_junction'
  const sizes = [...nodeSizes(tags), ...limits]
  const hours = nodeHours(tags)
  const unread = nodeUnread(said)
  return {
    type: nodeType(tags, kind),
    access,
    taggedAccess: tagged.size > 0 || meaning(ACCESS, tags.get('access')) !== undefined,
    privateModes: privateModes(tags),
    cashOnlyToll: tags.get('barrier') === 'toll_booth' && cashOnly(tags),
    sizes,
    hours,
    unread,
    splits:
      kind !== null ||
      sizes.length + hours.length + unread.length > 0 ||
      (tags.has('barrier') && access !== ALL_ACCESS) ||
      SPLITTING.some((splits) => splits(tags)),
    signal: sign(tags, tags.get('highway') === 'traffic_signals', 'traffic_signals:direction'),
    stop: sign(tags, tags.get('highway') === 'stop', 'direction'),
    minor: tags.get('stop') === 'minor',
    exitNumbers: junction ? parts(tags.get('ref')) : [],
    exitTo: junction ? parts(tags.get('exit_to')) : [],
    exitNames: junction ? parts(tags.get('name')) : [],
  }
}

/** What may block a node. */
type Barrier = 'gate' | 'bollard' | 'sump_buster' | 'wall'

const GATES = new Set(['gate', 'lift_gate', 'swing_gate', 'sliding_beam'])
const BOLLARDS = new Set([
  'bollard',
  'block',
  'kissing_gate',
  'motorcycle_barrier',
  'cycle_barrier',
  'chain',
  'bar',
  'log',
])
/** Only walkers fit through. */
const TURNSTILES = new Set(['turnstile', 'full-height_turnstile', 'stile', 'horse_stile'])
/** Barriers that stop every mode, like `barrier` without further tags. Source: OSRM's profiles. */
const WALLS = new Set(['yes', 'fence', 'barrier_board', 'wall', 'jersey_barrier', 'debris'])

function barrierKind(tags: Tags): Barrier | null {
  const barrier = tags.get('barrier') ?? ''
  if (GATES.has(barrier)) return 'gate'
  if (BOLLARDS.has(barrier) || tags.get('bollard') === 'removable') {
    return tags.get('bollard') === 'rising' ? 'gate' : 'bollard'
  }
  if (barrier === 'sump_buster' || barrier === 'bus_trap') return 'sump_buster'
  return WALLS.has(barrier) ? 'wall' : null
}

function nodeType(tags: Tags, kind: Barrier | null): number {
  if (kind === 'gate') return NodeType.gate
  if (kind === 'bollard') return NodeType.bollard
  if (kind === 'sump_buster') return NodeType.sumpBuster
  if (tags.get('barrier') === 'border_control') return NodeType.borderControl
  if (tags.get('barrier') === 'toll_booth') return NodeType.tollBooth
  if (tags.get('highway') === 'toll_gantry') return NodeType.tollGantry
  if (tags.get('entrance') === 'yes' && tags.get('indoor') === 'yes') return NodeType.buildingEntrance
  if (tags.get('highway') === 'elevator') return NodeType.elevator
  return tags.get('highway') === 'motorway_junction' ? NodeType.motorwayJunction : NodeType.plain
}

const SPLITTING: readonly ((tags: Tags) => boolean)[] = [
  (tags) => tags.get('barrier') === 'border_control',
  (tags) => tags.get('barrier') === 'toll_booth',
  (tags) => tags.get('highway') === 'toll_gantry',
  (tags) => tags.get('entrance') === 'yes' && tags.get('indoor') === 'yes',
  (tags) => tags.get('highway') === 'elevator',
]

const MODE_KEYS: readonly (readonly [number, readonly (readonly [string, ValueTable])[]])[] = [
  [
    Access.car,
    [
      ['motorcar', MOTOR_VEHICLE],
      ['motor_vehicle', MOTOR_VEHICLE],
    ],
  ],
  [Access.foot, [['foot', FOOT]]],
  [Access.wheelchair, [['wheelchair', WHEELCHAIR]]],
  [Access.bicycle, [['bicycle', BICYCLE]]],
  [
    Access.truck,
    [
      ['hgv', TRUCK],
      ['goods', TRUCK],
    ],
  ],
  [
    Access.bus,
    [
      ['bus', BUS],
      ['psv', PUBLIC_SERVICE_BUS],
    ],
  ],
  [
    Access.taxi,
    [
      ['taxi', BUS],
      ['psv', PUBLIC_SERVICE_TAXI],
    ],
  ],
  [
    Access.moped,
    [
      ['moped', MOPED],
      ['mofa', MOPED],
    ],
  ],
  [Access.motorcycle, [['motorcycle', MOTOR_VEHICLE]]],
]

/** Access by mode, for modes with an access tag. */
function taggedAccess(tags: Tags): Map<number, boolean> {
  const decided = new Map<number, boolean>()
  for (const [mode, keys] of MODE_KEYS) {
    for (const [key, table] of keys) {
      const open = meaning(table, tags.get(key))
      if (open !== undefined && !decided.has(mode)) decided.set(mode, open)
    }
  }
  for (const mode of [Access.bus, Access.taxi])
    if ((namedModes(tags.get('access')) & mode) !== 0) decided.set(mode, true)
  for (const [key, modes] of GENERAL_KEYS) {
    const named = namedModes(tags.get(key))
    const open = meaning(MOTOR_VEHICLE, tags.get(key))
    follow(decided, true, ...modes.filter((mode) => (named & mode) !== 0))
    if (open !== undefined) follow(decided, open, ...modes)
  }
  const car = decided.get(Access.car)
  if (car === true) follow(decided, true, Access.bus, Access.taxi, Access.truck)
  if (car === false) follow(decided, false, Access.taxi)
  if (decided.get(Access.foot) === true) follow(decided, true, Access.wheelchair)
  if (tags.get('access') === 'emergency' || tags.get('emergency') === 'yes') decided.set(Access.emergency, true)
  // A crossing for bicycles is no barrier to riders along the street.
  if (decided.get(Access.bicycle) === false && tags.get('highway') === 'crossing') decided.set(Access.bicycle, true)
  return decided
}

const MOTORS = [Access.car, Access.bus, Access.taxi, Access.truck, Access.moped, Access.motorcycle] as const
/** Keys for several modes, after those of a mode. Source: OpenStreetMap wiki, Key:access, transport mode hierarchy. */
const GENERAL_KEYS = [
  ['motor_vehicle', MOTORS],
  ['vehicle', [...MOTORS, Access.bicycle]],
] as const

const MOTOR = MOTORS.reduce((modes, mode) => modes | mode, 0)
/** Modes by the keys that say of them whether only those with business there may pass, the most specific first. */
const PRIVATE_KEYS = [
  [MOTOR, ['motorcar', 'motor_vehicle', 'vehicle', 'access']],
  [Access.bicycle, ['bicycle', 'vehicle', 'access']],
  [Access.foot | Access.wheelchair, ['foot', 'access']],
] as const

function privateModes(tags: Tags): number {
  let modes = 0
  for (const [mode, keys] of PRIVATE_KEYS) {
    const key = keys.find((name) => tags.has(name))
    if (key !== undefined && meaning(DESTINATION_ONLY, tags.get(key)) === true) modes |= mode
  }
  return modes
}

function follow(decided: Map<number, boolean>, open: boolean, ...modes: number[]): void {
  for (const mode of modes) if (!decided.has(mode)) decided.set(mode, open)
}

const CARS = Access.car | Access.taxi
const VEHICLES = ALL_ACCESS & ~(Access.foot | Access.wheelchair | Access.bicycle)
/** Modes that a barrier stops. */
const STOPPED: Readonly<Record<Barrier, number>> = { gate: 0, bollard: VEHICLES, sump_buster: CARS, wall: ALL_ACCESS }

function nodeAccess(tags: Tags, kind: Barrier | null, tagged: Map<number, boolean>): number {
  const said = meaning(ACCESS, tags.get('access'))
  const emergencyOnly = tags.get('emergency') === 'yes' || tags.get('service') === 'emergency_access'
  const closed =
    said === false || tags.get('impassable') === 'yes' || (tags.get('access') === 'private' && emergencyOnly)
  let access = ALL_ACCESS
  if (closed) access = 0
  else if (tags.get('smoothness') === 'impassable') access = Access.foot
  if (said === undefined && TURNSTILES.has(tags.get('barrier') ?? '')) access &= Access.foot
  // What is built for cars not to pass stops them whatever is said of access in general.
  if (kind !== null && (said === undefined || kind === 'sump_buster')) access &= ~STOPPED[kind]
  for (const [mode, open] of tagged) access = open ? access | mode : access & ~mode
  return access
}

function sign(tags: Tags, present: boolean, directionKey: string): DirectedSign {
  const direction = tags.get(directionKey) ?? ''
  const both = direction === 'both'
  return {
    present,
    forward: present && (both || direction === 'forward'),
    backward: present && (both || direction === 'backward' || direction === 'reverse'),
  }
}

const CASH = new Set(['cash', 'notes', 'coins'])

function cashOnly(tags: Tags): boolean {
  let cash = false
  for (const [key, value] of tags) {
    if (!key.startsWith('payment:') || value.toUpperCase() === 'NO') continue
    if (!CASH.has(key.slice('payment:'.length))) return false
    cash = true
  }
  return cash
}

/** A node without tags. */
export const PLAIN_NODE: NodeFacts = nodeFacts(new Map())
