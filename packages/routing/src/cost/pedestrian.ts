import { Access, NodeType, Surface, Use } from '../graph/attributes.ts'
import { EdgeField, get, NodeField, TrafficField, TurnField } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import type { Costing } from './costing.ts'
import { Exclusions } from './exclusions.ts'
import type { CostOptions } from './options.ts'
import { Rights } from './rights.ts'
import { Transitions } from './transitions.ts'

/** Seconds to cross an intersection, by how likely one has to stop. */
const CROSSING_SECONDS = [0, 0, 1, 1, 2, 3, 5, 15]
/** Time and cost on mountain paths, by difficulty. */
const HIKING_SLOWNESS = [1, 1.11, 1.25, 1.54, 2.5, 4, 6.67]
const HIKING_COST = [0, 0.25, 0.75, 1.25, 2, 2.5, 3]
const ROUNDABOUT_FACTOR = 2

/** Costs of walking, or of going by wheelchair. Figures are those of Valhalla 3.6 (`sif/pedestriancost.cc`). */
export class PedestrianCosting implements Costing {
  readonly mode = 'pedestrian'
  readonly family = 'foot'
  readonly options: CostOptions
  readonly access: number
  readonly travelMode = 'pedestrian'
  readonly travelType: string
  readonly exclusions: Exclusions
  readonly rights: Rights
  readonly #graph: Graph
  readonly #transitions: Transitions
  readonly #shortest: boolean
  readonly #worstSurface: number
  readonly #mostDifficult: number
  readonly #secondsPerMeter: number
  readonly #factors: Readonly<Record<'walkway' | 'sidewalk' | 'alley' | 'driveway' | 'service', number>>

  constructor(graph: Graph, options: CostOptions) {
    this.#graph = graph
    this.options = options
    this.exclusions = new Exclusions(graph, 'pedestrian', options)
    const wheelchair = options.type === 'wheelchair'
    this.access = wheelchair ? Access.wheelchair : Access.foot
    this.rights = new Rights(graph, this.access, options)
    this.travelType = String(options.type)
    this.#transitions = new Transitions(graph, options, 'foot')
    this.#shortest = options.shortest === true
    this.#worstSurface = wheelchair ? Surface.compacted : Surface.path
    this.#mostDifficult = options.type === 'foot' ? Number(options.max_hiking_difficulty) : 0
    this.#secondsPerMeter = 3.6 / Number(options.walking_speed)
    this.#factors = {
      walkway: Number(options.walkway_factor),
      sidewalk: Number(options.sidewalk_factor),
      alley: Number(options.alley_factor),
      driveway: Number(options.driveway_factor),
      service: Number(options.service_factor),
    }
  }

  snapOpen(edge: number): boolean {
    const info = this.#graph.edgeInfo[edge]!
    if (!this.rights.edge(edge) || get(info, EdgeField.use) >= Use.railFerry) return false
    return get(info, EdgeField.hikingDifficulty) <= this.#mostDifficult
  }

  edgeOpen(edge: number): boolean {
    const info = this.#graph.edgeInfo[edge]!
    if (!this.rights.edge(edge) || get(info, EdgeField.surface) > this.#worstSurface) return false
    return get(info, EdgeField.hikingDifficulty) <= this.#mostDifficult
  }

  nodeOpen(node: number): boolean {
    return this.rights.node(node)
  }

  edgeSeconds(edge: number): number {
    const { edgeInfo, edgeTraffic, edgeLength } = this.#graph
    const meters = edgeLength[edge]!
    if (get(edgeInfo[edge]!, EdgeField.use) === Use.ferry) {
      return (meters * 3.6) / get(edgeTraffic[edge]!, TrafficField.speed)
    }
    return meters * this.#secondsPerMeter * HIKING_SLOWNESS[get(edgeInfo[edge]!, EdgeField.hikingDifficulty)]!
  }

  edgeCost(edge: number): number {
    const { edgeInfo, edgeTraffic, edgeLength } = this.#graph
    if (this.#shortest) return edgeLength[edge]!
    const info = edgeInfo[edge]!
    const seconds = this.edgeSeconds(edge)
    if (get(info, EdgeField.use) === Use.ferry) return seconds * this.#transitions.ferryFactor
    const lit = get(edgeTraffic[edge]!, TrafficField.lit) === 1
    const hiking = 1 + HIKING_COST[get(info, EdgeField.hikingDifficulty)]!
    return seconds * hiking * this.#useFactor(edge) * (lit ? 1 : this.#transitions.unlitFactor)
  }

  turnCost(from: number, to: number, turn: number): number {
    if (!this.rights.turn(turn)) return Infinity
    return this.exclusions.penalty(from, to) + this.pathTurnCost(from, to, turn)
  }

  pathTurnCost(from: number, to: number, turn: number): number {
    const special = this.#stepsOrLift(from, to)
    if (special !== null) return special
    const crossing = this.#shortest ? 0 : crossingSeconds(turn)
    return this.#transitions.cost(from, to, turn) + crossing
  }

  turnSeconds(from: number, to: number, turn: number): number {
    if (this.#stepsOrLift(from, to) !== null) return 0
    return this.#transitions.seconds(from, to) + crossingSeconds(turn)
  }

  /** The penalty of stairs or a lift, which stands for all other costs of the turn. */
  #stepsOrLift(from: number, to: number): number | null {
    const use = get(this.#graph.edgeInfo[to]!, EdgeField.use)
    if (use === Use.steps) return Number(this.options.step_penalty)
    const node = this.#graph.nodeInfo[this.#graph.edgeHead[from]!]!
    const lift = use === Use.elevator || get(node, NodeField.type) === NodeType.elevator
    return lift ? Number(this.options.elevator_penalty) : null
  }

  #useFactor(edge: number): number {
    const traffic = this.#graph.edgeTraffic[edge]!
    const factors = this.#factors
    switch (get(this.#graph.edgeInfo[edge]!, EdgeField.use)) {
      case Use.footway:
      case Use.sidewalk:
        return factors.walkway
      case Use.alley:
        return factors.alley
      case Use.driveway:
        return factors.driveway
      case Use.track:
        return this.#transitions.trackFactor
      case Use.livingStreet:
        return this.#transitions.livingStreetFactor
      case Use.serviceRoad:
        return factors.service
      default:
        if (get(traffic, TrafficField.sidewalkLeft) === 1 || get(traffic, TrafficField.sidewalkRight) === 1)
          return factors.sidewalk
        return get(traffic, TrafficField.roundabout) === 1 ? ROUNDABOUT_FACTOR : 1
    }
  }
}

function crossingSeconds(turn: number): number {
  const between = get(turn, TurnField.edgeToLeft) === 1 && get(turn, TurnField.edgeToRight) === 1
  return between ? CROSSING_SECONDS[get(turn, TurnField.stopImpact)]! : 0
}
