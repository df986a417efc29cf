import { Limit } from '../graph/attributes.ts'
import { type Hours, type Moment, omitsHolidays, parseHours } from './hours.ts'

/** Size of a vehicle in the units of limits, by kind; see `Limit`. Zero where the limit does not apply. */
export type VehicleSize = ArrayLike<number>

/** Whether conditions that are separated by `AND` hold at a moment for a vehicle. */
export type Condition = (moment: Moment, size: VehicleSize) => boolean

const SIZES: Readonly<Record<string, number>> = {
  height: Limit.maxHeight,
  width: Limit.maxWidth,
  length: Limit.maxLength,
  weight: Limit.maxWeight,
  weightrating: Limit.maxWeight,
  gcweight: Limit.maxWeight,
  gcweightrating: Limit.maxWeight,
  axleload: Limit.maxAxleLoad,
  axles: Limit.maxAxles,
}

const COMPARISON = /^([a-z]+)\s*(>=|<=|>|<|=)\s*(\d+(?:[.,]\d+)?)\s*(?:t|m)?$/i

/** Prefix of a condition that holds outside of its hours; it never occurs in tags. */
export const OUTSIDE = 'outside '

/** Whether conditions are fully supported: hours and sizes, but no holidays. */
export function isFullyRead(conditions: readonly string[]): boolean {
  return readConditions(conditions) !== null && !conditions.some(omitsHolidays)
}

/** Parses conditions, and returns whether they depend on time; null when one cannot be parsed. */
export function readConditions(conditions: readonly string[]): { holds: Condition; timed: boolean } | null {
  const parts: Condition[] = []
  let timed = false
  for (const condition of conditions) {
    const compared = readComparison(condition)
    if (compared !== null) {
      parts.push((_, size) => holdsFor(size, compared))
      continue
    }
    const isOutside = condition.startsWith(OUTSIDE)
    const hours: Hours | null = parseHours(isOutside ? condition.slice(OUTSIDE.length) : condition)
    if (hours === null) return null
    timed = true
    parts.push((moment) => hours(moment) !== isOutside)
  }
  return { holds: (moment, size) => parts.every((part) => part(moment, size)), timed }
}

/** A size, in the units of its kind of limit. */
export interface SizeLimit {
  readonly type: number
  readonly value: number
}

/**
 * The size limit in conditions that contain sizes only; null when they include a time or a use. Of several sizes the
 * first counts, so that no closed way is opened.
 */
export function sizeLimit(conditions: readonly string[]): SizeLimit | null {
  const compared = conditions.map(readComparison)
  if (!compared.every((one) => one?.sign.startsWith('>') === true)) return null
  const { limit, sign, value } = compared[0]!
  return { type: limit, value: sign === '>' ? value : value - 1 }
}

/**
 * The maximum sizes of a vehicle for which conditions hold; null when they include a time or a use, or require a
 * minimum size.
 */
export function sizesWithin(conditions: readonly string[]): SizeLimit[] | null {
  const compared = conditions.map(readComparison)
  if (!compared.every((one) => one?.sign.startsWith('<') === true)) return null
  return compared.map((one) => ({ type: one!.limit, value: one!.sign === '<' ? one!.value - 1 : one!.value }))
}

/** A comparison with a size in the units of the limits. */
interface Comparison {
  readonly limit: number
  readonly sign: string
  readonly value: number
}

/** Parses a comparison such as `weight>7.5`; null for other texts. */
function readComparison(text: string): Comparison | null {
  const [, name, sign, number] = COMPARISON.exec(text.trim()) ?? []
  const limit = SIZES[name?.toLowerCase().replace(/^max/, '') ?? '']
  if (limit === undefined) return null
  return {
    limit,
    sign: sign!,
    value: Math.round(Number(number!.replace(',', '.')) * (limit === Limit.maxAxles ? 1 : 100)),
  }
}

function holdsFor(size: VehicleSize, { limit, sign, value }: Comparison): boolean {
  const mine = size[limit]!
  if (mine === 0) return false
  if (sign === '>') return mine > value
  if (sign === '>=') return mine >= value
  if (sign === '<') return mine < value
  return sign === '<=' ? mine <= value : mine === value
}
