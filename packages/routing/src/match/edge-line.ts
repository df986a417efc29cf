import { EdgeField, get } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import { METERS_PER_DEGREE } from './trace.ts'

/** A place on an edge. */
export interface EdgePlace {
  /** Share of the edge before the place, 0 … 1. */
  readonly along: number
  readonly lon: number
  readonly lat: number
  /** Metres from the projected point. */
  readonly meters: number
}

/** The line of a directed edge, with shares of its length on the plane. */
export class EdgeLine {
  readonly lon: Float64Array
  readonly lat: Float64Array
  /** Share of the edge before each of its points. */
  readonly share: Float64Array
  readonly #lonMeters: number

  constructor({ edgeShape, edgeInfo, firstPoint, pointLon, pointLat }: Graph, edge: number) {
    const shape = edgeShape[edge]!
    const first = firstPoint[shape]!
    const last = firstPoint[shape + 1]! - 1
    const isForward = get(edgeInfo[edge]!, EdgeField.forward) === 1
    const count = last - first + 1
    this.lon = new Float64Array(count)
    this.lat = new Float64Array(count)
    this.share = new Float64Array(count)
    this.#lonMeters = METERS_PER_DEGREE * Math.cos(((pointLat[first]! / 1e6) * Math.PI) / 180)
    for (let i = 0; i < count; i++) {
      const at = isForward ? first + i : last - i
      this.lon[i] = pointLon[at]! / 1e6
      this.lat[i] = pointLat[at]! / 1e6
      if (i > 0) this.share[i] = this.share[i - 1]! + this.#part(i)
    }
    const total = this.share[count - 1]!
    for (let i = 1; i < count; i++) this.share[i] = total > 0 ? this.share[i]! / total : 1
  }

  /** The place at a share of the edge. */
  at(along: number): { lon: number; lat: number } {
    const { share, lon, lat } = this
    let i = 1
    while (i < share.length - 1 && share[i]! < along) i++
    const part = share[i]! - share[i - 1]!
    const rest = part > 0 ? Math.min(1, Math.max(0, (along - share[i - 1]!) / part)) : 0
    return { lon: lon[i - 1]! + rest * (lon[i]! - lon[i - 1]!), lat: lat[i - 1]! + rest * (lat[i]! - lat[i - 1]!) }
  }

  /** The place nearest to a point between two shares of the edge. */
  project(lon: number, lat: number, from = 0, to = 1): EdgePlace {
    let best: EdgePlace | null = null
    for (let i = 1; i < this.share.length; i++) {
      if (this.share[i]! < from || this.share[i - 1]! > to) continue
      const ax = (this.lon[i - 1]! - lon) * this.#lonMeters
      const ay = (this.lat[i - 1]! - lat) * METERS_PER_DEGREE
      const dx = (this.lon[i]! - this.lon[i - 1]!) * this.#lonMeters
      const dy = (this.lat[i]! - this.lat[i - 1]!) * METERS_PER_DEGREE
      const square = dx * dx + dy * dy
      const part = this.share[i]! - this.share[i - 1]!
      const free = square > 0 ? -(ax * dx + ay * dy) / square : 0
      const least = part > 0 ? Math.max(0, (from - this.share[i - 1]!) / part) : 0
      const most = part > 0 ? Math.min(1, (to - this.share[i - 1]!) / part) : 1
      const rest = Math.min(most, Math.max(least, free))
      const meters = Math.hypot(ax + rest * dx, ay + rest * dy)
      if (best !== null && meters >= best.meters) continue
      best = {
        along: this.share[i - 1]! + rest * part,
        lon: this.lon[i - 1]! + rest * (this.lon[i]! - this.lon[i - 1]!),
        lat: this.lat[i - 1]! + rest * (this.lat[i]! - this.lat[i - 1]!),
        meters,
      }
    }
    return best ?? { along: from, ...this.at(from), meters: this.metersFrom(from, lon, lat) }
  }

  /** Metres from a share of the edge to a point. */
  metersFrom(along: number, lon: number, lat: number): number {
    const at = this.at(along)
    return Math.hypot((at.lon - lon) * this.#lonMeters, (at.lat - lat) * METERS_PER_DEGREE)
  }

  #part(i: number): number {
    return Math.hypot(
      (this.lon[i]! - this.lon[i - 1]!) * this.#lonMeters,
      (this.lat[i]! - this.lat[i - 1]!) * METERS_PER_DEGREE,
    )
  }
}
