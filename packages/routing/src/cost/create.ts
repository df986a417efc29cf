import { MOTOR_ACCESS } from '../graph/attributes.ts'
import { FlagField, get, isForLocals, NodeField, TurnField } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import { timedSpeeds, withoutLocalHours } from '../graph/timed.ts'
import type { Costing } from './costing.ts'
import { EdgeView } from './edge-view.ts'
import { Exclusions } from './exclusions.ts'
import type { CostOptions } from './options.ts'
import type { OptionReader, Profile } from './profile.ts'
import { type Mode, PROFILES } from './profiles/index.ts'
import { AT_SOME_TIME, Rights } from './rights.ts'
import { TurnView } from './turn-view.ts'
import { Vehicle } from './vehicle.ts'

/** The costing of a mode's profile on a graph. */
export function createCosting(network: Graph, mode: Mode, options: CostOptions): Costing {
  const profile: Profile = PROFILES[mode]
  const { family, travelMode } = profile
  const travelType =
    typeof profile.travelType === 'string' ? profile.travelType : String(options[profile.travelType.option])
  const access = typeof profile.access === 'number' ? profile.access : profile.access[travelType]!
  // A street for local traffic may be open to through traffic at some hours.
  const graph = options[AT_SOME_TIME] === true ? withoutLocalHours(network, access) : network
  const rights = new Rights(graph, access, options)
  const vehicle = rights.ignoresLimits ? null : new Vehicle(graph, access, profile, options)
  const exclusions = new Exclusions(graph, { profile, access, options, vehicle })
  const { edge, turn, mayPass, mayEnd, tolerates = 0, throughLocal = 0 } = profile.costs(optionReader(options))
  const edgeView = new EdgeView(graph, access)
  const turnView = new TurnView(graph, access, rights)
  // Pedestrians and bicycles may pass yards, unless a tag forbids it.
  const passesYards = (access & MOTOR_ACCESS) === 0
  const isLocal = (at: number): boolean =>
    passesYards ? (get(graph.edgeFlags[at]!, FlagField.local) & access) !== 0 : isForLocals(graph, at, access)
  // With `AT_SOME_TIME`, the fastest of a street's usual and timed speeds counts.
  const fastest = options[AT_SOME_TIME] === true ? timedSpeeds(graph, access) : null
  const refusesCash = profile.paysTolls === true && options.exclude_cash_only_tolls === true
  return {
    mode,
    family,
    options,
    access,
    rights,
    travelMode,
    travelType,
    exclusions,
    throughLocal,
    isLocal,
    snapOpen: (at) => rights.edge(at) && mayEnd(edgeView.at(at)),
    edgeOpen: (at) => {
      const view = edgeView.at(at)
      if (!rights.edge(at) && (view.access & tolerates) === 0) return false
      return mayPass(view) && (vehicle === null || vehicle.fits(at))
    },
    exceeds: (type, limit) => vehicle?.exceeds(type, limit) ?? false,
    nodeOpen: (node) => !(refusesCash && get(graph.nodeInfo[node]!, NodeField.cashOnlyToll) === 1) && rights.node(node),
    edgeSeconds: (at, kmh = fastest?.get(at)) => edge.seconds(edgeView.at(at, kmh)),
    edgeCost: (at, kmh = fastest?.get(at)) => edge.cost(edgeView.at(at, kmh)),
    turnCost: (from, to, word, isInside) => {
      if (!rights.turn(word)) return Infinity
      if (vehicle !== null && get(word, TurnField.sized) === 1 && !vehicle.mayTurn(from, to)) return Infinity
      const through = throughLocal > 0 && isLocal(from) && !isLocal(to) ? throughLocal : 0
      return through + exclusions.penalty(from, to) + turn.cost(turnView.at(from, to, word, isInside))
    },
    pathTurnCost: (from, to, word) => turn.cost(turnView.at(from, to, word, false)),
    turnSeconds: (from, to, word) => turn.seconds(turnView.at(from, to, word, false)),
  }
}

function optionReader(options: CostOptions): OptionReader {
  return {
    number: (name) => Number(options[name] ?? 0),
    is: (name) => options[name] === true,
    text: (name) => String(options[name]),
  }
}
