import { describe, expect, it } from 'vitest'

import { type Mode, Router } from '../src/index.ts'
import { createCosting } from '../src/cost/create.ts'
import { type CostOptions, costOptions } from '../src/cost/options.ts'
import { PROFILES } from '../src/cost/profiles/index.ts'
import { drawTown } from './support/ascii-map.ts'

// Every member that Valhalla's documentation of `/route` lists, with a value that asks for something. Each gives
// another answer, or a warning that names it: nothing is ignored in silence.

type Json = Readonly<Record<string, unknown>>

/** Streets to both sides of 2, a roundabout, an island at 3, and from 4 to 8 a tunnel, a bridge, a toll, a ramp and a ferry. */
const town = await drawTown({
  map: `
A-------B-------C-------G

            2

D---1---E-------F-------H---I
       J K
        L
        |     3
        M   N---O
        |
        P

        S-4-T-5-U-6-V-7-W-8-X
`.slice(1),
  meters: 10,
  ways: {
    ABCG: { highway: 'secondary', name: 'North Street', maxspeed: '70' },
    DE: { highway: 'residential', name: 'West Street' },
    EFHI: { highway: 'residential', name: 'Middle Street' },
    AD: { highway: 'residential', name: 'First Street' },
    BE: { highway: 'residential', name: 'Second Street' },
    GH: { highway: 'residential', name: 'Third Street' },
    EJLKE: { highway: 'residential', junction: 'roundabout', oneway: 'yes' },
    LMP: { highway: 'residential', name: 'South Street' },
    PS: { highway: 'residential' },
    ST: { highway: 'residential', tunnel: 'yes' },
    TU: { highway: 'residential', bridge: 'yes' },
    UV: { highway: 'residential', toll: 'yes' },
    VW: { highway: 'tertiary_link', oneway: 'no' },
    WX: { route: 'ferry', duration: '00:01', motor_vehicle: 'yes' },
    NO: { highway: 'residential', name: 'Island Street' },
  },
})
const { lat, lon } = town.at('C')

/** A value of a request member, and other members that it needs to have an effect. */
interface Ask {
  readonly value: unknown
  readonly beside?: Json
  /** Where the place between is: beside Middle Street where nothing is said. */
  readonly place?: string
}

const REQUEST: Readonly<Record<string, Ask>> = {
  units: { value: 'miles' },
  language: { value: 'de-DE' },
  directions_type: { value: 'none' },
  format: { value: 'osrm' },
  shape_format: { value: 'geojson' },
  banner_instructions: { value: true },
  voice_instructions: { value: true },
  alternates: { value: 1 },
  recostings: { value: [{ costing: 'bicycle' }] },
  exclude_locations: { value: [town.at('C')] },
  exclude_polygons: {
    value: [
      [
        [lon - 1e-5, lat - 1e-5],
        [lon + 1e-5, lat - 1e-5],
        [lon, lat + 1e-5],
      ],
    ],
  },
  date_time: { value: { type: 1, value: '2026-11-23T08:00' } },
  elevation_interval: { value: 30 },
  id: { value: 'mine' },
  linear_references: { value: true },
  prioritize_bidirectional: { value: true },
  roundabout_exits: { value: false },
  admin_crossings: { value: true },
  turn_lanes: { value: true },
  linear_cost_factors: { value: [{ shape: 'a', factor: 2 }] },
  reverse_time_tracking: { value: 'disabled' },
  costing: { value: 'pedestrian' },
}

