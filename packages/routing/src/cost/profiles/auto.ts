import { Access, Limit, Surface, Use } from '../../graph/attributes.ts'
import { EdgeField } from '../../graph/fields.ts'
import { factor, product, sum, tabulate } from '../expression.ts'
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
import type { OptionReader, Profile, Terms } from '../profile.ts'
import { edgeTerms, streetTerms, turnTerms, upTo } from './motor.ts'

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

function carTerms(options: OptionReader): Terms {
  const { density, highways, surface, overSpeed, toll, kinds, ferry, railFerry, speed } = streetTerms(options)
  const rough = surface(SURFACE_WEIGHT)
  const tolled = toll(TOLL_DISLIKE)
  const carried = sum(overSpeed, sum(highways, rough))
  const factors = {
    by: 'use' as const,
    cases: { [Use.ferry]: sum(ferry, carried, tolled), [Use.railFerry]: sum(railFerry, carried, tolled) },
    otherwise: product(
      sum(density, sum(highways, rough, overSpeed, tolled)),
      kinds({ [Use.alley]: options.number('alley_factor') }),
    ),
  }
  return {
    edge: edgeTerms(options, speed, factors),
    turn: turnTerms(options, { aroundInside: true }),
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
  terms: carTerms,
}

/** A car where buses may go. */
export const BUS: Profile = {
  ...AUTO,
  access: Access.bus,
  travelType: 'bus',
  most: { ...AUTO.most, locations: 50 },
}

/** Lanes that private cars may not use are fast. */
const TAXI_LANE_FACTOR = 0.85
const TAXI_LANES = tabulate(EdgeField.access, (access) =>
  (access & Access.taxi) !== 0 && (access & Access.car) === 0 ? TAXI_LANE_FACTOR : 1,
)

/** A car where taxis may go, to which surfaces, tolls and motorways are all the same; it weighs distance on turns only. */
export const TAXI: Profile = {
  ...AUTO,
  access: Access.taxi,
  terms: (options) => {
    const { density, overSpeed, kinds, ferry, speed } = streetTerms(options)
    const factors = {
      by: 'use' as const,
      cases: { [Use.ferry]: sum(ferry, overSpeed) },
      otherwise: product(
        sum(density, overSpeed),
        factor('lanes for taxis', 'access', TAXI_LANES),
        kinds({ [Use.alley]: options.number('alley_factor') }),
      ),
    }
    return { ...carTerms(options), edge: edgeTerms(options, speed, factors, 0) }
  },
}
