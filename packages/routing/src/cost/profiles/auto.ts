import { Access, Limit, Surface, Use } from '../../graph/attributes.ts'
import type { EdgeView } from '../edge-view.ts'
import {
  COMMON,
  duration,
  FAST_STREETS,
  type OptionTable,
  preference,
  RAIL_FERRIES,
  TOLL_BOOTHS,
  weight,
} from '../option-table.ts'
import type { ModeCosts, OptionReader, Profile } from '../profile.ts'
import { motorTurns } from '../turn-cost.ts'
import { motorEdges, motorFactors, upTo } from './motor.ts'

const OPTIONS: OptionTable = {
  ...COMMON,
  ...FAST_STREETS,
  ...TOLL_BOOTHS,
  ...RAIL_FERRIES,
  service_penalty: duration(75),
  use_tracks: preference(0),
  alley_factor: weight(1),
  use_highways: preference(0.5),
  use_tolls: preference(0.5),
  use_distance: preference(0),
  height: [0, 1.6, 10],
  width: [0, 1.9, 10],
  // Since Valhalla 3.6.2.
  length: [0, 2.7, 50],
  weight: [0, 0.8, 100],
  top_speed: [10, 140, 252],
  include_hot: false,
  include_hov2: false,
  include_hov3: false,
}
const SURFACE_WEIGHT = 0.5
const TOLL_DISLIKE = 4

function carCosts(options: OptionReader): ModeCosts {
  const { density, highways, surface, overSpeed, toll, kind, ferry, railFerry, speed } = motorFactors(options)
  const alley = options.number('alley_factor')
  const factor = (edge: EdgeView): number => {
    const { use } = edge
    const rough = surface(edge) * SURFACE_WEIGHT
    const tolled = toll(edge, TOLL_DISLIKE)
    if (use === Use.ferry || use === Use.railFerry) {
      return (use === Use.ferry ? ferry : railFerry) + (overSpeed(edge) + (highways(edge) + rough)) + tolled
    }
    const street = density(edge) + (highways(edge) + rough + overSpeed(edge) + tolled)
    return street * (use === Use.alley ? alley : kind(edge))
  }
  return {
    edge: motorEdges(options, speed, factor),
    turn: motorTurns(options, { turnsAroundInside: true }),
    ...upTo(Surface.path),
  }
}

export const AUTO: Profile = {
  family: 'motor',
  source: 'Valhalla 3.6 sif/autocost.cc',
  access: Access.car,
  travelMode: 'drive',
  travelType: 'car',
  options: OPTIONS,
  sizes: {
    [Limit.maxHeight]: 'height',
    [Limit.maxWidth]: 'width',
    [Limit.maxLength]: 'length',
    [Limit.maxWeight]: 'weight',
  },
  excludesUnpaved: true,
  paysTolls: true,
  farPenalty: 43200,
  most: { locations: 20, meters: 5_000_000, matrixMeters: 400_000 },
  costs: carCosts,
}

/** A car with the access of buses. */
export const BUS: Profile = {
  ...AUTO,
  access: Access.bus,
  travelType: 'bus',
  most: { ...AUTO.most, locations: 50 },
}

/** Factor of streets that private cars may not use, because traffic on them is fast. */
const TAXI_LANE_FACTOR = 0.85

/** A car with the access of taxis. It ignores surface, tolls and motorways, and weighs distance on turns only. */
export const TAXI: Profile = {
  ...AUTO,
  access: Access.taxi,
  costs: (options) => {
    const { density, overSpeed, kind, ferry, speed } = motorFactors(options)
    const alley = options.number('alley_factor')
    const factor = (edge: EdgeView): number => {
      if (edge.use === Use.ferry) return ferry + overSpeed(edge)
      const isTaxiLane = (edge.access & (Access.taxi | Access.car)) === Access.taxi
      const street = (density(edge) + overSpeed(edge)) * (isTaxiLane ? TAXI_LANE_FACTOR : 1)
      return street * (edge.use === Use.alley ? alley : kind(edge))
    }
    return { ...carCosts(options), edge: motorEdges(options, speed, factor, 0) }
  },
}
