import type { OsmTags } from '@terrane/osm'

import type { Mode } from '../../../src/index.ts'
import { type Answer, hoursHold, type Moment } from './hours.ts'

/** Sizes of a vehicle, and of walkers their type, by the options of a request: metres, tonnes, a count of axles. Absent where a request says none. */
export type Vehicle = Readonly<Record<string, number | boolean | string>>

/** Mode, vehicle and moment of a journey, and whether it has business there. */
export interface Situation {
  readonly mode: Mode
  readonly vehicle: Vehicle
  /** Null where a request has no time. */
  readonly moment: Moment | null
  readonly isLocal: boolean
}

export type Direction = 'forward' | 'backward'

/** One case of a conditional tag. */
interface Case {
  readonly value: string
  readonly conditions: readonly string[]
}

/**
 * The value that a key has in a situation: of its conditional cases the last that holds, else the plain value; null
 * where that depends on something that is not known. Source: OpenStreetMap wiki, Conditional restrictions.
 */
export function valueOf(
  tags: OsmTags,
  key: string,
  situation: Situation,
  direction: Direction | null = null,
): string | undefined | null {
  const names = direction === null ? [key] : [`${key}:${direction}`, key]
  for (const name of names) {
    for (const { value, conditions } of casesOf(tags[`${name}:conditional`]).toReversed()) {
      const holds = allHold(conditions, situation)
      if (holds === null) return null
      if (holds) return value
    }
    if (tags[name] !== undefined) return tags[name]
  }
  return undefined
}

/** Values of a conditional tag whose conditions all hold in a situation. */
export function valuesThatHold(text: string | undefined, situation: Situation): string[] {
  return casesOf(text).flatMap(({ value, conditions }) => (allHold(conditions, situation) === true ? [value] : []))
}

function casesOf(text: string | undefined): Case[] {
  const cases: Case[] = []
  for (const part of text === undefined ? [] : splitOutside(text, ';')) {
    const at = part.indexOf('@')
    if (at < 0) continue
    const value = part.slice(0, at).trim()
    const inside = part.slice(at + 1).trim()
    const bare = /^\(([^()]*)\)$/.exec(inside)?.[1] ?? inside
    cases.push({ value, conditions: bare.split(/\s+and\s+/i).map((one) => one.trim()) })
  }
  return cases
}

function splitOutside(text: string, separator: string): string[] {
  let depth = 0
  const parts = ['']
  for (const letter of text) {
    if (letter === '(') depth++
    if (letter === ')') depth--
    if (letter === separator && depth <= 0) parts.push('')
    else parts[parts.length - 1] += letter
  }
  return parts
}

function allHold(conditions: readonly string[], situation: Situation): Answer {
  const answers = new Set(conditions.map((condition) => conditionHolds(condition, situation)))
  if (answers.has(false)) return false
  return answers.has(null) ? null : true
}

const PURPOSES = new Set(['destination', 'delivery', 'customers', 'residents', 'loading', 'unloading', 'access'])

/** Options that say the sizes of conditions. */
const OPTIONS: Readonly<Record<string, string>> = {
  height: 'height',
  width: 'width',
  length: 'length',
  weight: 'weight',
  weightrating: 'weight',
  gcweight: 'weight',
  axleload: 'axle_load',
  axles: 'axle_count',
}

function conditionHolds(condition: string, { vehicle, moment, isLocal }: Situation): Answer {
  if (PURPOSES.has(condition.toLowerCase())) return isLocal
  const [, name, sign, text, unit = ''] =
    /^([a-z]+)\s*(<=|>=|<|>|=)\s*(\d+(?:\.\d+)?)\s*(.*)$/i.exec(condition.replace(',', '.')) ?? []
  if (name !== undefined) {
    const size = vehicle[OPTIONS[name.toLowerCase()] ?? '']
    if (typeof size !== 'number' || !['', 't', 'm'].includes(unit)) return null
    const limit = Number(text)
    if (sign === '<') return size < limit
    if (sign === '<=') return size <= limit
    if (sign === '>') return size > limit
    return sign === '>=' ? size >= limit : size === limit
  }
  return moment === null ? null : hoursHold(condition, moment)
}
