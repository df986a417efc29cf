import { Limit } from '../graph/attributes.ts'
import { FlagField, get } from '../graph/fields.ts'
import { type Graph, LimitBits } from '../graph/graph.ts'
import { paysToll } from '../graph/toll.ts'
import type { CostOptions } from './option-table.ts'
import type { Profile } from './profile.ts'
import { firstAtLeast } from '../graph/first-at-least.ts'

/** Limits that apply to a vehicle. Limits that do not apply to its mode are ignored. */
export class Vehicle {
  readonly #graph: Graph
  /**
   * Size of the vehicle in the units of the limits, by kind of limit; zero where the limit does not apply to the mode.
   */
  readonly #size: Float64Array
  readonly #access: number
  /** Number of occupants, and whether the vehicle may pay a toll instead of having more. */
  readonly #occupants: number
  readonly #paysInstead: boolean

  /** @param access bit of the mode in the access masks */
  constructor(graph: Graph, access: number, profile: Profile, options: CostOptions) {
    this.#graph = graph
    this.#access = access
    this.#occupants = options.include_hov3 === true ? Infinity : options.include_hov2 === true ? 2 : 1
    this.#paysInstead = options.include_hot === true
    this.#size = vehicleSize(profile, options)
  }

  /** Whether the vehicle keeps the limits of an edge that apply without exception. */
  fits(edge: number): boolean {
    return !this.#breaks(edge, false)
  }

  /** Whether the vehicle may use an edge only because local traffic is exempt from a limit. */
  isTolerated(edge: number): boolean {
    return this.#breaks(edge, true)
  }

  /** Whether the vehicle is larger than a limit, of a type as in `Limit`. */
  exceeds(type: number, limit: number): boolean {
    return this.#size[type]! > limit
  }

  /** Whether the vehicle is small enough for a turn that is forbidden to some sizes. */
  mayTurn(from: number, to: number): boolean {
    const { sizedTurnFrom, sizedTurnTo, sizedTurnModes, sizedTurnType, sizedTurnValue } = this.#graph
    for (let i = firstAtLeast(sizedTurnFrom, from); sizedTurnFrom[i] === from; i++) {
      if (sizedTurnTo[i] !== to || (sizedTurnModes[i]! & this.#access) === 0) continue
      if (this.exceeds(sizedTurnType[i]!, sizedTurnValue[i]!)) return false
    }
    return true
  }

  #breaks(edge: number, exceptDestination: boolean): boolean {
    const { edgeFlags, limitEdge, limitType, limitValue, limitModes } = this.#graph
    if (get(edgeFlags[edge]!, FlagField.limits) === 0) return false
    for (let i = firstAtLeast(limitEdge, edge); limitEdge[i] === edge; i++) {
      const bits = limitType[i]!
      const exempt = (bits & LimitBits.exceptDestination) !== 0
      if (exempt !== exceptDestination || (limitModes[i]! & this.#access) === 0) continue
      const type = bits & LimitBits.type
      const size = this.#size[type]!
      const limit = limitValue[i]!
      if (type === Limit.hazmat) {
        if (size > 0 && limit === 0) return true
      } else if (type === Limit.minOccupants) {
        const pays = this.#paysInstead && paysToll(this.#graph, edge, this.#access)
        if (this.#occupants < limit && !pays) return true
      } else if (size > limit) return true
    }
    return false
  }
}

/** Size of a vehicle in the units of the limits, by kind of limit; zero where the limit does not apply to the mode. */
export function vehicleSize({ sizes }: Pick<Profile, 'sizes'>, options: CostOptions): Float64Array {
  const size = new Float64Array(Object.keys(Limit).length)
  for (const [limit, name] of Object.entries(sizes)) {
    const said = Number(options[name])
    size[Number(limit)] = WHOLE.has(Number(limit)) ? said : Math.round(said * 100)
  }
  return size
}

/** Limits that are integers; the others are in hundredths. */
const WHOLE = new Set<number>([Limit.maxAxles, Limit.hazmat])
