import { FANOUT, leafBegin, leafEnd } from '../snap/boxes.ts'
import { shapeEdges } from '../snap/shape-edges.ts'
import { UNREACHABLE } from '../search/search.ts'
import type { StateWeights } from '../states/weights.ts'

/** A place on an edge near a point of a trace. */
export interface Nearby {
  readonly edge: number
  /** Share of the edge before the place, 0 … 1. */
  readonly along: number
  readonly lon: number
  readonly lat: number
  /** Metres from the point. */
  readonly meters: number
}

const METERS_PER_DEGREE = 111_319.5
const SCALE = 1e6

/** Finds the streets around the points of a trace. Its arrays are reused for each point. */
export class Streets {
  readonly #weights: StateWeights
  readonly #edgesOf: Uint32Array
  /** Window in 1e-6 degrees: west, south, east, north. */
  readonly #window = new Float64Array([1, 1, 0, 0])
  #lonMeters = 1
  /** Leaves of the box tree in the window: shape, first and last point, and box of each. */
  #leaves: number[] = []
  readonly #stack: number[] = []
  /** Additional radius in metres for which streets are collected, for subsequent points nearby. */
  ahead = 0

  constructor(weights: StateWeights) {
    this.#weights = weights
    this.#edgesOf = shapeEdges(weights.network)
  }

  /** Places on open streets within a radius: the nearest place of each street, in both directions, nearest first. */
  find(lon: number, lat: number, radius: number, most: number): Nearby[] {
    const x = lon * SCALE
    const y = lat * SCALE
    const dy = (radius / METERS_PER_DEGREE) * SCALE
    const dx = dy / Math.max(0.01, Math.cos((lat * Math.PI) / 180))
    const [west, south, east, north] = this.#window
    const isCovered = this.ahead > 0 && x - dx >= west! && x + dx <= east! && y - dy >= south! && y + dy <= north!
    if (!isCovered) this.#gather(lon, lat, radius)
    const found: Place[] = []
    const leaves = this.#leaves
    for (let at = 0; at < leaves.length; at += LEAF) {
      if (leaves[at + 3]! > x + dx || leaves[at + 5]! < x - dx) continue
      if (leaves[at + 4]! > y + dy || leaves[at + 6]! < y - dy) continue
      this.#project(at, { x, y, radius }, found)
    }
    found.sort((a, b) => a.meters - b.meters)
    const places: Nearby[] = []
    for (let i = 0; i < found.length && i < most; i++) this.#place(found[i]!, places)
    return places
  }

