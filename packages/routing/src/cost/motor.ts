import { Access, RoadClass, Surface, Turn, Use } from '../graph/attributes.ts'
import { EdgeField, FlagField, get, NodeField, tailOf, TrafficField, TurnField } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import type { Costing } from './costing.ts'
import { Exclusions } from './exclusions.ts'
import type { CostOptions, Mode } from './options.ts'
import { Rights } from './rights.ts'
import { Transitions } from './transitions.ts'
import { turnTime } from './turn-time.ts'
import { Vehicle } from './vehicle.ts'

/** Modes with an engine. */
export type MotorMode = Exclude<Mode, 'bicycle' | 'pedestrian'>

const ACCESS: Readonly<Record<MotorMode, number>> = {
  auto: Access.car,
  bus: Access.bus,
  taxi: Access.taxi,
  truck: Access.truck,
  motorcycle: Access.motorcycle,
  motor_scooter: Access.moped,
}

const TRAVEL_TYPES: Readonly<Record<MotorMode, string>> = {
  auto: 'car',
  bus: 'bus',
  taxi: 'car',
  truck: 'truck',
  motorcycle: 'motorcycle',
  motor_scooter: 'motor_scooter',
}

/**
 * Crossing a street for local traffic from end to end costs this many seconds on top, once: more than any detour within
 * a region, less than giving up. Valhalla forbids it and only tries again without if nothing is found.
 */
const THROUGH_PENALTY = 43200

/** Weights of turns by kind, clockwise from straight on, where one drives on the right. */
const TURN_WEIGHTS_RIGHT = [0.5, 0.75, 1, 1.5, 9.5, 3.5, 2.5, 0.75]
const TURN_WEIGHTS_LEFT = [0.5, 0.75, 2.5, 3.5, 9.5, 1.5, 1, 0.75]
const CROSSING_WEIGHT = 2
const RAMP_WEIGHT = 1.5
const ROUNDABOUT_WEIGHT = 0.5
const U_TURN_COST = 600
/** Factor per km/h that a street is faster than the vehicle. */
const OVER_SPEED_FACTOR = 0.05
const PENCIL_POINT_FACTOR = 15
/** Stops take longer in towns: factor by density. */
const STOP_DENSITY = [1, 1, 1, 1, 1, 1.1, 1.2, 1.3, 1.4, 1.6, 1.9, 2.2, 2.5, 2.8, 3.1, 3.5]
const HIGHWAY_SHARE = [1, 0.5, 0, 0, 0, 0, 0, 0]
const SURFACE_SHARE = [0, 0, 0, 0.1, 0.2, 0.5, 1, 0]

/** Motor scooters: weight of road classes, speed on surfaces, and what flat ground costs those who mind hills. */
const SCOOTER_CLASS = [1, 0.5, 0.2, 0.1, 0.05, 0.05, 0, 0.5]
const SCOOTER_SURFACE = [1, 1, 0.9, 0.6, 0.1, 0, 0, 0]
const FLAT_HILL_STRENGTH = 0.05

/**
 * Costs of all modes with an engine. Figures are those of Valhalla 3.6 (`sif/autocost.cc`, `truckcost.cc`,
 * `motorcyclecost.cc`, `motorscootercost.cc`).
 */
export class MotorCosting implements Costing {
  readonly mode: MotorMode
  readonly family = 'motor'
  readonly options: CostOptions
  readonly access: number
  readonly travelMode = 'drive'
  readonly travelType: string
  readonly exclusions: Exclusions
  readonly rights: Rights
  readonly #graph: Graph
  readonly #transitions: Transitions
  readonly #shortest: boolean
  readonly #topSpeed: number
  readonly #fixedSpeed: number
  readonly #highwayFactor: number
  readonly #surfaceFactor: number
  readonly #tollFactor: number
  readonly #distanceShare: number
  readonly #worstSurface: number
  readonly #vehicle: Vehicle
  readonly #number: (name: string) => number

