import { NodeType, Use } from '../graph/attributes.ts'
import { byUse, preferences } from './preferences.ts'
import type { OptionReader, TurnCosts } from './profile.ts'
import type { TurnView } from './turn-view.ts'

/** Parameters by mode for entering a street. */
interface EnteringRules {
  /**
   * Whether the mode walks: no tolls, no locked bollards, and the penalty of service roads also applies inside
   * crossings.
   */
  readonly isOnFoot?: boolean
  /** Whether driveways are exempt from the penalty of streets for local traffic. */
  readonly ignoresDriveways?: boolean
}

/**
 * Cost and time of entering a street, without the turn itself: barriers, tolls, ferries, kinds of street to avoid.
 * Source: Valhalla 3.6 `sif/dynamiccost.h`.
 */
export function entering(options: OptionReader, rules: EnteringRules): TurnCosts {
  const { isOnFoot = false, ignoresDriveways = false } = rules
  const { number } = options
  const { tracks, livingStreets } = preferences(options)
  const localPenalty = number('destination_only_penalty')
  const namePenalty = number('maneuver_penalty')
  const usePenalties = byUse(
    {
      [Use.alley]: number('alley_penalty'),
      [Use.livingStreet]: livingStreets.penalty,
      [Use.track]: tracks.penalty,
      [Use.serviceRoad]: number('service_penalty'),
    },
    0,
  )
  const usePenalty = (turn: TurnView): number => {
    const { use } = turn
    if (use === turn.useBefore) return 0
    return use === Use.serviceRoad && !isOnFoot && turn.isInternal ? 0 : usePenalties[use]!
  }
  const seconds = waiting(options, isOnFoot, false)
  const waitingCost = waiting(options, isOnFoot, true)
  if (options.is('shortest')) return { seconds, cost: () => 0 }
  return {
    seconds,
    cost: (turn) => {
      const isLocal = ignoresDriveways ? turn.entersTaggedLocal : turn.entersLocal
      return waitingCost(turn) + (isLocal ? localPenalty : 0) + usePenalty(turn) + (turn.changesName ? namePenalty : 0)
    },
  }
}

/** Seconds at barriers, tolls and ferries, with or without their penalties. */
function waiting(options: OptionReader, isOnFoot: boolean, isPenalized: boolean): (turn: TurnView) => number {
  const { ferry, railFerry } = preferences(options)
  const wait = (cost: string, penalty: number): number => options.number(cost) + (isPenalized ? penalty : 0)
  const border = wait('country_crossing_cost', options.number('country_crossing_penalty'))
  const gate = wait('gate_cost', options.number('gate_penalty'))
  const privateNode = isPenalized ? options.number('private_access_penalty') : 0
  const privateGate = wait('gate_cost', options.number('private_access_penalty'))
  const toll = isOnFoot ? 0 : wait('toll_booth_cost', options.number('toll_booth_penalty'))
  const ferries = byUse(
    { [Use.ferry]: wait('ferry_cost', ferry.penalty), [Use.railFerry]: wait('rail_ferry_cost', railFerry.penalty) },
    0,
  )
  const barrier = (turn: TurnView): number => {
    const { nodeType } = turn
    if (nodeType === NodeType.borderControl) return border
    const isGate = nodeType === NodeType.gate
    if (!isGate && (isOnFoot || nodeType !== NodeType.bollard)) return turn.isPrivate ? privateNode : 0
    return (isGate && !turn.isAccessTagged ? gate : 0) + (turn.isPrivate ? privateGate : 0)
  }
  return (turn) => {
    const { use } = turn
    return barrier(turn) + (turn.entersToll ? toll : 0) + (use === turn.useBefore ? 0 : ferries[use]!)
  }
}
