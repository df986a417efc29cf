import { Use } from '../graph/attributes.ts'
import { EdgeField, get, NodeField, TurnField } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import { timedOpenings } from '../graph/timed.ts'
import type { CostOptions } from './option-table.ts'

/** Access of a mode, with the rules that its options disable. As in Valhalla 3.6 (`sif/dynamiccost.h`). */
export class Rights {
  /** Whether options open streets that no mode of the family may use. */
  readonly everywhere: boolean
  /** Modes whose turn restrictions apply. */
  readonly boundModes: number
  /** Whether limits of height, weight and the like are ignored. */
  readonly ignoresLimits: boolean
  readonly #graph: Graph
  readonly #access: number
  /** Modes of the vehicle; an edge must admit one of them, in its direction and in the other. */
  readonly #along: number
  readonly #against: number
  readonly #ignoresConstruction: boolean
  /** Modes that may use an edge only at certain times; null when such edges stay closed. */
  readonly #openings: ReadonlyMap<number, number> | null

  /** @param access bit of the mode in the access masks */
  constructor(graph: Graph, access: number, options: CostOptions) {
    this.#graph = graph
    this.#access = access
    const ignoresAccess = options.ignore_access === true
    const ignoresOneways = options.ignore_oneways === true
    this.everywhere = ignoresAccess || ignoresOneways
    this.ignoresLimits = options.ignore_restrictions === true
    this.boundModes = this.ignoresLimits || options.ignore_non_vehicular_restrictions === true ? 0 : access
    this.#along = ignoresAccess ? ANY_MODE : access
    this.#against = ignoresOneways ? this.#along : 0
    this.#ignoresConstruction = options.ignore_construction === true
    this.#openings = options[AT_SOME_TIME] === true ? timedOpenings(graph) : null
  }

  edge(edge: number): boolean {
    const { edgeInfo, edgeOpposite } = this.#graph
    if (!this.#ignoresConstruction && get(edgeInfo[edge]!, EdgeField.use) === Use.construction) return false
    if ((get(edgeInfo[edge]!, EdgeField.access) & this.#along) !== 0) return true
    if (this.#openings !== null && ((this.#openings.get(edge) ?? 0) & this.#access) !== 0) return true
    return this.#against !== 0 && (get(edgeInfo[edgeOpposite[edge]!]!, EdgeField.access) & this.#against) !== 0
  }

  node(node: number): boolean {
    const info = this.#graph.nodeInfo[node]!
    if (this.#along === ANY_MODE || (get(info, NodeField.access) & this.#access) !== 0) return true
    return this.#openings !== null && this.boundModes !== 0 && get(info, NodeField.opensAtTimes) === 1
  }

  turn(turn: number): boolean {
    return (get(turn, TurnField.forbidden) & this.boundModes) === 0
  }
}

/** Internal option of a costing that may use everything that is open at some time; requests cannot set it. */
export const AT_SOME_TIME = 'at_some_time'

const ANY_MODE = EdgeField.access.mask
