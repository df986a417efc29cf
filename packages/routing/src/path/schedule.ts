import type { Costing } from '../cost/costing.ts'
import type { Graph } from '../graph/graph.ts'
import type { DateTime } from '../request/parts.ts'
import { utcOf, zoneAt } from '../time/zones.ts'
import { elapsed, type SpeedAt } from './elapsed.ts'
import type { Leg } from './legs.ts'
import type { Path } from './path.ts'

/** Maximum number of shifts of a departure until the arrival is in time. */
const MOST_TRIES = 4

interface Place {
  readonly lon: number
  readonly lat: number
  /** Waiting time in seconds. */
  readonly waiting: number
}

/**
 * The moments at which a trip is at its locations, in milliseconds since 1970. Times of a request are local: of
 * departure, of arrival, or a constant time for the whole trip.
 */
export class Schedule {
  readonly stands: boolean
  /** Time at each location, as far as known. */
  readonly moments: number[]
  readonly #places: readonly Place[]
  /** Requested time of arrival, or null. */
  readonly #deadline: number | null

  constructor({ type, value }: DateTime, places: readonly Place[], now: Date) {
    this.#places = places
    this.stands = type === 'invariant'
    const { lon, lat } = type === 'arrive' ? places.at(-1)! : places[0]!
    const moment = value === 'current' ? now.getTime() : utcOf(value, zoneAt(lon, lat))
    this.#deadline = type === 'arrive' ? moment : null
    this.moments = [moment]
  }

  /** Time at which leg `i` begins. */
  begin(i: number): number {
    return this.moments[i] ?? this.moments.at(-1)!
  }

  /** Records the path from location `i` to the next. */
  note({ graph, costing }: { graph: Graph; costing: Costing }, i: number, path: Path, speedAt?: SpeedAt): void {
    const seconds = elapsed(graph, costing, path.edges, speedAt).seconds.at(-1) ?? 0
    const stay = this.#places[i + 1]?.waiting ?? 0
    this.moments[i + 1] = this.begin(i) + (this.stands ? 0 : (seconds + stay) * 1000)
  }

  /** Plans the legs; with a deadline, the departure is shifted until the arrival is in time. */
  plan(legsFrom: () => Leg[] | null): Leg[] | null {
    if (this.#deadline === null) return legsFrom()
    let legs: Leg[] | null = null
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      legs = legsFrom()
      if (legs === null) return null
      const late = this.moments.at(-1)! - this.#deadline
      if (late === 0) break
      const start = this.moments[0]! - late
      if (tries + 1 < MOST_TRIES) this.moments.splice(0, this.moments.length, start)
    }
    return legs
  }
}
