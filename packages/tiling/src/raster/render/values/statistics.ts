import { valuesTooMany } from '../errors.ts'

/** Options for further statistics. */
export interface StatisticsOptions {
  /** Percentiles, from 0 to 100. */
  readonly percentiles: readonly number[]
  /** Number of bins, or their edges; a number covers the range of the values unless `range` is given. */
  readonly bins: number | readonly number[]
  readonly range: readonly [number, number] | null
  /** Whether the histogram counts each occurring value, or the values of `categories`. */
  readonly isCategorical: boolean
  readonly categories: readonly number[]
}

/** Statistics of a band with TiTiler's names; null values without a valid pixel. */
export type BandStatistics = Readonly<Record<string, unknown>>

/** Maximum number of values of a categorical histogram. */
const MAX_CATEGORIES = 5000

/** Statistics of the valid values of a band among `total` pixels of an area. @throws PICTURE_TOO_LARGE for a categorical histogram of more than 5,000 values */
export function bandStatistics(
  plane: ArrayLike<number>,
  alpha: Uint8Array,
  { percentiles, bins, range, isCategorical, categories }: StatisticsOptions,
  total = alpha.length,
): BandStatistics {
  const values = sortedValues(plane, alpha)
  const count = values.length
  const sum = values.reduce((all, value) => all + value, 0)
  const mean = sum / count
  const variance = values.reduce((all, value) => all + (value - mean) ** 2, 0) / count
  return {
    min: orNull(values[0]),
    max: orNull(values.at(-1)),
    mean: orNull(mean),
    count,
    sum,
    std: orNull(Math.sqrt(variance)),
    median: orNull(quantile(values, 0.5)),
    ...frequencies(values),
    histogram: isCategorical ? categoryHistogram(values, categories) : histogram(values, bins, range),
    valid_percent: total === 0 ? 0 : Math.round((count / total) * 10_000) / 100,
    masked_pixels: total - count,
    valid_pixels: count,
    ...Object.fromEntries(percentiles.map((p) => [`percentile_${p}`, orNull(quantile(values, p / 100))])),
  }
}

/** The valid numbers in ascending order. `filter` of a typed array would hold each as an object. */
function sortedValues(plane: ArrayLike<number>, alpha: Uint8Array): Float64Array {
  const values = new Float64Array(alpha.length)
  let count = 0
  for (let i = 0; i < alpha.length; i++) {
    const value = plane[i] as number
    if (alpha[i] !== 0 && Number.isFinite(value)) values[count++] = value
  }
  const found = values.subarray(0, count)
  found.sort()
  return found
}

function orNull(value: number | undefined): number | null {
  return value === undefined || Number.isNaN(value) ? null : value
}

/**
 * The most and the least frequent value (the smaller one of equally frequent ones), and the number of different values.
 */
function frequencies(sorted: Float64Array): { majority: number | null; minority: number | null; unique: number } {
  let [majority, minority, unique] = [null as number | null, null as number | null, 0]
  let [most, least] = [0, Infinity]
  for (let from = 0, to = 0; from < sorted.length; from = to) {
    while (to < sorted.length && sorted[to] === sorted[from]) to++
    unique++
    if (to - from > most) [most, majority] = [to - from, sorted[from] as number]
    if (to - from < least) [least, minority] = [to - from, sorted[from] as number]
  }
  return { majority, minority, unique }
}

/** Linear between the two nearest ranks, as NumPy does by default. */
function quantile(sorted: Float64Array, fraction: number): number | undefined {
  const rank = fraction * (sorted.length - 1)
  const below = Math.floor(rank)
  const [low, high] = [sorted[below], sorted[Math.min(below + 1, sorted.length - 1)]]
  return low === undefined || high === undefined ? undefined : low + (high - low) * (rank - below)
}

type Histogram = readonly [counts: readonly number[], places: readonly number[]]

/** Counts between edges, the last one inclusive, as in NumPy. */
function histogram(
  sorted: Float64Array,
  bins: StatisticsOptions['bins'],
  range: StatisticsOptions['range'],
): Histogram {
  const [least, most] = range ?? [sorted[0] ?? 0, sorted.at(-1) ?? 1]
  const [low, high] = least === most ? [least - 0.5, most + 0.5] : [least, most]
  const edges =
    typeof bins === 'number' ? Array.from({ length: bins + 1 }, (_, i) => low + ((high - low) * i) / bins) : [...bins]
  const counts = Array.from({ length: edges.length - 1 }, () => 0)
  let bin = 0
  for (const value of sorted) {
    if (value < edges[0]! || value > edges.at(-1)!) continue
    while (bin < counts.length - 1 && value >= edges[bin + 1]!) bin++
    counts[bin]!++
  }
  return [counts, edges]
}

function categoryHistogram(sorted: Float64Array, categories: readonly number[]): Histogram {
  const counts = new Map(categories.map((value) => [value, 0]))
  for (const value of sorted) {
    const known = counts.get(value)
    if (known !== undefined) counts.set(value, known + 1)
    else if (categories.length === 0) counts.set(value, 1)
    if (counts.size > MAX_CATEGORIES) throw valuesTooMany({ values: counts.size, limit: MAX_CATEGORIES })
  }
  return [[...counts.values()], [...counts.keys()]]
}
