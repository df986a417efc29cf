import { Access, ALL_ACCESS } from '../../graph/attributes.ts'
import { GENERAL_KEYS, MODE_LAWS, type ModeLaw, ONEWAY_GROUPS } from '../law.ts'
import { verdictOf, withWheelchair } from './decide.ts'
import type { Tags } from './values.ts'

const { foot } = Access

/** Modes that may travel a way along and against its node order. */
export interface Directions {
  readonly forward: number
  readonly backward: number
}

/** The directions in which modes travel a way that is open to them. */
export interface Travel extends Directions {
  /** Traffic runs one way for vehicles in general. */
  readonly oneway: boolean
  /** The one way is against the node order. */
  readonly reversed: boolean
  readonly roundabout: boolean
}

/** Which modes travel a way in which direction by its one-way tags, access apart. */
export function travel(tags: Tags): Travel {
  const roundabout = tags.get('junction') === 'roundabout' || tags.get('junction') === 'circular'
  const said = tags.get('oneway')
  const reversed = said === '-1'
  // A motorway is a single carriageway, so it is one-way unless a tag denies it.
  const oneway = roundabout || (isOneway(said) ?? tags.get('highway') === 'motorway')
  let way = directed(tags, oneway)
  if (reversed) way = { forward: way.backward, backward: way.forward }
  else way = modeReversals(tags, way)
  if (!oneway) way = onewayForSome(tags, way)
  return { ...way, oneway, reversed, roundabout }
}

export const anyOf = (tags: Tags, keys: readonly string[], accepted: readonly string[]): boolean =>
  keys.some((key) => accepted.includes(tags.get(key) ?? ''))

/** Whether a tag opens the direction against the traffic to a mode. */
export function opensBack(tags: Tags, { mode, keys, against }: ModeLaw): boolean {
  if (against === undefined) return false
  const isReversed = tags.get('oneway') === '-1'
  // `bus:backward` means against the order of the nodes. With `oneway=-1` that is the direction of the traffic.
  const usable = against.filter(([names]) => !isReversed || !names[0]!.endsWith(':backward'))
  if (usable.some(([names, values]) => anyOf(tags, names, values))) return true
  const own = isReversed ? [] : keys.filter((key) => !GENERAL_KEYS.includes(key))
  for (const key of own) {
    const verdict = verdictOf(key, tags.get(`${key}:backward`), mode)
    if (verdict !== undefined) return verdict !== 'no'
  }
  return false
}

/** Modes that keys of their own such as `bicycle:backward` let go against the traffic. */
export const GO_BACK = MODE_LAWS.reduce((modes, { mode, against }) => (against === undefined ? modes : modes | mode), 0)

/** Modes with a one-way tag of their own. */
export function withOwnOneway(tags: Tags): number {
  let modes = 0
  for (const [key, group] of ONEWAY_GROUPS) if (tags.has(key)) modes |= group
  for (const law of MODE_LAWS) if (ownOneway(tags, law) !== undefined) modes |= law.mode
  return modes
}

function ownOneway(tags: Tags, { oneway }: ModeLaw): string | undefined {
  const key = oneway.find((name) => tags.has(name))
  return key === undefined ? undefined : tags.get(key)
}

/** Whether a value of `oneway` says that traffic runs one way; undefined when it says nothing. */
export function isOneway(value: string | undefined): boolean | undefined {
  if (['no', 'false', 'reversible', 'alternating'].includes(value ?? '')) return false
  return ['-1', 'yes', 'true', '1'].includes(value ?? '') ? true : undefined
}

/** Both directions from the one-way tags, with the modes that are excepted from them. */
function directed(tags: Tags, oneway: boolean): Directions {
  let forward: number = ALL_ACCESS
  let backward: number = oneway ? 0 : ALL_ACCESS
  const walkersToo = onFootWay(tags)
  for (const law of MODE_LAWS) {
    const mode = withWheelchair(law.mode)
    const value = ownOneway(tags, law)
    if ((oneway && value === 'no') || opensBack(tags, law)) {
      backward |= mode
      const own = oneway && (law.mode !== foot || walkersToo) ? isOneway(value) : undefined
      if (own === true) forward &= ~mode
    } else if (!oneway && value !== undefined && value !== 'no') {
      backward &= ~mode
    }
  }
  // One-way tags apply to pedestrians only on foot ways and ferries, or with `oneway:foot`.
  if (oneway && !walkersToo) backward |= withWheelchair(foot)
  return { forward, backward }
}

/**
 * Ways whose one-way direction applies to pedestrians: foot ways, ferries, shuttle trains and ways with `oneway:foot`.
 */
function onFootWay(tags: Tags): boolean {
  const own = ['footway', 'pedestrian', 'steps', 'path'].includes(tags.get('highway') ?? '')
  return own || tags.has('oneway:foot') || isCarried(tags)
}

/** Whether a way is a ferry or a train that carries vehicles. */
export function isCarried(tags: Tags): boolean {
  return tags.get('route') === 'ferry' || tags.get('route') === 'shuttle_train'
}

/** Closes a direction of a street that is one-way for some vehicles only, but not to those with a tag of their own. */
function onewayForSome(tags: Tags, { forward, backward }: Directions): Directions {
  let own = 0
  for (const law of MODE_LAWS) if (ownOneway(tags, law) !== undefined || opensBack(tags, law)) own |= law.mode
  let [ahead, back] = [forward, backward]
  for (const [key, group] of ONEWAY_GROUPS) {
    const value = tags.get(key)
    if (value === '-1') ahead &= ~(group & ~own)
    else if (isOneway(value) === true) back &= ~(group & ~own)
  }
  return { forward: ahead, backward: back }
}

/** Modes whose own one-way tag alone runs against the nodes. */
function modeReversals(tags: Tags, { forward, backward }: Directions): Directions {
  let swap = 0
  for (const { mode, oneway } of MODE_LAWS)
    if (oneway.some((key) => tags.get(key) === '-1')) swap |= withWheelchair(mode)
  return { forward: (forward & ~swap) | (backward & swap), backward: (backward & ~swap) | (forward & swap) }
}
