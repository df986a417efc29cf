import { distanceMeters } from '../geometry/geodesy.ts'
import type { Graph } from '../graph/graph.ts'

/** A place on a street, in degrees, with its share of the way along it. */
interface Place {
  readonly lon: number
  readonly lat: number
  readonly share: number
}

/** Finds places along streets. Not re-entrant. */
export class Ruler {
  readonly #graph: Graph
  /** Distances along a street to each of its points. */
  #along = new Float64Array(64)

  constructor(graph: Graph) {
    this.#graph = graph
  }

  /** Places between the ends of a geometry, so many metres apart at most. */
  places(shape: number, spacing: number): Place[] {
    const { firstPoint, pointLon, pointLat } = this.#graph
    const first = firstPoint[shape]!
    const last = firstPoint[shape + 1]! - 1
    const length = this.#measure(first, last)
    const pieces = Math.ceil(length / spacing)
    const places: Place[] = []
    let segment = first
    for (let piece = 1; piece < pieces; piece++) {
      const meters = (length * piece) / pieces
      while (segment + 1 < last && this.#along[segment + 1 - first]! < meters) segment++
      const begin = this.#along[segment - first]!
      const part = this.#along[segment + 1 - first]! - begin
      const share = part > 0 ? Math.min(1, (meters - begin) / part) : 0
      places.push({
        lon: (pointLon[segment]! + (pointLon[segment + 1]! - pointLon[segment]!) * share) / 1e6,
        lat: (pointLat[segment]! + (pointLat[segment + 1]! - pointLat[segment]!) * share) / 1e6,
        share: piece / pieces,
      })
    }
    return places
  }

  #measure(first: number, last: number): number {
    const { pointLon, pointLat } = this.#graph
    if (last - first + 1 > this.#along.length) this.#along = new Float64Array(2 * (last - first + 1))
    for (let i = first; i < last; i++) {
      const part = distanceMeters(
        pointLon[i]! / 1e6,
        pointLat[i]! / 1e6,
        pointLon[i + 1]! / 1e6,
        pointLat[i + 1]! / 1e6,
      )
      this.#along[i + 1 - first] = this.#along[i - first]! + part
    }
    return this.#along[last - first]!
  }
}
