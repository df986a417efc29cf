import { Limit } from '../graph/attributes.ts'
import { FlagField, get } from '../graph/fields.ts'
import { type Graph, LimitBits } from '../graph/graph.ts'
import type { CostOptions, Mode } from './options.ts'
import { firstAtLeast } from '../graph/first-at-least.ts'

/** What a vehicle of some size may pass. Limits that a mode is not held to are never broken. */
export class Vehicle {
  readonly #graph: Graph
  /** Size of the vehicle in the units of the limits, by kind of limit; zero where the mode is not held to it. */
  readonly #size: Float64Array
  readonly #truck: boolean

  constructor(graph: Graph, mode: Mode, options: CostOptions) {
    this.#graph = graph
    this.#truck = mode === 'truck'
    this.#size = vehicleSize(mode, options)
  }

  /** Whether the vehicle keeps the limits of an edge that hold for everybody. */
  fits(edge: number): boolean {
    return !this.#breaks(edge, false)
  }

  /** Whether the vehicle may use an edge only because those with business there need not keep a limit. */
  isTolerated(edge: number): boolean {
    return this.#breaks(edge, true)
  }

  #breaks(edge: number, exceptDestination: boolean): boolean {
    const { edgeFlags, limitEdge, limitType, limitValue } = this.#graph
    if (get(edgeFlags[edge]!, FlagField.limits) === 0) return false
    for (let i = firstAtLeast(limitEdge, edge); limitEdge[i] === edge; i++) {
      const bits = limitType[i]!
      const exempt = (bits & LimitBits.exceptDestination) !== 0
      if (exempt !== exceptDestination || ((bits & LimitBits.trucksOnly) !== 0 && !this.#truck)) continue
      const type = bits & LimitBits.type
      const size = this.#size[type]!
      if (type === Limit.hazmat ? size > 0 && limitValue[i] === 0 : size > limitValue[i]!) return true
    }
    return false
  }
}

/** Modes that are held to height and width; lorries to all limits. */
const SIZED = new Set<Mode>(['auto', 'bus', 'taxi', 'truck'])

/** Size of a vehicle in the units of limits, by kind of limit; zero where the mode is not held to it. */
export function vehicleSize(mode: Mode, options: CostOptions): Float64Array {
  const size = new Float64Array(Object.keys(Limit).length)
  if (!SIZED.has(mode)) return size
  const hundredth = (name: string): number => Math.round(Number(options[name]) * 100)
  size[Limit.maxHeight] = hundredth('height')
  size[Limit.maxWidth] = hundredth('width')
  if (mode !== 'truck') return size
  size[Limit.maxLength] = hundredth('length')
  size[Limit.maxWeight] = hundredth('weight')
  size[Limit.maxAxleLoad] = hundredth('axle_load')
  size[Limit.maxAxles] = Number(options.axle_count)
  size[Limit.hazmat] = options.hazmat === true ? 1 : 0
  return size
}
