import type { Steps } from './steps.ts'

/** The cheapest of all orders (Bellman 1962; Held and Karp 1962): 2ᵐ·m sums for m places between the ends. */
export function exactOrder({ size, cost }: Steps): Int32Array {
  const inner = size - 2
  const order = Int32Array.from({ length: size }, (_, i) => i)
  if (inner < 2) return order
  const sets = 2 ** inner
  // Minimum cost from the first place via a set of places to one of them, by set and place.
  const least = new Float64Array(sets * inner).fill(Infinity)
  for (let set = 1; set < sets; set++) {
    for (let to = 0; to < inner; to++) {
      const before = set & ~(1 << to)
      if (before === set) continue
      let sum = before === 0 ? cost[to + 1]! : Infinity
      for (let from = 0; from < inner; from++) {
        if ((before & (1 << from)) === 0) continue
        sum = Math.min(sum, least[before * inner + from]! + cost[(from + 1) * size + to + 1]!)
      }
      least[set * inner + to] = sum
    }
  }
  for (let set = sets - 1, at = size - 2, next = size - 1; at > 0; at--) {
    let best = -1
    let sum = Infinity
    for (let from = 0; from < inner; from++) {
      if ((set & (1 << from)) === 0) continue
      const total = least[set * inner + from]! + cost[(from + 1) * size + next]!
      if (total < sum) [sum, best] = [total, from]
    }
    order[at] = next = best + 1
    set &= ~(1 << best)
  }
  return order
}
