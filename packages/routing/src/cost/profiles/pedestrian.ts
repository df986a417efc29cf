import { Access, Surface, Use } from '../../graph/attributes.ts'
import type { EdgeView } from '../edge-view.ts'
import { COMMON, duration, MOST_SECONDS, preference, weight } from '../option-table.ts'
import { byUse, preferences } from '../preferences.ts'
import { type EdgeCosts, type OptionReader, type Profile, THROUGH_PENALTY } from '../profile.ts'
import { pedestrianTurns } from '../turn-cost.ts'

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
  costs: (options) => {
    const hiking = options.text('type') === 'foot' ? options.number('max_hiking_difficulty') : 0
    const surface = options.text('type') === 'wheelchair' ? Surface.compacted : Surface.path
    return {
      edge: pedestrianEdges(options),
      turn: pedestrianTurns(options),
      mayPass: (edge) => edge.surface <= surface && edge.hikingDifficulty <= hiking,
      mayEnd: (edge) => edge.use !== Use.railFerry && edge.hikingDifficulty <= hiking,
      throughLocal: THROUGH_PENALTY,
    }
  },
}

function pedestrianEdges(options: OptionReader): EdgeCosts {
  const { number } = options
  const { tracks, livingStreets, ferry, unlit } = preferences(options)
  const secondsPerMeter = 3.6 / number('walking_speed')
  const sidewalk = number('sidewalk_factor')
  const kinds = byUse(
    {
      [Use.footway]: number('walkway_factor'),
      [Use.sidewalk]: number('walkway_factor'),
      [Use.alley]: number('alley_factor'),
      [Use.driveway]: number('driveway_factor'),
      [Use.track]: tracks.factor,
      [Use.livingStreet]: livingStreets.factor,
      [Use.serviceRoad]: number('service_factor'),
    },
    0,
  )
  const beside = (edge: EdgeView): number => {
    if (edge.hasSidewalk) return sidewalk
    return edge.isRoundabout ? ROUNDABOUT_FACTOR : 1
  }
  const seconds = (edge: EdgeView): number => {
    if (edge.use === Use.ferry) return (edge.meters * 3.6) / edge.speed
    return edge.meters * secondsPerMeter * HIKING_SLOWNESS[edge.hikingDifficulty]!
  }
  if (options.is('shortest')) return { seconds, cost: (edge) => edge.meters }
  return {
    seconds,
    cost: (edge) => {
      const { use } = edge
      if (use === Use.ferry) return seconds(edge) * ferry.factor
      const kind = kinds[use]! || beside(edge)
      return seconds(edge) * HIKING_FACTOR[edge.hikingDifficulty]! * kind * (edge.isLit ? 1 : unlit)
    },
  }
}
