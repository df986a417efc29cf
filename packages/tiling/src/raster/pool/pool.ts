import { valuesNotFinite } from '../errors.ts'
import type { Samples } from '../raster-info.ts'
import {
  byteSamples,
  byteTable,
  missingIn,
  MOST_PIXELS,
  sumBytes,
  withoutMissing,
  type ByteSamples,
} from './byte-sums.ts'
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

/** Consecutive pixels of a row of a block. */
interface PixelRun {
  /** First sample. */
  readonly at: number
  readonly pixels: number
  /** Index of the sum of its first channel. */
  readonly target: number
}

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
  /** Table of the summands of all byte values, if only means of bytes are requested. */
  readonly #table: Int32Array | null
  /** Sums of a run of bytes, by channel. */
  readonly #totals: Int32Array

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
    const isPlain = this.#squares === null && this.#most === null && !(rule.isSquare && rule.offset !== 0)
    this.#table = options.bytes !== null && isPlain ? byteTable(rule, options.bytes) : null
    this.#totals = new Int32Array(channels)
  }

  /** @throws VALUES_NOT_FINITE for a finite number whose value is not */
  add(block: PixelBlock): void {
    const bytes = byteSamples(block.samples)
    this.#runs(block, (row, column, run) => {
      const part = { ...run, at: block.start + row * block.rowStep + column * block.pixelStep }
      if (this.#table === null) this.#addAny(block, part)
      else this.#addBytes(bytes, block, part)
    })
  }

  /** Adds a rectangle whose samples are all the same; nodata and what is not finite add nothing. */
  addConstant(block: BlockRect, stored: number): void {
    if (stored === this.#rule.nodata || !Number.isFinite(stored)) return
    this.#runs(block, (_row, _column, run) => this.#addStored(stored, block.channels, run))
  }

  /** The runs of a block, with their row and column in it. */
  #runs(block: BlockRect, visit: (row: number, column: number, run: Omit<PixelRun, 'at'>) => void): void {
    const { rowStarts, starts, ends, zones } = this.#zones
    const right = block.x + block.width
    for (let row = 0; row < block.height; row++) {
      const y = block.y + row
      for (let run = rowStarts[y]!; run < rowStarts[y + 1]!; run++) {
        const end = Math.min(ends[run]!, right)
        for (let from = Math.max(starts[run]!, block.x); from < end; from += MOST_PIXELS) {
          const pixels = Math.min(end, from + MOST_PIXELS) - from
          visit(row, from - block.x, { pixels, target: zones[run]! * this.#channels + block.firstChannel })
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
    const mean = this.#table === null ? sum : isSquare ? sum * scale * Math.abs(scale) : sum * scale + offset
    if (statistic === 'mean') return mean
    if (statistic === 'max') return this.#most![at]!
    return Math.sqrt(Math.max(0, this.#squares![at]! / count - mean * mean))
  }

  #addBytes(bytes: ByteSamples, { pixelStep, bandStep, channels }: PixelBlock, { at, pixels, target }: PixelRun): void {
    sumBytes(bytes, this.#table!, { at, pixels, pixelStep, bandStep, channels }, this.#totals)
    for (let c = 0; c < channels; c++) {
      const total = this.#totals[c]!
      const missing = missingIn(total)
      this.#sums[target + c]! += withoutMissing(total, missing)
      this.#counts[target + c]! += pixels - missing
    }
  }

  /** Channel by channel, with sums in registers. */
  #addAny(block: PixelBlock, run: PixelRun): void {
    const { samples, pixelStep, bandStep, channels } = block
    const { scale, offset, isSquare, nodata } = this.#rule
    const isPlain = scale === 1 && offset === 0 && !isSquare
    const isSum = isPlain && nodata === null && this.#squares === null && this.#most === null
    for (let c = isSum ? this.#addSums(block, run) : 0; c < channels; c++) {
      let [sum, squares, count, most] = [0, 0, 0, -Infinity]
      const start = run.at + c * bandStep
      const end = start + run.pixels * pixelStep
      for (let at = start; at < end; at += pixelStep) {
        const stored = samples[at]!
        if (stored === nodata) continue
        const value = isPlain ? stored : valueOf(stored, scale, offset, isSquare)
        // The difference of NaN or an infinity to itself is NaN.
        if (value - value !== 0) {
          if (Number.isFinite(stored)) throw valuesNotFinite(this.#rule)
          continue
        }
        sum += value
        squares += value * value
        count++
        if (value > most) most = value
      }
      this.#addSum(run.target + c, { sum, squares, count, most })
    }
  }

  /** Sums four channels at once while all values are finite, as their sums are then. Returns the number of summed channels. */
  #addSums({ samples, pixelStep, bandStep, channels }: PixelBlock, { at, pixels, target }: PixelRun): number {
    const length = pixels * pixelStep
    for (let c = 0; c + 4 <= channels; c += 4) {
      let [p, q, r, s] = [0, 0, 0, 0]
      const start = at + c * bandStep
      for (let i = start; i < start + length; i += pixelStep) {
        p += samples[i]!
        q += samples[i + bandStep]!
        r += samples[i + 2 * bandStep]!
        s += samples[i + 3 * bandStep]!
      }
      if (!Number.isFinite(p + q + r + s)) return c
      for (const [k, sum] of [p, q, r, s].entries()) {
        this.#sums[target + c + k]! += sum
        this.#counts[target + c + k]! += pixels
      }
    }
    return channels - (channels % 4)
  }

  #addSum(at: number, { sum, squares, count, most }: RunSum): void {
    this.#sums[at]! += sum
    this.#counts[at]! += count
    if (this.#squares) this.#squares[at]! += squares
    if (this.#most && most > this.#most[at]!) this.#most[at] = most
  }

  #addStored(stored: number, channels: number, { target, pixels }: Omit<PixelRun, 'at'>): void {
    const { scale, offset, isSquare } = this.#rule
    const square = isSquare ? stored * Math.abs(stored) : stored
    const value = this.#table === null ? valueOf(stored, scale, offset, isSquare) : square
    const sum = { sum: value * pixels, squares: value * value * pixels, count: pixels, most: value }
    for (let c = 0; c < channels; c++) this.#addSum(target + c, sum)
  }
}

function valueOf(stored: number, scale: number, offset: number, isSquare: boolean): number {
  const linear = stored * scale + offset
  return isSquare ? Math.abs(linear) * linear : linear
}
