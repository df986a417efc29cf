import { flagOf, integerOf, isObject, numberOf, textOf } from '../request/read.ts'

/** The ways to travel that a request can name. */
export const MODES = ['auto', 'bicycle', 'pedestrian', 'truck', 'bus', 'motor_scooter', 'motorcycle', 'taxi'] as const
export type Mode = (typeof MODES)[number]

/** Options of a mode after defaults: numbers in seconds, metres, tonnes, km/h or shares; names in lower case. */
export type CostOptions = Readonly<Record<string, number | boolean | string>>

/** A number with its bounds: least, default, most. Outside of them the default counts. */
type Range = readonly [number, number, number]
type OptionTable = Readonly<Record<string, Range | boolean | readonly string[]>>

const MOST_SECONDS = 43200
const seconds = (fallback: number): Range => [0, fallback, MOST_SECONDS]
const share = (fallback: number): Range => [0, fallback, 1]
const factor = (fallback: number): Range => [0.1, fallback, 100000]

/** Options every mode has. Names, bounds and defaults are those of Valhalla 3.6 (`sif/dynamiccost.cc`). */
const COMMON: OptionTable = {
  destination_only_penalty: seconds(600),
  maneuver_penalty: seconds(5),
  alley_penalty: seconds(5),
  gate_cost: seconds(30),
  gate_penalty: seconds(300),
  private_access_penalty: seconds(450),
  country_crossing_cost: seconds(600),
  country_crossing_penalty: seconds(0),
  ferry_cost: seconds(300),
  use_ferry: share(0.5),
  service_penalty: seconds(15),
  service_factor: factor(1),
  use_tracks: share(0.5),
  use_living_streets: share(0.1),
  use_lit: share(0),
  exclude_unpaved: false,
  exclude_bridges: false,
  exclude_tunnels: false,
  exclude_tolls: false,
  exclude_highways: false,
  exclude_ferries: false,
  exclude_cash_only_tolls: false,
  fixed_speed: [0, 0, 252],
  shortest: false,
  ignore_restrictions: false,
  ignore_non_vehicular_restrictions: false,
  ignore_oneways: false,
  ignore_access: false,
}

const TOLL_BOOTHS: OptionTable = { toll_booth_cost: seconds(15), toll_booth_penalty: seconds(0) }
const RAIL_FERRIES: OptionTable = { rail_ferry_cost: seconds(300), use_rail_ferry: share(0.4) }

const AUTO: OptionTable = {
  ...COMMON,
  ...TOLL_BOOTHS,
  ...RAIL_FERRIES,
  service_penalty: seconds(75),
  use_tracks: share(0),
  alley_factor: factor(1),
  use_highways: share(0.5),
  use_tolls: share(0.5),
  use_distance: share(0),
  height: [0, 1.6, 10],
  width: [0, 1.9, 10],
  top_speed: [10, 140, 252],
}

const TABLES: Readonly<Record<Mode, OptionTable>> = {
  auto: AUTO,
  bus: AUTO,
  taxi: AUTO,
  truck: {
    ...COMMON,
    ...TOLL_BOOTHS,
    ...RAIL_FERRIES,
    service_penalty: seconds(0),
    use_tracks: share(0),
    use_living_streets: share(0),
    low_class_penalty: seconds(30),
    hazmat: false,
    weight: [0, 21.77, 100],
    axle_load: [0, 9.07, 40],
    height: [0, 4.11, 10],
    width: [0, 2.6, 10],
    length: [0, 21.64, 50],
    axle_count: [2, 5, 20],
    use_tolls: share(0.5),
    use_highways: share(0.5),
    use_truck_route: share(0),
    top_speed: [10, 120, 252],
    hgv_no_access_penalty: seconds(MOST_SECONDS),
  },
  motorcycle: {
    ...COMMON,
    ...TOLL_BOOTHS,
    use_highways: share(0.5),
    use_tolls: share(0.5),
    use_trails: share(0),
    top_speed: [10, 140, 252],
  },
  motor_scooter: {
    ...COMMON,
    destination_only_penalty: seconds(120),
    use_hills: share(0.5),
    use_primary: share(0.5),
    top_speed: [20, 45, 120],
  },
  bicycle: {
    ...COMMON,
    alley_penalty: seconds(60),
    use_living_streets: share(0.5),
    use_roads: share(0.25),
    use_hills: share(0.25),
    avoid_bad_surfaces: share(0.25),
    bicycle_type: ['hybrid', 'road', 'cross', 'mountain'],
    cycling_speed: [5, 0, 60],
  },
  pedestrian: {
    ...COMMON,
    gate_penalty: seconds(10),
    private_access_penalty: seconds(600),
    service_penalty: seconds(0),
    use_ferry: share(1),
    use_living_streets: share(0.6),
    type: ['foot', 'wheelchair', 'blind'],
    walking_speed: [0.5, 0, 25],
    step_penalty: [0, -1, MOST_SECONDS],
    elevator_penalty: seconds(5),
    max_hiking_difficulty: [0, 1, 6],
    walkway_factor: factor(1),
    sidewalk_factor: factor(1),
    alley_factor: factor(2),
    driveway_factor: factor(5),
    use_hills: share(0.5),
  },
}

const CYCLING_SPEEDS: Readonly<Record<string, number>> = { road: 25, cross: 20, hybrid: 18, mountain: 16 }

/**
 * Options of a mode from what a request says. Values that are missing, of the wrong type or out of bounds count as the
 * default; numbers and booleans may be texts. The result has one entry per option, in a fixed order, so that equal
 * options are equal texts.
 */
export function costOptions(mode: Mode, given: unknown = {}): CostOptions {
  const said = isObject(given) ? given : {}
  const options: Record<string, number | boolean | string> = {}
  for (const [name, rule] of Object.entries(TABLES[mode])) options[name] = readOption(name, rule, said[name])
  if (mode === 'bicycle') options.cycling_speed ||= CYCLING_SPEEDS[options.bicycle_type as string]!
  if (mode === 'pedestrian') {
    const wheelchair = options.type === 'wheelchair'
    options.walking_speed ||= wheelchair ? 4 : 5.1
    if (options.step_penalty === -1) options.step_penalty = wheelchair ? 600 : 30
  }
  return options
}

/** Options that are read elsewhere, or whose fate other warnings tell. */
const READ_ELSEWHERE = new Set(['disable_hierarchy_pruning', 'hierarchy_limits', 'ignore_closures'])

/** What of the options of a request is not heeded: names that the mode does not have, and values out of bounds. */
export function optionFaults(
  mode: Mode,
  given: Readonly<Record<string, unknown>>,
): {
  unknown: string[]
  outOfBounds: { name: string; fallback: number | boolean | string }[]
} {
  const table = TABLES[mode]
  const names = Object.keys(given)
  return {
    unknown: names.filter((name) => !Object.hasOwn(table, name) && !READ_ELSEWHERE.has(name)),
    outOfBounds: names
      .filter((name) => Object.hasOwn(table, name) && !isHeeded(name, table[name]!, given[name]))
      .map((name) => ({ name, fallback: readOption(name, table[name]!, undefined) })),
  }
}

function isHeeded(name: string, rule: Range | boolean | readonly string[], value: unknown): boolean {
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
