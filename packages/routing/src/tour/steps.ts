/** Costs are rounded to hundredths, so that sums and comparisons are exact. */
const SCALE = 100
/** The cost of a step without a path: more than any tour, and small enough for exact sums. */
export const NO_WAY = 1e11

/** The costs of steps between places: the first and the last are the ends, which may be free. */
export class Steps {
  readonly size: number
  readonly cost: Float64Array

  constructor(costs: Float64Array, count: number, stops: readonly (number | null)[]) {
    this.size = stops.length
    this.cost = new Float64Array(this.size * this.size)
    for (const [i, from] of stops.entries()) {
      for (const [j, to] of stops.entries()) {
        const cost = from === null || to === null ? 0 : costs[from * count + to]!
        this.cost[i * this.size + j] = cost < Infinity ? Math.round(cost * SCALE) : NO_WAY
      }
    }
  }

  sumOf(order: Int32Array): number {
    let sum = 0
    for (let i = 1; i < order.length; i++) sum += this.cost[order[i - 1]! * this.size + order[i]!]!
    return sum
  }
}
