import { Access, ALL_ACCESS, MOTOR_ACCESS } from '../../graph/attributes.ts'
import { isFullyRead, readConditions, sizeLimit } from '../../time/conditions.ts'
import { type ConditionalCase, conditionalCases, hasConditions, isForLocals } from './conditional.ts'
import { isException, withoutDirection } from './exceptions.ts'
import { ACCESS_KEYS, FEW_PEOPLE, GENERAL_KEYS, isUnknownBarrier, ONEWAY_KEYS, UNREAD_KEYS } from '../access-law.ts'
import { addressedByOneway, isOneway, travel } from './directions.ts'
import { addressed, closes, opens, unknownParts, verdictOf } from './decide.ts'
import { kilometresPerHour, type Tags } from './values.ts'
import { limitKey } from './way-limits.ts'
import { DIRECTION_OF, DISMOUNT, isGateOpening, openingHours, SPEED_KEYS, TIMED_LIMITS } from './way-timed.ts'

/** A conditional tag that is not completely supported, or an access tag with an unknown value. */
export interface UnreadTag {
  /** The key and the case: `access:conditional=no @ (sunset-sunrise)`. */
  readonly text: string
  readonly modes: number
}

/** A key that may have conditions: the modes it applies to, and whether a case is supported. */
interface Subject {
  readonly modes: number
  readonly isRead: (one: ConditionalCase) => boolean
}

const isTimed = ({ conditions }: ConditionalCase): boolean => readConditions(conditions)?.timed === true
const isSpeed = (value: string): boolean => value === 'none' || kilometresPerHour(value) !== undefined
const never = (): boolean => false

/** Conditional cases of a way that are not completely supported, unknown access values, and its opening hours. */
export function unreadTags(tags: Tags): UnreadTag[] {
  const hours = tags.get('opening_hours')
  const conditional = [...tags].flatMap(([key, text]): UnreadTag[] => {
    const [, base, suffix = ''] = /^(.+?)(:forward|:backward)?:conditional$/.exec(key) ?? []
    const subject = base === undefined ? null : subjectOf(tags, base, suffix)
    if (subject === null || subject.modes === 0) return []
    return unreadCases(key, text, subject.isRead).map((unread) => ({ text: unread, modes: subject.modes }))
  })
  const unread = [
    ...conditional,
    ...unknownAccess(tags),
    ...unknownOneways(tags),
    ...unreadKeys(tags),
    ...passengerFerry(tags),
  ]
  // `opening_hours` of a way may be hours of access or of staff; only access keys are unambiguous.
  return hours === undefined || hours === '24/7'
    ? unread
    : [...unread, { text: `opening_hours=${hours}`, modes: ALL_ACCESS }]
}

/** Access keys with an unknown value, which has no effect. */
function unknownAccess(tags: Tags): UnreadTag[] {
  return ACCESS_KEYS.flatMap((key): UnreadTag[] => {
    const value = tags.get(key)
    if (value === undefined || unknownParts(key, value).length === 0) return []
    const modes = addressed(tags, key)
    return modes === 0 ? [] : [{ text: `${key}=${value}`, modes }]
  })
}

/** One-way keys with an unknown value, which has no effect. */
function unknownOneways(tags: Tags): UnreadTag[] {
  return ONEWAY_KEYS.flatMap((key): UnreadTag[] => {
    const value = tags.get(key)
    if (value === undefined || isOneway(value) !== undefined) return []
    return [{ text: `${key}=${value}`, modes: addressedByOneway(tags, key) }]
  })
}

/**
 * A ferry with tags for walkers or bicycles only: it may carry no vehicles. Source: OpenStreetMap wiki,
 * Tag:route=ferry; GraphHopper's `CarAccessParser`.
 */
function passengerFerry(tags: Tags): UnreadTag[] {
  const own = ['foot', 'bicycle'].find((key) => opens(key, tags.get(key)))
  if (tags.get('route') !== 'ferry' || own === undefined) return []
  const saysMore = ACCESS_KEYS.some((key) => key !== 'foot' && key !== 'bicycle' && tags.has(key))
  return saysMore ? [] : [{ text: `${own}=${tags.get(own)}`, modes: MOTOR_ACCESS }]
}

/** Keys that may close a way in an unsupported manner. */
function unreadKeys(tags: Tags): UnreadTag[] {
  return UNREAD_KEYS.flatMap(({ key, values, modes }): UnreadTag[] => {
    const value = tags.get(key)
    return value === undefined || !values.test(value) ? [] : [{ text: `${key}=${value}`, modes }]
  })
}

/** A ford on a node, which cuts no way: a cut adds a node, and numbers of nodes decide what an island is. */
export function fordUnread(tags: Tags): UnreadTag[] {
  return unreadKeys(tags).filter(({ text }) => text.startsWith('ford='))
}

/**
 * Conditional cases of a barrier that are not completely supported, unknown access values, an unknown kind of barrier,
 * and opening hours that cannot be parsed.
 */
