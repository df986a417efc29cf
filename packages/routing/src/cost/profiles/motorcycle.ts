import { Access, Surface, Use } from '../../graph/attributes.ts'
import { product, sum } from '../expression.ts'
import { COMMON, FAST_STREETS, preference, TOLL_BOOTHS } from '../option-table.ts'
import type { Profile } from '../profile.ts'
import { avoidance, edgeTerms, streetTerms, turnTerms, upTo } from './motor.ts'

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
  terms: (options) => {
    const { density, highways, surface, overSpeed, toll, kinds, ferry, speed } = streetTerms(options)
    const trails = avoidance(options.number('use_trails'))
    const rough = surface(trails > 0 ? Math.trunc(trails) : trails)
    return {
      edge: edgeTerms(options, speed, {
        by: 'use',
        cases: { [Use.ferry]: ferry },
        otherwise: product(sum(density, sum(highways, rough, overSpeed, toll(TOLL_DISLIKE))), kinds()),
      }),
      turn: turnTerms(options, { aroundInside: false }),
      ...upTo(Surface.impassable),
    }
  },
}
