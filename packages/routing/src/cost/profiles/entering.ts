import { NodeType, Use } from '../../graph/attributes.ts'
import { BARRIER, type TurnFact } from '../facts.ts'
import { type Expression, seconds, sum } from '../expression.ts'
import type { OptionReader } from '../profile.ts'

/** How a preference of 0 (avoid) over 0.5 (no matter) to 1 (like) weighs: seconds when entering, and factors. */
interface Taste {
  readonly penalty: number
  readonly least: number
  readonly most: number
}

const TRACKS: Taste = { penalty: 300, least: 0.8, most: 4 }
const LIVING_STREETS: Taste = { penalty: 500, least: 0.8, most: 3 }
const MOST_FERRY_SECONDS = 6 * 3600

/** Factor and penalty of kinds of streets that options tell to like or to avoid. */
export function tastes({ number }: OptionReader) {
  const lit = number('use_lit')
  return {
    tracks: tasteOf(number('use_tracks'), TRACKS),
    livingStreets: tasteOf(number('use_living_streets'), LIVING_STREETS),
    ferry: ferryTaste(number('use_ferry')),
    railFerry: ferryTaste(number('use_rail_ferry')),
    unlit: steep(lit),
  }
}

/** Rises slowly from 1 to 2 in the middle and from there on to 8. */
export function steep(use: number): number {
  return use < 0.5 ? 1 + 2 * use : -4 + 12 * use
}

function tasteOf(use: number, { penalty, least, most }: Taste): { factor: number; penalty: number } {
  if (use < 0.5) return { factor: most - 2 * use * (most - 1), penalty: penalty * (1 - 2 * use) }
  return { factor: least + 2 * (1 - use) * (1 - least), penalty: 0 }
}

function ferryTaste(use: number): { factor: number; penalty: number } {
  if (use >= 0.5) return { factor: 1.5 - use, penalty: 0 }
  return { factor: 10 - use * 18, penalty: Math.trunc(MOST_FERRY_SECONDS * (1 - use * 2)) }
}

/** Which facts of turns a mode goes by, where modes differ. */
interface EnteringFacts {
  readonly entered: TurnFact
  readonly local: TurnFact
  /** Kinds of barriers that one has to unlock where they are private. */
  readonly locked: readonly number[]
  readonly tolls: boolean
}

/**
 * What entering a street costs and takes apart from the turn itself: barriers, tolls, ferries, unwelcome kinds of street.
 * Source: Valhalla 3.6 `sif/dynamiccost.h`.
 */
export function entering(
  options: OptionReader,
  { entered, local, locked, tolls }: EnteringFacts,
): { cost: Expression<TurnFact>; seconds: Expression<TurnFact> } {
  const { number } = options
  const { tracks, livingStreets, ferry, railFerry } = tastes(options)
  /** Terms for what one waits for, with a penalty on top or as time alone. */
  const waits = (penalized: boolean): Expression<TurnFact>[] => {
    const wait = (cost: string, penalty: number): number => number(cost) + (penalized ? penalty : 0)
    return [
      seconds('barriers', 'barrier', {
        ...standing([NodeType.borderControl], () => wait('country_crossing_cost', number('country_crossing_penalty'))),
        ...standing(locked, (tagged, isPrivate, type) => {
          const gate = type === NodeType.gate && !tagged ? wait('gate_cost', number('gate_penalty')) : 0
          return gate + (isPrivate ? wait('gate_cost', number('private_access_penalty')) : 0)
        }),
      }),
      ...(tolls ? [seconds('toll', 'tolled', [0, wait('toll_booth_cost', number('toll_booth_penalty'))])] : []),
      seconds('ferries', 'entered', {
        [Use.ferry]: wait('ferry_cost', ferry.penalty),
        [Use.railFerry]: wait('rail_ferry_cost', railFerry.penalty),
      }),
    ]
  }
  return {
    seconds: sum(...waits(false)),
    cost: options.is('shortest')
      ? 0
      : sum(
          ...waits(true),
          seconds('for local traffic only', local, [0, number('destination_only_penalty')]),
          seconds('unwelcome kinds of street', entered, {
            [Use.alley]: number('alley_penalty'),
            [Use.livingStreet]: livingStreets.penalty,
            [Use.track]: tracks.penalty,
            [Use.serviceRoad]: number('service_penalty'),
          }),
          seconds('another name', 'renamed', [0, number('maneuver_penalty')]),
        ),
  }
}

/** Weights of things that stand on a node, by what tags say of who may pass. */
function standing(
  types: readonly number[],
  weigh: (tagged: boolean, isPrivate: boolean, type: number) => number,
): Record<number, number> {
  return Object.fromEntries(
    types.flatMap((type) =>
      [0, 1, 2, 3].map((bits) => [
        type * BARRIER.kind + bits,
        weigh((bits & BARRIER.tagged) !== 0, (bits & BARRIER.private) !== 0, type),
      ]),
    ),
  )
}
