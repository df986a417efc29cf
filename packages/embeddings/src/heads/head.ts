/** What makes classes of vectors; `centroids` are the centres of clusters. */
export type HeadKind = 'knn' | 'logistic' | 'linear' | 'centroids'

/** A fitted head. Its rows are examples (`knn`), centres (`centroids`) or the weights of each class. */
export interface Head {
  readonly kind: HeadKind
  readonly dims: number
  /** Number of classes. */
  readonly classes: number
  /** Rows of `dims` numbers, one after the other. */
  readonly rows: Float32Array
  /** One number a row: the class of an example (`knn`), the intercept of a class, 0 of a centre. */
  readonly values: Float32Array
  /** Of `knn`: how many examples vote. */
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

/** Awaited between steps of some ten milliseconds of work; throws to end it. */
export type Pause = () => Promise<void>

/** Rows of a head as bytes, little-endian float32: all rows, then all values. */
export function headBytes({ rows, values }: Pick<Head, 'rows' | 'values'>): Uint8Array<ArrayBuffer> {
  const all = new Float32Array(rows.length + values.length)
  all.set(rows)
  all.set(values, rows.length)
  return new Uint8Array(all.buffer)
}

/**
 * Rows and values of a head from its bytes.
 *
 * @throws RangeError where the bytes are not those of rows of so many numbers
 */
export function headOfBytes(bytes: Uint8Array, dims: number): Pick<Head, 'rows' | 'values'> {
  const count = bytes.length / (4 * (dims + 1))
  if (!Number.isInteger(count)) throw new RangeError(`${bytes.length} bytes are no rows of ${dims} numbers`)
  // A Buffer's slice is a view of a pool.
  const all = new Float32Array(new Uint8Array(bytes).buffer)
  return { rows: all.subarray(0, count * dims), values: all.subarray(count * dims) }
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

/** Brings vectors to length 1, in place. Returns which of them are zero, and stay so. */
export function normalizeVectors(vectors: Float32Array, dims: number): Set<number> {
  const zeros = new Set<number>()
  for (let at = 0; at < vectors.length; at += dims) {
    let sum = 0
    for (let k = at; k < at + dims; k++) sum += vectors[k]! * vectors[k]!
    if (sum === 0) {
      zeros.add(at / dims)
      continue
    }
    const factor = 1 / Math.sqrt(sum)
    for (let k = at; k < at + dims; k++) vectors[k] = vectors[k]! * factor
  }
  return zeros
}
