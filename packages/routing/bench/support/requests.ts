import { seededRandom } from '@terrane/core'

import type { Mode, Network } from '../../src/index.ts'

/** A request text, and its special feature. */
export interface BenchRequest {
  readonly kind: string
  readonly mode: Mode
  readonly text: string
}

interface Place {
  readonly lat: number
  readonly lon: number
  readonly [option: string]: unknown
}

/**
 * Requests between random crossings of a network: plain ones alternate with requests off the road, over short
 * distances, via several locations, and with options.
 */
export function randomRequests({ graph }: Network, modes: readonly Mode[], count: number, seed = 1): BenchRequest[] {
  const random = seededRandom(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const off = (most: number): number => ((random() - 0.5) * 2 * most) / METERS_PER_DEGREE
  const place = (metersOff = 0): Place => {
    const node = Math.floor(random() * graph.nodeCount)
    return {
      lat: round(graph.nodeLat[node]! / 1e7 + off(metersOff)),
      lon: round(graph.nodeLon[node]! / 1e7 + off(metersOff)),
    }
  }
  const near = ({ lat, lon }: Place): Place => ({ lat: round(lat + off(500)), lon: round(lon + off(500)) })
  return Array.from({ length: count }, (_, i) => {
    const mode = modes[i % modes.length]!
    const kind = pick([
      'plain',
      'plain',
      'plain',
      'off',
      'off',
      'near',
      'several',
      'option',
      'option',
      'location',
      'location',
    ])
    const first = place(kind === 'off' ? 50 : 0)
    const last = kind === 'near' ? near(first) : place(kind === 'off' ? 50 : 0)
    const body: Record<string, unknown> = { locations: [first, last], costing: mode }
    if (kind === 'several') {
      const type = pick(['break', 'through', 'via', 'break_through'])
      body.locations = [first, { ...place(), type }, last]
      return { kind: type, mode, text: JSON.stringify(body) }
    }
    if (kind === 'location') {
      const [name, value] = pick(LOCATION_OPTIONS)
      body.locations = [
        { ...place(30), [name]: value },
        { ...place(30), [name]: value },
      ]
      return { kind: `location ${name} ${JSON.stringify(value)}`, mode, text: JSON.stringify(body) }
    }
    if (kind !== 'option') return { kind, mode, text: JSON.stringify(body) }
    const options = pick(OPTIONS[mode])
    return {
      kind: `option ${Object.keys(options).join(' ')}`,
      mode,
      text: JSON.stringify({ ...body, costing_options: { [mode]: options } }),
    }
  })
}

const METERS_PER_DEGREE = 111_000

type Options = Readonly<Record<string, number | boolean | string>>

const LOCATION_OPTIONS: readonly (readonly [name: string, value: unknown])[] = [
  ['heading', 45],
  ['heading', 200],
  ['preferred_side', 'same'],
  ['preferred_side', 'opposite'],
  ['radius', 40],
  ['radius', 150],
  ['minimum_reachability', 0],
  ['minimum_reachability', 100],
  ['node_snap_tolerance', 25],
  ['street_side_tolerance', 30],
  ['rank_candidates', false],
  ['search_cutoff', 20],
  ['search_filter', { min_road_class: 'residential' }],
  ['search_filter', { max_road_class: 'tertiary' }],
  ['search_filter', { exclude_bridge: true, exclude_tunnel: true, exclude_ramp: true }],
]

const MOTOR: readonly Options[] = [
  { use_highways: 0 },
  { use_tolls: 0 },
  { shortest: true },
  { top_speed: 70 },
  { use_tracks: 1 },
  { use_living_streets: 1 },
  { maneuver_penalty: 0 },
  { service_penalty: 0, service_factor: 3 },
  { gate_penalty: 0, private_access_penalty: 0 },
  { exclude_unpaved: true },
  { use_distance: 0.7 },
  { use_ferry: 0 },
]

const OPTIONS: Readonly<Record<Mode, readonly Options[]>> = {
  auto: [...MOTOR, { width: 2.5, height: 3 }, { ignore_restrictions: true }],
  truck: [...MOTOR, { weight: 40, axle_load: 11 }, { height: 3, width: 2 }, { hazmat: true }],
  bus: MOTOR,
  taxi: MOTOR,
  motor_scooter: [{ use_hills: 1 }, { use_primary: 0 }, { use_primary: 1 }, { top_speed: 30 }, { shortest: true }],
  motorcycle: [{ use_highways: 0 }, { use_trails: 1 }, { shortest: true }],
  bicycle: [
    { bicycle_type: 'Road' },
    { bicycle_type: 'Mountain', avoid_bad_surfaces: 0 },
    { use_roads: 1 },
    { use_roads: 0 },
    { cycling_speed: 25 },
    { avoid_bad_surfaces: 1 },
    { use_living_streets: 0 },
    { shortest: true },
  ],
  pedestrian: [
    { walking_speed: 3 },
    { walkway_factor: 0.5, sidewalk_factor: 2 },
    { step_penalty: 100 },
    { type: 'wheelchair' },
    { max_hiking_difficulty: 6 },
    { use_living_streets: 0.1 },
    { shortest: true },
  ],
}

function round(degrees: number): number {
  return Math.round(degrees * 1e6) / 1e6
}
