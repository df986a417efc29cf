import { bidirectionalSearch } from '../search/bidirectional.ts'
import { hierarchySearch } from '../search/cch/hierarchy.ts'
import { ngraphSearch } from '../search/ngraph.ts'
import { type AlternativeSearch, UNREACHABLE } from '../search/search.ts'
import type { Candidate } from '../snap/snap.ts'
import type { PreparedCosting } from '../network/costings.ts'
import { FamilyNetwork } from '../network/family.ts'
import { type Closures, type Ends, findPath, findPaths, type Path } from './path.ts'

/**
 * `hierarchy`: the fast searches of this package. `ngraph.path`: NBA* of that library, to compare answers with: many times
 * slower, on the same costs, and without alternates.
 */
export type SearchKind = 'hierarchy' | 'ngraph.path'

/**
 * Finds paths for one request. It takes the hierarchy of the costing when that is ready; while it is not, and when the
 * request closes edges that the cheapest path uses, it searches the same graph from both ends.
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
    const path = this.#cheapest(ends)
    return path === null || this.#isExcluded(path) ? null : path
  }

  /** Paths between candidates, the cheapest first; see `findPaths`. */
  *findSeveral(
    origins: readonly Candidate[],
    destinations: readonly Candidate[],
    most: (cheapest: number) => number,
  ): Iterable<Path> {
    const ends = { origins, destinations, closures: this.#closures }
    const hierarchy = this.#closures.size === 0 ? this.#hierarchy() : null
    for (const path of findPaths(this.#prepared.weights, hierarchy ?? this.#search(ends), ends, most)) {
      if (!this.#isExcluded(path)) yield path
    }
  }

  #isExcluded({ edges }: Path): boolean {
    return this.#prepared.costing.exclusions.arePassed(edges.map(({ edge }) => edge))
  }

  #cheapest(ends: Ends): Path | null {
    const { weights } = this.#prepared
    const hierarchy = this.#hierarchy()
    if (hierarchy !== null) {
      // Closures only take paths away: the cheapest of all is the cheapest that is left, if it is left.
      const path = findPath(weights, hierarchy, ends)
      const isClosed = this.#closedSteps(ends)
      if (path === null || !path.edges.some(({ edge }, i) => i > 0 && isClosed(path.edges[i - 1]!.edge, edge)))
        return path
    }
    return findPath(weights, this.#search(ends), ends)
  }

  /** The search that knows nothing of closures; null while it is not ready. */
  #hierarchy(): AlternativeSearch | null {
    const { family, customized } = this.#prepared
    if (customized === null || this.#kind !== 'hierarchy' || !(family instanceof FamilyNetwork)) return null
    return hierarchySearch(customized.metric, family.topology, family.hierarchyScratch)
  }

  /** A search that needs no preparation and heeds closures. */
  #search(ends: Ends): AlternativeSearch {
    const { family, customized, weights } = this.#prepared
    const { stateEdge, head } = weights.graph
    const isClosed = this.#closedSteps(ends)
    const weight = (arc: number, tail: number): number =>
      isClosed(stateEdge[tail]!, stateEdge[head[arc]!]!) ? UNREACHABLE : weights.arc(arc, tail)
    if (this.#kind === 'ngraph.path') return ngraphSearch(family.states, family.reverse, weight)
    const { positions, leastShare } = family.positions
    return bidirectionalSearch(family.states, family.reverse, {
      weight,
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
