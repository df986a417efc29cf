import { Access, NodeType, Surface, Use } from '../../graph/attributes.ts'
import { type Expression, factor, product, quotient, seconds, sum } from '../expression.ts'
import type { EdgeFact, TurnFact } from '../facts.ts'
import { COMMON, duration, MOST_SECONDS, preference, weight } from '../option-table.ts'
import type { OptionReader, Profile } from '../profile.ts'
import { entering, tastes } from './entering.ts'

/** Seconds to cross an intersection, by how likely one has to stop. */
const CROSSING_SECONDS = [0, 0, 1, 1, 2, 3, 5, 15]
/** Time and cost on mountain paths, by difficulty. */
const HIKING_SLOWNESS = [1, 1.11, 1.25, 1.54, 2.5, 4, 6.67]
const HIKING_FACTOR = [1, 1.25, 1.75, 2.25, 3, 3.5, 4]
const ROUNDABOUT_FACTOR = 2

export const PEDESTRIAN: Profile = {
  family: 'foot',
  source: 'Valhalla 3.6 sif/pedestriancost.cc',
  access: { foot: Access.foot, blind: Access.foot, wheelchair: Access.wheelchair },
  travelMode: 'pedestrian',
  travelType: { option: 'type' },
  options: {
    ...COMMON,
    gate_penalty: duration(10),
    private_access_penalty: duration(600),
    service_penalty: duration(0),
    use_ferry: preference(1),
    use_living_streets: preference(0.6),
    type: ['foot', 'wheelchair', 'blind'],
    walking_speed: [0.5, 0, 25],
    step_penalty: [0, -1, MOST_SECONDS],
    elevator_penalty: duration(5),
    max_hiking_difficulty: [0, 1, 6],
    walkway_factor: weight(1),
    sidewalk_factor: weight(1),
    alley_factor: weight(2),
    driveway_factor: weight(5),
    use_hills: preference(0.5),
  },
  defaults: {
    walking_speed: { unset: 0, by: 'type', values: { foot: 5.1, wheelchair: 4, blind: 5.1 } },
    step_penalty: { unset: -1, by: 'type', values: { foot: 30, wheelchair: 600, blind: 30 } },
  },
  sizes: {},
  farPenalty: 7200,
  most: { locations: 50, meters: 250_000, matrixMeters: 200_000 },
  terms: (options) => {
    const meters: Expression<EdgeFact> = { fact: 'meters' }
    const walked = product(
      meters,
      3.6 / options.number('walking_speed'),
      factor('slower on mountain paths', 'hiking', HIKING_SLOWNESS),
    )
    const time: Expression<EdgeFact> = {
      by: 'use',
      cases: { [Use.ferry]: quotient(product(meters, 3.6), { fact: 'speed' }) },
      otherwise: walked,
    }
    const hiking = options.text('type') === 'foot' ? options.number('max_hiking_difficulty') : 0
    const surface = options.text('type') === 'wheelchair' ? Surface.compacted : Surface.path
    const turn = turnTerms(options)
    return {
      edge: { seconds: time, cost: options.is('shortest') ? meters : streetCost(options, time) },
      turn: { ...turn, searchCost: turn.cost },
      bounds: { surface, hiking },
      endBounds: { isRailFerry: 0, hiking },
      tolerates: 0,
    }
  },
}

function streetCost(options: OptionReader, time: Expression<EdgeFact>): Expression<EdgeFact> {
  const { number } = options
  const { tracks, livingStreets, ferry, unlit } = tastes(options)
  return {
    by: 'use',
    cases: { [Use.ferry]: product(time, ferry.factor) },
    otherwise: product(
      time,
      factor('difficulty of mountain paths', 'hiking', HIKING_FACTOR),
      {
        by: 'use',
        cases: {
          [Use.footway]: number('walkway_factor'),
          [Use.sidewalk]: number('walkway_factor'),
          [Use.alley]: number('alley_factor'),
          [Use.driveway]: number('driveway_factor'),
          [Use.track]: tracks.factor,
          [Use.livingStreet]: livingStreets.factor,
          [Use.serviceRoad]: number('service_factor'),
        },
        otherwise: factor('beside a street', 'beside', [1, number('sidewalk_factor'), ROUNDABOUT_FACTOR]),
      },
      factor('light', 'lit', [unlit, 1]),
    ),
  }
}

/** The penalty of stairs or a lift stands for all other costs of the turn. */
function turnTerms(options: OptionReader): { cost: Expression<TurnFact>; seconds: Expression<TurnFact> } {
  const base = entering(options, { entered: 'entered', local: 'entersLocal', locked: [NodeType.gate], tolls: false })
  const crossing = seconds('crossing', 'crossed', CROSSING_SECONDS)
  return {
    seconds: orStairs(0, 0, sum(base.seconds, crossing)),
    cost: orStairs(
      options.number('step_penalty'),
      options.number('elevator_penalty'),
      options.is('shortest') ? 0 : sum(base.cost, crossing),
    ),
  }
}

function orStairs(stairs: number, lift: number, otherwise: Expression<TurnFact>): Expression<TurnFact> {
  return { by: 'stepsOrLift', cases: { 1: stairs, 2: lift }, otherwise }
}
