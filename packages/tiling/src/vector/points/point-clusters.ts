import { tooManyPoints } from '../errors.ts'
import { WORLD } from '../world.ts'
import type { ClusterAggregate, ClusterRecords } from './cluster-record.ts'

/** Maximum number of points in memory, some 50 bytes each. */
const MAX_POINTS = 20_000_000

/** Side of a tile in pixels, the unit of distances. */
const TILE_PIXELS = 512

export interface PointClustersOptions {
  readonly layer: string
  readonly minZoom: number
  readonly maxZoom: number
  /** Radius in pixels of a tile that is drawn 512 pixels wide. */
  readonly distance: number
  readonly minPoints: number
  readonly aggregates: readonly ClusterAggregate[]
}

/** Points of one zoom: positions in world coordinates, and the points that each represents. */
interface Level {
  readonly size: number
  readonly x: Float64Array
  readonly y: Float64Array
  readonly count: Uint32Array
  readonly address: Float64Array
  /** Per aggregate: the sum, minimum or maximum, and its number of points. */
  readonly totals: readonly Float64Array[]
  readonly known: readonly Uint32Array[]
}

/**
 * Clusters points zoom by zoom as supercluster does (V. Agafonkin, 2016): from the highest zoom down, each free point
 * takes all free points within a radius; they become one cluster at their weighted mean, which is a point of the next
 * zoom. Neighbours are found by a grid of that radius. Every point counts once at every zoom. O(points × zooms).
 */
export class PointClusters {
  readonly #options: PointClustersOptions
  #level: Level
  #size = 0

  constructor(options: PointClustersOptions) {
    this.#options = options
    this.#level = emptyLevel(1 << 12, options.aggregates)
  }

