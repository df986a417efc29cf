import { fitHead, type FitOptions } from './fit.ts'
import { pick, type LabelledVectors } from './head.ts'
import { largest, scoresOf, shareOf } from './predict.ts'
import type { SpatialFold } from './spatial-folds.ts'

/** Scores of one class. */
export interface ClassScore {
  readonly precision: number
  readonly recall: number
  readonly f1: number
  /** Held-out examples of the class that were classified. */
  readonly examples: number
}

/** Scores of heads on examples outside of their training. */
export interface Validation {
  /** Held-out examples that were classified. */
  readonly examples: number
  readonly folds: number
  readonly accuracy: number
  /** Mean F1 of the classes with classified examples. */
  readonly macroF1: number
  readonly classes: readonly ClassScore[]
  /** Rows are true classes, columns predicted ones. */
  readonly confusion: readonly (readonly number[])[]
  /** Temperature that converts scores to calibrated probabilities. */
  readonly temperature: number
  /** Expected calibration error of these probabilities, in ten bins: 0 is exact. */
  readonly calibrationError: number
}

/**
 * Fits and scores a head fold by fold, on each held-out example whose class is in the training examples; null when
 * there is none.
 */
export function validate(data: LabelledVectors, folds: readonly SpatialFold[], options: FitOptions): Validation | null {
  const { classes } = data
  const scores: Float32Array[] = []
  const labels: number[] = []
  let used = 0
  for (const { heldOut, learnt } of folds) {
    const known = pick(data, learnt)
    const learntClasses = new Set(known.labels)
    // A class without examples cannot be predicted.
    const asked = pick(data, heldOut.filter((i) => learntClasses.has(data.labels[i]!))) // prettier-ignore
    if (learntClasses.size < 2 || asked.labels.length === 0) continue
    const { head } = fitHead(known, options)
    scores.push(scoresOf(head, asked.vectors))
    labels.push(...asked.labels)
    used++
  }
  if (used === 0) return null
  const all = new Float32Array(labels.length * classes)
  let at = 0
  for (const part of scores) {
    all.set(part, at)
    at += part.length
  }
  const temperature = fitTemperature(all, labels, classes)
  const confusion = Array.from({ length: classes }, () => Array.from({ length: classes }, () => 0))
  labels.forEach((label, i) => confusion[label]![largest(all, i * classes, classes)]!++)
  const calibrationError = calibrationErrorOf(all, labels, classes, temperature)
  return { examples: labels.length, folds: used, ...measures(confusion), confusion, temperature, calibrationError }
}

/** Accuracy, precision, recall and F1 of a confusion matrix. */
export function measures(
  confusion: readonly (readonly number[])[],
): Pick<Validation, 'accuracy' | 'macroF1' | 'classes'> {
  const classes = confusion.map((row, c) => {
    const right = row[c]!
    const examples = row.reduce((sum, one) => sum + one, 0)
    const predicted = confusion.reduce((sum, other) => sum + other[c]!, 0)
    const precision = predicted > 0 ? right / predicted : 0
    const recall = examples > 0 ? right / examples : 0
    const f1 = right > 0 ? (2 * precision * recall) / (precision + recall) : 0
    return { precision, recall, f1, examples }
  })
  const judged = classes.filter(({ examples }) => examples > 0)
  const total = judged.reduce((sum, { examples }) => sum + examples, 0)
  const accuracy = judged.reduce((sum, { recall, examples }) => sum + recall * examples, 0) / Math.max(1, total)
  const macroF1 = judged.reduce((sum, { f1 }) => sum + f1, 0) / Math.max(1, judged.length)
  return { accuracy, macroF1, classes }
}

/**
 * The temperature with the least log loss, by golden-section search. As in Platt scaling, the target probability of the
 * true class is (n + 1) / (n + classes), so that a few correct examples do not give certainty.
 */
export function fitTemperature(scores: Float32Array, labels: readonly number[], classes: number): number {
  const n = labels.length
  const wanted = (n + 1) / (n + classes)
  const others = (1 - wanted) / (classes - 1)
  const loss = (logT: number) => {
    const t = Math.exp(logT)
    let sum = 0
    for (let i = 0; i < n; i++) {
      const at = i * classes
      const top = scores[at + largest(scores, at, classes)]!
      let total = 0
      for (let c = 0; c < classes; c++) total += Math.exp((scores[at + c]! - top) / t)
      for (let c = 0; c < classes; c++) {
        sum -= (c === labels[i] ? wanted : others) * ((scores[at + c]! - top) / t - Math.log(total))
      }
    }
    return sum
  }
  const ratio = (Math.sqrt(5) - 1) / 2
  let [low, high] = [-7, 5]
  for (let i = 0; i < 40; i++) {
    const [a, b] = [high - ratio * (high - low), low + ratio * (high - low)]
    if (loss(a) <= loss(b)) high = b
    else low = a
  }
  return Math.exp((low + high) / 2)
}

function calibrationErrorOf(
  scores: Float32Array,
  labels: readonly number[],
  classes: number,
  temperature: number,
): number {
  const bins = Array.from({ length: 10 }, () => ({ right: 0, said: 0 }))
  labels.forEach((label, i) => {
    const best = largest(scores, i * classes, classes)
    const share = shareOf(scores, i * classes, best, { classes, temperature })
    const bin = bins[Math.min(9, Math.floor(share * 10))]!
    bin.said += share
    if (best === label) bin.right++
  })
  return bins.reduce((sum, { right, said }) => sum + Math.abs(right - said), 0) / labels.length
}
