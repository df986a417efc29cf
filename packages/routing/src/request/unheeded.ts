import { type CostOptions, costOptions, optionFaults, type Mode } from '../cost/options.ts'
import { PROFILES } from '../cost/profiles/index.ts'
import { isSpoken, languageOf } from '../narrate/languages/index.ts'
import type { Limits } from './limits.ts'
import { type Warning, warning } from './problems.ts'
import { flagOf, integerOf, isObject, type Json, numberOf, textOf } from './read.ts'

/** Our own warning numbers: Valhalla's numbers end at 599 and do not cover these cases. */
export const MEMBER_UNHEEDED = 900
const OPTION_UNKNOWN = 901
const OPTION_OUT_OF_BOUNDS = 902

/** Whether the value of a member requests something that its absence does not. */
const isOn = (value: unknown): boolean => flagOf(value) === true
const isPositive = (value: unknown): boolean => (numberOf(value) ?? 0) > 0
const isText = (value: unknown): boolean => (textOf(value) ?? '') !== ''
const isList = (value: unknown): boolean => Array.isArray(value) && value.length > 0

/** Members without an effect here, a test for values that request something, and the actual behaviour. */
type Members = Readonly<Record<string, { readonly asks: (value: unknown) => boolean; readonly instead: string }>>

const MEMBERS: Members = {
  linear_references: { asks: isOn, instead: 'the answer has none' },
  elevation_interval: { asks: isPositive, instead: 'the answer has no elevation' },
  turn_lanes: { asks: isOn, instead: 'the answer has no lanes' },
  linear_cost_factors: { asks: isList, instead: 'every street costs what its costing says' },
  prioritize_bidirectional: { asks: isOn, instead: 'searches are exact whatever the distance' },
  reverse_time_tracking: { asks: isText, instead: 'searches in time are exact' },
  language: {
    asks: (value) => isText(value) && !isSpoken(textOf(value)!),
    instead: `the answer is in ${languageOf(null).tag}`,
  },
}

/** Members that only OSRM's answer format has. */
const OSRM_MEMBERS: Members = {
  banner_instructions: { asks: isOn, instead: 'only answers with format osrm have them' },
  voice_instructions: { asks: isOn, instead: 'only answers with format osrm have them' },
}

const NO_CLOSURES = 'streets have no closures from live traffic'
const ALL_LEVELS = 'locations are put on streets of all levels'
const isNumber = (value: unknown): boolean => numberOf(value) !== null
const notReturned = { asks: isText, instead: 'the answer does not repeat it' }

const LOCATION_MEMBERS: Members = {
  preferred_layer: { asks: isNumber, instead: ALL_LEVELS },
  way_id: { asks: isNumber, instead: 'locations are put on streets by where they are' },
  ...Object.fromEntries(['city', 'state', 'postal_code', 'country', 'phone', 'url'].map((name) => [name, notReturned])),
}

/** Members of requests with lists of locations. */
const LISTS = ['locations', 'sources', 'targets']

const FILTER_MEMBERS: Members = {
  level: { asks: isNumber, instead: ALL_LEVELS },
  exclude_closures: { asks: (value) => flagOf(value) === false, instead: NO_CLOSURES },
}

const OPTIONS: Members = { ignore_closures: { asks: isOn, instead: NO_CLOSURES } }

/**
 * Reads the options of the costing, with a warning for each ignored part of the request: documented members without an
 * effect, options that the costing does not have, and values out of bounds, which become the default.
 */
