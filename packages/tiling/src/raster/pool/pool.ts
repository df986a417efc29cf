import { valuesNotFinite } from '../errors.ts'
import type { Samples } from '../raster-info.ts'
import { byteSamples, byteTable, missingIn, MOST_PIXELS, sumBytes, withoutMissing } from './byte-sums.ts'
import { sumNumbers } from './number-sums.ts'
import type { Zones } from './zones.ts'

/** Statistic of a zone's values. */
export type Statistic = 'mean' | 'max' | 'std'

/** Conversion of stored numbers to values. */
export interface ValueRule {
  /** value = stored · scale + offset; with `isSquare` sign(value) · value². */
  readonly scale: number
  readonly offset: number
  readonly isSquare: boolean
  /** Stored number of pixels without a value; null for none. Stored numbers that are not finite never count. */
  readonly nodata: number | null
}

/** Consecutive pixels of a row of a block: first sample, number of pixels, and index of the sum of its first channel. */
type AddRun = (at: number, pixels: number, target: number) => void

/** Sums of the values of a channel in a run. */
interface RunSum {
  readonly sum: number
  readonly squares: number
  readonly count: number
  readonly most: number
}

export interface PoolOptions {
  readonly statistics: readonly Statistic[]
  /** Type of the samples if they are bytes, else null. */
  readonly bytes: 'int8' | 'uint8' | null
}

/** A rectangle of the raster. */
interface BlockRect {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  /** Channels of the block: index of the first, and number of consecutive channels. */
  readonly firstChannel: number
  readonly channels: number
}

/** Samples of a rectangle of the raster. Steps count samples from pixel to pixel, row to row and band to band. */
export interface PixelBlock extends BlockRect {
  readonly samples: Samples
  readonly pixelStep: number
  readonly rowStep: number
  readonly bandStep: number
  /** Offset of the first sample in `samples`. */
  readonly start: number
}

/**
 * Pools the values of zones, block by block, in any order. Values are summed in double precision.
 *
 * Each channel counts its own values; the valid pixels of a zone are those of its channel with the fewest.
 */
export class Pool {
  readonly #zones: Zones
  readonly #channels: number
  readonly #rule: ValueRule
  readonly #statistics: readonly Statistic[]
  readonly #sums: Float64Array
  readonly #squares: Float64Array | null
  readonly #most: Float64Array | null
  readonly #counts: Float64Array
  /** Whether stored numbers, or their signed squares, are summed instead of values; so if only means are requested. */
  readonly #isStored: boolean
  /** Table of the summands of all byte values, if stored bytes are summed. */
  readonly #table: Int32Array | null
  /** Sums of a run, by channel. */
  readonly #totals: Int32Array | Float64Array

  constructor(zones: Zones, channels: number, rule: ValueRule, options: PoolOptions) {
    const numbers = zones.count * channels
    this.#zones = zones
    this.#channels = channels
    this.#rule = rule
    this.#statistics = options.statistics
    this.#sums = new Float64Array(numbers)
    this.#counts = new Float64Array(numbers)
    this.#squares = options.statistics.includes('std') ? new Float64Array(numbers) : null
    this.#most = options.statistics.includes('max') ? new Float64Array(numbers).fill(-Infinity) : null
    this.#isStored = this.#squares === null && this.#most === null && !(rule.isSquare && rule.offset !== 0)
    this.#table = options.bytes !== null && this.#isStored ? byteTable(rule, options.bytes) : null
    this.#totals = this.#table === null ? new Float64Array(channels) : new Int32Array(channels)
  }

