import { Access, Surface, Use } from '../graph/attributes.ts'
import { EdgeField, get, NodeField, TrafficField, TurnField } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import type { Costing } from './costing.ts'
import { Exclusions } from './exclusions.ts'
import type { CostOptions } from './options.ts'
import { Rights } from './rights.ts'
import { Transitions } from './transitions.ts'

/** Seconds and stress of turns by kind, clockwise from straight on, where one drives on the right. */
const TURN_SECONDS_RIGHT = [0.15, 0.2, 0.3, 0.5, 5, 1.5, 1, 0.4]
const TURN_SECONDS_LEFT = [0.15, 0.4, 1, 1.5, 5, 0.5, 0.3, 0.2]
const TURN_STRESS_RIGHT = [0, 0.25, 0.75, 1, 4, 2.25, 1.75, 0.75]
const TURN_STRESS_LEFT = [0, 0.75, 1.75, 2.25, 4, 1, 0.75, 0.25]
const CROSSING_SECONDS = 0.75

/** Share of the speed that is left on each surface, by kind of bicycle. */
const SURFACE_SPEED: Readonly<Record<string, readonly number[]>> = {
  road: [1, 1, 0.9, 0.6, 0.5, 0.3, 0.2, 0],
  cross: [1, 1, 1, 0.8, 0.7, 0.5, 0.4, 0],
  hybrid: [1, 1, 1, 0.8, 0.6, 0.4, 0.25, 0],
  mountain: [1, 1, 1, 1, 0.9, 0.75, 0.55, 0],
}
const WORST_SURFACE: Readonly<Record<string, number>> = {
  road: Surface.compacted,
  cross: Surface.gravel,
  hybrid: Surface.dirt,
  mountain: Surface.path,
}
const BAD_SURFACE = [1, 2.5, 4.5, 7]
const CLASS_STRESS = [1, 0.4, 0.2, 0.1, 0.05, 0.05, 0, 0.5]
/** How much a lane eases the turn onto a road; without and with a shoulder. */
const LANE_TRANSITION = [1, 0.5, 0.25, 0.1, 0.4, 0.5, 0.25, 0.1]
const FLAT_HILL_STRENGTH = 0.05
const WALKING_SPEED = 5
const STEPS_SPEED = 1
const STEPS_FACTOR = 8
const TRUCK_STRESS = 0.5
const NETWORK_FACTOR = 0.95
const PATHS = new Set<number>([Use.cycleway, Use.footway, Use.path])

/** Costs of riding a bicycle. Figures are those of Valhalla 3.6 (`sif/bicyclecost.cc`). */
export class BicycleCosting implements Costing {
  readonly mode = 'bicycle'
  readonly family = 'bicycle'
  readonly options: CostOptions
  readonly access = Access.bicycle
  readonly travelMode = 'bicycle'
  readonly travelType: string
  readonly exclusions: Exclusions
  readonly rights: Rights
  readonly #graph: Graph
  readonly #transitions: Transitions
  readonly #shortest: boolean
  readonly #useRoads: number
  readonly #roadFactor: number
  readonly #avoidBadSurfaces: number
  readonly #penalizedSurface: number
  readonly #worstSurface: number
  readonly #surfaceSpeed: readonly number[]
  readonly #speed: number
  readonly #hillPenalty: number
  readonly #laneFactors: readonly number[]
  readonly #pathFactors: readonly number[]

  constructor(graph: Graph, options: CostOptions) {
    this.#graph = graph
    this.options = options
    this.exclusions = new Exclusions(graph, 'bicycle', options)
    this.rights = new Rights(graph, this.access, options)
    this.travelType = String(options.bicycle_type)
    this.#transitions = new Transitions(graph, options, 'other')
    this.#shortest = options.shortest === true
    const use = Number(options.use_roads)
    this.#useRoads = use
    this.#roadFactor = use >= 0.5 ? 1.5 - use : 2 - use * 2
    this.#avoidBadSurfaces = Number(options.avoid_bad_surfaces)
    this.#penalizedSurface = WORST_SURFACE[this.travelType]!
    this.#worstSurface = this.#avoidBadSurfaces === 1 ? this.#penalizedSurface : Surface.path
    this.#surfaceSpeed = SURFACE_SPEED[this.travelType]!
    this.#speed = Number(options.cycling_speed)
    this.#hillPenalty = (1 - Number(options.use_hills)) * FLAT_HILL_STRENGTH
    const shared = 0.9 + use * 0.05
    const dedicated = 0.4 + use * 0.45
    const separated = 0.15 + use * 0.6
    this.#laneFactors = [1, shared, dedicated, separated, 0.7 + use * 0.2, shared, dedicated, separated]
    this.#pathFactors = [0.2 + use, 0.2 + use, 0.1 + use * 0.9, use * 0.8]
  }

  snapOpen(edge: number): boolean {
    const info = this.#graph.edgeInfo[edge]!
    if (get(info, EdgeField.use) === Use.steps || !this.rights.edge(edge)) return false
    return this.#avoidBadSurfaces !== 1 || get(info, EdgeField.surface) <= this.#worstSurface
  }

