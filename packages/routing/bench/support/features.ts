import { seededRandom } from '@terrane/core'

import type { Mode, Network } from '../../src/index.ts'

/** A change of a request's body besides its locations. */
export interface Feature {
  readonly name: string
  readonly apply: (body: RequestBody, random: () => number) => void
}

/** The body of a request under construction. */
interface RequestBody {
  locations: Record<string, unknown>[]
  costing: Mode
  [member: string]: unknown
}

/** Text of a request: random locations of a network, a mode, and the feature. */
export function featureRequest(network: Network, feature: Feature, mode: Mode, seed: number): string {
  const random = seededRandom(seed)
  const { nodeLat, nodeLon, nodeCount } = network.graph
  const place = (): Record<string, unknown> => {
    const node = Math.floor(random() * nodeCount)
    const off = (): number => (random() - 0.5) * 0.0006
    return { lat: round(nodeLat[node]! / 1e7 + off()), lon: round(nodeLon[node]! / 1e7 + off()) }
  }
  const body: RequestBody = { locations: [place(), place()], costing: mode }
  if (feature.name.startsWith('stops ')) body.locations.splice(1, 0, place(), place())
  feature.apply(body, random)
  return JSON.stringify(body)
}

const option = (name: string, value: unknown): Feature => ({
  name: `${name}=${JSON.stringify(value)}`,
  apply: (body) => {
    body.costing_options = { [body.costing]: { [name]: value } }
  },
})

const options = (name: string, values: readonly unknown[]): Feature[] => values.map((value) => option(name, value))

const member = (name: string, value: unknown): Feature => ({
  name: `${name}: ${JSON.stringify(value)}`,
  apply: (body) => {
    body[name] = value
  },
})

const location = (fields: Record<string, unknown>): Feature => ({
  name: `location ${JSON.stringify(fields)}`,
  apply: (body) => {
    for (const place of body.locations) Object.assign(place, fields)
  },
})

const stops = (...types: readonly string[]): Feature => ({
  name: `stops ${types.join(' ')}`,
  apply: (body) => {
    types.forEach((type, i) => Object.assign(body.locations[i + 1]!, { type }))
  },
})

/** A point between the two locations, or near one of them. */
function between({ locations: [from, to] }: RequestBody, random: () => number): { lat: number; lon: number } {
  const share = random()
  const mix = (field: string): number =>
    round(Number(from![field]) + (Number(to![field]) - Number(from![field])) * share)
  return { lat: mix('lat'), lon: mix('lon') }
}

function square({ lat, lon }: { lat: number; lon: number }, half: number): number[][] {
  const corners = [
    [-1, -1],
    [1, -1],
    [1, 1],
    [-1, 1],
    [-1, -1],
  ]
  return corners.map(([x, y]) => [round(lon + x! * half), round(lat + y! * half)])
}

