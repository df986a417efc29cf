import { seededRandom } from '@terrane/core'
import { fromOrigin, meanOf, type Head } from './head.ts'
import { predict } from './predict.ts'

const MAX_ROUNDS = 100
/** Squared shift of all centres relative to their squared lengths; below it the algorithm stops. */
const STILL = 1e-8

/** Clusters of vectors, and the mean squared distance to their centres. */
export interface Clustering {
  readonly head: Head
  readonly inertia: number
  readonly rounds: number
}

/**
 * Centres of `k` clusters by k-means with seeding by k-means++ (Arthur and Vassilvitskii, 2007); deterministic for a
 * seed. A cluster that loses all vectors starts again at the vector that is farthest from its centre.
 *
 * @param vectors of `dims` numbers, one after the other; at least `k`; their mean is subtracted in place
 */
export function kMeans(
  vectors: Float32Array,
  dims: number,
  { k, seed }: { readonly k: number; readonly seed: number },
): Clustering {
  const origin = meanOf(vectors, dims)
  fromOrigin(vectors, origin, vectors)
  const centres = firstCentres(vectors, dims, { k, seed })
  const headAt = (place: Float32Array): Head => ({
    kind: 'centroids',
    dims,
    classes: k,
    origin: place,
    rows: centres,
    values: new Float32Array(k),
    neighbours: 1,
    temperature: 1,
  })
  const moved = headAt(new Float32Array(dims))
  let rounds = 0
  let inertia = Infinity
  for (; rounds < MAX_ROUNDS; rounds++) {
    const { classes } = predict(moved, vectors)
    const step = recentre(vectors, dims, classes, centres)
    inertia = step.inertia
    if (step.shift <= STILL) break
  }
  return { head: headAt(origin), inertia, rounds }
}

function firstCentres(
  vectors: Float32Array,
  dims: number,
  { k, seed }: { readonly k: number; readonly seed: number },
): Float32Array {
  const n = vectors.length / dims
  const random = seededRandom(seed)
  const centres = new Float32Array(k * dims)
  const distances = new Float64Array(n).fill(Infinity)
  let chosen = Math.floor(random() * n)
  for (let c = 0; c < k; c++) {
    centres.set(vectors.subarray(chosen * dims, (chosen + 1) * dims), c * dims)
    let total = 0
    for (let i = 0; i < n; i++) {
      let distance = 0
      for (let d = 0; d < dims; d++) distance += (vectors[i * dims + d]! - centres[c * dims + d]!) ** 2
      distances[i] = Math.min(distances[i]!, distance)
      total += distances[i]!
    }
    let left = random() * total
    chosen = 0
    while (chosen < n - 1 && left >= distances[chosen]!) left -= distances[chosen++]!
  }
  return centres
}

/** Moves the centres to the means of their vectors, in place. */
function recentre(
  vectors: Float32Array,
  dims: number,
  classes: Uint16Array,
  centres: Float32Array,
): { shift: number; inertia: number } {
  const sums = new Float64Array(centres.length)
  const counts = new Float64Array(centres.length / dims)
  let [inertia, farthest, far] = [0, -1, 0]
  for (let i = 0; i < classes.length; i++) {
    const to = classes[i]! * dims
    counts[classes[i]!]! += 1
    let distance = 0
    for (let k = 0; k < dims; k++) {
      const value = vectors[i * dims + k]!
      sums[to + k] = sums[to + k]! + value
      distance += (value - centres[to + k]!) ** 2
    }
    inertia += distance
    if (distance > farthest) [farthest, far] = [distance, i]
  }
  let [shift, size] = [0, 0]
  for (let c = 0; c < counts.length; c++) {
    for (let k = 0; k < dims; k++) {
      const at = c * dims + k
      const next = counts[c]! > 0 ? sums[at]! / counts[c]! : vectors[far * dims + k]!
      shift += (next - centres[at]!) ** 2
      size += next * next
      centres[at] = next
    }
  }
  return { shift: size > 0 ? shift / size : shift, inertia: inertia / Math.max(1, classes.length) }
}
