/** Where examples lie: degrees, one number an example. */
export interface ExamplePlaces {
  readonly lng: Float64Array
  readonly lat: Float64Array
}

export interface FoldOptions {
  readonly labels: Uint16Array
  readonly classes: number
  /** Edge of a square block. */
  readonly blockMeters: number
  /** Examples nearer than this to a held-out one are left out of what is learnt from. */
  readonly reachMeters: number
  /** Most folds. */
  readonly folds: number
}

/** A part that is held out, and the examples that a head is fitted to meanwhile. */
export interface SpatialFold {
  readonly heldOut: Uint32Array
  readonly learnt: Uint32Array
}

const METERS_PER_DEGREE = 111_195

/**
 * Folds of whole blocks on the ground, with a gap around what is held out: no example is judged by a head that has seen its
 * neighbour. Empty where all examples lie in one block.
 */
export function spatialFolds(places: ExamplePlaces, options: FoldOptions): SpatialFold[] {
  const { lat } = places
  const n = lat.length
  const x = Float64Array.from(places.lng, (lng, i) => lng * Math.cos((lat[i]! * Math.PI) / 180) * METERS_PER_DEGREE)
  const y = Float64Array.from(lat, (degrees) => degrees * METERS_PER_DEGREE)
  const blocks = cells(x, y, options.blockMeters)
  const count = Math.min(options.folds, blocks.size)
  if (count < 2) return []
  const foldOf = assign(blocks, count, n, options)
  const near = cells(x, y, options.reachMeters)
  return Array.from({ length: count }, (_, fold) => {
    const heldOut: number[] = []
    const learnt: number[] = []
    for (let i = 0; i < n; i++) {
      if (foldOf[i] === fold) heldOut.push(i)
      else if (!hasNeighbour(i, near, { x, y, reach: options.reachMeters, isHeld: (j) => foldOf[j] === fold }))
        learnt.push(i)
    }
    return { heldOut: Uint32Array.from(heldOut), learnt: Uint32Array.from(learnt) }
  }).filter(({ heldOut, learnt }) => heldOut.length > 0 && learnt.length > 0)
}

type Cells = ReadonlyMap<string, readonly number[]>

function cells(x: Float64Array, y: Float64Array, size: number): Cells {
  const found = new Map<string, number[]>()
  for (let i = 0; i < x.length; i++) {
    const key = `${Math.floor(x[i]! / size)} ${Math.floor(y[i]! / size)}`
    const there = found.get(key)
    if (there) there.push(i)
    else found.set(key, [i])
  }
  return found
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

interface Reach {
  readonly x: Float64Array
  readonly y: Float64Array
  readonly reach: number
  readonly isHeld: (i: number) => boolean
}

function hasNeighbour(i: number, near: Cells, { x, y, reach, isHeld }: Reach): boolean {
  const column = Math.floor(x[i]! / reach)
  const row = Math.floor(y[i]! / reach)
  for (let dx = -1; dx <= 1; dx++) {
    for (let dy = -1; dy <= 1; dy++) {
      const there = near.get(`${column + dx} ${row + dy}`) ?? []
      if (there.some((j) => isHeld(j) && Math.hypot(x[i]! - x[j]!, y[i]! - y[j]!) < reach)) return true
    }
  }
  return false
}