  edgeOpen(edge: number): boolean {
    return this.rights.edge(edge) && get(this.#graph.edgeInfo[edge]!, EdgeField.surface) <= this.#worstSurface
  }

  nodeOpen(node: number): boolean {
    return this.rights.node(node)
  }

  edgeSeconds(edge: number): number {
    const { edgeInfo, edgeTraffic, edgeLength } = this.#graph
    const use = get(edgeInfo[edge]!, EdgeField.use)
    const meters = edgeLength[edge]!
    if (use === Use.steps) return (meters * 3.6) / STEPS_SPEED
    if (use === Use.ferry) return (meters * 3.6) / get(edgeTraffic[edge]!, TrafficField.speed)
    const walked = get(edgeTraffic[edge]!, TrafficField.dismount) === 1
    const surface = this.#surfaceSpeed[get(edgeInfo[edge]!, EdgeField.surface)]!
    const speed = walked ? WALKING_SPEED : Math.max(1, Math.floor(this.#speed * surface + 0.5))
    return (meters * 3.6) / speed
  }

  edgeCost(edge: number): number {
    const { edgeInfo, edgeTraffic, edgeLength } = this.#graph
    if (this.#shortest) return edgeLength[edge]!
    const info = edgeInfo[edge]!
    const traffic = edgeTraffic[edge]!
    const use = get(info, EdgeField.use)
    const seconds = this.edgeSeconds(edge)
    if (use === Use.steps) return seconds * STEPS_FACTOR
    if (use === Use.ferry) return seconds * this.#transitions.ferryFactor
    let accommodation = 1
    let stress = 1
    if (PATHS.has(use)) accommodation = this.#pathFactors[get(info, EdgeField.cycleLane)]!
    else if (use === Use.livingStreet) stress = 0.2 + this.#useRoads * 0.8
    else if (use === Use.track) stress = 0.5 + this.#useRoads
    else {
      accommodation = this.#laneFactors[laneIndex(info, traffic)]!
      stress = this.#roadStress(info, traffic)
    }
    if (get(traffic, TrafficField.useSidepath) === 1) accommodation += 3 * (1 - this.#useRoads)
    if (get(traffic, TrafficField.bikeNetwork) === 1) accommodation *= NETWORK_FACTOR
    let factor = 1 + this.#hillPenalty + accommodation * stress
    const surface = get(info, EdgeField.surface)
    if (surface >= this.#penalizedSurface) {
      factor += this.#avoidBadSurfaces * BAD_SURFACE[surface - this.#penalizedSurface]!
    }
    return seconds * factor
  }

  turnCost(from: number, to: number, turn: number): number {
    if (!this.rights.turn(turn)) return Infinity
    return this.exclusions.penalty(from, to) + this.pathTurnCost(from, to, turn)
  }

  pathTurnCost(from: number, to: number, turn: number): number {
    if (this.#shortest) return 0
    const { edgeInfo, edgeTraffic, edgeHead, nodeInfo } = this.#graph
    const info = edgeInfo[to]!
    const node = nodeInfo[edgeHead[from]!]!
    const use = get(info, EdgeField.use)
    const roadClass = get(info, EdgeField.roadClass)
    const avoidRoads = 1 - this.#useRoads
    const impact = get(turn, TurnField.stopImpact)
    const right = get(node, NodeField.driveOnRight) === 1
    // Paths are classed as service roads, but are not what one would avoid about those.
    const classStress = PATHS.has(use) ? 0.1 : CLASS_STRESS[roadClass]!
    let stress = impact > 0 ? 1 + (right ? TURN_STRESS_RIGHT : TURN_STRESS_LEFT)[get(turn, TurnField.turn)]! : 1
    stress *= classStress * avoidRoads + this.#useRoads + 1
    let penalty = 0
    const steps = get(edgeInfo[from]!, EdgeField.roadClass) - roadClass
    if (steps > 0 && use !== Use.livingStreet) {
      stress += get(node, NodeField.signal) === 1 ? 0.4 : 1
      const ease = PATHS.has(use) ? 0.05 : LANE_TRANSITION[laneIndex(info, edgeTraffic[to]!)]!
      penalty = 10 * steps * (ease * avoidRoads + this.#useRoads)
    }
    return this.#transitions.cost(from, to, turn) + this.#turnSeconds(turn, right) * (stress + 1) + penalty
  }

  turnSeconds(from: number, to: number, turn: number): number {
    const right = get(this.#graph.nodeInfo[this.#graph.edgeHead[from]!]!, NodeField.driveOnRight) === 1
    return this.#transitions.seconds(from, to) + this.#turnSeconds(turn, right)
  }

  #turnSeconds(turn: number, right: boolean): number {
    const impact = get(turn, TurnField.stopImpact)
    if (impact === 0) return 0
    let seconds = (right ? TURN_SECONDS_RIGHT : TURN_SECONDS_LEFT)[get(turn, TurnField.turn)]!
    const between = get(turn, TurnField.edgeToLeft) === 1 && get(turn, TurnField.edgeToRight) === 1
    if (between && seconds < CROSSING_SECONDS) seconds = CROSSING_SECONDS
    return impact * seconds
  }

  /** How unpleasant the traffic of a road is. */
  #roadStress(info: number, traffic: number): number {
    let stress = 1
    const lanes = get(info, EdgeField.lanes)
    if (lanes > 1) stress += (lanes - 1) * 0.05 * this.#roadFactor
    if (get(traffic, TrafficField.truckRoute) === 1) stress += TRUCK_STRESS
    stress += this.#roadFactor * CLASS_STRESS[get(info, EdgeField.roadClass)]!
    return stress * this.#speedPenalty(get(traffic, TrafficField.speed))
  }

  #speedPenalty(speed: number): number {
    const avoidRoads = (1 - this.#useRoads) * 0.75 + 0.25
    const base = speed <= 40 ? speed / 40 : speed <= 65 ? speed / 25 - 0.6 : speed / 50 + 0.7
    return (base - 1) * avoidRoads + 1
  }
}

function laneIndex(info: number, traffic: number): number {
  return get(traffic, TrafficField.shoulder) * 4 + get(info, EdgeField.cycleLane)
}