const LOCATION: Readonly<Record<string, Ask>> = {
  lat: { value: lat },
  lon: { value: lon },
  type: { value: 'through' },
  heading: { value: 90 },
  heading_tolerance: { value: 10, beside: { heading: 50 } },
  street: { value: 'Middle Street' },
  way_id: { value: 1 },
  minimum_reachability: { value: 3, place: '3' },
  radius: { value: 100, beside: { rank_candidates: false } },
  rank_candidates: { value: false, beside: { radius: 100 } },
  preferred_side: { value: 'opposite' },
  display_lat: { value: lat - 0.001, beside: { display_lon: lon } },
  display_lon: { value: lon, beside: { display_lat: lat - 0.001 } },
  search_cutoff: { value: 1 },
  node_snap_tolerance: { value: 100 },
  street_side_tolerance: { value: 1000 },
  street_side_max_distance: { value: 0 },
  street_side_cutoff: { value: 'motorway', beside: { preferred_side: 'opposite' } },
  search_filter: { value: { min_road_class: 'secondary' } },
  preferred_layer: { value: 1 },
  name: { value: 'Town Hall' },
  city: { value: 'Town' },
  state: { value: 'State' },
  postal_code: { value: '1' },
  country: { value: 'Country' },
  phone: { value: '1' },
  url: { value: 'https://example.org' },
  waiting: { value: 60 },
}

/** Members of `search_filter`. */
const FILTERS: Readonly<Record<string, Ask>> = {
  exclude_tunnel: { value: true, place: '4' },
  exclude_bridge: { value: true, place: '5' },
  exclude_toll: { value: true, place: '6' },
  exclude_ramp: { value: true, place: '7' },
  exclude_ferry: { value: true, place: '8' },
  exclude_closures: { value: false },
  min_road_class: { value: 'secondary' },
  max_road_class: { value: 'residential', place: 'B' },
  level: { value: 1 },
}

/** Options of costings, with one that has it. */
const OPTIONS: Readonly<Record<string, string>> = {
  auto: `
    maneuver_penalty gate_cost gate_penalty private_access_penalty destination_only_penalty
    toll_booth_cost toll_booth_penalty ferry_cost use_ferry use_highways use_tolls
    use_living_streets use_tracks service_penalty service_factor country_crossing_cost
    country_crossing_penalty shortest use_distance disable_hierarchy_pruning top_speed fixed_speed
    ignore_closures closure_factor ignore_restrictions ignore_oneways
    ignore_non_vehicular_restrictions ignore_access ignore_construction speed_types hierarchy_limits
    height width length weight exclude_unpaved exclude_cash_only_tolls include_hov2 include_hov3
    include_hot speed_penalty_factor exclude_bridges exclude_tunnels exclude_tolls exclude_highways
    exclude_ferries`,
  truck: `
    height width length weight axle_load axle_count hazmat hgv_no_access_penalty low_class_penalty
    low_class_factor use_truck_route`,
  bicycle: `
    bicycle_type cycling_speed use_roads use_hills use_ferry use_living_streets avoid_bad_surfaces
    bss_return_cost bss_return_penalty shortest`,
  motor_scooter: 'top_speed speed_penalty_factor use_primary use_hills shortest disable_hierarchy_pruning',
  motorcycle: 'use_highways use_trails shortest disable_hierarchy_pruning',
  pedestrian: `
    walking_speed walkway_factor sidewalk_factor alley_factor driveway_factor step_penalty
    elevator_penalty use_ferry use_living_streets use_tracks use_hills use_lit service_penalty
    service_factor destination_only_penalty max_hiking_difficulty bss_rent_cost bss_rent_penalty
    shortest max_distance multimodal_start_end_max_distance transit_transfer_max_distance type
    mode_factor`,
}

const router = new Router(town.network)
const answer = (request: Json): string => router.answer(JSON.stringify({ costing: 'auto', ...request })).body
const warningsOf = (body: string): string =>
  ((JSON.parse(body) as { trip?: { warnings?: { text: string }[] } }).trip?.warnings ?? [])
    .map(({ text }) => text)
    .join()
const over = (place: string, said: Json): Json => ({
  locations: [town.at('P'), { ...town.at(place), ...said }, town.at('A')],
})