  constructor(graph: Graph, mode: MotorMode, options: CostOptions) {
    this.mode = mode
    this.options = options
    this.access = ACCESS[mode]
    this.travelType = TRAVEL_TYPES[mode]
    this.#graph = graph
    this.#transitions = new Transitions(graph, options, mode === 'truck' ? 'truck' : 'other')
    this.rights = new Rights(graph, this.access, options)
    const vehicle = new Vehicle(graph, mode, options)
    this.#vehicle = vehicle
    const tolerated = (edge: number): boolean => vehicle.isTolerated(edge)
    this.exclusions = new Exclusions(graph, mode, options, this.rights.ignoresLimits ? [] : [tolerated])
    this.#number = (name) => Number(options[name] ?? 0)
    this.#shortest = options.shortest === true
    this.#fixedSpeed = this.#number('fixed_speed')
    this.#topSpeed = this.#fixedSpeed || this.#number('top_speed')
    this.#highwayFactor = avoidance(this.#number('use_highways'))
    this.#surfaceFactor = surfaceFactor(mode, this.#number('use_trails'))
    this.#tollFactor = tollFactor(mode, this.#number('use_tolls'))
    this.#distanceShare = this.#number('use_distance')
    this.#worstSurface =
      mode === 'motor_scooter' ? Surface.dirt : mode === 'motorcycle' ? Surface.impassable : Surface.path
  }

  snapOpen(edge: number): boolean {
    return this.rights.edge(edge)
  }

