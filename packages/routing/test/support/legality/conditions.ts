import type { OsmTags } from '@terrane/osm'

import type { Mode } from '../../../src/index.ts'
import type { Direction } from './rules.ts'

/** A stretch of a week, in minutes since Monday 00:00, that a route is under way. */
export interface When {
  readonly from: number
  readonly to: number
}

const DAYS = ['Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa', 'Su']
const DAY_MINUTES = 1440

/**
 * The minutes since Monday 00:00 in which plain hours hold: `Mo-Fr 07:00-09:00,16:00-18:00; Sa 08:00-12:00`. Null for
 * everything that is not that plain, about which no claim is made.
 */
function rangesOf(hours: string): [number, number][] | null {
  const ranges: [number, number][] = []
  for (const rule of hours.split(';')) {
    const [, days, times] =
      /^\s*((?:(?:Mo|Tu|We|Th|Fr|Sa|Su)[-,]?)*)\s*((?:\d\d:\d\d-\d\d:\d\d,?\s*)+)$/.exec(rule) ?? []
    if (times === undefined) return null
    for (const day of daysOf(days!)) {
      for (const [, h1, m1, h2, m2] of times.matchAll(/(\d\d):(\d\d)-(\d\d):(\d\d)/g)) {
        const begin = Number(h1) * 60 + Number(m1)
        const end = Number(h2) * 60 + Number(m2)
        ranges.push([day * DAY_MINUTES + begin, day * DAY_MINUTES + (end > begin ? end : end + DAY_MINUTES)])
      }
    }
  }
  return ranges
}

const WEEK = 7 * DAY_MINUTES

/** Whether hours hold during all of a stretch of a week; null where they are not plain. */
export function holdsAllThrough(hours: string, { from, to }: When): boolean | null {
  const ranges = rangesOf(hours)
  return ranges && ranges.some(([begin, end]) => [0, WEEK].some((shift) => from + shift >= begin && to + shift <= end))
}

/** Whether hours may hold at some moment of a stretch of a week: always where they are not plain. */
function mayHold(hours: string, { from, to }: When): boolean {
  const ranges = rangesOf(hours)
  if (ranges === null) return true
  return ranges.some(([begin, end]) => [0, WEEK].some((shift) => from + shift <= end && to + shift >= begin))
}

function daysOf(text: string): number[] {
  if (text === '') return [0, 1, 2, 3, 4, 5, 6]
  return text.split(',').flatMap((part) => {
    const [first, last = first] = part.split('-').map((day) => DAYS.indexOf(day))
    return Array.from({ length: ((last! - first! + 7) % 7) + 1 }, (_, i) => (first! + i) % 7)
  })
}

/** The value and the condition of a tag that has a single case. */
export function singleCase(text: string | undefined): { value: string; condition: string } | null {
  const [, value, condition] = /^\s*([^@;]+?)\s*@\s*\(?([^()@]+)\)?\s*$/.exec(text ?? '') ?? []
  return value === undefined ? null : { value, condition: condition!.trim() }
}

/** Whether a condition closes a way to a mode all through a stretch of a week. */
export function isClosedByHours(tags: OsmTags, keys: readonly string[], direction: Direction, when: When): boolean {
  for (const key of keys.toReversed()) {
    const conditional = tags[`${key}:${direction}:conditional`] ?? tags[`${key}:conditional`]
    const found = singleCase(conditional)
    if (found?.value === 'no') return holdsAllThrough(found.condition, when) === true
    // A more specific key is there, plainly or in a way that is not understood here.
    if (conditional !== undefined || tags[key] !== undefined || tags[`${key}:${direction}`] !== undefined) return false
  }
  return false
}

/** Whether hours of one of the keys may open a way at some moment of a stretch of a week. */
export function mayBeOpenedByHours(tags: OsmTags, keys: readonly string[], when: When): boolean {
  return keys.some((key) =>
    ['', ':forward', ':backward'].some((side) => {
      const conditional = tags[`${key}${side}:conditional`]
      const found = singleCase(conditional)
      if (found) return found.value !== 'no' && mayHold(found.condition, when)
      // Several cases: which of them counts is not looked into here.
      return conditional !== undefined && /\d:\d/.test(conditional)
    }),
  )
}

/** Sizes of a vehicle by the options of a request: metres, tonnes. */
export type Vehicle = Readonly<Record<string, number>>

const LIMITS: readonly (readonly [key: string, option: string, modes: readonly Mode[]])[] = [
  ['maxheight', 'height', ['auto', 'bus', 'taxi', 'truck']],
  ['maxwidth', 'width', ['auto', 'bus', 'taxi', 'truck']],
  ['maxlength', 'length', ['truck']],
  ['maxweight', 'weight', ['truck']],
  ['maxaxleload', 'axle_load', ['truck']],
]

/** Whether a vehicle exceeds a limit of a way that no exception eases. Limits in other units than metres and tonnes are left alone. */
export function exceedsLimit(tags: OsmTags, mode: Mode, direction: Direction, vehicle: Vehicle): boolean {
  return LIMITS.some(([key, option, modes]) => {
    const size = vehicle[option]
    if (size === undefined || !modes.includes(mode)) return false
    if (Object.keys(tags).some((name) => name.startsWith(`${key}:`) && name.includes('conditional'))) return false
    const [, limit] = /^(\d+(?:\.\d+)?)(?: ?[mt])?$/.exec(tags[`${key}:${direction}`] ?? tags[key] ?? '') ?? []
    return limit !== undefined && size > Number(limit)
  })
}
