import { Limit } from '../graph/attributes.ts'
import { type Hours, type Moment, parseHours } from './hours.ts'

/** Size of a vehicle in the units of limits, by kind; see `Limit`. Zero where it is not held to the limit. */
export type VehicleSize = ArrayLike<number>

/** Whether conditions that are parted by `AND` hold at a moment for a vehicle. */
export type Condition = (moment: Moment, size: VehicleSize) => boolean

const SIZES: Readonly<Record<string, number>> = {
  height: Limit.maxHeight,
  width: Limit.maxWidth,
  length: Limit.maxLength,
  weight: Limit.maxWeight,
  weightrating: Limit.maxWeight,
  axleload: Limit.maxAxleLoad,
  axles: Limit.maxAxles,
}

const COMPARISON = /^([a-z]+)\s*(>=|<=|>|<|=)\s*(\d+(?:\.\d+)?)\s*(?:t|m)?$/i

/** What conditions mean, and whether time has a part in it; null when one of them is not understood. */
export function readConditions(conditions: readonly string[]): { holds: Condition; timed: boolean } | null {
  const parts: Condition[] = []
  let timed = false
  for (const condition of conditions) {
    const compared = readComparison(condition)
    if (compared !== null) {
      parts.push((_, size) => compared(size))
      continue
    }
    const hours: Hours | null = parseHours(condition)
    if (hours === null) return null
    timed = true
    parts.push((moment) => hours(moment))
  }
  return { holds: (moment, size) => parts.every((part) => part(moment, size)), timed }
}

/** A comparison such as `weight>7.5`; null when the text is none. */
function readComparison(text: string): ((size: VehicleSize) => boolean) | null {
  const [, name, sign, number] = COMPARISON.exec(text.trim()) ?? []
  const limit = SIZES[name?.toLowerCase() ?? '']
  if (limit === undefined) return null
  const value = Math.round(Number(number) * (limit === Limit.maxAxles ? 1 : 100))
  return (size) => {
    const mine = size[limit]!
    if (mine === 0) return false
    if (sign === '>') return mine > value
    if (sign === '>=') return mine >= value
    if (sign === '<') return mine < value
    return sign === '<=' ? mine <= value : mine === value
  }
}
