import { Access, NodeType, Surface, Use } from '../../graph/attributes.ts'
import { EdgeField, TrafficField } from '../../graph/fields.ts'
import { type Expression, factor, product, quotient, seconds, share, speed, sum, tabulate } from '../expression.ts'
import { type EdgeFact, Side } from '../facts.ts'
import { COMMON, duration, preference } from '../option-table.ts'
import type { OptionReader, Profile, TurnTerms } from '../profile.ts'
import { entering, tastes } from './entering.ts'

/** Seconds of turns, and how stressful they are. */
const TURN_SECONDS = {
  [Side.straight]: 0.15,
  [Side.slightNear]: 0.2,
  [Side.near]: 0.3,
  [Side.sharpNear]: 0.5,
  [Side.back]: 5,
  [Side.sharpFar]: 1.5,
  [Side.far]: 1,
  [Side.slightFar]: 0.4,
}
const TURN_STRESS = {
  [Side.slightNear]: 0.25,
  [Side.near]: 0.75,
  [Side.sharpNear]: 1,
  [Side.back]: 4,
  [Side.sharpFar]: 2.25,
  [Side.far]: 1.75,
  [Side.slightFar]: 0.75,
}
const CROSSING_SECONDS = 0.75
const CLIMB_WAIT = [0, 1, 0.4]
const CLIMB_PENALTY = 10

const SMOOTH_SPEEDS = [1, 1]
/** By kind of bicycle: share of the speed that is left on each surface, the worst that is no nuisance, and km/h. */
const BICYCLES: Readonly<Record<string, { surfaceSpeed: readonly number[]; worst: number; speed: number }>> = {
  road: { surfaceSpeed: [...SMOOTH_SPEEDS, 0.9, 0.6, 0.5, 0.3, 0.2, 0], worst: Surface.compacted, speed: 25 },
  cross: { surfaceSpeed: [...SMOOTH_SPEEDS, 1, 0.8, 0.7, 0.5, 0.4, 0], worst: Surface.gravel, speed: 20 },
  hybrid: { surfaceSpeed: [...SMOOTH_SPEEDS, 1, 0.8, 0.6, 0.4, 0.25, 0], worst: Surface.dirt, speed: 18 },
  mountain: { surfaceSpeed: [...SMOOTH_SPEEDS, 1, 1, 0.9, 0.75, 0.55, 0], worst: Surface.path, speed: 16 },
}
const BAD_SURFACE = [1, 2.5, 4.5, 7]
const CLASS_STRESS = [1, 0.4, 0.2, 0.1, 0.05, 0.05, 0, 0.5]
const PATH_CLASS_STRESS = 0.1
/** How much a lane eases the turn onto a road; without and with a shoulder. */
const LANE_EASE = [1, 0.5, 0.25, 0.1, 0.4, 0.5, 0.25, 0.1]
const PATH_EASE = 0.05
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
  terms: (options) => {
    const { number } = options
    const { surfaceSpeed, worst } = BICYCLES[options.text('bicycle_type')]!
    const strict = number('avoid_bad_surfaces') === 1
    const ridden = surfaceSpeed.map((of) => Math.max(1, Math.floor(number('cycling_speed') * of + 0.5)))
    const meters: Expression<EdgeFact> = { fact: 'meters' }
    const time = quotient(product(meters, 3.6), {
      by: 'use',
      cases: { [Use.steps]: STEPS_SPEED, [Use.ferry]: { fact: 'speed' } },
      otherwise: { by: 'dismount', cases: { 1: WALKING_SPEED }, otherwise: speed('speed', 'surface', ridden) },
    })
    return {
      edge: {
        seconds: time,
        cost: options.is('shortest') ? meters : product(time, streetFactor(options, worst)),
      },
      turn: turnTerms(options),
      bounds: { surface: strict ? worst : Surface.path },
      endBounds: { isSteps: 0, ...(strict && { surface: worst }) },
      tolerates: 0,
    }
  },
}

