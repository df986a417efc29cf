import { ALL_ACCESS, Limit } from '../../graph/attributes.ts'
import { type SizeLimit, sizeLimit } from '../../time/conditions.ts'
import { conditionalCases, hasConditions, isForLocals } from './conditional.ts'
import { ACCESS_KEYS, FEW_PEOPLE } from '../access-law.ts'
import { addressed, closes, namedModes, opens, verdictOf } from './decide.ts'
import { HAZMAT, metres, type Tags, tonnes } from './values.ts'
import { isForHighOccupancy } from './way-access.ts'
import { DIRECTIONS } from './way-timed.ts'

/** A limit for vehicles; `direction` 1 is along the nodes, 2 against them, 3 both. */
export interface WayLimit {
  readonly type: number
  readonly value: number
  readonly direction: number
  /** Whether local traffic is exempt. */
  readonly exceptDestination: boolean
  readonly modes: number
}

interface LimitKey {
  readonly type: number
  /** The key without its vehicle suffix. */
  readonly base: string
  readonly modes: number
  /** Value of a tag in the units of the limit; undefined without a limit. */
  readonly parse: (text: string | undefined) => number | undefined
}

const centimetres = (text: string | undefined): number | undefined => hundredths(metres(text))
const tensOfKilograms = (text: string | undefined): number | undefined => hundredths(tonnes(text))
/** A bogie has two axles. */
const axleOfBogie = (text: string | undefined): number | undefined => {
  const load = tensOfKilograms(text)
  return load === undefined ? undefined : Math.trunc(load / 2)
}
const plain = (text: string | undefined): number | undefined => (/^\d+$/.test(text ?? '') ? Number(text) : undefined)
/** 1 when dangerous goods may pass, 0 when they may not. */
const hazmat = (text: string | undefined): number | undefined => {
  const open = HAZMAT.get(text ?? '')
  return open === undefined ? undefined : Number(open)
}

/** All tunnel categories except A are closed to some dangerous goods. Source: OpenStreetMap wiki, Key:hazmat. */
const tunnelCategory = (text: string | undefined): number | undefined => (/^[B-E]$/.test(text ?? '') ? 0 : undefined)

const SIZES = [
  [Limit.maxHeight, ['maxheight', 'maxheight:physical', 'maxheight:legal'], centimetres],
  [Limit.maxWidth, ['maxwidth', 'maxwidth:physical'], centimetres],
  [Limit.maxLength, ['maxlength'], centimetres],
  [Limit.maxWeight, ['maxweight', 'maxweightrating', 'maxgcweight', 'maxgcweightrating'], tensOfKilograms],
  [Limit.maxAxleLoad, ['maxaxleload'], tensOfKilograms],
  [Limit.maxAxleLoad, ['maxbogieweight'], axleOfBogie],
  [Limit.maxAxles, ['maxaxles'], plain],
] as const

/** Sizes and dangerous goods, which also apply to barriers. */
const BASES = [
  ...SIZES,
  [Limit.hazmat, ['hazmat', 'hazmat:water', 'hazmat:A', 'hazmat:B', 'hazmat:C', 'hazmat:D', 'hazmat:E'], hazmat],
  [Limit.hazmat, ['hazmat:adr_tunnel_cat'], tunnelCategory],
] as const

/** Every key of a vehicle limit, for all vehicles or for those of an access key, such as `maxweight:bus`. */
const KEYS: ReadonlyMap<string, LimitKey> = new Map(
  BASES.flatMap(([type, bases, parse]) =>
    bases.flatMap((base): [string, LimitKey][] => [
      [base, { type, base, parse, modes: ALL_ACCESS }],
      // `goods` are light lorries, which requests cannot distinguish from heavy ones.
      ...ACCESS_KEYS.filter((key) => key !== 'access' && key !== 'goods').map((key): [string, LimitKey] => [
        `${base}:${key}`,
        { type, base, parse, modes: addressed(new Map(), key) },
      ]),
    ]),
  ),
)

/** The limit of a key without direction suffix; null for other keys. */
export function limitKey(name: string): Pick<LimitKey, 'type' | 'modes'> | null {
  return KEYS.get(name) ?? null
}

/** Values of an exception that remove a limit; for dangerous goods, `no` means the opposite. */
const LIFTED = new Set(['none', 'no', 'unsigned', 'default'])
const OPENED = new Set(['yes', 'designated', 'none'])

/**
 * The limits of a way. A conditional exception never removes the limit itself: an exception for local traffic keeps the
 * limit for through traffic, an exception with its own limit applies that limit to all, and an exception for certain
 * hours does not change the limit.
 */
export function wayLimits(tags: Tags): WayLimit[] {
  return [...saidLimits(tags), ...occupancyLimits(tags), ...conditionLimits(tags)]
}

/**
 * Minimum occupants of a vehicle where all lanes are high-occupancy lanes: two or three; three without a number.
 * Source: OpenStreetMap wiki, Key:hov.
 */
function occupancyLimits(tags: Tags): WayLimit[] {
  const modes = FEW_PEOPLE & addressed(tags, 'motor_vehicle')
  return (['forward', 'backward'] as const).flatMap((side): WayLimit[] => {
    if (!isForHighOccupancy(tags, side)) return []
    const value = plain(tags.get(`hov:minimum:${side}`) ?? tags.get('hov:minimum')) ?? 3
    const direction = side === 'forward' ? 1 : 2
    return [{ type: Limit.minOccupants, value, direction, exceptDestination: false, modes }]
  })
}

