import { Access, Surface, Use } from '../../graph/attributes.ts'
import type { EdgeView } from '../edge-view.ts'
import { COMMON, duration, preference } from '../option-table.ts'
import { preferences } from '../preferences.ts'
import { type EdgeCosts, type OptionReader, type Profile, THROUGH_PENALTY } from '../profile.ts'
import { bicycleTurns, CLASS_STRESS } from '../turn-cost.ts'

const SMOOTH_SPEEDS = [1, 1]
/** Kinds of bicycles: share of the speed on each surface, the worst suitable surface, and speed in km/h. */
const BICYCLES: Readonly<Record<string, { surfaceSpeed: readonly number[]; worst: number; speed: number }>> = {
  road: { surfaceSpeed: [...SMOOTH_SPEEDS, 0.9, 0.6, 0.5, 0.3, 0.2, 0], worst: Surface.compacted, speed: 25 },
  cross: { surfaceSpeed: [...SMOOTH_SPEEDS, 1, 0.8, 0.7, 0.5, 0.4, 0], worst: Surface.gravel, speed: 20 },
  hybrid: { surfaceSpeed: [...SMOOTH_SPEEDS, 1, 0.8, 0.6, 0.4, 0.25, 0], worst: Surface.dirt, speed: 18 },
  mountain: { surfaceSpeed: [...SMOOTH_SPEEDS, 1, 1, 0.9, 0.75, 0.55, 0], worst: Surface.path, speed: 16 },
}
/** Weight of a surface by the number of classes beyond the worst suitable one. */
const BAD_SURFACE = [1, 2.5, 4.5, 7]
const MOST_BAD_SURFACE = 7
const FLAT_HILL_WEIGHT = 0.05
const WALKING_SPEED = 5
const STEPS_SPEED = 1
const STEPS_FACTOR = 8
const TRUCK_STRESS = 0.5
const LANE_STRESS = 0.05
const SIDEPATH_SHARE = 3
const NETWORK_FACTOR = 0.95

export const BICYCLE: Profile = {
  family: 'bicycle',
  source: 'Valhalla 3.6 sif/bicyclecost.cc',
  access: Access.bicycle,
  travelMode: 'bicycle',
  travelType: { option: 'bicycle_type' },
  options: {
    ...COMMON,
    alley_penalty: duration(60),
    use_living_streets: preference(0.5),
    use_roads: preference(0.25),
    use_hills: preference(0.25),
    avoid_bad_surfaces: preference(0.25),
    bicycle_type: ['hybrid', 'road', 'cross', 'mountain'],
    cycling_speed: [5, 0, 60],
  },
  defaults: {
    cycling_speed: {
      unset: 0,
      by: 'bicycle_type',
      values: Object.fromEntries(Object.entries(BICYCLES).map(([type, bicycle]) => [type, bicycle.speed])),
    },
  },
  sizes: {},
  farPenalty: 7200,
  most: { locations: 50, meters: 500_000, matrixMeters: 200_000 },
  costs: (options) => {
    const { worst } = BICYCLES[options.text('bicycle_type')]!
    const isStrict = options.number('avoid_bad_surfaces') === 1
    const most = isStrict ? worst : Surface.path
    return {
      edge: bicycleEdges(options),
      turn: bicycleTurns(options),
      mayPass: (edge) => edge.surface <= most,
      mayEnd: (edge) => edge.use !== Use.steps && (!isStrict || edge.surface <= worst),
      throughLocal: THROUGH_PENALTY,
    }
  },
}

function bicycleEdges(options: OptionReader): EdgeCosts {
  const { surfaceSpeed } = BICYCLES[options.text('bicycle_type')]!
  const ridden = surfaceSpeed.map((of) => Math.max(1, Math.floor(options.number('cycling_speed') * of + 0.5)))
  const speed = (edge: EdgeView): number => {
    const { use } = edge
    if (use === Use.steps) return STEPS_SPEED
    if (use === Use.ferry) return edge.speed
    return edge.mustDismount ? WALKING_SPEED : ridden[edge.surface]!
  }
  const seconds = (edge: EdgeView): number => (edge.meters * 3.6) / speed(edge)
  if (options.is('shortest')) return { seconds, cost: (edge) => edge.meters }
  const ferry = preferences(options).ferry.factor
  const street = streetFactor(options)
  return {
    seconds,
    cost: (edge) => {
      const { use } = edge
      if (use === Use.steps) return seconds(edge) * STEPS_FACTOR
      return seconds(edge) * (use === Use.ferry ? ferry : street(edge))
    },
  }
}

/** Factor of a street by its room for bicycles, its traffic and its surface. */
function streetFactor(options: OptionReader): (edge: EdgeView) => number {
  const use = options.number('use_roads')
  const { worst } = BICYCLES[options.text('bicycle_type')]!
  const avoidBad = options.number('avoid_bad_surfaces')
  const hills = 1 + (1 - options.number('use_hills')) * FLAT_HILL_WEIGHT
  const lanes = [0.9 + use * 0.05, 0.4 + use * 0.45, 0.15 + use * 0.6]
  const roadRoom = [1, ...lanes]
  const shoulderRoom = [0.7 + use * 0.2, ...lanes]
  const pathRoom = [0.2 + use, 0.2 + use, 0.1 + use * 0.9, use * 0.8]
  const stress = trafficStress(use)
  const livingStreet = 0.2 + use * 0.8
  const track = 0.5 + use
  /** Factor of the space beside cars, and of traffic stress. */
  const traffic = (edge: EdgeView): number => {
    const sidepath = edge.hasSidepath ? SIDEPATH_SHARE * (1 - use) : 0
    const network = edge.isBikeNetwork ? NETWORK_FACTOR : 1
    if (edge.isPath) return (pathRoom[edge.cycleLane]! + sidepath) * network
    if (edge.use === Use.livingStreet) return (1 + sidepath) * network * livingStreet
    if (edge.use === Use.track) return (1 + sidepath) * network * track
    const room = (edge.hasShoulder ? shoulderRoom : roadRoom)[edge.cycleLane]!
    return (room + sidepath) * network * stress(edge)
  }
  return (edge) => {
    const { surface } = edge
    return hills + traffic(edge) + (surface < worst ? 0 : avoidBad * (BAD_SURFACE[surface - worst] ?? MOST_BAD_SURFACE))
  }
}

/** Traffic stress of a street: by its lanes, lorries, class and speed. */
function trafficStress(useRoads: number): (edge: EdgeView) => number {
  const roads = useRoads >= 0.5 ? 1.5 - useRoads : 2 - useRoads * 2
  const slow = (1 - useRoads) * 0.75 + 0.25
  return (edge) => {
    const lanes = edge.lanes > 1 ? (edge.lanes - 1) * LANE_STRESS * roads : 0
    const lorries = edge.isTruckRoute ? TRUCK_STRESS : 0
    return (1 + lanes + lorries + CLASS_STRESS[edge.roadClass]! * roads) * ((speedStress(edge.speed) - 1) * slow + 1)
  }
}

function speedStress(kmh: number): number {
  if (kmh <= 40) return kmh / 40
  return kmh <= 65 ? kmh / 25 - 0.6 : kmh / 50 + 0.7
}