  /** @throws VALUES_NOT_FINITE for a finite number whose value is not */
  add(block: PixelBlock): void {
    const { start, rowStep, pixelStep } = block
    const addRun =
      this.#table !== null
        ? this.#bytes(block)
        : this.#isStored && !this.#rule.isSquare
          ? this.#numbers(block)
          : this.#each(block)
    this.#runs(block, (row, column, pixels, target) =>
      addRun(start + row * rowStep + column * pixelStep, pixels, target),
    )
  }

  /** Adds a rectangle whose samples are all the same; nodata and what is not finite add nothing. */
  addConstant(block: BlockRect, stored: number): void {
    if (stored === this.#rule.nodata || !Number.isFinite(stored)) return
    const value = this.#summand(stored)
    this.#runs(block, (_row, _column, pixels, target) => {
      const sum = { sum: value * pixels, squares: value * value * pixels, count: pixels, most: value }
      for (let c = 0; c < block.channels; c++) this.#addSum(target + c, sum)
    })
  }

  /** The runs of a block: row and column in it, number of pixels, and index of the sum of the first channel. */
  #runs(block: BlockRect, visit: (row: number, column: number, pixels: number, target: number) => void): void {
    const { rowStarts, starts, ends, zones } = this.#zones
    const right = block.x + block.width
    for (let row = 0; row < block.height; row++) {
      const y = block.y + row
      for (let run = rowStarts[y]!; run < rowStarts[y + 1]!; run++) {
        const end = Math.min(ends[run]!, right)
        for (let from = Math.max(starts[run]!, block.x); from < end; from += MOST_PIXELS) {
          const pixels = Math.min(end, from + MOST_PIXELS) - from
          visit(row, from - block.x, pixels, zones[run]! * this.#channels + block.firstChannel)
        }
      }
    }
  }

  /** Number of valid pixels of the zone's channel with the fewest. */
  validPixels(zone: number): number {
    let least = Infinity
    for (let i = zone * this.#channels; i < (zone + 1) * this.#channels; i++) least = Math.min(least, this.#counts[i]!)
    return least
  }

  /**
   * Writes the statistics of a zone, one after the other, each of all channels. A mean is scaled to length 1 on
   * request.
   *
   * @throws VALUES_NOT_FINITE
   */
  write(zone: number, target: Float32Array, isUnit: boolean): void {
    const first = zone * this.#channels
    for (const [s, statistic] of this.#statistics.entries()) {
      const part = target.subarray(s * this.#channels, (s + 1) * this.#channels)
      let squares = 0
      const values = Array.from(part, (_, i) => {
        const value = this.#value(statistic, first + i)
        squares += value * value
        return value
      })
      const length = statistic === 'mean' && isUnit && squares > 0 ? Math.sqrt(squares) : 1
      for (let i = 0; i < part.length; i++) part[i] = values[i]! / length
      if (!Number.isFinite(length) || !part.every(Number.isFinite)) throw valuesNotFinite(this.#rule)
    }
  }

  #value(statistic: Statistic, at: number): number {
    const count = this.#counts[at]!
    const { scale, offset, isSquare } = this.#rule
    const sum = this.#sums[at]! / count
    const mean = this.#isStored ? (isSquare ? sum * scale * Math.abs(scale) : sum * scale + offset) : sum
    if (statistic === 'mean') return mean
    if (statistic === 'max') return this.#most![at]!
    return Math.sqrt(Math.max(0, this.#squares![at]! / count - mean * mean))
  }

  /** Adds runs of bytes by their table. */
  #bytes({ samples, pixelStep, bandStep, channels }: PixelBlock): AddRun {
    const bytes = byteSamples(samples)
    const totals = this.#totals as Int32Array
    return (at, pixels, target) => {
      sumBytes(bytes, this.#table!, { at, pixels, pixelStep, bandStep, channels }, totals)
      for (let c = 0; c < channels; c++) {
        const missing = missingIn(totals[c]!)
        this.#sums[target + c]! += withoutMissing(totals[c]!, missing)
        this.#counts[target + c]! += pixels - missing
      }
    }
  }

  /** Adds runs of stored numbers: at once where all are values, else one by one. */
  #numbers(block: PixelBlock): AddRun {
    const { samples, pixelStep, bandStep, channels } = block
    const { nodata } = this.#rule
    const totals = this.#totals as Float64Array
    const addEach = this.#each(block)
    return (at, pixels, target) => {
      if (!sumNumbers(samples, nodata, { at, pixels, pixelStep, bandStep, channels }, totals)) {
        return addEach(at, pixels, target)
      }
      for (let c = 0; c < channels; c++) {
        this.#sums[target + c]! += totals[c]!
        this.#counts[target + c]! += pixels
      }
    }
  }

  /** Adds runs number by number, and leaves out nodata and what is not finite. */
  #each({ samples, pixelStep, bandStep, channels }: PixelBlock): AddRun {
    const { nodata } = this.#rule
    return (at, pixels, target) => {
      for (let c = 0; c < channels; c++) {
        let sum = 0
        let squares = 0
        let count = 0
        let most = -Infinity
        for (let i = 0; i < pixels; i++) {
          const stored = samples[at + c * bandStep + i * pixelStep]!
          if (stored === nodata || !Number.isFinite(stored)) continue
          const value = this.#summand(stored)
          if (!Number.isFinite(value)) throw valuesNotFinite(this.#rule)
          sum += value
          squares += value * value
          count++
          if (value > most) most = value
        }
        this.#addSum(target + c, { sum, squares, count, most })
      }
    }
  }

  /** Summand of a stored number. */
  #summand(stored: number): number {
    const { scale, offset, isSquare } = this.#rule
    const number = this.#isStored ? stored : stored * scale + offset
    return isSquare ? Math.abs(number) * number : number
  }

  #addSum(at: number, { sum, squares, count, most }: RunSum): void {
    this.#sums[at]! += sum
    this.#counts[at]! += count
    if (this.#squares) this.#squares[at]! += squares
    if (this.#most && most > this.#most[at]!) this.#most[at] = most
  }
}