/**
 * Limits from access keys with size conditions only: `hgv:conditional=no @ (weight>7.5)` limits the weight of lorries.
 * Source: OpenStreetMap wiki, Conditional restrictions.
 */
function conditionLimits(tags: Tags): WayLimit[] {
  if (!hasConditions(tags)) return []
  return ACCESS_KEYS.flatMap((key) =>
    DIRECTIONS.flatMap(([suffix, direction]) => {
      const cases = conditionalCases(tags.get(`${key}${suffix}:conditional`))
      const exceptDestination = cases.some(
        (one) => verdictOf('access', one.value) === 'local' || (isForLocals(one) && opens('access', one.value)),
      )
      return cases.flatMap(({ value, conditions }): WayLimit[] => {
        const limit = sizeLimit(conditions)
        const isClosing = closes('access', value) || verdictOf('access', value) === 'local'
        const modes = addressed(tags, key) & ~namedModes(value)
        return limit === null || !isClosing ? [] : [{ ...limit, direction, exceptDestination, modes }]
      })
    }),
  )
}

/** A size that fits through a barrier, and the modes it applies to. */
export interface NodeSize extends SizeLimit {
  readonly modes: number
}

/**
 * The size limits of a barrier, from its tags and its conditional tags. Source: OpenStreetMap wiki,
 * Tag:barrier=height_restrictor, Conditional restrictions.
 */
export function nodeSizes(tags: Tags): NodeSize[] {
  const said = saidLimits(tags).map(({ type, value, modes }) => ({ type, value, modes }))
  return [...said, ...conditionLimits(tags).filter(({ direction }) => direction === BOTH)]
}

const BOTH = 3

/** A tagged limit with its key. */
interface SaidLimit extends LimitKey {
  readonly name: string
  readonly suffix: string
  readonly direction: number
  readonly text: string
}

const LIMIT_NAME = /^((?:max|hazmat).*?)(:forward|:backward)?$/

function saidLimits(tags: Tags): WayLimit[] {
  const said = [...tags].flatMap(([key, text]): SaidLimit[] => {
    const [, name, suffix = ''] = LIMIT_NAME.exec(key) ?? []
    const limit = name === undefined ? undefined : (KEYS.get(name) ?? lanesKey(name))
    if (limit === undefined || (text !== 'none' && limit.parse(text) === undefined)) return []
    const direction = DIRECTIONS.find(([side]) => side === suffix)![1]
    return [{ ...limit, name: name!, suffix, direction, text }]
  })
  return said.flatMap((one) => sidesOf(one, said).flatMap((side) => limitsOf(tags, { ...one, ...side })))
}

/** A limit by lanes such as `maxheight:lanes`: that of the lane for the largest vehicles, when every lane has one. */
function lanesKey(name: string): LimitKey | undefined {
  const limit = name.endsWith(':lanes') ? KEYS.get(name.slice(0, -':lanes'.length)) : undefined
  if (limit === undefined || limit.type === Limit.hazmat) return undefined
  const parse = (text: string | undefined): number | undefined => {
    const lanes = (text ?? '').split('|').map(limit.parse)
    return lanes.includes(undefined) ? undefined : Math.max(...lanes.map(Number))
  }
  return { ...limit, parse }
}

/** The directions of a limit, each with the modes that have no more specific key. */
function sidesOf(one: SaidLimit, said: readonly SaidLimit[]): Pick<SaidLimit, 'direction' | 'modes'>[] {
  const sides = [1, 2]
    .filter((side) => (one.direction & side) !== 0)
    .map((direction) => ({ direction, modes: one.modes & ~modesOfOwn(one, direction, said) }))
  const [ahead, back] = sides
  return (ahead?.modes === back?.modes ? [{ ...ahead!, direction: BOTH }] : sides).filter(({ modes }) => modes !== 0)
}

/**
 * Modes with a more specific key of the same limit in a direction, such as `maxweight:hgv` or `maxweight:forward`
 * besides `maxweight`.
 */
function modesOfOwn({ base, modes, suffix }: SaidLimit, direction: number, said: readonly SaidLimit[]): number {
  const own = said.filter(
    (other) =>
      other.base === base &&
      (other.direction & direction) !== 0 &&
      (other.modes & ~modes) === 0 &&
      (other.modes !== modes || (suffix === '' && other.suffix !== '')),
  )
  return own.reduce((all, other) => all | other.modes, 0)
}

function limitsOf(tags: Tags, { type, name, suffix, parse, direction, modes, text }: SaidLimit): WayLimit[] {
  const value = parse(text)
  if (value === undefined) return []
  const lifted = type === Limit.hazmat ? OPENED : LIFTED
  const exceptions = [...new Set([`${name}${suffix}:conditional`, `${name}:conditional`])]
    .flatMap((key) => conditionalCases(tags.get(key)))
    .filter(isForLocals)
  const limit = { type, direction, modes }
  const isLifted = exceptions.some((exception) => lifted.has(exception.value.toLowerCase()))
  const eased = isLifted ? [] : exceptions.flatMap((exception) => parse(exception.value) ?? [])
  const local = Math.max(...eased, -1)
  const isLocal = type === Limit.hazmat && verdictOf('access', text) === 'local'
  return [
    { ...limit, value, exceptDestination: isLifted || isLocal || local > value },
    ...(local > value && type !== Limit.hazmat ? [{ ...limit, value: local, exceptDestination: false }] : []),
  ]
}

function hundredths(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.trunc(value * 100)
}
