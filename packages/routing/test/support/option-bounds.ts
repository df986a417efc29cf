import { costOptions, type Mode } from '../../src/cost/options.ts'

const MOTOR_BOUNDS = `
  destination_only_penalty 0 600 43200, maneuver_penalty 0 5 43200, alley_penalty 0 5 43200, gate_cost 0 30 43200, gate_penalty 0 300 43200,
  private_access_penalty 0 450 43200, country_crossing_cost 0 600 43200, country_crossing_penalty 0 0 43200, ferry_cost 0 300 43200,
  use_ferry 0 0.5 1, service_penalty 0 15 43200, service_factor 0.1 1 100000, use_tracks 0 0.5 1, use_living_streets 0 0.1 1, use_lit 0 0 1,
  fixed_speed 0 0 252`
const FAST_BOUNDS = 'speed_penalty_factor 0 0.05 1'
const TOLL_BOUNDS = 'toll_booth_cost 0 15 43200, toll_booth_penalty 0 0 43200'
const CAR_BOUNDS = `${MOTOR_BOUNDS}, ${TOLL_BOUNDS}, rail_ferry_cost 0 300 43200, use_rail_ferry 0 0.4 1, service_penalty 0 75 43200, use_tracks 0 0 1,
  alley_factor 0.1 1 100000, use_highways 0 0.5 1, use_tolls 0 0.5 1, use_distance 0 0 1, height 0 1.6 10, width 0 1.9 10, top_speed 10 140 252,
  length 0 2.7 50, weight 0 0.8 100, ${FAST_BOUNDS}`

/** Least, default and most of every number, as the documentation and the source of Valhalla 3.6 have them, `length`, `weight` and `speed_penalty_factor` those of 3.6.2; the last of a name counts. */
const BOUNDS: Readonly<Record<Mode, string>> = {
  auto: CAR_BOUNDS,
  bus: CAR_BOUNDS,
  taxi: CAR_BOUNDS,
  truck: `${MOTOR_BOUNDS}, ${TOLL_BOUNDS}, rail_ferry_cost 0 300 43200, use_rail_ferry 0 0.4 1, service_penalty 0 0 43200, use_tracks 0 0 1,
    use_living_streets 0 0 1, low_class_penalty 0 30 43200, weight 0 21.77 100, axle_load 0 9.07 40, height 0 4.11 10, width 0 2.6 10,
    length 0 21.64 50, axle_count 2 5 20, use_tolls 0 0.5 1, use_highways 0 0.5 1, use_truck_route 0 0 1, top_speed 10 120 252,
    hgv_no_access_penalty 0 43200 43200, ${FAST_BOUNDS}`,
  motorcycle: `${MOTOR_BOUNDS}, ${TOLL_BOUNDS}, use_highways 0 0.5 1, use_tolls 0 0.5 1, use_trails 0 0 1, top_speed 10 140 252, ${FAST_BOUNDS}`,
  motor_scooter: `${MOTOR_BOUNDS}, destination_only_penalty 0 120 43200, use_hills 0 0.5 1, use_primary 0 0.5 1, top_speed 20 45 120, ${FAST_BOUNDS}`,
  bicycle: `${MOTOR_BOUNDS}, alley_penalty 0 60 43200, use_living_streets 0 0.5 1, use_roads 0 0.25 1, use_hills 0 0.25 1,
    avoid_bad_surfaces 0 0.25 1, cycling_speed 5 18 60`,
  pedestrian: `${MOTOR_BOUNDS}, gate_penalty 0 10 43200, private_access_penalty 0 600 43200, service_penalty 0 0 43200, use_ferry 0 1 1,
    use_living_streets 0 0.6 1, walking_speed 0.5 5.1 25, step_penalty 0 30 43200, elevator_penalty 0 5 43200, max_hiking_difficulty 0 1 6,
    walkway_factor 0.1 1 100000, sidewalk_factor 0.1 1 100000, alley_factor 0.1 2 100000, driveway_factor 0.1 5 100000, use_hills 0 0.5 1`,
}

type Bounds = readonly [least: number, fallback: number, most: number]

/** The bounds of every number among the options of a mode. */
export function optionBounds(mode: Mode): ReadonlyMap<string, Bounds> {
  return new Map(
    BOUNDS[mode].split(',').map((line) => {
      const [name, ...numbers] = line.trim().split(/\s+/)
      return [name!, numbers.map(Number) as [number, number, number]]
    }),
  )
}

/** Values read of an option that is absent, at its minimum and maximum, and a little beyond both. */
export function readAround(mode: Mode, name: string, [least, , most]: Bounds): unknown[] {
  const beyond = Number.isInteger(least) && Number.isInteger(most) && most > 1 ? 1 : 0.01
  const said = [{}, { [name]: least }, { [name]: most }, { [name]: least - beyond }, { [name]: most + beyond }]
  return said.map((given) => costOptions(mode, given)[name])
}
