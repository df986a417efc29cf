import { NodeType, Use } from '../graph/attributes.ts'
import { EdgeField, FlagField, get, NodeField, TrafficField, TurnField } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import type { CostOptions } from './options.ts'

/** What entering an edge costs apart from the turn itself: barriers, tolls, ferries, unwelcome kinds of street. */
export class Transitions {
  readonly ferryFactor: number
  readonly railFerryFactor: number
  readonly trackFactor: number
  readonly livingStreetFactor: number
  readonly unlitFactor: number
  readonly #graph: Graph
  readonly #truck: boolean
  readonly #onFoot: boolean
  readonly #shortest: boolean
  readonly #penalty: Readonly<
    Record<'destination' | 'maneuver' | 'alley' | 'service' | 'track' | 'livingStreet', number>
  >
  readonly #barrier: Readonly<Record<'gate' | 'privateGate' | 'border' | 'toll' | 'ferry' | 'railFerry', Crossing>>

  constructor(graph: Graph, options: CostOptions, kind: 'truck' | 'foot' | 'other') {
    this.#graph = graph
    this.#truck = kind === 'truck'
    this.#onFoot = kind === 'foot'
    this.#shortest = options.shortest === true
    const number = (name: string): number => Number(options[name] ?? 0)
    const ferry = ferryPreference(number('use_ferry'))
    const railFerry = ferryPreference(number('use_rail_ferry'))
    this.ferryFactor = ferry.factor
    this.railFerryFactor = railFerry.factor
    const tracks = preference(number('use_tracks'), TRACKS)
    const livingStreets = preference(number('use_living_streets'), LIVING_STREETS)
    this.trackFactor = tracks.factor
    this.livingStreetFactor = livingStreets.factor
    const lit = number('use_lit')
    this.unlitFactor = lit < 0.5 ? 1 + 2 * lit : -4 + 12 * lit
    this.#penalty = {
      destination: number('destination_only_penalty'),
      maneuver: number('maneuver_penalty'),
      alley: number('alley_penalty'),
      service: number('service_penalty'),
      track: tracks.penalty,
      livingStreet: livingStreets.penalty,
    }
    this.#barrier = {
      gate: crossing(number('gate_cost'), number('gate_penalty')),
      privateGate: crossing(number('gate_cost'), number('private_access_penalty')),
      border: crossing(number('country_crossing_cost'), number('country_crossing_penalty')),
      toll: crossing(number('toll_booth_cost'), number('toll_booth_penalty')),
      ferry: crossing(number('ferry_cost'), ferry.penalty),
      railFerry: crossing(number('rail_ferry_cost'), railFerry.penalty),
    }
  }

  cost(from: number, to: number, turn: number): number {
    if (this.#shortest) return 0
    const graph = this.#graph
    const penalty = this.#penalty
    const info = graph.edgeInfo[to]!
    const use = get(info, EdgeField.use)
    const before = get(graph.edgeInfo[from]!, EdgeField.use)
    let cost = this.#crossings(from, to, use, before, 'cost')
    if (this.entersDestinationOnly(from, to)) cost += penalty.destination
    if (use !== before) {
      if (use === Use.alley) cost += penalty.alley
      else if (use === Use.livingStreet) cost += penalty.livingStreet
      else if (use === Use.track) cost += penalty.track
      else if (use === Use.serviceRoad && (this.#onFoot || get(graph.edgeTraffic[to]!, TrafficField.internal) === 0)) {
        cost += penalty.service
      }
    }
    const link = get(graph.edgeTraffic[to]!, TrafficField.link) === 1
    if (!link && get(turn, TurnField.sameName) === 0) cost += penalty.maneuver
    return cost
  }

  seconds(from: number, to: number): number {
    const use = get(this.#graph.edgeInfo[to]!, EdgeField.use)
    return this.#crossings(from, to, use, get(this.#graph.edgeInfo[from]!, EdgeField.use), 'seconds')
  }

  /** Whether a turn leads from a public street onto one for local traffic only. */
  entersDestinationOnly(from: number, to: number): boolean {
    const flags = this.#graph.edgeFlags
    const closed = get(flags[to]!, this.#truck ? FlagField.destinationOnlyTruck : FlagField.destinationOnly) === 1
    return closed && !this.#local(from)
  }

  /** Whether a turn leads back from there. */
  leavesDestinationOnly(from: number, to: number): boolean {
    return this.#local(from) && !this.#local(to)
  }

  #local(edge: number): boolean {
    const flags = this.#graph.edgeFlags[edge]!
    return (
      get(flags, FlagField.destinationOnly) === 1 || (this.#truck && get(flags, FlagField.destinationOnlyTruck) === 1)
    )
  }

  #crossings(from: number, to: number, use: number, before: number, part: keyof Crossing): number {
    const graph = this.#graph
    const node = graph.nodeInfo[graph.edgeHead[from]!]!
    const type = get(node, NodeField.type)
    let sum = 0
    if (type !== NodeType.plain) {
      const barrier = this.#barrier
      if (type === NodeType.borderControl) sum += barrier.border[part]
      if (type === NodeType.gate && get(node, NodeField.taggedAccess) === 0) sum += barrier.gate[part]
      const locked = type === NodeType.gate || (type === NodeType.bollard && !this.#onFoot)
      if (locked && get(node, NodeField.privateAccess) === 1) sum += barrier.privateGate[part]
    }
    if (!this.#onFoot) {
      const tolled =
        get(graph.edgeTraffic[to]!, TrafficField.toll) === 1 && get(graph.edgeTraffic[from]!, TrafficField.toll) === 0
      if (tolled || type === NodeType.tollBooth) sum += this.#barrier.toll[part]
    }
    if (use === Use.ferry && before !== Use.ferry) sum += this.#barrier.ferry[part]
    if (use === Use.railFerry && before !== Use.railFerry) sum += this.#barrier.railFerry[part]
    return sum
  }
}

/** Cost and time of passing something. */
interface Crossing {
  readonly cost: number
  readonly seconds: number
}

function crossing(seconds: number, penalty: number): Crossing {
  return { cost: seconds + penalty, seconds }
}

const MOST_FERRY_SECONDS = 6 * 3600

function ferryPreference(use: number): { factor: number; penalty: number } {
  if (use >= 0.5) return { factor: 1.5 - use, penalty: 0 }
  return { factor: 10 - use * 18, penalty: Math.trunc(MOST_FERRY_SECONDS * (1 - use * 2)) }
}

interface Taste {
  readonly penalty: number
  readonly least: number
  readonly most: number
}

const TRACKS: Taste = { penalty: 300, least: 0.8, most: 4 }
const LIVING_STREETS: Taste = { penalty: 500, least: 0.8, most: 3 }

/** Factor and penalty of a preference of 0 (avoid) over 0.5 (no matter) to 1 (like). */
function preference(use: number, { penalty, least, most }: Taste): { factor: number; penalty: number } {
  if (use < 0.5) return { factor: most - 2 * use * (most - 1), penalty: penalty * (1 - 2 * use) }
  return { factor: least + 2 * (1 - use) * (1 - least), penalty: 0 }
}
