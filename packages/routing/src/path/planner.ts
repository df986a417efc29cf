import { bidirectionalSearch } from '../search/bidirectional.ts'
import { hierarchySearch } from '../search/cch/hierarchy.ts'
import { ngraphSearch } from '../search/ngraph.ts'
import { type AlternativeSearch, UNREACHABLE } from '../search/search.ts'
import type { Candidate } from '../snap/snap.ts'
import type { PreparedCosting } from '../network/costings.ts'
import { type Closures, type Ends, findPath, findPaths, type Path } from './path.ts'

/**
 * `hierarchy`: the fast searches of this package. `ngraph.path`: NBA* of that library, to compare answers with: many times
 * slower, on the same costs, and without alternates.
 */
export type SearchKind = 'hierarchy' | 'ngraph.path'

/**
 * Finds paths for one request. It takes the hierarchy of the costing when that is ready; while it is not, and when the
 * request closes edges, it searches the same graph from both ends.
 */
export class Planner {
  readonly #prepared: PreparedCosting
  readonly #closures: Closures
  readonly #kind: SearchKind

  constructor(prepared: PreparedCosting, closures: Closures, kind: SearchKind) {
    this.#prepared = prepared
    this.#closures = closures
    this.#kind = kind
  }

  /** The cheapest path between candidates, or null. */
  find(origins: readonly Candidate[], destinations: readonly Candidate[]): Path | null {
    const ends = { origins, destinations, closures: this.#closures }
    return findPath(this.#prepared.weights, this.#search(ends), ends)
  }

  /** Paths between candidates, the cheapest first; see `findPaths`. */
  findSeveral(
    origins: readonly Candidate[],
    destinations: readonly Candidate[],
    most: (cheapest: number) => number,
  ): Iterable<Path> {
    const ends = { origins, destinations, closures: this.#closures }
    return findPaths(this.#prepared.weights, this.#search(ends), ends, most)
  }

  #search(ends: Ends): AlternativeSearch {
    const { family, customized } = this.#prepared
    if (this.#kind === 'ngraph.path') return ngraphSearch(family.states, family.reverse, this.#weight(ends))
    if (customized !== null && this.#closures.size === 0) {
      return hierarchySearch(customized.metric, family.topology, family.hierarchyScratch)
    }
    const { positions, leastShare } = family.positions
    return bidirectionalSearch(family.states, family.reverse, {
      weight: this.#weight(ends),
      position: positions,
      weightPerMeter: (customized?.leastWeight ?? 0) * leastShare,
      scratch: family.bidirectionalScratch,
    })
  }

  /** Weights of arcs; none leads onto a closed edge but to a destination before the obstacle, none away but from an origin behind it. */
  #weight({ origins, destinations }: Ends): (arc: number, tail: number) => number {
    const { weights } = this.#prepared
    const closures = this.#closures
    if (closures.size === 0) return (arc, tail) => weights.arc(arc, tail)
    const { stateEdge, head } = weights.graph
    const left = new Set(origins.map(({ edge }) => edge))
    const reached = new Set(destinations.map(({ edge }) => edge))
    return (arc, tail) => {
      const from = stateEdge[tail]!
      const to = stateEdge[head[arc]!]!
      if ((closures.has(from) && !left.has(from)) || (closures.has(to) && !reached.has(to))) return UNREACHABLE
      return weights.arc(arc, tail)
    }
  }
}
