import { bidirectionalSearch } from '../search/bidirectional.ts'
import { hierarchySearch } from '../search/cch/hierarchy.ts'
import { type AlternativeSearch, UNREACHABLE } from '../search/search.ts'
import type { Candidate } from '../snap/snap.ts'
import type { PreparedCosting } from '../network/costings.ts'
import { type Closures, type Ends, findPath, findPaths, type Path } from './path.ts'

/**
 * Finds paths for one request. It takes the hierarchy of the costing when that is ready; while it is not, and when the
 * request closes edges that the cheapest path uses, it searches the same graph from both ends.
 */
export class Planner {
  readonly #prepared: PreparedCosting
  readonly #closures: Closures

  constructor(prepared: PreparedCosting, closures: Closures) {
    this.#prepared = prepared
    this.#closures = closures
  }

  /** The cheapest path between candidates, or null. */
  find(origins: readonly Candidate[], destinations: readonly Candidate[]): Path | null {
    const ends = { origins, destinations, closures: this.#closures }
    const { weights } = this.#prepared
    const hierarchy = this.#hierarchy()
    if (hierarchy !== null) {
      // Closures only take paths away: the cheapest of all is the cheapest that is left, if it is left.
      const path = findPath(weights, hierarchy, ends)
      const isClosed = this.#closedSteps(ends)
      if (path === null || !path.edges.some(({ edge }, i) => i > 0 && isClosed(path.edges[i - 1]!.edge, edge)))
        return path
    }
    return findPath(weights, this.#bidirectional(ends), ends)
  }

  /** Paths between candidates, the cheapest first; see `findPaths`. */
  findSeveral(
    origins: readonly Candidate[],
    destinations: readonly Candidate[],
    most: (cheapest: number) => number,
  ): Iterable<Path> {
    const ends = { origins, destinations, closures: this.#closures }
    const hierarchy = this.#closures.size === 0 ? this.#hierarchy() : null
    return findPaths(this.#prepared.weights, hierarchy ?? this.#bidirectional(ends), ends, most)
  }

  #hierarchy(): AlternativeSearch | null {
    const { family, customized } = this.#prepared
    return customized && hierarchySearch(customized.metric, family.topology, family.hierarchyScratch)
  }

  #bidirectional(ends: Ends): AlternativeSearch {
    const { family, customized, weights } = this.#prepared
    const { positions, leastShare } = family.positions
    const { stateEdge, head } = weights.graph
    const isClosed = this.#closedSteps(ends)
    return bidirectionalSearch(family.states, family.reverse, {
      weight: (arc, tail) =>
        isClosed(stateEdge[tail]!, stateEdge[head[arc]!]!) ? UNREACHABLE : weights.arc(arc, tail),
      position: positions,
      weightPerMeter: (customized?.leastWeight ?? 0) * leastShare,
      scratch: family.bidirectionalScratch,
    })
  }

  /**
   * Tells whether a step from an edge to the next is closed: onto a closed edge one may go only to a destination before
   * the obstacle, and away from one only from an origin behind it.
   */
  #closedSteps({ origins, destinations }: Ends): (from: number, to: number) => boolean {
    const closures = this.#closures
    if (closures.size === 0) return () => false
    const left = new Set(origins.map(({ edge }) => edge))
    const reached = new Set(destinations.map(({ edge }) => edge))
    return (from, to) => (closures.has(from) && !left.has(from)) || (closures.has(to) && !reached.has(to))
  }
}