describe('no member is ignored in silence', () => {
  const ends = { locations: [town.at('P'), town.at('G')] }

  it.each(Object.entries(REQUEST))('%s of a request', (name, { value, beside = {} }) => {
    expectHeeded(name, { ...ends, ...beside }, { ...ends, ...beside, [name]: value })
  })

  it.each(Object.entries(LOCATION))('%s of a location', (name, { value, beside = {}, place = '2' }) => {
    expectHeeded(name, over(place, beside), over(place, { ...beside, [name]: value }))
  })

  it.each(Object.entries(FILTERS))('%s of a search filter', (name, { value, place = '2' }) => {
    expectHeeded(name, over(place, {}), over(place, { search_filter: { [name]: value } }))
  })

  it('alternates of routes over several locations', () => {
    expectHeeded('alternates', over('2', {}), { ...over('2', {}), alternates: 1 })
  })

  // `scenarios/costs.ts` and the mutations of costs show that each option of a costing has an effect.
  it.each(Object.entries(OPTIONS))('options of %s', (costing, names) => {
    for (const name of names.trim().split(/\s+/)) {
      if (Object.hasOwn(PROFILES[costing as Mode].options, name) && name !== 'ignore_construction') continue
      const value = VALUES[name] ?? 1
      const warnings = warningsOf(answer({ ...ends, costing, costing_options: { [costing]: { [name]: value } } }))
      expect(warnings, name).toContain(name === 'hierarchy_limits' ? 'hierarchy limits' : name)
    }
  })
})

describe('options without effect', () => {
  const ends = { locations: [town.at('P'), town.at('G')] }

  /** Names of options that are never read when a costing is made. */
  function unreadOptions(mode: Mode): string[] {
    const read = new Set<string>()
    const table = PROFILES[mode].options as Readonly<Record<string, readonly unknown[] | boolean>>
    const all = Object.entries(costOptions(mode)).map(([name, value]): [string, unknown] => [
      name,
      name.startsWith('exclude_') ? true : value,
    ])
    for (const [name, rule] of [['', ['']] as const, ...Object.entries(table)]) {
      if (typeof rule === 'boolean' || typeof rule[0] !== 'string') continue
      for (const kind of rule) {
        const options = Object.fromEntries([...all, [name, kind]]) as CostOptions
        const get = (from: object, key: string): unknown => (read.add(key), Reflect.get(from, key))
        createCosting(town.network.graph, mode, new Proxy(options, { get: (from, key) => get(from, String(key)) }))
      }
    }
    return Object.keys(table).filter((name) => !read.has(name))
  }

  it.each(Object.keys(PROFILES) as Mode[])('of %s are told, where they ask for something', (mode) => {
    const idle = [...unreadOptions(mode), ...['use_hills'].filter((name) => name in PROFILES[mode].options)]
    for (const name of new Set(idle)) {
      const usual = costOptions(mode)[name]
      const other = typeof usual === 'boolean' ? !usual : usual === 1 ? 0 : 1
      const warned = (value: unknown): boolean =>
        warningsOf(answer({ ...ends, costing: mode, costing_options: { [mode]: { [name]: value } } })).includes(name)
      expect([name, warned(other), warned(usual)]).toEqual([name, true, false])
    }
  })

  it('of searches are told to walkers and riders', () => {
    const said = { costing: 'bicycle', costing_options: { bicycle: { disable_hierarchy_pruning: true } } }
    expect(warningsOf(answer({ ...ends, ...said }))).toContain('"disable_hierarchy_pruning" is not supported')
  })
})

/** Values of options that are no numbers. */
const VALUES: Json = {
  disable_hierarchy_pruning: true,
  hierarchy_limits: { 1: { max_up_transitions: 1 } },
  ignore_closures: true,
  ignore_construction: true,
}

function expectHeeded(name: string, without: Json, said: Json): void {
  const [before, after] = [answer(without), answer(said)]
  expect(after).not.toBe(before)
  const isNamed = warningsOf(after).includes(name)
  const strip = (body: string): string => body.replace(/,"warnings":\[[^\]]*\]/, '')
  if (strip(after) === strip(before)) expect(isNamed).toBe(true)
}
