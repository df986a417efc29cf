import { bidirectionalSearch } from '../search/bidirectional.ts'
import { hierarchySearch } from '../search/cch/hierarchy.ts'
import { type AlternativeSearch, UNREACHABLE } from '../search/search.ts'
import type { Candidate } from '../snap/snap.ts'
import type { PreparedCosting } from '../network/costings.ts'
import { FamilyNetwork } from '../network/family.ts'
import { type Closures, type Ends, findPath, findPaths, type Path } from './path.ts'

/**
 * Finds paths for one request. It takes the hierarchy of the costing when that is ready; while it is not, and when the
 * request closes edges, it searches the same graph from both ends.
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
    const path = findPath(this.#prepared.weights, this.#search(ends), ends)
    return path === null || this.#isExcluded(path) ? null : path
  }

  /** Paths between candidates, the cheapest first; see `findPaths`. */
  *findSeveral(
    origins: readonly Candidate[],
    destinations: readonly Candidate[],
    most: (cheapest: number) => number,
  ): Iterable<Path> {
    const ends = { origins, destinations, closures: this.#closures }
    for (const path of findPaths(this.#prepared.weights, this.#search(ends), ends, most)) {
      if (!this.#isExcluded(path)) yield path
    }
  }

  #isExcluded({ edges }: Path): boolean {
    return this.#prepared.costing.exclusions.arePassed(edges.map(({ edge }) => edge))
  }

  #search(ends: Ends): AlternativeSearch {
    const { family, customized } = this.#prepared
    if (customized !== null && family instanceof FamilyNetwork && this.#closures.size === 0) {
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
