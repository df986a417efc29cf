import { affinities } from './affinities.ts'
import { lengthFactor, type Head, type Pause } from './head.ts'

/** Number of products between two pauses. */
const STEP_PRODUCTS = 2 ** 24
/** Maximum number of affinities in memory. */
const STEP_NUMBERS = 2 ** 20

/** The class of each vector and its probability: 0 to 1, NaN for clusters. */
export interface Prediction {
  readonly classes: Uint16Array
  readonly probabilities: Float32Array
  /** Indices of vectors without a direction, whose class means nothing; empty unless directions are compared. */
  readonly zeros: ReadonlySet<number>
}

export interface ClassifyOptions {
  readonly pause: Pause
  /** Whether each vector counts as if it had length 1. */
  readonly isDirection?: boolean
}

/**
 * Classes of vectors.
 *
 * @param vectors of `head.dims` numbers, one after the other
 */
export async function classify(
  head: Head,
  vectors: Float32Array,
  { pause, isDirection = false }: ClassifyOptions,
): Promise<Prediction> {
  const { prediction, take } = emptyPrediction(head, vectors)
  for (const scores of eachScores(head, vectors, isDirection)) {
    take(scores)
    await pause()
  }
  return prediction
}

/** {@link classify} in one step, for a thread without other work. */
export function predict(head: Head, vectors: Float32Array): Prediction {
  const { prediction, take } = emptyPrediction(head, vectors)
  for (const scores of eachScores(head, vectors)) take(scores)
  return prediction
}

function emptyPrediction(head: Head, vectors: Float32Array): { prediction: Prediction; take: (part: Scores) => void } {
  const n = vectors.length / head.dims
  const classes = new Uint16Array(n)
  const probabilities = new Float32Array(n)
  const zeros = new Set<number>()
  const take = ({ scores, factors, from, count }: Scores): void => {
    for (let i = 0; i < count; i++) {
      if (factors[i] === 0) zeros.add(from + i)
      const at = i * head.classes
      const best = largest(scores, at, head.classes)
      classes[from + i] = best
      probabilities[from + i] = head.kind === 'centroids' ? Number.NaN : shareOf(scores, at, best, head)
    }
  }
  return { prediction: { classes, probabilities, zeros }, take }
}

/** Scores of vectors before the temperature, one per class; the largest one decides. */
export function scoresOf(head: Head, vectors: Float32Array): Float32Array {
  const all = new Float32Array((vectors.length / head.dims) * head.classes)
  for (const { scores, from, count } of eachScores(head, vectors))
    all.set(scores.subarray(0, count * head.classes), from * head.classes)
  return all
}

/** The probability of one class: the softmax of the scores over the temperature. */
export function shareOf(
  scores: Float32Array,
  at: number,
  which: number,
  { classes, temperature }: Pick<Head, 'classes' | 'temperature'>,
): number {
  const top = scores[at + largest(scores, at, classes)]!
  let sum = 0
  for (let c = 0; c < classes; c++) sum += Math.exp((scores[at + c]! - top) / temperature)
  return Math.exp((scores[at + which]! - top) / temperature) / sum
}

/** Index of the largest of some numbers, the first of equal ones. */
export function largest(numbers: Float32Array, at: number, count: number): number {
  let best = 0
  for (let c = 1; c < count; c++) if (numbers[at + c]! > numbers[at + best]!) best = c
  return best
}

/** Scores of a run of vectors, in an array that the next run overwrites. */
interface Scores {
  readonly scores: Float32Array
  /** Factors of the vectors, 0 for those without a direction. */
  readonly factors: Float64Array
  readonly from: number
  readonly count: number
}

function* eachScores(head: Head, vectors: Float32Array, isDirection = false): Generator<Scores> {
  const { dims, kind, rows } = head
  const bias = biasOf(head)
  const m = bias.length
  const n = vectors.length / dims
  const step = Math.max(2, Math.min(n, Math.floor(STEP_NUMBERS / m), Math.floor(STEP_PRODUCTS / (m * dims))))
  const out = new Float32Array(step * m)
  const factors = new Float64Array(step).fill(1)
  const votes = kind === 'knn' ? new Float32Array(step * head.classes) : out
  for (let from = 0; from < n; from += step) {
    const count = Math.min(step, n - from)
    if (isDirection) for (let i = 0; i < count; i++) factors[i] = lengthFactor(vectors, (from + i) * dims, dims)
    affinities(vectors.subarray(from * dims, (from + count) * dims), factors, { rows, bias, dims }, out)
    if (kind === 'knn') {
      for (let i = 0; i < count; i++) {
        const ofRow = votes.subarray(i * head.classes, (i + 1) * head.classes)
        vote(head, out.subarray(i * m, (i + 1) * m), ofRow)
      }
    }
    yield { scores: votes, factors, from, count }
  }
}

/**
 * What is added to the product of a vector with each row: the intercept, or minus half of the row's squared length, with
 * which the nearest row has the largest affinity; less the product of the origin, which saves moving each vector.
 */
function biasOf({ dims, kind, rows, values, origin }: Head): Float64Array {
  const isNear = kind === 'knn' || kind === 'centroids'
  return Float64Array.from({ length: rows.length / dims }, (_, r) => {
    let [ofOrigin, squares] = [0, 0]
    for (let k = 0; k < dims; k++) {
      const value = rows[r * dims + k]!
      ofOrigin += value * origin[k]!
      squares += value * value
    }
    return (isNear ? -squares / 2 : values[r]!) - ofOrigin
  })
}

const nearest = new Uint32Array(101)

/**
 * Logarithms of the smoothed shares of votes. Classes with equal votes are ordered by the nearness of their examples.
 */
function vote(head: Head, near: Float32Array, votes: Float32Array): void {
  const { values } = head
  const k = Math.min(head.neighbours, values.length)
  let held = 0
  for (let r = 0; r < values.length; r++) {
    const value = near[r]!
    if (held === k && !(value > near[nearest[k - 1]!]!)) continue
    let place = held < k ? held++ : k - 1
    while (place > 0 && near[nearest[place - 1]!]! < value) {
      nearest[place] = nearest[place - 1]!
      place--
    }
    nearest[place] = r
  }
  votes.fill(1 / votes.length)
  for (let place = 0; place < held; place++) {
    const c = values[nearest[place]!]!
    votes[c] = votes[c]! + 1 + (k - place) * 1e-4
  }
  for (let c = 0; c < votes.length; c++) votes[c] = Math.log(votes[c]! / (k + 1))
}