/** Every documented member of a request, with relevant values. */
export const FEATURES: readonly Feature[] = [
  { name: 'plain', apply: () => {} },
  ...options('maneuver_penalty', [0, 60]),
  ...options('gate_cost', [0, 600]),
  ...options('gate_penalty', [0, 1000]),
  ...options('private_access_penalty', [0, 2000]),
  ...options('destination_only_penalty', [0, 3000]),
  ...options('toll_booth_cost', [0, 600]),
  ...options('toll_booth_penalty', [600]),
  ...options('country_crossing_cost', [0]),
  ...options('country_crossing_penalty', [1000]),
  ...options('ferry_cost', [0, 3000]),
  ...options('use_ferry', [0, 0.2, 0.8, 1]),
  ...options('rail_ferry_cost', [3000]),
  ...options('use_rail_ferry', [0, 1]),
  ...options('service_penalty', [0, 200]),
  ...options('service_factor', [0.2, 5]),
  ...options('alley_penalty', [0, 200]),
  ...options('alley_factor', [0.5, 5]),
  ...options('use_tracks', [0, 0.3, 0.5, 1]),
  ...options('use_living_streets', [0, 0.3, 0.5, 1]),
  ...options('use_lit', [0.3, 0.5, 1]),
  ...options('use_highways', [0, 0.2, 0.8, 1]),
  ...options('use_tolls', [0, 0.3, 0.8, 1]),
  ...options('use_distance', [0.3, 1]),
  ...options('use_hills', [0, 1]),
  ...options('use_primary', [0, 0.3, 0.8, 1]),
  ...options('use_trails', [0.3, 0.5, 1]),
  ...options('use_roads', [0, 0.5, 0.8, 1]),
  ...options('use_truck_route', [0.3, 1]),
  ...options('avoid_bad_surfaces', [0, 0.6, 1]),
  ...options('top_speed', [20, 45, 70, 200]),
  ...options('fixed_speed', [10, 60]),
  ...options('closure_factor', [1, 10]),
  ...options('shortest', [true]),
  ...options('ignore_restrictions', [true]),
  ...options('ignore_oneways', [true]),
  ...options('ignore_access', [true]),
  ...options('ignore_closures', [true]),
  ...options('ignore_construction', [true]),
  ...options('ignore_non_vehicular_restrictions', [true]),
  ...options('disable_hierarchy_pruning', [true]),
  ...options('exclude_unpaved', [true]),
  ...options('exclude_bridges', [true]),
  ...options('exclude_tunnels', [true]),
  ...options('exclude_tolls', [true]),
  ...options('exclude_highways', [true]),
  ...options('exclude_ferries', [true]),
  ...options('exclude_cash_only_tolls', [true]),
  ...options('include_hot', [true]),
  ...options('include_hov2', [true]),
  ...options('include_hov3', [true]),
  ...options('height', [1, 3, 5]),
  ...options('width', [1, 2.5, 4]),
  ...options('length', [5, 40]),
  ...options('weight', [3, 10, 60]),
  ...options('axle_load', [3, 20]),
  ...options('axle_count', [2, 10]),
  ...options('hazmat', [true]),
  ...options('hgv_no_access_penalty', [0, 600]),
  ...options('low_class_penalty', [0, 300]),
  ...options('bicycle_type', ['Road', 'Cross', 'City', 'Mountain', 'mountain']),
  ...options('cycling_speed', [10, 30]),
  ...options('type', ['wheelchair', 'blind', 'Wheelchair', 'foot', 'car', 'tractor_trailer']),
  ...options('walking_speed', [2, 8]),
  ...options('walkway_factor', [0.3, 3]),
  ...options('sidewalk_factor', [0.3, 3]),
  ...options('driveway_factor', [0.5, 20]),
  ...options('step_penalty', [0, 300]),
  ...options('elevator_penalty', [300]),
  ...options('max_grade', [2, 50]),
  ...options('max_hiking_difficulty', [0, 3, 6]),
  ...options('max_distance', [1000, 20000]),
  ...options('speed_types', [['freeflow', 'constrained']]),
  ...options('hierarchy_limits', [{ 1: { max_up_transitions: 20, expand_within_distance: 1000 } }]),
  {
    name: 'heading',
    apply: (body, random) => {
      for (const place of body.locations) place.heading = Math.floor(random() * 360)
    },
  },
  {
    name: 'heading+tolerance',
    apply: (body, random) => {
      for (const place of body.locations) {
        place.heading = Math.floor(random() * 360)
        place.heading_tolerance = Math.floor(random() * 120)
      }
    },
  },
  location({ radius: 20 }),
  location({ radius: 100 }),
  location({ radius: 1000 }),
  location({ radius: 100, rank_candidates: false }),
  location({ rank_candidates: false }),
  location({ minimum_reachability: 0 }),
  location({ minimum_reachability: 1 }),
  location({ minimum_reachability: 100 }),
  location({ search_cutoff: 15 }),
  location({ node_snap_tolerance: 0 }),
  location({ node_snap_tolerance: 30 }),
  location({ street_side_tolerance: 0 }),
  location({ street_side_tolerance: 30 }),
  location({ street_side_max_distance: 10 }),
  location({ preferred_side: 'same' }),
  location({ preferred_side: 'opposite' }),
  location({ preferred_side: 'either' }),
  location({ preferred_side: 'same', street_side_cutoff: 'tertiary' }),
  location({ preferred_side: 'same', street_side_tolerance: 0, street_side_max_distance: 25 }),
  location({ preferred_layer: 1 }),
  {
    name: 'location display_lat/lon',
    apply: (body, random) => {
      for (const place of body.locations) {
        place.display_lat = round(Number(place.lat) + (random() - 0.5) * 0.0005)
        place.display_lon = round(Number(place.lon) + (random() - 0.5) * 0.0005)
      }
    },
  },
  location({ search_filter: { exclude_tunnel: true } }),
  location({ search_filter: { exclude_bridge: true } }),
  location({ search_filter: { exclude_toll: true } }),
  location({ search_filter: { exclude_ferry: true } }),
  location({ search_filter: { exclude_ramp: true } }),
  location({ search_filter: { exclude_closures: false } }),
  location({ search_filter: { min_road_class: 'residential' } }),
  location({ search_filter: { min_road_class: 'secondary' } }),
  location({ search_filter: { max_road_class: 'secondary' } }),
  location({ search_filter: { max_road_class: 'service_other' } }),
  location({ search_filter: { level: 0 } }),
  location({
    name: 'the place',
    street: 'a street',
    city: 'c',
    state: 's',
    postal_code: 'p',
    country: 'x',
    phone: '1',
    url: 'u',
  }),
  location({ waiting: 60 }),
  location({ way_id: 5, original_index: 7, side_of_street: 'left' }),
  stops('break', 'break'),
  stops('through', 'through'),
  stops('via', 'via'),
  stops('break_through', 'break_through'),
  stops('through', 'via'),
  stops('via', 'break'),
  stops('break', 'through'),
  stops('break_through', 'via'),
  {
    name: 'stops via waiting',
    apply: (body) => {
      Object.assign(body.locations[1]!, { type: 'via', waiting: 60 })
      Object.assign(body.locations[2]!, { type: 'break', waiting: 60 })
    },
  },
  {
    name: 'stops through heading',
    apply: (body, random) => {
      for (const place of body.locations.slice(1, 3)) {
        Object.assign(place, { type: 'through', heading: Math.floor(random() * 360) })
      }
    },
  },
  {
    name: 'stops break preferred_side',
    apply: (body) => {
      for (const place of body.locations.slice(1, 3)) Object.assign(place, { preferred_side: 'same' })
    },
  },
  member('alternates', 1),
  member('alternates', 2),
  {
    name: 'exclude_locations',
    apply: (body, random) => {
      body.exclude_locations = [between(body, random), between(body, random)]
    },
  },
  {
    name: 'exclude_polygons',
    apply: (body, random) => {
      body.exclude_polygons = [square(between(body, random), 0.003)]
    },
  },
  {
    name: 'exclude_polygons at the origin',
    apply: (body) => {
      body.exclude_polygons = [square(body.locations[0] as { lat: number; lon: number }, 0.002)]
    },
  },
  {
    name: 'exclude_polygons GeoJSON',
    apply: (body, random) => {
      const geometry = { type: 'Polygon', coordinates: [square(between(body, random), 0.003)] }
      body.exclude_polygons = { type: 'FeatureCollection', features: [{ type: 'Feature', properties: {}, geometry }] }
    },
  },
  member('units', 'miles'),
  member('units', 'mi'),
  member('units', 'furlongs'),
  member('directions_options', { units: 'miles', language: 'de-DE' }),
  member('directions_type', 'none'),
  member('directions_type', 'maneuvers'),
  member('directions_type', 'all'),
  member('narrative', false),
  member('language', 'xx-XX'),
  member('shape_format', 'polyline5'),
  member('shape_format', 'geojson'),
  member('shape_format', 'no_shape'),
  member('format', 'json'),
  member('roundabout_exits', false),
  member('turn_lanes', true),
  member('linear_references', true),
  member('admin_crossings', true),
  member('elevation_interval', 30),
  member('generalize', 50),
  member('prioritize_bidirectional', true),
  member('id', 'abc'),
  member('id', 5),
  member('verbose', true),
  member('jsonp', 'f'),
  member('date_time', { type: 0 }),
  member('date_time', { type: 1, value: '2026-06-10T08:00' }),
  member('date_time', { type: 2, value: '2026-06-10T08:00' }),
  member('date_time', { type: 3, value: '2026-06-10T08:00' }),
  member('recostings', [{ costing: 'auto', name: 'x' }]),
]

function round(degrees: number): number {
  return Math.round(degrees * 1e6) / 1e6
}
