import { Access, Limit, RoadClass, Surface, Use } from '../../graph/attributes.ts'
import { TrafficField } from '../../graph/fields.ts'
import { factor, product, seconds, speed, sum, tabulate } from '../expression.ts'
import { COMMON, duration, FAST_STREETS, MOST_SECONDS, preference, RAIL_FERRIES, TOLL_BOOTHS } from '../option-table.ts'
import type { Profile } from '../profile.ts'
import { steep } from './entering.ts'
import { edgeTerms, streetTerms, turnTerms, upTo } from './motor.ts'

const SURFACE_WEIGHT = 1
const TOLL_DISLIKE = 2
const ROUTE_FACTOR = 0.85

export const TRUCK: Profile = {
  family: 'motor',
  source: 'Valhalla 3.6 sif/truckcost.cc',
  access: Access.truck,
  travelMode: 'drive',
  travelType: 'truck',
  options: {
    ...COMMON,
    ...FAST_STREETS,
    ...TOLL_BOOTHS,
    ...RAIL_FERRIES,
    service_penalty: duration(0),
    use_tracks: preference(0),
    use_living_streets: preference(0),
    low_class_penalty: duration(30),
    hazmat: false,
    weight: [0, 21.77, 100],
    axle_load: [0, 9.07, 40],
    height: [0, 4.11, 10],
    width: [0, 2.6, 10],
    length: [0, 21.64, 50],
    axle_count: [2, 5, 20],
    use_tolls: preference(0.5),
    use_highways: preference(0.5),
    use_truck_route: preference(0),
    top_speed: [10, 120, 252],
    hgv_no_access_penalty: duration(MOST_SECONDS),
  },
  sizes: {
    [Limit.maxHeight]: 'height',
    [Limit.maxWidth]: 'width',
    [Limit.maxLength]: 'length',
    [Limit.maxWeight]: 'weight',
    [Limit.maxAxleLoad]: 'axle_load',
    [Limit.maxAxles]: 'axle_count',
    [Limit.hazmat]: 'hazmat',
  },
  isLorry: true,
  excludesUnpaved: true,
  paysTolls: true,
  farPenalty: 43200,
  most: { locations: 20, meters: 5_000_000, matrixMeters: 400_000 },
  terms: (options) => {
    const { number } = options
    const street = streetTerms(options, 'slowerSpeed')
    const { density, highways, surface, overSpeed, toll, kinds, ferry, railFerry } = street
    const fixed = number('fixed_speed')
    // A speed that a request fixes gives way to that of lorries alone.
    const ownSpeed = fixed
      ? speed(
          'speed of lorries',
          'lorrySpeed',
          tabulate(TrafficField.truckSpeed, (value) => Math.min(value || fixed, fixed)),
        )
      : street.speed
    const route = factor('routes of lorries', 'truckRoute', [steep(number('use_truck_route')), ROUTE_FACTOR])
    const tolled = toll(TOLL_DISLIKE)
    const weight = {
      by: 'use' as const,
      cases: {
        [Use.ferry]: sum(product(ferry, route), tolled),
        [Use.railFerry]: sum(product(railFerry, route), tolled),
      },
      otherwise: product(
        sum(product(sum(density, highways, surface(SURFACE_WEIGHT), overSpeed), route), tolled),
        kinds(),
      ),
    }
    const tolerated = number('hgv_no_access_penalty')
    const low = number('low_class_penalty')
    return {
      edge: edgeTerms(options, ownSpeed, weight),
      turn: turnTerms(options, {
        aroundInside: true,
        more: sum(
          seconds('streets of low class', 'enteredClass', { [RoadClass.residential]: low, [RoadClass.service]: low }),
          seconds('streets closed to lorries', 'entersClosed', [0, tolerated]),
        ),
        local: 'lorryEntersLocal',
      }),
      ...upTo(Surface.path),
      tolerates: tolerated < MOST_SECONDS ? Access.car : 0,
    }
  },
}
