import { Access, Surface, Use } from '../../graph/attributes.ts'
import type { EdgeView } from '../edge-view.ts'
import { COMMON, FAST_STREETS, preference, TOLL_BOOTHS } from '../option-table.ts'
import { avoidance } from '../preferences.ts'
import type { Profile } from '../profile.ts'
import { motorTurns } from '../turn-cost.ts'
import { motorEdges, motorFactors, upTo } from './motor.ts'

const TOLL_DISLIKE = 2

export const MOTORCYCLE: Profile = {
  family: 'motor',
  source: 'Valhalla 3.6 sif/motorcyclecost.cc',
  access: Access.motorcycle,
  travelMode: 'drive',
  travelType: 'motorcycle',
  options: {
    ...COMMON,
    ...FAST_STREETS,
    ...TOLL_BOOTHS,
    use_highways: preference(0.5),
    use_tolls: preference(0.5),
    use_trails: preference(0),
    top_speed: [10, 140, 252],
  },
  sizes: {},
  paysTolls: true,
  farPenalty: 14400,
  most: { locations: 50, meters: 500_000, matrixMeters: 200_000 },
  costs: (options) => {
    const { density, highways, surface, overSpeed, toll, kind, ferry, speed } = motorFactors(options)
    const trails = avoidance(options.number('use_trails'))
    const surfaceWeight = trails > 0 ? Math.trunc(trails) : trails
    const factor = (edge: EdgeView): number => {
      if (edge.use === Use.ferry) return ferry
      const rough = surface(edge) * surfaceWeight
      return (density(edge) + (highways(edge) + rough + overSpeed(edge) + toll(edge, TOLL_DISLIKE))) * kind(edge)
    }
    return { edge: motorEdges(options, speed, factor), turn: motorTurns(options), ...upTo(Surface.impassable) }
  },
}
