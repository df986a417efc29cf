import type { Head, LabelledVectors, Pause } from './head.ts'
import { minimize } from './minimize.ts'

/** What a head is fitted with. */
export interface FitOptions {
  readonly kind: 'knn' | 'logistic' | 'linear'
  /** Of logistic and linear: factor of half the squared weights; the inverse of scikit-learn's C. */
  readonly penalty: number
  /** Of `knn`: how many examples vote, 1 to 100. */
  readonly neighbours: number
}

/** Products between two pauses. */
const STEP_PRODUCTS = 2 ** 23
const TOLERANCE = 1e-4
const MAX_ITERATIONS = 1000

/**
 * Fits a head to examples. Logistic: sum of the multinomial log losses plus `penalty` / 2 times the squared weights; linear:
 * least squares on ±1 with the same penalty. Intercepts are free, as in scikit-learn. The temperature is 1.
 */
export async function fitHead(data: LabelledVectors, options: FitOptions, pause: Pause): Promise<Head> {
  const { dims, classes, labels } = data
  const head = { kind: options.kind, dims, classes, neighbours: options.neighbours, temperature: 1 }
  if (options.kind === 'knn') return { ...head, rows: data.vectors.slice(), values: Float32Array.from(labels) }
  const point = new Float64Array(classes * (dims + 1))
  const objective = new Loss(data, options.kind, options.penalty, pause)
  await minimize((at, gradient) => objective.at(at, gradient), point, {
    tolerance: TOLERANCE,
    maxIterations: MAX_ITERATIONS,
  })
  const weights = Float32Array.from(point.subarray(0, classes * dims))
  return { ...head, rows: weights, values: Float32Array.from(point.subarray(classes * dims)) }
}

/** The sum of losses over examples with the penalty; weights class by class, then the intercepts. */
class Loss {
  readonly #data: LabelledVectors
  readonly #kind: 'logistic' | 'linear'
  readonly #penalty: number
  readonly #pause: Pause

  constructor(data: LabelledVectors, kind: 'logistic' | 'linear', penalty: number, pause: Pause) {
    this.#data = data
    this.#kind = kind
    this.#penalty = penalty
    this.#pause = pause
  }

  /** The loss at a point; writes its gradient. */
  async at(point: Float64Array, gradient: Float64Array): Promise<number> {
    const { dims, classes, labels } = this.#data
    const weights = classes * dims
    gradient.fill(0)
    let loss = 0
    for (let i = 0; i < weights; i++) {
      loss += (this.#penalty / 2) * point[i]! * point[i]!
      gradient[i] = this.#penalty * point[i]!
    }
    const step = Math.max(1, Math.floor(STEP_PRODUCTS / (2 * weights)))
    for (let from = 0; from < labels.length; from += step) {
      loss += this.#ofRows(from, Math.min(labels.length, from + step), point, gradient)
      await this.#pause()
    }
    return loss
  }

  #ofRows(from: number, to: number, point: Float64Array, gradient: Float64Array): number {
    const { vectors, dims, classes, labels } = this.#data
    const weights = classes * dims
    const scores = new Float64Array(classes)
    let loss = 0
    for (let i = from; i < to; i++) {
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

/** Loss of an example's scores, which become the slopes. */
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
