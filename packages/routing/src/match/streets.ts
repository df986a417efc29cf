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

/** Finds the streets around the points of a trace. */
export class Streets {
  readonly #weights: StateWeights
  readonly #edgesOf: Uint32Array
  /** Window in 1e-6 degrees: west, south, east, north. */
  readonly #window = new Float64Array([1, 1, 0, 0])
  #lonMeters = 1
  #leaves: Leaf[] = []
  /** Metres around a point for which streets are gathered beyond its radius, for points that follow closely. */
  ahead = 0

  constructor(weights: StateWeights) {
    this.#weights = weights
    this.#edgesOf = shapeEdges(weights.network)
  }

  /** Places on open streets within a radius, each street where it is nearest, both directions, nearest first. */
  find(lon: number, lat: number, radius: number, most: number): Nearby[] {
    const x = lon * SCALE
    const y = lat * SCALE
    const dy = (radius / METERS_PER_DEGREE) * SCALE
    const dx = dy / Math.max(0.01, Math.cos((lat * Math.PI) / 180))
    const [west, south, east, north] = this.#window
    if (this.ahead === 0 || x - dx < west! || x + dx > east! || y - dy < south! || y + dy > north!)
      this.#gather(lon, lat, radius)
    const found: Place[] = []
    for (const leaf of this.#leaves) {
      if (this.ahead > 0 && (leaf.west > x + dx || leaf.east < x - dx || leaf.south > y + dy || leaf.north < y - dy))
        continue
      this.#project(leaf, { x, y, radius }, found)
    }
    found.sort((a, b) => a.meters - b.meters)
    return found.slice(0, most).flatMap((place) => this.#placed(place))
  }

  /** The nearest place of a leaf, kept where its street has no nearer one. */
  #project(leaf: Leaf, { x, y, radius }: { x: number; y: number; radius: number }, found: Place[]): void {
    const { pointLon, pointLat } = this.#weights.network
    const latMeters = METERS_PER_DEGREE / SCALE
    const lonMeters = this.#lonMeters
    let best = radius * radius
    let bestAt = -1
    let bestShare = 0
    let ax = (pointLon[leaf.first]! - x) * lonMeters
    let ay = (pointLat[leaf.first]! - y) * latMeters
    for (let i = leaf.first; i < leaf.end; i++) {
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
    const meters = Math.sqrt(best)
    const known = found.findIndex(({ shape }) => shape === leaf.shape)
    if (known >= 0 && found[known]!.meters <= meters) return
    const place = { shape: leaf.shape, meters, at: bestAt, share: bestShare }
    if (known >= 0) found[known] = place
    else found.push(place)
  }

  #placed({ shape, meters, at, share }: Place): Nearby[] {
    const { network } = this.#weights
    const { firstPoint, pointLon, pointLat } = network
    const first = firstPoint[shape]!
    const last = firstPoint[shape + 1]! - 1
    const lonMeters = this.#lonMeters / (METERS_PER_DEGREE / SCALE)
    let total = 0
    let walked = 0
    for (let i = first; i < last; i++) {
      const part = Math.hypot((pointLon[i + 1]! - pointLon[i]!) * lonMeters, pointLat[i + 1]! - pointLat[i]!)
      if (i < at) walked += part
      else if (i === at) walked += part * share
      total += part
    }
    const along = total > 0 ? walked / total : 0
    const lon = (pointLon[at]! + share * (pointLon[at + 1]! - pointLon[at]!)) / SCALE
    const lat = (pointLat[at]! + share * (pointLat[at + 1]! - pointLat[at]!)) / SCALE
    const places: Nearby[] = []
    for (const back of [0, 1]) {
      const edge = this.#edgesOf[2 * shape + back]!
      if (this.#weights.endEdge(edge) < UNREACHABLE)
        places.push({ edge, along: back === 0 ? along : 1 - along, lon, lat, meters })
    }
    return places
  }

  /** Takes the leaves of the tree of boxes around a point. */
  #gather(lon: number, lat: number, radius: number): void {
    const { network } = this.#weights
    const { boxes, boxLevels } = network
    const dy = ((radius + this.ahead) / METERS_PER_DEGREE) * SCALE
    const cos = Math.max(0.01, Math.cos((lat * Math.PI) / 180))
    this.#lonMeters = (METERS_PER_DEGREE * cos) / SCALE
    const [west, south] = [lon * SCALE - dy / cos, lat * SCALE - dy]
    const [east, north] = [lon * SCALE + dy / cos, lat * SCALE + dy]
    this.#window.set([west, south, east, north])
    this.#leaves = []
    const top = boxLevels.length - 2
    const stack: number[] = []
    for (let box = boxLevels[top]!; box < boxLevels[top + 1]!; box++) stack.push(top, box)
    while (stack.length > 0) {
      const box = stack.pop()!
      const level = stack.pop()!
      if (level === 0) {
        const leaf = this.#leaf(box)
        if (leaf !== null) this.#leaves.push(leaf)
        continue
      }
      const at = 4 * (box - boxLevels[1]!)
      if (boxes[at]! > east || boxes[at + 1]! > north || boxes[at + 2]! < west || boxes[at + 3]! < south) continue
      const first = boxLevels[level - 1]! + FANOUT * (box - boxLevels[level]!)
      const end = Math.min(first + FANOUT, boxLevels[level]!)
      for (let child = first; child < end; child++) stack.push(level - 1, child)
    }
  }

  /** A leaf with its box; null where its street is closed in both directions. */
  #leaf(box: number): Leaf | null {
    const { network } = this.#weights
    const shape = network.boxShape[box]!
    const isOpen = (edge: number): boolean => this.#weights.endEdge(edge) < UNREACHABLE
    if (!isOpen(this.#edgesOf[2 * shape]!) && !isOpen(this.#edgesOf[2 * shape + 1]!)) return null
    const first = leafBegin(network, box)
    const end = leafEnd(network, shape, first)
    if (this.ahead === 0) return { shape, first, end, west: 0, south: 0, east: 0, north: 0 }
    const leaf = { shape, first, end, west: Infinity, south: Infinity, east: -Infinity, north: -Infinity }
    for (let i = first; i <= end; i++) {
      leaf.west = Math.min(leaf.west, network.pointLon[i]!)
      leaf.east = Math.max(leaf.east, network.pointLon[i]!)
      leaf.south = Math.min(leaf.south, network.pointLat[i]!)
      leaf.north = Math.max(leaf.north, network.pointLat[i]!)
    }
    return leaf
  }
}

/** A stretch of the geometry of a street, with its box in 1e-6 degrees. */
interface Leaf {
  readonly shape: number
  readonly first: number
  readonly end: number
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
}

/** The nearest place of a street: the point before it and the share of the segment from there. */
interface Place {
  readonly shape: number
  readonly meters: number
  readonly at: number
  readonly share: number
}
