/** Positions of examples in degrees, one number per example. */
export interface ExamplePlaces {
  readonly lng: Float64Array
  readonly lat: Float64Array
}

export interface FoldOptions {
  readonly labels: Uint16Array
  readonly classes: number
  /** Edge of a square block. */
  readonly blockMeters: number
  /** Examples nearer than this to a held-out one are excluded from training. */
  readonly reachMeters: number
  /** Maximum number of folds, at most 31. */
  readonly folds: number
}

/** A held-out part, and the examples for training meanwhile. */
export interface SpatialFold {
  readonly heldOut: Uint32Array
  readonly learnt: Uint32Array
}

const METERS_PER_DEGREE = 111_195
const EARTH_METERS = (METERS_PER_DEGREE * 180) / Math.PI

/**
 * Folds of whole blocks on the ground, with a gap around held-out examples, so that training excludes their neighbours.
 * Empty when all examples lie in one block.
 */
export function spatialFolds(places: ExamplePlaces, options: FoldOptions): SpatialFold[] {
  const n = places.lat.length
  const blocks = blocksOf(places, options.blockMeters)
  const count = Math.min(options.folds, blocks.size)
  if (count < 2) return []
  const foldOf = assign(blocks, count, n, options)
  const near = foldsNearby(places, foldOf, options.reachMeters)
  return Array.from({ length: count }, (_, fold) => {
    const heldOut: number[] = []
    const learnt: number[] = []
    for (let i = 0; i < n; i++) {
      if (foldOf[i] === fold) heldOut.push(i)
      else if ((near[i]! & (1 << fold)) === 0) learnt.push(i)
    }
    return { heldOut: Uint32Array.from(heldOut), learnt: Uint32Array.from(learnt) }
  }).filter(({ heldOut, learnt }) => heldOut.length > 0 && learnt.length > 0)
}

type Cells = ReadonlyMap<string, readonly number[]>

/** Blocks in bands of equal height; within a band their width on the ground is equal in its middle. */
function blocksOf({ lng, lat }: ExamplePlaces, meters: number): Cells {
  const edge = meters / METERS_PER_DEGREE
  return Map.groupBy(lat.keys(), (i) => {
    const band = Math.floor(lat[i]! / edge)
    const middle = Math.max(-90, Math.min(90, (band + 0.5) * edge))
    return `${band} ${Math.floor((lng[i]! * Math.cos((middle * Math.PI) / 180)) / edge)}`
  })
}

/**
 * For each example, the folds that have an example within `reach`, as bits. Distances are measured in 3D, where the
 * antimeridian and the poles need no special case.
 */
function foldsNearby({ lng, lat }: ExamplePlaces, foldOf: Uint8Array, reach: number): Uint32Array {
  const radians = Math.PI / 180
  const point = new Float64Array(3 * lat.length)
  lat.forEach((degrees, i) => {
    const ring = EARTH_METERS * Math.cos(degrees * radians)
    point[3 * i] = ring * Math.cos(lng[i]! * radians)
    point[3 * i + 1] = ring * Math.sin(lng[i]! * radians)
    point[3 * i + 2] = EARTH_METERS * Math.sin(degrees * radians)
  })
  const cellAt = (i: number) => [0, 1, 2].map((axis) => Math.floor(point[3 * i + axis]! / reach))
  const cells = Map.groupBy(lat.keys(), (i) => cellAt(i).join(' '))
  const found = Uint32Array.from(foldOf, (fold) => 1 << fold)
  for (const members of cells.values()) {
    const around = cellsAround(cellAt(members[0]!)).flatMap((key) => cells.get(key) ?? [])
    // One list per fold: after a hit, the other members of the fold are not tested.
    for (const [fold, others] of Map.groupBy(around, (j) => foldOf[j]!)) {
      for (const i of members) {
        if ((found[i]! & (1 << fold)) === 0 && others.some((j) => apart(point, i, j) < reach)) found[i]! |= 1 << fold
      }
    }
  }
  return found
}

function cellsAround([x, y, z]: readonly number[]): string[] {
  const steps = [-1, 0, 1]
  return steps.flatMap((dx) => steps.flatMap((dy) => steps.map((dz) => `${x! + dx} ${y! + dy} ${z! + dz}`)))
}

function apart(point: Float64Array, i: number, j: number): number {
  const [a, b] = [3 * i, 3 * j]
  return Math.hypot(point[a]! - point[b]!, point[a + 1]! - point[b + 1]!, point[a + 2]! - point[b + 2]!)
}

/** Gives each block, the largest first, to the fold that has the fewest of its classes. */
function assign(blocks: Cells, folds: number, n: number, { labels, classes }: FoldOptions): Uint8Array {
  const totals = new Float64Array(classes)
  for (const label of labels) totals[label] = totals[label]! + 1
  const held = Array.from({ length: folds }, () => new Float64Array(classes))
  const foldOf = new Uint8Array(n)
  const order = [...blocks].toSorted(([a, one], [b, two]) => two.length - one.length || (a < b ? -1 : 1))
  for (const [, members] of order) {
    const costs = held.map((counts) => members.reduce((sum, i) => sum + (counts[labels[i]!]! + 1e-6) / totals[labels[i]!]!, 0)) // prettier-ignore
    const sizes = held.map((counts) => counts.reduce((sum, one) => sum + one, 0))
    let best = 0
    for (let fold = 1; fold < folds; fold++) {
      const less = costs[fold]! - costs[best]!
      if (less < -1e-9 || (Math.abs(less) <= 1e-9 && sizes[fold]! < sizes[best]!)) best = fold
    }
    for (const i of members) {
      foldOf[i] = best
      held[best]![labels[i]!]! += 1
    }
  }
  return foldOf
}
