import { Access, ALL_ACCESS, NodeType } from '../../graph/attributes.ts'
import { type Barrier, barrierKind, MODE_LAWS, MOTOR, PASSES } from '../access-law.ts'
import { closes, decisionOf, namedModes, verdictOf, withWheelchair } from './decide.ts'
import { type Tags, WHEELCHAIR } from './values.ts'
import { withExceptions, withUsualKeys } from './exceptions.ts'
import { fordUnread, nodeUnread, type UnreadTag } from './unread.ts'
import { type NodeSize, nodeSizes } from './way-limits.ts'
import { gateHours, type NodeHours } from './way-timed.ts'
import { parts } from './way-names.ts'

/** Meaning of the tags of a node for routing. */
export interface NodeFacts {
  readonly type: number
  /** Modes that may pass. */
  readonly access: number
  /** Whether an access tag decides. */
  readonly taggedAccess: boolean
  /** Modes that may pass for local access only. */
  readonly privateModes: number
  readonly cashOnlyToll: boolean
  /** The sizes that fit through the barrier, with the modes they apply to. */
  readonly sizes: readonly NodeSize[]
  /** Timed closures by mode. */
  readonly hours: readonly NodeHours[]
  /** Whether `hours` decide for the modes that `access` excludes, too, because some of them may pass at times. */
  readonly opensAtTimes: boolean
  /** Conditions of the node that are not supported. */
  readonly unread: readonly UnreadTag[]
  /** The tag of a ford, which is not supported either. */
  readonly ford: readonly UnreadTag[]
  /** Whether ways are cut here because of a barrier, a sign or similar. */
  readonly splits: boolean
  readonly signal: DirectedSign
  readonly stop: DirectedSign
  /** Whether a stop sign applies to the minor streets only. */
  readonly minor: boolean
  readonly exitNumbers: readonly string[]
  readonly exitTo: readonly string[]
  readonly exitNames: readonly string[]
}

/** A sign on a node, and the directions of the way that it applies to. */
export interface DirectedSign {
  readonly present: boolean
  readonly forward: boolean
  readonly backward: boolean
}

/** Reads a node that lies on a way. */
export function nodeFacts(said: Tags): NodeFacts {
  const { tags, limits } = withExceptions(said)
  const kind = barrierOf(tags)
  const tagged = taggedAccess(tags)
  const access = nodeAccess(tags, kind, tagged)
  const junction = tags.get('highway') === 'motorway_junction'
  const sizes = [...nodeSizes(tags), ...limits]
  const { hours, opened, openedLocally } = gateHours(tags, access, kind === null ? ALL_ACCESS : PASSES[kind])
  const locally = privateModes(tags) | openedLocally
  const unread = nodeUnread(withUsualKeys(said))
  return {
    type: nodeType(tags, kind),
    access,
    taggedAccess: tagged.size > 0 || verdictOf('access', tags.get('access')) !== undefined,
    privateModes: locally,
    cashOnlyToll: tags.get('barrier') === 'toll_booth' && cashOnly(tags),
    sizes,
    hours,
    opensAtTimes: opened !== 0,
    unread,
    ford: fordUnread(said),
    splits:
      kind !== null ||
      sizes.length + hours.length + unread.length > 0 ||
      access !== ALL_ACCESS ||
      locally !== 0 ||
      SPLITTING.some((splits) => splits(tags)),
    signal: sign(tags, tags.get('highway') === 'traffic_signals', 'traffic_signals:direction'),
    stop: sign(tags, tags.get('highway') === 'stop', 'direction'),
    minor: tags.get('stop') === 'minor',
    exitNumbers: junction ? parts(tags.get('ref')) : [],
    exitTo: junction ? parts(tags.get('exit_to')) : [],
    exitNames: junction ? parts(tags.get('name')) : [],
  }
}

function barrierOf(tags: Tags): Barrier | null {
  const barrier = tags.get('barrier')
  // A virtual fence with audio signals for cattle stops no mode. Source: OSRM's profiles.
  if (barrier === 'fence' && ['audible', 'audio'].includes(tags.get('sensory') ?? '')) return null
  const kind = barrierKind(barrier)
  if (kind !== 'bollard' && tags.get('bollard') !== 'removable') return kind
  return tags.get('bollard') === 'rising' ? 'gate' : (kind ?? 'bollard')
}

function nodeType(tags: Tags, kind: Barrier | null): number {
  if (kind === 'gate') return NodeType.gate
  if (kind === 'bollard') return NodeType.bollard
  if (kind === 'trap') return NodeType.sumpBuster
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

/** Access by mode, for modes with an access tag. */
function taggedAccess(tags: Tags): Map<number, boolean> {
  const decided = new Map<number, boolean>()
  for (const law of MODE_LAWS) {
    const decision = decisionOf(law, tags)
    if (decision !== undefined && decision.key !== 'access') decided.set(law.mode, decision.verdict !== 'no')
    else if ((namedModes(tags.get('access')) & law.mode) !== 0) decided.set(law.mode, true)
  }
  if (decided.get(Access.car) === false && !decided.has(Access.taxi)) decided.set(Access.taxi, false)
  const wheelchair = WHEELCHAIR.get(tags.get('wheelchair') ?? '')
  if (wheelchair !== undefined) decided.set(Access.wheelchair, wheelchair)
  else if (decided.has(Access.foot)) decided.set(Access.wheelchair, decided.get(Access.foot)!)
  if (tags.get('access') === 'emergency' || tags.get('emergency') === 'yes') decided.set(Access.emergency, true)
  // `bicycle=no` on a crossing refers to bicycles across the street, not along it.
  if (decided.get(Access.bicycle) === false && tags.get('highway') === 'crossing') decided.set(Access.bicycle, true)
  return decided
}

function privateModes(tags: Tags): number {
  // `access=customers` of a parking place on a street refers to the place.
  if (tags.has('amenity') && !tags.has('barrier')) return 0
  const locked = lockedModes(tags)
  let modes = 0
  for (const law of MODE_LAWS) {
    const verdict = decisionOf(law, tags)?.verdict
    if (verdict === 'local' || (verdict === undefined && (law.mode & locked) !== 0)) modes |= law.mode
  }
  return withWheelchair(modes)
}

/**
 * Modes that a locked barrier stops; pedestrians and bicycles pass a bollard or a chain. Source: OpenStreetMap wiki,
 * Key:locked.
 */
function lockedModes(tags: Tags): number {
  const barrier = tags.get('barrier')
  if (barrier === undefined || tags.get('locked') !== 'yes') return 0
  return /gate$|turnstile$/.test(barrier) ? ALL_ACCESS : MOTOR
}

function nodeAccess(tags: Tags, kind: Barrier | null, tagged: Map<number, boolean>): number {
  const said = verdictOf('access', tags.get('access'))
  const emergencyOnly = tags.get('emergency') === 'yes' || tags.get('service') === 'emergency_access'
  const closed =
    closes('access', tags.get('access')) ||
    tags.get('impassable') === 'yes' ||
    (tags.get('access') === 'private' && emergencyOnly)
  let access = ALL_ACCESS
  if (closed) access = 0
  else if (tags.get('smoothness') === 'impassable') access = Access.foot
  // A barrier of kind `trap` stops cars even where a general access tag opens the node.
  if (kind !== null && (said === undefined || kind === 'trap')) access &= PASSES[kind]
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
