/** Options of a mode after defaults: numbers in seconds, metres, tonnes, km/h or shares; names in lower case. */
export type CostOptions = Readonly<Record<string, number | boolean | string>>

/** A number with its bounds: minimum, default, maximum. Outside of them the default is used. */
export type Range = readonly [least: number, fallback: number, most: number]

/** Options by name: ranges, booleans by their default, or texts with the default first. */
export type OptionTable = Readonly<Record<string, Range | boolean | readonly string[]>>

/** Options with a default that depends on the text of another option; a special value marks it as unset. */
export type DependentDefaults = Readonly<
  Record<string, { readonly unset: number; readonly by: string; readonly values: Readonly<Record<string, number>> }>
>

export const MOST_SECONDS = 43200
export const duration = (fallback: number): Range => [0, fallback, MOST_SECONDS]
export const preference = (fallback: number): Range => [0, fallback, 1]
export const weight = (fallback: number): Range => [0.1, fallback, 100000]

/** Options every mode has. Names, bounds and defaults are those of Valhalla 3.6 (`sif/dynamiccost.cc`). */
export const COMMON: OptionTable = {
  destination_only_penalty: duration(600),
  maneuver_penalty: duration(5),
  alley_penalty: duration(5),
  gate_cost: duration(30),
  gate_penalty: duration(300),
  private_access_penalty: duration(450),
  country_crossing_cost: duration(600),
  country_crossing_penalty: duration(0),
  ferry_cost: duration(300),
  use_ferry: preference(0.5),
  service_penalty: duration(15),
  service_factor: weight(1),
  use_tracks: preference(0.5),
  use_living_streets: preference(0.1),
  use_lit: preference(0),
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
  ignore_construction: false,
}

/** Addition to the cost factor of streets that are faster than the vehicle, per km/h. Since Valhalla 3.6.2. */
export const FAST_STREETS: OptionTable = { speed_penalty_factor: [0, 0.05, 1] }
export const TOLL_BOOTHS: OptionTable = { toll_booth_cost: duration(15), toll_booth_penalty: duration(0) }
export const RAIL_FERRIES: OptionTable = { rail_ferry_cost: duration(300), use_rail_ferry: preference(0.4) }
