import type { Samples } from '../raster-info.ts'

/** A rectangle of samples inside a block: the first sample, the distance between pixels and between rows. */
export interface SampleRect {
  readonly start: number
  readonly step: number
  readonly rowStep: number
  readonly columns: number
  readonly rows: number
}

/** Position of a rectangle in a plane: the first element and the distance between rows. */
export interface PlaneRect {
  readonly start: number
  readonly rowStep: number
}

/** The linear function `value · factor + shift`, clamped to `[low, high]` if `clamps`. */
export interface Stretch {
  readonly factor: number
  readonly shift: number
  readonly low: number
  readonly high: number
  readonly clamps: boolean
}

/** Writes one channel of a rectangle into its plane. */
export function stretchChannel(from: Samples, rect: SampleRect, out: Float32Array, to: PlaneRect, line: Stretch): void {
  const { start, step, rowStep, columns, rows } = rect
  const { factor, shift, low, high, clamps } = line
  for (let row = 0; row < rows; row++) {
    const i = start + row * rowStep
    const o = to.start + row * to.rowStep
    if (clamps) {
      // Twice as fast as comparisons, whose branches would be mispredicted at the tails.
      for (let x = 0; x < columns; x++) {
        out[o + x] = Math.min(Math.max((from[i + x * step] as number) * factor + shift, low), high)
      }
    } else {
      for (let x = 0; x < columns; x++) out[o + x] = (from[i + x * step] as number) * factor + shift
    }
  }
}

/**
 * Writes three channels of interleaved bytes in one pass, without clamping: the path of 8-bit colour images, twice as
 * fast as three passes. `bands` are the positions of the channels in a pixel, `plane` is the size of a plane.
 */
export function stretchColorBytes(
  from: Uint8Array,
  rect: SampleRect,
  out: Float32Array,
  to: PlaneRect,
  lines: readonly Stretch[],
  bands: readonly number[],
): void {
  const { step, columns, rows, start, rowStep } = rect
  const plane = (out.length / 3) | 0
  const [r, g, b] = lines as readonly [Stretch, Stretch, Stretch]
  const [rf, rs, gf, gs, bf, bs] = [r.factor, r.shift, g.factor, g.shift, b.factor, b.shift]
  const [rb, gb, bb] = bands as readonly [number, number, number]
  for (let row = 0; row < rows; row++) {
    let i = start + row * rowStep
    let o = to.start + row * to.rowStep
    for (const end = o + columns; o < end; o++, i += step) {
      out[o] = (from[i + rb] as number) * rf + rs
      out[o + plane] = (from[i + gb] as number) * gf + gs
      out[o + 2 * plane] = (from[i + bb] as number) * bf + bs
    }
  }
}

/** Writes one channel through a table, which has an entry for every possible sample value. */
export function lookUpChannel(
  from: Samples,
  rect: SampleRect,
  out: Float32Array,
  to: PlaneRect,
  table: Float32Array,
): void {
  const { start, step, rowStep, columns, rows } = rect
  for (let row = 0; row < rows; row++) {
    const i = start + row * rowStep
    const o = to.start + row * to.rowStep
    for (let x = 0; x < columns; x++) out[o + x] = table[from[i + x * step] as number] as number
  }
}
