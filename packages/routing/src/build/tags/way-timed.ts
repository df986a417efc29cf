import { Access, ALL_ACCESS } from '../../graph/attributes.ts'
import { TimedEffect } from '../../graph/timed.ts'
import { OUTSIDE, readConditions } from '../../time/conditions.ts'
import { type ConditionalCase, conditionalCases, hasConditions, isForLocals } from './conditional.ts'
import { ACCESS_KEYS, accessOfClass, CARRIED, GENERAL_KEYS, MOTOR, ONEWAY_KEYS } from '../access-law.ts'
import { addressed, closes as isClosing, namedModes, opens as isOpening, verdictOf, withWheelchair } from './decide.ts'
import { addressedByOneway, GO_BACK, isCarried, travel } from './directions.ts'
import { kilometresPerHour, metres, type Tags, tonnes, WHEELCHAIR } from './values.ts'
import { closedTo, localModes, type WayAccess } from './way-access.ts'

/** A timed rule of a way; `direction` 1 is along the nodes, 2 against them, 3 both. */
export interface TimedRule {
  readonly modes: number
  readonly direction: number
  /** See `TimedEffect`. */
  readonly effect: number
  /** Conditions separated by ` AND `, as `readConditions` parses them. */
  readonly conditions: string
}

const { foot, wheelchair, truck } = Access

/** Suffixes of keys for one direction; 1 is along the nodes, 2 against them, 3 both. */
export const DIRECTIONS = [
  ['', 3],
  [':forward', 1],
  [':backward', 2],
] as const

/** A value of bicycles that is not read at certain hours: it neither opens a way at these nor closes it at others. */
export const DISMOUNT = 'dismount'

/** The timed rules of a way. Other conditions are left out. */
export function wayTimed(
  tags: Tags,
  access: Pick<WayAccess, 'forward' | 'backward' | 'permitted' | 'changing'>,
): TimedRule[] {
  if (!hasConditions(tags)) return []
  return [...accessRules(tags, access), ...onewayRules(tags, access), ...limitRules(tags), ...speedRules(tags)]
}

function accessRules(tags: Tags, access: Parameters<typeof wayTimed>[1]): TimedRule[] {
  const ways = travel(tags)
  // A condition opens nothing against a one-way direction, on a reversible way, or in lanes for other modes.
  const isChanging = tags.get('oneway') === 'reversible'
  const openable = (side: 1 | 2, isOwn = false): number => {
    if (isChanging) return 0
    if (side === 1) return ways.forward & ~closedTo(tags, 'forward')
    return (isOwn && !ways.reversed ? ways.backward | GO_BACK : ways.backward) & ~closedTo(tags, 'backward')
  }
  const noWheels = tags.get('highway') === 'steps' || WHEELCHAIR.get(tags.get('wheelchair') ?? '') === false
  // A timed `access=yes`, like an untimed one, does not open a footway to cars.
  const byClass = withWheelchair(accessOfClass(tags.get('highway')) ?? (isCarried(tags) ? CARRIED : 0))
  const opensSome = ACCESS_KEYS.some((key) =>
    DIRECTIONS.some(([suffix]) =>
      conditionalCases(tags.get(`${key}${suffix}:conditional`)).some((one) => isOpening(key, one.value)),
    ),
  )
  // General keys come first: the last rule counts, so the mode's own key wins.
  return ACCESS_KEYS.toReversed().flatMap((key) =>
    DIRECTIONS.flatMap(([suffix, direction]) => {
      const cases = conditionalCases(tags.get(`${key}${suffix}:conditional`))
      const saysBase = tags.has(key) || tags.has(`${key}${suffix}`)
      // A mode's own key for the backward direction opens it, regardless of one-way tags.
      const isOwn = suffix === ':backward' && !GENERAL_KEYS.includes(key)
      return cases.flatMap((one, i) => {
        const conditions = hoursOf(one)
        const value = one.value.toLowerCase()
        const verdict = verdictOf(key, value)
        if (conditions === null || verdict === undefined || value === DISMOUNT) return []
        // If a later case opens the way to local traffic at all times, this case closes it to through traffic only.
        const exceptLocals = cases.slice(i + 1).some((later) => isForLocals(later) && isOpening(key, later.value))
        return eachDirection(direction, (side) => {
          const name = side === 1 ? 'forward' : 'backward'
          const open = access[name]
          const modes = addressed(tags, key, name)
          // Where pedestrians are already allowed, wheelchairs are excluded for a reason that does not depend on time.
          const barred = noWheels || (open & foot) !== 0 ? wheelchair : 0
          const openedModes = modes & openable(side, isOwn) & ~open & ~barred & (key === 'access' ? byClass : ~0)
          const closing = exceptLocals ? TimedEffect.local : TimedEffect.closed
          if (verdict === 'no') {
            const closed = opensSome && !exceptLocals ? open | openable(side, isOwn) : open
            return rule(modes & closed & ~namedModes(value), side, closing, conditions)
          }
          const isLocal = verdict === 'local'
          const opened = rule(openedModes, side, isLocal ? TimedEffect.local : TimedEffect.open, conditions)
          if (isLocal) return [...opened, ...rule(modes & open, side, TimedEffect.local, conditions)]
          // A way whose only access tag states opening times is closed at other times; a way for local traffic remains
          // one.
          const others = saysBase ? ~0 : localModes(tags, name)
          return [
            ...opened,
            ...rule(modes & open & others, side, TimedEffect.open, conditions),
            ...rule(modes & open & ~others, side, TimedEffect.only, conditions),
          ]
        })
      })
    }),
  )
}

