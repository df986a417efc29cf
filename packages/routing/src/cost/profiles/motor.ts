import { Surface, Use } from '../../graph/attributes.ts'
import type { EdgeView } from '../edge-view.ts'
import { avoidance, byUse, preferences } from '../preferences.ts'
import { type EdgeCosts, type ModeCosts, type OptionReader, THROUGH_PENALTY } from '../profile.ts'

/** Weight of `use_highways`, by class: motorways, trunk roads. */
const HIGHWAY_SHARE = [1, 0.5, 0, 0, 0, 0, 0, 0]
const SURFACE_SHARE: Readonly<Record<number, number>> = {
  [Surface.pavedSmooth]: 0,
  [Surface.paved]: 0,
  [Surface.pavedRough]: 0,
  [Surface.compacted]: 0.1,
  [Surface.dirt]: 0.2,
  [Surface.gravel]: 0.5,
  [Surface.path]: 1,
  [Surface.impassable]: 0,
}
/** Metres that count as a second in the preference for short routes. */
const METERS_PER_SECOND = 16

type EdgeFigure = (edge: EdgeView) => number

const usualSpeed: EdgeFigure = (edge) => edge.speed

/** Parts of the factor of a street that motor vehicles share, under some options. */
export function motorFactors(options: OptionReader, allowedSpeed = usualSpeed) {
  const { number } = options
  const { tracks, livingStreets, ferry, railFerry } = preferences(options)
  const fixed = number('fixed_speed')
  const top = fixed || number('top_speed')
  const highway = avoidance(number('use_highways'))
  const overSpeedPenalty = number('speed_penalty_factor')
  const useTolls = number('use_tolls')
  const kinds = byUse(
    {
      [Use.track]: tracks.factor,
      [Use.livingStreet]: livingStreets.factor,
      [Use.serviceRoad]: number('service_factor'),
    },
    1,
  )
  return {
    /** Highest speed of the vehicle, km/h. */
    top,
    /** Km/h that the vehicle drives. */
    speed: (edge: EdgeView) => fixed || Math.min(allowedSpeed(edge), top),
    density: (edge: EdgeView) => 0.85 + 0.025 * edge.density,
    highways: (edge: EdgeView) => highway * HIGHWAY_SHARE[edge.roadClass]!,
    surface: (edge: EdgeView) => SURFACE_SHARE[edge.surface]!,
    /** Part of the factor for streets that are faster than the vehicle. */
    overSpeed: (edge: EdgeView) => (fixed > 0 ? 0 : overSpeedPenalty * Math.max(0, allowedSpeed(edge) - top)),
    toll: (edge: EdgeView, dislike: number) => {
      if (!edge.hasToll) return 0
      return useTolls >= 0.5 ? (0.5 - useTolls) * 0.03 : dislike * (1 - 2 * useTolls)
    },
    /** Factor of tracks, living streets and service roads. */
    kind: (edge: EdgeView) => kinds[edge.use]!,
    ferry: ferry.factor,
    railFerry: railFerry.factor,
  }
}

/** Costs of edges from the speed and the factor of a mode, and its preference for short routes. */
export function motorEdges(
  { number, is }: OptionReader,
  speed: EdgeFigure,
  factor: EdgeFigure,
  distanceShare = number('use_distance'),
): EdgeCosts {
  const seconds: EdgeFigure = (edge) => (edge.meters * 3.6) / speed(edge)
  if (is('shortest')) return { seconds, cost: (edge) => edge.meters }
  const timeShare = 1 - distanceShare
  return {
    seconds,
    cost: (edge) => {
      const time = timeShare === 0 ? 0 : seconds(edge) * timeShare
      return (time + (edge.meters * distanceShare) / METERS_PER_SECOND) * factor(edge)
    },
  }
}

/** Rules of motor vehicles for surfaces up to a roughness; they may begin on any edge. */
export function upTo(surface: number): Pick<ModeCosts, 'mayPass' | 'mayEnd' | 'throughLocal'> {
  return { mayPass: (edge) => edge.surface <= surface, mayEnd: () => true, throughLocal: THROUGH_PENALTY }
}
