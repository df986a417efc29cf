import { NodeType, Surface, Use } from '../../graph/attributes.ts'
import { NodeField, TrafficField } from '../../graph/fields.ts'
import { type Expression, factor, product, quotient, seconds, share, speed, sum, tabulate } from '../expression.ts'
import { type EdgeFact, Side, type TurnFact } from '../facts.ts'
import type { EdgeTerms, OptionReader, Terms, TurnTerms } from '../profile.ts'
import { entering, tastes } from './entering.ts'
import { TURN_TIMES } from './turn-time.ts'

/**
 * Crossing a street for local traffic from end to end costs this many seconds on top, once: more than any detour within
 * a region, less than giving up. Valhalla forbids it and only tries again without if nothing is found.
 */
const THROUGH_PENALTY = 43200

const TURN_WEIGHTS = {
  [Side.straight]: 0.5,
  [Side.slightNear]: 0.75,
  [Side.near]: 1,
  [Side.sharpNear]: 1.5,
  [Side.back]: 9.5,
  [Side.sharpFar]: 3.5,
  [Side.far]: 2.5,
  [Side.slightFar]: 0.75,
  [Side.crossing]: 2,
}
const RAMP_WEIGHTS = [0, 1.5, 2]
/** What facts know as turning around. */
const AROUND = 1
const PENCIL_POINT = 2
const U_TURN_COST = 600
const PENCIL_POINT_FACTOR = 15
const U_TURN_SECONDS = 20
const SIGNAL_SECONDS = 2
/** Stops take longer in towns. */
const STOP_DENSITY = [1, 1, 1, 1, 1, 1.1, 1.2, 1.3, 1.4, 1.6, 1.9, 2.2, 2.5, 2.8, 3.1, 3.5]

const HIGHWAY_SHARE = [1, 0.5]
const SURFACE_SHARE = {
  [Surface.compacted]: 0.1,
  [Surface.dirt]: 0.2,
  [Surface.gravel]: 0.5,
  [Surface.path]: 1,
}
/** Metres that a preference for short ways takes for a second. */
const METERS_PER_SECOND = 16

/** Terms of streets that modes with an engine share, under some options. */
export function streetTerms(options: OptionReader, allowedSpeed: 'speed' | 'slowerSpeed' = 'speed') {
  const { number } = options
  const { tracks, livingStreets, ferry, railFerry } = tastes(options)
  const fixed = number('fixed_speed')
  const top = fixed || number('top_speed')
  return {
    top,
    speed:
      fixed ||
      speed(
        'speed',
        allowedSpeed,
        tabulate(TrafficField.speed, (value) => Math.min(value, top)),
      ),
    density: share(
      'density',
      'density',
      tabulate(NodeField.density, (density) => 0.85 + 0.025 * density),
    ),
    highways: share('highways', 'roadClass', HIGHWAY_SHARE, avoidance(number('use_highways'))),
    surface: (weight: number) => share('surface', 'surface', SURFACE_SHARE, weight),
    overSpeed: share(
      'faster than the vehicle',
      allowedSpeed,
      tabulate(TrafficField.speed, (value) => (fixed > 0 ? 0 : Math.max(0, value - top))),
      number('speed_penalty_factor'),
    ),
    toll: (dislike: number) => {
      const use = number('use_tolls')
      return share('toll', 'toll', [0, use >= 0.5 ? (0.5 - use) * 0.03 : dislike * (1 - 2 * use)])
    },
    kinds: (more: Readonly<Record<number, number>> = {}) =>
      factor('kind of street', 'use', {
        [Use.track]: tracks.factor,
        [Use.livingStreet]: livingStreets.factor,
        [Use.serviceRoad]: number('service_factor'),
        ...more,
      }),
    ferry: ferry.factor,
    railFerry: railFerry.factor,
  }
}

/** What an edge costs by the time and the factor of a mode, and by the preference for short ways. */
export function edgeTerms(
  { number, is }: OptionReader,
  speedExpression: Expression<EdgeFact>,
  weight: Expression<EdgeFact>,
  distanceShare = number('use_distance'),
): EdgeTerms {
  const meters: Expression<EdgeFact> = { fact: 'meters' }
  const time = quotient(product(meters, 3.6), speedExpression)
  const mixed = sum(product(time, 1 - distanceShare), quotient(product(meters, distanceShare), METERS_PER_SECOND))
  return { seconds: time, cost: is('shortest') ? meters : product(mixed, weight) }
}

/** What differs between modes about turns. */
interface Turning {
  /** Two turns to the far side inside a crossing are turning around. */
  readonly aroundInside: boolean
  /** What entering a street costs besides. */
  readonly more?: Expression<TurnFact>
  readonly local?: TurnFact
}

/** What turns cost and take a vehicle. */
export function turnTerms(options: OptionReader, { aroundInside, more = 0, local }: Turning): TurnTerms {
  const base = entering(options, {
    entered: 'enteredOutside',
    local: local ?? 'entersLocal',
    locked: [NodeType.gate, NodeType.bollard],
    tolls: true,
  })
  const cost = (around: 'around' | 'aroundInside'): Expression<TurnFact> =>
    product(sum(base.cost, more, options.is('shortest') ? 0 : stopCost(around)), 1 - options.number('use_distance'))
  return {
    seconds: sum(
      base.seconds,
      sum(
        seconds('signal', 'signal', [0, SIGNAL_SECONDS]),
        seconds('turn', 'angle', TURN_TIMES),
        seconds('turning back', 'side', { [Side.back]: U_TURN_SECONDS }),
      ),
    ),
    cost: cost('around'),
    searchCost: cost(aroundInside ? 'aroundInside' : 'around'),
  }
}

/** What a turn costs where one may have to stop. */
function stopCost(around: 'around' | 'aroundInside'): Expression<TurnFact> {
  const weight = sum(share('turn', 'sideOrCrossing', TURN_WEIGHTS), share('ramp', 'ramp', RAMP_WEIGHTS))
  const stops = product(weight, { fact: 'stopImpact' })
  return {
    by: 'stopImpact',
    cases: { 0: 0 },
    otherwise: product(
      sum(stops, seconds('turning around', around, { [AROUND]: U_TURN_COST })),
      factor('pencil point', around, { [PENCIL_POINT]: PENCIL_POINT_FACTOR }),
      factor('stops in towns', 'density', STOP_DENSITY),
    ),
  }
}

/** Rules of modes with an engine that use what is not worse than some surface, and begin anywhere. */
export function upTo(surface: number): Pick<Terms, 'bounds' | 'endBounds' | 'tolerates' | 'throughLocal'> {
  return { bounds: { surface }, endBounds: {}, tolerates: 0, throughLocal: THROUGH_PENALTY }
}

/** Zero at 0.5, slowly down to −0.125 for those who like it, up to 8 for those who do not. */
export function avoidance(use: number): number {
  return use >= 0.5 ? (0.5 - use) ** 3 : 8 * (1 - 2 * use) ** 2
}