  edgeOpen(edge: number): boolean {
    const info = this.#graph.edgeInfo[edge]!
    if (!this.rights.edge(edge)) {
      const tolerated = this.mode === 'truck' && this.#number('hgv_no_access_penalty') < 43200
      if (!tolerated || (get(info, EdgeField.access) & Access.car) === 0) return false
    }
    if (get(info, EdgeField.surface) > this.#worstSurface) return false
    return this.rights.ignoresLimits || this.#vehicle.fits(edge)
  }

  nodeOpen(node: number): boolean {
    const info = this.#graph.nodeInfo[node]!
    if (this.options.exclude_cash_only_tolls === true && get(info, NodeField.cashOnlyToll) === 1) return false
    return this.rights.node(node)
  }

  edgeSeconds(edge: number): number {
    return (this.#graph.edgeLength[edge]! * 3.6) / this.#speed(edge)
  }

  edgeCost(edge: number): number {
    const graph = this.#graph
    const meters = graph.edgeLength[edge]!
    if (this.#shortest) return meters
    const seconds = this.edgeSeconds(edge)
    const use = get(graph.edgeInfo[edge]!, EdgeField.use)
    const weighted = this.#factor(edge, use)
    // Taxis weigh distance on turns only.
    if (this.mode === 'taxi') return seconds * weighted
    // A preference for short ways mixes metres in, at sixteen to the second.
    const mixed = seconds * (1 - this.#distanceShare) + (meters * this.#distanceShare) / 16
    return mixed * weighted
  }

  turnCost(from: number, to: number, turn: number, internal: boolean): number {
    if (!this.rights.turn(turn)) return Infinity
    const through = this.#transitions.leavesDestinationOnly(from, to) ? THROUGH_PENALTY : 0
    const turned = this.#turnCost(from, to, turn, internal && !TWO_WHEELED.has(this.mode))
    return through + this.exclusions.penalty(from, to) + turned
  }

  pathTurnCost(from: number, to: number, turn: number): number {
    return this.#turnCost(from, to, turn, false)
  }

  #turnCost(from: number, to: number, turn: number, internal: boolean): number {
    let cost = this.#transitions.cost(from, to, turn)
    if (this.mode === 'truck') cost += this.#truckTransition(from, to)
    const impact = get(turn, TurnField.stopImpact)
    if (impact > 0 && !this.#shortest) cost += this.#stopCost(from, to, turn, impact, internal)
    return cost * (1 - this.#distanceShare)
  }

  turnSeconds(from: number, to: number, turn: number): number {
    const graph = this.#graph
    const node = graph.edgeHead[from]!
    const info = graph.nodeInfo[node]!
    const degree = graph.firstEdge[node + 1]! - graph.firstEdge[node]!
    const signal = get(info, NodeField.signal) === 1
    const right = get(info, NodeField.driveOnRight) === 1
    return this.#transitions.seconds(from, to) + turnTime(get(turn, TurnField.degrees), degree, signal, right)
  }

  #speed(edge: number): number {
    const traffic = this.#graph.edgeTraffic[edge]!
    const speed = this.#fixedSpeed || get(traffic, TrafficField.speed)
    const use = get(this.#graph.edgeInfo[edge]!, EdgeField.use)
    if (this.mode === 'motor_scooter') {
      if (use === Use.ferry) return speed
      const surface = SCOOTER_SURFACE[get(this.#graph.edgeInfo[edge]!, EdgeField.surface)]!
      return Math.max(1, Math.trunc(Math.min(this.#topSpeed, speed) * surface))
    }
    const truck = this.mode === 'truck' ? get(traffic, TrafficField.truckSpeed) : 0
    return Math.min(speed, truck > 0 ? Math.min(truck, this.#topSpeed) : this.#topSpeed)
  }

  #factor(edge: number, use: number): number {
    const graph = this.#graph
    const info = graph.edgeInfo[edge]!
    const traffic = graph.edgeTraffic[edge]!
    const { mode } = this
    const transitions = this.#transitions
    const roadClass = get(info, EdgeField.roadClass)
    const overSpeed = Math.max(0, this.#allowedSpeed(traffic) - this.#topSpeed) * OVER_SPEED_FACTOR
    const surface = this.#surfaceFactor * SURFACE_SHARE[get(info, EdgeField.surface)]!
    const highway = this.#highwayFactor * HIGHWAY_SHARE[roadClass]!
    const toll = get(traffic, TrafficField.toll) * this.#tollFactor
    let factor = 0.85 + 0.025 * this.#density(edge)
    const railFerry = use === Use.railFerry && (mode === 'auto' || mode === 'bus' || mode === 'truck')
    if (use === Use.ferry || railFerry) {
      factor = railFerry ? transitions.railFerryFactor : transitions.ferryFactor
      if (mode === 'motorcycle' || mode === 'motor_scooter') return factor
      if (mode === 'truck') factor *= this.#truckRouteFactor(traffic)
      else factor += overSpeed + (mode === 'taxi' ? 0 : highway + surface)
      factor += mode === 'taxi' ? 0 : toll
    } else if (mode === 'motor_scooter') {
      const hills = (1 - this.#number('use_hills')) * FLAT_HILL_STRENGTH
      factor += 0.15 + scooterRoads(this.#number('use_primary')) * SCOOTER_CLASS[roadClass]! + hills + overSpeed
      if (get(graph.edgeFlags[edge]!, FlagField.destinationOnly) === 1) factor += 0.2
    } else if (mode === 'truck') {
      factor =
        (factor + highway + SURFACE_SHARE[get(info, EdgeField.surface)]! + overSpeed) *
          this.#truckRouteFactor(traffic) +
        toll
    } else if (mode === 'taxi') {
      factor += overSpeed
      const access = get(info, EdgeField.access)
      // Lanes that private cars may not use are fast.
      if ((access & Access.taxi) !== 0 && (access & Access.car) === 0) factor *= 0.85
    } else {
      factor += highway + surface + overSpeed + toll
    }
    if (use === Use.track) return factor * transitions.trackFactor
    if (use === Use.livingStreet) return factor * transitions.livingStreetFactor
    if (use === Use.serviceRoad) return factor * this.#number('service_factor')
    return use === Use.alley && (mode === 'auto' || mode === 'bus' || mode === 'taxi')
      ? factor * this.#number('alley_factor')
      : factor
  }

  /** The speed that the mode may go, whatever the vehicle can. */
  #allowedSpeed(traffic: number): number {
    if (this.#fixedSpeed > 0) return this.#fixedSpeed
    const truck = this.mode === 'truck' ? get(traffic, TrafficField.truckSpeed) : 0
    const speed = get(traffic, TrafficField.speed)
    return truck > 0 ? Math.min(truck, speed) : speed
  }

  #density(edge: number): number {
    const { nodeInfo, edgeHead } = this.#graph
    const end = get(nodeInfo[edgeHead[edge]!]!, NodeField.density)
    return (end + get(nodeInfo[tailOf(this.#graph, edge)]!, NodeField.density)) >> 1
  }

  #truckRouteFactor(traffic: number): number {
    if (get(traffic, TrafficField.truckRoute) === 1) return 0.85
    const use = this.#number('use_truck_route')
    return use < 0.5 ? 1 + 2 * use : -4 + 12 * use
  }

  #truckTransition(from: number, to: number): number {
    const graph = this.#graph
    const roadClass = get(graph.edgeInfo[to]!, EdgeField.roadClass)
    const low = roadClass === RoadClass.residential || roadClass === RoadClass.service
    const closed = (edge: number): boolean => !this.rights.edge(edge)
    const tolerated = this.#number('hgv_no_access_penalty')
    return (low ? this.#number('low_class_penalty') : 0) + (!closed(from) && closed(to) ? tolerated : 0)
  }

  #stopCost(from: number, to: number, turn: number, impact: number, internal: boolean): number {
    const graph = this.#graph
    const node = graph.nodeInfo[graph.edgeHead[from]!]!
    const right = get(node, NodeField.driveOnRight) === 1
    const kind = get(turn, TurnField.turn)
    const toLeft = get(turn, TurnField.edgeToLeft) === 1
    const toRight = get(turn, TurnField.edgeToRight) === 1
    let weight = toLeft && toRight ? CROSSING_WEIGHT : (right ? TURN_WEIGHTS_RIGHT : TURN_WEIGHTS_LEFT)[kind]!
    const onRamp = get(graph.edgeInfo[to]!, EdgeField.use) === Use.ramp
    if (onRamp !== (get(graph.edgeInfo[from]!, EdgeField.use) === Use.ramp)) {
      weight += RAMP_WEIGHT + get(graph.edgeTraffic[to]!, TrafficField.roundabout) * ROUNDABOUT_WEIGHT
    }
    const left = kind === Turn.left || kind === Turn.sharpLeft
    const rightTurn = kind === Turn.right || kind === Turn.sharpRight
    const turning = left || rightTurn || kind === Turn.reverse
    let cost = turning ? weight * impact : weight
    const traffic = graph.edgeTraffic[to]!
    if (kind === Turn.reverse || (internal && (right ? left : rightTurn))) {
      cost += U_TURN_COST
    } else if (
      kind === (right ? Turn.sharpLeft : Turn.sharpRight) &&
      (right ? toRight && !toLeft : toLeft && !toRight) &&
      get(traffic, TrafficField.named) === 1 &&
      get(turn, TurnField.sameName) === 1
    ) {
      cost *= PENCIL_POINT_FACTOR
    }
    return (turning ? cost : cost * impact) * STOP_DENSITY[get(node, NodeField.density)]!
  }
}

/** Modes for which turning around inside a crossing is like any other turns. */
const TWO_WHEELED = new Set<Mode>(['motorcycle', 'motor_scooter'])

/** Zero at 0.5, slowly down to −0.125 for those who like it, up to 8 for those who do not. */
function avoidance(use: number): number {
  return use >= 0.5 ? (0.5 - use) ** 3 : 8 * (1 - 2 * use) ** 2
}

function tollFactor(mode: MotorMode, use: number): number {
  if (mode === 'motor_scooter' || mode === 'taxi') return 0
  if (use >= 0.5) return (0.5 - use) * 0.03
  return mode === 'truck' || mode === 'motorcycle' ? 2 - 4 * use : 4 - 8 * use
}

function surfaceFactor(mode: MotorMode, useTrails: number): number {
  if (mode !== 'motorcycle') return 0.5
  return useTrails >= 0.5 ? (0.5 - useTrails) ** 3 : Math.trunc(avoidance(useTrails))
}

function scooterRoads(usePrimary: number): number {
  return usePrimary >= 0.5 ? 1.5 - usePrimary : 3 - usePrimary * 5
}