  /** Finds the nearest place of a leaf; it replaces a farther place of the same street. */
  #project(leaf: number, { x, y, radius }: { x: number; y: number; radius: number }, found: Place[]): void {
    const { pointLon, pointLat } = this.#weights.network
    const latMeters = METERS_PER_DEGREE / SCALE
    const lonMeters = this.#lonMeters
    const shape = this.#leaves[leaf]!
    const first = this.#leaves[leaf + 1]!
    const end = this.#leaves[leaf + 2]!
    let best = radius * radius
    let bestAt = -1
    let bestShare = 0
    let ax = (pointLon[first]! - x) * lonMeters
    let ay = (pointLat[first]! - y) * latMeters
    for (let i = first; i < end; i++) {
      const bx = (pointLon[i + 1]! - x) * lonMeters
      const by = (pointLat[i + 1]! - y) * latMeters
      const dx = bx - ax
      const dy = by - ay
      const square = dx * dx + dy * dy
      const share = square === 0 ? 0 : Math.min(1, Math.max(0, -(ax * dx + ay * dy) / square))
      const px = ax + share * dx
      const py = ay + share * dy
      const distance = px * px + py * py
      if (distance < best) {
        best = distance
        bestAt = i
        bestShare = share
      }
      ax = bx
      ay = by
    }
    if (bestAt < 0) return
    const place = { shape, meters: Math.sqrt(best), at: bestAt, share: bestShare }
    for (let i = 0; i < found.length; i++) {
      if (found[i]!.shape !== shape) continue
      if (found[i]!.meters > place.meters) found[i] = place
      return
    }
    found.push(place)
  }

  /** Adds the open directions of a place. */
  #place({ shape, meters, at, share }: Place, places: Nearby[]): void {
    const { firstPoint, pointLon, pointLat } = this.#weights.network
    const first = firstPoint[shape]!
    const last = firstPoint[shape + 1]! - 1
    const lonMeters = this.#lonMeters / (METERS_PER_DEGREE / SCALE)
    let total = 0
    let walked = 0
    for (let i = first; i < last; i++) {
      const dx = (pointLon[i + 1]! - pointLon[i]!) * lonMeters
      const dy = pointLat[i + 1]! - pointLat[i]!
      const part = Math.sqrt(dx * dx + dy * dy)
      if (i < at) walked += part
      else if (i === at) walked += part * share
      total += part
    }
    const along = total > 0 ? walked / total : 0
    const lon = (pointLon[at]! + share * (pointLon[at + 1]! - pointLon[at]!)) / SCALE
    const lat = (pointLat[at]! + share * (pointLat[at + 1]! - pointLat[at]!)) / SCALE
    const ahead = this.#edgesOf[2 * shape]!
    const back = this.#edgesOf[2 * shape + 1]!
    if (this.#isOpen(ahead)) places.push({ edge: ahead, along, lon, lat, meters })
    if (this.#isOpen(back)) places.push({ edge: back, along: 1 - along, lon, lat, meters })
  }

  #isOpen(edge: number): boolean {
    return this.#weights.endEdge(edge) < UNREACHABLE
  }

  /** Collects the leaves of the box tree around a point. */
  #gather(lon: number, lat: number, radius: number): void {
    const { boxes, boxLevels } = this.#weights.network
    const dy = ((radius + this.ahead) / METERS_PER_DEGREE) * SCALE
    const cos = Math.max(0.01, Math.cos((lat * Math.PI) / 180))
    this.#lonMeters = (METERS_PER_DEGREE * cos) / SCALE
    const [west, south] = [lon * SCALE - dy / cos, lat * SCALE - dy]
    const [east, north] = [lon * SCALE + dy / cos, lat * SCALE + dy]
    this.#window.set([west, south, east, north])
    this.#leaves.length = 0
    const top = boxLevels.length - 2
    const stack = this.#stack
    for (let box = boxLevels[top]!; box < boxLevels[top + 1]!; box++) stack.push(top, box)
    while (stack.length > 0) {
      const box = stack.pop()!
      const level = stack.pop()!
      if (level === 0) {
        this.#addLeaf(box)
        continue
      }
      const at = 4 * (box - boxLevels[1]!)
      if (boxes[at]! > east || boxes[at + 1]! > north || boxes[at + 2]! < west || boxes[at + 3]! < south) continue
      const first = boxLevels[level - 1]! + FANOUT * (box - boxLevels[level]!)
      const end = Math.min(first + FANOUT, boxLevels[level]!)
      for (let child = first; child < end; child++) stack.push(level - 1, child)
    }
  }

  /** Adds a leaf, unless its street is closed in both directions. */
  #addLeaf(box: number): void {
    const { network } = this.#weights
    const { pointLon, pointLat } = network
    const shape = network.boxShape[box]!
    if (!this.#isOpen(this.#edgesOf[2 * shape]!) && !this.#isOpen(this.#edgesOf[2 * shape + 1]!)) return
    const first = leafBegin(network, box)
    const end = leafEnd(network, shape, first)
    let [west, south, east, north] = [pointLon[first]!, pointLat[first]!, pointLon[first]!, pointLat[first]!]
    for (let i = first + 1; i <= end; i++) {
      west = Math.min(west, pointLon[i]!)
      east = Math.max(east, pointLon[i]!)
      south = Math.min(south, pointLat[i]!)
      north = Math.max(north, pointLat[i]!)
    }
    this.#leaves.push(shape, first, end, west, south, east, north)
  }
}

/** Number of values per leaf: its shape, the first and the last point, and its box. */
const LEAF = 7

/** The nearest place of a street: the point before it and the share of the segment from there. */
interface Place {
  readonly shape: number
  readonly meters: number
  readonly at: number
  readonly share: number
}
