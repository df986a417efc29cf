import { get, isForLocals, NodeField, TurnField } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import { timedSpeeds } from '../graph/timed.ts'
import type { Costing } from './costing.ts'
import { Exclusions } from './exclusions.ts'
import { compile, run } from './expression.ts'
import { EDGE_FACTS, type EdgeFact, edgeReader, TURN_FACTS, turnReader } from './facts.ts'
import type { CostOptions } from './options.ts'
import type { Bounds, Profile } from './profile.ts'
import { type Mode, PROFILES } from './profiles/index.ts'
import { AT_SOME_TIME, Rights } from './rights.ts'
import { Vehicle } from './vehicle.ts'

/** The costing that the profile of a mode describes, on a graph. */
export function createCosting(graph: Graph, mode: Mode, options: CostOptions): Costing {
  const profile: Profile = PROFILES[mode]
  const { family, travelMode } = profile
  const travelType =
    typeof profile.travelType === 'string' ? profile.travelType : String(options[profile.travelType.option])
  const access = typeof profile.access === 'number' ? profile.access : profile.access[travelType]!
  const rights = new Rights(graph, access, options)
  const vehicle = rights.ignoresLimits ? null : new Vehicle(graph, access, profile, options)
  const exclusions = new Exclusions(graph, profile, options, vehicle)
  const {
    edge,
    turn,
    bounds,
    endBounds,
    tolerates,
    throughLocal = 0,
  } = profile.terms({
    number: (name) => Number(options[name] ?? 0),
    is: (name) => options[name] === true,
    text: (name) => String(options[name]),
  })
  const edgeAt = edgeReader(graph, access)
  const turnAt = turnReader(graph, access, profile.isLorry === true ? rights : null)
  const [edgeSeconds, edgeCost] = [compile(edge.seconds, EDGE_FACTS), compile(edge.cost, EDGE_FACTS)]
  const [turnSeconds, turnCost] = [compile(turn.seconds, TURN_FACTS), compile(turn.cost, TURN_FACTS)]
  const searchCost = compile(turn.searchCost, TURN_FACTS)
  const isLocal = (at: number): boolean => isForLocals(graph, at, access)
  // What may be used at some time may also be driven as fast as at any time.
  const fastest = options[AT_SOME_TIME] === true ? timedSpeeds(graph, access) : null
  const passing = boundsOf(bounds)
  const ending = boundsOf(endBounds)
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
    snapOpen: (at) => rights.edge(at) && keeps(ending, edgeAt(at)),
    edgeOpen: (at) => {
      if (!rights.edge(at) && (edgeAt(at)[EDGE_FACTS.access]! & tolerates) === 0) return false
      return keeps(passing, edgeAt(at)) && (vehicle === null || vehicle.fits(at))
    },
    exceeds: (type, limit) => vehicle?.exceeds(type, limit) ?? false,
    nodeOpen: (node) => !(refusesCash && get(graph.nodeInfo[node]!, NodeField.cashOnlyToll) === 1) && rights.node(node),
    edgeSeconds: (at, kmh = fastest?.get(at)) => run(edgeSeconds, edgeAt(at, kmh)),
    edgeCost: (at, kmh = fastest?.get(at)) => run(edgeCost, edgeAt(at, kmh)),
    turnCost: (from, to, facts, internal) => {
      if (!rights.turn(facts)) return Infinity
      if (vehicle !== null && get(facts, TurnField.sized) === 1 && !vehicle.mayTurn(from, to)) return Infinity
      const at = turnAt(from, to, facts, internal)
      const through = throughLocal > 0 && isLocal(from) && !isLocal(to) ? throughLocal : 0
      return through + exclusions.penalty(from, to) + run(searchCost, at)
    },
    pathTurnCost: (from, to, facts) => run(turnCost, turnAt(from, to, facts, false)),
    turnSeconds: (from, to, facts) => run(turnSeconds, turnAt(from, to, facts, false)),
  }
}

/** Most that a fact may be. */
interface Bound {
  readonly fact: number
  readonly most: number
}

function boundsOf(bounds: Bounds): Bound[] {
  return Object.entries(bounds).map(([name, most]) => ({ fact: EDGE_FACTS[name as EdgeFact], most }))
}

function keeps(bounds: readonly Bound[], facts: Int32Array): boolean {
  for (const { fact, most } of bounds) if (facts[fact]! > most) return false
  return true
}
