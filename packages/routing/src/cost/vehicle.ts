import { Limit } from '../graph/attributes.ts'
import { FlagField, get } from '../graph/fields.ts'
import { type Graph, LimitBits } from '../graph/graph.ts'
import type { CostOptions } from './options.ts'
import type { Profile } from './profile.ts'
import { firstAtLeast } from '../graph/first-at-least.ts'

/** What a vehicle of some size may pass. Limits that a mode is not held to are never broken. */
export class Vehicle {
  readonly #graph: Graph
  /** Size of the vehicle in the units of the limits, by kind of limit; zero where the mode is not held to it. */
  readonly #size: Float64Array
  readonly #isLorry: boolean

  constructor(graph: Graph, profile: Profile, options: CostOptions) {
    this.#graph = graph
    this.#isLorry = profile.isLorry === true
    this.#size = vehicleSize(profile, options)
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
      if (exempt !== exceptDestination || ((bits & LimitBits.trucksOnly) !== 0 && !this.#isLorry)) continue
      const type = bits & LimitBits.type
      const size = this.#size[type]!
      if (type === Limit.hazmat ? size > 0 && limitValue[i] === 0 : size > limitValue[i]!) return true
    }
    return false
  }
}

/** Size of a vehicle in the units of limits, by kind of limit; zero where the mode is not held to it. */
export function vehicleSize({ sizes }: Pick<Profile, 'sizes'>, options: CostOptions): Float64Array {
  const size = new Float64Array(Object.keys(Limit).length)
  for (const [limit, name] of Object.entries(sizes)) {
    const said = Number(options[name])
    size[Number(limit)] = WHOLE.has(Number(limit)) ? said : Math.round(said * 100)
  }
  return size
}

/** Limits that are counted; the others have hundredths. */
const WHOLE = new Set<number>([Limit.maxAxles, Limit.hazmat])
