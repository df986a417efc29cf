import { fromOrigin, meanOf, type Head, type LabelledVectors } from './head.ts'
import { minimize } from './minimize.ts'

/** Options of a fit. */
export interface FitOptions {
  readonly kind: 'knn' | 'logistic' | 'linear'
  /** For `logistic` and `linear`: factor of half the squared weights; the inverse of scikit-learn's C. */
  readonly penalty: number
  /** For `knn`: number of examples that vote, 1 to 100. */
  readonly neighbours: number
  /** Default: 1000. */
  readonly maxIterations?: number
}

/** Maximum gradient component at convergence, per example. */
const TOLERANCE = 1e-6
const MAX_ITERATIONS = 1000

/** A head, and whether its fit converged. */
export interface FittedHead {
  readonly head: Head
  readonly isConverged: boolean
}

/**
 * Fits a head to examples. Logistic: sum of the multinomial log losses plus `penalty` / 2 times the squared weights; linear:
 * least squares on ±1 with the same penalty. Intercepts are free, as in scikit-learn. The temperature is 1.
 */
export function fitHead(data: LabelledVectors, options: FitOptions): FittedHead {
  const { vectors, dims, classes, labels } = data
  const origin = meanOf(vectors, dims)
  const moved = fromOrigin(vectors, origin, new Float32Array(vectors.length))
  const head = { kind: options.kind, dims, classes, origin, neighbours: options.neighbours, temperature: 1 }
  if (options.kind === 'knn') return { head: { ...head, rows: moved, values: Float32Array.from(labels) }, isConverged: true } // prettier-ignore
  const scales = scalesOf(moved, dims, options)
  moved.forEach((value, i) => (moved[i] = value / scales[i % dims]!))
  const point = new Float64Array(classes * (dims + 1))
  const objective = new Loss({ ...data, vectors: moved }, { kind: options.kind, penalties: scales.map((scale) => options.penalty / scale ** 2) }) // prettier-ignore
  const tolerance = TOLERANCE * labels.length
  const { gradient } = minimize((at, slopes) => objective.at(at, slopes), point, {
    tolerance,
    maxIterations: options.maxIterations ?? MAX_ITERATIONS,
  })
  const rows = Float32Array.from(point.subarray(0, classes * dims), (weight, i) => weight / scales[i % dims]!)
  const values = Float32Array.from(point.subarray(classes * dims))
  return { head: { ...head, rows, values }, isConverged: gradient <= 10 * tolerance }
}

/** Scales of the columns that give the loss about the same curvature along weights and intercepts. */
function scalesOf(vectors: Float32Array, dims: number, { kind, penalty }: FitOptions): Float64Array {
  const sums = new Float64Array(dims)
  for (let at = 0; at < vectors.length; at += dims) for (let k = 0; k < dims; k++) sums[k]! += vectors[at + k]! ** 2
  const own = kind === 'logistic' ? 4 * penalty : penalty
  return sums.map((sum) => Math.sqrt(((sum + own) * dims) / vectors.length))
}

/** The sum of losses over examples with the penalty; weights class by class, then the intercepts. */
class Loss {
  readonly #data: LabelledVectors
  readonly #kind: 'logistic' | 'linear'
  /** Penalty of each column. */
  readonly #penalties: Float64Array

  constructor(
    data: LabelledVectors,
    { kind, penalties }: { readonly kind: 'logistic' | 'linear'; readonly penalties: Float64Array },
  ) {
    this.#data = data
    this.#kind = kind
    this.#penalties = penalties
  }

  /** The loss at a point; writes its gradient. */
  at(point: Float64Array, gradient: Float64Array): number {
    const { vectors, dims, classes, labels } = this.#data
    const weights = classes * dims
    gradient.fill(0)
    let loss = 0
    for (let i = 0; i < weights; i++) {
      const penalty = this.#penalties[i % dims]!
      loss += (penalty / 2) * point[i]! * point[i]!
      gradient[i] = penalty * point[i]!
    }
    const scores = new Float64Array(classes)
    for (let i = 0; i < labels.length; i++) {
      const x = i * dims
      for (let c = 0; c < classes; c++) {
        let sum = point[weights + c]!
        const w = c * dims
        for (let k = 0; k < dims; k++) sum += point[w + k]! * vectors[x + k]!
        scores[c] = sum
      }
      loss += this.#kind === 'logistic' ? logLoss(scores, labels[i]!) : squares(scores, labels[i]!)
      for (let c = 0; c < classes; c++) {
        const slope = scores[c]!
        const w = c * dims
        for (let k = 0; k < dims; k++) gradient[w + k] = gradient[w + k]! + slope * vectors[x + k]!
        gradient[weights + c] = gradient[weights + c]! + slope
      }
    }
    return loss
  }
}

/** Loss of an example; replaces its scores by the gradient. */
function logLoss(scores: Float64Array, label: number): number {
  let top = -Infinity
  for (const score of scores) top = Math.max(top, score)
  let sum = 0
  for (const score of scores) sum += Math.exp(score - top)
  const loss = Math.log(sum) + top - scores[label]!
  for (let c = 0; c < scores.length; c++) scores[c] = Math.exp(scores[c]! - top) / sum - (c === label ? 1 : 0)
  return loss
}

function squares(scores: Float64Array, label: number): number {
  let loss = 0
  for (let c = 0; c < scores.length; c++) {
    const off = scores[c]! - (c === label ? 1 : -1)
    loss += (off * off) / 2
    scores[c] = off
  }
  return loss
}
