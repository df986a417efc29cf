import { Access, Surface, Use } from '../../graph/attributes.ts'
import type { EdgeView } from '../edge-view.ts'
import { COMMON, duration, FAST_STREETS, preference } from '../option-table.ts'
import type { Profile } from '../profile.ts'
import { motorTurns } from '../turn-cost.ts'
import { motorEdges, motorFactors, upTo } from './motor.ts'

const CLASS_WEIGHTS = [1, 0.5, 0.2, 0.1, 0.05, 0.05, 0, 0.5]
/** Factor of the speed on each surface. */
const SURFACE_SPEED = [1, 1, 0.9, 0.6, 0.1, 0, 0, 0]
const FLAT_HILL_WEIGHT = 0.05
const BASE = 0.15
const LOCAL_SHARE = 0.2

export const MOTOR_SCOOTER: Profile = {
  family: 'motor',
  source: 'Valhalla 3.6 sif/motorscootercost.cc',
  access: Access.moped,
  travelMode: 'drive',
  travelType: 'motor_scooter',
  options: {
    ...COMMON,
    ...FAST_STREETS,
    destination_only_penalty: duration(120),
    use_hills: preference(0.5),
    use_primary: preference(0.5),
    top_speed: [20, 45, 120],
  },
  sizes: {},
  paysTolls: true,
  farPenalty: 14400,
  most: { locations: 50, meters: 500_000, matrixMeters: 200_000 },
  costs: (options) => {
    const { number } = options
    const { density, overSpeed, kind, ferry, top } = motorFactors(options)
    const primary = number('use_primary')
    const roads = primary >= 0.5 ? 1.5 - primary : 3 - primary * 5
    const hills = (1 - number('use_hills')) * FLAT_HILL_WEIGHT
    const fixed = number('fixed_speed')
    const speed = (edge: EdgeView): number => {
      if (edge.use === Use.ferry) return fixed || edge.speed
      return Math.max(1, Math.trunc(Math.min(top, fixed || edge.speed) * SURFACE_SPEED[edge.surface]!))
    }
    const factor = (edge: EdgeView): number => {
      if (edge.use === Use.ferry) return ferry
      const dislike = BASE + CLASS_WEIGHTS[edge.roadClass]! * roads + hills + overSpeed(edge)
      return (density(edge) + dislike + (edge.isLocal ? LOCAL_SHARE : 0)) * kind(edge)
    }
    return { edge: motorEdges(options, speed, factor), turn: motorTurns(options), ...upTo(Surface.dirt) }
  },
}
