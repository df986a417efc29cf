import { bidirectionalSearch, distanceEstimate } from '../search/bidirectional.ts'
import { hierarchySearch } from '../search/cch/hierarchy.ts'
import { ngraphSearch } from '../search/ngraph.ts'
import { type AlternativeSearch, UNREACHABLE } from '../search/search.ts'
import type { Candidate } from '../snap/candidate.ts'
import type { PreparedCosting } from '../network/costings.ts'
import { type Clock, isInTime, searchInTime } from './clock.ts'
import { type Closures, type Ends, findPath, findPaths, type Path } from './path.ts'

/**
 * `hierarchy`: the fast searches of this package. `ngraph.path`: NBA* of that library, for comparison; many times
 * slower, with the same costs, and without alternates.
 */
export type SearchKind = 'hierarchy' | 'ngraph.path'

/**
 * Finds paths for one request with the hierarchy of the costing. A bidirectional search replaces it while the hierarchy
 * is not ready, or when the request closes edges of the cheapest path.
 */
export class Planner {
  readonly #prepared: PreparedCosting
  readonly #closures: Closures
  readonly #kind: SearchKind
  readonly #clock: Clock | null

  /**
   * @param clock the timed rules for paths, for a costing that may use all edges that are open at some time; null for
   * none
   */
  constructor(prepared: PreparedCosting, closures: Closures, kind: SearchKind, clock: Clock | null = null) {
    this.#prepared = prepared
    this.#closures = closures
    this.#kind = kind
    this.#clock = clock
  }

  /** The cheapest path between candidates for a departure at a moment, or null. */
  find(origins: readonly Candidate[], destinations: readonly Candidate[], startMs = 0): Path | null {
    const ends = { origins: this.#openAt(origins, startMs), destinations, closures: this.#closures }
    const inTime = this.#cheapest(ends)
    const path = inTime === null || this.#keepsTime(inTime, startMs) ? inTime : this.#cheapestInTime(ends, startMs)
    return path === null || this.#isExcluded(path) ? null : path
  }

  /** Paths between candidates, the cheapest first; see `findPaths`. */
  *findSeveral(
    origins: readonly Candidate[],
    destinations: readonly Candidate[],
    most: (cheapest: number) => number,
    startMs = 0,
  ): Iterable<Path> {
    const ends = { origins: this.#openAt(origins, startMs), destinations, closures: this.#closures }
    const hierarchy = this.#closures.size === 0 ? this.#hierarchy() : null
    for (const path of findPaths(this.#prepared.weights, hierarchy ?? this.#search(ends), ends, most)) {
      if (!this.#isExcluded(path) && this.#keepsTime(path, startMs)) yield path
    }
  }

  /** Origins that no timed rule closes; all origins if every one is closed, because the trip must begin somewhere. */
  #openAt(origins: readonly Candidate[], startMs: number): readonly Candidate[] {
    const open = origins.filter(({ edge }) => this.#clock?.law.edge(edge, startMs) !== 'closed')
    return open.length > 0 ? open : origins
  }

  #isExcluded({ edges }: Path): boolean {
    return this.#prepared.costing.exclusions.arePassed(edges.map(({ edge }) => edge))
  }

  #keepsTime({ edges }: Path, startMs: number): boolean {
    const { weights } = this.#prepared
    return this.#clock === null || isInTime(weights, this.#clock, edges, startMs)
  }

  /** The cheapest path that obeys the timed rules, used when the cheapest path without them violates one. */
  #cheapestInTime(ends: Ends, startMs: number): Path | null {
    const { turns, customized, weights } = this.#prepared
    const { positions, leastShare } = turns.positions
    const estimate = distanceEstimate(positions, (customized?.leastWeight ?? 0) * leastShare)
    const targets = ends.destinations.flatMap(({ edge }) => [...weights.statesOf(edge)].slice(0, 1))
    const ground = {
      states: turns.states,
      weights,
      weight: this.#weightOf(ends),
      estimate: (vertex: number) => estimate(vertex, targets),
    }
    return findPath(weights, searchInTime(ground, this.#clock!, startMs), ends)
  }

  #cheapest(ends: Ends): Path | null {
    const { weights } = this.#prepared
    const hierarchy = this.#hierarchy()
    if (hierarchy !== null) {
      // Closures only remove paths, so the cheapest path without closures is the result if it uses no closed edge.
      const path = findPath(weights, hierarchy, ends)
      const isClosed = this.#closedSteps(ends)
      if (path === null || !path.edges.some(({ edge }, i) => i > 0 && isClosed(path.edges[i - 1]!.edge, edge)))
        return path
    }
    return findPath(weights, this.#search(ends), ends)
  }

  /** A hierarchy search without closures; null while the hierarchy is not ready or another search is configured. */
  #hierarchy(): AlternativeSearch | null {
    const { turns, customized } = this.#prepared
    if (customized === null || this.#kind !== 'hierarchy') return null
    return hierarchySearch(customized.metric, turns.topology, turns.hierarchyScratch)
  }

  /** A search without preparation that obeys closures. */
  #search(ends: Ends): AlternativeSearch {
    const { turns, customized } = this.#prepared
    const weight = this.#weightOf(ends)
    if (this.#kind === 'ngraph.path') return ngraphSearch(turns.states, turns.reverse, weight)
    const { positions, leastShare } = turns.positions
    return bidirectionalSearch(turns.states, turns.reverse, {
      weight,
      position: positions,
      weightPerMeter: (customized?.leastWeight ?? 0) * leastShare,
      scratch: turns.bidirectionalScratch,
    })
  }

  #weightOf(ends: Ends): (arc: number, tail: number) => number {
    const { weights } = this.#prepared
    const { graph } = weights
    const isClosed = this.#closedSteps(ends)
    return (arc, tail) =>
      isClosed(graph.edgeOf(tail), graph.edgeOf(graph.head[arc]!)) ? UNREACHABLE : weights.arc(arc, tail)
  }

  /**
   * Returns a test for closed steps: a closed edge may be entered only at a destination, and left only from an origin.
   */
  #closedSteps({ origins, destinations }: Ends): (from: number, to: number) => boolean {
    const closures = this.#closures
    if (closures.size === 0) return () => false
    const left = new Set(origins.map(({ edge }) => edge))
    const reached = new Set(destinations.map(({ edge }) => edge))
    return (from, to) => (closures.has(from) && !left.has(from)) || (closures.has(to) && !reached.has(to))
  }
}
