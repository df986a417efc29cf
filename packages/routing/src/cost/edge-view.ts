import { Use } from '../graph/attributes.ts'
import { EdgeField, get, isForLocals, NodeField, tailOf, TrafficField } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import { paysToll } from '../graph/toll.ts'

/** An edge of a graph for cost functions. One view is moved from edge to edge; its values are read on demand. */
export class EdgeView {
  readonly #graph: Graph
  readonly #access: number
  #edge = 0
  #info = 0
  #traffic = 0
  #kmh = 0

  /** @param access bit of the mode in the access masks */
  constructor(graph: Graph, access: number) {
    this.#graph = graph
    this.#access = access
  }

  /** Moves to an edge, with a speed in km/h; zero keeps the usual speed. */
  at(edge: number, kmh = 0): this {
    this.#edge = edge
    this.#info = this.#graph.edgeInfo[edge]!
    this.#traffic = this.#graph.edgeTraffic[edge]!
    this.#kmh = kmh
    return this
  }

  get meters(): number {
    return this.#graph.edgeLength[this.#edge]!
  }

  /** Modes that may use the edge, as bits. */
  get access(): number {
    return get(this.#info, EdgeField.access)
  }

  get use(): number {
    return get(this.#info, EdgeField.use)
  }

  /** Whether the edge is a cycleway, a footway or a path. */
  get isPath(): boolean {
    const { use } = this
    return use === Use.cycleway || use === Use.footway || use === Use.path
  }

  get roadClass(): number {
    return get(this.#info, EdgeField.roadClass)
  }

  get surface(): number {
    return get(this.#info, EdgeField.surface)
  }

  get hikingDifficulty(): number {
    return get(this.#info, EdgeField.hikingDifficulty)
  }

  get lanes(): number {
    return get(this.#info, EdgeField.lanes)
  }

  get cycleLane(): number {
    return get(this.#info, EdgeField.cycleLane)
  }

  get hasShoulder(): boolean {
    return get(this.#traffic, TrafficField.shoulder) === 1
  }

  /** Km/h. */
  get speed(): number {
    return this.#kmh || get(this.#traffic, TrafficField.speed)
  }

  /** Truck speed in km/h if trucks have their own limit; else zero. */
  get truckSpeed(): number {
    return get(this.#traffic, TrafficField.truckSpeed)
  }

  /** Density of roads, 0 … 15, as the mean of both ends. */
  get density(): number {
    const { nodeInfo, edgeHead } = this.#graph
    const end = get(nodeInfo[edgeHead[this.#edge]!]!, NodeField.density)
    return (end + get(nodeInfo[tailOf(this.#graph, this.#edge)]!, NodeField.density)) >> 1
  }

  /** Whether the mode pays a toll. */
  get hasToll(): boolean {
    return paysToll(this.#graph, this.#edge, this.#access)
  }

  get isTruckRoute(): boolean {
    return get(this.#traffic, TrafficField.truckRoute) === 1
  }

  get isBikeNetwork(): boolean {
    return get(this.#traffic, TrafficField.bikeNetwork) === 1
  }

  /** Whether bicycles must use the path beside the street. */
  get hasSidepath(): boolean {
    return get(this.#traffic, TrafficField.useSidepath) === 1
  }

  get mustDismount(): boolean {
    return get(this.#traffic, TrafficField.dismount) === 1
  }

  get isLit(): boolean {
    return get(this.#traffic, TrafficField.lit) === 1
  }

  get hasSidewalk(): boolean {
    return (get(this.#traffic, TrafficField.sidewalkLeft) | get(this.#traffic, TrafficField.sidewalkRight)) === 1
  }

  get isRoundabout(): boolean {
    return get(this.#traffic, TrafficField.roundabout) === 1
  }

  /** Whether the edge is for local traffic only. */
  get isLocal(): boolean {
    return isForLocals(this.#graph, this.#edge, this.#access)
  }
}
