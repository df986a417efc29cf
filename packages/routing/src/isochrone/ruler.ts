import type { Graph } from '../graph/graph.ts'

/** A place on a street, in degrees, with its share of the way along it. */
export type VisitPlace = (lon: number, lat: number, share: number) => void

/** Finds places along streets. Not re-entrant. */
export class Ruler {
  readonly #graph: Graph
  /** Distances along a street to each of its points, in 1e-6 degrees of latitude. */
  #along = new Float64Array(64)

  constructor(graph: Graph) {
    this.#graph = graph
  }

  /**
   * Visits the places that cut a geometry into equal pieces.
   *
   * @param pieces how many; the ends are not visited
   */
  visit(shape: number, pieces: number, visit: VisitPlace): void {
    if (pieces < 2) return
    const { firstPoint, pointLon, pointLat } = this.#graph
    const first = firstPoint[shape]!
    const last = firstPoint[shape + 1]! - 1
    const length = this.#measure(first, last)
    let segment = first
    for (let piece = 1; piece < pieces; piece++) {
      const at = (length * piece) / pieces
      while (segment + 1 < last && this.#along[segment + 1 - first]! < at) segment++
      const begin = this.#along[segment - first]!
      const part = this.#along[segment + 1 - first]! - begin
      const share = part > 0 ? Math.min(1, (at - begin) / part) : 0
      visit(
        (pointLon[segment]! + (pointLon[segment + 1]! - pointLon[segment]!) * share) / 1e6,
        (pointLat[segment]! + (pointLat[segment + 1]! - pointLat[segment]!) * share) / 1e6,
        piece / pieces,
      )
    }
  }

  /** On a plane: a street is short, and only shares of its length are asked for. */
  #measure(first: number, last: number): number {
    const { pointLon, pointLat } = this.#graph
    if (last - first + 1 > this.#along.length) this.#along = new Float64Array(2 * (last - first + 1))
    const along = this.#along
    const perLon = Math.cos((pointLat[first]! / 1e6) * (Math.PI / 180))
    for (let i = first; i < last; i++) {
      const dx = (pointLon[i + 1]! - pointLon[i]!) * perLon
      const dy = pointLat[i + 1]! - pointLat[i]!
      along[i + 1 - first] = along[i - first]! + Math.sqrt(dx * dx + dy * dy)
    }
    return along[last - first]!
  }
}