function streetFactor(options: OptionReader, worst: number): Expression<EdgeFact> {
  const { number } = options
  const use = number('use_roads')
  const roads = use >= 0.5 ? 1.5 - use : 2 - use * 2
  const slow = (1 - use) * 0.75 + 0.25
  const rooms = [0.9 + use * 0.05, 0.4 + use * 0.45, 0.15 + use * 0.6]
  const path = factor('room on paths', 'cycleLane', [0.2 + use, 0.2 + use, 0.1 + use * 0.9, use * 0.8])
  const stress = product(
    sum(
      1,
      share(
        'lanes',
        'lanes',
        tabulate(EdgeField.lanes, (lanes) => (lanes > 1 ? (lanes - 1) * LANE_STRESS * roads : 0)),
      ),
      share('lorries', 'truckRoute', [0, TRUCK_STRESS]),
      share('class', 'roadClass', CLASS_STRESS, roads),
    ),
    factor(
      'speed of cars',
      'speed',
      tabulate(TrafficField.speed, (value) => (speedStress(value) - 1) * slow + 1),
    ),
  )
  /** Factor of a kind of street by the room that there is and by how stressful it is. */
  const ridden = (room: Expression<EdgeFact>, stressful: Expression<EdgeFact>): Expression<EdgeFact> => {
    const sidepath = share('beside a path of its own', 'useSidepath', [0, SIDEPATH_SHARE * (1 - use)])
    return product(product(sum(room, sidepath), factor('network', 'bikeNetwork', [1, NETWORK_FACTOR])), stressful)
  }
  const surface = share(
    'bad surface',
    'surface',
    tabulate(EdgeField.surface, (of) =>
      of < worst ? 0 : number('avoid_bad_surfaces') * (BAD_SURFACE[of - worst] ?? Math.max(...BAD_SURFACE)),
    ),
  )
  const onPath = ridden(path, 1)
  return {
    by: 'use',
    cases: { [Use.steps]: STEPS_FACTOR, [Use.ferry]: tastes(options).ferry.factor },
    otherwise: sum(
      1 + (1 - number('use_hills')) * FLAT_HILL_WEIGHT,
      {
        by: 'use',
        cases: {
          [Use.cycleway]: onPath,
          [Use.footway]: onPath,
          [Use.path]: onPath,
          [Use.livingStreet]: ridden(1, 0.2 + use * 0.8),
          [Use.track]: ridden(1, 0.5 + use),
        },
        otherwise: ridden(factor('room', 'room', [1, ...rooms, 0.7 + use * 0.2, ...rooms]), stress),
      },
      surface,
    ),
  }
}

function speedStress(value: number): number {
  if (value <= 40) return value / 40
  return value <= 65 ? value / 25 - 0.6 : value / 50 + 0.7
}

function turnTerms(options: OptionReader): TurnTerms {
  const use = options.number('use_roads')
  const base = entering(options, {
    entered: 'enteredOutside',
    local: 'entersLocal',
    locked: [NodeType.gate, NodeType.bollard],
    tolls: true,
  })
  const turnSeconds = Object.values(TURN_SECONDS)
  const times = [...turnSeconds, ...turnSeconds.map((time) => Math.max(time, CROSSING_SECONDS))]
  const turn = product({ fact: 'stopImpact' as const }, seconds('turn', 'sideAndBetween', times))
  const stress = sum(
    product(
      sum(1, share('stress of turns', 'stoppedSide', TURN_STRESS)),
      factor(
        'class',
        'classOrPath',
        [...CLASS_STRESS, PATH_CLASS_STRESS].map((weight) => weight * (1 - use) + use + 1),
      ),
    ),
    share('waiting for a greater road', 'climbWait', CLIMB_WAIT),
  )
  const climb = product(
    product({ fact: 'climbed' as const }, CLIMB_PENALTY),
    factor(
      'ease of lanes',
      'roomOrPath',
      [...LANE_EASE, PATH_EASE].map((weight) => weight * (1 - use) + use),
    ),
  )
  const cost = options.is('shortest') ? 0 : sum(base.cost, product(turn, sum(stress, 1)), climb)
  return { seconds: sum(base.seconds, turn), cost, searchCost: cost }
}
