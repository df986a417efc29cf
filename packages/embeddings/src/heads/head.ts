/** Classifier of vectors; `centroids` are the centres of clusters. */
export type HeadKind = 'knn' | 'logistic' | 'linear' | 'centroids'

/** A fitted head. Its rows are examples (`knn`), centres (`centroids`) or the weights of each class. */
export interface Head {
  readonly kind: HeadKind
  readonly dims: number
  /** Number of classes. */
  readonly classes: number
  /** Offset subtracted from a vector before the product with the rows: `dims` numbers. Far from 0, products of float32 would cancel. */
  readonly origin: Float32Array
  /** Rows of `dims` numbers relative to `origin`, one after the other. */
  readonly rows: Float32Array
  /** One number per row: the class of an example (`knn`), the intercept of a class, or 0 for a centre. */
  readonly values: Float32Array
  /** For `knn`: number of examples that vote. */
  readonly neighbours: number
  /** Scores are divided by it before they become probabilities; above 0. */
  readonly temperature: number
}

/** Examples: vectors of `dims` numbers one after the other, and the class of each from 0. */
export interface LabelledVectors {
  readonly vectors: Float32Array
  readonly dims: number
  readonly labels: Uint16Array
  readonly classes: number
}

/** Awaited between steps of some ten milliseconds of work; throws to cancel the work. */
export type Pause = () => Promise<void>

/** A head as bytes, little-endian float32: the origin, all rows, then all values. */
export function headBytes({ origin, rows, values }: Pick<Head, 'origin' | 'rows' | 'values'>): Uint8Array<ArrayBuffer> {
  const all = new Float32Array(origin.length + rows.length + values.length)
  all.set(origin)
  all.set(rows, origin.length)
  all.set(values, origin.length + rows.length)
  return new Uint8Array(all.buffer)
}

/**
 * Origin, rows and values of a head from its bytes.
 *
 * @throws RangeError when the length does not fit rows of `dims` numbers
 */
export function headOfBytes(bytes: Uint8Array, dims: number): Pick<Head, 'origin' | 'rows' | 'values'> {
  const count = (bytes.length / 4 - dims) / (dims + 1)
  if (!Number.isInteger(count)) throw new RangeError(`${bytes.length} bytes are not whole rows of ${dims} numbers`)
  // A copy, because the slice of a Buffer is a view of a pool.
  const all = new Float32Array(new Uint8Array(bytes).buffer)
  const end = dims + count * dims
  return { origin: all.subarray(0, dims), rows: all.subarray(dims, end), values: all.subarray(end) }
}

/** The mean of vectors. */
export function meanOf(vectors: Float32Array, dims: number): Float32Array {
  const sums = new Float64Array(dims)
  for (let at = 0; at < vectors.length; at += dims) for (let k = 0; k < dims; k++) sums[k]! += vectors[at + k]!
  return Float32Array.from(sums, (sum) => sum / Math.max(1, vectors.length / dims))
}

/** Writes vectors relative to an origin into `to`, which may be the same array. */
export function fromOrigin(vectors: Float32Array, origin: Float32Array, to: Float32Array): Float32Array {
  const dims = origin.length
  for (let at = 0; at < vectors.length; at += dims) {
    for (let k = 0; k < dims; k++) to[at + k] = vectors[at + k]! - origin[k]!
  }
  return to
}

/** The examples with these indices. */
export function pick({ vectors, dims, labels, classes }: LabelledVectors, indices: Uint32Array): LabelledVectors {
  const chosen = new Float32Array(indices.length * dims)
  const chosenLabels = new Uint16Array(indices.length)
  indices.forEach((from, to) => {
    chosen.set(vectors.subarray(from * dims, (from + 1) * dims), to * dims)
    chosenLabels[to] = labels[from]!
  })
  return { vectors: chosen, dims, labels: chosenLabels, classes }
}

/** Scales vectors to length 1, in place. Returns the indices of zero vectors, which stay unchanged. */
export function normalizeVectors(vectors: Float32Array, dims: number): Set<number> {
  const zeros = new Set<number>()
  for (let at = 0; at < vectors.length; at += dims) {
    const factor = lengthFactor(vectors, at, dims)
    if (factor === 0) zeros.add(at / dims)
    else for (let k = at; k < at + dims; k++) vectors[k] = vectors[k]! * factor
  }
  return zeros
}

/** The factor that scales the vector at a position to length 1; 0 for a vector of zeros. */
export function lengthFactor(vectors: Float32Array, at: number, dims: number): number {
  let sum = 0
  for (let k = at; k < at + dims; k++) sum += vectors[k]! * vectors[k]!
  return sum === 0 ? 0 : 1 / Math.sqrt(sum)
}
