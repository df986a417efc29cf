import { Access, ALL_ACCESS } from '../../graph/attributes.ts'
import { GENERAL_KEYS, MODE_LAWS, type ModeLaw } from '../access-law.ts'
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
  /** Whether the way is one-way for vehicles in general. */
  readonly oneway: boolean
  /** Whether the one-way direction is against the node order. */
  readonly reversed: boolean
  readonly roundabout: boolean
}

/** Directions by mode from one-way tags only, without access tags. */
export function travel(tags: Tags): Travel {
  const roundabout = tags.get('junction') === 'roundabout' || tags.get('junction') === 'circular'
  const said = tags.get('oneway')
  const reversed = said === '-1'
  // A motorway is a single carriageway, so it is one-way unless a tag denies it.
  const oneway = roundabout || (isOneway(said) ?? tags.get('highway') === 'motorway')
  const way = directed(tags, oneway, reversed)
  return { ...way, oneway, reversed, roundabout }
}

const anyOf = (tags: Tags, keys: readonly string[], accepted: readonly string[]): boolean =>
  keys.some((key) => accepted.includes(tags.get(key) ?? ''))

/** Whether a tag lets a mode travel against a one-way street. */
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

/** Modes that may travel against a one-way street by their own keys, such as `bicycle:backward`. */
export const GO_BACK = MODE_LAWS.reduce((modes, { mode, against }) => (against === undefined ? modes : modes | mode), 0)

/** Modes of a one-way key for which no more specific key decides. */
export function addressedByOneway(tags: Tags, key: string): number {
  let modes = 0
  for (const { mode, oneway } of MODE_LAWS) {
    const at = [...oneway, 'oneway'].indexOf(key)
    const isBound = mode !== foot || key === 'oneway:foot'
    if (isBound && at >= 0 && !oneway.slice(0, at).some((other) => tags.has(other))) modes |= withWheelchair(mode)
  }
  return modes
}

/** Whether a value of `oneway` makes a way one-way; undefined for other values. */
export function isOneway(value: string | undefined): boolean | undefined {
  if (['no', 'false', 'reversible', 'alternating'].includes(value ?? '')) return false
  return ['-1', 'yes', 'true', '1'].includes(value ?? '') ? true : undefined
}

/** Both directions, from the one-way tags of each mode, else from those of the street. */
function directed(tags: Tags, oneway: boolean, reversed: boolean): Directions {
  const [along, against] = reversed ? [BACKWARD, FORWARD] : [FORWARD, BACKWARD]
  const walkersToo = onFootWay(tags)
  let [forward, backward]: [number, number] = [ALL_ACCESS, ALL_ACCESS]
  const close = (modes: number, open: number): void => {
    if ((open & FORWARD) === 0) forward &= ~modes
    if ((open & BACKWARD) === 0) backward &= ~modes
  }
  let others: number = ALL_ACCESS
  for (const law of MODE_LAWS) {
    const mode = withWheelchair(law.mode)
    others &= ~mode
    const value = tags.get(law.oneway.find((name) => tags.has(name)) ?? '')
    // `oneway` applies to pedestrians only on foot ways, ferries and shuttle trains, or with `oneway:foot`.
    const isBound = isOneway(value) ?? (oneway && (law.mode !== foot || walkersToo))
    const open = !isBound ? FORWARD | BACKWARD : value === '-1' ? BACKWARD : along
    close(mode, opensBack(tags, law) ? open | against : open)
  }
  close(others, oneway ? along : FORWARD | BACKWARD)
  return { forward, backward }
}

const FORWARD = 1
const BACKWARD = 2

/** Whether `oneway` applies to pedestrians: on foot ways, ferries, shuttle trains and ways with `oneway:foot`. */
function onFootWay(tags: Tags): boolean {
  const own = ['footway', 'pedestrian', 'steps', 'path'].includes(tags.get('highway') ?? '')
  return own || tags.has('oneway:foot') || isCarried(tags)
}

/** Whether a way is a ferry or a train that carries vehicles. */
export function isCarried(tags: Tags): boolean {
  return tags.get('route') === 'ferry' || tags.get('route') === 'shuttle_train'
}
