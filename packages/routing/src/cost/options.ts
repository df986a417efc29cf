import { flagOf, integerOf, isObject, type Json, numberOf, textOf } from '../request/read.ts'
import type { CostOptions, OptionTable, Range } from './option-table.ts'
import type { Profile } from './profile.ts'
import { type Mode, PROFILES } from './profiles/index.ts'

export type { CostOptions, Mode }

/** The travel modes that a request can name. */
export const MODES = Object.keys(PROFILES) as readonly Mode[]

/**
 * Reads the options of a mode from a request. Values that are missing, of the wrong type or out of bounds count as the
 * default; numbers and booleans may be texts. The result has one entry per option, in a fixed order, so that equal
 * options are equal texts.
 */
export function costOptions(mode: Mode, given: unknown = {}): CostOptions {
  if (isObject(given) && Object.keys(given).length > 0) return read(mode, given)
  const known = usual.get(mode) ?? Object.freeze(read(mode, {}))
  usual.set(mode, known)
  return known
}

/** Default options by mode: one object for all requests without options. */
const usual = new Map<Mode, CostOptions>()

function read(mode: Mode, said: Json): CostOptions {
  const profile: Profile = PROFILES[mode]
  const options: Record<string, number | boolean | string> = {}
  for (const [name, rule] of Object.entries(profile.options)) options[name] = readOption(name, rule, said[name])
  for (const [name, { unset, by, values }] of Object.entries(profile.defaults ?? {})) {
    if (options[name] === unset) options[name] = values[options[by] as string]!
  }
  return options
}

const NO_ELEVATION = 'the graph has no elevation'

/** Valhalla's options of a mode without an effect here, with the reason. */
const WITHOUT_EFFECT: Readonly<Partial<Record<Mode, Readonly<Record<string, string>>>>> = {
  bicycle: {
    ...noUse('bicycle', 'service_factor', 'exclude_unpaved', 'exclude_cash_only_tolls', 'fixed_speed'),
    use_hills: NO_ELEVATION,
  },
  pedestrian: {
    ...noUse('pedestrian', 'exclude_unpaved', 'exclude_cash_only_tolls', 'fixed_speed'),
    use_hills: NO_ELEVATION,
  },
  motor_scooter: { ...noUse('motor_scooter', 'exclude_unpaved'), use_hills: NO_ELEVATION },
  motorcycle: noUse('motorcycle', 'exclude_unpaved'),
}

function noUse(mode: string, ...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, `costing ${mode} makes no use of it`]))
}

/** Options that are read elsewhere, or have other warnings. */
const READ_ELSEWHERE = new Set(['disable_hierarchy_pruning', 'hierarchy_limits', 'ignore_closures'])

/**
 * Ignored options of a request: names that the mode does not have, and values out of bounds.
 *
 * @param options what `costOptions` read of the same values
 */
export function optionFaults(
  mode: Mode,
  given: Readonly<Record<string, unknown>>,
  options: CostOptions,
): {
  unknown: string[]
  outOfBounds: { name: string; fallback: number | boolean | string }[]
  withoutEffect: { name: string; instead: string }[]
} {
  const table: OptionTable = PROFILES[mode].options
  const names = Object.keys(given)
  if (names.length === 0) return { unknown: [], outOfBounds: [], withoutEffect: [] }
  const standard = costOptions(mode)
  const idle = Object.entries(WITHOUT_EFFECT[mode] ?? {}).filter(([name]) => options[name] !== standard[name])
  if (PROFILES[mode].family !== 'motor' && flagOf(given.disable_hierarchy_pruning) === true)
    idle.push(['disable_hierarchy_pruning', 'searches are exact whatever the distance'])
  return {
    withoutEffect: idle.map(([name, instead]) => ({ name, instead })),
    unknown: names.filter((name) => !Object.hasOwn(table, name) && !READ_ELSEWHERE.has(name)),
    outOfBounds: names
      .filter((name) => Object.hasOwn(table, name) && !isHeeded(name, table[name]!, given[name]))
      .map((name) => ({ name, fallback: readOption(name, table[name]!, undefined) })),
  }
}

function isHeeded(name: string, rule: OptionTable[string], value: unknown): boolean {
  if (typeof rule === 'boolean') return flagOf(value) !== null
  if (typeof rule[0] === 'string') return (rule as readonly string[]).includes(textOf(value)?.toLowerCase() ?? '')
  const [least, , most] = rule as Range
  const number = WHOLE.has(name) ? integerOf(value) : numberOf(value)
  return number !== null && number >= least && number <= most
}

function readOption(name: string, rule: OptionTable[string], value: unknown): number | boolean | string {
  if (typeof rule === 'boolean') return flagOf(value) ?? rule
  if (typeof rule[0] === 'string') {
    const kind = textOf(value)?.toLowerCase() ?? ''
    return (rule as readonly string[]).includes(kind) ? kind : rule[0]
  }
  const [least, fallback, most] = rule as Range
  const number = WHOLE.has(name) ? integerOf(value) : numberOf(value)
  return number !== null && number >= least && number <= most ? number : fallback
}

const WHOLE = new Set(['axle_count', 'fixed_speed', 'max_hiking_difficulty', 'top_speed'])