  /**
   * Adds a point in world coordinates.
   *
   * @param address of its feature
   * @param values of the aggregates, in their order; NaN for none
   * @throws TOO_MANY_POINTS
   */
  add(x: number, y: number, address: number, values: readonly number[]): void {
    if (this.#size === MAX_POINTS) throw tooManyPoints({ layer: this.#options.layer, limit: MAX_POINTS })
    if (this.#size === this.#level.x.length) this.#level = grown(this.#level, this.#options.aggregates)
    const level = this.#level
    const i = this.#size++
    level.x[i] = x
    level.y[i] = y
    level.count[i] = 1
    level.address[i] = address
    for (let a = 0; a < values.length; a++) {
      const value = values[a]!
      if (Number.isNaN(value)) continue
      level.totals[a]![i] = value
      level.known[a]![i] = 1
    }
  }

  /** Passes the points and clusters of each zoom to `show`, from the highest down; clusters become records. */
  show(records: ClusterRecords, show: (x: number, y: number, address: number, zoom: number) => void): void {
    const { minZoom, maxZoom } = this.#options
    let level: Level = { ...this.#level, size: this.#size }
    for (let zoom = maxZoom; zoom >= minZoom; zoom--) {
      level = this.#cluster(level, zoom, records)
      for (let i = 0; i < level.size; i++) show(level.x[i]!, level.y[i]!, level.address[i]!, zoom)
    }
  }

  #cluster(level: Level, zoom: number, records: ClusterRecords): Level {
    const { distance, minPoints, aggregates } = this.#options
    const radius = (distance / TILE_PIXELS) * (WORLD / 2 ** zoom)
    const grid = new Grid(level, radius)
    const out = emptyLevel(level.size, aggregates)
    const isTaken = new Uint8Array(level.size)
    const members: number[] = []
    let size = 0
    for (let i = 0; i < level.size; i++) {
      if (isTaken[i] === 1) continue
      members.length = 0
      let count = 0
      grid.visit(level.x[i]!, level.y[i]!, (j) => {
        if (isTaken[j] === 1) return
        members.push(j)
        count += level.count[j]!
      })
      if (members.length === 1 || count < minPoints) {
        isTaken[i] = 1
        copy(level, i, out, size++)
        continue
      }
      for (const j of members) isTaken[j] = 1
      merge(level, members, count, out, size, aggregates)
      out.address[size] = records.write(out.x[size]!, out.y[size]!, count, valuesOf(out, size, aggregates))
      size++
    }
    return { ...out, size }
  }
}

/** Finds points within a radius: a hash grid with cells of that side and a chain per hash. */
class Grid {
  readonly #level: Level
  readonly #radius: number
  readonly #heads: Int32Array
  readonly #next: Int32Array
  readonly #mask: number

  constructor(level: Level, radius: number) {
    this.#level = level
    this.#radius = radius
    const slots = 2 ** Math.max(4, Math.ceil(Math.log2(level.size + 1)))
    this.#mask = slots - 1
    this.#heads = new Int32Array(slots).fill(-1)
    this.#next = new Int32Array(level.size)
    // Backwards, so that each chain is in ascending order.
    for (let i = level.size - 1; i >= 0; i--) {
      const slot = this.#slot(Math.floor(level.x[i]! / radius), Math.floor(level.y[i]! / radius))
      this.#next[i] = this.#heads[slot]!
      this.#heads[slot] = i
    }
  }

  visit(x: number, y: number, found: (index: number) => void): void {
    const { x: xs, y: ys } = this.#level
    const radius = this.#radius
    const column = Math.floor(x / radius)
    const row = Math.floor(y / radius)
    for (let cy = row - 1; cy <= row + 1; cy++) {
      for (let cx = column - 1; cx <= column + 1; cx++) {
        for (let i = this.#heads[this.#slot(cx, cy)]!; i >= 0; i = this.#next[i]!) {
          // Cells of one hash share a chain.
          if (Math.floor(xs[i]! / radius) !== cx || Math.floor(ys[i]! / radius) !== cy) continue
          if ((xs[i]! - x) ** 2 + (ys[i]! - y) ** 2 <= radius * radius) found(i)
        }
      }
    }
  }

  #slot(column: number, row: number): number {
    return (Math.imul(column, 0x9e3779b1) ^ Math.imul(row, 0x85ebca6b)) & this.#mask
  }
}

function merge(
  from: Level,
  members: readonly number[],
  count: number,
  to: Level,
  at: number,
  aggregates: readonly ClusterAggregate[],
): void {
  let x = 0
  let y = 0
  for (const j of members) {
    x += from.x[j]! * from.count[j]!
    y += from.y[j]! * from.count[j]!
    for (const [a, { operation }] of aggregates.entries()) {
      if (from.known[a]![j] === 0) continue
      const value = from.totals[a]![j]!
      const total = to.totals[a]![at]!
      const isFirst = to.known[a]![at] === 0
      if (isFirst) to.totals[a]![at] = value
      else if (operation === 'min') to.totals[a]![at] = Math.min(total, value)
      else if (operation === 'max') to.totals[a]![at] = Math.max(total, value)
      else to.totals[a]![at] = total + value
      to.known[a]![at]! += from.known[a]![j]!
    }
  }
  to.x[at] = x / count
  to.y[at] = y / count
  to.count[at] = count
}

function valuesOf(level: Level, at: number, aggregates: readonly ClusterAggregate[]): number[] {
  return aggregates.map(({ operation }, a) => {
    const known = level.known[a]![at]!
    if (known === 0) return Number.NaN
    return operation === 'mean' ? level.totals[a]![at]! / known : level.totals[a]![at]!
  })
}

function copy(from: Level, i: number, to: Level, at: number): void {
  to.x[at] = from.x[i]!
  to.y[at] = from.y[i]!
  to.count[at] = from.count[i]!
  to.address[at] = from.address[i]!
  for (let a = 0; a < from.totals.length; a++) {
    to.totals[a]![at] = from.totals[a]![i]!
    to.known[a]![at] = from.known[a]![i]!
  }
}

function emptyLevel(capacity: number, aggregates: readonly ClusterAggregate[]): Level {
  return {
    size: 0,
    x: new Float64Array(capacity),
    y: new Float64Array(capacity),
    count: new Uint32Array(capacity),
    address: new Float64Array(capacity),
    totals: aggregates.map(() => new Float64Array(capacity)),
    known: aggregates.map(() => new Uint32Array(capacity)),
  }
}

function grown(level: Level, aggregates: readonly ClusterAggregate[]): Level {
  const larger = emptyLevel(level.x.length * 2, aggregates)
  larger.x.set(level.x)
  larger.y.set(level.y)
  larger.count.set(level.count)
  larger.address.set(level.address)
  for (let a = 0; a < aggregates.length; a++) {
    larger.totals[a]!.set(level.totals[a]!)
    larger.known[a]!.set(level.known[a]!)
  }
  return larger
}