export function readOptions(
  request: Json,
  { mode, given }: { mode: Mode; given: Json },
  { limits, warnings }: { limits: Limits; warnings: Warning[] },
): CostOptions {
  const members = unheededMembers(request, given)
  const options = costOptions(mode, given)
  const { unknown, outOfBounds, withoutEffect } = optionFaults(mode, given, options)
  // For OSRM requests there is no warning: OSRM has no such restriction.
  const isOfOsrm = Array.isArray(request.unheeded)
  if (!isOfOsrm && HARD_EXCLUSIONS.some((name) => options[name] === true)) warnings.push(warning(208))
  if (PROFILES[mode].family === 'motor' && isOn(given.disable_hierarchy_pruning)) warnings.push(warning(205))
  if (isObject(given.hierarchy_limits) && Object.values(given.hierarchy_limits).some(isLimited))
    warnings.push(warning(209))
  warnings.push(...members)
  if (isOn(given.ignore_construction) && limits.construction !== true) {
    warnings.push(ignored('ignore_construction', 'this network was built without streets under construction'))
  }
  // Ignored members of a request in the form of another engine.
  if (Array.isArray(request.unheeded)) {
    for (const name of request.unheeded.slice(0, MOST_NAMES))
      warnings.push(ignored(String(name).slice(0, LONGEST_NAME), 'the answer is as without it'))
  }
  if (textOf(request.costing) === 'bikeshare') warnings.push(ignored('bikeshare', 'the answer is that of a pedestrian'))
  for (const { name, instead } of withoutEffect) warnings.push(ignored(name, instead))
  if (unknown.length > 0) {
    const text = `${quoted(unknown)}: costing ${mode} has no such option, ignoring it`
    warnings.push({ code: OPTION_UNKNOWN, text })
  }
  for (const { name, fallback } of outOfBounds) {
    const text = `"${name}" is out of bounds or of the wrong type, using its default ${String(fallback)}`
    warnings.push({ code: OPTION_OUT_OF_BOUNDS, text })
  }
  return options
}

/** Valhalla 3.6 warns that its default configuration ignores these, but applies them. They are applied here, too. */
const HARD_EXCLUSIONS = ['exclude_bridges', 'exclude_tolls', 'exclude_tunnels', 'exclude_highways', 'exclude_ferries']

/** Whether a level limits the expansion of searches on small streets, which has no effect here. */
function isLimited(level: unknown): boolean {
  return (
    isObject(level) && (integerOf(level.max_up_transitions) !== null || numberOf(level.expand_within_distance) !== null)
  )
}

/** Warnings for documented members without an effect. */
function unheededMembers(request: Json, given: Json): Warning[] {
  const locations = LISTS.flatMap((name) => (Array.isArray(request[name]) ? request[name].filter(isObject) : []))
  const filters = locations.flatMap(({ search_filter: filter }) => (isObject(filter) ? [filter] : []))
  return [
    ...unheededOf(MEMBERS, [request]),
    ...unheededOf(LOCATION_MEMBERS, locations),
    ...unheededOf(FILTER_MEMBERS, filters),
    ...unheededOf(OPTIONS, [given]),
    ...(textOf(request.format) === 'osrm' ? [] : unheededOf(OSRM_MEMBERS, [request])),
  ]
}

/** Warning about a U-turn at a location whose type forbids it. */
export function turnedAround(i: number): Warning {
  return {
    code: MEMBER_UNHEEDED,
    text: `location ${i} is gone through, but nothing leads on: the route turns around there`,
  }
}

function unheededOf(members: Members, said: readonly Json[]): Warning[] {
  return Object.entries(members).flatMap(([name, { asks, instead }]) =>
    said.some((one) => name in one && asks(one[name])) ? [ignored(name, instead)] : [],
  )
}

function ignored(name: string, instead: string): Warning {
  return { code: MEMBER_UNHEEDED, text: `"${name}" is not supported: ${instead}` }
}

const LONGEST_NAME = 80
/** Maximum number of names, above the number of OSRM's parameters. */
const MOST_NAMES = 50

/** Names as a quoted list, at most the first ten. */
export function quoted(names: readonly string[]): string {
  const shown = names.slice(0, 10).map((name) => `"${name.slice(0, LONGEST_NAME)}"`)
  return names.length > shown.length ? `${shown.join(', ')} and ${names.length - shown.length} more` : shown.join(', ')
}
