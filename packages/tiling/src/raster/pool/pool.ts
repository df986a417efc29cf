import { valuesNotFinite } from '../errors.ts'
import type { Samples } from '../raster-info.ts'
import type { Zones } from './zones.ts'

/** Statistic of a zone's values. */
export type Statistic = 'mean' | 'max' | 'std'

/** Summand of a pixel without a value, larger than any sum of the whole numbers of a run. */
const MISSING = 2 ** 36
/** Maximum number of pixels of one sum. */
const MOST_PIXELS = 1 << 16

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

interface Stride {
  readonly start: number
  readonly end: number
  readonly step: number
}

export interface PoolOptions {
  readonly statistics: readonly Statistic[]
  /** Type of the samples if they are bytes, else null. */
  readonly bytes: 'int8' | 'uint8' | null
}

/** Samples of a rectangle of the raster. Steps count samples from pixel to pixel, row to row and band to band. */
export interface PixelBlock {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly samples: Samples
  readonly pixelStep: number
  readonly rowStep: number
  readonly bandStep: number
  /** Channels of the block: index of the first, and number of consecutive channels. */
  readonly firstChannel: number
  readonly channels: number
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
  readonly #table: Float64Array | null

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
    this.#table = options.bytes !== null && isPlain ? tableOf(rule, options.bytes) : null
  }

  /** @throws VALUES_NOT_FINITE for a finite number whose value is not */
  add(block: PixelBlock): void {
    const { rowStarts, starts, ends, zones } = this.#zones
    const right = block.x + block.width
    const { samples } = block
    const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)
    for (let row = 0; row < block.height; row++) {
      const y = block.y + row
      for (let run = rowStarts[y]!; run < rowStarts[y + 1]!; run++) {
        const end = Math.min(ends[run]!, right)
        for (let from = Math.max(starts[run]!, block.x); from < end; from += MOST_PIXELS) {
          const to = Math.min(end, from + MOST_PIXELS)
          const at = block.start + row * block.rowStep + (from - block.x) * block.pixelStep
          const target = zones[run]! * this.#channels + block.firstChannel
          const part = { at, pixels: to - from, target }
          if (this.#table === null) this.#addAny(block, part)
          else this.#addBytes(bytes, block, part)
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

  /** Channel by channel, so that a run of pixels with many channels stays in the fastest cache. */
  #addBytes(bytes: Uint8Array, { pixelStep, bandStep, channels }: PixelBlock, run: PixelRun): void {
    for (let c = 0; c < channels; c++) {
      const start = run.at + c * bandStep
      const total = sumOf(bytes, this.#table!, { start, end: start + run.pixels * pixelStep, step: pixelStep })
      const missing = Math.round(total / MISSING)
      this.#sums[run.target + c]! += total - missing * MISSING
      this.#counts[run.target + c]! += run.pixels - missing
    }
  }

  #addAny({ samples, pixelStep, bandStep, channels }: PixelBlock, run: PixelRun): void {
    const { scale, offset, isSquare, nodata } = this.#rule
    for (let p = 0; p < run.pixels; p++) {
      for (let c = 0; c < channels; c++) {
        const stored = samples[run.at + p * pixelStep + c * bandStep]!
        if (stored === nodata) continue
        const linear = stored * scale + offset
        const value = isSquare ? Math.sign(linear) * linear * linear : linear
        if (!Number.isFinite(value)) {
          if (Number.isFinite(stored)) throw valuesNotFinite(this.#rule)
          continue
        }
        const i = run.target + c
        this.#sums[i]! += value
        this.#counts[i]!++
        if (this.#squares) this.#squares[i]! += value * value
        if (this.#most && value > this.#most[i]!) this.#most[i] = value
      }
    }
  }
}

/**
 * Stored numbers of byte values, or their signed squares: whole numbers, so that one sum can also count missing pixels.
 */
function tableOf({ isSquare, nodata }: ValueRule, bytes: 'int8' | 'uint8'): Float64Array {
  return Float64Array.from({ length: 256 }, (_, bits) => {
    const stored = bytes === 'int8' && bits > 127 ? bits - 256 : bits
    if (stored === nodata) return MISSING
    return isSquare ? stored * Math.abs(stored) : stored
  })
}

/** Four independent sums, because consecutive additions to one sum wait for each other. */
function sumOf(bytes: Uint8Array, table: Float64Array, { start, end, step }: Stride): number {
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  let at = start | 0
  const last = end - 3 * step
  for (; at < last; at += 4 * step) {
    a += table[bytes[at] as number] as number
    b += table[bytes[at + step] as number] as number
    c += table[bytes[at + 2 * step] as number] as number
    d += table[bytes[at + 3 * step] as number] as number
  }
  for (; at < end; at += step) a += table[bytes[at] as number] as number
  return a + b + (c + d)
}