export function nodeUnread(tags: Tags): UnreadTag[] {
  const barrier = tags.get('barrier')
  if (barrier === undefined && !hasConditions(tags)) return []
  const hours = openingHours(tags)
  const isHoursRead = hours === undefined || isFullyRead([hours])
  const conditional = ACCESS_KEYS.flatMap((key): UnreadTag[] => {
    const name = `${key}:conditional`
    const text = tags.get(name)
    const modes = addressed(tags, key)
    if (text === undefined) return []
    return unreadCases(name, text, (one) => isGateRead(tags, key, one)).map((unread) => ({ text: unread, modes }))
  })
  // With an access tag, the kind of the barrier does not matter.
  const isUnknown = barrier !== undefined && isUnknownBarrier(barrier) && !ACCESS_KEYS.some((key) => tags.has(key))
  const kind = isUnknown ? [{ text: `barrier=${barrier}`, modes: ALL_ACCESS }] : []
  const unread = [...conditional, ...unknownAccess(tags), ...directedKeys(tags), ...kind]
  return isHoursRead ? unread : [...unread, { text: `opening_hours=${hours}`, modes: ALL_ACCESS }]
}

/** Access keys of a node for one direction, which depends on the way. */
function directedKeys(tags: Tags): UnreadTag[] {
  return ACCESS_KEYS.flatMap((key) =>
    [`${key}:forward`, `${key}:backward`].flatMap((name): UnreadTag[] =>
      closes(key, tags.get(name)) ? [{ text: `${name}=${tags.get(name)}`, modes: addressed(tags, key) }] : [],
    ),
  )
}

function isGateRead(tags: Tags, key: string, one: ConditionalCase): boolean {
  if (closes(key, one.value)) return isTimed(one) || sizeLimit(one.conditions) !== null
  if (isTimed(one)) return isGateOpening(tags, key, { value: one.value, conditions: one.conditions.join(' AND ') })
  return isAccessRead(tags, key, one)
}

/** The cases of a conditional tag that are not completely supported, each as a tag. */
export function unreadCases(key: string, text: string, isRead: (one: ConditionalCase) => boolean): string[] {
  const cases = conditionalCases(text)
  if (cases.length === 0) return [`${key}=${text}`]
  return cases.flatMap((one) => {
    const { value, conditions } = one
    const isWhole = isForLocals(one) || isFullyRead(conditions)
    return isWhole && isRead(one) ? [] : [`${key}=${value} @ (${conditions.join(' AND ')})`]
  })
}

function subjectOf(tags: Tags, key: string, suffix: string): Subject | null {
  if (ACCESS_KEYS.includes(key)) {
    return { modes: addressed(tags, key), isRead: (one) => isAccessRead(tags, `${key}${suffix}`, one) }
  }
  const lanes = key.endsWith(':lanes') ? key.slice(0, -':lanes'.length) : null
  if (lanes !== null && ACCESS_KEYS.includes(lanes)) return { modes: addressed(tags, lanes), isRead: never }
  if (key === 'hov' || lanes === 'hov') return { modes: FEW_PEOPLE, isRead: never }
  if (ONEWAY_KEYS.includes(key)) {
    const isRead = (one: ConditionalCase): boolean => isTimed(one) && DIRECTION_OF[one.value] !== undefined
    return { modes: addressedByOneway(tags, key), isRead }
  }
  const speed = SPEED_KEYS.find(([name]) => name === key)
  if (speed !== undefined) {
    return { modes: speed[1], isRead: (one) => isTimed(one) && isSpeed(one.value) }
  }
  const other = OTHER_SUBJECTS.find(([name]) => key === name || key.startsWith(`${name}:`))
  return limitSubject(key) ?? (other === undefined ? null : { modes: other[1], isRead: never })
}

/** Keys, with any suffix after a colon, whose conditions are not read unless an entry above matches. */
const OTHER_SUBJECTS = [
  ['oneway', MOTOR_ACCESS | Access.bicycle],
  ['maxspeed', MOTOR_ACCESS],
  ['toll', MOTOR_ACCESS],
] as const

/** Whether a case of an access key is supported: as a timed rule, a size limit, or a rule for local traffic. */
function isAccessRead(tags: Tags, key: string, one: ConditionalCase): boolean {
  const base = withoutDirection(key)
  const said = verdictOf(base, one.value.toLowerCase())
  if (said === undefined || one.value.toLowerCase() === DISMOUNT) return false
  // Keys for several modes do not open the direction against a one-way street.
  if (said !== 'no' && key.endsWith(':backward') && GENERAL_KEYS.includes(base)) {
    const { oneway, reversed } = travel(tags)
    if (oneway && !reversed) return false
  }
  if (isTimed(one) || isException(tags, key, one)) return true
  if (sizeLimit(one.conditions) !== null) return said !== 'yes'
  // An exception for local traffic is read with another case, or has no effect because that traffic may pass anyway.
  return isForLocals(one) && said !== 'no' && !closes(base, tags.get(key))
}

function limitSubject(key: string): Subject | null {
  const limit = limitKey(key)
  if (limit === null) return null
  const timed = TIMED_LIMITS.find(([name]) => name === key)
  return {
    modes: limit.modes & (MOTOR_ACCESS | Access.emergency),
    isRead: (one) => isForLocals(one) || (isTimed(one) && timed?.[2](one.value) !== undefined),
  }
}