/** Modes that a gate or another node excludes at certain hours. */
export interface NodeHours {
  readonly modes: number
  readonly conditions: string
}

/** The hours of a gate. */
export interface GateHours {
  /** Timed closures, by conditions and outside of opening hours. */
  readonly hours: readonly NodeHours[]
  /** Modes that only hours let pass, and those of them that pass for local access. */
  readonly opened: number
  readonly openedLocally: number
}

/**
 * The hours of a gate by its tags.
 *
 * @param access modes that may pass by the other tags
 * @param fitting modes that the kind of the barrier lets pass
 */
export function gateHours(tags: Tags, access: number, fitting: number): GateHours {
  const hours: NodeHours[] = []
  let opened = 0
  let openedLocally = 0
  let decided = 0
  const closeOutside = (modes: number, conditions: string): void => {
    hours.push({ modes, conditions: `${OUTSIDE}${conditions}` })
    opened |= modes & ~access
  }
  for (const key of tags.has('barrier') || hasConditions(tags) ? ACCESS_KEYS : []) {
    const cases = casesOf(tags.get(`${key}:conditional`))
    // Keys are in the order of the hierarchy, so the hours of a more specific key count.
    const modes = addressed(tags, key) & ~decided
    for (const { value, conditions } of cases) {
      if (isClosing(key, value)) hours.push({ modes: modes & ~namedModes(value), conditions })
    }
    const open = cases.filter((one) => isGateOpening(tags, key, one))
    if (open.length === 0) continue
    closeOutside(modes, open.map(({ conditions }) => conditions).join('; '))
    if (open.every(({ value }) => verdictOf(key, value) === 'local')) openedLocally |= modes & ~access
    decided |= modes
  }
  const said = openingHours(tags)
  if (said !== undefined && readConditions([said]) !== null) {
    // `access=no` on a gate with opening hours refers to other hours; `access=agricultural` refers to these, too.
    const closed = tags.get('access') === 'no' ? addressed(tags, 'access') & fitting & ~decided : 0
    closeOutside(access | opened | closed, said)
  }
  const closed = ALL_ACCESS & ~access & ~opened
  if (opened !== 0) hours.push({ modes: closed, conditions: '24/7' })
  return { hours, opened, openedLocally }
}

/**
 * Whether a case gives the hours of a gate that is closed at other times, by another tag or because no other access tag
 * opens it.
 */
export function isGateOpening(tags: Tags, key: string, one: { value: string; conditions: string }): boolean {
  const base = tags.get(key)
  if (one.conditions.includes(' AND ') || one.value === DISMOUNT) return false
  return isOpening(key, one.value) && (base === undefined || isClosing(key, base))
}

/**
 * The opening hours of a barrier. The hours of a toll booth, or of a node without a barrier, are left out because they
 * refer to staff.
 */
export function openingHours(tags: Tags): string | undefined {
  return [undefined, 'toll_booth'].includes(tags.get('barrier')) ? undefined : tags.get('opening_hours')
}

