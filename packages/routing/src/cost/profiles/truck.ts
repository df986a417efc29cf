import { Access, Limit, RoadClass, Surface, Use } from '../../graph/attributes.ts'
import type { EdgeView } from '../edge-view.ts'
import { COMMON, duration, FAST_STREETS, MOST_SECONDS, preference, RAIL_FERRIES, TOLL_BOOTHS } from '../option-table.ts'
import { steep } from '../preferences.ts'
import type { EdgeCosts, OptionReader, Profile, TurnCosts } from '../profile.ts'
import { motorTurns } from '../turn-cost.ts'
import { motorEdges, motorFactors, upTo } from './motor.ts'

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
  excludesUnpaved: true,
  paysTolls: true,
  farPenalty: 43200,
  most: { locations: 20, meters: 5_000_000, matrixMeters: 400_000 },
  costs: (options) => {
    const { number } = options
    const tolerated = number('hgv_no_access_penalty')
    return {
      edge: truckEdges(options),
      turn: truckTurns(options, tolerated),
      ...upTo(Surface.path),
      tolerates: tolerated < MOST_SECONDS ? Access.car : 0,
    }
  },
}

function truckEdges(options: OptionReader): EdgeCosts {
  const { density, highways, surface, overSpeed, toll, kind, ferry, railFerry, speed } = motorFactors(
    options,
    slowerSpeed,
  )
  const fixed = options.number('fixed_speed')
  // The truck speed of an edge takes precedence over a higher fixed speed of the request.
  const fixedSpeed = (edge: EdgeView): number => Math.min(edge.truckSpeed || fixed, fixed)
  const offRoute = steep(options.number('use_truck_route'))
  const factor = (edge: EdgeView): number => {
    const { use } = edge
    const route = edge.isTruckRoute ? ROUTE_FACTOR : offRoute
    const tolled = toll(edge, TOLL_DISLIKE)
    if (use === Use.ferry) return ferry * route + tolled
    if (use === Use.railFerry) return railFerry * route + tolled
    const street = density(edge) + highways(edge) + surface(edge) * SURFACE_WEIGHT + overSpeed(edge)
    return (street * route + tolled) * kind(edge)
  }
  return motorEdges(options, fixed > 0 ? fixedSpeed : speed, factor)
}

/** Speed of trucks in km/h: their own limit if it is lower. */
function slowerSpeed({ speed, truckSpeed }: EdgeView): number {
  return truckSpeed > 0 && truckSpeed < speed ? truckSpeed : speed
}

function truckTurns(options: OptionReader, closedPenalty: number): TurnCosts {
  const lowClassPenalty = options.number('low_class_penalty')
  return motorTurns(options, {
    turnsAroundInside: true,
    more: (turn) => {
      const isLowClass = turn.roadClass === RoadClass.residential || turn.roadClass === RoadClass.service
      return (isLowClass ? lowClassPenalty : 0) + (turn.entersClosed ? closedPenalty : 0)
    },
    ignoresDriveways: true,
  })
}
