import { exactOrder } from './exact-order.ts'
import { OrderSearch } from './order-search.ts'
import { NO_WAY, Steps } from './steps.ts'

/**
 * Fixed ends of a tour; null for any stop. A closed tour returns from its last stop to its first; if only the last is
 * fixed, it begins there.
 */
export interface TourEnds {
  readonly first: number | null
  readonly last: number | null
  readonly closed: boolean
}

/** Maximum number of stops between the ends for which the optimum is computed exactly. */
const MOST_EXACT = 12

/**
 * The cheapest order of stops, in steps; null when no order with paths between all stops was found. Exact up to 12
 * stops between the ends. Larger ones are improved by exchanging neighbouring segments and reversing segments (Or-3opt
 * and 2-opt with asymmetric costs), then by random exchanges that are kept when they are hardly worse. Deterministic.
 *
 * @param costs from each stop to each other, row by row; infinite without a path
 */
export function* orderOf(costs: Float64Array, count: number, ends: TourEnds): Generator<void, number[] | null> {
  const { first, last, closed } = ends
  const base = first ?? last ?? 0
  // With both ends fixed, the return follows the last stop.
  const isRing = closed && (first === null || last === null)
  const [begin, end] = isRing ? [base, base] : [first, last]
  if (closed && !isRing && costs[last! * count + first!] === Infinity) return null
  const inner = Array.from({ length: count }, (_, i) => i).filter((i) => i !== begin && i !== end)
  const steps = new Steps(costs, count, [begin, ...inner, end])
  const search = inner.length <= MOST_EXACT ? null : new OrderSearch(steps)
  const best = search === null ? exactOrder(steps) : yield* search.run()
  if (steps.sumOf(best) >= NO_WAY) return null
  const between = Array.from(best.subarray(1, -1), (place) => inner[place - 1]!)
  if (isRing) return [base, ...between]
  return [...(begin === null ? [] : [begin]), ...between, ...(end === null ? [] : [end])]
}
