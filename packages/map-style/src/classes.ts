import { classesInvalid } from './errors.ts'

/** Methods of choosing the ranges of classes. */
export const CLASS_METHODS = ['quantile', 'equal', 'natural', 'log', 'manual'] as const
export type ClassMethod = (typeof CLASS_METHODS)[number]

/** Distribution of the numbers of a column over all rows, as `number_classes` of the database returns it. */
export interface Distribution {
  readonly rows: number
  readonly missing: number
  /** Null where no row has a number. */
  readonly low: number | null
  readonly high: number | null
  /** The value at each 840th of the rows, from the least to the greatest. 840 is a multiple of 2 to 8. */
  readonly quantiles: readonly number[] | null
  /** Rows in each of 64 equal intervals; empty when all numbers are equal. */
  readonly histogram: readonly number[]
  /** Rows in each of the requested classes. */
  readonly counts: readonly number[]
}

/**
 * Starts of classes, ascending, from the smallest number. Equal numbers are in one class, so there may be fewer classes
 * than requested.
 *
 * @param count 2 to 8
 * @throws CLASSES_INVALID for `log` when the smallest number is not above 0, and for `manual`, whose starts a person
 * enters
 */
export function breaksOf(method: ClassMethod, count: number, { low, high, quantiles }: Distribution): number[] {
  if (low === null || high === null || quantiles === null || low === high) return low === null ? [] : [low]
  const found = [low, ...inner(method, count, { low, high, quantiles })]
  return [...new Set(found)].filter((start, i) => i === 0 || (start > low && start <= high)).toSorted((a, b) => a - b)
}

function inner(
  method: ClassMethod,
  count: number,
  { low, high, quantiles }: { readonly low: number; readonly high: number; readonly quantiles: readonly number[] },
): number[] {
  const shares = Array.from({ length: count - 1 }, (_, i) => (i + 1) / count)
  switch (method) {
    case 'quantile':
      return shares.map((share) => quantiles[Math.round(share * (quantiles.length - 1))]!)
    case 'equal':
      // Two products: the difference of two finite numbers may not be finite.
      return shares.map((share) => low * (1 - share) + high * share)
    case 'log':
      if (low <= 0) throw classesInvalid({ reason: `their least, ${low}, has no logarithm` })
      return shares.map((share) => Math.exp(Math.log(low) * (1 - share) + Math.log(high) * share))
    case 'natural':
      return naturalBreaks(quantiles, count)
    default:
      throw classesInvalid({ reason: 'manual classes are entered' })
  }
}

/**
 * Natural breaks: the classes with the least sum of squared differences from their means (Jenks; Fisher's exact method,
 * "On grouping for maximum homogeneity", 1958) over sorted values.
 */
function naturalBreaks(sorted: readonly number[], count: number): number[] {
  const size = sorted.length
  // Scaled to 0 … 1, because squares of numbers far from 0 lose small differences. Halves avoid an infinite range.
  const low = sorted[0]! / 2
  const range = sorted.at(-1)! / 2 - low || 1
  const sums = new Float64Array(size + 1)
  const squares = new Float64Array(size + 1)
  for (const [i, value] of sorted.entries()) {
    const scaled = (value / 2 - low) / range
    sums[i + 1] = sums[i]! + scaled
    squares[i + 1] = squares[i]! + scaled * scaled
  }
  const spread = (from: number, to: number) =>
    squares[to]! - squares[from]! - (sums[to]! - sums[from]!) ** 2 / (to - from)
  let best = Float64Array.from({ length: size + 1 }, (_, end) => (end === 0 ? 0 : spread(0, end)))
  const starts: Int32Array[] = []
  for (let group = 1; group < count; group++) {
    const next = new Float64Array(size + 1).fill(Infinity)
    const start = new Int32Array(size + 1)
    for (let end = group + 1; end <= size; end++) {
      for (let at = group; at < end; at++) {
        const cost = best[at]! + spread(at, end)
        if (cost < next[end]!) {
          next[end] = cost
          start[end] = at
        }
      }
    }
    best = next
    starts.push(start)
  }
  const breaks: number[] = []
  for (let end = size, group = starts.length - 1; group >= 0; group--) {
    end = starts[group]![end]!
    breaks.push(sorted[end]!)
  }
  return breaks
}