/** Open directions by value of `oneway`, as in `TimedRule`. */
export const DIRECTION_OF: Readonly<Record<string, number>> = { yes: 1, '-1': 2, no: 3 }

function onewayRules(tags: Tags, access: Parameters<typeof wayTimed>[1]): TimedRule[] {
  const { forward, backward, permitted, changing } = access
  const ways = travel(tags)
  // Opens only to modes that only the one-way tags exclude.
  const ahead = backward & ~forward & ~ways.forward & permitted.forward
  const back = forward & ~backward & ~ways.backward & permitted.backward
  return ONEWAY_KEYS.flatMap((key) => {
    const modes = addressedByOneway(tags, key)
    return casesOf(tags.get(`${key}:conditional`)).flatMap(({ value, conditions }) => {
      if (changing !== 0) return rule(modes & changing, DIRECTION_OF[value] ?? 0, TimedEffect.open, conditions)
      const open = DIRECTION_OF[value] ?? 0
      if (open === 0) return []
      return [
        ...rule((open & 1) === 0 ? modes & forward : 0, 1, TimedEffect.closed, conditions),
        ...rule((open & 2) === 0 ? modes & backward : 0, 2, TimedEffect.closed, conditions),
        ...rule((open & 1) === 0 ? 0 : modes & ahead, 1, TimedEffect.open, conditions),
        ...rule((open & 2) === 0 ? 0 : modes & back, 2, TimedEffect.open, conditions),
      ]
    })
  })
}

/** Limits that may hold at certain times. */
export const TIMED_LIMITS = [
  ['maxheight', 'height', metres],
  ['maxwidth', 'width', metres],
  ['maxlength', 'length', metres],
  ['maxweight', 'weight', tonnes],
  ['maxweightrating', 'weight', tonnes],
  ['maxaxleload', 'axleload', tonnes],
] as const

/** A limit for certain hours closes the way to vehicles above it. */
function limitRules(tags: Tags): TimedRule[] {
  return TIMED_LIMITS.flatMap(([key, size, parse]) =>
    DIRECTIONS.flatMap(([suffix, direction]) =>
      casesOf(tags.get(`${key}${suffix}:conditional`)).flatMap(({ value, conditions }) => {
        const limit = parse(value)
        if (limit === undefined) return []
        return eachDirection(direction, (side) =>
          rule(MOTOR, side, TimedEffect.closed, `${conditions} AND ${size}>${limit}`),
        )
      }),
    ),
  )
}

/** Speed in km/h for a timed `maxspeed=none`: the recommended speed on German motorways. */
const NO_LIMIT = 130

/** Speeds that may hold at certain times. */
export const SPEED_KEYS = [
  ['maxspeed', MOTOR],
  ['maxspeed:hgv', truck],
] as const

function speedRules(tags: Tags): TimedRule[] {
  return SPEED_KEYS.flatMap(([key, modes]) =>
    DIRECTIONS.flatMap(([suffix, direction]) =>
      casesOf(tags.get(`${key}${suffix}:conditional`)).flatMap(({ value, conditions }) => {
        const speed = value === 'none' ? NO_LIMIT : kilometresPerHour(value)
        return speed === undefined ? [] : rule(modes, direction, TimedEffect.speed + speed, conditions)
      }),
    ),
  )
}

/** The cases with a time condition. */
function casesOf(text: string | undefined): { value: string; conditions: string }[] {
  return conditionalCases(text).flatMap((one) => {
    const conditions = hoursOf(one)
    return conditions === null ? [] : [{ value: one.value.toLowerCase(), conditions }]
  })
}

/** The conditions of a case, separated by ` AND `; null without a time condition. */
function hoursOf({ conditions }: ConditionalCase): string | null {
  return readConditions(conditions)?.timed === true ? conditions.join(' AND ') : null
}

function eachDirection(direction: number, of: (side: 1 | 2) => TimedRule[]): TimedRule[] {
  return ([1, 2] as const).filter((side) => (direction & side) !== 0).flatMap(of)
}

function rule(modes: number, direction: number, effect: number, conditions: string): TimedRule[] {
  return modes === 0 ? [] : [{ modes, direction, effect, conditions }]
}
