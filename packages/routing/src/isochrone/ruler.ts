import type { Graph } from '../graph/graph.ts'
import { METERS_PER_UNIT } from './grid.ts'

/** A place on a street, in millionths of a degree, with its share of the street's length. */
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
   * Visits the ends of a geometry, and places that divide it into equal pieces.
   *
   * @param spacing maximum length of a piece in metres
   */
  visit(shape: number, spacing: number, visit: VisitPlace): void {
    const { firstPoint, pointLon, pointLat } = this.#graph
    const first = firstPoint[shape]!
    const last = firstPoint[shape + 1]! - 1
    visit(pointLon[first]!, pointLat[first]!, 0)
    visit(pointLon[last]!, pointLat[last]!, 1)
    const length = this.#measure(first, last)
    const pieces = Math.ceil((length * METERS_PER_UNIT) / spacing)
    let segment = first
    for (let piece = 1; piece < pieces; piece++) {
      const at = (length * piece) / pieces
      while (segment + 1 < last && this.#along[segment + 1 - first]! < at) segment++
      const begin = this.#along[segment - first]!
      const part = this.#along[segment + 1 - first]! - begin
      const share = part > 0 ? Math.min(1, (at - begin) / part) : 0
      const lon = pointLon[segment]!
      const lat = pointLat[segment]!
      visit(lon + (pointLon[segment + 1]! - lon) * share, lat + (pointLat[segment + 1]! - lat) * share, piece / pieces)
    }
  }

  /** Planar lengths, which are exact enough: streets are short, and only shares of their length are used. */
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
