import { optionFaults, type Mode } from '../cost/options.ts'
import type { Warning } from './problems.ts'
import { flagOf, isObject, type Json, numberOf, textOf } from './read.ts'

/** Warning numbers of our own: Valhalla's end at 599, and it says nothing in these cases. */
const MEMBER_UNHEEDED = 900
const OPTION_UNKNOWN = 901
const OPTION_OUT_OF_BOUNDS = 902

/** Whether a member asks for something that its absence does not. */
const isOn = (value: unknown): boolean => flagOf(value) === true
const isPositive = (value: unknown): boolean => (numberOf(value) ?? 0) > 0
const isList = (value: unknown): boolean => Array.isArray(value) && value.length > 0

/** Documented members of a request that change nothing here, when they ask for something, and what is done instead. */
const MEMBERS: Readonly<Record<string, { readonly asks: (value: unknown) => boolean; readonly instead: string }>> = {
  linear_references: { asks: isOn, instead: 'the answer has none' },
  elevation_interval: { asks: isPositive, instead: 'the answer has no elevation' },
  turn_lanes: { asks: isOn, instead: 'the answer has no lanes' },
  admin_crossings: { asks: isOn, instead: 'the answer has none' },
  banner_instructions: { asks: isOn, instead: 'the answer has none' },
  voice_instructions: { asks: isOn, instead: 'the answer has none' },
  linear_cost_factors: { asks: isList, instead: 'every street costs what its costing says' },
  prioritize_bidirectional: { asks: isOn, instead: 'searches are exact whatever the distance' },
}

const LOCATION_MEMBERS: Readonly<Record<string, (value: unknown) => boolean>> = {
  preferred_layer: (value) => numberOf(value) !== null,
}

/** Members of requests that hold locations. */
const LISTS = ['locations', 'sources', 'targets']

const FILTER_MEMBERS: Readonly<Record<string, (value: unknown) => boolean>> = {
  level: (value) => numberOf(value) !== null,
}

/**
 * A warning for everything documented that a request says and that changes nothing: members, options that the costing does
 * not have, and values out of bounds, for which the default stands.
 */
export function unheeded(request: Json, mode: Mode, given: Json): Warning[] {
  const warnings = Object.entries(MEMBERS).flatMap(([name, { asks, instead }]) =>
    name in request && asks(request[name]) ? [ignored(name, instead)] : [],
  )
  if (textOf(request.costing) === 'bikeshare') warnings.push(ignored('bikeshare', 'the answer is that of a pedestrian'))
  const locations = LISTS.flatMap((name) => (Array.isArray(request[name]) ? request[name].filter(isObject) : []))
  const filters = locations.flatMap(({ search_filter: filter }) => (isObject(filter) ? [filter] : []))
  for (const [members, places] of [
    [LOCATION_MEMBERS, locations],
    [FILTER_MEMBERS, filters],
  ] as const) {
    for (const [name, asks] of Object.entries(members)) {
      if (places.some((place) => name in place && asks(place[name]))) {
        warnings.push(ignored(name, 'locations are put on streets of all levels'))
      }
    }
  }
  const { unknown, outOfBounds } = optionFaults(mode, given)
  if (unknown.length > 0) {
    const text = `${quoted(unknown)}: costing ${mode} has no such option, ignoring it`
    warnings.push({ code: OPTION_UNKNOWN, text })
  }
  for (const { name, fallback } of outOfBounds) {
    const text = `"${name}" is out of bounds or of the wrong type, using its default ${String(fallback)}`
    warnings.push({ code: OPTION_OUT_OF_BOUNDS, text })
  }
  return warnings
}

function ignored(name: string, instead: string): Warning {
  return { code: MEMBER_UNHEEDED, text: `"${name}" is not supported: ${instead}` }
}

/** Names as a list, of many the first ones. */
function quoted(names: readonly string[]): string {
  const shown = names.slice(0, 10).map((name) => `"${name.slice(0, 60)}"`)
  return names.length > shown.length ? `${shown.join(', ')} and ${names.length - shown.length} more` : shown.join(', ')
}
